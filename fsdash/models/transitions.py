"""A model from a table of transitions: one row for each state, action and next state.

    regime  stock  action  next_regime  next_stock  p     reward
    low     0      wait    low          0           0.9   0
    low     0      wait    high         0           0.1   0
    …

State variables are the columns that occur twice: x and next_x. An action without rows is infeasible
in that state. The reward of a pair is the average over its rows, weighted by p. Rows may be in any
order; the model is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.models.assemble import assemble, choose_split, split_size
from fsdash.models.columns import Names, ReadOptions
from fsdash.models.faults import Faults
from fsdash.models.reading import read_table


def from_transitions(
    frame: pd.DataFrame,
    *,
    slow: Names,
    gamma: float,
    fast: Names = None,
    action: str = "action",
    next_prefix: str | Mapping[str, str] = "next_",
    probability: str | None = "p",
    reward: str = "reward",
    terminal: Any = None,
    initial: Any = None,
    sense: str = "max",
    normalize: bool = False,
    name: str = "model",
) -> FastSlowMDP:
    """Build a model from a table with one row for each state, action and next state.

    Parameters
    ----------
    frame : pd.DataFrame
        The table. Values of states and actions are numbers or words.
    slow : str or sequence of str or None
        The slow state variables; an empty list for a single slow state, None to let `suggest_slow`
        choose.
    gamma : float
        Discount factor, 0 ≤ γ < 1.
    fast : str or sequence of str, optional
        The fast state variables; all others by default.
    action : str
        Column of the action.
    next_prefix : str or mapping of str to str
        What the columns of next values have in front, or the column of the next value by variable.
    probability : str or None
        Column of the probability; None if every transition is certain.
    reward : str
        Column of the reward r(s, a, s′), or of the cost if `sense` is "min". Minus infinity (plus
        infinity for costs) makes the action infeasible.
    terminal : optional
        Terminal states: a mapping of variables to values such as {"status": "done"}, a tuple, a
        frame of states, the name of a column that is true where the next state is terminal,
        "missing" for all next states without rows of their own, or a list of these. A terminal
        state stays where it is with reward 0.
    initial : optional
        Initial distribution: the name of a column with the initial probability of the row's state,
        a mapping of states to probabilities, one state, or a frame of states with one more column.
        Uniform by default.
    sense : {"max", "min"}
        "min" if the rewards are costs.
    normalize : bool
        Rescale probabilities whose sum differs from 1 by at most 0.001, and the initial
        distribution.
    name : str
        Name for displays.

    Returns
    -------
    FastSlowMDP
        The model. `DataFaults` is raised if the table has errors, with all of them in its `frame`.

    Examples
    --------
    >>> import pandas as pd
    >>> import fsdash
    >>> rows = [
    ...     ("low", 0, "wait", "low", 0, 0.9, 0),
    ...     ("low", 0, "wait", "high", 0, 0.1, 0),
    ...     ("low", 0, "order", "low", 1, 1.0, -2),
    ...     ("low", 1, "wait", "low", 0, 1.0, 3),
    ...     ("high", 0, "order", "high", 1, 1.0, -2),
    ...     ("high", 1, "wait", "high", 0, 0.8, 5),
    ...     ("high", 1, "wait", "low", 0, 0.2, 5),
    ... ]
    >>> names = ["regime", "stock", "action", "next_regime", "next_stock", "p", "reward"]
    >>> model = fsdash.from_transitions(pd.DataFrame(rows, columns=names), slow="regime", gamma=0.9)
    >>> model.slow.names, model.fast.names, model.n_pairs
    (('regime',), ('stock',), 5)
    >>> policy = fsdash.Policy(model, fsdash.optimum(model))
    >>> policy({"regime": "high", "stock": 0}, period=0)
    'order'
    """
    options = ReadOptions(
        slow=slow,
        fast=fast,
        action=action,
        next_prefix=next_prefix,
        probability=probability,
        reward=reward,
        gamma=gamma,
        terminal=terminal,
        initial=initial,
        sense=sense,
        normalize=normalize,
        name=name,
    )
    faults, split = _read(frame, options)
    faults.raise_errors()
    assert split is not None
    return assemble(*split)


def check_transitions(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Check a table of transitions without building a model.

    Parameters
    ----------
    frame : pd.DataFrame
        The table.
    **options
        Arguments of `from_transitions`. Without `gamma`, the discount factor is not checked;
        without `slow`, the suggested split is used for the predicted memory and time.

    Returns
    -------
    pd.DataFrame
        One row per fault, with the columns `row` (from 1, without the header), `column`, `problem`,
        `remedy`, `severity` ("error", "warning" or "note") and `count` (faults of the line).

    Examples
    --------
    >>> import pandas as pd
    >>> import fsdash
    >>> frame = pd.DataFrame(
    ...     {"s": [0, 1], "action": ["a", "a"], "next_s": [1, 0], "p": [1, "x"], "reward": 1}
    ... )
    >>> faults = fsdash.models.check_transitions(frame)
    >>> print(faults[["row", "column", "problem"]].to_string(index=False))
    row column               problem
      2      p 'x' is not a number
    """
    return _read(frame, ReadOptions(**options))[0].frame


def _read(frame: pd.DataFrame, options: ReadOptions) -> tuple[Faults, Any]:
    """All faults, and if none is an error, the table with its slow and fast variables."""
    faults = Faults()
    table = read_table(faults, frame, options)
    if table is None:
        return faults, None
    split = choose_split(table, options.slow, options.fast)
    split_size(*split[:2]).check(faults)
    return faults, split
