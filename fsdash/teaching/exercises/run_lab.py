"""Exercises of the page Run lab: the cost of samples, learning curves, and intervals."""

from __future__ import annotations

from functools import cache
from statistics import stdev

import pandas as pd

from fsdash.domains import make
from fsdash.reproduce import archive
from fsdash.reproduce.experiments import experiment
from fsdash.runs.records import method_title
from fsdash.runs.summary import Sample, difference, interval, t_quantile, work_to_reach
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

DOMAIN = "inventory"
FROZEN, BASE = method_title("e-fsvi", 6), method_title("e-vi", None)
CURVES = ChoiceAnswer({"frozen": "E-FSVI with T = 6", "base": "Base E-VI"})
LEVEL = 75


@cache
def _work() -> pd.DataFrame:
    """Work and final value of both methods in the archived runs of the paper's experiment."""
    plan, rows = experiment(DOMAIN), archive.archived_rows(DOMAIN)
    own = rows["method"].isin([FROZEN, BASE])
    rows = rows[own & (rows["evaluations"] <= plan.budget * plan.sweep)]
    return work_to_reach(rows, x="sweeps", sweep=plan.sweep).set_index("method")


def _samples() -> Facts:
    X, Y, A, _ = make(DOMAIN).shape
    sweep = experiment(DOMAIN).sweep
    return {"answer": sweep, "X": X, "Y": Y, "A": A, "M": sweep // (X * Y * A)}


def _first() -> Facts:
    frozen, base = (float(_work().loc[name, f"work_{LEVEL}"]) for name in (FROZEN, BASE))
    answer = "frozen" if frozen < base else "base"
    return {"answer": answer, "level": f"{LEVEL}%", "frozen": frozen, "base": base}


def _last() -> Facts:
    frozen, base = (float(_work().loc[name, "final"]) for name in (FROZEN, BASE))
    answer = "frozen" if frozen > base else "base"
    return {"answer": answer, "frozen": f"{frozen:.1%}", "base": f"{base:.1%}"}


FINALS = (80.0, 84.0, 88.0)
"""Per cent of the optimum at which three replications end."""
PAIRED = {"A": (80.0, 84.0, 88.0, 92.0, 96.0), "B": (78.0, 83.0, 86.0, 91.0, 94.0)}
"""Per cent of the optimum at which the replications of two runs with the same seed end."""


def _best_per_method(page: PageValues) -> bool:
    return (page["on"], page["best"]) == ("inventory", "method")


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
        id="sweep-cost",
        page="run_lab",
        level=COMPUTE,
        title="The cost of one sweep",
        question="Base E-VI draws M = 50 samples for each state and action. How many evaluations "
        "does one sweep over the inventory take?",
        answer=NumberAnswer(unit="evaluations"),
        hint="The page shows the size of the inventory: multiply the slow states, the fast states, "
        "the actions and M.",
        solution="|X||Y||A|M = {X} · {Y} · {A} · {M} = {answer} evaluations.",
        facts=_samples,
        state={"domain": "inventory"},
    ),
    Exercise(
        id="first-good-policy",
        page="run_lab",
        level=READ,
        title="Which method is good first?",
        question="Run *Quick look* on the inventory, or read the paper's curves. Which method "
        "reaches 75% of the optimum with less work?",
        answer=CURVES,
        hint="Follow the line at 75% of the optimum from the left.",
        solution="{answer}. In the archived runs of the paper's experiment E-FSVI stays above "
        "{level} of the optimum after {frozen} sweeps, Base E-VI after {base} sweeps. The lower "
        "level freezes demand, so one sample for each state and action is exact, where Base E-VI "
        "draws 50.",
        facts=_first,
        state={"preset": "quick-look"},
    ),
    Exercise(
        id="best-in-the-end",
        page="run_lab",
        level=EXPLAIN,
        title="Which method is better in the end?",
        question="Run *T = 6 against Base E-VI* on the inventory for 12 sweeps. Which method ends "
        "with the better policy?",
        answer=CURVES,
        hint="Which error of E-FSVI do more sweeps not remove?",
        solution="{answer}: in the archived runs it ends higher, E-FSVI at {frozen} and Base E-VI "
        "at {base} of the optimum. More sweeps cannot remove the error made by freezing.",
        facts=_last,
        state={"preset": "t6-against-base"},
    ),
    Exercise(
        id="best-per-method",
        page="run_lab",
        level=READ,
        title="One run of each method",
        question="Let the table show only the best run of each method on the inventory. Then "
        "press *Check this page*. (The table may be empty; the filters count.)",
        answer=StateAnswer(_best_per_method, {"on": "inventory", "best": "method"}),
        hint="The filters are above the table: *Domain* and *Show*.",
        solution="Choose *Inventory* as the domain and *best per method* under *Show*. The address "
        "of the page now holds both filters, so a link shows others the same view.",
        state={"tab": "stored"},
    ),
    Exercise(
        id="interval-width",
        page="run_lab",
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
        state={"tab": "stored"},
    ),
    Exercise(
        id="may-be-best",
        page="run_lab",
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
        state={"tab": "stored"},
    ),
)
