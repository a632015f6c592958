"""A model from a transition matrix and a reward matrix, in the usual forms.

====================  =================================================================
P                     (S, A, S), as QuantEcon; (A, S, S), as MDPtoolbox; a list of A matrices
                      (S, S), dense or sparse; (L, S) with `s_indices` and `a_indices`
R                     (S, A); (S, A, S) or (A, S, S) for r(s, a, s′); (S,); (L,)
====================  =================================================================

If all three axes of P have the same length, P is read as (S, A, S).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fsdash.core.axis import numbers
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import PROBABILITY_TOLERANCE, Rows
from fsdash.errors import InputError
from fsdash.models.assemble import axes, build, choose_split, positions
from fsdash.models.faults import MOST_OF_A_KIND, Faults
from fsdash.models.law import Law, without_rounding
from fsdash.models.marked import initial_distribution, named_actions, state_variables
from fsdash.models.reading import check_settings
from fsdash.models.size import MAX_CELLS, Size
from fsdash.models.table import StateIndex, Table


def from_arrays(
    P: Any,
    R: Any,
    *,
    gamma: float,
    states: Any = None,
    slow: str | Sequence[str] | None = None,
    feasible: Any = None,
    sense: str = "max",
    s_indices: Any = None,
    a_indices: Any = None,
    actions: Sequence[Any] | None = None,
    initial: Any = None,
    name: str = "model",
) -> FastSlowMDP:
    """Build a model from arrays of transition probabilities and rewards.

    Parameters
    ----------
    P : array (also as nested lists), sparse matrix or list of matrices
        Transition probabilities: (S, A, S), (A, S, S), a list of A matrices (S, S), or (L, S) with
        one row per feasible pair. If all three axes have the same length, (S, A, S).
    R : array or list of matrices
        Rewards: (S, A), (S, A, S) or (A, S, S) for r(s, a, s′), (S,), or (L,). If S = A, the
        order of three axes is that of P. Minus infinity makes an action infeasible. Costs if
        `sense` is "min".
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    states : pd.DataFrame, optional
        One row per state and one column per state variable; the number of the state by default.
    slow : str or sequence of str, optional
        The slow variables; `suggest_slow` chooses by default, and the model's name says so.
    feasible : array of bool, optional
        Whether action a can be taken in state s, shape (S, A).
    sense : {"max", "min"}
        "min" if R holds costs.
    s_indices, a_indices : array of int, optional
        State and action of each row of P, for P of shape (L, S).
    actions : sequence, optional
        Names or values of the actions, in their order; their numbers by default.
    initial : optional
        Initial distribution: one probability per state, a mapping of states to probabilities or a
        state; uniform by default.
    name : str
        Name for displays.

    Returns
    -------
    FastSlowMDP
        The model. `DataFaults` is raised if the arrays have errors.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import fsdash
    >>> P = np.zeros((4, 2, 4))  # state 2·season + level; action 1 raises the level
    >>> for season, level, action in np.ndindex(2, 2, 2):
    ...     dry = [0.9, 0.1][season]
    ...     P[2 * season + level, action, [action, 2 + action]] = [dry, 1 - dry]
    >>> R = np.array([[0, -1], [1, 0], [0, -1], [5, 4]])
    >>> states = pd.DataFrame({"season": ["dry", "dry", "wet", "wet"], "level": [0, 1, 0, 1]})
    >>> model = fsdash.from_arrays(P, R, gamma=0.9, states=states, slow="season")
    >>> model.n_slow, model.n_fast, fsdash.Policy(model, fsdash.optimum(model))(("wet", 0))
    (2, 2, 1)
    """
    faults = Faults()
    check_settings(faults, gamma, sense)
    if feasible is None and (slow is not None or states is None) and not faults.has_errors:
        settings = {"gamma": float(gamma), "sense": sense, "name": name}
        model = _from_clean_csr(
            P, R, s_indices, a_indices, states, slow, actions, initial, settings
        )
        if model is not None:
            return model
    law, n_states, n_actions = read_law(P, R, s_indices, a_indices)
    reward_P = (-law.reward_P if sense == "min" else law.reward_P) + 0.0
    keep_P = reward_P != -np.inf
    if feasible is not None:
        keep_P &= _feasible(feasible, (n_states, n_actions))[law.state_P, law.action_P]
    law = _take(replace(law, reward_P=reward_P), keep_P)
    _check(faults, law, n_states)
    variables, code_SV = state_variables(faults, states, n_states)
    index = StateIndex(variables, code_SV)
    initial = np.asarray(initial) if isinstance(initial, list) else initial
    table = Table(
        variables=variables,
        code_SV=code_SV,
        actions=named_actions(actions, n_actions),
        law=law,
        gamma=float(gamma) if not faults.has_errors else 0.0,
        initial_S=initial_distribution(faults, initial, index),
        sense=sense,
        name=name,
    )
    return build(faults, table, slow)


def _from_clean_csr(
    P: Any,
    R: Any,
    s_indices: Any,
    a_indices: Any,
    states: Any,
    slow: str | Sequence[str] | None,
    actions: Sequence[Any] | None,
    initial: Any,
    settings: dict[str, Any],
) -> FastSlowMDP | None:
    """The model of a CSR matrix (L, S) that is sorted and has no errors; None for all others.

    The states must be in the order of the slow, then of the fast states. Such arrays are copied
    while they are checked; all others take the general way, which also reports errors.
    """
    arrays = [np.asarray(values) for values in (s_indices, a_indices, R)]
    if not (isinstance(P, sparse.csr_array | sparse.csr_matrix) and P.nnz and P.dtype == float):
        return None
    L, S = P.shape
    if any(v.shape != (L,) for v in arrays) or any(v.dtype.kind not in "iu" for v in arrays[:2]):
        return None
    state_P, action_P, reward_P = arrays[0].astype(np.int64), arrays[1].astype(np.int64), arrays[2]
    A = int(action_P.max()) + 1
    cell_P = state_P * A + action_P
    all_states = np.count_nonzero(np.diff(state_P)) + 1 == S == state_P[-1] + 1
    if action_P.min() < 0 or not all_states or not (np.diff(cell_P) > 0).all():
        return None
    faults = Faults()
    variables, code_SV = state_variables(faults, states, S)
    if faults.has_errors or reward_P.dtype.kind not in "fiu" or not np.isfinite(reward_P).all():
        return None
    empty = np.zeros(0, np.int64)
    no_law = Law.of_pairs(empty, empty, empty, empty, empty, empty)
    initial = np.asarray(initial) if isinstance(initial, list) else initial
    initial_S = initial_distribution(faults, initial, StateIndex(variables, code_SV))
    table = Table(
        variables, code_SV, named_actions(actions, A), no_law, initial_S=initial_S, **settings
    )
    if slow is None and len(variables) > 1:
        return None  # a suggestion needs the law
    table, names, _ = choose_split(table, slow)
    (x_S, slow_axis), (y_S, fast_axis) = axes(table, positions(table, names))
    shape = X, Y, _ = len(slow_axis), len(fast_axis), A
    if faults.has_errors or S != X * Y or not np.array_equal(x_S * Y + y_S, np.arange(S)):
        return None
    Size(X, Y, A, P.nnz).refuse_too_large()
    rows = Rows.from_clean_csr(shape, cell_P, P.indptr, P.indices, P.data)
    if rows is None:
        return None
    initial_XY: Any = None if initial_S is None else initial_S.reshape(X, Y)
    reward = np.full(S * A, -np.inf)
    reward[cell_P] = -reward_P if table.sense == "min" else reward_P
    return FastSlowMDP(
        reward_XYA=reward.reshape(shape) + 0.0,
        rows=rows,
        gamma=table.gamma,
        slow=slow_axis,
        fast=fast_axis,
        actions=table.actions,
        initial_XY=initial_XY,
        sense=table.sense,
        name=table.name,
    )


def _feasible(feasible: Any, shape: tuple[int, int]) -> np.ndarray:
    feasible = np.asarray(feasible)
    if feasible.shape != shape or feasible.dtype.kind not in "biu":
        raise InputError(
            f"feasible: shape {feasible.shape} of {feasible.dtype}; give true or false for each "
            f"(s, a), {shape}"
        )
    return feasible.astype(bool)


def _take(law: Law, which_P: np.ndarray) -> Law:
    """The law of the pairs with a true mask; each pair has a row of its own."""
    if which_P.all():
        return law
    which_N = which_P[law.row_N]
    return Law.of_pairs(
        law.state_P[which_P],
        law.action_P[which_P],
        law.reward_P[which_P],
        (np.cumsum(which_P) - 1)[law.row_N[which_N]],
        law.next_N[which_N],
        law.probability_N[which_N],
    )


def _check(faults: Faults, law: Law, n_states: int) -> None:
    """Probabilities are at least 0 and sum to 1, rewards are finite, states have actions."""
    pair_N, p_N, reward_P = law.row_N, law.probability_N, law.reward_P
    bad_N = ~(np.isfinite(p_N) & (p_N >= 0))
    sum_P = np.bincount(pair_N, weights=p_N, minlength=len(reward_P))
    bad_P = np.zeros(len(reward_P), bool)
    bad_P[pair_N[bad_N]] = True

    def places(array: str, which: np.ndarray) -> list[str]:
        first = which[:MOST_OF_A_KIND]
        return [f"{array}[{law.state_P[p]}, {law.action_P[p]}]" for p in first]

    wrong = np.flatnonzero(bad_N)
    faults.add_places(
        places("P", pair_N[wrong]),
        len(wrong),
        lambda i: f"{p_N[wrong[i]]:.9g} is not a probability",
        "give numbers from 0 to 1",
    )
    uneven = np.flatnonzero((np.abs(sum_P - 1) > PROBABILITY_TOLERANCE) & ~bad_P)
    faults.add_places(
        places("P", uneven),
        len(uneven),
        lambda i: f"sums to {sum_P[uneven[i]]:.9g}, not 1",
        "divide the row by its sum; give R = -inf, or feasible, for an action that is infeasible",
    )
    odd = np.flatnonzero(~np.isfinite(reward_P))
    faults.add_places(
        places("R", odd),
        len(odd),
        lambda i: f"{reward_P[odd[i]]} is not a reward",
        "give a finite number, or minus infinity for an action that is infeasible",
    )
    idle = np.flatnonzero(np.bincount(law.state_P, minlength=n_states) == 0)
    faults.add_places(
        [f"state {s}" for s in idle[:MOST_OF_A_KIND]],
        len(idle),
        lambda i: "has no feasible action",
        "allow one; a terminal state stays where it is with reward 0",
    )


# ---------------------------------------------------------------------------- the forms of P and R


def read_law(P: Any, R: Any, s_indices: Any = None, a_indices: Any = None) -> tuple[Law, int, int]:
    """P and R in any of their forms: one row per pair with its reward, and how many states and
    actions there are."""
    pairs = _read_pairs(P, s_indices, a_indices)
    return replace(pairs.law, reward_P=_read_rewards(R, pairs)), pairs.n_states, pairs.n_actions


class _Pairs(NamedTuple):
    """P as it was given: the pairs in order, without rewards, and how R is to be read."""

    law: Law
    n_states: int
    n_actions: int
    form: str
    """"SAS", "ASS" or "pairs"."""
    order_P: np.ndarray
    """The place of each pair in the user's own order (R is read in that order)."""

    @classmethod
    def of(
        cls, matrix: sparse.csr_array, A: int, form: str, cell_P: np.ndarray, order_P: np.ndarray
    ) -> _Pairs:
        """The pairs s·A + a in `cell_P`; the rows of the matrix have their probabilities."""
        pair_N = np.repeat(np.arange(len(cell_P)), np.diff(matrix.indptr))
        next_N, no_reward_P = matrix.indices.astype(np.int64), np.zeros(len(cell_P))
        law = Law.of_pairs(cell_P // A, cell_P % A, no_reward_P, pair_N, next_N, matrix.data)
        return cls(law, matrix.shape[1], A, form, order_P)


def _read_pairs(P: Any, s_indices: Any, a_indices: Any) -> _Pairs:
    """Read P in any of its forms."""
    if (s_indices is None) != (a_indices is None):
        raise InputError("s_indices and a_indices: give both, or neither")
    if s_indices is not None:
        return _from_pairs(P, s_indices, a_indices)
    if _is_list(P) and not (len(P) and _is_list(P[0])):  # nested lists are one array
        return _from_list(P)
    if sparse.issparse(P):
        raise InputError("P: a sparse matrix (L, S) needs s_indices and a_indices; give both")
    P = numbers("P", P)
    if P.ndim != 3 or 0 in P.shape:
        raise InputError(f"P: shape {P.shape} is not (S, A, S) or (A, S, S)")
    if P.shape[0] == P.shape[2]:
        S, A, _ = P.shape
        check_cells(S, A)
        return _all_pairs(to_csr(P.reshape(S * A, S), probabilities=True), A, "SAS")
    if P.shape[1] == P.shape[2]:
        A, S, _ = P.shape
        check_cells(S, A)
        P = P.transpose(1, 0, 2).reshape(S * A, S)
        return _all_pairs(to_csr(P, probabilities=True), A, "ASS")
    raise InputError(f"P: shape {P.shape} is neither (S, A, S) nor (A, S, S)")


def _read_rewards(R: Any, pairs: _Pairs) -> np.ndarray:
    """The expected reward of each pair; r(s, a, s′) is averaged over P."""
    S, A, form = pairs.n_states, pairs.n_actions, pairs.form
    if isinstance(R, list | tuple) and len(R) and np.ndim(R[0]) == 2 and not _is_list(R[0]):
        return _expected(_stack(R, "R", S), pairs.law)
    R = R.toarray() if hasattr(R, "toarray") else R
    R = numbers("R", R)
    if form == "pairs":
        if R.shape == (len(pairs.order_P),):
            return R[pairs.order_P]
        raise InputError(
            f"R: shape {R.shape}; give one reward per row of P, ({len(pairs.order_P)},)"
        )
    if R.shape == (S, A):
        return R.reshape(-1)
    if R.shape == (S,):
        return np.repeat(R, A)
    if R.shape in ((S, A, S), (A, S, S)):
        by_action = form == "ASS" if S == A else R.shape == (A, S, S)
        return _expected((R.transpose(1, 0, 2) if by_action else R).reshape(S * A, S), pairs.law)
    shape = (S, A, S) if form == "SAS" else (A, S, S)
    raise InputError(f"R: shape {R.shape}; give (S, A) = {(S, A)}, ({S},) or {shape} like P")


def _is_list(values: Any) -> bool:
    return isinstance(values, list | tuple)


def _expected(R_PS: Any, law: Law) -> np.ndarray:
    """Σ p(s′) r(s, a, s′) over the next states that can be reached."""
    reward_N = np.asarray(R_PS[law.row_N, law.next_N]).reshape(-1)
    weight_N = law.probability_N * reward_N
    return np.bincount(law.row_N, weights=weight_N, minlength=len(law.state_P))


def _all_pairs(matrix: sparse.csr_array, A: int, form: str) -> _Pairs:
    cell_P = np.arange(matrix.shape[0])
    return _Pairs.of(matrix, A, form, cell_P, cell_P)


def _from_list(P: Sequence[Any]) -> _Pairs:
    if not len(P):
        raise InputError("P: the list is empty; give one matrix (S, S) per action")
    S, A = np.shape(P[0])[0] if np.ndim(P[0]) or sparse.issparse(P[0]) else 0, len(P)
    check_cells(S, A)
    return _all_pairs(_stack(P, "P", S), A, "ASS")


def _stack(matrices: Sequence[Any], name: str, S: int) -> sparse.csr_array:
    """Matrices (S, S), one per action, as rows in the order of pairs s·A + a."""
    parts = []
    for a, matrix in enumerate(matrices):
        part: Any = matrix if sparse.issparse(matrix) else numbers(f"{name}[{a}]", matrix)
        if part.shape != (S, S):
            raise InputError(f"{name}[{a}]: shape {part.shape}; give ({S}, {S}) for each action")
        parts.append(to_csr(part, probabilities=name == "P"))
    A = len(parts)
    by_action = sparse.vstack(parts, format="csr")
    return sparse.csr_array(by_action[(np.arange(S * A) % A) * S + np.arange(S * A) // A])


def _from_pairs(P: Any, s_indices: Any, a_indices: Any) -> _Pairs:
    matrix = to_csr(P if sparse.issparse(P) else numbers("P", P), probabilities=True)
    L, S = matrix.shape
    state_P, action_P = _indices("s_indices", s_indices, L), _indices("a_indices", a_indices, L)
    if state_P.max() >= S:
        raise InputError(
            f"s_indices: holds {state_P.max()}; states are 0 to {S - 1}, as P has them"
        )
    A = int(action_P.max()) + 1
    check_cells(S, A)
    key_P = state_P * A + action_P
    order_P = np.argsort(key_P, kind="stable")
    twice = np.flatnonzero(np.diff(key_P[order_P]) == 0)
    if len(twice):
        row = int(order_P[twice[0] + 1])
        raise InputError(
            f"row {row} of P: state {state_P[row]}, action {action_P[row]} has two rows; keep one"
        )
    return _Pairs.of(matrix[order_P], A, "pairs", key_P[order_P], order_P)


def to_csr(matrix: Any, *, probabilities: bool = False) -> sparse.csr_array:
    """The matrix as sorted rows without zeros or repeats, and of probabilities without rounding
    errors below 0."""
    if matrix.ndim != 2:
        raise InputError(f"P: shape {matrix.shape}; give one row per state–action pair, (L, S)")
    found = sparse.csr_array(matrix).astype(float)
    found.sum_duplicates()
    if probabilities:
        found.data = without_rounding(found.data)
    found.eliminate_zeros()
    return found


def check_cells(S: int, A: int) -> None:
    """Raise an error if S·A exceeds the limit."""
    if S < 1 or A < 1 or S * A > MAX_CELLS:
        raise InputError(f"{S:,} states × {A:,} actions: give 1 to {MAX_CELLS:,} pairs")


def _indices(name: str, values: Any, L: int) -> np.ndarray:
    values = np.asarray(values)
    if values.shape != (L,) or L == 0 or values.dtype.kind not in "iu" or values.min() < 0:
        raise InputError(f"{name}: give one whole number from 0 on for each of the {L} rows of P")
    return values.astype(np.int64)
