"""The regret bound of FSVI that its proof supports, with no condition left out.

`fsvi_regret` is the paper's theorem as stated. Its proof compares with a policy that plays the
optimal lower level, so it takes for granted that the frozen dynamics are no more sensitive than the
true ones (L̃ <= L_f; the docstring of `fsvi_regret` has the argument). Closing that gap gives

    regret <= (ε_r + γ φ(L̃) + γ^T L_U d)/(1-γ^T)  +  2 r_max γ^{(k+1)T} / ((1-γ)(1-γ^T)),

where φ(L̃) is the freeze error with L̃, the Lipschitz constant of the frozen map (x, f_Y), in the
place of L_f. This holds for every L̃. Where L̃ <= L_f it is also the smaller of the two bounds: the
paper's first two terms carry a factor 2/(1-γ^T) that is not needed.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import FsviRegret, iteration_term, reward_error, transition_distance
from fsdash.theory.parameters import Constants, as_scalar, nonnegative


def repaired_regret(
    constants: Constants, T: ArrayLike, k: ArrayLike, l_frozen: float | None = None
) -> FsviRegret:
    """The terms of the repaired bound; `l_frozen` is L̃, by default L_f. T = 1 is Base VI."""
    l_frozen = constants.l_f if l_frozen is None else nonnegative("l_frozen", l_frozen)
    iteration = iteration_term(constants, T, k)  # the theorem's; it checks T and k
    gamma, T, error = constants.gamma, np.asarray(T), reward_error(constants, T)
    same = l_frozen == constants.l_f
    phi = (error if same else reward_error(replace(constants, l_f=l_frozen), T)).freeze
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        rest = -np.expm1(T * np.log(gamma))  # 1 - γ^T, with all of its digits as γ → 1
        reward_term = (error.total + gamma * phi) / rest
        distance = transition_distance(constants, T)
        transition_term = np.power(gamma, T) * constants.l_u * distance / rest
    return FsviRegret(as_scalar(reward_term), as_scalar(transition_term), iteration)
