"""Fitted Q-iteration (FQI, the Q-version of Algorithm FVI).

    D = {s^(1), …, s^(N)} ~ ρ,
    q^(i,a) = r(s^(i), a) + γ · 1/M Σ_j max_a' Q^{k−1}(s^(i,a,j), a'),    for every action a,
    Q^k     = Regress{((s^(i), a), q^(i,a))},    ν^k(s) = argmax_a Q^k(s, a).

The features are those of the state followed by the action as one-hot. ν^k is the argmax of Q^k and
needs no further samples. With tabular regression and all states, FQI is E-QI, number for number.

Work: N|A|M evaluations per iteration, with the maximum over a' counted as one; `count_actions`
counts it as |A|, one for each Q-value that it compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import feasible_only
from fsdash.errors import InputError
from fsdash.regression import Fit, Regression, needs_only_values, pair_features
from fsdash.sampling import Sampler, Sampling, StateSample, greedy_rows, policy_rngs


def fqi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    regress: Regression,
    sampling: Sampling = Sampling(),
    Q0_XYA: np.ndarray | None = None,
    count_actions: bool = False,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Fitted Q-iteration on the base model.

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
    Q0_XYA : np.ndarray, optional
        Initial Q-values, shape (X, Y, A); zero by default.
    count_actions : bool
        Whether a maximum over next actions counts as |A| evaluations instead of one.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        max_a Q^k and the stationary policy ν^k for k = 0, 1, 2, …

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> rng, linear = np.random.default_rng(0), fsdash.regression.Linear()
    >>> few = fsdash.Sampling(N=100)
    >>> run = fsdash.algorithms.fqi(model, rng, regress=linear, sampling=few)
    >>> fsdash.run_until(run, iterations=2).policy_kind
    'stationary'
    """
    sampling.check(rng, "M ties common_random_numbers N rho_XY")
    # Ties matter when a policy is extracted, not while Q is sampled.
    sampler = Sampler(model, model.true, sampling.M, replace(sampling, ties="first"))
    rho = StateSample(model, sampling.N, sampling.rho_XY)
    n, A, shape = model.n_states, model.n_actions, (model.n_slow, model.n_fast)
    Q_SA = np.zeros((n, A)) if Q0_XYA is None else np.array(Q0_XYA, float)
    if Q_SA.size != n * A:
        raise InputError(f"Q0_XYA: shape {Q_SA.shape}; give one value for each (x, y, a)")
    start = resume or {"k": 0, "Q_P": Q_SA.reshape(-1)}
    features_PF, fit = pair_features(model), Fit(start["Q_P"])
    can_resume = needs_only_values(regress)

    def snapshot(k: int, rng: np.random.Generator) -> Snapshot:
        Q_SA, pairs = feasible_only(model, finite(fit.values_P, "base", k)), k * rho.pairs
        nu_XY = greedy_rows(rng, Q_SA, sampling.ties == "random").reshape(shape)
        evaluations = pairs * sampling.M * (A if count_actions else 1)
        U_XY = Q_SA.max(axis=1).reshape(shape)
        resume = {"k": k, "Q_P": fit.values_P} if can_resume else None
        return Snapshot("base", k, pairs, nu_XY[None], U_XY, nan, evaluations, "stationary", resume)

    if resume is None:
        yield snapshot(0, rng.spawn(1)[0])
    for k in count(start["k"] + 1):
        _, policy_rng = policy_rngs(rng)
        states_N = rho.draw(rng)
        U_XY = feasible_only(model, fit.values_P).max(axis=1).reshape(shape)
        q_NA = sampler.q_values(U_XY, rng, states_N)[0]
        feasible_NA = model.feasible_XYA.reshape(n, A)[states_N]
        pairs_P = (states_N[:, None] * A + np.arange(A))[feasible_NA]
        q_P = finite(q_NA[feasible_NA], "base", k)
        fit = regress.fit(features_PF, pairs_P, q_P, rng, fit)
        yield snapshot(k, policy_rng)
