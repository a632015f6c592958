"""Wording of the page Your model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isnan
from typing import Any

import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.formatting import duration, escape_markdown, file_size, number
from fsdash.models.faults import count_errors
from fsdash.models.size import Size
from fsdash.runs.store.models import SavedModelRecord

DONE, OPEN_STEP, DASH = ":green[:material/check_circle:]", ":orange[:material/error:]", "—"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


# -------------------------------------------------------------------------------------------- file

FILE_STEP = "1. File"
UPLOAD_HELP = (
    "One row for each state, action and next state, with its probability and its reward or cost. "
    "Matrices are an NPZ file with P and R, and gamma if you like. A whole model is a file that "
    "fsdash wrote. Nothing in the file is executed."
)
FORMAT = """
| regime | stock | action | next_regime | next_stock | p | reward |
|---|---|---|---|---|---|---|
| low | 0 | wait | low | 0 | 0.9 | 0 |
| low | 0 | wait | high | 0 | 0.1 | 0 |
| low | 0 | order | low | 1 | 1.0 | -2 |

- The **state variables** are the columns that occur twice: `stock` and `next_stock`. Their values
  are numbers or words.
- An **action** without rows is infeasible in that state.
- The **probabilities** of a state and an action sum to 1.
- Other column names are fine: you can choose which column is which.
"""
LOST_FILE = (
    "The file in the link is no longer on the server. Upload it again. A saved model stays on the "
    "server, even after a restart."
)


def example_label(name: str) -> str:
    return name.replace("_", " ").capitalize()


# ----------------------------------------------------------------------------------------- columns

COLUMNS_STEP = "2. Columns"
REWARD_HELP = (
    "The column with the reward or cost of the transition. If a state and an action have several "
    "rows, their average is used, weighted by probability."
)
INITIAL_HELP = (
    "The column with the initial probability of the row's state. Without it, all states are "
    "equally likely."
)
END_HELP = (
    "The column that is true, or 1, where the process ends after the transition, such as `done` of "
    "a Gymnasium table. The next state is then terminal."
)
NO_COLUMN = "none"
SENSES = {"max": "rewards: maximise", "min": "costs: minimise"}


def columns_summary(options: Mapping[str, Any], initial: str | None, end: str | None) -> str:
    """Which column is which, in one line."""
    pairs = options["next_prefix"].items()
    states = ", ".join(f"{_code(name)} → {_code(after)}" for name, after in pairs)
    others = {
        "action": options["action"],
        "probability": options["probability"],
        "cost" if options["sense"] == "min" else "reward": options["reward"],
        "initial probability": initial,
        "end": end,
    }
    rest = (f"{kind} {_code(name)}" for kind, name in others.items() if name)
    return " · ".join([f"state {states}", *rest])


def _code(name: str) -> str:
    """A name as code; it cannot end the code, and links in it are not links."""
    return f"`{name.replace('`', chr(39))}`"


# ------------------------------------------------------------------------------------------- check

CHECKING = "Checking the table …"
RESCALE = "Rescale probabilities to sum to 1"
ENDS = "Next states without rows are terminal"
FAULT_COLUMNS = {"row": "Row", "column": "Column", "problem": "Problem", "remedy": "What to do"}
REMEDIES = {
    "set normalize=True": f"tick “{RESCALE}”",
    'set terminal="missing"': f"tick “{ENDS}”",
}
"""What the page offers instead of an option in Python."""


def passed(rows: int, remarks: int) -> str:
    more = f", {plural(remarks, 'remark')}" if remarks else ""
    return f"no errors in {rows:,} rows{more}"


def failed(errors: int) -> str:
    return f"{plural(errors, 'error')}. Correct the file and upload it again, or use a remedy."


def faults_table(faults: pd.DataFrame) -> str:
    """The faults as a table in markdown."""
    rows = [
        " | ".join(_cell(value) for value in row)
        for row in faults[list(FAULT_COLUMNS)].itertuples(index=False)
    ]
    lines = [" | ".join(FAULT_COLUMNS.values()), "|".join(["---:", "---", "---", "---"]), *rows]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: object) -> str:
    text = "" if pd.isna(value) else escape_markdown(str(value))
    return text.replace("\\|", "|").replace("|", "\\|")


def faults_note(count: int, shown: int) -> str:
    more = f"The first {shown} of {count:,} are shown. " if count > shown else ""
    return f"{more}Rows are counted from 1, without the header."


def faults_title(faults: pd.DataFrame) -> str:
    errors = count_errors(faults)
    return plural(errors, "error") if errors else plural(int(faults["count"].sum()), "remark")


# -------------------------------------------------------------------------------------------- slow

SLOW_HELP = (
    "Freezing assumes that these variables stay where they are for T periods. Choose those that "
    "move rarely or only a little; all others are fast."
)
EVIDENCE_COLUMNS = {
    "variable": ("Variable", "Name of the state variable."),
    "values": ("Values", "How many values it has."),
    "moves": ("Moves", "Probability that it changes in a period, under random actions."),
    "drift": ("Drift", "Mean distance that it moves in a period, as a percentage of its range."),
    "exogenous": ("Exogenous", "Whether its next value depends on itself alone."),
}


def reasons(evidence: pd.DataFrame) -> str:
    """The suggestion for each variable, with the reason."""
    return "\n".join(
        f"- **{escape_markdown(row.variable)}**: {row.suggestion}; {row.reason}"
        for row in evidence.itertuples()
    )


# -------------------------------------------------------------------------------------------- save

ASSUMED_SWEEPS = 300
"""Sweeps that the estimate of the time to solve assumes."""


def sizes(model: FastSlowMDP) -> str:
    """The sizes of a model, its memory and the time to solve it."""
    padding = model.n_states - model.n_real
    absent = f" ({padding:,} combinations do not occur)" if padding else ""
    return (
        f"**{model.n_slow:,}** slow × **{model.n_fast:,}** fast states{absent}, "
        f"**{plural(model.n_actions, 'action')}**, **{model.n_pairs:,}** feasible pairs. The "
        f"model needs {file_size(model.nbytes)}; solving it takes "
        f"{duration(ASSUMED_SWEEPS * Size.of(model).sweep_seconds)}."
    )


# ------------------------------------------------------------------------------------- saved model

TABS = {
    "policy": "Policy",
    "plan": "Plan",
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
        f"One row for each state{phases}, with the names of your variables and actions. The file "
        f"has the same rows.{some}"
    )


def file_stem(name: str) -> str:
    """The name of a model as the name of a file."""
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "model"


REGRET_INTRODUCTION = (
    "What does it cost to plan with the slow state frozen for T periods? Each point is the true "
    "mean regret of FSVI's policy after convergence, evaluated exactly; 100% is the mean regret "
    "of the policy that maximises the immediate reward."
)
REGRET_ALT_TEXT = (
    "Mean regret of FSVI against T, as a percentage of that of the policy that maximises the "
    "immediate reward."
)
SPLITS_CAPTION = "Best first. To use another choice, upload the file again and choose it in step 4."


def split_label(column: str) -> str:
    """The label of a column of `rank_splits`."""
    label = f"{column[2:]} states" if column.startswith("n_") else column
    return label[0].upper() + label[1:].replace("_T=", ", T = ")


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


NOT_YOURS = "Another visitor saved this model. You can use and export it, but not change it."
