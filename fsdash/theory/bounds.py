"""The paper's regret bounds, stable over the whole range of their constants.

Write q = γ^T. The coefficients of the general lemma collapse,

    2q/(1-q)² + 2/(1-q) = 2/(1-q)²      and      2q²/(1-q)² + 2q/(1-q) = 2q/(1-q)²,

so that the lemma (Section "A General Lemma") reads

    regret <= 2/(1-q)² ε_r + 2q/(1-q)² L_U d + 2q/(1-q) ‖V* - V‖,      d = 2 d_Y (α+1)(T-1),

and every bound below is the lemma with its three inputs filled in:

    FSVI    ε_r of Proposition "Reward Approximation Error",   ‖V* - V^k‖ <= γ^{kT} r_max/(1-γ)
    Base VI FSVI with T = 1, where nothing is frozen: ε_r = d = 0
    FSAVI   both inputs enlarged by the errors of a linear architecture

Arguments T and k are numbers or arrays that broadcast; results are floats or arrays alike. What
overflows is +inf, never NaN, and nothing warns.

Three numerical points. 1-γ^T is -expm1(T log γ), which keeps its digits as γ → 1. The product
γ^n Σ_{j<n} L_f^j takes one exponential of n log(γ L_f), for its factors may be 0 and inf. The outer
sum of the freeze error is a cumulative sum: it has two closed forms, but one cancels as γ → 1 and
the other as L_f → 1, while adding positive terms loses nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsdash.errors import InputError
from fsdash.theory.parameters import (
    LARGEST_K,
    LARGEST_T,
    Constants,
    as_scalar,
    discount,
    nonnegative,
    whole_numbers,
)

Values = float | np.ndarray

_quiet = np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")


# Arrays have no single truth value, so the results below compare by identity (eq=False).
@dataclass(frozen=True, eq=False)
class RewardError:
    """ε_r, the bound of Proposition "Reward Approximation Error"."""

    freeze: Values
    end_of_horizon: Values

    @property
    def total(self) -> Values:
        return self.freeze + self.end_of_horizon


@dataclass(frozen=True, eq=False)
class LemmaRegret:
    """The three terms of the general lemma."""

    reward_term: Values
    transition_term: Values
    value_term: Values

    @property
    def total(self) -> Values:
        return self.reward_term + self.transition_term + self.value_term


@dataclass(frozen=True, eq=False)
class FsviRegret:
    """The three terms of the regret theorem of FSVI; only the last one depends on k."""

    reward_term: Values
    transition_term: Values
    iteration_term: Values

    @property
    def floor(self) -> Values:
        """What no number of iterations removes: the limit k → ∞."""
        return self.reward_term + self.transition_term

    @property
    def total(self) -> Values:
        return self.floor + self.iteration_term


@dataclass(frozen=True, eq=False)
class FsaviRegret:
    """FSVI's terms and two more: how badly the features fit the lower and the upper level."""

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


@_quiet
def reward_error(constants: Constants, T: ArrayLike) -> RewardError:
    """Proposition "Reward Approximation Error": how far the frozen T-step reward can be off.

    freeze          α d_Y L_r Σ_{i=1}^{T-2} γ^i Σ_{j<i} L_f^j
    end_of_horizon  γ^{T-1} L_U [α d_Y Σ_{j<T-1} L_f^j + γ d_Y (α+2)(T-1)]

    Both are 0 at T = 1, and T = 2 has no freeze error yet. As T grows, the freeze error stays
    bounded and the end-of-horizon error vanishes exactly when γ L_f < 1.
    """
    T = _horizons(T)
    freeze, end_of_horizon = _reward_error(constants, T)
    return RewardError(as_scalar(freeze), as_scalar(end_of_horizon))


def transition_distance(constants: Constants, T: ArrayLike) -> Values:
    """d(α, d_Y, T) = 2 d_Y (α+1)(T-1): how far apart two lower-level policies can end."""
    return as_scalar(_distance(constants, _horizons(T)))


