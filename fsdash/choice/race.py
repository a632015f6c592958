"""The race: candidates from samples, compared by roll-outs, all within one budget.

    test     is the slow state exogenous, and does y have no noise while x is frozen?
             (`fsdash.sampling.structure_from_samples`)
    frozen   sweeps with the slow state frozen; rolling policies on a geometric grid of n, and the
             last one. If y has noise while x is frozen, a sweep has 5% more samples than the one
             before, and the last one at least a quarter of all.
    thawed   if the test says yes twice, and the frozen map is right about y' in at least half of
             its draws: thawed defect correction (`fsdash.algorithms.e_thaw`).
    true     otherwise, and above one sweep of Base E-VI: Base E-VI with common random numbers,
             centred values if the slow state is exogenous, and a number of samples that grows by
             50% a sweep. The policy is the maximiser of the sweep itself.
    compare  successive halving on roll-outs of 1.5/(1 − γ) steps, from the same starts and with the
             same noise for all candidates: one evaluation a step. The better half goes on.

Frozen sweeps, which have no noise of x', make the horizon. Without thawed sweeps they take half a
sweep of Base E-VI first, unless the frozen map is wrong about y' in most periods. If less than a
sweep is then left, it is one true sweep: a second would add more noise than it removes error.

Thawed and true sweeps start from the values of the fourth frozen sweep. The longer x is frozen, the
more J exaggerates the differences between slow states, which are noise in a sample of x'. Centring
removes them: if x is exogenous and y noisy, true sweeps start from the last frozen sweep.

One candidate is the favourite: the thawed policy if there is one; the rolling policy with the
longest horizon if x is endogenous and the budget at most one sweep of Base E-VI; else the last
policy of Base E-VI. It stays in all rounds, and it loses only to a policy whose mean return is
higher by more than the standard error of the difference. A small budget pays for a few roll-outs,
whose noise would otherwise decide.

Work: one per draw of the test, M per pair in a sweep with M samples, what thawed sweeps count, and
one per step of a roll-out. Nothing else is drawn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import ceil, log2

import numpy as np

from fsdash.algorithms.e_thaw import (
    FIRST_SWEEPS,
    check_thaw,
    frozen_map,
    thawed_cycles,
    thawed_sweep,
)
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.sampling import (
    NextStates,
    Sampler,
    Sampling,
    Structure,
    backup,
    centred,
    structure_from_samples,
)
from fsdash.sampling.next_states import TESTED

COMMON = Sampling(common_random_numbers=True)
SAMPLES = 50
"""Samples for each state and action in the sweep of Base E-VI that is the unit `sweeps`."""
TEST_SHARE, FROZEN_SHARE = 0.05, 0.15
"""Shares of the budget for the test, at most, and for frozen sweeps."""
COMPARE_SHARE, CONFIRM_SHARE, CONFIRMING = 0.15, 0.03, 64
"""Shares for roll-outs, in general and if there is a thawed policy to confirm: then more, up to two
thirds of `COMPARE_SHARE`, or a third below one sweep, until there are so many in total."""
TRUE_SHARE = 0.1
"""Share for true sweeps next to thawed ones. Without thawed sweeps they have the rest."""
FROZEN_WORK = SAMPLES // 2
"""Work per pair of frozen sweeps without thawed ones, even if it is more than their share."""
SHORTEST, LONGEST = 4, 64
"""The shortest horizon that races, and the longest that is tried if y has no noise."""
FROZEN_GROWTH, TRUE_SAMPLES, TRUE_GROWTH, LAST_SHARE = 1.05, 4, 1.5, 0.25
"""How samples grow, the first true sweep's, and what the last sweep takes at least of all."""
HORIZON = 1.5
"""Length of a roll-out in units of 1/(1 − γ)."""
MAX_NOISE = 2**23
"""Random numbers for roll-outs that are in memory at a time (64 MB)."""

Progress = Callable[[float], object]


@dataclass(eq=False)
class Candidate:
    """A policy in the race, with the discounted returns of its roll-outs in each round."""

    method: str
    T: int | None
    k: int | None
    policy_PXY: np.ndarray
    returns: list[np.ndarray] = field(default_factory=list)

    @property
    def paths(self) -> list[int]:
        """The number of roll-outs in each round."""
        return [len(return_N) for return_N in self.returns]

    def mean_return(self, rounds: int) -> float:
        """Mean discounted return of the roll-outs in the first rounds."""
        return float(np.concatenate(self.returns[:rounds]).mean())


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

    def affords(self, share: float, evaluations: int) -> bool:
        """Whether a share of the budget pays for so many; if so, they are paid."""
        enough = evaluations <= self.left(share)
        self.pay(evaluations if enough else 0)
        return enough


