"""Everything that is wrong with a user's data, in one table.

A *fault* has a row (counted from 1, without the header; none if it concerns the whole table), a
column, the problem, the remedy and a severity: an `error` prevents the model from being built, a
`warning` says how the data were understood, a `note` predicts memory and time. After the first
thousand faults of a kind, one line stands for the others; its `count` says how many they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from fsdash.errors import InputError, plain_text

Problem = str | Callable[[int], str]
COLUMNS = ("row", "column", "problem", "remedy", "severity", "count")
MOST_OF_A_KIND = 1000
"""Faults of one kind that are listed one by one. One more line stands for the others."""
SHOWN = 3
"""Errors that the message of `DataFaults` spells out."""


class DataFaults(InputError):
    """Data that no model can be built from.

    The message shows the first errors. `frame` has all faults, one per row, with the columns
    `row`, `column`, `problem`, `remedy`, `severity` and `count` (1, or the number of faults of a
    kind that the line stands for after the first thousand).

    Examples
    --------
    >>> import pandas as pd
    >>> import fsdash
    >>> frame = pd.DataFrame(
    ...     {"s": [0, 1], "action": [0, 0], "next_s": [1, 2], "p": [0.5, 1], "reward": [1, 0]}
    ... )
    >>> try:
    ...     fsdash.from_transitions(frame, slow=[], gamma=0.9)
    ... except fsdash.models.DataFaults as faults:
    ...     print(faults.frame[["row", "column", "problem"]].to_string(index=False))
    row column                                       problem
      2 next_s      next state s=2 never occurs as a state
      1      p p sums to 0.5 over the rows of s=0, action 0
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        super().__init__(_message(frame))

    def __reduce__(self) -> tuple:
        return type(self), (self.frame,)


class Faults:
    """Collects faults while data are checked.

    >>> faults = Faults()
    >>> faults.add("γ = 2", "use 0 ≤ γ < 1", column="gamma")
    >>> faults.has_errors, len(faults.frame)
    (True, 1)
    """

    def __init__(self) -> None:
        self._records: list[tuple[int | None, str, str, str, str, int]] = []

    def add(self, problem: str, remedy: str, *, column: str = "", severity: str = "error") -> None:
        """Add a fault of the whole table or column."""
        self._records.append((None, column, plain_text(problem), remedy, severity, 1))

    def add_rows(
        self,
        rows: np.ndarray | Sequence[int],
        problem: Problem,
        remedy: str,
        *,
        column: str = "",
        severity: str = "error",
    ) -> None:
        """Add one fault for each of these row positions (from 0).

        `problem(i)` describes the i-th of them; a text describes all. It is called for the first
        ones only, so that a million faults of one kind cost no more than a thousand.
        """
        places = [(int(row) + 1, column) for row in rows[:MOST_OF_A_KIND]]
        self._add_many(len(rows), places, problem, remedy, severity)

    def add_places(self, places: Sequence[str], count: int, problem: Problem, remedy: str) -> None:
        """Add one error for each place of an array, such as "P[3, 0]"; `count` is how many.

        Only the first `MOST_OF_A_KIND` places need to be given.
        """
        first = [(None, place) for place in places[:MOST_OF_A_KIND]]
        self._add_many(count, first, problem, remedy, "error")

    def _add_many(
        self,
        count: int,
        places: Sequence[tuple[int | None, str]],
        problem: Problem,
        remedy: str,
        severity: str,
    ) -> None:
        for i, (row, column) in enumerate(places):
            text = plain_text(problem if isinstance(problem, str) else problem(i))
            self._records.append((row, column, text, remedy, severity, 1))
        if (more := count - len(places)) > 0:
            column, others = places[0][1] if places else "", f"{more:,} more with the same problem"
            self._records.append((None, column, others, remedy, severity, more))

    def extend(self, other: Faults) -> None:
        """Add all faults of another collection."""
        self._records += other._records

    @property
    def has_errors(self) -> bool:
        return any(severity == "error" for *_, severity, _ in self._records)

    @property
    def frame(self) -> pd.DataFrame:
        """All faults: errors first, then warnings and notes."""
        frame = pd.DataFrame(self._records, columns=list(COLUMNS))
        frame["row"] = frame["row"].astype("Int64")
        order = frame["severity"].map({"error": 0, "warning": 1, "note": 2})
        return frame.iloc[order.argsort(kind="stable")].reset_index(drop=True)

    def raise_errors(self) -> None:
        """Raise `DataFaults` if one of the faults is an error."""
        if self.has_errors:
            raise DataFaults(self.frame)


def _message(frame: pd.DataFrame) -> str:
    errors = frame[frame["severity"] == "error"]
    lines = []
    for row, column, problem, remedy in errors.iloc[:SHOWN, :4].itertuples(index=False):
        place = "" if pd.isna(row) else f"row {row}: "
        # A problem that does not begin with the name of its column is prefixed by it.
        name = f"{column}: " if column and not problem.startswith(column) else ""
        lines.append(f"{place}{name}{problem}; {remedy}")
    if (more := count_errors(frame) - len(lines)) > 0:
        lines.append(f"and {more:,} more errors; the attribute `frame` lists them")
    return ". ".join(lines)


def count_errors(faults: pd.DataFrame) -> int:
    """How many errors a frame of faults has, those that one line stands for included."""
    return int(faults.loc[faults["severity"] == "error", "count"].sum())


def without_notes(faults: pd.DataFrame, remedies: Mapping[str, str]) -> pd.DataFrame:
    """Errors and warnings; what a page or a command offers stands for an option in Python."""
    faults = faults[faults["severity"] != "note"].reset_index(drop=True)
    for in_python, offered in remedies.items():
        faults["remedy"] = faults["remedy"].str.replace(in_python, offered, regex=False)
    return faults
