"""The race: candidates from samples, compared by roll-outs, all within one budget.

    test     is the slow state exogenous, and does y have no noise while x is frozen?
             (`fsdash.sampling.structure_from_samples`)
    frozen   sweeps with the slow state frozen; rolling policies on a geometric grid of n, and the
             last one. If y has noise while x is frozen, the number of samples grows by 20% a sweep.
    thawed   if the test says yes twice, and the frozen map is right about y' in at least half of
             its draws: thawed defect correction (`fsdash.algorithms.e_thaw`).
    true     otherwise, and above one sweep of Base E-VI: Base E-VI with common random numbers,
             centred values if the slow state is exogenous, and a number of samples that grows by
             50% a sweep. The policy is the maximiser of the sweep itself.
    compare  successive halving on roll-outs of 1.5/(1 − γ) steps, from the same starts and with the
             same noise for all candidates: one evaluation a step. The better half goes on.

Thawed and true sweeps start from the values of the fourth frozen sweep.

One candidate is the favourite: the thawed policy if there is one; the rolling policy with the
longest horizon if x is endogenous and the budget at most one sweep of Base E-VI; else the last
policy of Base E-VI. It stays in all rounds, and it loses only to a policy whose mean return is
higher by more than the standard error of the difference. A small budget pays for a few roll-outs,
whose noise would otherwise decide.

The number of samples grows for this reason: with few samples, many sweeps look far ahead but
inaccurately; with many samples, a few sweeps are accurate but do not look far ahead. The last sweep
costs about a third of all.

Work: one per draw of the test, M per pair in a sweep with M samples, what thawed sweeps count, and
one per step of a roll-out. Nothing else is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np

from fsdash.algorithms.e_thaw import FIRST_SWEEPS, check_thaw, frozen_map, thawed_cycles
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
COMPARE_SHARE, CONFIRM_SHARE, CONFIRMING = 0.1, 0.03, 64
"""Shares for roll-outs, in general and if there is a thawed policy to confirm: then more, up to
`COMPARE_SHARE` or half of it below one sweep, until there are so many roll-outs in total."""
TRUE_SHARE = 0.1
"""Share for true sweeps next to thawed ones. Without thawed sweeps they have the rest."""
ENDOGENOUS_SWEEPS, ENDOGENOUS_SHARE = 10, 0.4
"""Frozen sweeps that are made even if they cost more than their share, and their share up to one
sweep of Base E-VI, if x is endogenous and y has no noise while x is frozen. Otherwise the former
are the few that thawed and true sweeps start from."""
SHORTEST, LONGEST = 4, 64
"""The shortest horizon that races, and the longest that is tried if y has no noise."""
FROZEN_GROWTH, TRUE_SAMPLES, TRUE_GROWTH = 1.2, 4, 1.5
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
    small = is_small(model, budget)
    affordable = min(TEST_SHARE * evaluations, evaluations - model.n_pairs)
    structure = structure_from_samples(model, rng, min(TESTED, int(affordable / 4)))
    budget.pay(structure.evaluations)
    rolled, start_XY = rolling_candidates(model, structure, budget, rng)
    thawed, no_thawed = list[Candidate](), _why_not_thawed(model, structure)
    compare = COMPARE_SHARE
    if not no_thawed:
        wanted = max(CONFIRM_SHARE, CONFIRMING * roll_out_steps(model) / evaluations)
        compare = min(wanted, COMPARE_SHARE / 2 if small else COMPARE_SHARE)
        share = 1 - compare - (0 if small else TRUE_SHARE)
        thawed = thawed_candidates(model, budget, share, rng, start_XY)
        no_thawed = "" if thawed else "the budget ends before the first policy of thawed sweeps"
    tried = list[Candidate]()
    if no_thawed or not small:
        tried = true_candidates(model, structure, budget, 1 - compare, rng, start_XY)
    late = rolled[-1:] if small and not structure.exogenous_slow else []
    favourite = (thawed or late or tried or rolled)[-1]
    order = halving(model, rolled + tried + thawed, favourite, budget, rng)
    return RaceOutcome(order, budget.spent, structure, no_thawed)


def is_small(model: FastSlowMDP, budget: Budget) -> bool:
    """Whether a budget is at most one sweep of Base E-VI."""
    return budget.evaluations <= SAMPLES * model.n_pairs


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
    model: FastSlowMDP, structure: Structure, budget: Budget, rng: np.random.Generator
) -> tuple[list[Candidate], np.ndarray]:
    """Rolling policies on a geometric grid of n, and the values after the first frozen sweeps."""
    noisy = not structure.noise_free_fast
    always, usual = FIRST_SWEEPS, FROZEN_SHARE
    if not noisy and not structure.exogenous_slow:
        always, usual = ENDOGENOUS_SWEEPS, ENDOGENOUS_SHARE if is_small(model, budget) else usual
    grid: list[Candidate] = []
    start_XY = J_XY = np.zeros(model.real_XY.shape)
    last = None
    for n in range(1, 10**6 if noisy else LONGEST + 1):
        M = round(FROZEN_GROWTH ** (n - 1)) if noisy else 1
        share = 1.0 if n == 1 else 1 - COMPARE_SHARE if n <= always else usual
        if M * model.n_pairs > budget.left(share):
            break
        J_XY, policy_PXY = _sweep(Sampler(model, model.frozen, M, COMMON), J_XY, rng)
        budget.pay(M * model.n_pairs)
        start_XY = J_XY if n <= FIRST_SWEEPS else start_XY
        last = Candidate("rolling", n, None, policy_PXY)
        if n >= SHORTEST and n & (n - 1) == 0:
            grid.append(last)
    if last is not None and last not in grid:
        grid.append(last)
    return grid, start_XY


def thawed_candidates(
    model: FastSlowMDP, budget: Budget, share: float, rng: np.random.Generator, U_XY: np.ndarray
) -> list[Candidate]:
    """The last policy of thawed defect correction within a share of the budget, if there is one."""
    before, last = budget.spent, None
    affordable = budget.left(share)
    for snapshot in thawed_cycles(model, rng, frozen_map(model, rng), U_XY):
        if snapshot.evaluations > affordable:
            break
        last = snapshot
        budget.pay(before + last.evaluations - budget.spent)
    return [] if last is None else [Candidate("e-thaw", None, last.iteration, last.policy_PXY)]


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
    for k, M in enumerate(growing_samples(affordable), start=1):
        start_XY = centred(U_XY) if structure.exogenous_slow else U_XY
        U_XY, policy_PXY = _sweep(Sampler(model, model.true, M, COMMON), start_XY, rng)
        budget.pay(M * model.n_pairs)
        tried.append(Candidate("e-vi", None, k, policy_PXY))
    return tried[-2:]


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