@dataclass(frozen=True, eq=False)
class RaceOutcome:
    """The candidates, the winner first, and what the race has cost.

    `structure` is the outcome of the test, and `no_thawed` says why no thawed policy took part.
    """

    candidates: list[Candidate]
    spent: int
    structure: Structure
    no_thawed: str


def race(
    model: FastSlowMDP,
    evaluations: int,
    rng: np.random.Generator,
    progress: Progress = lambda share: None,
) -> RaceOutcome:
    """Race the candidates that a budget pays for.

    Raises `InputError` if the budget is too small for one frozen sweep.
    """
    if evaluations < model.n_pairs:
        raise InputError(
            f"budget = {evaluations:,} evaluations: one sweep with one sample takes "
            f"{model.n_pairs:,}; give a larger budget"
        )
    budget = Budget(int(evaluations), progress=progress)
    small = evaluations <= SAMPLES * model.n_pairs
    affordable = min(TEST_SHARE * evaluations, evaluations - model.n_pairs)
    structure = structure_from_samples(model, rng, min(TESTED, int(affordable / 4)))
    budget.pay(structure.evaluations)
    no_thawed = _why_not_thawed(model, structure)
    always = FROZEN_WORK if no_thawed and not structure.mostly_misses else FIRST_SWEEPS
    rolled, start_XY, fast_XYA = rolling_candidates(model, structure, budget, always, rng)
    thawed, compare = list[Candidate](), COMPARE_SHARE
    if not no_thawed:
        wanted = max(CONFIRM_SHARE, CONFIRMING * roll_out_steps(model) / evaluations)
        compare = min(wanted, COMPARE_SHARE / 3 if small else COMPARE_SHARE / 1.5)
        affords = partial(budget.affords, 1 - compare - (0 if small else TRUE_SHARE))
        last = deque(thawed_cycles(model, rng, fast_XYA, start_XY, affords=affords), maxlen=1)
        thawed = [Candidate("e-thaw", None, c.iteration, c.policy_PXY) for c in last]
        no_thawed = "" if thawed else "the budget ends before the first policy of thawed sweeps"
    tried = list[Candidate]()
    if no_thawed or not small:
        tried = true_candidates(model, structure, budget, 1 - compare, rng, start_XY)
    late = rolled[-1:] if small and not structure.exogenous_slow else []
    favourite = (thawed or late or tried or rolled)[-1]
    order = halving(model, rolled + tried + thawed, favourite, budget, rng)
    return RaceOutcome(order, budget.spent, structure, no_thawed)


def _why_not_thawed(model: FastSlowMDP, structure: Structure) -> str:
    """Why thawed defect correction does not suit the model; empty if it does."""
    try:
        check_thaw(model, structure)
    except InputError as refusal:
        return str(refusal).removeprefix("e-thaw: ").partition(";")[0]
    if structure.mostly_misses:
        return (
            "the frozen map is wrong about y' in most periods "
            f"({structure.misses} of {structure.tested} draws)"
        )
    return ""


