"""Fitted value iteration (Algorithm FVI).

    D = {s^(1), …, s^(N)} ~ ρ,
    u^(i) = max_a r(s^(i), a) + γ · 1/M Σ_j U^{k−1}(s^(i,a,j)),    U^k = Regress{(s^(i), u^(i))},
    ν^k    greedy for U^k, by M separate samples for each (s, a), at every state.

By default ρ is uniform (`StateSample`) and N is a tenth of the states. With tabular regression and
all states, FVI is E-VI, number for number.

Work: N|A|M value-function evaluations per iteration. The samples that extract ν for a snapshot come
from separate generators and are not counted, so U^k does not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.regression import Fit, Regression, needs_only_values, state_features
from fsdash.sampling import (
    AnySampler,
    Sampler,
    Sampling,
    StateSample,
    backup,
    greedy,
    policy_rngs,
)


def fvi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    regress: Regression,
    sampling: Sampling = Sampling(),
    U0_XY: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Fitted value iteration on the base model.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    regress : Regression
        The regression strategy, such as `fsdash.regression.Linear()`.
    sampling : Sampling
        `M`, `ties`, `common_random_numbers`, `N` and `rho_XY`.
    U0_XY : np.ndarray, optional
        Initial values, shape (X, Y); zero by default.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        U^k and the stationary policy ν^k for k = 0, 1, 2, …

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> rng, linear = np.random.default_rng(0), fsdash.regression.Linear()
    >>> few = fsdash.Sampling(N=100)
    >>> run = fsdash.algorithms.fvi(model, rng, regress=linear, sampling=few)
    >>> fsdash.run_until(run, iterations=2).evaluations == 2 * 100 * model.n_actions * 50
    True
    """
    sampling.check(rng, "M ties common_random_numbers N rho_XY")
    sampler = Sampler(model, model.true, sampling.M, sampling)
    rho = StateSample(model, sampling.N, sampling.rho_XY)
    start = resume or {"k": 0, "U_XY": values_of(model, U0_XY, "U0_XY")}
    for k, U_XY, policy_rng in fitted_sweeps(
        "base", sampler, start["U_XY"], rng, regress, rho, start["k"]
    ):
        nu_XY, pairs = greedy(sampler, U_XY, policy_rng), k * rho.pairs
        resume = {"k": k, "U_XY": U_XY} if k and needs_only_values(regress) else None
        yield Snapshot(
            "base", k, pairs, nu_XY[None], U_XY, nan, pairs * sampling.M, "stationary", resume
        )


def fitted_sweeps(
    phase: str,
    sampler: AnySampler,
    U_XY: np.ndarray,
    rng: np.random.Generator,
    regress: Regression,
    rho: StateSample,
    last: int = 0,
) -> Iterator[tuple[int, np.ndarray, np.random.Generator]]:
    """Yield, for k = 0, 1, 2, …, the iteration, its fitted values and a generator for its policy.

    Iteration 0 has the initial values. With `last`, U is the result of that iteration, and the next
    one follows.
    """
    features_SF, fit = state_features(sampler.model), Fit(U_XY.reshape(-1).copy())
    if last == 0:
        yield 0, finite(U_XY, phase, 0).copy(), rng.spawn(1)[0]
    for k in count(last + 1):
        _, policy_rng = policy_rngs(rng)
        states_N = rho.draw(rng)
        u_N = backup(sampler, fit.values_P.reshape(U_XY.shape), rng, states_N)[0]
        fit = regress.fit(features_SF, states_N, finite(u_N, phase, k), rng, fit)
        yield k, finite(fit.values_P, phase, k).reshape(U_XY.shape), policy_rng
