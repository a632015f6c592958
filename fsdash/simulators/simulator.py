"""Simulators: a fast-slow problem as vectorised functions, for states that do not fit into a table.

    x' = move(x, u)                   the slow state, exogenous
    y', r = play(x, x', y, a, u)      the fast state and the reward; with x frozen, x' is x itself
    u                                 independent uniform numbers in [0, 1): all randomness

Every function takes one row per state: x has shape (n, slow coordinates), y (n, fast coordinates),
u (n, `noise`), and a holds n indices of `actions`. Because all randomness is in u, two policies can
be compared on common random numbers, draws can be stratified, and a policy can be certified by
duality (`fsdash.simulators.dual`). Freezing needs `play` only: no model of the slow state.

`check_simulator` tests what a simulator declares. `Driver` calls its functions in all other code:
it turns costs into rewards, checks every answer and counts the rows (the *calls*).
"""

from __future__ import annotations

import hashlib
import inspect
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from fsdash.core.display import Lines, Summary
from fsdash.errors import InputError

TOLERANCE = 1e-9
"""How far a value may be outside its range, as a share of the range: rounding."""
ROWS = 1_000
SECONDS = 10.0
"""Rows and time limit of one call in `check_simulator`."""


class SimulatorFaults(InputError):
    """All faults of a simulator, each with its remedy, in `faults`."""

    def __init__(self, name: str, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(f"simulator {name}: " + "; ".join(faults))


@dataclass(frozen=True)
class Points:
    """The lattice points of one coordinate.

    `exact` if the coordinate takes no other values; otherwise they are interpolated linearly.
    `cyclic` if it is a clock. `low` and `high` are the range; a continuous slow coordinate has no
    points between them.
    """

    values: np.ndarray
    exact: bool
    cyclic: bool = False

    @property
    def low(self) -> float:
        return float(self.values[0])

    @property
    def high(self) -> float:
        return float(self.values[-1])

    def refined(self) -> Points:
        """Twice as many intervals; the points remain."""
        return self if self.exact else self._with(2 * len(self.values) - 1)

    def coarsened(self, factor: int) -> Points:
        """About 1/factor of the intervals, but at least eight if there are as many."""
        intervals = len(self.values) - 1
        few = max(round(intervals / factor), min(8, intervals))
        return self if self.exact or factor == 1 else self._with(few + 1)

    def _with(self, count: int) -> Points:
        return Points(np.linspace(self.low, self.high, count), False)

    def misses(self, values: np.ndarray) -> np.ndarray:
        """Which values the coordinate cannot take."""
        slack = TOLERANCE * max(self.high - self.low, 1.0)
        wrong = ~((values >= self.low - slack) & (values <= self.high + slack))
        if self.exact:
            nearest = self.values[nearest_points(self.values, values)]
            wrong |= ~(np.abs(values - nearest) <= slack)
        return wrong


def nearest_points(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The index of the nearest of some increasing points, for each value."""
    middles = (points[1:] + points[:-1]) / 2
    return np.searchsorted(middles, values, side="right")


def clock(periods: int) -> Points:
    """Declare a fast coordinate that counts 0, 1, …, periods − 1, 0, … in every period.

    Parameters
    ----------
    periods : int
        The length of a cycle, for example 24 hours.

    Returns
    -------
    Points
        The declaration, for the attribute `fast` of a simulator.

    Examples
    --------
    >>> import fsdash
    >>> fsdash.clock(24).values[-1]
    np.float64(23.0)
    """
    if not isinstance(periods, int | np.integer) or periods < 2:
        raise InputError(f"clock({periods!r}): give the number of periods of a cycle, 2 or more")
    return Points(np.arange(float(periods)), exact=True, cyclic=True)


class Simulator:
    """A fast-slow decision problem as vectorised functions. Inherit from it; all lists are columns.

    Attributes
    ----------
    gamma : float
        Discount factor, 0 < γ < 1.
    actions : sequence
        The names or values of the actions; the functions get and return their indices.
    slow : dict
        The slow coordinates: `(low, high)` for a continuous one, a list for one with few values.
    fast : dict
        The fast coordinates: `(low, high, points)` for a continuous one on a lattice, a list or
        range of all its values, or `clock(n)`.
    controlled : list of str
        The fast coordinates that actions influence. The others are exogenous.
    noise : int
        How many uniform numbers u one period needs.
    theta : dict
        The parameters of `rule` with their ranges `(low, high)`; the rule is tuned within them.
    sense : {"max", "min"}
        "min" if `play` returns costs.
    exogenous : bool
        False if the slow state depends on actions or on y; then only freezing can be used.
    units : dict
        Units of coordinates, for displays.

    Methods to write: `initial(rng, n)` returns x and y of n first states; `play(x, x_next, y, a,
    u)` returns y' and the rewards and works for every action in every state. Optional: `move(x, u)`
    returns x' (a method `move(x, u, y, a)` is tested for exogeneity); `rule(theta, x, y)` returns
    the actions of the rule to beat; `feasible(y)` returns which actions can be taken, shape
    (n, actions). The arguments must not be changed.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> class Shop(fsdash.Simulator):
    ...     gamma, actions, noise = 0.95, [0, 1, 2, 3], 2
    ...     slow, fast, controlled = {"rate": (0.5, 2.5)}, {"stock": range(9)}, ["stock"]
    ...     def initial(self, rng, n):
    ...         return rng.uniform(0.5, 2.5, (n, 1)), rng.integers(0, 9, (n, 1))
    ...     def move(self, x, u):
    ...         return np.clip(x + 0.1 * (u[:, :1] - 0.5), 0.5, 2.5)
    ...     def play(self, x, x_next, y, a, u):
    ...         stock, demand = np.minimum(y[:, 0] + a, 8), np.floor(2 * x[:, 0] * u[:, 1])
    ...         sold = np.minimum(stock, demand)
    ...         return (stock - sold)[:, None], 4 * sold - a - 0.1 * stock
    >>> fsdash.simulators.check_simulator(Shop()).separate
    True
    """

    gamma: float
    actions: Sequence[Any]
    slow: Mapping[str, Any]
    fast: Mapping[str, Any]
    controlled: Sequence[str] | None = None
    noise: int = 0
    theta: Mapping[str, tuple[float, float]] = {}
    sense: str = "max"
    exogenous: bool = True
    units: Mapping[str, str] = {}

    move: Callable[..., Any] | None = None
    rule: Callable[..., Any] | None = None
    feasible: Callable[..., Any] | None = None

    def initial(self, rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        raise InputError("initial(rng, n): write it; it returns x and y of n first states")

    def play(self, x: Any, x_next: Any, y: Any, a: Any, u: Any) -> tuple[Any, Any]:
        raise InputError("play(x, x_next, y, a, u): write it; it returns y' and the rewards")

    @property
    def name(self) -> str:
        return type(self).__name__


def simulator(play: Callable[..., Any], **declared: Any) -> Simulator:
    """Make a simulator from functions, without a class.

    Parameters
    ----------
    play : callable
        `play(x, x_next, y, a, u)`, which returns y' and the rewards.
    **declared
        The other attributes and functions of `Simulator`; the functions take no `self`.

    Returns
    -------
    Simulator
        The simulator.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> thermostat = fsdash.simulator(
    ...     lambda x, x_next, y, a, u: (0.9 * y + 0.1 * x + a[:, None], -abs(y[:, 0] - 20) - a),
    ...     gamma=0.9,
    ...     actions=["off", "on"],
    ...     slow={"outside": (0, 15)},
    ...     fast={"inside": (0, 30, 31)},
    ...     initial=lambda rng, n: (rng.uniform(0, 15, (n, 1)), np.full((n, 1), 18.0)),
    ... )
    >>> fsdash.simulators.check_simulator(thermostat).noisy.any()
    np.False_
    """
    unknown = set(declared) - {*Simulator.__annotations__, "initial", "name"}
    if unknown:
        raise InputError(f"{sorted(unknown)[0]}: not an attribute of a simulator; see Simulator")
    body = {"play": play, **declared}
    name = str(body.pop("name", "simulator"))
    functions = {k: staticmethod(v) if callable(v) else v for k, v in body.items()}
    return type(name, (Simulator,), functions)()


class Spec:
    """What a simulator declares, checked and in arrays; all faults are raised at once."""

    def __init__(self, sim: Simulator) -> None:
        self.name, faults = sim.name, []
        gamma, self.noise = getattr(sim, "gamma", None), sim.noise
        if not isinstance(gamma, int | float) or not 0 < gamma < 1:
            faults.append(f"gamma = {gamma!r}: give a discount factor between 0 and 1")
            gamma = 0.0
        self.gamma = float(gamma)
        if not isinstance(self.noise, int | np.integer) or self.noise < 0:
            faults.append(f"noise = {self.noise!r}: give the number of uniforms that a period uses")
        self.actions = list(getattr(sim, "actions", []))
        if not self.actions:
            faults.append("actions: give a list with at least one action")
        if sim.sense not in ("max", "min"):
            faults.append(f"sense = {sim.sense!r}: choose from max, min")
        self.sign = -1.0 if sim.sense == "min" else 1.0
        self.slow = _declared(sim, "slow", 2, "(low, high) or a list of values", faults)
        self.fast = _declared(
            sim, "fast", 3, "(low, high, points), a list of values or clock(n)", faults
        )
        self.slow_names, self.fast_names = list(self.slow), list(self.fast)
        if not self.fast:
            faults.append("fast: declare at least one fast coordinate")
        names = self.fast_names if sim.controlled is None else list(sim.controlled)
        for name in set(names) - set(self.fast):
            faults.append(f"controlled: {name!r} is not a fast coordinate; use names of `fast`")
        self.controlled = np.array([n in names and not p.cyclic for n, p in self.fast.items()])
        self.theta = dict(sim.theta)
        for name, bounds in self.theta.items():
            if not (_numbers(bounds, 2) and bounds[0] < bounds[1]):
                faults.append(f"theta: {name!r} = {bounds!r}: give its range (low, high)")
        if faults:
            raise SimulatorFaults(self.name, faults)

    @property
    def A(self) -> int:
        return len(self.actions)

    @property
    def points(self) -> list[Points]:
        return list(self.fast.values())


def _numbers(value: Any, count: int) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == count
        and all(isinstance(v, int | float | np.number) and np.isfinite(v) for v in value)
    )


def _declared(
    sim: Simulator, kind: str, count: int, form: str, faults: list[str]
) -> dict[str, Points]:
    """The points of the slow or fast coordinates."""
    points, declared = {}, getattr(sim, kind, None)
    if not isinstance(declared, Mapping):
        faults.append(f"{kind}: give a dict of coordinates, each {form}")
        return {}
    for name, value in declared.items():
        if isinstance(value, Points):
            points[name] = value
        elif _numbers(value, count) and value[0] < value[1] and (count == 2 or value[2] >= 2):
            ends = np.linspace(value[0], value[1], 2 if count == 2 else int(value[2]))
            points[name] = Points(ends, exact=False)
        else:
            try:
                values = np.unique(np.asarray(list(value), float))
            except (TypeError, ValueError):
                values = np.empty(0)
            if isinstance(value, tuple) or not values.size or not np.isfinite(values).all():
                faults.append(f"{kind}: {name!r} = {value!r}: give {form}")
            else:
                points[name] = Points(values, exact=True)
    return points


class Driver:
    """Calls a simulator's functions with read-only rows, checks the answers and counts the rows."""

    def __init__(self, sim: Simulator) -> None:
        self.sim, self.spec, self.calls = sim, Spec(sim), 0

    @property
    def moves(self) -> bool:
        """Whether the slow state has a model, and it is exogenous."""
        return self.sim.move is not None and self.sim.exogenous

    @cached_property
    def _move_takes_y(self) -> bool:
        return self.sim.move is not None and len(inspect.signature(self.sim.move).parameters) == 4

    def noise(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.random((n, self.spec.noise))

    def initial(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        answer = self._call("initial", self.sim.initial, rng, n)
        x, y = self._pair("initial", answer, "x and y")
        return (
            self._states("initial", "x", x, n, self.spec.slow),
            self._states("initial", "y", y, n, self.spec.fast),
        )

    def move(
        self, x: np.ndarray, u: np.ndarray, y: Any = None, a: Any = None, count: bool = True
    ) -> np.ndarray:
        self.calls += len(x) if count else 0
        assert self.sim.move is not None
        if self._move_takes_y:
            if y is None:  # exogenous: any y and a do
                y = np.tile([p.low for p in self.spec.points], (len(x), 1))
                a = np.zeros(len(x), np.int64)
            answer = self._call("move", self.sim.move, *map(_locked, (x, u, y, a)))
        else:
            answer = self._call("move", self.sim.move, _locked(x), _locked(u))
        return self._states("move", "x'", answer, len(x), self.spec.slow)

    def play(
        self, x: np.ndarray, x_next: np.ndarray, y: np.ndarray, a: np.ndarray, u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """y' and the rewards (negated costs); frozen if `x_next` is x."""
        self.calls += len(x)
        answer = self._call("play", self.sim.play, *map(_locked, (x, x_next, y, a, u)))
        y_next, r = self._pair("play", answer, "y' and the rewards")
        y_next = self._states("play", "y'", y_next, len(x), self.spec.fast)
        r = self._numbers("play", "reward", r, (len(x),))
        return y_next, self.spec.sign * r

    def step(
        self, x: np.ndarray, y: np.ndarray, a: np.ndarray, u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x', y' and the rewards of one true period."""
        x_next = self.move(x, u, y, a, count=False) if self.sim.move is not None else x
        return x_next, *self.play(x, x_next, y, a, u)

    def rule(self, theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        assert self.sim.rule is not None
        answer = self._call("rule", self.sim.rule, *map(_locked, (theta, x, y)))
        a = self._numbers("rule", "action", answer, (len(x),))
        if (wrong := (a != np.floor(a)) | (a < 0) | (a >= self.spec.A)).any():
            self._fail("rule", f"action {a[wrong][0]:g} in row {wrong.argmax()}: return indices "
                       f"from 0 to {self.spec.A - 1}")  # fmt: skip
        return a.astype(np.int64)

    def feasible(self, y: np.ndarray) -> np.ndarray:
        """Which actions can be taken, shape (n, A)."""
        if self.sim.feasible is None:
            return np.ones((len(y), self.spec.A), bool)
        answer = self._call("feasible", self.sim.feasible, _locked(y))
        mask = self._numbers("feasible", "answer", answer, (len(y), self.spec.A)) != 0
        if not mask.any(axis=1).all():
            self._fail("feasible", f"no action in y = {y[mask.any(axis=1).argmin()]}: allow one")
        return mask

    def _call(self, function: str, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except InputError:
            raise
        except Exception as error:
            shown = f"{type(error).__name__}: {error}"
            hint = " (copy an argument before you change it)" if "read-only" in shown else ""
            raise SimulatorFaults(
                self.spec.name, [f"{function} raised {shown}{hint}; correct it"]
            ) from error

    def _pair(self, function: str, answer: Any, what: str) -> tuple[Any, Any]:
        if not isinstance(answer, tuple) or len(answer) != 2:
            self._fail(function, f"returned {type(answer).__name__}: return {what}")
        return answer

    def _numbers(self, function: str, what: str, answer: Any, shape: tuple[int, ...]) -> np.ndarray:
        array = np.asarray(answer)
        if array.dtype.kind not in "biuf":
            self._fail(function, f"{what} has dtype {array.dtype}: return real numbers")
        if array.shape != shape:
            self._fail(function, f"{what} has shape {array.shape}: return shape {shape}")
        array = array.astype(float, copy=False)
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            self._fail(function, f"{what} in row {row} is {array.reshape(len(array), -1)[row]}: "
                       "return finite numbers")  # fmt: skip
        return array

    def _states(
        self, function: str, what: str, answer: Any, n: int, declared: Mapping[str, Points]
    ) -> np.ndarray:
        array = self._numbers(function, what, answer, (n, len(declared)))
        for j, (name, points) in enumerate(declared.items()):
            wrong = points.misses(array[:, j])
            if wrong.any():
                kind = "one of its declared values" if points.exact else "in its range"
                self._fail(
                    function,
                    f"{what}: {name} = {array[wrong.argmax(), j]:g} is not {kind} "
                    f"({points.low:g} to {points.high:g}): clip it, or declare more",
                )
        return array

    def _fail(self, function: str, fault: str) -> None:
        raise SimulatorFaults(self.spec.name, [f"{function}: {fault}"])


def _locked(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def stratified(rng: np.random.Generator, draws: int, d: int, *, middle: bool = False) -> np.ndarray:
    """A Latin hypercube, shape (draws, d): each point is uniform, so means are unbiased.

    With `middle` the points are the middles of their intervals: more precise, but not unbiased.
    """
    strata = rng.permuted(np.tile(np.arange(draws), (d, 1)), axis=1).T
    return (strata + (0.5 if middle else rng.random((draws, d)))) / draws


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(Summary):
    """What depends on what in `play`, found by changing one argument at a time.

    Attributes
    ----------
    reads : np.ndarray
        Whether output j (the fast coordinates, then the reward) reads input k (the fast
        coordinates, then the action), shape (d + 1, d + 1).
    noisy : np.ndarray
        Whether output j depends on u or on x', shape (d + 1,).
    separate : bool
        Whether `play` neither reads x' nor shares noise with `move`, so that x' and y' are
        independent.
    reads_next : bool
        Whether `play` reads x'.
    calls_per_second, calls : float, int
        Rows of `play` per second, and the calls of the tests.
    """

    reads: np.ndarray
    noisy: np.ndarray
    separate: bool
    reads_next: bool
    calls_per_second: float
    calls: int = 0

    def full(self) -> Dependence:
        """Everything reads everything: always true, and needs the most calls."""
        return Dependence(
            np.ones_like(self.reads),
            np.ones_like(self.noisy),
            False,
            True,
            self.calls_per_second,
        )

    def _summary(self) -> tuple[str, Lines]:
        return "Simulator without faults", [
            ("noise in y", bool(self.noisy[:-1].any())),
            ("noise in the reward", bool(self.noisy[-1])),
            ("x' and y' independent", self.separate),
            ("calls per second", round(self.calls_per_second)),
        ]


def check_simulator(sim: Simulator, *, seed: int = 0, seconds: float = SECONDS) -> Dependence:
    """Test what a simulator declares; raise an error that lists all faults with their remedies.

    Tested are shapes, types and ranges of all answers, that they depend on the arguments only (no
    randomness of their own) and on each row separately, that x is exogenous, that clocks advance by
    one, and that coordinates outside `controlled` do not depend on actions. A test by samples can
    miss a fault; every later call is checked for shapes and ranges again.

    Parameters
    ----------
    sim : Simulator
        The simulator.
    seed : int
        Seed of the tested states.
    seconds : float
        Time limit of one call with 1,000 rows (in the main thread).

    Returns
    -------
    Dependence
        What depends on what. `SimulatorFaults` is raised if there are faults.

    Examples
    --------
    >>> import fsdash
    >>> from fsdash.simulators.battery import Battery
    >>> fsdash.simulators.check_simulator(Battery()).separate
    True
    """
    tests = _Tests(sim, seed, seconds)
    tests.run()
    if tests.faults:
        raise SimulatorFaults(sim.name, list(dict.fromkeys(tests.faults)))
    return tests.dependence()


class _Tests:
    """The tests of `check_simulator`; each one collects its faults."""

    def __init__(self, sim: Simulator, seed: int, seconds: float) -> None:
        self.driver, self.seed, self.seconds = Driver(sim), seed, seconds
        self.rng, self.faults = np.random.default_rng(seed), list[str]()
        spec = self.driver.spec
        n, rng = ROWS, self.rng
        self.y = np.column_stack([rng.choice(p.values, n) for p in spec.points])
        self.x = np.column_stack(
            [np.empty((n, 0))]
            + [
                rng.choice(p.values, n) if p.exact else rng.uniform(p.low, p.high, n)
                for p in spec.slow.values()
            ]
        )
        self.a, self.u = rng.integers(0, spec.A, n), self.driver.noise(rng, n)

    def attempt(self, call: Callable[[], Any]) -> Any:
        """The answer of a call, or None after its faults were recorded."""
        try:
            with time_limit(self.seconds):
                return call()
        except SimulatorFaults as error:
            self.faults += error.faults
        except InputError as error:
            self.faults.append(str(error))

    def run(self) -> None:
        driver, spec, sim = self.driver, self.driver.spec, self.driver.sim
        start = self.attempt(lambda: driver.initial(np.random.default_rng(self.seed), ROWS))
        if start is not None:
            again = self.attempt(lambda: driver.initial(np.random.default_rng(self.seed), ROWS))
            if again is not None and not all(map(np.array_equal, start, again)):
                self.faults.append(
                    "initial: two calls with the same rng differ: draw from `rng` only"
                )
            # Half the states are those that are reached, half any point of the box.
            self.x[::2], self.y[::2] = start[0][::2], start[1][::2]
        x, y, a, u = self.x, self.y, self.a, self.u
        x_next = x
        if sim.move is not None:
            x_next = self.same("move", lambda i: driver.move(x[i], u[i], y[i], a[i]), "x, u")
            if x_next is not None and sim.exogenous:
                other = self.rng.permutation(ROWS)
                moved = self.attempt(lambda: driver.move(x, u, y[other], a[other]))
                if moved is not None and not np.array_equal(moved, x_next):
                    self.faults.append(
                        "move: x' depends on y or a: set exogenous = False (freezing still works, "
                        "but there is no certificate)"
                    )
            x_next = x if x_next is None else x_next
        for there in (x, x_next):

            def rows(i: Any, there: np.ndarray = there) -> np.ndarray:
                return np.column_stack(driver.play(x[i], there[i], y[i], a[i], u[i]))

            played = self.same("play", rows, "x, x_next, y, a, u")
            if played is None:
                return
        self.coordinates(x_next, played)
        if sim.rule is not None:
            if not spec.theta:
                self.faults.append("theta: declare the ranges of the rule's parameters")
            theta = np.array([(low + high) / 2 for low, high in spec.theta.values()])
            acts = self.attempt(lambda: driver.rule(theta, x, y))
            allowed = self.attempt(lambda: driver.feasible(y))
            answered = acts is not None and allowed is not None
            if answered and not allowed[np.arange(ROWS), acts].all():
                self.faults.append("rule: takes an infeasible action: use `feasible` in it")
        else:
            self.attempt(lambda: driver.feasible(y))

    def same(self, name: str, call: Callable[[Any], np.ndarray], arguments: str) -> Any:
        """The answer to all rows, if a second call and a call with some rows agree with it."""
        answer = self.attempt(lambda: call(slice(None)))
        if answer is None:
            return None
        again, rows = self.attempt(lambda: call(slice(None))), np.arange(0, ROWS, 7)
        some = self.attempt(lambda: call(rows))
        if again is None or some is None:
            return None
        if not np.array_equal(answer, again):
            self.faults.append(
                f"{name}: two calls with the same arguments differ: take all randomness from u "
                f"and keep no state; the answer may depend on {arguments} only"
            )
        elif not np.allclose(answer[rows], some, rtol=1e-12, atol=1e-12):
            self.faults.append(
                f"{name}: the answer for a row changes with the other rows: treat each row alone"
            )
        return answer

    def coordinates(self, x_next: np.ndarray, played: np.ndarray) -> None:
        """Clocks advance by one; exogenous coordinates read neither actions nor controlled ones."""
        spec, controlled = self.driver.spec, self.driver.spec.controlled
        for j, (name, points) in enumerate(spec.fast.items()):
            n = len(points.values)
            if points.cyclic and not np.array_equal(played[:, j], (self.y[:, j] + 1) % n):
                self.faults.append(f"play: clock {name} must become ({name} + 1) % {n}")
        if controlled.all():
            return
        y, other = self.y.copy(), self.rng.permutation(ROWS)
        y[:, controlled] = self.y[other][:, controlled]
        changed = self.attempt(
            lambda: self.driver.play(self.x, x_next, y, self.a[other], self.u)[0]
        )
        if changed is None:
            return
        for j in np.flatnonzero(~controlled).tolist():
            if not np.array_equal(changed[:, j], played[:, j]):
                name = spec.fast_names[j]
                self.faults.append(
                    f"play: {name} depends on the action or on a controlled coordinate: add it to "
                    "`controlled`"
                )

    def dependence(self, repeats: int = 3) -> Dependence:
        driver, rng, d = self.driver, self.rng, len(self.driver.spec.fast)
        start, before = perf_counter(), driver.calls

        def outputs(x_next=self.x, y=self.y, a=self.a, u=self.u):
            return np.column_stack(driver.play(self.x, x_next, y, a, u))

        def differs(other: np.ndarray) -> np.ndarray:
            return (np.abs(other - base) > 1e-12 * (1 + np.abs(base))).any(axis=0)

        base, reads = outputs(), np.zeros((d + 1, d + 1), bool)
        noisy, next_noisy = np.zeros(d + 1, bool), np.zeros(d + 1, bool)
        play_columns, move_columns = set(), set()
        for _ in range(repeats):
            for k, points in enumerate(driver.spec.points):
                y = self.y.copy()
                y[:, k] = rng.choice(points.values, ROWS)
                reads[:, k] |= differs(outputs(y=y))
            reads[:, d] |= differs(outputs(a=rng.integers(0, driver.spec.A, ROWS)))
            next_noisy |= differs(outputs(x_next=self.x[rng.permutation(ROWS)]))
            for k in range(driver.spec.noise):
                u = self.u.copy()
                u[:, k] = rng.random(ROWS)
                changed = differs(outputs(u=u))
                noisy |= changed
                if changed.any():
                    play_columns.add(k)
                if driver.sim.move is not None:
                    one, two = (driver.move(self.x, v, self.y, self.a) for v in (self.u, u))
                    if not np.array_equal(one, two):
                        move_columns.add(k)
        rate = (driver.calls - before) / max(perf_counter() - start, 1e-9)
        reads_next = bool(next_noisy.any())
        return Dependence(
            reads,
            noisy | next_noisy,
            not reads_next and not play_columns & move_columns,
            reads_next,
            rate,
            driver.calls,
        )


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise an InputError if the block takes longer; only in the main thread, where signals are."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise InputError(
            f"a call with {ROWS:,} rows took longer than {seconds:g} s: look for an endless loop, "
            "or replace a loop over rows by array operations"
        )

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def source_hash(sim: Simulator) -> str:
    """A hash of the simulator's source and settings, to tell which simulator a policy is for."""
    try:
        text = inspect.getsource(type(sim))
    except (OSError, TypeError):
        text = type(sim).__qualname__
    settings = sorted((name, repr(value)) for name, value in vars(sim).items())
    return hashlib.sha256(repr((text, settings)).encode()).hexdigest()[:16]
