"""Thawed defect correction (E-Thaw): cheap frozen sweeps without the error of freezing.

For an exogenous slow state and a fast state without noise while x is frozen, y' = ỹ(x, y, a). The
sweeps move x by an estimated kernel P̂ and y by the frozen map. What they leave out is the defect

    D(s, a) = E[U(x', y')] − E[U(x', ỹ)],

a slowly changing correction that is sampled from time to time and averaged:

    U ← max_a r + γ [(P̂ U)(x, ỹ) + D],    π greedy.

If D is the defect of U, a fixed point of this sweep is a fixed point of H, whatever the frozen map
is. So there is no floor where D converges (below): the error that remains comes from P̂ and D, and
falls as samples come in. x is exogenous, so its kernel is learned once for all fast states and
actions; Trimponias and Dietterich (arXiv 2303.12957) use the same structure. Adding c(x) to U
changes every Q(s, ·) by γ(Pc)(x), which changes no greedy action, so U is centred within each slow
state.

Between two sweeps the policy is evaluated by sweeps of |S| each, in which only the part of U that
stays in x moves: (1 − κ(x)) U + off, with κ(x) = 1 − P̂(x, x) and off = P̂ U − (1 − κ) U held fixed.

Estimate k of D has the step k^−0.7. With the step 1/k the error of D decays like k^−λ, where λ is
the smallest real part of an eigenvalue of (I − γE)(I − γN)⁻¹ for the true kernel E and the thawed
one N. If the slow state moves often, λ is near 0, or even negative: then no step makes D converge.
`fsdash.choice.race` therefore leaves E-Thaw out if the frozen map is wrong in most periods.

Nothing is read off the model's tables. Whether x is exogenous and ỹ without noise is tested by
draws (`structure_from_samples`), and every draw of x' also shows whether y' differs from ỹ. D is
estimated from the first such draw on, so a move that is rare is corrected once it has been seen.

Work, in value-function evaluations; every sample is counted, and the policy comes from the sweep
itself: |S||A| per sweep, |S| per sweep of a policy, |S| times the non-zeros in a row of P̂ for P̂ U,
2M|S||A| per estimate of D, and one per draw of the structure's test and of x' for P̂.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from math import ceil, nan

import numpy as np

from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.certificate import MAX_SLOW
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import policy_reward
from fsdash.errors import InputError
from fsdash.sampling import (
    NextStates,
    Sampling,
    Structure,
    centred,
    check_samples,
    greedy_rows,
    structure_from_samples,
)

FIRST_SWEEPS = 4
"""Frozen sweeps before x moves."""
REDRAW = 0.1
"""Work for further draws of x', as a share of a cycle's other work."""
SETTLED, FIRST_CYCLES = 0.01, 6
"""D is first estimated when the change of U is this share of the first one, or after so many
cycles."""
STEP_EXPONENT = 0.7
"""Estimate k of the defect has the step k to the power of minus this. Between 0.5 and 1 the steps
average out noise; the smaller, the sooner old estimates are forgotten."""


def e_thaw(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    sampling: Sampling = Sampling(M=10),
    draws: int = 200,
) -> Iterator[Snapshot]:
    """Thawed defect correction (E-Thaw).

    Parameters
    ----------
    model : FastSlowMDP
        The model. Its slow state is exogenous, and its fast state has no noise while x is frozen;
        both are tested by draws, and a model that nearly is so passes.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    sampling : Sampling
        `M` and `ties`.
    draws : int, default 200
        First draws of x' from each slow state.

    Yields
    ------
    Snapshot
        U (centred within each slow state) and the stationary policy of each cycle.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("gridworld").build()
    >>> last = fsdash.run_until(fsdash.e_thaw(model, np.random.default_rng(0)), iterations=12)
    >>> sweep = 50 * model.n_pairs  # one sweep of Base E-VI
    >>> result = fsdash.regret(model, last.policy_PXY)
    >>> last.evaluations < 0.5 * sweep, round(result.mean_value / result.optimal_mean_value, 2)
    (True, 1.0)
    """
    sampling.check(rng, "M ties")
    check_samples("draws", draws)
    structure = structure_from_samples(model, rng)
    check_thaw(model, structure)
    fast_XYA, U_XY = frozen_map(model, rng), np.zeros(model.real_XY.shape)
    for _ in range(FIRST_SWEEPS):
        Q_XYA = model.reward_XYA + model.gamma * look_up(U_XY, fast_XYA)
        U_XY = Q_XYA.max(axis=2)
    backups = FIRST_SWEEPS * model.n_pairs
    before = (backups, backups + structure.evaluations)
    yield from thawed_cycles(model, rng, fast_XYA, U_XY, before, draws, sampling)


def thawed_cycles(
    model: FastSlowMDP,
    rng: np.random.Generator,
    fast_XYA: np.ndarray,
    U_XY: np.ndarray,
    before: tuple[int, int] = (0, 0),
    draws: int = 200,
    sampling: Sampling = Sampling(M=10),
    affords: Callable[[int], bool] = lambda work: True,
) -> Iterator[Snapshot]:
    """Yield the cycles of E-Thaw from values U on; `before` are the backups and the work so far.

    `affords` receives each piece of work before it is done; the cycles end when it returns False.
    """
    n, M, sampler, D_XYA = model.n_pairs, sampling.M, NextStates(model), np.zeros(fast_XYA.shape)
    if not affords(model.n_slow * draws):
        return
    counts_XX, corrects = draw_slow(sampler, fast_XYA, draws, rng)
    backups, work = before[0], before[1] + model.n_slow * draws
    estimates, since, first_change = 0, 0, nan
    for cycle in count(1):
        began = work
        work += model.n_fast * int(np.count_nonzero(counts_XX)) + n
        if not affords(work - began):
            return
        P_XX = counts_XX / counts_XX.sum(axis=1, keepdims=True)
        E_XY = P_XX @ U_XY
        next_XY, pi_XY = thawed_sweep(model, fast_XYA, E_XY, D_XYA, sampling.ties, rng)
        backups += n
        finite(next_XY, "base", cycle)
        yield Snapshot("base", cycle, backups, pi_XY[None], next_XY, nan, work, "stationary")

        change = np.ptp(next_XY - U_XY, axis=1).max()
        first_change = change if cycle == 1 else first_change
        stay_X1 = np.diag(P_XX)[:, None]
        sweeps = int(min(model.n_actions / 2, ceil(1 / (1 - model.gamma * stay_X1.mean()))))
        evaluating = sweeps * model.n_real
        more = max(1, int(REDRAW * (work + evaluating - began) / model.n_slow))
        if not affords(evaluating + model.n_slow * more):
            return
        off_XY = E_XY - stay_X1 * U_XY
        U_XY = policy_sweeps(model, fast_XYA, pi_XY, sweeps, stay_X1, off_XY, D_XYA, next_XY)
        U_XY = centred(U_XY)
        work, backups = work + evaluating + model.n_slow * more, backups + evaluating
        seen_XX, differs = draw_slow(sampler, fast_XYA, more, rng)
        counts_XX, corrects = counts_XX + seen_XX, corrects or differs
        since += work - began

        settled = change < SETTLED * first_change
        due = since >= 2 * M * n if estimates else cycle >= FIRST_CYCLES
        if corrects and (settled or due):
            if not affords(2 * M * n):
                return
            d_XYA, seen_XX = sampled_defect(sampler, U_XY, fast_XYA, M, rng)
            estimates, since = estimates + 1, 0
            D_XYA = D_XYA + (model.mirror(d_XYA) - D_XYA) / estimates**STEP_EXPONENT
            counts_XX, work = counts_XX + seen_XX, work + 2 * M * n


def look_up(U_XY: np.ndarray, fast_XYA: np.ndarray) -> np.ndarray:
    """Return U(x, ỹ) for every (x, y, a), or under a policy for every (x, y)."""
    X, *rest = fast_XYA.shape
    return np.take_along_axis(U_XY, fast_XYA.reshape(X, -1), axis=1).reshape(X, *rest)


def thawed_sweep(
    model: FastSlowMDP,
    fast_XYA: np.ndarray,
    E_XY: np.ndarray,
    D_XYA: np.ndarray | float,
    ties: str,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return max_a r + γ [E(x, ỹ) + D] and a greedy policy."""
    Q_XYA = model.reward_XYA + model.gamma * (look_up(E_XY, fast_XYA) + D_XYA)
    pi_S = greedy_rows(rng, Q_XYA.reshape(-1, model.n_actions), ties == "random")
    pi_XY = pi_S.reshape(E_XY.shape)
    return chosen(Q_XYA, pi_XY), pi_XY


