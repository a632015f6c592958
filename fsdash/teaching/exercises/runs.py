"""Exercises of the page Runs: the table, and how far its intervals can be trusted."""

from __future__ import annotations

from statistics import stdev

from fsdash.runs.summary import interval, t_quantile
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
    PageValues,
    StateAnswer,
)

FINALS = (80.0, 84.0, 88.0)
"""Per cent of the optimum at which three replications end."""
INTERVALS = {"A": (92, 90, 94), "B": (90, 88, 91), "C": (85, 84, 86)}
"""The final value of three runs and its 95% interval, as percentages of the optimum."""


def _best_per_method(page: PageValues) -> bool:
    return (page["domain"], page["best"]) == ("inventory", "method")


def _half_width() -> Facts:
    mean, low, high, n = interval(FINALS)
    return {
        "answer": (high - low) / 2,
        "deviation": stdev(FINALS),
        "mean": mean,
        "low": low,
        "high": high,
        "n": n,
        "quantile": t_quantile(n - 1),
        "ten": t_quantile(10 - 1),
    }


def _may_be_best() -> Facts:
    lowest = INTERVALS["A"][1]
    names = [name for name, (_, _, high) in INTERVALS.items() if high >= lowest]
    return {"answer": "".join(names).lower()}


EXERCISES = (
    Exercise(
        id="best-per-method",
        page="runs",
        level=READ,
        title="One run of each method",
        question="Let the table show only the best run of each method on the inventory. Then "
        "press *Check this page*. (The table may be empty; the filters count.)",
        answer=StateAnswer(_best_per_method, {"domain": "inventory", "best": "method"}),
        hint="The filters are above the table: *Domain* and *Show*.",
        solution="Choose *Inventory* as the domain and *best per method* under *Show*. The address "
        "of the page now holds both filters, so a link shows others the same view.",
    ),
    Exercise(
        id="interval-width",
        page="runs",
        level=COMPUTE,
        title="The interval of three replications",
        question="Three replications of a run end at 80%, 84% and 88% of the optimum. How far does "
        "the 95% interval of the mean reach on each side? Use the quantile 4.303 of the "
        "t-distribution with two degrees of freedom; an answer within 2% counts.",
        answer=NumberAnswer(tolerance=0.02, unit="percentage points"),
        hint="The standard deviation (with n − 1) divided by the square root of n, times the "
        "quantile.",
        solution="{deviation}/√{n} · {quantile} = {answer} percentage points: the table shows "
        "{mean}% with the interval from {low}% to {high}%. Three replications say little; for ten "
        "the quantile is only {ten}.",
        facts=_half_width,
    ),
    Exercise(
        id="may-be-best",
        page="runs",
        level=EXPLAIN,
        title="Which run is the best?",
        question="Three runs on the same model end at A: 92% (95% interval 90% to 94%), B: 90% "
        "(88% to 91%) and C: 85% (84% to 86%). Which of them does the table mark as *best* or "
        "*≈ best*?",
        answer=ChoiceAnswer({"a": "Only A.", "ab": "A and B.", "abc": "All three."}),
        hint="The help of the column *Final* says when a run counts as good as the best one.",
        solution="{answer} The interval of B overlaps that of A, so the replications cannot tell "
        "the two apart; the interval of C ends below that of A. More replications may decide "
        "between A and B.",
        facts=_may_be_best,
    ),
)
