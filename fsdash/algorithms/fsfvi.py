"""Frozen-state fitted value iteration (Algorithm FSFVI).

Lower level, once, with the slow state frozen, N states of D ~ ρ and M_l samples, J_T = 0:

    J_t^(i) = max_a r + γ · 1/M_l Σ_j J_{t+1}(x^(i), y^(i,a,j)),    J_t = Regress{(s^(i), J_t^(i))},
    π̃_t(s)  = argmax_a r + γ · 1/M_l Σ_j J_{t+1}(s^(a,j)) at every state,    t = T−1, …, 1.

The algorithm in the paper samples the full next states s^(a,j) for π̃_t, with the slow state moving
(`lower_policy="full"`). With `lower_policy="frozen"` π̃_t is the maximiser of the frozen update, as
in E-FSVI, from the samples of the targets.

Upper level, with M_u paths of T steps, s₁ and s_T on the same path:

    V^(i) = max_a 1/M_u Σ_j [r + γ J₁(s₁^(i,a,j)) + γᵀ V^{k−1}(s_T^(i,a,j))],    V^k = Regress{…},
    μ̃^k    greedy for V^k by M_u separate paths for each (s, a), at every state.

Another terminal value J_T than zero is described in `fsdash.algorithms.terminal`. π̃ is then
evaluated by T−1 regressions on N states with M_l samples each, of frozen steps of π̃.

Phases and policy kinds of the snapshots are those of `e_fsvi`. With tabular regression, all states
and the frozen reading of π̃_t, FSFVI is E-FSVI, number for number.

Extracting μ̃ at every state takes |S|/N times as many paths as the targets, for each snapshot.
`extract` chooses how; V^k is the same in all three cases:

    fresh  M_u new paths for each (s, a) and snapshot, as in the paper.
    kept   M_u paths for each (s, a), simulated once and stored in 4·|S||A|M_u bytes. Each μ̃^k has
           the distribution of a fresh one, but the errors of one run's policies are correlated.
    exact  the exact expectation, with ties to the first action.

Work: N|A|M_l value-function evaluations per lower step, 2N|A|M_u per upper iteration (J₁ and V),
and (T−1)N M_l for the evaluation of π̃ if J_T ≠ 0.
The samples that extract π̃ and μ̃ at every state are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from fsdash.algorithms.fsvi import check_T
from fsdash.algorithms.fvi import fitted_sweeps
from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.algorithms.terminal import terminal_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, follow_all, upper_bellman, values_of
from fsdash.errors import InputError
from fsdash.regression import Fit, Regression, needs_only_values, state_features
from fsdash.sampling import (
    Sampler,
    Sampling,
    StateSample,
    UpperSampler,
    backup,
    greedy,
)

EXTRACT = ("fresh", "kept", "exact")
LOWER_POLICY = ("full", "frozen")


def fsfvi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    T: int,
    regress: Regression,
    sampling: Sampling = Sampling(),
    V0_XY: np.ndarray | None = None,
    terminal: str = "zero",
    terminal_XY: np.ndarray | None = None,
    extract: str = "fresh",
    lower_policy: str = "full",
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Frozen-state fitted value iteration.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    T : int
        Periods per block: the slow state is frozen for T periods.
    regress : Regression
        The regression strategy, such as `fsdash.regression.Linear()`.
    sampling : Sampling
        `M_l`, `M_u`, `ties`, `common_random_numbers`, `sparse`, `N` and `rho_XY`.
    V0_XY : np.ndarray, optional
        Initial values of the upper level, shape (X, Y); zero by default.
    terminal : {"zero", "last", "reward"}
        Terminal value J_T of the lower level.
    terminal_XY : np.ndarray, optional
        Your own terminal value instead, shape (X, Y).
    extract : {"fresh", "kept", "exact"}
        How the upper policy is extracted: from fresh paths for each snapshot, from one stored set
        of paths, or from the exact expectation.
    lower_policy : {"full", "frozen"}
        Next states from which π̃_t is computed: M_l full states for each (s, a), as in the paper, or
        the states of the frozen update.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        Three snapshots after each lower step (cyclic, stationary and rolling policy), then V^k and
        the periodic policy for k = 0, 1, 2, …

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> rng, linear = np.random.default_rng(0), fsdash.regression.Linear()
    >>> few = fsdash.Sampling(N=100)
    >>> run = fsdash.algorithms.fsfvi(model, rng, T=3, regress=linear, sampling=few)
    >>> fsdash.run_until(run, iterations=1).policy_PXY.shape
    (3, 11, 51)
    """
    check_T(model, T)
    sampling.check(rng, "M_l M_u ties common_random_numbers sparse N rho_XY")
    M_l, M_u = sampling.M_l, sampling.M_u
    if extract not in EXTRACT:
        raise InputError(f"extract = {extract!r}: choose from {', '.join(EXTRACT)}")
    if lower_policy not in LOWER_POLICY:
        raise InputError(f"lower_policy = {lower_policy!r}: choose from {', '.join(LOWER_POLICY)}")
    exact = extract == "exact"
    rho, features_SF = StateSample(model, sampling.N, sampling.rho_XY), state_features(model)
    sweep, can_resume = rho.pairs, needs_only_values(regress)

    frozen = Sampler(model, model.frozen, M_l, sampling)
    full = Sampler(model, model.true, M_l, sampling)
    base = Sampler(model, model.true, M_u, sampling)
    J_XY, evaluate = terminal_values(model, terminal, terminal_XY)
    shape = J_XY.shape
    start = resume or {
        "t": T - 1,
        "pairs": 0,
        "J_S": J_XY.reshape(-1).copy(),
        "policy_PXY": np.zeros((T, *shape), np.int32),
        "k": 0,
        "V_XY": values_of(model, V0_XY, "V0_XY"),
    }
    policy_PXY = np.array(start["policy_PXY"])

    def refit(fit: Fit, states_N: np.ndarray, targets_N: np.ndarray, step: int) -> Fit:
        new = regress.fit(features_SF, states_N, targets_N, rng, fit)
        finite(new.values_P, "lower", step)
        return new

    fit, pairs = Fit(start["J_S"]), start["pairs"]
    if terminal == "last" and not resume:
        for step in range(1, T):
            states_N = rho.draw(rng)
            J_N = backup(frozen, fit.values_P.reshape(shape), rng, states_N)[0]
            fit = refit(fit, states_N, J_N, step)
        pairs = (T - 1) * sweep
    for t in range(start["t"], 0, -1):
        [policy_rng] = rng.spawn(1)
        states_N, J_XY = rho.draw(rng), fit.values_P.reshape(shape)
        if lower_policy == "full":
            policy_PXY[t] = greedy(full, J_XY, *rng.spawn(1))
            J_N = backup(frozen, J_XY, rng, states_N)[0]
        else:
            J_S, pi_S = backup(frozen, J_XY, rng)
            J_N, policy_PXY[t] = J_S[states_N], pi_S.reshape(shape)
        fit = refit(fit, states_N, J_N, T - t)
        J_XY = fit.values_P.reshape(shape)
        nu_XY = bellman(model, model.true, J_XY)[1] if exact else greedy(base, J_XY, policy_rng)
        pairs += sweep
        then = {
            **start,
            "t": t - 1,
            "pairs": pairs,
            "J_S": fit.values_P,
            "policy_PXY": policy_PXY,
        }
        for kind, policy in (
            ("cyclic", policy_PXY[t:]),
            ("stationary", nu_XY[None]),
            ("rolling", policy_PXY[t : t + 1]),
        ):
            resume = then if kind == "rolling" and can_resume else None
            yield Snapshot("lower", T - t, pairs, policy, J_XY, nan, pairs * M_l, kind, resume)

    lower = policy_PXY[1:]
    if evaluate and not start["k"]:
        fit = Fit(np.zeros(model.n_states))
        for step, pi_XY in enumerate(lower[::-1], start=1):
            states_N, J_XY = rho.draw(rng), fit.values_P.reshape(shape)
            fit = refit(fit, states_N, frozen.policy_values(pi_XY, J_XY, rng, states_N), step)
        pairs += (T - 1) * rho.size
    J_XY, lower_pairs = fit.values_P.reshape(shape), pairs
    followed = follow_all(model, lower)
    upper = UpperSampler(model, J_XY, lower, sampling)
    # Counts over rows of K are fast enough without stored paths.
    store = extract == "kept" and upper.kernel is None
    sampler = upper.store_paths(*rng.spawn(1)) if store else upper
    known = {"t": 0, "pairs": pairs, "J_S": fit.values_P, "policy_PXY": policy_PXY}
    can_resume = can_resume and not store  # stored paths are not part of a checkpoint
    for k, V_XY, policy_rng in fitted_sweeps(
        "upper", upper, start["V_XY"], rng, regress, rho, start["k"]
    ):
        if exact:
            mu_XY = upper_bellman(model, J_XY, followed, V_XY)[1]
        else:
            mu_XY = greedy(sampler, V_XY, policy_rng)
        policy, pairs = np.concatenate([mu_XY[None], lower]), k * sweep
        evaluations = lower_pairs * M_l + 2 * pairs * M_u
        yield Snapshot(
            "upper",
            k,
            lower_pairs + pairs,
            policy,
            V_XY,
            nan,
            evaluations,
            "periodic",
            {**known, "k": k, "V_XY": V_XY} if k and can_resume else None,
        )
