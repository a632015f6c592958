"""The paper's regret bounds.

Write q = γ^T. The coefficients of the general lemma simplify,

    2q/(1-q)² + 2/(1-q) = 2/(1-q)²      and      2q²/(1-q)² + 2q/(1-q) = 2q/(1-q)²,

so that the lemma (Section "A General Lemma") reads

    regret <= 2/(1-q)² ε_r + 2q/(1-q)² L_U d + 2q/(1-q) ‖V* - V‖,      d = 2 d_Y (α+1)(T-1).

Every bound is the lemma with its three inputs filled in:

    FSVI     ε_r of Proposition "Reward Approximation Error",   ‖V* - V^k‖ <= γ^{kT} r_max/(1-γ)
    Base VI  FSVI with T = 1, where nothing is frozen: ε_r = d = 0

FSAVI's theorem does not hold as stated in the arXiv text; `fsdash.theory.fsavi` has another bound.
Proofs are in docs/proofs.md.

T and k are numbers or arrays that broadcast; results are floats or arrays accordingly. A bound that
overflows is +inf, never NaN, and causes no warning.

The outer sum of the freeze error is a cumulative sum. It has two closed forms, but one cancels as
γ → 1 and the other as L_f → 1, whereas adding positive terms loses no digits.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from fsdash.core.display import Lines, Summary, value_range
from fsdash.errors import InputError
from fsdash.theory.parameters import (
    LARGEST_K,
    LARGEST_T,
    Constants,
    Values,
    as_scalar,
    discount,
    discounted_geometric_sum,
    nonnegative,
    one_minus_power,
    one_minus_product,
    product,
    quiet,
    whole_numbers,
)


@dataclass(frozen=True, eq=False, repr=False)
class Terms(Summary):
    """The terms of a bound. It prints each term and their sum; an array by its range."""

    @property
    def total(self) -> Values:
        """The bound: the sum of its terms."""
        raise NotImplementedError

    def _summary(self) -> tuple[str, Lines]:
        names = [*(field.name for field in fields(self)), "total"]
        return type(self).__name__, [(name, _described(getattr(self, name))) for name in names]


def _described(values: Values) -> object:
    return value_range(values) if isinstance(values, np.ndarray) and values.size else values


# Arrays have no single truth value, so the results below compare by identity (eq=False).
@dataclass(frozen=True, eq=False, repr=False)
class RewardError(Terms):
    """ε_r, the bound of Proposition "Reward Approximation Error", as the sum of two errors."""

    freeze: Values
    end_of_horizon: Values

    @property
    def total(self) -> Values:
        return self.freeze + self.end_of_horizon


@dataclass(frozen=True, eq=False, repr=False)
class LemmaRegret(Terms):
    """The three terms of the general lemma."""

    reward_term: Values
    transition_term: Values
    value_term: Values

    @property
    def total(self) -> Values:
        return self.reward_term + self.transition_term + self.value_term


@dataclass(frozen=True, eq=False, repr=False)
class FsviRegret(Terms):
    """The three terms of the regret theorem of FSVI. Only the iteration term depends on k."""

    reward_term: Values
    transition_term: Values
    iteration_term: Values

    @property
    def floor(self) -> Values:
        """The limit of the bound as k → ∞, which no number of iterations goes below."""
        return self.reward_term + self.transition_term

    @property
    def total(self) -> Values:
        return self.floor + self.iteration_term


@quiet
def reward_error(constants: Constants, T: ArrayLike) -> RewardError:
    """Bound the error of the frozen T-step reward (Proposition "Reward Approximation Error").

    - freeze: α d_Y L_r Σ_{i=1}^{T-2} γ^i Σ_{j<i} L_f^j
    - end of horizon: γ^{T-1} L_U [α d_Y Σ_{j<T-1} L_f^j + γ d_Y (α+2)(T-1)]

    Both are 0 at T = 1, and the freeze error is 0 at T = 2. As T grows, the freeze error stays
    bounded and the end-of-horizon error vanishes if and only if γ L_f < 1.
    docs/proofs.md completes a one-sided step of the paper's proof.

    Parameters
    ----------
    constants
        The constants of the model.
    T
        Periods in a block, at least 1; a number or an array.

    Returns
    -------
    RewardError
        `freeze`, `end_of_horizon` and `total`, in the shape of T.

    Examples
    --------
    >>> from fsdash.theory import preset, reward_error
    >>> reward_error(preset("reward-error-small").constants, 12)
    RewardError
      freeze          0.192199
      end_of_horizon  12.4697
      total           12.6619
    """
    freeze, end_of_horizon = reward_error_terms(constants, horizons(T))
    return RewardError(as_scalar(freeze), as_scalar(end_of_horizon))


def transition_distance(constants: Constants, T: ArrayLike) -> Values:
    """d(α, d_Y, T) = 2 d_Y (α+1)(T-1): how far apart two lower-level policies can end.

    Examples
    --------
    >>> from fsdash.theory import preset, transition_distance
    >>> transition_distance(preset("three-regimes").constants, [1, 2, 3])
    array([0. , 2.1, 4.2])
    """
    return as_scalar(distance_term(constants, horizons(T)))


@quiet
def lemma_regret(
    gamma: float,
    T: ArrayLike,
    *,
    reward_error: ArrayLike,
    l_u: float,
    distance: ArrayLike,
    value_error: ArrayLike,
) -> LemmaRegret:
    """Bound the regret from a reward error, a transition distance and a value error.

    This is the general lemma as the paper states it. It needs J_1 to be the value of π under the
    true dynamics, or close to it (see `fsvi_bound`). For a π that J_1 says nothing about, the
    regret can be arbitrarily large.

    Parameters
    ----------
    gamma
        Discount factor, 0 <= γ < 1.
    T
        Periods in a block, at least 1.
    reward_error
        ε_r(π*, J_1).
    l_u
        Lipschitz constant of U*.
    distance
        d(α, d_Y, T), as `transition_distance` computes it.
    value_error
        ‖V*(J_1, π) - V‖.

    Examples
    --------
    >>> from fsdash.theory import lemma_regret
    >>> bound = lemma_regret(0.9, 6, reward_error=0.1, l_u=1, distance=2, value_error=3)
    >>> round(bound.total, 3)
    17.399
    """
    terms = lemma_terms(
        discount("gamma", gamma),
        horizons(T),
        _nonnegative_values("reward_error", reward_error),
        nonnegative("l_u", l_u),
        _nonnegative_values("distance", distance),
        _nonnegative_values("value_error", value_error),
    )
    return LemmaRegret(*_scalars(terms))


@quiet
def fsvi_bound(constants: Constants, T: ArrayLike, *, k: ArrayLike) -> FsviRegret:
    """Bound the regret of FSVI after k iterations (the theorem of Section "Regret of FSVI").

    The iteration term is 2 r_max γ^{(k+1)T} / ((1-γ)(1-γ^T)). At T = 1 the total is `vi_bound`.

    Parameters
    ----------
    constants
        The constants of the model.
    T
        Periods in a block, at least 1.
    k
        Iterations of the upper level, at least 0. T and k can be arrays that broadcast.

    Returns
    -------
    FsviRegret
        `reward_term`, `transition_term`, `iteration_term`, their sum `total`, and `floor`, the sum
        without the iteration term.

    Notes
    -----
    **A condition.** The theorem does not hold as stated in the arXiv text without the condition
    L̃ <= L_f, which holds in the three domains; the algorithms, the experiments and the qualitative
    conclusions do not depend on it. The proof bounds the value of μ with the optimal
    lower level π*, whereas the policy uses π̃. The missing gap is between the true T-step reward of
    π̃ and R̃. Let L̃ be the Lipschitz constant of the frozen map (x, f_Y), and let φ be the freeze
    error with L̃ in place of L_f. Then J_t* has the Lipschitz constant L_r Σ (γL̃)^i, the gap is at
    most γφ by induction over t, and

        regret <= ‖U* - V*‖ + ‖V* - V^μ‖ + ‖V^μ - Ū^μ‖
               <= (ε_r + q L_U d)/(1-q) + 2q/(1-q) ‖V* - V^k‖ + γφ/(1-q).

    If L̃ <= L_f, this is below the sum returned here and the theorem holds. That is the case if for
    every outcome w of the noise some outcome w⁰ of positive probability leaves x unchanged and
    moves y as w does, f(x, y, a, w⁰) = (x, f_Y(x, y, a, w)) for all x, y and a: f restricted to w⁰
    is then the frozen map. One outcome that leaves x unchanged is enough only if f_Y does not
    depend on the noise. In all three domains the measured L̃ equals L_f. If L̃ > L_f, which requires
    a slow state that forgets its position, the regret can exceed the bound for a large T: the model
    of tests/theory/test_counterexample.py (γ = 0.9) has a true regret of 9.0 and a bound of 4.68 at
    T = 300, but 8.98 and 9.82 at T = 80. The theorem also assumes that the frozen map is f_Y; in
    the inventory, where freezing demand changes the next stock, α·d_Y has to be replaced by
    η = √2·α·d_Y. `repaired_bound` needs neither; docs/proofs.md has its proof.

    Examples
    --------
    >>> from fsdash.theory import fsvi_bound, preset
    >>> fsvi_bound(preset("three-regimes").constants, 16, k=3)
    FsviRegret
      reward_term      8.20619
      transition_term  0.879422
      iteration_term   0.289437
      total            9.37505
    """
    horizon, iteration = horizons(T), iterations(k)
    terms = lemma_terms(
        constants.gamma,
        horizon,
        sum(reward_error_terms(constants, horizon)),
        constants.l_u,
        distance_term(constants, horizon),
        _value_error(constants, horizon, iteration),
    )
    return FsviRegret(*_scalars(terms))


@quiet
def iteration_term(constants: Constants, T: ArrayLike, *, k: ArrayLike) -> Values:
    """The term of `fsvi_bound` that depends on k, without computing the others."""
    horizon, iteration = horizons(T), iterations(k)
    error = _value_error(constants, horizon, iteration)
    return as_scalar(lemma_terms(constants.gamma, horizon, 0.0, 0.0, 0.0, error)[2])


def vi_bound(constants: Constants, k: ArrayLike) -> Values:
    """Bound the regret of Base VI after k sweeps: 2 r_max γ^{k+1} / (1-γ)².

    This is the proposition of Section "Regret of Base VI".

    Parameters
    ----------
    constants : Constants
        The constants of the model.
    k : int or array of int
        Sweeps of value iteration, 0 or more.

    Returns
    -------
    float or np.ndarray
        The bound for each k.

    Examples
    --------
    >>> from fsdash.theory import preset, vi_bound
    >>> round(vi_bound(preset("three-regimes").constants, 60), 3)
    3.235
    """
    return iteration_term(constants, 1, k=k)


def trivial_bound(constants: Constants) -> float:
    """r_max/(1-γ), a bound on the regret of every policy. A bound above it is vacuous.

    Examples
    --------
    >>> from fsdash.theory import preset, trivial_bound
    >>> round(trivial_bound(preset("three-regimes").constants), 9)
    100.0
    """
    return constants.r_max / (1 - constants.gamma)


@quiet
def value_lipschitz_bound(gamma: float, l_r: ArrayLike, *, l_f: ArrayLike) -> Values:
    """Bound L_U by L_r/(1 - γ L_f); inf where γ L_f >= 1 (Appendix "Bounds on L_U").

    Examples
    --------
    >>> from fsdash.theory import value_lipschitz_bound
    >>> value_lipschitz_bound(0.5, 1.0, l_f=[1, 2])
    array([ 2., inf])
    """
    gamma = discount("gamma", gamma)
    reward, transition = _nonnegative_values("l_r", l_r), _nonnegative_values("l_f", l_f)
    gap = np.asarray(one_minus_product(1 - gamma, gamma, transition))
    return as_scalar(np.where(gap > 0, reward / np.where(gap > 0, gap, 1.0), np.inf))


# ------------------------------------------------------------------ formulas, on checked arguments


def reward_error_terms(
    constants: Constants, T: np.ndarray, eta: float | None = None, d_y_frozen: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The freeze and the end-of-horizon error: as in the paper, or for another frozen map.

    The paper's frozen map is f_Y itself, for which η = α·d_Y and d̃_Y = d_Y.
    """
    c, steps = constants, T - 1
    eta = c.alpha * c.d_y if eta is None else eta
    d_y_frozen = c.d_y if d_y_frozen is None else d_y_frozen
    # The freeze error has T - 2 terms; one cumulative sum serves all horizons.
    i = np.arange(1, max(int(T.max(initial=1)) - 1, 1))
    partial = np.concatenate(([0.0], np.cumsum(discounted_geometric_sum(c.gamma, c.l_f, i))))
    freeze = product(eta * c.l_r, partial[np.maximum(T - 2, 0)])
    drift = product(c.l_u * eta, discounted_geometric_sum(c.gamma, c.l_f, steps))
    step = c.d_y * (c.alpha + 1) + d_y_frozen
    terminal = c.l_u * step * np.power(c.gamma, T) * steps
    return freeze, drift + terminal


