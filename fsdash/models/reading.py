"""Reading a table of transitions: a frame becomes a `Table`.

All faults are collected on the way, one for every bad cell; a table comes back only if none of them
is an error.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis
from fsdash.core.model import SENSES
from fsdash.errors import InputError
from fsdash.formatting import shorten
from fsdash.models.columns import TRUTH, ReadOptions, resolve_columns
from fsdash.models.faults import MOST_OF_A_KIND, Faults
from fsdash.models.law import (
    RESCALABLE,
    Law,
    Transitions,
    collect,
    with_terminal,
    without_rounding,
)
from fsdash.models.marked import MISSING, check_initial, initial_distribution, terminal_states
from fsdash.models.size import MAX_TRANSITIONS
from fsdash.models.table import (
    RowKeys,
    StateIndex,
    Table,
    Variable,
    action_names,
    describe_codes,
    distinct,
    encode,
    find_sorted,
)


def check_settings(faults: Faults, gamma: object, sense: object) -> None:
    """Add a fault for a discount factor or a sense that cannot be used."""
    number = isinstance(gamma, int | float | np.number) and not isinstance(gamma, bool)
    if gamma is not None and not (number and 0 <= gamma < 1):  # type: ignore[operator]
        remedy = "use 0 ≤ γ < 1, such as 0.97: the weight of a reward one period later"
        faults.add(f"gamma = {gamma!r}", remedy, column="gamma")
    if sense not in SENSES:
        remedy = 'use "max" for rewards, "min" for costs'
        faults.add(f"sense = {sense!r}", remedy, column="sense")


def read_table(faults: Faults, frame: pd.DataFrame, options: ReadOptions) -> Table | None:
    """The table, or None if there is an error among the faults."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{type(frame).__name__}: is not a table; give a pandas DataFrame")
    check_settings(faults, options.gamma, options.sense)
    frame = frame.rename(columns=str)
    resolved = resolve_columns(faults, frame, options)
    if resolved is None:
        return None
    if not len(frame):
        faults.add("the table has no rows", "give one row per state, action and next state")
        return None
    if len(frame) > MAX_TRANSITIONS:
        remedy = "merge states, or leave out transitions of negligible probability"
        faults.add(f"{len(frame):,} rows; the limit is {MAX_TRANSITIONS:,}", remedy)
        return None
    return _Reader(faults, frame, resolved).table()


