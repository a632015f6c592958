"""The constants of the theory, measured on a model exactly, over all pairs of states and actions.

The metric is Euclidean, as in the paper, on the coordinates of the model's axes (`slow`, `fast`,
`actions`); (s, a) has the coordinates of x, y and a together. The constants depend on the units of
the coordinates: a domain with prices in cents has other constants than one with prices in dollars.

    d_Y   = max ‖y − y'‖                           α = max ‖x − x'‖ / d_Y
    L_r   = max |r(s, a) − r(s', a')| / ‖(s, a) − (s', a')‖
    L_f   = max distance of the two next states / ‖(s, a) − (s', a')‖
    L̃     = the same for the frozen dynamics, which `repaired_bound` needs
    η     = max distance of the next state (x', y') and the frozen one (x, ỹ')
    d̃_Y   = max ‖y − ỹ'‖
    L_U   = max |U*(s) − U*(s')| / ‖s − s'‖        U* within a certified 1e-6
    r_max = max r + shift, where shift = max(0, −min r) makes all rewards non-negative

All maxima are over states, feasible actions and next states of positive probability. For a finite
model all constants are finite unless two points have equal coordinates, but they can be so large
that the bounds computed from them are vacuous, and usually they are.

How far apart two random next states are depends on their joint distribution, the *coupling*:

    noise        ‖f(s, a, w) − f(s', a', w)‖ for the same w, and the largest over every w, as in the
                 paper. Only index tables have a noise that all pairs share.
    wasserstein  W₁, the mean distance under the best coupling. It needs no noise, is the same for
                 index tables and rows, and is never larger than with the common noise.

docs/proofs.md says which results hold for which coupling. `fsdash.theory.lipschitz` describes the
search, which can be stopped by a time limit, and `fsdash.theory.transport` the distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from fsdash.algorithms.optimum import optimum
from fsdash.core.kernels import jit
from fsdash.core.law import TransitionLaw
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.core.rows import INDEX, to_rows
from fsdash.errors import InputError
from fsdash.theory.lipschitz import (
    Grid,
    Interval,
    distances,
    largest_distance,
    lipschitz,
    nearest_distance,
    one_type,
)
from fsdash.theory.parameters import COUPLINGS, Constants
from fsdash.theory.transport import Images, distance

SECONDS = 60.0
"""The time limit if none is given."""


@dataclass(frozen=True)
class MeasuredConstants:
    """The constants of a model as `measure` finds them, without the discount factor.

    `reward_shift` was added to all rewards to make them non-negative; `r_max` includes it.
    `coupling` says how the next states in `l_f`, `l_frozen` and `eta` are compared. These and the
    other Lipschitz constants are proven upper values, and `…_lower` are proven lower ones. They are
    equal if the constant is exact; otherwise the time limit ended the search, or rows were too long
    to solve for W₁. `eta` and `d_y_frozen` are η and d̃_Y of `Constants`.
    """

    alpha: float
    d_y: float
    l_r: float
    l_f: float
    l_u: float
    r_max: float
    reward_shift: float
    l_frozen: float
    eta: float
    d_y_frozen: float
    coupling: str
    l_r_lower: float
    l_f_lower: float
    l_u_lower: float
    l_frozen_lower: float
    eta_lower: float

    @property
    def intervals(self) -> dict[str, Interval]:
        """The lower and upper value of η and of each Lipschitz constant."""
        names = ("l_r", "l_f", "l_u", "l_frozen", "eta")
        return {n: Interval(getattr(self, f"{n}_lower"), getattr(self, n)) for n in names}

    @property
    def exact(self) -> bool:
        """Whether all constants are exact."""
        return all(lower == upper for lower, upper in self.intervals.values())

    def constants(self, gamma: float) -> Constants:
        """The constants with a discount factor, as the bounds need them: the upper values."""
        return Constants(
            gamma=gamma,
            alpha=self.alpha,
            d_y=self.d_y,
            l_r=self.l_r,
            l_f=self.l_f,
            l_u=self.l_u,
            r_max=self.r_max,
            l_frozen=self.l_frozen,
            eta=self.eta,
            d_y_frozen=self.d_y_frozen,
            coupling=self.coupling,
        )


def measure(
    model: FastSlowMDP,
    U_XY: np.ndarray | None = None,
    *,
    seconds: float | None = SECONDS,
    coupling: str | None = None,
    progress: Callable[[float], object] = lambda share: None,
) -> MeasuredConstants:
    """Measure the constants of a model.

    Parameters
    ----------
    model
        The model. Its axes must have coordinates.
    U_XY
        The optimal values U*, shape (X, Y), if they are already known; else they are computed.
    seconds
        A time limit, one minute by default; None for none. When it is over, the constants that are
        still searched for are given as proven lower and upper values.
    coupling
        How next states are compared: "noise" or "wasserstein". By default "noise" for a model given
        by index tables and "wasserstein" for one given by rows, which have no common noise.
    progress
        Called with the share of the parts that are done, 0 to 1. An exception in it ends the
        measurement.

    Returns
    -------
    MeasuredConstants
        The constants; `.constants(model.gamma)` makes them usable for the bounds.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> measured = fsdash.theory.measure(model)
    >>> measured.alpha, measured.d_y
    (0.02, 50.0)
    >>> fsdash.theory.fsvi_bound(measured.constants(model.gamma), 6, k=100).total > 1e6
    True

    A limit of zero seconds gives bounds that need no search:

    >>> quick = fsdash.theory.measure(model, seconds=0)
    >>> quick.l_f_lower <= measured.l_f <= quick.l_f, quick.exact
    (True, False)
    """
    coupling = _checked_coupling(model, coupling)
    if seconds is not None and not seconds >= 0:
        raise InputError(f"seconds = {seconds}: give a time limit of 0 or more, or None for none")
    clock = _Clock(seconds, 6, progress)
    l_u = _value_lipschitz(model, U_XY, clock)
    l_r = lipschitz(*_rewards(model), deadline=clock.next_deadline())
    l_f = _transition_lipschitz(model, model.true, coupling, clock.next_deadline())
    l_frozen = _transition_lipschitz(model, model.frozen, coupling, clock.next_deadline())
    eta = _freezing_error(model, coupling, clock.next_deadline())
    slow_step, d_y = _largest_steps(model, model.true)
    _, d_y_frozen = _largest_steps(model, model.frozen)
    low, high = model.reward_range
    shift = max(0.0, -low)
    return MeasuredConstants(
        alpha=0.0 if slow_step == 0 else slow_step / d_y if d_y > 0 else np.inf,
        d_y=d_y,
        l_r=l_r.upper,
        l_f=l_f.upper,
        l_u=l_u.upper,
        r_max=high + shift,
        reward_shift=shift,
        l_frozen=l_frozen.upper,
        eta=eta.upper,
        d_y_frozen=d_y_frozen,
        coupling=coupling,
        l_r_lower=l_r.lower,
        l_f_lower=l_f.lower,
        l_u_lower=l_u.lower,
        l_frozen_lower=l_frozen.lower,
        eta_lower=eta.lower,
    )


class _Clock:
    """Shares a time limit between parts: each may use an equal share of the time that is left."""

    def __init__(
        self, seconds: float | None, parts: int, progress: Callable[[float], object]
    ) -> None:
        self.end = math.inf if seconds is None else perf_counter() + seconds
        self.parts = self.all_parts = parts
        self.progress = progress

    def next_deadline(self) -> float:
        self.progress(1 - self.parts / self.all_parts)
        now = perf_counter()
        deadline = now + (self.end - now) / self.parts
        self.parts -= 1
        return deadline


def _checked_coupling(model: FastSlowMDP, coupling: str | None) -> str:
    has_noise = model.true.common_noise_W is not None
    if coupling is None:
        return "noise" if has_noise else "wasserstein"
    if coupling not in COUPLINGS:
        raise InputError(f"coupling = {coupling!r}: choose from {', '.join(COUPLINGS)}")
    if coupling == "noise" and not has_noise:
        raise InputError(
            f"coupling = 'noise': {model.name} is given by rows, which have no common noise; use "
            "coupling='wasserstein'"
        )
    return coupling


def _value_lipschitz(model: FastSlowMDP, U_XY: np.ndarray | None, clock: _Clock) -> Interval:
    """L_U. If U* has an error ε above its tolerance, differences of values may be 2ε off."""
    error, deadline = 0.0, clock.next_deadline()
    if U_XY is None:
        best = optimum(model, seconds=max(0.0, deadline - perf_counter()))
        U_XY, error = best.U_XY, 0.0 if best.within_tolerance else best.error
    U_XY = model.mirror(values_of(model, U_XY))
    grid = _grid(model, model.real_XY[:, :, None])
    number_XY1 = np.arange(U_XY.size, dtype=INDEX).reshape(*U_XY.shape, 1)
    images = Images(number_XY1, np.ascontiguousarray(U_XY).reshape(-1, 1))
    found = lipschitz(grid, images, deadline=clock.next_deadline())
    nearest = min(nearest_distance(values) for values in grid.values)
    slack = 2 * error / nearest if error > 0 and nearest > 0 else math.inf if error > 0 else 0.0
    return Interval(max(0.0, found.lower - slack), found.upper + slack)


def _rewards(model: FastSlowMDP) -> tuple[Grid, Images]:
    """The rewards as points. The value −∞ of an infeasible action is not used."""
    number_XYA = np.arange(model.reward_XYA.size, dtype=INDEX).reshape(model.reward_XYA.shape)
    finite_XYA = np.maximum(model.reward_XYA, model.reward_range[0])
    return _on_pairs(model, number_XYA, finite_XYA.reshape(-1, 1))


def _transition_lipschitz(
    model: FastSlowMDP, dynamics: TransitionLaw, coupling: str, deadline: float
) -> Interval:
    """L_f of the true dynamics, L̃ of the frozen ones."""
    points_SC = _state_coordinates(model)
    if coupling == "wasserstein":
        rows = to_rows(model, dynamics)
        law = (rows.start_R, rows.target_N, rows.probability_N)
        return lipschitz(*_on_pairs(model, rows.row_XYA, points_SC, *law), deadline=deadline)
    lower = upper = 0.0
    for w in _needed_outcomes(model, dynamics):
        # The largest ratio so far prunes the search over the next outcome of the noise.
        grid, images = _on_pairs(model, _successors(dynamics, w), points_SC)
        found = lipschitz(grid, images, lower, deadline)
        lower, upper = found.lower, max(upper, found.upper)
    return Interval(lower, max(lower, upper))


def _freezing_error(model: FastSlowMDP, coupling: str, deadline: float) -> Interval:
    """η, the distance between the next state and the frozen one."""
    points_SC, feasible_XYA = _state_coordinates(model), model.feasible_XYA

    def feasible(number_XYA: np.ndarray) -> np.ndarray:
        return np.broadcast_to(number_XYA, feasible_XYA.shape)[feasible_XYA]

    if coupling == "wasserstein":
        true, frozen = (to_rows(model, dynamics) for dynamics in (model.true, model.frozen))
        number_PR = np.stack([feasible(true.row_XYA), feasible(frozen.row_XYA)], axis=1)
        number_KR = np.unique(number_PR, axis=0) + np.array([0, true.n_rows])
        law = (
            np.concatenate([true.start_R, true.start_R[-1] + frozen.start_R[1:]]),
            np.concatenate([true.target_N, frozen.target_N]),
            np.concatenate([true.probability_N, frozen.probability_N]),
        )
        return largest_distance(points_SC, number_KR[:, 0], number_KR[:, 1], deadline, *law)
    largest = 0.0
    for w in _outcomes(max(model.true, model.frozen, key=lambda law: law.outcomes)):
        next_P, frozen_P = (feasible(law.successors(w)) for law in (model.true, model.frozen))
        largest = max(largest, largest_distance(points_SC, next_P, frozen_P, math.inf).upper)
    return Interval(largest, largest)


def _outcomes(dynamics: TransitionLaw) -> list[int]:
    """The outcomes of the common noise that are possible."""
    assert dynamics.common_noise_W is not None
    return np.flatnonzero(dynamics.common_noise_W).tolist()


def _needed_outcomes(model: FastSlowMDP, dynamics: TransitionLaw) -> list[int]:
    """The outcomes w that can determine the Lipschitz constant.

    If the dynamics are separable, w only determines the distances between x'(x, w) and x'(x̃, w).
    An outcome is left out if another one separates every pair of slow states at least as far.
    """
    possible = _outcomes(dynamics)
    if not dynamics.separable or len(possible) == 1:
        return possible
    next_x = {w: _successors(dynamics, w)[:, 0, 0] // model.n_fast for w in possible}
    apart = {w: distances(model.slow.values[next_x[w]]) for w in possible}
    needed: list[int] = []
    for w in sorted(possible, key=lambda w: -apart[w].sum()):
        if not any((apart[w] <= apart[v]).all() for v in needed):
            needed.append(w)
    return needed


def _successors(dynamics: TransitionLaw, w: int) -> np.ndarray:
    """The next states x'·|Y| + y' for an outcome w, shape (X, Y, A) or (X, Y, 1)."""
    next_states = dynamics.successors(w)
    return np.broadcast_to(next_states, (*dynamics.shape[:2], next_states.shape[2]))


def _state_coordinates(model: FastSlowMDP) -> np.ndarray:
    """The coordinates of every state x·|Y| + y, shape (S, d)."""
    slow_S = np.repeat(model.slow.values, model.n_fast, axis=0)
    return np.concatenate([slow_S, np.tile(model.fast.values, (model.n_slow, 1))], axis=1)


def _on_pairs(
    model: FastSlowMDP, number_XYA: np.ndarray, points_NC: np.ndarray, *law: np.ndarray
) -> tuple[Grid, Images]:
    """The grid and the images of state-action pairs.

    An infeasible action gets the image of the nearest feasible one, which keeps the search's bounds
    tight. If some action is infeasible, the action axis has full length: two states may have no
    feasible action in common.
    """
    if model.n_pairs == model.reward_XYA.size:
        feasible_XYA = np.ones(number_XYA.shape, bool)
    else:
        feasible_XYA = model.feasible_XYA
        full_XYA = np.broadcast_to(number_XYA, feasible_XYA.shape)
        number_XYA = np.take_along_axis(full_XYA, _nearest_feasible(model), axis=2)
    return _grid(model, feasible_XYA), Images(number_XYA, points_NC, *law)


def _grid(model: FastSlowMDP, feasible_XYA: np.ndarray) -> Grid:
    actions = model.actions.values if feasible_XYA.shape[2] > 1 else np.zeros((1, 1))
    return Grid((model.slow.values, model.fast.values, actions), feasible_XYA)


def _nearest_feasible(model: FastSlowMDP) -> np.ndarray:
    """For each state and action the feasible action nearest to it, itself if it is feasible."""
    values, possible_XYA = model.actions.values, model.mirror(model.feasible_XYA)
    nearest = [
        np.where(possible_XYA, distances(values[a : a + 1], values)[0], np.inf).argmin(axis=2)
        for a in range(model.n_actions)
    ]
    return np.stack(nearest, axis=2)


def _largest_steps(model: FastSlowMDP, dynamics: TransitionLaw) -> tuple[float, float]:
    """The largest ‖x − x'‖ and ‖y − y'‖."""
    steps = np.zeros(2)
    arguments = (model.feasible_XYA, model.slow.values, model.fast.values, steps)
    for each in dynamics.supports():
        _raise_steps(*map(one_type, each), *arguments)
    return float(steps[0]), float(steps[1])


@jit
def _raise_steps(number_XYA, start_R, target_N, feasible_XYA, slow_values, fast_values, steps):
    """Raise `steps` to the largest distances to a next state, of the slow and of the fast part."""
    X, Y, A = feasible_XYA.shape
    for x in range(X):
        for y in range(Y):
            for a in range(A):
                if feasible_XYA[x, y, a]:
                    row = number_XYA[x, y, a]
                    for i in range(start_R[row], start_R[row + 1]):
                        steps[0] = max(steps[0], distance(slow_values, x, target_N[i] // Y))
                        steps[1] = max(steps[1], distance(fast_values, y, target_N[i] % Y))
