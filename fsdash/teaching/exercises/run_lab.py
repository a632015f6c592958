"""Exercises of the page Run lab: the cost of samples, and what the learning curves show."""

from __future__ import annotations

from functools import cache

import pandas as pd

from fsdash.domains import make
from fsdash.reproduce import archive
from fsdash.reproduce.experiments import experiment
from fsdash.runs.records import method_title
from fsdash.runs.summary import work_to_reach
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
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
)
