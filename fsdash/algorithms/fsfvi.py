"""Frozen-state fitted value iteration (Algorithm FSFVI).

Lower level, once, with the slow state frozen, N states of D ~ ρ and M_l samples, J_T = 0:

    J_t^(i) = max_a r + γ · 1/M_l Σ_j J_{t+1}(x^(i), y^(i,a,j)),    J_t = Regress{(s^(i), J_t^(i))},
    π̃_t      greedy for J_{t+1} at every state,                     t = T−1, …, 1.

Upper level, with M_u paths of T steps, s₁ and s_T on the same path:

    V^(i) = max_a 1/M_u Σ_j [r + γ J₁(s₁^(i,a,j)) + γᵀ V^{k−1}(s_T^(i,a,j))],    V^k = Regress{…},
    μ̃^k    greedy for V^k by M_u paths of its own for each (s, a), at every state.

The lower level samples each (s, a) once a step, for π̃_t and for the targets, as E-FSVI does ("y
defined the same way as above"); the paper's FSFVI leaves that open. Where the frozen fast state has
no noise, as in all domains of the paper, there is no difference. Policies, phases and kinds of
snapshots are those of `efsvi`; with a table and all states FSFVI is E-FSVI, number for number.

Reading μ̃ off at every state takes |S|/N times as many paths as the targets, for each snapshot.
`extract` says how that is done; V^k is the same in all three ways:

    fresh  M_u new paths for each (s, a) and snapshot, as the paper has it.
    kept   M_u paths for each (s, a), simulated once: each μ̃^k has the distribution of a fresh one,
           but the errors of one run's policies are alike. 4·|S||A|M_u bytes.
    exact  the expectation itself, ties to the first action: what V^k is worth without the noise.

Work: N|A|M_l value-function evaluations a lower step, 2N|A|M_u an upper iteration (J₁ and V).
Reading policies off is not counted, at the states outside D neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from fsdash.algorithms.fsvi import check_T
from fsdash.algorithms.fvi import fitted_sweeps
from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, follow_all, upper_bellman, values_of
from fsdash.errors import InputError
from fsdash.regression import Fit, Regression, state_features
from fsdash.sampling import (
    Sampler,
    StateSample,
    UpperSampler,
    backup,
    check_run,
    check_samples,
    greedy,
)

EXTRACT = ("fresh", "kept", "exact")


def fsfvi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    T: int,
    regress: Regression,
    N: int | None = None,
    M_l: int = 1,
    M_u: int = 50,
    V0_XY: np.ndarray | None = None,
    rho_XY: np.ndarray | None = None,
    ties: str = "random",
    common_random_numbers: bool = False,
    sparse: bool | None = None,
    extract: str = "fresh",
) -> Iterator[Snapshot]:
    """Two snapshots after each lower step, one of V⁰, then one of each V^k and μ̃^k.

    `sparse` chooses how the upper level samples (`UpperSampler`); None lets the model decide.
    """
    check_T(model, T)
    check_run(rng)
    check_samples("M_l", M_l)
    check_samples("M_u", M_u)
    if extract not in EXTRACT:
        raise InputError(f"extract = {extract!r}: choose from {', '.join(EXTRACT)}")
    exact = extract == "exact"
    V0_XY, rho = values_of(model, V0_XY, "V0_XY"), StateSample(model, N, rho_XY)
    features_SF, sweep = state_features(model), rho.N * model.n_actions

    frozen = Sampler(model, model.frozen, M_l, ties, common_random_numbers)
    base = Sampler(model, model.true, M_u, ties, common_random_numbers)
    fit = Fit(np.zeros(model.n_states))
    J_XY, policy_PXY = fit.values_P.reshape(V0_XY.shape), np.empty((T, *V0_XY.shape), np.int32)
    for t in range(T - 1, 0, -1):
        [look] = rng.spawn(1)
        states_N = rho.draw(rng)
        J_S, pi_S = backup(frozen, J_XY, rng)
        fit = regress.fit(features_SF, states_N, J_S[states_N], rng, fit)
        J_XY, policy_PXY[t] = fit.values_P.reshape(V0_XY.shape), pi_S.reshape(V0_XY.shape)
        finite(J_XY, "lower", T - t)
        nu_XY = bellman(model, model.true, J_XY)[1] if exact else greedy(base, J_XY, look)
        pairs = (T - t) * sweep
        for kind, policy in (("cyclic", policy_PXY[t:]), ("stationary", nu_XY[None])):
            yield Snapshot("lower", T - t, pairs, policy, J_XY, nan, pairs * M_l, kind)

    lower, before = policy_PXY[1:], (T - 1) * sweep
    followed = follow_all(model, lower)
    upper = UpperSampler(model, J_XY, lower, M_u, ties, common_random_numbers, sparse)
    # Counts over rows of K are fast enough without.
    keep = extract == "kept" and upper.rows is None
    paths = upper.keep_paths(*rng.spawn(1)) if keep else upper
    for k, V_XY, look in fitted_sweeps("upper", upper, V0_XY, rng, regress, rho):
        if exact:
            mu_XY = upper_bellman(model, J_XY, followed, V_XY)[1]
        else:
            mu_XY = greedy(paths, V_XY, look)
        policy, pairs = np.concatenate([mu_XY[None], lower]), k * sweep
        evaluations = before * M_l + 2 * pairs * M_u
        yield Snapshot("upper", k, before + pairs, policy, V_XY, nan, evaluations, "periodic")
