"""The regret bound of FSVI that its proof supports, without an unstated condition.

`fsvi_bound` is the theorem as stated in the arXiv text. Its proof compares with a policy that uses
the optimal lower level, so it assumes that the frozen dynamics are no more sensitive than the true
ones (L̃ <= L_f; see the notes of `fsvi_bound`), as in the three domains. Without this assumption
(proof: docs/proofs.md),

    regret <= (ε_r + γ φ(L̃) + γ^T L_U d)/(1-γ^T)  +  2 r_max γ^{(k+1)T} / ((1-γ)(1-γ^T)),

where φ(L̃) is the freeze error with L̃, the Lipschitz constant of the frozen map (x, ỹ'), in place of
L_f. Where L̃ <= L_f it is also the smaller of the two bounds, because the paper's first two terms
have a factor 2/(1-γ^T) that is not needed.

In the paper the frozen map is f_Y itself. In a model with another one, such as the inventory, the
frozen step misses the true one by up to η = max ‖(x', y') - (x, ỹ')‖ instead of α·d_Y, and moves y
by up to d̃_Y. ε_r and φ then have η in place of α·d_Y, and α·d_Y + d_Y + d̃_Y in place of (α+2)·d_Y.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import (
    FsviRegret,
    distance_term,
    horizons,
    iteration_term,
    reward_error_terms,
)
from fsdash.theory.parameters import (
    Constants,
    as_scalar,
    frozen_lipschitz,
    frozen_steps,
    one_minus_power,
    quiet,
)


@quiet
def repaired_bound(
    constants: Constants,
    T: ArrayLike,
    *,
    k: ArrayLike,
    l_frozen: float | None = None,
    n_slow: int = 2,
) -> FsviRegret:
    """Bound the regret of FSVI after k iterations, without the condition L̃ <= L_f.

    It assumes that every action is feasible in every state, 0 <= r <= r_max, that the lower level
    ends with J_T = 0, and that V^0 is constant or within [0, r_max/(1-γ)].

    Parameters
    ----------
    constants
        The constants of the model; with η and d̃_Y if its frozen map is not f_Y, as from `measure`.
    T
        Periods in a block, at least 1. T = 1 is Base VI.
    k
        Iterations of the upper level, at least 0.
    l_frozen
        L̃, the Lipschitz constant of the frozen dynamics. If None, that of the constants; if they
        have none, √(1 + L_f²), which holds if the frozen map is f_Y and the noise is common
        (1 + L_f for Wasserstein constants).
    n_slow
        Number of slow states. With one, nothing is frozen, and L̃ is L_f if `l_frozen` is None.
        With more, L̃ >= 1.

    Returns
    -------
    FsviRegret
        The terms of the bound, like those of `fsvi_bound`.

    Examples
    --------
    >>> from fsdash.theory import preset, repaired_bound
    >>> repaired_bound(preset("three-regimes").constants, 16, k=3, l_frozen=1.2)
    FsviRegret
      reward_term      5.99559
      transition_term  0.358232
      iteration_term   0.289437
      total            6.64326
    """
    l_frozen = frozen_lipschitz(constants, l_frozen, n_slow)
    iteration = iteration_term(constants, T, k=k)
    reward_term, transition_term = repaired_floor(constants, horizons(T), l_frozen)
    return FsviRegret(as_scalar(reward_term), as_scalar(transition_term), iteration)


def repaired_floor(
    constants: Constants, T: np.ndarray, l_frozen: float
) -> tuple[np.ndarray, np.ndarray]:
    """(ε_r + γ φ(L̃))/(1-q) and q L_U d/(1-q): what FSVI and FSAVI share, for checked arguments."""
    gamma = constants.gamma
    steps = frozen_steps(constants)
    error = sum(reward_error_terms(constants, T, *steps))
    freeze, _ = reward_error_terms(replace(constants, l_f=l_frozen), T, *steps)
    complement = one_minus_power(gamma, T)
    distance = np.power(gamma, T) * constants.l_u * distance_term(constants, T)
    return (error + gamma * freeze) / complement, distance / complement
