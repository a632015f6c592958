"""The columns of a table of transitions as codes and numbers, with a fault for every bad cell."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis
from fsdash.formatting import shorten
from fsdash.models.columns import TRUTH, Columns
from fsdash.models.faults import MOST_OF_A_KIND, Faults
from fsdash.models.law import RESCALABLE, without_rounding
from fsdash.models.table import Variable, encode

TOO_LARGE = "beyond ±1.8e308"
"""Shown instead of a whole number that floating point cannot represent."""


@dataclass(frozen=True, eq=False)
class Coded:
    """N rows of a table. A missing state or action has the code −1, a bad number is NaN."""

    variables: tuple[Variable, ...]
    actions: Axis
    code_NV: np.ndarray
    next_NV: np.ndarray
    action_N: np.ndarray
    probability_N: np.ndarray
    reward_N: np.ndarray
    """Rewards; negated costs if the sense is "min"."""

    @cached_property
    def starts_N(self) -> np.ndarray:
        """Whether the state and the action of a row are known."""
        return _known(self.code_NV) & (self.action_N >= 0)

    @cached_property
    def leads_N(self) -> np.ndarray:
        """Whether a row has a next state that it reaches with a probability above 0."""
        happens_N = (self.probability_N != 0) & (self.reward_N != -np.inf)
        return _known(self.next_NV) & happens_N & self.starts_N


def _known(code_NV: np.ndarray) -> np.ndarray:
    return np.logical_and.reduce([codes >= 0 for codes in code_NV.T])


def encode_table(faults: Faults, frame: pd.DataFrame, columns: Columns, sense: str) -> Coded:
    """The rows as codes, checked cell by cell."""
    variables, codes, next_codes = [], [], []
    for name, next_name in columns.next.items():
        variable, (now_N, next_N) = encode(name, [frame[name], frame[next_name]])
        _check_words(faults, variable)
        _check_missing(faults, name, now_N < 0)
        _check_missing(faults, next_name, next_N < 0)
        variables.append(variable)
        codes.append(now_N)
        next_codes.append(next_N)
    assert columns.action is not None and columns.reward is not None
    action, [action_N] = encode(columns.action, [frame[columns.action]])
    _check_missing(faults, columns.action, action_N < 0)
    return Coded(
        variables=tuple(variables),
        actions=action_axis(action),
        code_NV=np.array(codes).T,
        next_NV=np.array(next_codes).T,
        action_N=action_N,
        probability_N=_probabilities(faults, frame, columns.probability),
        reward_N=_rewards(faults, frame, columns.reward, sense),
    )


def action_axis(action: Variable) -> Axis:
    """The axis of the actions: numbers are coordinates, words are labels."""
    labels = tuple(str(value) for value in action.own_values) if action.is_category else ()
    return Axis((action.name,), action.values, labels=labels)


def numeric_column(faults: Faults, column: pd.Series, name: str) -> np.ndarray:
    """The column as numbers, with a fault for each cell that is empty or not a number."""
    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # a whole number with hundreds of digits
        column = column.map(lambda value: TOO_LARGE if _is_too_large(value) else value)
        numbers = pd.to_numeric(column, errors="coerce")
    number_N = numbers.to_numpy(dtype=float, na_value=np.nan)
    missing_N = column.isna().to_numpy(dtype=bool)
    rows = np.flatnonzero(np.isnan(number_N) & ~missing_N)
    wrong = [shorten(str(value)) for value in column.iloc[rows[:MOST_OF_A_KIND]]]
    remedy = "write a number, without separators of thousands"
    faults.add_rows(rows, lambda i: f"{wrong[i]!r} is not a number", remedy, column=name)
    _check_missing(faults, name, missing_N)
    return np.array(number_N)


def _is_too_large(value: object) -> bool:
    return isinstance(value, int) and abs(value) > sys.float_info.max


def truth_column(faults: Faults, column: pd.Series, name: str) -> np.ndarray:
    """The column as true or false, with a fault for each cell that is neither."""
    words = column.map(lambda value: TRUTH.get(str(value).strip().lower()))
    rows = np.flatnonzero(words.isna().to_numpy(dtype=bool))
    wrong = [shorten(str(value)) for value in column.iloc[rows[:MOST_OF_A_KIND]]]
    remedy = "write true or false, 1 or 0"
    faults.add_rows(rows, lambda i: f"{wrong[i]!r} is not true or false", remedy, column=name)
    return (words == True).to_numpy(dtype=bool)  # noqa: E712


def _probabilities(faults: Faults, frame: pd.DataFrame, name: str | None) -> np.ndarray:
    if name is None:
        return np.ones(len(frame))
    p_N = without_rounding(numeric_column(faults, frame[name], name))
    # A little more than 1 may be rounding: the sums are checked, and can be rescaled.
    rows = np.flatnonzero((p_N < 0) | (p_N > 1 + RESCALABLE))
    values = p_N[rows]
    remedy = "give a probability from 0 to 1"
    faults.add_rows(rows, lambda i: f"{values[i]:.9g} is not a probability", remedy, column=name)
    p_N[rows] = np.nan
    return p_N


def _rewards(faults: Faults, frame: pd.DataFrame, name: str, sense: str) -> np.ndarray:
    reward_N = numeric_column(faults, frame[name], name)
    reward_N = (-reward_N if sense == "min" else reward_N) + 0.0
    rows = np.flatnonzero(reward_N == np.inf)
    forbids = "plus infinity" if sense == "min" else "minus infinity"
    remedy = f"give a finite number; {forbids} makes an action infeasible"
    faults.add_rows(rows, lambda i: "infinite", remedy, column=name)
    reward_N[rows] = np.nan
    return reward_N


def _check_missing(faults: Faults, name: str, missing_N: np.ndarray) -> None:
    rows = np.flatnonzero(missing_N)
    faults.add_rows(rows, lambda i: "empty cell", "fill it in or delete the row", column=name)


def _check_words(faults: Faults, variable: Variable) -> None:
    """Warn if a variable has both numbers and words: one of them may be a slip."""
    if not variable.is_category:
        return
    values = pd.Series([str(value) for value in variable.own_values], dtype="str")
    words = values[pd.to_numeric(values, errors="coerce").isna()]
    if 0 < len(words) < len(values):
        faults.add(
            f"{len(values) - len(words):,} values are numbers, {shorten(words.iloc[0])!r} is a "
            "word: the variable is read as a category",
            "none if this is meant; otherwise write numbers only",
            column=variable.name,
            severity="warning",
        )