@_quiet
def lemma_regret(
    gamma: float,
    T: ArrayLike,
    reward_error: ArrayLike,
    l_u: float,
    distance: ArrayLike,
    value_error: ArrayLike,
) -> LemmaRegret:
    """The general lemma as stated: from a reward error, transition distance and value error.

    As stated it needs J_1 to be (close to) the value of π under the true dynamics, see
    `fsvi_regret`: for a π that J_1 says nothing about, the regret can be anything.

    `reward_error` is ε_r(π*, J_1), `distance` is d(α, d_Y, T), `value_error` is ‖V*(J_1, π) - V‖.
    """
    terms = _lemma(
        discount("gamma", gamma),
        _horizons(T),
        _errors("reward_error", reward_error),
        nonnegative("l_u", l_u),
        _errors("distance", distance),
        _errors("value_error", value_error),
    )
    return LemmaRegret(*map(as_scalar, terms))


@_quiet
def fsvi_regret(constants: Constants, T: ArrayLike, k: ArrayLike) -> FsviRegret:
    """The theorem of Section "Regret of FSVI": the regret after k upper-level iterations.

    The iteration term is 2 r_max γ^{(k+1)T} / ((1-γ)(1-γ^T)). At T = 1 the total is `vi_regret`.

    **A condition that the paper does not state.** Its proof bounds the value of μ with the optimal
    lower level π*, while the policy plays π̃. The missing gap is between the true T-step reward of
    π̃ and R̃. Let L̃ be the Lipschitz constant of the frozen map (x, f_Y), and φ the freeze error
    with L̃ in the place of L_f; J_t* then has the Lipschitz constant L_r Σ (γL̃)^i, the gap is at
    most γφ by induction over t, and

        regret <= ‖U* - V*‖ + ‖V* - V^μ‖ + ‖V^μ - Ū^μ‖
               <= (ε_r + q L_U d)/(1-q) + 2q/(1-q) ‖V* - V^k‖ + γφ/(1-q).

    If L̃ <= L_f this is below the sum returned here, and the theorem holds. That is so whenever
    some outcome of the noise leaves x where it is, as in all three domains, for f is then the
    frozen map. (In inventory y' also moves with the thawed demand, so φ grows by up to √2; its
    bound is so loose that nothing changes.) If L̃ > L_f, which takes an L_f near or below 1 and a
    slow state that forgets where it was, the theorem can fail: tests/theory/test_counterexample.py
    has a model with a true regret of 19 and a bound of 4.9.
    """
    T, k = _horizons(T), _iterations(k)
    terms = _lemma(
        constants.gamma,
        T,
        sum(_reward_error(constants, T)),
        constants.l_u,
        _distance(constants, T),
        _value_error(constants, T, k),
    )
    return FsviRegret(*map(as_scalar, terms))


@_quiet
def iteration_term(constants: Constants, T: ArrayLike, k: ArrayLike) -> Values:
    """The only term of `fsvi_regret` that depends on k, without the work of the others."""
    T, k = _horizons(T), _iterations(k)
    return as_scalar(_lemma(constants.gamma, T, 0.0, 0.0, 0.0, _value_error(constants, T, k))[2])


def vi_regret(constants: Constants, k: ArrayLike) -> Values:
    """The proposition of Section "Regret of Base VI": 2 r_max γ^{k+1} / (1-γ)²."""
    return iteration_term(constants, 1, k)


def trivial_bound(constants: Constants) -> float:
    """r_max/(1-γ), the regret of any policy at all: a bound above it says nothing."""
    return constants.r_max / (1 - constants.gamma)


@_quiet
def value_lipschitz_bound(gamma: float, l_r: ArrayLike, l_f: ArrayLike) -> Values:
    """Appendix "Bounds on L_U": L_U <= L_r/(1 - γ L_f), and inf (no bound) where γ L_f >= 1."""
    gamma, l_r, l_f = discount("gamma", gamma), _errors("l_r", l_r), _errors("l_f", l_f)
    gap = _gap(1 - gamma, gamma, l_f)
    return as_scalar(np.where(gap > 0, l_r / np.where(gap > 0, gap, 1.0), np.inf))


