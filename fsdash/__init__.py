"""Frozen-state value iteration for Markov decision processes with a fast and a slow state.

>>> import fsdash
>>> model = fsdash.make("inventory").build()
>>> last = fsdash.run_until(fsdash.fsvi(model, T=6), tolerance=1e-3)
>>> round(fsdash.regret(model, last.policy_PXY).mean_regret)
198

The public names are loaded on first use, so `import fsdash` is quick.

==============  ===================================================================================
models          `FastSlowMDP`, `Axis`, `Coordinate`; `make`, `Domain`, `DOMAINS` for the domains
your own        `from_transitions`, `from_arrays`, `from_quantecon`, `from_gymnasium`,
                `from_functions`, `from_markov_chain`, `load`; `check_transitions`,
                `guess_columns`, `DataFaults`; `suggest_slow`, `rank_splits`, `resplit`;
                `discount_factor`, `to_quantecon`; `Policy`, `load_policy`
exact           `vi`, `fsvi`, `rolling`, `mpi`, `fsavi` with `LinearArchitecture`
sampled         `e_vi`, `e_fsvi`, `e_rolling`, `e_thaw`, `e_qi`, `slow_agnostic`
fitted          `fvi`, `fsfvi`, `frolling`, `fqi` with `Linear` or `Deep` regression
driving         `Snapshot`, `run_until`
evaluation      `optimum`, `policy_values`, `regret`, `simulate`, `visits`
comparison      `disagreement`, `simulate_pair`, `frozen_blocks`
choice          `recommend`, `Choice`, `frontier`, `certify`, `SolvedModel`, `suits`
simulators      `Simulator`, `simulator`, `clock`, `check_simulator`, `plan_simulator`,
                `certify_simulator`
experiments     `RunSpec`, `run_all`, `summarise`, `work_to_reach`
theory          `Constants`, `Sizes`, `measure`, `reward_error`, `fsvi_bound`, `vi_bound`,
                `fsavi_bound`, `repaired_bound`, `rolling_bound`, `advise`
errors          `InputError`, raised for every input that cannot be used
==============  ===================================================================================
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fsdash.domains.lookup import look_with
from fsdash.version import __version__

if TYPE_CHECKING:
    from fsdash.algorithms import (
        LinearArchitecture,
        Snapshot,
        e_fsvi,
        e_qi,
        e_rolling,
        e_thaw,
        e_vi,
        fqi,
        frolling,
        fsavi,
        fsfvi,
        fsvi,
        fvi,
        mpi,
        rolling,
        run_until,
        slow_agnostic,
        vi,
    )
    from fsdash.algorithms.optimum import optimum, regret
    from fsdash.choice.certify import certify
    from fsdash.choice.frontier import frontier
    from fsdash.choice.recommend import Choice, recommend
    from fsdash.choice.solved import SolvedModel, suits
    from fsdash.choice.splits import rank_splits
    from fsdash.core.axis import Axis, Coordinate
    from fsdash.core.blocks import frozen_blocks
    from fsdash.core.compare import disagreement, simulate_pair
    from fsdash.core.evaluation import policy_values
    from fsdash.core.model import FastSlowMDP
    from fsdash.core.simulate import simulate, visits
    from fsdash.domains import DOMAINS, Domain, make
    from fsdash.errors import InputError
    from fsdash.models.arrays import from_arrays
    from fsdash.models.assemble import resplit
    from fsdash.models.columns import guess_columns
    from fsdash.models.discount import discount_factor
    from fsdash.models.faults import DataFaults
    from fsdash.models.files import load
    from fsdash.models.functions import from_functions
    from fsdash.models.gymnasium import from_gymnasium
    from fsdash.models.markov_chain import from_markov_chain
    from fsdash.models.policy import Policy, load_policy
    from fsdash.models.quantecon import from_quantecon, to_quantecon
    from fsdash.models.slow import suggest_slow
    from fsdash.models.transitions import check_transitions, from_transitions
    from fsdash.regression import Deep, Linear
    from fsdash.runs.runner import run_all
    from fsdash.runs.spec import RunSpec
    from fsdash.runs.summary import summarise, work_to_reach
    from fsdash.simulators.dual import certify_simulator
    from fsdash.simulators.plan import plan_simulator
    from fsdash.simulators.simulator import Simulator, check_simulator, clock, simulator
    from fsdash.theory import (
        Constants,
        Sizes,
        advise,
        fsavi_bound,
        fsvi_bound,
        repaired_bound,
        reward_error,
        rolling_bound,
        vi_bound,
    )
    from fsdash.theory.measured import measure

MODULES = {
    "Axis": "fsdash.core.axis",
    "Choice": "fsdash.choice.recommend",
    "Constants": "fsdash.theory",
    "Coordinate": "fsdash.core.axis",
    "DOMAINS": "fsdash.domains",
    "DataFaults": "fsdash.models.faults",
    "Deep": "fsdash.regression",
    "Domain": "fsdash.domains",
    "FastSlowMDP": "fsdash.core.model",
    "InputError": "fsdash.errors",
    "Linear": "fsdash.regression",
    "LinearArchitecture": "fsdash.algorithms",
    "Policy": "fsdash.models.policy",
    "RunSpec": "fsdash.runs.spec",
    "Simulator": "fsdash.simulators.simulator",
    "Sizes": "fsdash.theory",
    "Snapshot": "fsdash.algorithms",
    "SolvedModel": "fsdash.choice.solved",
    "advise": "fsdash.theory",
    "certify": "fsdash.choice.certify",
    "certify_simulator": "fsdash.simulators.dual",
    "check_simulator": "fsdash.simulators.simulator",
    "check_transitions": "fsdash.models.transitions",
    "clock": "fsdash.simulators.simulator",
    "disagreement": "fsdash.core.compare",
    "discount_factor": "fsdash.models.discount",
    "e_fsvi": "fsdash.algorithms",
    "e_qi": "fsdash.algorithms",
    "e_rolling": "fsdash.algorithms",
    "e_thaw": "fsdash.algorithms",
    "e_vi": "fsdash.algorithms",
    "fqi": "fsdash.algorithms",
    "frolling": "fsdash.algorithms",
    "from_arrays": "fsdash.models.arrays",
    "from_functions": "fsdash.models.functions",
    "from_gymnasium": "fsdash.models.gymnasium",
    "from_markov_chain": "fsdash.models.markov_chain",
    "from_quantecon": "fsdash.models.quantecon",
    "from_transitions": "fsdash.models.transitions",
    "frontier": "fsdash.choice.frontier",
    "frozen_blocks": "fsdash.core.blocks",
    "fsavi": "fsdash.algorithms",
    "fsavi_bound": "fsdash.theory",
    "fsfvi": "fsdash.algorithms",
    "fsvi": "fsdash.algorithms",
    "fsvi_bound": "fsdash.theory",
    "fvi": "fsdash.algorithms",
    "guess_columns": "fsdash.models.columns",
    "load": "fsdash.models.files",
    "load_policy": "fsdash.models.policy",
    "make": "fsdash.domains",
    "measure": "fsdash.theory.measured",
    "mpi": "fsdash.algorithms",
    "optimum": "fsdash.algorithms.optimum",
    "plan_simulator": "fsdash.simulators.plan",
    "policy_values": "fsdash.core.evaluation",
    "rank_splits": "fsdash.choice.splits",
    "recommend": "fsdash.choice.recommend",
    "regret": "fsdash.algorithms.optimum",
    "repaired_bound": "fsdash.theory",
    "resplit": "fsdash.models.assemble",
    "reward_error": "fsdash.theory",
    "rolling": "fsdash.algorithms",
    "rolling_bound": "fsdash.theory",
    "run_all": "fsdash.runs.runner",
    "run_until": "fsdash.algorithms",
    "simulate": "fsdash.core.simulate",
    "simulate_pair": "fsdash.core.compare",
    "simulator": "fsdash.simulators.simulator",
    "slow_agnostic": "fsdash.algorithms",
    "suggest_slow": "fsdash.models.slow",
    "suits": "fsdash.choice.solved",
    "summarise": "fsdash.runs.summary",
    "to_quantecon": "fsdash.models.quantecon",
    "vi": "fsdash.algorithms",
    "vi_bound": "fsdash.theory",
    "visits": "fsdash.core.simulate",
    "work_to_reach": "fsdash.runs.summary",
}
"""The module that defines each public name."""

__all__ = [
    "DOMAINS",
    "Axis",
    "Choice",
    "Constants",
    "Coordinate",
    "DataFaults",
    "Deep",
    "Domain",
    "FastSlowMDP",
    "InputError",
    "Linear",
    "LinearArchitecture",
    "Policy",
    "RunSpec",
    "Simulator",
    "Sizes",
    "Snapshot",
    "SolvedModel",
    "__version__",
    "advise",
    "certify",
    "certify_simulator",
    "check_simulator",
    "check_transitions",
    "clock",
    "disagreement",
    "discount_factor",
    "e_fsvi",
    "e_qi",
    "e_rolling",
    "e_thaw",
    "e_vi",
    "fqi",
    "frolling",
    "from_arrays",
    "from_functions",
    "from_gymnasium",
    "from_markov_chain",
    "from_quantecon",
    "from_transitions",
    "frontier",
    "frozen_blocks",
    "fsavi",
    "fsavi_bound",
    "fsfvi",
    "fsvi",
    "fsvi_bound",
    "fvi",
    "guess_columns",
    "load",
    "load_policy",
    "make",
    "measure",
    "mpi",
    "optimum",
    "plan_simulator",
    "policy_values",
    "rank_splits",
    "recommend",
    "regret",
    "repaired_bound",
    "resplit",
    "reward_error",
    "rolling",
    "rolling_bound",
    "run_all",
    "run_until",
    "simulate",
    "simulate_pair",
    "simulator",
    "slow_agnostic",
    "suggest_slow",
    "suits",
    "summarise",
    "to_quantecon",
    "vi",
    "vi_bound",
    "visits",
    "work_to_reach",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used (PEP 562)."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
