"""Frozen-state value iteration (Algorithm 2, FSVI).

Lower level, once, with the slow state frozen:

    J_t = H̃ J_{t+1},  π̃_t greedy,      t = T−1, …, 1,    J_T = 0.

Upper level, on a timescale T times slower and with discount γᵀ:

    V^k = F V^{k−1},  μ̃^k greedy for V^k,      F = F_{J₁, π̃}.

The policy is the T-periodic (μ̃^k, π̃₁, …, π̃_{T−1}). The newest lower policy π̃_t in every period is
the rolling policy (`fsdash.algorithms.rolling`), recorded along the way. With T = 1 the lower level
is empty and FSVI is Base VI. Another terminal value J_T than zero is described in
`fsdash.algorithms.terminal`.

Guarantee: `fsdash.theory.repaired_bound`; under a condition also the paper's theorem,
`fsdash.theory.fsvi_bound`. Both are for J_T = 0.
Work: (T−1)|S||A| backups for the lower level, |S||A| + (T−1)|S| per upper iteration, and (T−1)|S|
for the evaluation of π̃ if J_T ≠ 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot
from fsdash.algorithms.terminal import terminal_values
from fsdash.algorithms.vi import distance
from fsdash.core.certificate import certificate
from fsdash.core.law import TransitionLaw
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import (
    H_frozen,
    H_frozen_policy,
    bellman,
    follow,
    upper_bellman,
    values_of,
)
from fsdash.errors import InputError

MAX_DECISIONS = 100_000_000
"""Largest number of actions T·|S| in a policy: 400 MB, and about as much for its transitions."""


def fsvi(
    model: FastSlowMDP,
    T: int,
    *,
    V0_XY: np.ndarray | None = None,
    terminal: str = "zero",
    terminal_XY: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Frozen-state value iteration.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    T : int
        Periods per block: the slow state is frozen for T periods.
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
        Two snapshots after each of T−1 lower sweeps (cyclic and rolling policy), then V^k and the
        periodic policy for k = 0, 1, 2, …

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> last = fsdash.run_until(fsdash.fsvi(model, T=6), tolerance=1e-3)
    >>> last.policy_kind, last.policy_PXY.shape
    ('periodic', (6, 11, 51))
    """
    check_T(model, T)
    sweep, outcomes = model.n_pairs, model.frozen.outcomes

    J_XY, evaluate = terminal_values(model, terminal, terminal_XY)
    backups = 0
    if terminal == "last":
        for _ in range(T - 1):
            J_XY = H_frozen(model, J_XY)
        backups = (T - 1) * sweep
    policy_PXY = np.empty((T, model.n_slow, model.n_fast), np.int32)
    lower = policy_PXY[1:]
    for t in range(T - 1, 0, -1):
        J_XY, policy_PXY[t] = bellman(model, model.frozen, J_XY)
        backups += sweep
        evaluations = backups * outcomes
        # The lower level has a finite horizon, so its values are exact.
        for kind, policy in (("cyclic", policy_PXY[t:]), ("rolling", policy_PXY[t : t + 1])):
            if not resume:
                yield Snapshot("lower", T - t, backups, policy, J_XY, 0.0, evaluations, kind)

    if evaluate:
        J_XY = np.zeros_like(J_XY)
        for pi_XY in lower[::-1]:
            J_XY = H_frozen_policy(model, pi_XY, J_XY)
        backups += (T - 1) * model.n_real
    followed = [follow(model.true, pi_XY) for pi_XY in lower]
    start = resume or {"k": 0, "V_XY": values_of(model, V0_XY, "V0_XY").copy()}
    yield from upper_level(model, J_XY, lower, followed, start["V_XY"], backups, start["k"])


def upper_level(
    model: FastSlowMDP,
    J_XY: np.ndarray,
    lower: np.ndarray,
    followed: Sequence[TransitionLaw],
    V_XY: np.ndarray,
    backups: int,
    first: int = 0,
) -> Iterator[Snapshot]:
    """Iterate the upper level for a lower level with values J₁ that took so many backups.

    `lower` is the policy (π₁, …, π_{T−1}), `followed` the true dynamics under it, and V the result
    of `first` iterations.
    """
    T, evaluations = len(lower) + 1, backups * model.frozen.outcomes
    bounds, step = certificate(model, T), model.n_pairs + (T - 1) * model.n_real
    for k in count(first):
        next_XY, mu_XY = upper_bellman(model, J_XY, followed, V_XY)
        error = distance(bounds, V_XY, next_XY)
        policy = np.concatenate([mu_XY[None], lower])
        yield Snapshot(
            "upper",
            k,
            backups + k * step,
            policy,
            V_XY,
            error,
            evaluations + k * step * model.true.outcomes,
            "periodic",
            {"k": k + 1, "V_XY": next_XY},
            bounds.rounding,
        )
        V_XY = next_XY


def check_periods(T: int) -> None:
    """Raise an error unless T is a positive whole number."""
    if not isinstance(T, int | np.integer) or T < 1:
        raise InputError(f"T = {T}: freeze for a whole number of periods, at least 1")


def check_T(model: FastSlowMDP, T: int) -> None:
    """Raise an error unless T is a positive whole number whose policy fits into memory."""
    check_periods(T)
    if T * model.n_states > MAX_DECISIONS:
        raise InputError(
            f"T = {T}: one action for each of {T:,} periods and {model.n_states:,} states does not "
            f"fit into memory; use T ≤ {MAX_DECISIONS // model.n_states:,}"
        )
