"""The race: candidates from samples, compared by roll-outs, all within one budget.

    frozen   sweeps with the slow state frozen; rolling policies on a geometric grid of n, and the
             last one. If y has noise while x is frozen, the number of samples grows by 20% a sweep.
    true     Base E-VI that starts from the values of the fifth frozen sweep, with common random
             numbers, centred values if the slow state is exogenous, and a number of samples that
             grows by 50% a sweep. The policy is the maximiser of the sweep itself.
    compare  successive halving on roll-outs of 1.5/(1 − γ) steps, from the same starts and with the
             same noise for all candidates: one evaluation a step. The better half goes on.

The number of samples grows for this reason: with few samples, many sweeps look far ahead but
inaccurately; with many samples, a few sweeps are accurate but do not look far ahead. The last sweep
costs about a third of all.

Work: M per pair in a sweep with M samples, one per step of a roll-out. Nothing else is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.sampling import NextStates, Sampler, backup

FROZEN_SHARE, COMPARE_SHARE = 0.15, 0.1
"""Shares of the budget for frozen sweeps and for roll-outs; true sweeps have the rest."""
FIRST_FROZEN = 5
"""Frozen sweeps that are made even if they cost more than their share."""
LONGEST = 64
"""Frozen sweeps after which a horizon without noise is considered long enough."""
FROZEN_GROWTH, TRUE_SAMPLES, TRUE_GROWTH = 1.2, 4, 1.5
HORIZON = 1.5
"""Length of a roll-out in units of 1/(1 − γ)."""
MAX_NOISE = 2**23
"""Random numbers for roll-outs that are in memory at a time (64 MB)."""

Progress = Callable[[float], object]


@dataclass(eq=False)
class Candidate:
    """A policy in the race, with the number and the total return of its roll-outs in each round."""

    method: str
    T: int | None
    k: int | None
    policy_PXY: np.ndarray
    paths: list[int] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)

    def mean_return(self, rounds: int) -> float:
        """Mean discounted return of the roll-outs in the first rounds."""
        return sum(self.totals[:rounds]) / sum(self.paths[:rounds])


@dataclass
class Budget:
    """Evaluations that may be spent, and how many have been."""

    evaluations: int
    spent: int = 0
    progress: Progress = field(default=lambda share: None)

    def left(self, share: float = 1.0) -> float:
        """What is left of a share of the budget."""
        return share * self.evaluations - self.spent

    def pay(self, evaluations: int) -> None:
        self.spent += evaluations
        self.progress(min(1.0, self.spent / self.evaluations))


def race(
    model: FastSlowMDP,
    evaluations: int,
    rng: np.random.Generator,
    progress: Progress = lambda share: None,
) -> tuple[list[Candidate], int]:
    """Return the candidates, the winner first, and the evaluations that were spent.

    Raises `InputError` if the budget is too small for one frozen sweep.
    """
    if evaluations < model.n_pairs:
        raise InputError(
            f"budget = {evaluations:,} evaluations: one sweep with one sample takes "
            f"{model.n_pairs:,}; give a larger budget"
        )
    budget = Budget(int(evaluations), progress=progress)
    candidates, start_XY = rolling_candidates(model, budget, rng)
    candidates += true_candidates(model, budget, rng, start_XY)
    return halving(model, candidates, budget, rng), budget.spent


def rolling_candidates(
    model: FastSlowMDP, budget: Budget, rng: np.random.Generator
) -> tuple[list[Candidate], np.ndarray]:
    """Rolling policies on a geometric grid of n, and the values after the first frozen sweeps."""
    noisy = not model.frozen.noise_free_fast
    found: list[Candidate] = []
    start_XY = J_XY = np.zeros(model.real_XY.shape)
    last = None
    for n in range(1, 10**6 if noisy else LONGEST + 1):
        M = round(FROZEN_GROWTH ** (n - 1)) if noisy else 1
        cost = M * model.n_pairs
        allowed = budget.left() if n <= FIRST_FROZEN else budget.left(FROZEN_SHARE)
        if cost > allowed:
            break
        J_XY, policy_PXY = _sweep(Sampler(model, model.frozen, M, "random", True), J_XY, rng)
        budget.pay(cost)
        start_XY = J_XY if n <= FIRST_FROZEN else start_XY
        last = Candidate("rolling", n, None, policy_PXY)
        if n & (n - 1) == 0:
            found.append(last)
    if last is not None and found[-1] is not last:
        found.append(last)
    return found, start_XY


def true_candidates(
    model: FastSlowMDP, budget: Budget, rng: np.random.Generator, U_XY: np.ndarray
) -> list[Candidate]:
    """The last two policies of Base E-VI with growing samples."""
    found: list[Candidate] = []
    affordable = int(budget.left(1 - COMPARE_SHARE) // model.n_pairs)
    for k, M in enumerate(growing_samples(affordable), start=1):
        sampler = Sampler(model, model.true, M, "random", True, model.true.exogenous_slow)
        U_XY, policy_PXY = _sweep(sampler, U_XY, rng)
        budget.pay(M * model.n_pairs)
        found.append(Candidate("e-vi", None, k, policy_PXY))
    return found[-2:]


def growing_samples(affordable: int) -> Iterator[int]:
    """Growing numbers of samples that add up to what is affordable; the last one is the rest."""
    M = float(TRUE_SAMPLES)
    while affordable >= 1:
        now = round(M)
        if affordable - now < round(M * TRUE_GROWTH):
            now = affordable
        yield now
        affordable -= now
        M *= TRUE_GROWTH


def _sweep(
    sampler: Sampler, U_XY: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    U_S, pi_S = backup(sampler, U_XY, rng)
    return U_S.reshape(U_XY.shape), pi_S.reshape(1, *U_XY.shape)


def halving(
    model: FastSlowMDP, candidates: list[Candidate], budget: Budget, rng: np.random.Generator
) -> list[Candidate]:
    """Order the candidates by successive halving on roll-outs, the winner first.

    If nothing is left for roll-outs, the candidate that took most work comes first.
    """
    sampler, steps = NextStates(model), ceil(HORIZON / (1 - model.gamma))
    racing, out = candidates[::-1], list[Candidate]()
    rounds = max(1, ceil(log2(len(candidates))))
    each = budget.left() / rounds
    while len(racing) > 1:
        paths = int(each / (len(racing) * steps))
        if paths == 0:
            break
        total_C = np.zeros(len(racing))
        for some in batches(paths, steps):
            start_N = rng.choice(model.n_states, some, p=model.initial_XY.reshape(-1))
            u_TN = rng.random((steps, some))
            for c, candidate in enumerate(racing):
                total_C[c] += roll_out(model, sampler, candidate.policy_PXY[0], start_N, u_TN)
                budget.pay(steps * some)
        for candidate, total in zip(racing, total_C.tolist(), strict=True):
            candidate.paths.append(paths)
            candidate.totals.append(total)
        racing.sort(key=lambda candidate: -sum(candidate.totals))
        half = ceil(len(racing) / 2)
        racing, out = racing[:half], racing[half:] + out
    return racing + out


def batches(paths: int, steps: int) -> Iterator[int]:
    """Numbers of paths that add up to `paths` and whose noise fits into memory."""
    most = max(1, MAX_NOISE // steps)
    for done in range(0, paths, most):
        yield min(most, paths - done)


def roll_out(
    model: FastSlowMDP,
    sampler: NextStates,
    policy_XY: np.ndarray,
    state_N: np.ndarray,
    u_TN: np.ndarray,
) -> float:
    """Return the sum of discounted returns of a policy over paths with given noise."""
    action_S, reward_P = policy_XY.reshape(-1).astype(np.int64), model.reward_XYA.reshape(-1)
    total, discount = 0.0, 1.0
    for u_N in u_TN:
        pair_N = state_N * model.n_actions + action_S[state_N]
        total += discount * float(reward_P[pair_N].sum())
        discount *= model.gamma
        state_N = sampler.draw(pair_N, u_N)
    return total