def distance_term(constants: Constants, T: np.ndarray) -> np.ndarray:
    """d(α, d_Y, T)."""
    return 2 * constants.d_y * (constants.alpha + 1) * (T - 1)


def lemma_terms(
    gamma: float, T: np.ndarray, reward_error: Values, l_u: float, distance: Values, error: Values
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The reward, transition and value terms of the general lemma."""
    q, complement = np.power(gamma, T), one_minus_power(gamma, T)
    return (
        2 / complement**2 * reward_error,
        product(2 * q / complement**2, l_u * distance),
        product(2 * q / complement, error),
    )


def _value_error(constants: Constants, T: np.ndarray, k: np.ndarray) -> np.ndarray:
    """‖V* - V^k‖ <= γ^{kT} r_max/(1-γ), the paper's lemma on the value iteration error."""
    exponent = k.astype(float) * T  # an integer product could overflow
    return np.power(constants.gamma, exponent) * trivial_bound(constants)


# ----------------------------------------------------------------------------- arguments, results


def horizons(T: ArrayLike) -> np.ndarray:
    """T as checked whole numbers."""
    return whole_numbers("T", T, 1, LARGEST_T)


def iterations(k: ArrayLike) -> np.ndarray:
    """k as checked whole numbers."""
    return whole_numbers("k", k, 0, LARGEST_K)


def _nonnegative_values(name: str, values: ArrayLike) -> np.ndarray:
    """Numbers >= 0 as an array; inf is allowed, as the overflow of an earlier bound."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {values!r} is not a number; give numbers >= 0.") from None
    bad = ~(array >= 0)
    if bad.any():
        raise InputError(f"{name} = {array[bad].flat[0]} is not usable; give numbers >= 0.")
    return array


def _scalars(terms: Iterable[np.ndarray]) -> list[Values]:
    return [as_scalar(term) for term in terms]
