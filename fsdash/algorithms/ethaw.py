"""Thawed defect correction (E-Thaw): cheap frozen sweeps without the error of freezing.

For an exogenous slow state and a fast state without noise while x is frozen, y' = ỹ(x, y, a). The
sweeps move x by an estimated kernel P̂ and y by the frozen map. What they leave out is the defect

    D(s, a) = E[U(x', y')] − E[U(x', ỹ)],

a slowly changing correction that is sampled from time to time and averaged:

    U ← max_a r + γ [(P̂ U)(x, ỹ) + D],    π greedy.

If D is the defect of U, a fixed point of this sweep is a fixed point of H, whatever the frozen map
is. So there is no floor: the error that remains comes from P̂ and D, and falls as samples come in.
x is exogenous, so its kernel is learned once for all fast states and actions; Trimponias and
Dietterich (arXiv 2303.12957) use the same structure. Adding c(x) to U changes every Q(s, ·) by
γ(Pc)(x), which changes no greedy action, so U is centred within each slow state.

Between two sweeps the policy is evaluated by sweeps of |S| each, in which only the part of U that
stays in x moves: (1 − κ(x)) U + off, with κ(x) = 1 − P̂(x, x) and off = P̂ U − (1 − κ) U held fixed.

Work, in value-function evaluations; every sample is counted, and the policy comes from the sweep
itself: |S||A| per sweep, |S| per sweep of a policy, |S| times the non-zeros in a row of P̂ for P̂ U,
2M|S||A| per estimate of D, and one per draw of x' alone and of y' in the first check.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import ceil, nan

import numpy as np

from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.certificate import MAX_SLOW, slow_kernel
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H_frozen, expect, follow, policy_reward
from fsdash.errors import InputError
from fsdash.sampling import (
    NextStates,
    centred,
    check_run,
    check_samples,
    check_ties,
    greedy_rows,
)

FIRST_SWEEPS = 4
"""Frozen sweeps before x moves."""
CHECKED = 500
"""Pairs (s, a) that are sampled to find out whether y' ever differs from ỹ."""
REDRAW = 0.1
"""Work for further draws of x', as a share of a cycle's other work."""
SETTLED, FIRST_CYCLES = 0.01, 6
"""D is first estimated when the change of U is this share of the first one, or after so many
cycles."""


def ethaw(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    M: int = 10,
    draws: int = 200,
    ties: str = "random",
) -> Iterator[Snapshot]:
    """Thawed defect correction (E-Thaw).

    Parameters
    ----------
    model : FastSlowMDP
        The model. Its slow state is exogenous, and its fast state has no noise while x is frozen.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    M : int, default 10
        Samples of the next state for each state and action in one estimate of the defect.
    draws : int, default 200
        First draws of x' from each slow state.
    ties : {"first", "random"}
        Which of several equally good actions is taken.

    Yields
    ------
    Snapshot
        U (centred within each slow state) and the stationary policy of each cycle.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("gridworld").build()
    >>> last = fsdash.run_until(fsdash.ethaw(model, np.random.default_rng(0)), iterations=12)
    >>> sweep = 50 * model.n_pairs  # one sweep of Base E-VI
    >>> result = fsdash.regret(model, last.policy_PXY)
    >>> last.evaluations < 0.5 * sweep, round(result.mean_value / result.optimal_mean_value, 2)
    (True, 1.0)
    """
    check_run(rng)
    check_samples("M", M)
    check_samples("draws", draws)
    check_ties(ties)
    check_thaw(model)
    n, sampler = model.n_pairs, NextStates(model)
    pairs_N, fast_XYA = np.flatnonzero(model.feasible_XYA), frozen_map(model)

    counts_XX = sampler.count_slow(draws, rng)
    U_XY, D_XYA = np.zeros(model.real_XY.shape), np.zeros(fast_XYA.shape)
    for _ in range(FIRST_SWEEPS):
        U_XY = H_frozen(model, U_XY)
    checked_N = rng.choice(pairs_N, CHECKED)
    y_N = sampler.draw(checked_N, rng.random(CHECKED)) % model.n_fast
    corrects = bool((y_N != fast_XYA.reshape(-1)[checked_N]).any())
    backups = FIRST_SWEEPS * n
    work = model.n_slow * draws + backups + CHECKED

    estimates, since, first_change = 0, 0, nan
    for cycle in count(1):
        began = work
        P_XX = counts_XX / counts_XX.sum(axis=1, keepdims=True)
        E_XY = P_XX @ U_XY
        next_XY, pi_XY = thawed_sweep(model, E_XY, D_XYA, ties, rng)
        work += model.n_fast * int(np.count_nonzero(counts_XX)) + n
        backups += n
        finite(next_XY, "base", cycle)
        yield Snapshot("base", cycle, backups, pi_XY[None], next_XY, nan, work, "stationary")

        change = np.ptp(next_XY - U_XY, axis=1).max()
        first_change = change if cycle == 1 else first_change
        stay_X1 = np.diag(P_XX)[:, None]
        sweeps = int(min(model.n_actions / 2, ceil(1 / (1 - model.gamma * stay_X1.mean()))))
        off_XY = E_XY - stay_X1 * U_XY
        U_XY = centred(policy_sweeps(model, pi_XY, sweeps, stay_X1, off_XY, D_XYA, next_XY))
        work, backups = work + sweeps * model.n_real, backups + sweeps * model.n_real

        more = int(REDRAW * (work - began) / model.n_slow)
        counts_XX, work = counts_XX + sampler.count_slow(more, rng), work + model.n_slow * more
        since += work - began

        settled = change < SETTLED * first_change
        due = since >= 2 * M * n if estimates else cycle >= FIRST_CYCLES
        if corrects and (settled or due):
            d_XYA, seen_XX = sampled_defect(sampler, U_XY, fast_XYA, pairs_N, M, rng)
            estimates, since = estimates + 1, 0
            D_XYA = D_XYA + (model.mirror(d_XYA) - D_XYA) / estimates
            counts_XX, work = counts_XX + seen_XX, work + 2 * M * n