def rolling_candidates(
    model: FastSlowMDP, structure: Structure, budget: Budget, always: int, rng: np.random.Generator
) -> tuple[list[Candidate], np.ndarray, np.ndarray]:
    """Rolling policies on a geometric grid of n, the values to go on from, and the frozen map.

    `always` is the work per pair that may be more than the share. The first sweep draws the map.
    """
    noisy, fast_XYA = not structure.noise_free_fast, frozen_map(model, rng)
    most, usual = (int(budget.left(s) // model.n_pairs) for s in (1 - COMPARE_SHARE, FROZEN_SHARE))
    affordable = max(1, min(always, most), usual)
    samples = [1] * min(affordable, LONGEST)
    if noisy:
        samples = list(growing_samples(affordable, 1, FROZEN_GROWTH))
    grid, start_XY = list[Candidate](), np.zeros(model.real_XY.shape)
    J_XY, follows = start_XY, noisy and structure.exogenous_slow
    for n, M in enumerate(samples, start=1):
        if noisy and n > 1:
            J_XY, pi_XY = _sweep(Sampler(model, model.frozen, M, COMMON), J_XY, rng)
        else:
            J_XY, pi_XY = thawed_sweep(model, fast_XYA, J_XY, 0.0, "random", rng)
        budget.pay(M * model.n_pairs)
        start_XY = J_XY if n <= FIRST_SWEEPS or follows else start_XY
        if n == len(samples) or (n >= SHORTEST and n & (n - 1) == 0):
            grid.append(Candidate("rolling", n, None, pi_XY[None]))
    return grid, start_XY, fast_XYA


def true_candidates(
    model: FastSlowMDP,
    structure: Structure,
    budget: Budget,
    share: float,
    rng: np.random.Generator,
    U_XY: np.ndarray,
) -> list[Candidate]:
    """The last two policies of Base E-VI with growing samples, within a share of the budget."""
    tried: list[Candidate] = []
    affordable = int(budget.left(share) // model.n_pairs)
    first = affordable if affordable < SAMPLES and not structure.mostly_misses else TRUE_SAMPLES
    for k, M in enumerate(growing_samples(affordable, first, TRUE_GROWTH), start=1):
        start_XY = centred(U_XY) if structure.exogenous_slow else U_XY
        U_XY, pi_XY = _sweep(Sampler(model, model.true, M, COMMON), start_XY, rng)
        budget.pay(M * model.n_pairs)
        tried.append(Candidate("e-vi", None, k, pi_XY[None]))
    return tried[-2:]


def growing_samples(affordable: int, first: int, growth: float) -> Iterator[int]:
    """Growing numbers of samples that add up to what is affordable; the last one is the rest."""
    left, M = affordable, float(first)
    while left >= 1:
        now = round(M)
        M *= growth
        if left - now < max(round(M), LAST_SHARE * affordable):
            now = left
        yield now
        left -= now


def _sweep(
    sampler: Sampler, U_XY: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    U_S, pi_S = backup(sampler, U_XY, rng)
    return U_S.reshape(U_XY.shape), pi_S.reshape(U_XY.shape)


def halving(
    model: FastSlowMDP,
    candidates: list[Candidate],
    favourite: Candidate,
    budget: Budget,
    rng: np.random.Generator,
) -> list[Candidate]:
    """Order the candidates by successive halving on roll-outs, the winner first.

    The favourite is never left out, and wins if nothing is left for roll-outs.
    """
    sampler, steps = NextStates(model), roll_out_steps(model)
    others, out = [c for c in candidates[::-1] if c is not favourite], list[Candidate]()
    rounds = max(1, ceil(log2(len(candidates))))
    each = budget.left() / rounds
    for done in range(1, rounds + 1):
        racing = [favourite, *others]
        paths = int(each / (len(racing) * steps))
        if paths == 0 or not others:
            break
        return_CN = np.zeros((len(racing), 0))
        for some in batches(paths, steps):
            start_N = rng.choice(model.n_states, some, p=model.initial_XY.reshape(-1))
            u_TN = rng.random((steps, some))
            new_CN = np.empty((len(racing), some))
            for c, candidate in enumerate(racing):
                new_CN[c] = roll_out(model, sampler, candidate.policy_PXY[0], start_N, u_TN)
                budget.pay(steps * some)
            return_CN = np.hstack([return_CN, new_CN])
        for candidate, return_N in zip(racing, return_CN, strict=True):
            candidate.returns.append(return_N)
        others.sort(key=lambda candidate: -candidate.mean_return(done))
        half = max(1, len(others) // 2)
        others, out = others[:half], others[half:] + out
    if others and beats(others[0], favourite):
        return [others[0], favourite, *others[1:], *out]
    return [favourite, *others, *out]


def beats(candidate: Candidate, favourite: Candidate) -> bool:
    """Whether its mean return is higher by more than the standard error of the difference."""
    if sum(candidate.paths) < 2:
        return False
    gain_N = np.concatenate(candidate.returns) - np.concatenate(favourite.returns)
    return bool(gain_N.mean() > gain_N.std(ddof=1) / len(gain_N) ** 0.5)


def roll_out_steps(model: FastSlowMDP) -> int:
    """Return the length of a roll-out, which is also its cost in evaluations."""
    return ceil(HORIZON / (1 - model.gamma))


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
) -> np.ndarray:
    """Return the discounted return of a policy on each path, with given starts and noise."""
    action_S, reward_P = policy_XY.reshape(-1).astype(np.int64), model.reward_XYA.reshape(-1)
    return_N, discount = np.zeros(len(state_N)), 1.0
    for u_N in u_TN:
        pair_N = state_N * model.n_actions + action_S[state_N]
        return_N += discount * reward_P[pair_N]
        discount *= model.gamma
        state_N = sampler.draw(pair_N, u_N)
    return return_N