def policy_sweeps(
    model: FastSlowMDP,
    fast_XYA: np.ndarray,
    pi_XY: np.ndarray,
    sweeps: int,
    stay_X1: np.ndarray,
    off_XY: np.ndarray,
    D_XYA: np.ndarray,
    U_XY: np.ndarray,
) -> np.ndarray:
    """Make sweeps U ← r_π + γ [((1 − κ) U + off)(x, ỹ_π) + D_π] of a policy."""
    fast_XY = chosen(fast_XYA, pi_XY)
    fixed_XY = policy_reward(model, pi_XY) + model.gamma * chosen(D_XYA, pi_XY)
    for _ in range(sweeps):
        U_XY = fixed_XY + model.gamma * look_up(stay_X1 * U_XY + off_XY, fast_XY)
    return U_XY


def chosen(Q_XYA: np.ndarray, pi_XY: np.ndarray) -> np.ndarray:
    """Return Q(x, y, π(x, y))."""
    return np.take_along_axis(Q_XYA, pi_XY[:, :, None].astype(np.int64), axis=2)[:, :, 0]


def draw_slow(
    sampler: NextStates, fast_XYA: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, bool]:
    """Draw n next states of random pairs of each x: counts of x', and whether any y' is not ỹ."""
    X, Y, _ = fast_XYA.shape
    slow_N = np.repeat(np.arange(X), n)
    pair_N = sampler.random_pairs(slow_N, rng)
    target_N = sampler.draw(pair_N, rng.random(X * n))
    seen_XX = np.bincount(slow_N * X + target_N // Y, minlength=X * X).reshape(X, X)
    return seen_XX, bool((target_N % Y != fast_XYA.reshape(-1)[pair_N]).any())


def sampled_defect(
    sampler: NextStates,
    U_XY: np.ndarray,
    fast_XYA: np.ndarray,
    M: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of U(x', y') − U(x', ỹ) over M samples of each pair, and the counts of x'.

    All actions of a state have common random numbers, so one of them gives an independent x'.
    """
    X, Y, A = fast_XYA.shape
    pairs_N = sampler.pairs_N
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


def frozen_map(model: FastSlowMDP, rng: np.random.Generator) -> np.ndarray:
    """Return ỹ(x, y, a), the next fast state while x is frozen, as the first frozen sweep sees it.

    For infeasible actions it is 0.
    """
    sampler, fast_P = NextStates(model, model.frozen), np.zeros(model.reward_XYA.size, np.int64)
    drawn_N = sampler.draw(sampler.pairs_N, rng.random(model.n_pairs))
    fast_P[sampler.pairs_N] = drawn_N % model.n_fast
    return model.mirror(fast_P.reshape(model.reward_XYA.shape))


def check_thaw(model: FastSlowMDP, structure: Structure) -> None:
    """Raise an error that names an alternative unless E-Thaw suits the model."""
    tested = f"of {structure.tested} pairs of draws"
    if not structure.exogenous_slow:
        raise InputError(
            "e-thaw: the slow state is endogenous (x' changed with the action or with y in "
            f"{structure.slow_changes} {tested}); use e-rolling, or e-vi if freezing does not suit "
            "the model"
        )
    if not structure.noise_free_fast:
        raise InputError(
            "e-thaw: the fast state has noise while x is frozen (y' changed in "
            f"{structure.frozen_changes} {tested}); use e-rolling with M_l > 1 samples"
        )
    if model.n_slow > MAX_SLOW:
        raise InputError(
            f"e-thaw: {model.n_slow:,} slow states need a kernel of as many columns; use e-rolling "
            f"above {MAX_SLOW:,}"
        )


def describe_thaw(model: FastSlowMDP, **parameters: object) -> str:
    """Say what draws show about the structure; refuse what E-Thaw would refuse."""
    structure = structure_from_samples(model, np.random.default_rng(0))
    check_thaw(model, structure)
    nearly = "nearly " if structure.slow_changes else ""
    return f"{nearly}exogenous slow state, tested by {structure.tested} pairs of draws"
