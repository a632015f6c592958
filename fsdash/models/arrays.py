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
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import PROBABILITY_TOLERANCE
from fsdash.errors import InputError
from fsdash.models.assemble import build
from fsdash.models.faults import MOST_OF_A_KIND, Faults
from fsdash.models.marked import initial_distribution
from fsdash.models.pairs import PairRows, read_pairs, read_rewards
from fsdash.models.reading import check_settings
from fsdash.models.table import RowKeys, StateIndex, Table, Variable, action_names, encode


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
    >>> model.n_slow, model.n_fast, model.policy(fsdash.optimum(model))(("wet", 0))
    (2, 2, 1)
    """
    faults = Faults()
    check_settings(faults, gamma, sense)
    pairs = read_pairs(P, s_indices, a_indices)
    reward_P = read_rewards(R, pairs)
    reward_P = (-reward_P if sense == "min" else reward_P) + 0.0
    keep_P = reward_P != -np.inf
    if feasible is not None:
        keep_P &= _feasible(feasible, pairs)
    pairs, reward_P = pairs.take(keep_P), reward_P[keep_P]
    _check(faults, pairs, reward_P)
    variables, code_SV = state_variables(faults, states, pairs.n_states)
    index = StateIndex(variables, code_SV)
    initial = np.asarray(initial) if isinstance(initial, list) else initial
    table = Table(
        variables=variables,
        code_SV=code_SV,
        actions=named_actions(actions, pairs.n_actions),
        law=pairs.law(reward_P),
        gamma=float(gamma) if not faults.has_errors else 0.0,
        initial_S=initial_distribution(faults, initial, index, pairs.n_states),
        sense=sense,
        name=name,
    )
    return build(faults, table, slow)


def _feasible(feasible: Any, pairs: PairRows) -> np.ndarray:
    feasible = np.asarray(feasible)
    shape = (pairs.n_states, pairs.n_actions)
    if feasible.shape != shape or feasible.dtype.kind not in "biu":
        raise InputError(
            f"feasible: shape {feasible.shape} of {feasible.dtype}; give true or false for each "
            f"(s, a), {shape}"
        )
    return feasible[pairs.state_P, pairs.action_P].astype(bool)


def _check(faults: Faults, pairs: PairRows, reward_P: np.ndarray) -> None:
    """Probabilities are at least 0 and sum to 1, rewards are finite, states have actions."""
    length_P = np.diff(pairs.matrix.indptr)
    pair_N = np.repeat(np.arange(len(length_P)), length_P)
    p_N = pairs.matrix.data
    bad_N = ~(np.isfinite(p_N) & (p_N >= 0))
    sum_P = np.bincount(pair_N, weights=p_N, minlength=len(length_P))
    bad_P = np.zeros(len(length_P), bool)
    bad_P[pair_N[bad_N]] = True

    def places(array: str, which: np.ndarray) -> list[str]:
        first = which[:MOST_OF_A_KIND]
        return [f"{array}[{pairs.state_P[p]}, {pairs.action_P[p]}]" for p in first]

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
    idle = np.flatnonzero(np.bincount(pairs.state_P, minlength=pairs.n_states) == 0)
    faults.add_places(
        [f"state {s}" for s in idle[:MOST_OF_A_KIND]],
        len(idle),
        lambda i: "has no feasible action",
        "allow one; a terminal state stays where it is with reward 0",
    )


def state_variables(
    faults: Faults, states: Any, n_states: int
) -> tuple[tuple[Variable, ...], np.ndarray]:
    """The variables of a frame of states and the codes of its rows; numbers if there is none."""
    number = Variable("state", np.arange(n_states, dtype=float)), np.arange(n_states)[:, None]
    if states is None:
        return (number[0],), number[1]
    frame = pd.DataFrame(states).rename(columns=str).reset_index(drop=True)
    if len(frame) != n_states or not len(frame.columns):
        faults.add(
            f"{len(frame):,} rows and {len(frame.columns)} columns for {n_states:,} states",
            "give one row per state and one column per state variable",
            column="states",
        )
        return (number[0],), number[1]
    variables, codes = [], []
    for name in frame.columns:
        variable, [code_S] = encode(name, [frame[name]])
        rows = np.flatnonzero(code_S < 0)
        faults.add_rows(rows, lambda i: "empty or infinite", "give a value", column=name)
        variables.append(variable)
        codes.append(code_S)
    code_SV = np.stack(codes, axis=1)
    _, first_S, count = np.unique(
        RowKeys([len(v) for v in variables], code_SV)(code_SV),
        return_inverse=True,
        return_counts=True,
    )
    rows = np.flatnonzero(count[first_S] > 1)
    remedy = "add a variable that tells them apart"
    faults.add_rows(rows, lambda i: "another state has the same values", remedy, column="states")
    return tuple(variables), code_SV


def named_actions(actions: Sequence[Any] | None, n_actions: int) -> Axis:
    """The axis of actions with these names or values; their numbers by default."""
    if actions is None:
        return Axis(("action",), np.arange(n_actions))
    if len(actions) != n_actions:
        raise InputError(f"actions: {len(actions)} names for {n_actions} actions; give one each")
    if all(isinstance(a, int | float | np.number) and not isinstance(a, bool) for a in actions):
        axis = Axis(("action",), np.asarray(actions, float))
    else:
        axis = Axis(("action",), np.arange(n_actions), labels=tuple(str(a) for a in actions))
    action_names(axis)
    return axis
