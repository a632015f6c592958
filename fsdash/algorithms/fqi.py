"""Fitted Q-iteration (FQI, the Q-version of Algorithm FVI).

    D = {s^(1), …, s^(N)} ~ ρ,
    q^(i,a) = r(s^(i), a) + γ · 1/M Σ_j max_a' Q^{k−1}(s^(i,a,j), a'),    for every action a,
    Q^k     = Regress{((s^(i), a), q^(i,a))},    ν^k(s) = argmax_a Q^k(s, a).

The features are those of the state with the action one-hot beside them. ν^k is read off Q^k without
further samples. With a table and all states FQI is E-QI, number for number.

Work: N|A|M evaluations an iteration, the maximum over a' counted once; `count_actions` counts it
|A| times, once for each Q that it looks at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.regression import Fit, Regression, pair_features
from fsdash.sampling import Sampler, StateSample, check_run, check_ties, extraction, greedy_rows


def fqi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    regress: Regression,
    N: int | None = None,
    M: int = 50,
    Q0_XYA: np.ndarray | None = None,
    rho_XY: np.ndarray | None = None,
    ties: str = "first",
    common_random_numbers: bool = False,
    count_actions: bool = False,
) -> Iterator[Snapshot]:
    """A snapshot of Q⁰, then one of each Q^k and ν^k."""
    check_run(rng)
    # Ties of Q are broken when a policy is read off, not while Q is sampled.
    check_ties(ties)
    sampler = Sampler(model, model.true, M, "first", common_random_numbers)
    rho = StateSample(model, N, rho_XY)
    n, A, shape = model.n_states, model.n_actions, (model.n_slow, model.n_fast)
    Q_SA = np.zeros((n, A)) if Q0_XYA is None else np.array(Q0_XYA, float)
    if Q_SA.size != n * A:
        raise InputError(f"Q0_XYA: shape {Q_SA.shape}; give one value for each (x, y, a)")
    features_PF, fit = pair_features(model), Fit(Q_SA.reshape(-1))

    def snapshot(k: int, rng: np.random.Generator) -> Snapshot:
        Q_SA, pairs = finite(fit.values_P, "base", k).reshape(n, A), k * rho.N * A
        nu_XY = greedy_rows(rng, Q_SA, ties == "random").reshape(shape)
        evaluations = pairs * M * (A if count_actions else 1)
        U_XY = Q_SA.max(axis=1).reshape(shape)
        return Snapshot("base", k, pairs, nu_XY[None], U_XY, nan, evaluations, "stationary")

    yield snapshot(0, rng.spawn(1)[0])
    for k in count(1):
        _, look = extraction(rng)
        states_N = rho.draw(rng)
        U_XY = fit.values_P.reshape(n, A).max(axis=1).reshape(shape)
        q_NA = finite(sampler.q_values(U_XY, rng, states_N)[0], "base", k)
        pairs_NA = states_N[:, None] * A + np.arange(A)
        fit = regress.fit(features_PF, pairs_NA.reshape(-1), q_NA.reshape(-1), rng, fit)
        yield snapshot(k, look)
