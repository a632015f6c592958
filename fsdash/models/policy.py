"""A policy in the user's own words: a table of states and actions, and a function to deploy.

A `Policy` needs no model: it knows the state variables, the action of each state in each phase, and
the actions' names. Padding is left out. Period t plays phase t mod P; P = 1 if it is stationary.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.display import Lines, Summary
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import check_policy
from fsdash.errors import InputError
from fsdash.models.size import MAX_FILE_BYTES
from fsdash.models.table import (
    StateIndex,
    Variable,
    action_column,
    action_names,
    encode,
    level_column,
    plain,
    row_keys,
    state_codes,
)
from fsdash.models.tables import read_frame
from fsdash.simulators.policy import LatticePolicy

PHASE, ACTION = "phase", "action"


class Policy(Summary):
    """A stationary or periodic policy with the names of its states and actions.

    Parameters
    ----------
    model : FastSlowMDP
        The model that the policy is for; only its axes are kept.
    policy : np.ndarray, Snapshot or Optimum
        Action indices, shape (X, Y) or (P, X, Y), or a result that has them as `policy_PXY`.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory", y_max=10).build()
    >>> policy = fsdash.Policy(model, fsdash.optimum(model))
    >>> policy.variables, policy.period
    (('demand', 'stock'), 1)
    >>> policy({"demand": 5, "stock": 0}, period=0) == policy((5, 0))
    True
    >>> print(policy.to_csv().splitlines()[0])
    demand,stock,order
    """

    def __init__(self, model: FastSlowMDP, policy: Any) -> None:
        array = np.asarray(getattr(policy, "policy_PXY", policy))
        policy_PXY = check_policy(model, array[None] if array.ndim == 2 else array)
        self._set(
            *state_codes(model),
            policy_PXY[:, model.real_XY],
            action_names(model.actions),
            action_column(model.actions),
            getattr(policy, "policy_kind", ""),
        )

    def _set(
        self,
        variables: Sequence[Variable],
        code_SV: np.ndarray,
        action_PS: np.ndarray,
        actions: Sequence[Any],
        action: str,
        kind: str = "",
    ) -> None:
        self._index = StateIndex(variables, code_SV)
        self._code_SV = code_SV
        self._action_PS = action_PS
        self.actions = tuple(actions)
        """The names of the actions."""
        self.action = ACTION if action in (PHASE, *self.variables) else action
        """The name of the column of actions, as in the model's table."""
        self.kind = kind or ("stationary" if len(action_PS) == 1 else "periodic")
        """ "stationary", "periodic" or "cyclic"."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the state variables, in the order of a state given as a tuple."""
        return tuple(variable.name for variable in self._index.variables)

    @property
    def period(self) -> int:
        """The number of phases P."""
        return len(self._action_PS)

    def __len__(self) -> int:
        """The number of states."""
        return len(self._code_SV)

    def __call__(self, state: Any, period: int = 0) -> Any:
        """Return the name of the action in a state, or the actions in all states of a frame.

        Parameters
        ----------
        state : mapping, tuple or pandas.DataFrame
            The values of the state variables. A frame has a column for each of them, and the
            actions come as a series with its index.
        period : int
            The number of the period, from 0; its phase is `period` mod P.
        """
        if not isinstance(period, int | np.integer) or period < 0:
            raise InputError(f"period = {period!r}: give a whole number, 0 or more")
        if isinstance(state, pd.DataFrame):
            return self._in_states(state, period % self.period)
        return self.actions[self._action_PS[period % self.period, self._index.number(state)]]

    def _in_states(self, frame: pd.DataFrame, phase: int) -> pd.Series:
        if missing := [name for name in self.variables if name not in frame]:
            raise InputError(f"states: the column {missing[0]} is missing; add it")
        number_N = self._index.numbers(frame)
        if (unknown_N := number_N < 0).any():
            row = int(unknown_N.argmax())
            self._index.number(tuple(frame[list(self.variables)].iloc[row]))
        names = pd.Series(self.actions, dtype=None if _are_numbers(self.actions) else object)
        chosen = names.to_numpy()[self._action_PS[phase, number_N]]
        return pd.Series(chosen, index=frame.index, name=self.action)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per phase and state: `phase` (if P > 1), the variables and the action."""
        reserved = {ACTION} | ({PHASE} if self.period > 1 or self.variables[0] == PHASE else set())
        if taken := reserved.intersection(self.variables):
            raise InputError(
                f"variable {taken.pop()!r}: has the name of a policy's column; rename it"
            )
        P, S = self._action_PS.shape
        columns: dict[str, Any] = {PHASE: np.repeat(np.arange(P), S)} if P > 1 else {}
        for variable, codes in zip(self._index.variables, self._code_SV.T, strict=True):
            columns[variable.name] = level_column(variable, np.tile(codes, P))
        names = pd.Series(self.actions, dtype=None if _are_numbers(self.actions) else object)
        columns[self.action] = names.to_numpy()[self._action_PS.ravel()]
        return pd.DataFrame(columns)

    def to_csv(self) -> str:
        """Return the table as CSV text."""
        return self.to_frame().to_csv(index=False, lineterminator="\n")

    def save(self, path: str | Path) -> None:
        """Write the policy to a `.csv` file; `load_policy` reads it."""
        path = Path(path)
        if path.suffix != ".csv":
            raise InputError(f"{path.name}: a policy is saved as .csv; use this ending")
        path.write_text(self.to_csv(), encoding="utf-8")

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Policy:
        """Return the policy of a frame as `to_frame` makes it.

        The actions are in the column `action`; if there is none, in the last one.
        """
        frame = frame.rename(columns=str)
        action = ACTION if ACTION in frame or frame.empty else frame.columns[-1]
        names = [name for name in frame.columns if name not in (PHASE, action)]
        if action == PHASE or not names or not len(frame):
            raise InputError(
                "policy: needs a column for each state variable and a last one with the action"
            )
        if frame.isna().any(axis=None):
            row, column = np.argwhere(frame.isna().to_numpy())[0]
            raise InputError(f"policy: row {row + 1} has no {frame.columns[column]}; fill it in")
        phase_N = _phases(frame)
        coded = [(variable, codes) for variable, [codes] in (encode(n, [frame[n]]) for n in names)]
        variables, code_NV = [v for v, _ in coded], np.stack([c for _, c in coded], axis=1)
        key_S, first_S, state_N = np.unique(
            row_keys(variables, code_NV), return_index=True, return_inverse=True
        )
        P = int(phase_N.max()) + 1
        place_N = phase_N * len(key_S) + state_N
        if len(frame) != P * len(key_S) or len(np.unique(place_N)) != len(frame):
            raise InputError("policy: needs one row for each state in each phase, and no more")
        number_N, actions = pd.factorize(frame[action], sort=False)
        action_PS = np.empty(P * len(key_S), np.int64)
        action_PS[place_N] = number_N
        policy = cls.__new__(cls)
        policy._set(
            variables,
            code_NV[first_S],
            action_PS.reshape(P, len(key_S)),
            [plain(a) if isinstance(a, float) else a for a in list(actions)],
            action,
        )
        return policy

    def _summary(self) -> tuple[str, Lines]:
        return f"Policy, {self.kind}", [
            ("states", f"{len(self):,} ({', '.join(self.variables)})"),
            ("phases", self.period),
            ("actions", ", ".join(str(name) for name in self.actions[:8])),
        ]


def load_policy(path: str | Path) -> Policy | LatticePolicy:
    """Read a policy that was saved. Neither a model nor a simulator is needed.

    Parameters
    ----------
    path : str or Path
        A file with the ending .csv, or .npz for the policy of a simulator.

    Returns
    -------
    Policy or LatticePolicy
        The policy, ready to be called with a state (and a period, if it is a `Policy`).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import fsdash
    >>> model = fsdash.make("inventory", y_max=10).build()
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.csv"
    >>> fsdash.Policy(model, fsdash.optimum(model)).save(path)
    >>> policy = fsdash.load_policy(path)
    >>> policy((5, 0)) == fsdash.Policy(model, fsdash.optimum(model))((5, 0))
    True
    """
    path = Path(path)
    if path.suffix == ".npz":
        return LatticePolicy.load(path)
    if path.suffix != ".csv":
        raise InputError(f"{path.name}: a policy is a .csv or .npz file; give one")
    if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        raise InputError(f"{path}: there is no such file, or it exceeds {MAX_FILE_BYTES:,} bytes")
    with path.open("rb") as file:
        return Policy.from_frame(read_frame(file))


def _phases(frame: pd.DataFrame) -> np.ndarray:
    if PHASE not in frame:
        return np.zeros(len(frame), np.int64)
    phases = pd.to_numeric(frame[PHASE], errors="coerce").to_numpy(dtype=float)
    if not ((phases >= 0) & (phases < len(frame)) & (phases == np.floor(phases))).all():
        raise InputError("policy: the column phase must hold whole numbers from 0 on")
    return phases.astype(np.int64)


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) for value in values)
