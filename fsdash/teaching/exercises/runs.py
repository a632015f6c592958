"""Exercises of the page Runs: the table, and what its intervals say."""

from __future__ import annotations

from statistics import stdev

from fsdash.runs.summary import Sample, difference, interval, t_quantile
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
PAIRED = {"A": (80.0, 84.0, 88.0, 92.0, 96.0), "B": (78.0, 83.0, 86.0, 91.0, 94.0)}
"""Per cent of the optimum at which the replications of two runs with the same seed end."""


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


def _paired() -> Facts:
    one, other = (Sample(dict(enumerate(values)), seed=0) for values in PAIRED.values())
    lead = difference(one, other)
    independent = difference(one, Sample(other.values, seed=1))
    intervals = {name: interval(values) for name, values in PAIRED.items()}
    return {
        "answer": "open" if lead.contains_zero else "a" if lead.mean > 0 else "b",
        "mean": lead.mean,
        "low": lead.low,
        "high": lead.high,
        "other_low": independent.low,
        "other_high": independent.high,
        **{
            f"{name}_{end}": intervals[name][place]
            for name in PAIRED
            for place, end in enumerate(("mean", "low", "high"))
        },
    }


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
        title="Which run is better?",
        question="Two runs on the same model have the same work and the same seed. Their five "
        "replications end at A: 80, 84, 88, 92, 96% and B: 78, 83, 86, 91, 94% of the optimum, so "
        "the 95% intervals of the two means overlap. What do the replications say?",
        answer=ChoiceAnswer(
            {
                "a": "A is better than B.",
                "b": "B is better than A.",
                "open": "Nothing, because the intervals overlap.",
            }
        ),
        hint="Replications with the same number have the same random numbers. Subtract them one by "
        "one, and compute the interval of the differences.",
        solution="{answer} The intervals of the means, {A_low}% to {A_high}% and {B_low}% to "
        "{B_high}%, overlap, but most of their width is luck that both runs share. The differences "
        "2, 1, 2, 1, 2 have the mean {mean} and the interval {low} to {high} percentage points, "
        "which does not contain 0. Overlapping intervals never show that two runs are equally "
        "good. With different seeds, the interval of the difference would be {other_low} to "
        "{other_high}, and only more replications could decide.",
        facts=_paired,
    ),
)
