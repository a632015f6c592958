"""Wording of the page Your model."""

from __future__ import annotations

from collections.abc import Sequence

from fsdash.formatting import duration, file_size, number
from fsdash.runs.store.models import SavedModelRecord

PAGE = "Your model"
TITLE = "Bring your own model"
INTRODUCTION = (
    "A table of transitions is enough: no code, no installation. Drop a file, check what was "
    "recognised, and save. You get the optimal policy as a file, and your model appears in the "
    "*Run lab*, the *Policy inspector* and *Choose T*."
)

# ------------------------------------------------------------------------------------------- file

FILE_STEP = "1. File"
UPLOAD = "A table of transitions (CSV, Parquet) or a whole model (NPZ, JSON)"
UPLOAD_HELP = (
    "One row for each state, action and next state, with its probability and its reward or cost. "
    "Nothing in the file is executed."
)
EXAMPLES_LABEL = "Or try an example:"
FORMAT_TITLE = "What the table looks like"
FORMAT = """
| regime | stock | action | next_regime | next_stock | p | reward |
|---|---|---|---|---|---|---|
| low | 0 | wait | low | 0 | 0.9 | 0 |
| low | 0 | wait | high | 0 | 0.1 | 0 |
| low | 0 | order | low | 1 | 1.0 | -2 |

State variables are the columns that occur twice: `stock` and `next_stock`. Values are numbers or
words. An action without rows is infeasible in that state. Probabilities of a state and an action sum
to 1. Other column names are fine: you can say which column is which.
"""
OTHER_FILE = "Other file"
PREVIEW = "First rows"


def table_summary(name: str, rows: int, columns: int, size: int) -> str:
    return f"**{name}** · {rows:,} rows, {columns} columns, {file_size(size)}"


def model_summary(name: str, size: int) -> str:
    return f"**{name}** · a whole model, {file_size(size)}"


LOST_FILE = (
    "The file in the link is no longer on the server. Drop it again, or save the model next time: "
    "a saved model stays."
)

# ---------------------------------------------------------------------------------------- columns

COLUMNS_STEP = "2. Columns"
COLUMNS_MISSING = "Say which column is which: {missing}."
ACTION, PROBABILITY, REWARD = "Action", "Probability", "Reward or cost"
ACTION_HELP = "The column with the action, a number or a word."
PROBABILITY_HELP = "The column with the probability of the transition."
REWARD_HELP = (
    "The column with the reward or cost of the transition. Several rows of a state and an action "
    "are averaged by their probabilities."
)
CERTAIN = "none: every transition is certain"
STATES = "State variables"
STATES_HELP = "The columns that describe the state at the beginning of a period."
NEXT_VALUE = "Next value of {name}"
INITIAL = "Initial probability"
INITIAL_HELP = "The column with the initial probability of the row's state. If none: all states."
NO_COLUMN = "none"
SENSE = "The numbers are"
SENSES = {"max": "rewards: maximise", "min": "costs: minimise"}


def columns_summary(states: Sequence[tuple[str, str]], others: dict[str, str | None]) -> str:
    """What was recognised, in one line."""
    pairs = ", ".join(f"`{name}` → `{next_name}`" for name, next_name in states) or "none"
    rest = [f"{word} `{name}`" for word, name in others.items() if name]
    return " · ".join([f"state {pairs}", *rest])


# ------------------------------------------------------------------------------------------ check

CHECK_STEP = "3. Check"
RESCALE = "Rescale probabilities to sum to 1"
RESCALE_HELP = "Only where their sum differs from 1 by at most 0.001, such as after rounding."
ENDS = "Next states without rows are terminal"
ENDS_HELP = "A terminal state stays where it is with reward 0."
FAULT_COLUMNS = {
    "row": "Row",
    "column": "Column",
    "problem": "Problem",
    "remedy": "What to do",
}
ROWS_NOTE = "Rows are counted from 1, without the header."


def passed(rows: int, warnings: int) -> str:
    more = f", {warnings} remark{'s' * (warnings > 1)}" if warnings else ""
    return f"No errors in {rows:,} rows{more}."


def failed(errors: int) -> str:
    return (
        f"{errors:,} error{'s' * (errors > 1)} in the table. Correct the file and drop it again, or "
        "choose a remedy below."
    )


# ------------------------------------------------------------------------------------------- slow

