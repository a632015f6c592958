"""Empirical Q-iteration for the base model (Base E-QI, the Q-version of Base E-VI).

    Q^k(s, a) = r(s, a) + γ · 1/M Σ_j max_a' Q^{k−1}(s^(a,j), a'),    ν^k(s) = argmax_a Q^k(s, a).

max_a Q^k has the distribution of E-VI's U^k, and ν^k is read off Q^k without further samples: it is
one sweep behind E-VI's, and its noise is that of the values.

Work: |S||A|M evaluations a sweep, the maximum over a' counted once; `count_actions` counts it |A|
times, once for each Q that it looks at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.sampling import Sampler, check_run, check_ties, extraction, greedy_rows, ranges


def eqi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    M: int = 50,
    snapshots_per_sweep: int = 3,
    Q0_XYA: np.ndarray | None = None,
    ties: str = "first",
    common_random_numbers: bool = False,
    count_actions: bool = False,
) -> Iterator[Snapshot]:
    """A snapshot of Q⁰, then `snapshots_per_sweep` in each sweep, the last of them Q^k and ν^k."""
    check_run(rng, snapshots_per_sweep)
    # Ties of Q are broken when a policy is read off, not while Q is sampled.
    check_ties(ties)
    sampler = Sampler(model, model.true, M, "first", common_random_numbers)
    n, A, shape = model.n_states, model.n_actions, (model.n_slow, model.n_fast)
    Q_SA = np.zeros((n, A)) if Q0_XYA is None else np.array(Q0_XYA, float)
    if Q_SA.size != n * A:
        raise InputError(f"Q0_XYA: shape {Q_SA.shape}; give one value for each (x, y, a)")
    Q_SA = Q_SA.reshape(n, A)

    def snapshot(k: int, renewed: int, rng: np.random.Generator) -> Snapshot:
        pairs = (k * n + renewed) * A
        evaluations = pairs * M * (A if count_actions else 1)
        iteration = k + renewed // n
        U_XY = finite(Q_SA, "base", iteration).max(axis=1).reshape(shape)
        nu_XY = greedy_rows(rng, Q_SA, ties == "random").reshape(shape)
        return Snapshot("base", iteration, pairs, nu_XY[None], U_XY, nan, evaluations, "stationary")

    yield snapshot(0, 0, rng.spawn(1)[0])
    for k in count():
        inside, end = extraction(rng)
        U_XY = Q_SA.max(axis=1).reshape(shape)
        for start, stop in ranges(n, snapshots_per_sweep):
            Q_SA[start:stop] = sampler.q_values(U_XY, rng, range(start, stop))[0]
            yield snapshot(k, stop, end if stop == n else inside)
