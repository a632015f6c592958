"""Wording of a saved model on the page Your model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isnan

from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.your_model.text import plural
from fsdash.formatting import escape_markdown, number
from fsdash.runs.store.models import SavedModelRecord

# ------------------------------------------------------------------------------------- saved model

TABS = {
    "policy": "Policy",
    "regret": "Regret over T",
    "constants": "Constants",
    "manage": "Rename, export, delete",
}


def describe_model(saved: SavedModelRecord) -> str:
    """Sizes, variables and sense, in two sentences."""
    slow, fast = (
        escape_markdown(", ".join(saved.variables[name]))  # names are the visitor's
        for name in ("slow", "fast")
    )
    sense = "Costs are minimised" if saved.sense == "min" else "Rewards are maximised"
    return (
        f"{plural(saved.n_slow, 'slow state')} ({slow}) × {plural(saved.n_fast, 'fast state')} "
        f"({fast}), {plural(saved.n_actions, 'action')}, {saved.n_pairs:,} feasible pairs. "
        f"{sense}, discounted by γ = {saved.gamma:g}."
    )


# The policy

METHODS = {"optimal": "Optimal", "fsvi": "FSVI, slow state frozen"}
MEAN = {"max": "Mean value", "min": "Mean cost"}
MEAN_HELP = {
    "max": "Expected discounted reward, averaged over the initial states.",
    "min": "Expected discounted cost, averaged over the initial states.",
}
REGRET_HELP = (
    "How much the policy loses compared with the optimal one, computed exactly. In brackets: "
    "relative to the mean regret of the policy that maximises the immediate reward."
)


def regret_text(mean: float, share: float) -> str:
    return number(mean) if isnan(share) else f"{number(mean)} ({share:.2%})"


def policy_caption(period: int, rows: int, shown: int) -> str:
    phases = f" and each of the {period} phases of the cycle" if period > 1 else ""
    some = f" The table shows the first {shown:,} of {rows:,} rows." if rows > shown else ""
    return (
        f"One row for each state{phases}, with the names of your variables and actions. The files "
        f"have the same rows.{some}"
    )


def file_stem(name: str) -> str:
    """The name of a model as the name of a file."""
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "model"


def file_name(name: str, method: str, T: int) -> str:
    return f"{file_stem(name)}-policy" + (f"-fsvi-T{T}" if method == "fsvi" else "")


# Regret over T

REGRET_INTRODUCTION = (
    "What does it cost to plan with the slow state frozen for T periods? Each point is the true "
    "mean regret of FSVI's policy after convergence, evaluated exactly; 100% is the mean regret "
    "of the policy that maximises the immediate reward."
)
REGRET_ALT_TEXT = (
    "Mean regret of FSVI against T, as a percentage of that of the policy that maximises the "
    "immediate reward."
)
COMPARE_SPLITS_HELP = "Solves the model with up to eight choices of slow variables."
SPLITS_CAPTION = "Best first. To use another choice, upload the file again and choose it in step 4."


def split_label(column: str) -> str:
    """The label of a column of `rank_splits`."""
    label = f"{column[2:]} states" if column.startswith("n_") else column
    return label[0].upper() + label[1:].replace("_T=", ", T = ")


# Constants

CONSTANTS_INTRODUCTION = (
    "The constants of the theory, measured on your model. They depend on the units of your "
    "variables; *Choose T* computes bounds from them."
)
CONSTANTS = {
    "alpha": "alpha",
    "d_y": "dY",
    "l_r": "Lr",
    "l_f": "Lf",
    "l_frozen": "Lfrozen",
    "eta": "eta",
    "d_y_frozen": "dYfrozen",
    "l_u": "LU",
    "r_max": "rmax",
}
"""The name of each constant in the glossary."""


COUPLINGS = {
    "noise": "Two next states are compared under the same noise.",
    "wasserstein": "Two distributions of next states are compared by their Wasserstein distance.",
}
NOT_EXACT = "The time limit ended the search: an interval gives proven lower and upper values."
SOME_INFEASIBLE = (
    "Some actions are infeasible in some states. The bounds of the theory assume that every action "
    "is feasible; the true regret over T does not."
)


def constants_table(measured: Mapping[str, float]) -> str:
    """The constants as a table in markdown; those that are not exact as an interval."""
    rows = []
    for name, symbol in CONSTANTS.items():
        upper = measured[name]
        lower = measured.get(f"{name}_lower", upper)
        shown = number(upper) if lower == upper else f"{number(lower)} to {number(upper)}"
        rows.append(f"| ${SYMBOLS[symbol].latex}$ | {shown} | {SYMBOLS[symbol].meaning} |")
    return "\n".join(["| | | |", "|---|---|---|", *rows])


# Manage

EXPORT_HELP = "The whole model as one file; upload it here to open it again."
NOT_YOURS = "Another visitor saved this model. You can use and export it, but not change it."


def in_python(domain: str) -> str:
    return f"On the command line: `fsdash solve {domain}`. In Python: `fsdash.make({domain!r})`."


# ------------------------------------------------------------------------------------ saved models

NONE_SAVED = "Nothing is saved yet. A saved model appears here and on the other pages."


def entry(saved: SavedModelRecord) -> str:
    return (
        f"{saved.n_slow:,} × {saved.n_fast:,} states, {plural(saved.n_actions, 'action')}, "
        f"γ = {saved.gamma:g}"
    )
