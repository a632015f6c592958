"""The regret bound of FSAVI, which is FSVI with a linear architecture.

The theorem is in Appendix "Value Function Approximation with a Linear Architecture".
"""

from dataclasses import dataclass

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
    geometric_sum,
    nonnegative,
    one_minus_power,
    one_minus_product,
    quiet,
)


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
def fsavi_regret(
    constants: Constants,
    T: ArrayLike,
    *,
    k: ArrayLike,
    kappa: float,
    eps_low: float,
    eps_up: float,
    corrected: bool = True,
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
    corrected
        Whether to use the factors of the proof rather than those of the stated theorem.

    Returns
    -------
    FsaviRegret
        The five terms and their sum `total`.

    Notes
    -----
    With A = 1 + (1+γ)/γ Σ_{i=1}^{T-1} (κγ)^i (Lemma "lower_w_bellman" at t = 1),
    B = (1+κ)/(1-κγ^T) and C = κ² (1-(κγ)^{T+1}) / ((1-κγ^T)(1-κγ)), the theorem states

        2/(1-q)² (ε_r + A ε_low) + 2q/(1-q)² L_U d + B ε_up + (κγ^T)^k C r_max.

    Its proof applies the general lemma to ε_r + γ A ε_low and to the value error
    B ε_up + (κγ^T)^k C r_max. `corrected` therefore changes two things:

    - The last two terms get the lemma's factor 2q/(1-q). It is above 1 if and only if γ^T > 1/3;
      there the stated bound is smaller than the proved one, so it is unproved.
    - A ε_low gets the factor γ of the proof, because R̃ uses J_1 one step later. This makes the
      bound tighter.

    Both versions rest on the general lemma, with the condition in the notes of `fsvi_regret`. The
    rest agrees with the proofs. The closed form in Lemma "lower_w_bellman" has (κγ)^T for every t
    where it should have (κγ)^{T-t+1}; only t = 1 is used, where the two are equal. C has one power
    of κγ and one κ more than needed, because Ĵ_1 takes T-1 steps from 0 and not T. It is loose but
    valid, and the reason why κ = 1 without fitting errors gives FSVI's bound with an iteration
    term that is (1-γ^{T+1})/(1-γ^T) times as large.

    Examples
    --------
    >>> from fsdash.theory import fsavi_regret, preset
    >>> c = preset("three-regimes").constants
    >>> fsavi_regret(c, 16, k=3, kappa=1.01, eps_low=0.1, eps_up=0.1)
    FsaviRegret
      reward_term      8.20619
      lower_fit_term   4.62309
      transition_term  0.879422
      upper_fit_term   0.112487
      iteration_term   0.330029
      total            14.1512
    """
    horizon, iteration = horizons(T), iterations(k)
    gamma = constants.gamma
    kappa, gap = _amplification(gamma, kappa)
    eps_low, eps_up = nonnegative("eps_low", eps_low), nonnegative("eps_up", eps_up)

    lower_fit = (1 + (1 + gamma) * kappa * geometric_sum(horizon - 1, gap)) * eps_low
    upper_gap = one_minus_product(one_minus_power(gamma, horizon), np.power(gamma, horizon), kappa)
    upper_fit = (1 + kappa) / upper_gap * eps_up
    initial_error = np.power(kappa * np.power(gamma, horizon), iteration) * (
        kappa**2 * geometric_sum(horizon + 1, gap) / upper_gap * constants.r_max
    )
    if corrected:
        lower_fit = gamma * lower_fit

    def lemma(reward_error: Values, distance: Values, value_error: Values):
        return lemma_terms(gamma, horizon, reward_error, constants.l_u, distance, value_error)

    reward_term, transition_term, _ = lemma(
        sum(reward_error_terms(constants, horizon)), distance_term(constants, horizon), 0.0
    )
    lower_fit_term = lemma(lower_fit, 0.0, 0.0)[0]
    if corrected:
        upper_fit = lemma(0.0, 0.0, upper_fit)[2]
        initial_error = lemma(0.0, 0.0, initial_error)[2]
    terms = (reward_term, lower_fit_term, transition_term, upper_fit, initial_error)
    return FsaviRegret(*(as_scalar(term) for term in terms))


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
