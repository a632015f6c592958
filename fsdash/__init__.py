"""Frozen-state value iteration for Markov decision processes with a fast and a slow state.

>>> import fsdash
>>> model = fsdash.make("inventory").build()
>>> last = fsdash.run_until(fsdash.fsvi(model, T=6), tolerance=1e-3)
>>> round(fsdash.regret(model, last.policy_PXY).mean_regret)
198

The public names are listed in `__init__.pyi` and loaded on first use, so `import fsdash` is quick.

==============  ===================================================================================
models          `FastSlowMDP`, `Axis`; `make`, `Domain`, `DOMAINS` for the domains
your own        `from_transitions`, `from_arrays`, `from_quantecon`, `from_gymnasium`,
                `from_functions`, `from_markov_chain`, `load`, `save`; `Policy`, `load_policy`
exact           `vi`, `fsvi`, `rolling`, `mpi`
sampled         `e_vi`, `e_fsvi`, `e_rolling`, `e_thaw` with `Sampling`
driving         `Snapshot`, `run_until`; `ALGORITHMS`, `register`, `Field`
evaluation      `optimum`, `policy_values`, `regret`, `simulate`
choice          `plan`, `plan_steps`, `Plan`, `frontier`, `certify`, `SolvedModel`, `suits`
experiments     `RunSpec`, `run_all`, `summarise`
simulators      `Simulator`, `simulator`, `clock`; `plan` plans with them too
errors          `InputError`, raised for every input that cannot be used
==============  ===================================================================================

More names are in the submodules, which `import fsdash` makes available too:

=====================  ============================================================================
`fsdash.plot`          learning curves, the frontier and policies as Plotly figures
`fsdash.theory`        `Constants`, `Sizes`, `measure`, `reward_error`, the bounds, `advise`
`fsdash.models`        `check_transitions`, `guess_columns`, `DataFaults`, `suggest_slow`,
                       `resplit`, `discount_factor`, `to_quantecon`, `content_hash`
`fsdash.algorithms`    `fsavi` with `LinearArchitecture`, `e_qi`, `slow_agnostic`; fitted: `fvi`,
                       `fsfvi`, `frolling`, `fqi`
`fsdash.regression`    `Linear`, `Deep`, for the fitted algorithms
`fsdash.core`          `disagreement`, `simulate_pair`, `frozen_blocks`, `visits`, `Coordinate`
`fsdash.choice`        `rank_splits`
`fsdash.runs`          `work_to_reach`
`fsdash.simulators`    `check_simulator`, `certify_simulator`, and four simulators to copy
=====================  ============================================================================
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import lazy_loader

from fsdash.domains.lookup import look_with

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _find_stored_model(name: str) -> Any:
    """A user's own model, from an open database or the user's own."""
    from fsdash.runs.store.models import find_content

    return find_content(name)


def _register_environments() -> None:
    """Let `gymnasium.make` know fsdash/Inventory-v0 and the others, if Gymnasium is loaded."""
    if sys.modules.get("gymnasium") is not None:
        import_module("fsdash.environments")


look_with(_find_stored_model)
_register_environments()
