"""Empirical frozen-state value iteration (Algorithm E-FSVI of the appendix).

Lower level, once, with the slow state frozen and M_l samples:

    J_t(x, y) = max_a r + γ · 1/M_l Σ_j J_{t+1}(x, y^(a,j)),  π̃_t greedy,   t = T−1, …, 1,  J_T = 0.

Upper level, with M_u paths of T steps, s₁ and s_T on the same path:

    V^k(s₀) = max_a 1/M_u Σ_j [r + γ J₁(s₁^(a,j)) + γᵀ V^{k−1}(s_T^(a,j))],  μ̃^k greedy for V^k.

The policy is the T-periodic (μ̃^k, π̃₁, …, π̃_{T−1}). During the lower level there are three: the
cyclic (π̃_t, …, π̃_{T−1}), and two that the paper does not consider. The stationary one is greedy for
J_t in the base model (M_u samples of one true step). The rolling one plays π̃_t in every period.

Ties matter in the lower level, where frozen deterministic dynamics cause many of them. They are
broken at random unless `ties="first"`. If the model has no noise and ties go to the first action,
E-FSVI is FSVI.

Another terminal value J_T than zero is described in `fsdash.algorithms.terminal`. π̃ is then
evaluated with M_l samples for each state and step, drawn after the lower level.

Work: |S||A|M_l value-function evaluations per lower sweep, 2|S||A|M_u per upper sweep (J₁ and V),
and (T−1)|S|M_l for the evaluation of π̃ if J_T ≠ 0.
The samples that extract μ̃ and the stationary policy are not counted and do not change the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import nan

import numpy as np

from fsdash.algorithms.fsvi import check_T
from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.algorithms.terminal import terminal_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.sampling import Sampler, Sampling, UpperSampler, backup, greedy, sweeps


def e_fsvi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    T: int,
    sampling: Sampling = Sampling(),
    V0_XY: np.ndarray | None = None,
    terminal: str = "zero",
    terminal_XY: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Empirical frozen-state value iteration (E-FSVI).

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    T : int
        Periods per block: the slow state is frozen for T periods.
    sampling : Sampling
        `M_l`, `M_u`, `ties`, `common_random_numbers`, `centre`, `sparse` and `snapshots_per_sweep`.
    V0_XY : np.ndarray, optional
        Initial values of the upper level, shape (X, Y); zero by default.
    terminal : {"zero", "last", "reward"}
        Terminal value J_T of the lower level.
    terminal_XY : np.ndarray, optional
        Your own terminal value instead, shape (X, Y).
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        Three snapshots after each lower sweep (cyclic, stationary and rolling policy), one of V⁰,
        then `snapshots_per_sweep` per upper sweep with the periodic policy.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> last = fsdash.run_until(fsdash.e_fsvi(model, np.random.default_rng(0), T=6), iterations=1)
    >>> last.policy_kind, last.policy_PXY.shape
    ('periodic', (6, 11, 51))
    """
    check_T(model, T)
    sampling.check(rng, "M_l M_u ties common_random_numbers centre sparse snapshots_per_sweep")
    n, M_l, M_u = model.n_states, sampling.M_l, sampling.M_u

    frozen = Sampler(model, model.frozen, M_l, replace(sampling, centre=False))
    base = Sampler(model, model.true, M_u, sampling)
    J_XY, evaluate = terminal_values(model, terminal, terminal_XY)
    start = resume or {
        "t": T - 1,
        "pairs": 0,
        "J_XY": J_XY,
        "policy_PXY": np.zeros((T, *J_XY.shape), np.int32),
        "k": 0,
        "V_XY": values_of(model, V0_XY, "V0_XY"),
    }
    pairs, J_XY, V_XY = start["pairs"], start["J_XY"], start["V_XY"]
    policy_PXY = np.array(start["policy_PXY"])
    if terminal == "last" and not resume:
        for _ in range(T - 1):
            J_XY = backup(frozen, J_XY, rng)[0].reshape(V_XY.shape)
        pairs = (T - 1) * model.n_pairs
    for t in range(start["t"], 0, -1):
        [policy_rng] = rng.spawn(1)
        J_S, pi_S = backup(frozen, J_XY, rng)
        J_XY, policy_PXY[t] = J_S.reshape(V_XY.shape), pi_S.reshape(V_XY.shape)
        nu_XY, pairs = greedy(base, J_XY, policy_rng), pairs + model.n_pairs
        then = {**start, "t": t - 1, "pairs": pairs, "J_XY": J_XY, "policy_PXY": policy_PXY}
        for kind, policy in (
            ("cyclic", policy_PXY[t:]),
            ("stationary", nu_XY[None]),
            ("rolling", policy_PXY[t : t + 1]),
        ):
            resume = then if kind == "rolling" else None
            yield Snapshot("lower", T - t, pairs, policy, J_XY, nan, pairs * M_l, kind, resume)

    lower = policy_PXY[1:]
    if evaluate and not start["k"]:
        J_XY = np.zeros_like(V_XY)
        for pi_XY in lower[::-1]:
            J_XY = frozen.policy_values(pi_XY, J_XY, rng).reshape(V_XY.shape)
        pairs += (T - 1) * model.n_real
    upper = UpperSampler(model, J_XY, lower, sampling)
    lower_pairs = pairs
    known = {"t": 0, "pairs": pairs, "J_XY": J_XY, "policy_PXY": policy_PXY}

    def snapshot(k: int, updated: int, values_XY: np.ndarray, rng: np.random.Generator) -> Snapshot:
        pairs = k * model.n_pairs + int(model.pairs_up_to_S[updated])
        iteration, evaluations = k + updated // n, lower_pairs * M_l + 2 * pairs * M_u
        mu_XY = greedy(upper, finite(values_XY, "upper", iteration), rng)
        policy = np.concatenate([mu_XY[None], lower])
        return Snapshot(
            "upper",
            iteration,
            lower_pairs + pairs,
            policy,
            values_XY,
            nan,
            evaluations,
            "periodic",
            {**known, "k": iteration, "V_XY": values_XY} if updated == n else None,
        )

    for k, updated, values_XY, policy_rng in sweeps(
        upper, V_XY, rng, sampling.snapshots_per_sweep, start["k"]
    ):
        yield snapshot(k, updated, values_XY, policy_rng)
