"""Fitted value iteration (Algorithm FVI).

    D = {s^(1), …, s^(N)} ~ ρ,
    u^(i) = max_a r(s^(i), a) + γ · 1/M Σ_j U^{k−1}(s^(i,a,j)),    U^k = Regress{(s^(i), u^(i))},
    ν^k    greedy for U^k, by M samples of its own for each (s, a), at every state.

ρ is uniform unless given (`StateSample`), and N a tenth of the states. With a table and all states
FVI is E-VI, number for number.

Work: N|A|M value-function evaluations an iteration. The samples that extract ν for a snapshot come
from generators of their own and are not counted: U^k does not depend on who looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.regression import Fit, Regression, state_features
from fsdash.sampling import (
    Sampler,
    StateSample,
    UpperSampler,
    backup,
    check_run,
    extraction,
    greedy,
)


def fvi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    regress: Regression,
    N: int | None = None,
    M: int = 50,
    U0_XY: np.ndarray | None = None,
    rho_XY: np.ndarray | None = None,
    ties: str = "first",
    common_random_numbers: bool = False,
) -> Iterator[Snapshot]:
    """A snapshot of U⁰, then one of each U^k and ν^k."""
    check_run(rng)
    sampler = Sampler(model, model.true, M, ties, common_random_numbers)
    U0_XY, rho = values_of(model, U0_XY, "U0_XY"), StateSample(model, N, rho_XY)
    for k, U_XY, look in fitted_sweeps("base", sampler, U0_XY, rng, regress, rho):
        nu_XY, pairs = greedy(sampler, U_XY, look), k * rho.N * model.n_actions
        yield Snapshot("base", k, pairs, nu_XY[None], U_XY, nan, pairs * M, "stationary")


def fitted_sweeps(
    phase: str,
    sampler: Sampler | UpperSampler,
    U_XY: np.ndarray,
    rng: np.random.Generator,
    regress: Regression,
    rho: StateSample,
) -> Iterator[tuple[int, np.ndarray, np.random.Generator]]:
    """Iteration after iteration: its number, the fitted values, and the generator for looking at
    their policy. The first are the initial values."""
    features_SF, fit = state_features(sampler.model), Fit(U_XY.reshape(-1).copy())
    yield 0, finite(U_XY, phase, 0).copy(), rng.spawn(1)[0]
    for k in count(1):
        _, look = extraction(rng)
        states_N = rho.draw(rng)
        u_N = backup(sampler, fit.values_P.reshape(U_XY.shape), rng, states_N)[0]
        fit = regress.fit(features_SF, states_N, finite(u_N, phase, k), rng, fit)
        yield k, finite(fit.values_P, phase, k).reshape(U_XY.shape), look
