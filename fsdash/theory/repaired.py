"""The regret bound of FSVI that its proof supports, without an unstated condition.

`fsvi_regret` is the paper's theorem as stated. Its proof compares with a policy that uses the
optimal lower level, so it assumes that the frozen dynamics are no more sensitive than the true ones
(L̃ <= L_f; see the notes of `fsvi_regret`). Without this assumption,

    regret <= (ε_r + γ φ(L̃) + γ^T L_U d)/(1-γ^T)  +  2 r_max γ^{(k+1)T} / ((1-γ)(1-γ^T)),

where φ(L̃) is the freeze error with L̃, the Lipschitz constant of the frozen map (x, f_Y), in place
of L_f. This holds for every L̃. Where L̃ <= L_f it is also the smaller of the two bounds, because
the paper's first two terms have a factor 2/(1-γ^T) that is not needed.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import (
    FsviRegret,
    horizons,
    iteration_term,
    reward_error,
    transition_distance,
)
from fsdash.theory.parameters import Constants, as_scalar, nonnegative, one_minus_power, quiet


@quiet
def repaired_regret(
    constants: Constants, T: ArrayLike, *, k: ArrayLike, l_frozen: float | None = None
) -> FsviRegret:
    """Bound the regret of FSVI after k iterations, without the condition L̃ <= L_f.

    Parameters
    ----------
    constants
        The constants of the model.
    T
        Periods in a block, at least 1. T = 1 is Base VI.
    k
        Iterations of the upper level, at least 0.
    l_frozen
        L̃, the Lipschitz constant of the frozen dynamics; L_f if None.

    Returns
    -------
    FsviRegret
        The terms of the bound, like those of `fsvi_regret`.

    Examples
    --------
    >>> from fsdash.theory import preset, repaired_regret
    >>> repaired_regret(preset("three-regimes").constants, 16, k=3)
    FsviRegret
      reward_term      5.99559
      transition_term  0.358232
      iteration_term   0.289437
      total            6.64326
    """
    l_frozen = constants.l_f if l_frozen is None else nonnegative("l_frozen", l_frozen)
    iteration = iteration_term(constants, T, k=k)
    gamma, horizon, error = constants.gamma, horizons(T), reward_error(constants, T)
    if l_frozen == constants.l_f:
        frozen = error
    else:
        frozen = reward_error(replace(constants, l_f=l_frozen), T)
    complement = one_minus_power(gamma, horizon)
    reward_term = (error.total + gamma * frozen.freeze) / complement
    distance = transition_distance(constants, T)
    transition_term = np.power(gamma, horizon) * constants.l_u * distance / complement
    return FsviRegret(as_scalar(reward_term), as_scalar(transition_term), iteration)