@_quiet
def fsavi_regret(
    constants: Constants,
    T: ArrayLike,
    k: ArrayLike,
    kappa: float,
    eps_low: float,
    eps_up: float,
    corrected: bool = True,
) -> FsaviRegret:
    """The regret theorem of FSAVI, FSVI with a linear architecture (Appendix "Value Function
    Approximation with a Linear Architecture").

    kappa             κ = γ'/γ >= 1, how much the features amplify; κγ < 1 is required
    eps_low, eps_up   how well the features can fit the lower- and the upper-level values

    With A = 1 + (1+γ)/γ Σ_{i=1}^{T-1} (κγ)^i (Lemma "lower_w_bellman" at t = 1),
    B = (1+κ)/(1-κγ^T) and C = κ² (1-(κγ)^{T+1}) / ((1-κγ^T)(1-κγ)), the theorem states

        2/(1-q)² (ε_r + A ε_low) + 2q/(1-q)² L_U d + B ε_up + (κγ^T)^k C r_max.

    Its proof feeds the general lemma with ε_r + γ A ε_low and with the value error
    B ε_up + (κγ^T)^k C r_max. `corrected` therefore changes two things and nothing else:

    * The last two terms get the lemma's factor 2q/(1-q). It is above 1 exactly when γ^T > 1/3;
      there the stated bound is smaller than what is proved, hence unproved.
    * A ε_low gets the factor γ of the proof: R̃ sees J_1 one step later. Tighter, never needed.

    Both rest on the general lemma, with the condition in the docstring of `fsvi_regret`. The rest
    agrees with the proofs. Lemma "lower_w_bellman" writes (κγ)^T in its closed form for
    every t, where T-t+1 should stand; only t = 1 is used, where the two are the same. C counts
    one power of κγ and one κ more than needed (Ĵ_1 takes T-1 steps from 0, not T): loose but
    valid, and the reason why κ = 1 and no errors give FSVI's bound with an iteration term that is
    (1-γ^{T+1})/(1-γ^T) times as large.
    """
    T, k = _horizons(T), _iterations(k)
    gamma, kappa, gap = constants.gamma, *_amplification(constants.gamma, kappa)
    eps_low, eps_up = nonnegative("eps_low", eps_low), nonnegative("eps_up", eps_up)

    lower_fit = (1 + (1 + gamma) * kappa * _geometric(T - 1, gap)) * eps_low
    upper_gap = _gap(_complement(gamma, T), np.power(gamma, T), kappa)
    upper_fit = (1 + kappa) / upper_gap * eps_up
    iteration = np.power(kappa * np.power(gamma, T), k) * (
        kappa**2 * _geometric(T + 1, gap) / upper_gap * constants.r_max
    )
    if corrected:
        lower_fit = gamma * lower_fit

    def lemma(reward_error, distance, value_error):
        return _lemma(gamma, T, reward_error, constants.l_u, distance, value_error)

    reward_term, transition_term, _ = lemma(
        sum(_reward_error(constants, T)), _distance(constants, T), 0.0
    )
    lower_fit_term = lemma(lower_fit, 0.0, 0.0)[0]
    if corrected:
        upper_fit, iteration = lemma(0.0, 0.0, upper_fit)[2], lemma(0.0, 0.0, iteration)[2]
    terms = (reward_term, lower_fit_term, transition_term, upper_fit, iteration)
    return FsaviRegret(*map(as_scalar, terms))


# ------------------------------------------------------------------ formulas, on checked arguments


