"""The columns that a run records, each declared once.

The engine fills one value per column for every policy that it evaluates. The database table, data
frames, exported files, chart axes and the command line's summary follow from this declaration. To
record something new, declare a column here and compute its value in `engine`. Declare it nullable:
rows that were recorded earlier have no value for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

LEVELS = ("run", "replication", "row")
ROLES = ("key", "position", "work", "measure")


@dataclass(frozen=True)
class Column:
    """One recorded column."""

    name: str
    dtype: str
    """pandas data type of the column in a frame."""
    sql_type: str
    label: str
    help: str
    role: str
    """key: identifies the row. position: where in the algorithm the policy was read off.
    work: what the policy has cost so far, an x axis. measure: how good it is, a y axis."""
    level: str = "row"
    """What the value belongs to. Values of a run or a replication are stored once, not per row."""
    nullable: bool = False
    format: str = ""
    """Number format of charts, in d3 notation."""
    axis_title: str = ""
    """Title of a chart's axis; the label in lower case unless given."""
    optimal_value: float = nan
    """Value of the optimal policy, where it is the same for every model."""
    lower_is_better: bool = False
    """Whether the optimal policy has the smallest value of this measure, not the largest."""

    def __post_init__(self) -> None:
        if self.role not in ROLES or self.level not in LEVELS:
            raise ValueError(
                f"column {self.name}: role must be one of {', '.join(ROLES)} and level one of "
                f"{', '.join(LEVELS)}"
            )
        if not self.axis_title:
            object.__setattr__(self, "axis_title", self.label.lower())


def measure(name: str, label: str, help: str, format: str, **more: Any) -> Column:
    """A column that says how good a policy is."""
    return Column(
        name, "float64", "DOUBLE", label, help, "measure", nullable=True, format=format, **more
    )


REGRET = {"optimal_value": 0.0, "lower_is_better": True}

COLUMNS = (
    Column("domain", "str", "VARCHAR(100)", "Domain", "Name of the domain.", "key", "run"),
    Column("algorithm", "str", "VARCHAR(100)", "Algorithm", "Name of the algorithm.", "key", "run"),
    Column(
        "T",
        "Int64",
        "INTEGER",
        "T",
        "Number of periods for which the slow state is frozen; empty if it is not.",
        "key",
        "run",
        nullable=True,
    ),
    Column(
        "replication",
        "int64",
        "INTEGER",
        "Replication",
        "Number of the replication, from 0.",
        "key",
        "replication",
    ),
    Column(
        "step",
        "int64",
        "INTEGER",
        "Step",
        "Number of the recorded policy within its replication, from 0.",
        "key",
    ),
    Column(
        "phase",
        "str",
        "VARCHAR(16)",
        "Phase",
        "Level of the algorithm: base, lower, upper or rolling.",
        "position",
    ),
    Column(
        "iteration",
        "int64",
        "INTEGER",
        "Iteration",
        "Number of completed iterations of the phase.",
        "position",
    ),
    Column(
        "evaluations",
        "int64",
        "BIGINT",
        "Evaluations",
        "Number of value-function evaluations so far.",
        "work",
        axis_title="value-function evaluations",
    ),
    Column(
        "seconds",
        "float64",
        "DOUBLE",
        "Seconds",
        "Time that the algorithm has used, without the evaluation of its policies.",
        "work",
    ),
    measure(
        "mean_return",
        "Mean return",
        "Exact value of the policy, averaged over the initial distribution.",
        ",.4~g",
    ),
    measure(
        "fraction_of_optimal",
        "Share of the optimum",
        "Mean return divided by that of the optimal policy; empty if the latter is not positive.",
        ".3f",
        optimal_value=1.0,
    ),
    measure(
        "mean_regret",
        "Mean regret",
        "Difference between the optimal value and the policy's value, averaged over the initial "
        "distribution.",
        ",.4~g",
        **REGRET,
    ),
    measure(
        "relative_regret",
        "Relative regret",
        "Mean regret divided by that of the initial policy, which maximises the immediate reward; "
        "empty if that policy is optimal.",
        ".1%",
        axis_title="mean regret relative to the initial policy",
        **REGRET,
    ),
    measure(
        "max_regret",
        "Largest regret",
        "Largest difference between the optimal value and the policy's value over all states.",
        ",.4~g",
        **REGRET,
    ),
    Column(
        "policy_kind",
        "str",
        "VARCHAR(16)",
        "Kind of policy",
        "stationary, rolling, cyclic or periodic.",
        "position",
    ),
)

BY_NAME = {column.name: column for column in COLUMNS}
NAMES = tuple(BY_NAME)
DTYPES = {column.name: column.dtype for column in COLUMNS}

ROW_COLUMNS = tuple(column for column in COLUMNS if column.level == "row")
"""The columns whose values differ between the rows of one replication."""
RUN_NAMES = tuple(column.name for column in COLUMNS if column.level == "run")

WORK = tuple(column for column in COLUMNS if column.role == "work")

DEFAULT_MEASURE = "fraction_of_optimal"
MEASURES = tuple(
    sorted(
        (column for column in COLUMNS if column.role == "measure"),
        key=lambda column: column.name != DEFAULT_MEASURE,
    )
)
"""The measures of a policy, the default one first."""
