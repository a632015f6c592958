"""Empirical value iteration for the base model (Algorithm Base E-VI of the appendix).

    U^k(s) = max_a r(s, a) + γ · 1/M Σ_j U^{k−1}(s^(a,j)),    s^(a,j) from the generative model,
    ν^k    greedy for U^k, by M samples of its own for each (s, a).

Independent samples for each action bias the maximum upwards; `common_random_numbers` draws the
noise once a state for all actions. With a noise-free model E-VI is VI.

Work: |S||A|M value-function evaluations a sweep. The samples that extract ν for a snapshot come
from generators of their own and are not counted: U^k does not depend on who looks, or how often.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.sampling import Sampler, check_run, greedy, sweeps


def evi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    M: int = 50,
    snapshots_per_sweep: int = 3,
    U0_XY: np.ndarray | None = None,
    ties: str = "first",
    common_random_numbers: bool = False,
) -> Iterator[Snapshot]:
    """A snapshot of U⁰, then `snapshots_per_sweep` in each sweep, the last of them U^k and ν^k."""
    check_run(rng, snapshots_per_sweep)
    sampler = Sampler(model, model.true, M, ties, common_random_numbers)
    U_XY = values_of(model, U0_XY, "U0_XY")
    n, A = model.n_states, model.n_actions

    def snapshot(k: int, renewed: int, values_XY: np.ndarray, rng: np.random.Generator) -> Snapshot:
        pairs = (k * n + renewed) * A
        iteration = k + renewed // n
        nu_XY = greedy(sampler, finite(values_XY, "base", iteration), rng)
        return Snapshot(
            "base", iteration, pairs, nu_XY[None], values_XY, nan, pairs * M, "stationary"
        )

    for k, renewed, values_XY, look in sweeps(sampler, U_XY, rng, snapshots_per_sweep):
        yield snapshot(k, renewed, values_XY, look)