SLOW_STEP = "4. Slow and fast"
SLOW = "Slow variables"
SLOW_HELP = (
    "Freezing pretends that these variables stay where they are for T periods. Choose those that "
    "move seldom or little; all others are fast."
)
NO_FAST = "All variables are slow. Leave at least one out: it is fast."
GAMMA = "Discount factor γ"
GAMMA_HELP = "Weight of a reward that comes one period later: 0.97 per period, for example."
EVIDENCE_COLUMNS = {
    "variable": ("Variable", "Name of the state variable."),
    "values": ("Values", "How many values it has."),
    "moves": ("Moves", "Probability that it changes in a period, under random actions."),
    "drift": ("Drift", "Mean distance it moves in a period, in per cent of its range."),
    "exogenous": ("Exogenous", "Whether its law depends on itself alone, not on the action."),
    "suggestion": ("Suggested", "Slow, fast or either."),
    "reason": ("Why", "The evidence in words."),
}
SUGGESTED = "Suggested from how the variables move under random actions."


def fast_variables(names: Sequence[str]) -> str:
    return f"Fast: {', '.join(f'**{name}**' for name in names)}"


# ------------------------------------------------------------------------------------------- save

SAVE_STEP = "5. Save"
NAME = "Name"
NAME_HELP = "How the model is called on the other pages."
NOTE = "Note"
SAVE = "Save and solve"
SLOW_STATES, FAST_STATES, ACTIONS, PAIRS = "Slow states", "Fast states", "Actions", "Pairs"
PAIRS_HELP = "Feasible pairs of a state and an action."
MEMORY = "Memory"


def needs(build: float, solve: float) -> str:
    return f"About {duration(build)} to build and {duration(solve)} to solve."


# ------------------------------------------------------------------------------------ saved model

NEW_MODEL = "New model"
RUN_IN_LAB, INSPECT, CHOOSE_T = "Run in the lab", "Inspect the policy", "Choose T"
TABS = {
    "policy": "Policy",
    "regret": "Regret over T",
    "constants": "Constants",
    "manage": "Rename, export, delete",
}
METHOD = "Policy"
METHODS = {"optimal": "optimal", "fsvi": "FSVI, slow state frozen"}
T_LABEL = "Periods T to freeze"
SOLVING = "Solving …"
POLICY_CSV, POLICY_JSON = "Policy, CSV", "Policy, JSON"
POLICY_CAPTION = (
    "One row per state{phases}. The file has the names of your variables and actions, ready for use "
    "in another program."
)
PHASES = " and period of the cycle"
MEAN = {"max": "Mean value", "min": "Mean cost"}
MEAN_HELP = {
    "max": "Expected discounted reward, averaged over the initial states.",
    "min": "Expected discounted cost, averaged over the initial states.",
}
REGRET = "Mean regret"
REGRET_HELP = "What the policy loses against the optimal one, computed exactly."


def describe_model(saved: SavedModelRecord) -> str:
    """Sizes, variables and sense, in one line."""
    variables = saved.variables
    sense = "costs are minimised" if saved.sense == "min" else "rewards are maximised"
    return (
        f"{saved.n_slow:,} slow states ({', '.join(variables['slow'])}) × {saved.n_fast:,} fast "
        f"states ({', '.join(variables['fast'])}), {saved.n_actions:,} actions, "
        f"{saved.n_pairs:,} feasible pairs, γ = {saved.gamma:g}; {sense}."
    )


REGRET_INTRODUCTION = (
    "How much does it cost to plan with the slow state frozen for T periods? Each point is the true "
    "regret of FSVI's policy, solved to the end and evaluated exactly."
)
REGRET_ALT_TEXT = "Mean regret of FSVI against T, in per cent of the optimum."
MEASURING = "Measuring T = {T} …"
CONSTANTS_INTRODUCTION = (
    "The constants of the theory, measured on your model. They depend on the units of your "
    "variables. *Choose T* uses them."
)
CONSTANTS_WAIT = "Measuring the constants …"
MEASURE = "Measure"


def best_T(T: int, share: float) -> str:
    return f"Smallest mean regret: **{share:.2%}** of the optimum, with T = {T}."


# ----------------------------------------------------------------------------------- list of models

SAVED = "Saved models"
NONE_SAVED = "Nothing is saved yet. A saved model appears here and on the other pages."
OPEN = "Open"
RENAME, RENAMED = "Rename", "Saved."
EXPORT, EXPORT_HELP = "Export, NPZ", "The whole model as one file; drop it here to open it again."
DELETE = "Delete"
DELETE_CONFIRM = "Yes, delete it"
DELETED = "The model was deleted."
NOT_YOURS = "Another visitor saved this model. You can use and export it, but not change it."


def entry(saved: SavedModelRecord) -> str:
    return (
        f"{saved.n_slow:,} × {saved.n_fast:,} states, {saved.n_actions:,} actions, "
        f"γ = {saved.gamma:g}, {file_size(saved.size)}"
    )


def shown_number(value: float) -> str:
    return number(value)
