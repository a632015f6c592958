"""The regret bound of rolling freeze from constants.

Rolling freeze plays π̃_n, the policy with n frozen periods to go, in every period
(`fsdash.algorithms.rolling`). With J_0 = 0, L̃ the Lipschitz constant of the frozen map (x, ỹ') and
η >= W₁ between the next state (x', y') and the frozen one (x, ỹ'),

    regret <= γⁿ r_max/(1-γ)  +  2γ η Λ_{n-1}/(1-γ),        Λ_m = L_r Σ_{i<m} (γ L̃)^i.

The first term is what n periods do not see. It falls with n, and a model attains it. The second is
what one move of x changes in the plan. It grows with n, so the bound is not monotone in n.
docs/proofs.md, section 6, has the proof.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsdash.theory.bounds import Terms, trivial_bound
from fsdash.theory.parameters import (
    LARGEST_T,
    Constants,
    Sizes,
    Values,
    as_scalar,
    discounted_geometric_sum,
    frozen_lipschitz,
    frozen_steps,
    product,
    quiet,
    whole_numbers,
)


@dataclass(frozen=True, eq=False, repr=False)
class RollingRegret(Terms):
    """The two terms of the bound: what n periods do not see, and what the drift of x changes."""

    horizon_term: Values
    freeze_term: Values

    @property
    def total(self) -> Values:
        return self.horizon_term + self.freeze_term


@quiet
def rolling_bound(
    constants: Constants, n: ArrayLike, *, l_frozen: float | None = None, n_slow: int = 2
) -> RollingRegret:
    """Bound the regret of rolling freeze with a horizon of n frozen periods.

    It assumes that every action is feasible in every state, 0 <= r <= r_max, and J_0 = 0.

    Parameters
    ----------
    constants
        The constants of the model; α, d_Y and L_U are not used if η is given.
    n
        Frozen periods to go, at least 1; a number or an array.
    l_frozen, n_slow
        L̃ and the number of slow states, as in `repaired_bound`.

    Returns
    -------
    RollingRegret
        `horizon_term`, `freeze_term` and their sum `total`, in the shape of n.

    Examples
    --------
    >>> from fsdash.theory import preset, rolling_bound
    >>> rolling_bound(preset("three-regimes").constants, 16, l_frozen=1.05)
    RollingRegret
      horizon_term  18.5302
      freeze_term   4.67973
      total         23.2099
    """
    c, periods = constants, whole_numbers("n", n, 1, LARGEST_T)
    ratio = c.gamma * frozen_lipschitz(c, l_frozen, n_slow)
    eta, _ = frozen_steps(c)
    geometric = discounted_geometric_sum(1.0, ratio, periods - 1)
    freeze = product(2 * c.gamma * eta * c.l_r / (1 - c.gamma), geometric)
    horizon = np.power(c.gamma, periods) * trivial_bound(c)
    return RollingRegret(as_scalar(horizon), as_scalar(freeze))


def rolling_cost(sizes: Sizes, n: ArrayLike) -> Values:
    """The cost of rolling freeze: n sweeps of backward induction with x frozen, |X||Y|²|A| each.

    Examples
    --------
    >>> from fsdash.theory import Sizes
    >>> from fsdash.theory.rolling import rolling_cost
    >>> rolling_cost(Sizes(n_slow=2, n_fast=3, n_actions=4), 6)
    432.0
    """
    frozen_sweep = float(sizes.n_slow * sizes.n_fast**2 * sizes.n_actions)
    return as_scalar(frozen_sweep * whole_numbers("n", n, 1, LARGEST_T))