def thawed_sweep(
    model: FastSlowMDP, E_XY: np.ndarray, D_XYA: np.ndarray, ties: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return max_a r + γ [E(x, ỹ) + D] and a greedy policy."""
    Q_XYA = model.reward_XYA + model.gamma * (expect(model, model.frozen, E_XY) + D_XYA)
    pi_S = greedy_rows(rng, Q_XYA.reshape(-1, model.n_actions), ties == "random")
    pi_XY = pi_S.reshape(E_XY.shape)
    return chosen(Q_XYA, pi_XY), pi_XY


def policy_sweeps(
    model: FastSlowMDP,
    pi_XY: np.ndarray,
    sweeps: int,
    stay_X1: np.ndarray,
    off_XY: np.ndarray,
    D_XYA: np.ndarray,
    U_XY: np.ndarray,
) -> np.ndarray:
    """Make sweeps U ← r_π + γ [((1 − κ) U + off)(x, ỹ_π) + D_π] of a policy."""
    followed = follow(model.frozen, pi_XY)
    fixed_XY = policy_reward(model, pi_XY) + model.gamma * chosen(D_XYA, pi_XY)
    for _ in range(sweeps):
        moved_XY1 = expect(model, followed, stay_X1 * U_XY + off_XY)
        U_XY = fixed_XY + model.gamma * moved_XY1[:, :, 0]
    return U_XY


def chosen(Q_XYA: np.ndarray, pi_XY: np.ndarray) -> np.ndarray:
    """Return Q(x, y, π(x, y))."""
    return np.take_along_axis(Q_XYA, pi_XY[:, :, None].astype(np.int64), axis=2)[:, :, 0]


def sampled_defect(
    sampler: NextStates,
    U_XY: np.ndarray,
    fast_XYA: np.ndarray,
    pairs_N: np.ndarray,
    M: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of U(x', y') − U(x', ỹ) over M samples of each pair, and the counts of x'.

    All actions of a state have common random numbers, so one of them gives an independent x'.
    """
    X, Y, A = fast_XYA.shape
    U_S, fast_N, state_N = U_XY.reshape(-1), fast_XYA.reshape(-1)[pairs_N], pairs_N // A
    first = np.unique(state_N, return_index=True)[1]
    total_N, seen_XX = np.zeros(len(pairs_N)), np.zeros((X, X))
    for _ in range(M):
        target_N = sampler.draw(pairs_N, rng.random(X * Y)[state_N])
        slow_N = target_N // Y
        total_N += U_S[target_N] - U_S[slow_N * Y + fast_N]
        np.add.at(seen_XX, (state_N[first] // Y, slow_N[first]), 1)
    d_XYA = np.zeros(fast_XYA.shape)
    d_XYA.reshape(-1)[pairs_N] = total_N / M
    return d_XYA, seen_XX


def frozen_map(model: FastSlowMDP) -> np.ndarray:
    """Return ỹ(x, y, a), the index of the next fast state while x is frozen."""
    index_XY = np.tile(np.arange(model.n_fast, dtype=float), (model.n_slow, 1))
    fast_XYA = np.rint(expect(model, model.frozen, index_XY)).astype(np.int64)
    return np.array(np.broadcast_to(fast_XYA, model.reward_XYA.shape))


def check_thaw(model: FastSlowMDP) -> None:
    """Raise an error that names an alternative unless E-Thaw suits the model."""
    if not model.true.exogenous_slow:
        raise InputError(
            "e-thaw: the slow state is endogenous (the law of x' depends on the action or on y); "
            "use e-rolling, or e-vi if freezing does not suit the model"
        )
    if not model.frozen.noise_free_fast:
        raise InputError(
            "e-thaw: the fast state has noise while x is frozen; use e-rolling with M_l > 1 samples"
        )
    if model.n_slow > MAX_SLOW:
        raise InputError(
            f"e-thaw: {model.n_slow:,} slow states need a kernel of as many columns; use e-rolling "
            f"above {MAX_SLOW:,}"
        )


def first_policy_cost(model: FastSlowMDP, draws: int = 200) -> int:
    """Return an upper bound on the evaluations before the first policy."""
    nonzeros = min(draws, model.n_slow)
    sweeps = (FIRST_SWEEPS + 1) * model.n_pairs
    return model.n_slow * draws + sweeps + CHECKED + model.n_states * nonzeros


def describe_thaw(model: FastSlowMDP, **parameters: object) -> str:
    """Say how the slow state moves; refuse what E-Thaw would refuse."""
    check_thaw(model)
    return (
        f"exogenous slow state, moves with probability {1 - np.diag(slow_kernel(model)).mean():.3g}"
    )
