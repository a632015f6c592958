"""Which method, T and k for a budget: by measurement on the model, or from samples.

Exact: the best point of the frontier within the budget (`fsdash.choice.frontier`).

Sampled: only samples are known, and every sample counts against the budget.

    rolling  policies of rolling freeze
    e-thaw   thawed defect correction, if draws show that the slow state is exogenous and y has no
             noise while x is frozen
    e-vi     Base E-VI

race against each other, decided by roll-outs (`fsdash.choice.race`).

The regret and the certificate of the answer are computed on the model afterwards. They inform the
reader and play no part in the choice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from fsdash.algorithms.registry import get_algorithm
from fsdash.choice.certify import certify
from fsdash.choice.frontier import TIGHTEN, Frontier, frontier
from fsdash.choice.pareto import pareto
from fsdash.choice.race import SAMPLES, Candidate, RaceOutcome, race
from fsdash.choice.solved import SolvedModel
from fsdash.core.display import Lines, Summary
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H
from fsdash.errors import InputError
from fsdash.formatting import frame_records, number
from fsdash.sampling import Sampler, backup

Point = Mapping[Hashable, Any]
"""A row of the frontier."""


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Summary):
    """A method for a budget.

    Attributes
    ----------
    method : str
        "fsvi", "rolling", "mpi", "vi"; from samples "e-thaw", "rolling" or "e-vi".
    T : int or None
        Block length of FSVI, or horizon of rolling freeze.
    k : int or None
        Iterations.
    evaluations : int
        Value-function evaluations that it takes, or that the race has taken.
    mean_regret, certificate : float
        Mean regret of its policy, and a certified upper bound on the largest regret.
    why : str
        The reason in a few sentences. If U* misses its tolerance, the last one says so.
    policy_PXY : np.ndarray
        The policy.

    Examples
    --------
    >>> import fsdash
    >>> choice = fsdash.recommend(fsdash.make("inventory").build(), sweeps=2)
    >>> choice.method, choice.T, round(choice.mean_regret)
    ('rolling', 6, 91)
    >>> print(choice.why)  # doctest: +ELLIPSIS
    Rolling freeze with n = 6 has the smallest mean regret, 91, after 2 of 2 sweeps...
    """

    method: str
    T: int | None
    k: int | None
    evaluations: int
    mean_regret: float
    certificate: float
    why: str
    policy_PXY: np.ndarray = field(repr=False)

    def _summary(self) -> tuple[str, Lines]:
        return f"Choice: {describe(self.method, self.T, self.k)}", [
            ("evaluations", self.evaluations),
            ("mean_regret", self.mean_regret),
            ("certificate", self.certificate),
            ("why", self.why),
        ]


def recommend(
    model: FastSlowMDP | SolvedModel,
    *,
    sweeps: float | None = None,
    evaluations: float | None = None,
    seconds: float | None = None,
    max_regret: float | None = None,
    sampled: bool = False,
    seed: int = 0,
    T: Sequence[int] = range(2, 25),
    progress: Callable[[float], object] = lambda share: None,
) -> Choice:
    """Recommend a method for a budget.

    Parameters
    ----------
    model : FastSlowMDP or SolvedModel
        The model.
    sweeps, evaluations, seconds : float
        The budget; give exactly one. A sweep is one of Base VI, or with `sampled` one of Base E-VI
        with 50 samples for each state and action. Seconds are converted by timing one sweep here.
    max_regret : float, optional
        Recommend the cheapest point whose largest regret is at most this, if the budget allows it.
    sampled : bool
        Choose from samples only, all of which count against the budget.
    seed : int, default 0
        Seed of the random numbers, with `sampled`. The same seed gives the same answer.
    T : sequence of int
        Block lengths and horizons to choose from, without `sampled`.
    progress : callable
        Called with the share that is done, 0 to 1. An exception in it ends the computation.

    Returns
    -------
    Choice
        The method with its T and k, its cost, its regret and certificate, its policy, and why.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> choice = fsdash.recommend(model, sweeps=8)
    >>> choice.method, choice.T
    ('rolling', 23)
    >>> fsdash.recommend(model, sweeps=0.5, sampled=True).method
    'e-thaw'
    """
    solved = SolvedModel.of(model)
    model = solved.model
    sweep = model.n_pairs * (SAMPLES if sampled else model.true.outcomes)
    budget = _budget(model, sweeps, evaluations, seconds, sweep, sampled)
    if max_regret is not None and not max_regret >= 0:
        raise InputError(f"max_regret = {max_regret}: give a regret of at least 0")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed = {seed}: give a whole number, 0 or more")
    if sampled:
        choice = _sampled(solved, budget, seed, progress)
        if max_regret is not None and choice.certificate > max_regret:
            missed = f" Its certificate is above the regret of {number(max_regret)} asked for."
            choice = replace(choice, why=choice.why + missed)
    else:
        choice = _exact(solved, budget, sweep, max_regret, T, progress)
    return replace(choice, why=f"{choice.why} {solved.best.notice}".rstrip())


def describe(method: str, T: int | None, k: int | None) -> str:
    """A point in words, such as "FSVI with T = 6 and k = 4" or "Rolling freeze with n = 7"."""
    entry = get_algorithm(method)
    numbers = ((entry.horizon, T), ("k", k))
    parts = [f"{name} = {value}" for name, value in numbers if value is not None]
    return entry.title + (f" with {' and '.join(parts)}" if parts else "")


def _budget(
    model: FastSlowMDP,
    sweeps: float | None,
    evaluations: float | None,
    seconds: float | None,
    sweep: int,
    sampled: bool,
) -> float:
    """The budget in evaluations."""
    units = {"sweeps": sweeps, "evaluations": evaluations, "seconds": seconds}
    given = {name: value for name, value in units.items() if value is not None}
    if len(given) != 1:
        raise InputError("budget: give exactly one of sweeps, evaluations and seconds")
    [(name, size)] = given.items()
    if not isinstance(size, int | float | np.number) or not 0 < size < inf:
        raise InputError(f"{name} = {size}: give a positive number")
    if name == "seconds":
        return size * _evaluations_per_second(model, sampled)
    return size * sweep if name == "sweeps" else size


def _evaluations_per_second(model: FastSlowMDP, sampled: bool) -> float:
    """The speed of this machine, from one sweep after the kernels are compiled."""
    zero_XY, rng = np.zeros(model.real_XY.shape), np.random.default_rng(0)
    sampler = Sampler(model, model.true, SAMPLES)
    seconds = inf
    for _ in range(3):
        started = time.perf_counter()
        if sampled:
            backup(sampler, zero_XY, rng)
        else:
            H(model, zero_XY)
        seconds = min(seconds, time.perf_counter() - started)
    return model.n_pairs * (SAMPLES if sampled else model.true.outcomes) / max(seconds, 1e-9)


# ------------------------------------------------------------------------------------------- exact


def _exact(
    solved: SolvedModel,
    budget: float,
    sweep: int,
    max_regret: float | None,
    T: Sequence[int],
    progress: Callable[[float], object],
) -> Choice:
    """The best affordable point of the frontier, or the cheapest that is good enough.

    There is always one: the policy of Base VI before its first sweep is free. MPI starts with the
    same policy.
    """
    measured = frontier(solved, T, bounds=False, progress=progress)
    points = measured.points
    affordable = measured.where(points["evaluations"] <= budget)
    enough = points["max_regret"] <= (-1 if max_regret is None else max_regret)
    good = points[(points["evaluations"] <= budget) & enough]
    row = good.nsmallest(1, "evaluations") if len(good) else pareto(affordable).iloc[-1:]
    if not row["evaluations"].item():
        row = points[points["method"] == "vi"].head(1)
    [best] = frame_records(row)
    if len(good):
        why = _why_cheapest(best, budget / sweep, max_regret)
    elif best["evaluations"]:
        why = _why_best(best, affordable, budget / sweep)
    else:
        why = _why_free(best, measured, budget / sweep)
    if max_regret is not None and not len(good):
        why += f" No affordable point has a largest regret of at most {number(max_regret)}."
    return Choice(
        best["method"],
        best["T"],
        best["k"],
        best["evaluations"],
        best["mean_regret"],
        best["certificate"],
        why,
        measured.policies[row.index[0]],
    )


def _why_cheapest(best: Point, sweeps: float, max_regret: float | None) -> str:
    return _sentence(
        f"{_name(best)} is the cheapest point with a largest regret of at most "
        f"{number(max_regret or 0.0)}: {number(best['max_regret'])} after "
        f"{number(best['sweeps'])} of {number(sweeps)} sweeps."
    )


def _why_free(best: Point, measured: Frontier, sweeps: float) -> str:
    """Why the policy without work, and what the cheapest better one costs."""
    text = (
        "The policy that maximises the immediate reward costs nothing and has a mean regret of "
        f"{number(best['mean_regret'])}; no point within {number(sweeps)} sweeps is better."
    )
    for better in frame_records(pareto(measured).iloc[1:2]):
        text += f" {_sentence(_name(better))} is, and takes {number(better['sweeps'])} sweeps."
    return text


def _why_best(best: Point, affordable: Frontier, sweeps: float) -> str:
    """Why this point is the best, and what the best point of another method would lose."""
    text = (
        f"{_name(best)} has the smallest mean regret, {number(best['mean_regret'])}, after "
        f"{number(best['sweeps'])} of {number(sweeps)} sweeps"
    )
    others = affordable.where(affordable.points["method"] != best["method"])
    for second in frame_records(pareto(others).iloc[-1:]):
        more = second["mean_regret"] - best["mean_regret"]
        equal = more <= affordable.precision
        loses = "is practically as good" if equal else f"loses {number(more)} more"
        text += f"; the runner-up, {_name(second)}, {loses}"
    return _sentence(f"{text}.")


def _name(point: Point) -> str:
    return describe(point["method"], point["T"], point["k"])


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


# ----------------------------------------------------------------------------------------- sampled


def _sampled(
    solved: SolvedModel, budget: float, seed: int, progress: Callable[[float], object]
) -> Choice:
    """The winner of the race."""
    outcome = race(solved.model, int(budget), np.random.default_rng(seed), progress)
    best = outcome.candidates[0]
    why = f"{_why_thawed(outcome)} {_why_race(outcome.candidates, solved.model.sense)}"
    return _measured(solved, best.method, best.T, best.k, outcome.spent, why, best.policy_PXY)


def _why_thawed(outcome: RaceOutcome) -> str:
    """Whether thawed defect correction took part in the race, and why."""
    if outcome.no_thawed:
        return f"No thawed sweeps: {outcome.no_thawed}."
    tested = outcome.structure
    nearly = "nearly " if tested.slow_changes or tested.frozen_changes else ""
    return (
        f"The slow state is {nearly}exogenous and the fast state has {nearly}no noise while x is "
        f"frozen, as {tested.tested} pairs of draws each show, so thawed defect correction applies."
    )


def _why_race(candidates: Sequence[Candidate], sense: str) -> str:
    """What the roll-outs show about the winner and the best candidate of another method."""
    best, others = candidates[0], candidates[1:]
    name = describe(best.method, best.T, best.k)
    if not best.paths:
        return _sentence(f"{name} is the favourite; no budget was left to compare.")
    rival = next((c for c in others if c.method != best.method), others[0])
    rounds = len(rival.paths)
    sign, earned = (-1, "cost") if sense == "min" else (1, "earned")
    mine, theirs = (number(sign * c.mean_return(rounds)) for c in (best, rival))
    other = describe(rival.method, rival.T, rival.k)
    said = f"{name} {earned} {mine} and {other} {theirs}"
    if mine == theirs:
        said = f"{name} and {other} {earned} the same, {mine}"
    paths = sum(rival.paths)
    said += f", on average in the same {paths} roll-out{'s' * (paths > 1)}"
    if best.mean_return(rounds) < rival.mean_return(rounds):
        said += "; that is not enough to prefer the second"
    return _sentence(f"{said}.")


def _measured(
    solved: SolvedModel,
    method: str,
    T: int | None,
    k: int | None,
    evaluations: int,
    why: str,
    policy_PXY: np.ndarray,
) -> Choice:
    """The choice with the true regret of its policy, and a certificate."""
    loss = solved.regret(policy_PXY)
    # As in the frontier: the computed regret may be above the true one by its error.
    bound = certify(solved.model, policy_PXY, tighten=TIGHTEN).max_regret + loss.error
    return Choice(method, T, k, evaluations, loss.mean_regret, bound, why, policy_PXY)
