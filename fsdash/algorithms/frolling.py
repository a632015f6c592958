"""Rolling freeze with fitted values.

The backward induction of FSFVI's lower level, with the slow state frozen, N states of D ~ ρ and M_l
samples, J_0 = 0:

    J_n^(i) = max_a r + γ · 1/M_l Σ_j J_{n−1}(x^(i), y^(i,a,j)),    J_n = Regress{(s^(i), J_n^(i))},
    π̃_n     the maximiser of the same update at every state,        n = 1, …, T.

The newest policy π̃_n is played in every period, as in `fsdash.algorithms.rolling`. With tabular
regression and all states it is `e_rolling`, number for number; with the same generator, π̃_n is the
rolling policy that FSFVI records with `lower_policy="frozen"`.

Work: N|A|M_l value-function evaluations per sweep. As for FSFVI, the samples that extract π̃ at the
states that are not fitted are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from fsdash.algorithms.fsvi import check_periods
from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.regression import Fit, Regression, needs_only_values, state_features
from fsdash.sampling import Sampler, Sampling, StateSample, backup


def frolling(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    T: int,
    regress: Regression,
    sampling: Sampling = Sampling(),
    J0_XY: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Rolling freeze with fitted values.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    T : int
        Longest horizon: the slow state is frozen for n = 1, …, T periods.
    regress : Regression
        The regression strategy, such as `fsdash.regression.Linear()`.
    sampling : Sampling
        `M_l`, `ties`, `common_random_numbers`, `N` and `rho_XY`.
    J0_XY : np.ndarray, optional
        Terminal value J_0, shape (X, Y); zero by default.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        The fitted J_n and the rolling policy π̃_n for n = 1, …, T. The generator then ends.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("pricing").build()
    >>> rng, linear = np.random.default_rng(0), fsdash.regression.Linear()
    >>> run = fsdash.algorithms.frolling(model, rng, T=3, regress=linear)
    >>> [snapshot.iteration for snapshot in run]
    [1, 2, 3]
    """
    check_periods(T)
    sampling.check(rng, "M_l ties common_random_numbers N rho_XY")
    rho, features_SF = StateSample(model, sampling.N, sampling.rho_XY), state_features(model)
    frozen = Sampler(model, model.frozen, sampling.M_l, sampling)
    start = resume or {"n": 1, "J_XY": values_of(model, J0_XY, "J0_XY")}
    J_XY, can_resume = start["J_XY"], needs_only_values(regress)
    fit = Fit(J_XY.reshape(-1).copy())
    for n in range(start["n"], T + 1):
        states_N = rho.draw(rng)
        J_S, pi_S = backup(frozen, J_XY, rng)
        fit = regress.fit(features_SF, states_N, finite(J_S[states_N], "rolling", n), rng, fit)
        J_XY = finite(fit.values_P, "rolling", n).reshape(J_XY.shape)
        pairs, policy = n * rho.pairs, pi_S.reshape(1, *J_XY.shape)
        resume = {"n": n + 1, "J_XY": J_XY} if can_resume else None
        work = pairs * sampling.M_l
        yield Snapshot("rolling", n, pairs, policy, J_XY, nan, work, "rolling", resume)