class _Reader:
    """The N rows of a table as codes and numbers, checked cell by cell.

    A missing state or action has the code −1, a bad number is NaN. Rewards are negated costs if the
    sense is "min".
    """

    def __init__(self, faults: Faults, frame: pd.DataFrame, options: ReadOptions) -> None:
        self.faults, self.frame, self.options = faults, frame, options
        self.next_columns = dict(options.next_prefix)  # type: ignore[arg-type]  # resolved
        coded = [self._encode(*pair) for pair in self.next_columns.items()]
        self.variables = tuple(variable for variable, _ in coded)
        for variable in self.variables:
            self._check_words(variable)
        self.code_NV, self.next_NV = (
            np.array([codes[j] for _, codes in coded]).T for j in range(2)
        )
        action, [self.action_N] = self._encode(options.action)
        # Numbers are coordinates of the action, words are labels.
        labels = tuple(str(value) for value in action.levels) if action.is_category else ()
        self.actions = Axis((action.name,), action.values, labels=labels)
        self.probability_N, self.reward_N = self._probabilities(), self._rewards()
        self.starts_N = _complete(self.code_NV) & (self.action_N >= 0)
        """Whether a row has a state and an action."""
        happens_N = (self.probability_N != 0) & (self.reward_N != -np.inf)
        self.leads_N = _complete(self.next_NV) & happens_N & self.starts_N
        """Whether a row has a next state that it reaches with a probability above 0."""

    def table(self) -> Table | None:
        if not self.starts_N.any():
            return None
        options = self.options
        code_SV, terminal_S, t = self._number_states()
        law = self._law(code_SV, terminal_S, t)
        initial_S = self._initial(StateIndex(self.variables, code_SV), t)
        self._check_unused()
        if self.faults.has_errors:
            return None
        return Table(
            variables=self.variables,
            code_SV=code_SV,
            actions=self.actions,
            law=with_terminal(law, np.flatnonzero(terminal_S)),
            gamma=0.0 if options.gamma is None else float(options.gamma),
            initial_S=initial_S,
            sense=options.sense,
            name=options.name,
        )

    def _check_unused(self) -> None:
        """Warn about columns without a role: one of them may matter, as the end of an episode."""
        options = self.options
        ends = options.terminal if isinstance(options.terminal, list) else [options.terminal]
        roles = (options.action, options.probability, options.reward, options.initial, *ends)
        names = {name for name in roles if type(name) is str}
        for name in self.frame.columns:
            used = name in names or name in self.next_columns or name in self.next_columns.values()
            if not used and not name.startswith("Unnamed: "):  # a column without a name
                self.faults.add(
                    "the column is not used",
                    "none if the transitions do not depend on it",
                    column=name,
                    severity="warning",
                )

    # --------------------------------------------------------------------------------------- cells

    def _encode(self, *names: str) -> tuple[Variable, list[np.ndarray]]:
        """The variable with the values of some columns, and each of them as codes."""
        variable, codes = encode(names[0], [self.frame[name] for name in names])
        for name, code_N in zip(names, codes, strict=True):
            self._check_missing(name, code_N < 0)
        return variable, codes

    def _check_missing(self, name: str, missing_N: np.ndarray) -> None:
        rows = np.flatnonzero(missing_N)
        self.faults.add_rows(rows, "empty cell", "fill it in or delete the row", column=name)

    def _check_words(self, variable: Variable) -> None:
        """Warn if a variable has both numbers and words: one of them may be a slip."""
        if not variable.is_category:
            return
        values = pd.Series([str(value) for value in variable.levels], dtype="str")
        words = values[pd.to_numeric(values, errors="coerce").isna()]
        if 0 < len(words) < len(values):
            self.faults.add(
                f"{len(values) - len(words):,} values are numbers, {shorten(words.iloc[0])!r} is a "
                "word: the variable is read as a category",
                "none if this is meant; otherwise write numbers only",
                column=variable.name,
                severity="warning",
            )

    def _numbers(self, name: str) -> np.ndarray:
        """The column as numbers, with a fault for each cell that is empty or not a number."""
        column = self.frame[name]
        try:
            numbers = pd.to_numeric(column, errors="coerce")
        except OverflowError:  # a whole number with hundreds of digits
            column = column.map(lambda value: "beyond ±1.8e308" if _is_huge(value) else value)
            numbers = pd.to_numeric(column, errors="coerce")
        number_N = numbers.to_numpy(dtype=float, na_value=np.nan)
        missing_N = column.isna().to_numpy(dtype=bool)
        remedy = "write a number, without separators of thousands"
        self._refuse(column, np.isnan(number_N) & ~missing_N, "is not a number", remedy)
        self._check_missing(name, missing_N)
        return np.array(number_N)

    def _truths(self, name: str) -> np.ndarray:
        """The column as true or false, with a fault for each cell that is neither."""
        words = self.frame[name].map(lambda value: TRUTH.get(str(value).strip().lower()))
        wrong_N = words.isna().to_numpy(dtype=bool)
        remedy = "write true or false, 1 or 0"
        self._refuse(self.frame[name], wrong_N, "is not true or false", remedy)
        return (words == True).to_numpy(dtype=bool)  # noqa: E712

    def _refuse(self, column: pd.Series, wrong_N: np.ndarray, problem: str, remedy: str) -> None:
        """Add a fault for each cell of a column that cannot be used."""
        rows = np.flatnonzero(wrong_N)
        cells = [shorten(str(value)) for value in column.iloc[rows[:MOST_OF_A_KIND]]]
        name = str(column.name)
        self.faults.add_rows(rows, lambda i: f"{cells[i]!r} {problem}", remedy, column=name)

    def _probabilities(self) -> np.ndarray:
        name = self.options.probability
        if name is None:
            return np.ones(len(self.frame))
        p_N = without_rounding(self._numbers(name))
        # A little more than 1 may be rounding: the sums are checked, and can be rescaled.
        rows = np.flatnonzero((p_N < 0) | (p_N > 1 + RESCALABLE))
        wrong, remedy = p_N[rows], "give a probability from 0 to 1"
        self.faults.add_rows(
            rows, lambda i: f"{wrong[i]:.9g} is not a probability", remedy, column=name
        )
        p_N[rows] = np.nan
        return p_N

    def _rewards(self) -> np.ndarray:
        name, costs = self.options.reward, self.options.sense == "min"
        reward_N = self._numbers(name)
        reward_N = (-reward_N if costs else reward_N) + 0.0
        rows = np.flatnonzero(reward_N == np.inf)
        forbids = "plus infinity" if costs else "minus infinity"
        remedy = f"give a finite number; {forbids} makes an action infeasible"
        self.faults.add_rows(rows, "infinite", remedy, column=name)
        reward_N[rows] = np.nan
        return reward_N

    # -------------------------------------------------------------------------------------- states

    def _number_states(self) -> tuple[np.ndarray, np.ndarray, Transitions]:
        """Number the states that have rows, and the terminal ones, in the order of their codes.

        Returns the codes of the states, which of them are terminal, and the rows with the numbers
        of their states: −1 for a state or next state that is missing or has neither rows nor an
        end.
        """
        starts_N, leads_N = self.starts_N, self.leads_N
        code_MV = np.concatenate([self.code_NV[starts_N], self.next_NV[leads_N]])
        keys = RowKeys([len(variable) for variable in self.variables], code_MV)
        key_K, first_K = distinct(keys(code_MV))
        code_KV, key_N, next_key_N = code_MV[first_K], keys(self.code_NV), keys(self.next_NV)
        has_rows_K = np.zeros(len(key_K), bool)
        has_rows_K[np.searchsorted(key_K, key_N[starts_N])] = True

        terminal, terminal_K = self.options.terminal, np.zeros(len(key_K), bool)
        for part in terminal if isinstance(terminal, list) else [terminal]:
            if isinstance(part, str) and part == MISSING:
                terminal_K |= ~has_rows_K
            elif isinstance(part, str) and part in self.frame:
                marked_N = self._truths(part)
                terminal_K[np.searchsorted(key_K, next_key_N[marked_N & leads_N])] = True
                self._check_marks(part, marked_N, np.where(leads_N, next_key_N, -1), key_N)
            elif part is not None:
                index = StateIndex(self.variables, code_KV)
                # In a list, a list is one state, as in JSON.
                state = [part] if isinstance(part, list) else part
                terminal_K |= terminal_states(self.faults, state, index, code_KV)
        is_state_K = has_rows_K | terminal_K
        numbers = (find_sorted(key_K[is_state_K], wanted_N) for wanted_N in (key_N, next_key_N))
        state_N, next_N = (np.where(unknown_N, -1, number_N) for number_N, unknown_N in numbers)
        terminal_S = terminal_K[is_state_K]
        self._check_next((next_N < 0) & leads_N & ~terminal_S[state_N])
        t = Transitions(
            state_N,
            self.action_N,
            next_N,
            self.probability_N,
            self.reward_N,
            np.arange(len(state_N)),
        )
        return code_KV[is_state_K], terminal_S, t

    def _check_marks(
        self, name: str, marked_N: np.ndarray, next_key_N: np.ndarray, key_N: np.ndarray
    ) -> None:
        """Warn if a row goes on in a state that another row marks as terminal."""
        ends = np.unique(next_key_N[marked_N & (next_key_N >= 0)])
        goes_on_N = ~marked_N & np.isin(next_key_N, ends) & ~np.isin(key_N, ends)
        self.faults.add_rows(
            np.flatnonzero(goes_on_N),
            "false, but true in another row with this next state: the state is terminal",
            "none if the process always ends there; otherwise add a variable that tells both apart",
            column=name,
            severity="warning",
        )

    def _check_next(self, nowhere_N: np.ndarray) -> None:
        """Next states must have rows of their own, or be terminal."""
        rows = np.flatnonzero(nowhere_N)
        self.faults.add_rows(
            rows,
            lambda i: f"next state {self._state(self.next_NV[rows[i]])} never occurs as a state",
            'add its rows, or set terminal="missing" if the process ends there',
            column=", ".join(self.next_columns.values()),
        )

    def _state(self, codes: np.ndarray) -> str:
        return describe_codes(self.variables, codes)

    # ---------------------------------------------------------------------------------- law, start

    def _law(self, code_SV: np.ndarray, terminal_S: np.ndarray, t: Transitions) -> Law:
        """The pairs and transitions of the states that are not terminal."""
        bad_N = np.isnan(t.probability_N) | np.isnan(t.reward_N)
        # A row without an action may belong to any pair of its state.
        lost_S = np.zeros(len(code_SV), bool)
        lost_S[t.state_N[(t.action_N < 0) & (t.state_N >= 0)]] = True
        bad_N |= lost_S[t.state_N]
        t = t._replace(
            probability_N=np.where(np.isnan(t.probability_N), 0.0, t.probability_N),
            reward_N=np.where(np.isnan(t.reward_N), 0.0, t.reward_N),
        )
        ends_N = self.starts_N & terminal_S[t.state_N]
        stays_N = (t.next_N == t.state_N) & (t.reward_N == 0)
        self.faults.add_rows(
            np.flatnonzero(ends_N & ~stays_N),
            "the row of a terminal state is not used",
            "none if the process ends in this state; otherwise change `terminal`",
            severity="warning",
        )
        names, used_N = action_names(self.actions), self.starts_N & ~ends_N
        law = collect(
            self.faults,
            t.take(used_N),
            lambda s, a: f"the rows of {self._state(code_SV[s])}, action {names[a]}",
            column=self.options.probability or "probability",
            normalize=self.options.normalize,
            doubtful_N=bad_N[used_N],
        )
        # A state whose actions all have the reward −∞ has no feasible action.
        idle = np.flatnonzero((np.bincount(law.state_P, minlength=len(code_SV)) == 0) & ~terminal_S)
        row_S = np.zeros(len(code_SV), np.int64)
        rows = np.flatnonzero(self.starts_N)[::-1]
        row_S[t.state_N[rows]] = rows  # the first row of each state, which is written last
        self.faults.add_rows(
            row_S[idle],
            lambda i: f"{self._state(code_SV[idle[i]])} has no feasible action",
            "give one action a finite reward, or name the state in `terminal`",
            column=self.options.reward,
        )
        return law

    def _initial(self, index: StateIndex, t: Transitions) -> np.ndarray | None:
        """The initial distribution, from a column or as `initial_distribution` reads it."""
        initial: Any = self.options.initial
        normalize = self.options.normalize
        if not (isinstance(initial, str) and initial in self.frame):
            return initial_distribution(self.faults, initial, index, normalize=normalize)
        value_N = self._numbers(initial)
        used_N = (t.state_N >= 0) & (t.action_N >= 0) & ~np.isnan(value_N)
        initial_S = np.zeros(len(index))
        initial_S[t.state_N[used_N]] = value_N[used_N]
        self.faults.add_rows(
            np.flatnonzero(used_N & (value_N != initial_S[t.state_N])),
            "differs from other rows of this state",
            "give all rows of a state the same initial probability",
            column=initial,
        )
        return check_initial(self.faults, initial_S, normalize=normalize)


def _complete(code_NV: np.ndarray) -> np.ndarray:
    return np.logical_and.reduce([codes >= 0 for codes in code_NV.T])


def _is_huge(value: object) -> bool:
    return isinstance(value, int) and abs(value) > sys.float_info.max
