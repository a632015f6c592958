"""The regret bound of FSAVI, which is FSVI with a linear architecture.

The theorem is in Appendix "Value Function Approximation with a Linear Architecture". It does not
hold as stated in the arXiv text, nor if only the factor 2q/(1-q) of the general lemma is added to
its value errors (tests/theory/test_fsavi_proven.py). It holds if L̃ <= L_f, ε_low = 0 and
γ^T <= 1/3. In general two things have to be added: the gap that `repaired_bound` closes, and the
loss of a lower policy that is greedy for the fitted Ĵ instead of J*. With both,

    regret <= [ε_r + γ φ(L̃) + q L_U d + 2(1+κ) ε_low Σ_{m=1}^{T-1} γ^m Σ_{i<m} κ^i] / (1-q)
              + 2q/(1-q) [(1+κ)/(1-κq) ε_up + (κq)^k C r_max],        q = γ^T,
              C = κ² (1-(κγ)^{T+1}) / ((1-κq)(1-κγ)).

docs/proofs.md has the proof, and a model on which the term with ε_low is attained as T → ∞. The
algorithms, the experiments and the qualitative conclusions of the paper do not depend on it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.theory.bounds import (
    Terms,
    distance_term,
    horizons,
    iterations,
    lemma_terms,
    reward_error_terms,
)
from fsdash.theory.parameters import (
    Constants,
    Values,
    as_scalar,
    discounted_geometric_sum,
    frozen_lipschitz,
    geometric_sum,
    nonnegative,
    one_minus_power,
    one_minus_product,
    product,
    quiet,
)
from fsdash.theory.repaired import repaired_floor

PROVEN: Literal["proven"] = "proven"
STATED: Literal["stated"] = "stated"
BOUNDS = (PROVEN, STATED)


@dataclass(frozen=True, eq=False, repr=False)
class FsaviRegret(Terms):
    """The terms of FSVI and two more, for the fit of the lower and of the upper level."""

    reward_term: Values
    lower_fit_term: Values
    transition_term: Values
    upper_fit_term: Values
    iteration_term: Values

    @property
    def total(self) -> Values:
        return (
            self.reward_term
            + self.lower_fit_term
            + self.transition_term
            + self.upper_fit_term
            + self.iteration_term
        )


@quiet
def fsavi_bound(
    constants: Constants,
    T: ArrayLike,
    *,
    k: ArrayLike,
    kappa: float,
    eps_low: float,
    eps_up: float,
    bound: Literal["proven", "stated"] = PROVEN,
    l_frozen: float | None = None,
    n_slow: int = 2,
) -> FsaviRegret:
    """Bound the regret of FSAVI after k iterations.

    Parameters
    ----------
    constants
        The constants of the model.
    T
        Periods in a block, at least 1.
    k
        Iterations of the upper level, at least 0. T and k can be arrays that broadcast.
    kappa
        κ = γ'/γ >= 1, the factor by which the features amplify an error; κγ < 1 is required.
    eps_low, eps_up
        How well the features can fit the values of the lower and of the upper level.
    bound
        "proven" (docs/proofs.md), or "stated" for the formula of the theorem in the arXiv text,
        which does not hold in general.
    l_frozen, n_slow
        L̃ and the number of slow states, as in `repaired_bound`; the stated bound ignores them.

    Returns
    -------
    FsaviRegret
        The five terms and their sum `total`.

    Notes
    -----
    With A = 1 + (1+γ)/γ Σ_{i=1}^{T-1} (κγ)^i and B = (1+κ)/(1-κq), the paper states

        2/(1-q)² (ε_r + A ε_low) + 2q/(1-q)² L_U d + B ε_up + (κq)^k C r_max.

    C has one power of κγ and one κ more than needed, because Ĵ_1 takes T-1 steps from 0 and not T.
    It is valid; for κ = 1 without fitting errors the proven bound is that of `repaired_bound` with
    an iteration term that is (1-γ^{T+1})/(1-γ^T) times as large.

    Examples
    --------
    >>> from fsdash.theory import fsavi_bound, preset
    >>> c = preset("three-regimes").constants
    >>> fsavi_bound(c, 16, k=3, kappa=1.01, eps_low=0.1, eps_up=0.1, l_frozen=1.2)
    FsaviRegret
      reward_term      5.99559
      lower_fit_term   22.418
      transition_term  0.358232
      upper_fit_term   0.112487
      iteration_term   0.330029
      total            29.2143
    """
    if bound not in BOUNDS:
        raise InputError(f"bound = {bound!r} is unknown; choose 'proven' or 'stated'.")
    horizon, iteration = horizons(T), iterations(k)
    gamma = constants.gamma
    kappa, gap = _amplification(gamma, kappa)
    eps_low, eps_up = nonnegative("eps_low", eps_low), nonnegative("eps_up", eps_up)
    l_frozen = frozen_lipschitz(constants, l_frozen, n_slow)

    q = np.power(gamma, horizon)
    upper_gap = one_minus_product(one_minus_power(gamma, horizon), q, kappa)
    upper_fit = (1 + kappa) / upper_gap * eps_up
    initial_error = np.power(kappa * q, iteration) * (
        kappa**2 * geometric_sum(horizon + 1, gap) / upper_gap * constants.r_max
    )
    if bound == STATED:
        reward_term, transition_term, _ = lemma_terms(
            gamma,
            horizon,
            sum(reward_error_terms(constants, horizon)),
            constants.l_u,
            distance_term(constants, horizon),
            0.0,
        )
        lower_fit = (1 + (1 + gamma) * kappa * geometric_sum(horizon - 1, gap)) * eps_low
        lower_fit_term = 2 / one_minus_power(gamma, horizon) ** 2 * lower_fit
    else:
        reward_term, transition_term = repaired_floor(constants, horizon, l_frozen)
        loss = _greedy_loss(gamma, kappa, horizon) * eps_low
        lower_fit_term = loss / one_minus_power(gamma, horizon)
        factor = 2 * q / one_minus_power(gamma, horizon)
        upper_fit, initial_error = product(factor, upper_fit), product(factor, initial_error)
    terms = (reward_term, lower_fit_term, transition_term, upper_fit, initial_error)
    return FsaviRegret(*(as_scalar(term) for term in terms))


def _greedy_loss(gamma: float, kappa: float, T: np.ndarray) -> np.ndarray:
    """2(1+κ) Σ_{m=1}^{T-1} γ^m Σ_{i<m} κ^i, the loss over a block for a fitting error of 1."""
    m = np.arange(1, max(int(T.max(initial=1)), 2))
    sums = np.concatenate(([0.0], np.cumsum(discounted_geometric_sum(gamma, kappa, m))))
    return 2 * (1 + kappa) * sums[T - 1]


def _amplification(gamma: float, kappa: float) -> tuple[float, float]:
    """κ and 1 - κγ, both checked."""
    kappa = nonnegative("kappa", kappa)
    if kappa < 1:
        raise InputError(f"kappa = {kappa} is below 1; give kappa >= 1.")
    gap = float(one_minus_product(1 - gamma, gamma, kappa))
    if gap <= 0:
        raise InputError(
            f"kappa = {kappa} makes kappa*gamma = {kappa * gamma:.6g} >= 1, so FSAVI may diverge;"
            f" give a kappa below 1/gamma = {1 / gamma:.6g} or a smaller gamma."
        )
    return kappa, gap
