"""Every bound and cost on a grid of T and k, for export."""

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import fsvi_regret, reward_error, trivial_bound, vi_regret
from fsdash.theory.costs import fsvi_cost, vi_cost
from fsdash.theory.parameters import LARGEST_K, LARGEST_T, Constants, Sizes, whole_numbers


def bounds_table(
    constants: Constants, sizes: Sizes, T: ArrayLike, k: ArrayLike
) -> dict[str, np.ndarray]:
    """Columns of shape (len(T), len(k)): ravel them for records with k running fastest.

    They are read-only views of what was computed: what does not depend on k is held once per T.
    """
    T = whole_numbers("T", T, 1, LARGEST_T).reshape(-1, 1)
    k = whole_numbers("k", k, 0, LARGEST_K).reshape(1, -1)
    error = reward_error(constants, T)
    regret = fsvi_regret(constants, T, k)
    columns = {
        "T": T,
        "k": k,
        "freeze_error": error.freeze,
        "end_of_horizon_error": error.end_of_horizon,
        "reward_error": error.total,
        "reward_term": regret.reward_term,
        "transition_term": regret.transition_term,
        "iteration_term": regret.iteration_term,
        "fsvi_regret": regret.total,
        "vi_regret": vi_regret(constants, k),
        "trivial_bound": trivial_bound(constants),
        "fsvi_cost": fsvi_cost(sizes, T, k),
        "vi_cost": vi_cost(sizes, k),
    }
    shape = (T.size, k.size)
    return {name: np.broadcast_to(column, shape) for name, column in columns.items()}
