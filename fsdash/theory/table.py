"""Every bound and cost on a grid of T and k. `fsdash bounds` prints this table."""

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import fsvi_bound, reward_error, trivial_bound, vi_bound
from fsdash.theory.budget import Bound
from fsdash.theory.parameters import (
    LARGEST_K,
    LARGEST_T,
    Constants,
    Sizes,
    fsvi_cost,
    vi_cost,
    whole_numbers,
)
from fsdash.theory.rolling import rolling_bound, rolling_cost


def bounds_table(
    constants: Constants,
    sizes: Sizes,
    *,
    T: ArrayLike,
    k: ArrayLike,
    bound: Bound = fsvi_bound,
) -> dict[str, np.ndarray]:
    """Compute every bound and cost for each pair of T and k.

    Parameters
    ----------
    constants, sizes
        The constants and sizes of the model.
    T, k
        Horizons and numbers of iterations.
    bound
        The bound of FSVI in the columns `reward_term` to `fsvi_bound`, by default the paper's as
        stated. `functools.partial(repaired_bound, n_slow=sizes.n_slow)` is the repaired one. The
        column `rolling_bound` uses L̃ and η of the constants.

    Returns
    -------
    dict
        `rolling_bound` and `rolling_cost` are those of rolling freeze with a horizon of n = T.
        Columns of shape (len(T), len(k)). Flattened, they are records in which k varies fastest.
        They are read-only views: a column that does not depend on k is stored once per T.

    Examples
    --------
    >>> from fsdash.theory import bounds_table, preset
    >>> p = preset("three-regimes")
    >>> table = bounds_table(p.constants, p.sizes, T=[2, 16], k=[1, 10, 100])
    >>> list(table)[:5]
    ['T', 'k', 'freeze_error', 'end_of_horizon_error', 'reward_error']
    >>> table["fsvi_bound"].round(1)
    array([[700.1, 113.1,   9.4],
           [ 17.5,   9.1,   9.1]])
    """
    T_column = whole_numbers("T", T, 1, LARGEST_T).reshape(-1, 1)
    k_row = whole_numbers("k", k, 0, LARGEST_K).reshape(1, -1)
    error = reward_error(constants, T_column)
    regret = bound(constants, T_column, k=k_row)
    columns = {
        "T": T_column,
        "k": k_row,
        "freeze_error": error.freeze,
        "end_of_horizon_error": error.end_of_horizon,
        "reward_error": error.total,
        "reward_term": regret.reward_term,
        "transition_term": regret.transition_term,
        "iteration_term": regret.iteration_term,
        "fsvi_bound": regret.total,
        "vi_bound": vi_bound(constants, k_row),
        "rolling_bound": rolling_bound(constants, T_column, n_slow=sizes.n_slow).total,
        "trivial_bound": trivial_bound(constants),
        "fsvi_cost": fsvi_cost(sizes, T_column, k=k_row),
        "vi_cost": vi_cost(sizes, k_row),
        "rolling_cost": rolling_cost(sizes, T_column),
    }
    shape = (T_column.size, k_row.size)
    return {name: np.broadcast_to(column, shape) for name, column in columns.items()}