def _reward_error(constants: Constants, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    c, steps = constants, T - 1
    # The freeze error's partial sums for all horizons at once; T - 2 counts its terms.
    i = np.arange(1, max(int(T.max(initial=1)) - 1, 1))
    partial = np.concatenate(([0.0], np.cumsum(_discounted_geometric(c.gamma, c.l_f, i))))
    freeze = _times(c.alpha * c.d_y * c.l_r, partial[np.maximum(T - 2, 0)])
    drift = _times(c.l_u * c.d_y * c.alpha, _discounted_geometric(c.gamma, c.l_f, steps))
    terminal = c.l_u * c.d_y * (c.alpha + 2) * np.power(c.gamma, T) * steps
    return freeze, drift + terminal


def _distance(constants: Constants, T: np.ndarray) -> np.ndarray:
    return 2 * constants.d_y * (constants.alpha + 1) * (T - 1)


def _value_error(constants: Constants, T: np.ndarray, k: np.ndarray) -> np.ndarray:
    """‖V* - V^k‖ <= γ^{kT} r_max/(1-γ), the paper's lemma on the value iteration error."""
    exponent = k.astype(float) * T  # in floats, where a large product cannot wrap around
    return np.power(constants.gamma, exponent) * trivial_bound(constants)


def _lemma(gamma, T, reward_error, l_u, distance, value_error) -> tuple[np.ndarray, ...]:
    q, complement = np.power(gamma, T), _complement(gamma, T)
    return (
        2 / complement**2 * reward_error,
        _times(2 * q / complement**2, l_u * distance),
        _times(2 * q / complement, value_error),
    )


# ------------------------------------------------------------------------------- stable arithmetic


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _complement(gamma: float, T: np.ndarray) -> np.ndarray:
    """1 - γ^T for T >= 1."""
    return -np.expm1(T * _log(gamma))


def _gap(complement: ArrayLike, x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """1 - xy from 1 - x: 1 - y is exact near y = 1, so few digits cancel."""
    return complement + x * (1 - y)


def _geometric(n: np.ndarray, gap: float) -> np.ndarray:
    """Σ_{j<n} x^j where x = 1 - gap lies in [0, 1)."""
    log_x = math.log1p(-gap) if gap < 1 else -math.inf
    return np.where(n > 0, -np.expm1(np.maximum(n, 1) * log_x) / gap, 0.0)


def _discounted_geometric(gamma: float, ratio: float, n: np.ndarray) -> np.ndarray:
    """γ^n Σ_{j<n} ratio^j, which is 0 at n = 0."""
    m = np.maximum(n, 1)  # 0 times log 0 would be NaN
    if ratio == 1:
        value = np.power(gamma, m) * m
    elif ratio < 1:
        value = np.power(gamma, m) * -np.expm1(m * _log(ratio)) / (1 - ratio)
    else:  # (γ ratio)^m leads, so that γ^m = 0 never meets ratio^m = inf
        value = np.exp(m * _log(gamma * ratio)) * -np.expm1(-m * _log(ratio)) / (ratio - 1)
    return np.where(n > 0, value, 0.0)


def _times(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """a·b with 0·inf = 0: here inf is an overflow of something finite, and 0 is exact."""
    product = np.asarray(a * b)
    return np.where(np.isnan(product), 0.0, product) if np.isinf(b).any() else product


# ----------------------------------------------------------------------------- arguments, results


def _horizons(T: ArrayLike) -> np.ndarray:
    return whole_numbers("T", T, 1, LARGEST_T)


def _iterations(k: ArrayLike) -> np.ndarray:
    return whole_numbers("k", k, 0, LARGEST_K)


def _errors(name: str, values: ArrayLike) -> np.ndarray:
    """Numbers >= 0; inf is welcome, as the overflow of an earlier bound."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {values!r} is not a number; give numbers >= 0.") from None
    bad = ~(array >= 0)
    if bad.any():
        raise InputError(f"{name} = {array[bad].flat[0]} is not usable; give numbers >= 0.")
    return array


def _amplification(gamma: float, kappa: float) -> tuple[float, float]:
    """κ and 1 - κγ, both checked."""
    kappa = nonnegative("kappa", kappa)
    if kappa < 1:
        raise InputError(f"kappa = {kappa} is below 1; features amplify at least once: kappa >= 1.")
    gap = float(_gap(1 - gamma, gamma, kappa))
    if gap <= 0:
        raise InputError(
            f"kappa = {kappa} makes kappa*gamma = {kappa * gamma:.6g} >= 1, so FSAVI may diverge;"
            f" give a kappa below 1/gamma = {1 / gamma:.6g} or a smaller gamma."
        )
    return kappa, gap
