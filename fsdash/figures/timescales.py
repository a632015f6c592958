"""The two timescales as an SVG drawing: how the states really move, and what the plan assumes.

Four bands over the same periods: the slow state with the frozen copy that the lower level uses, the
fast state, and the policy that acts, for a stationary and for a T-periodic policy (the paper's
figure of the T-periodic policy). A cursor marks one period. Period 0 of each block belongs to the
upper policy μ; the reward J₁ that it expects from the lower policies π₁, …, π_{T−1} assumes that
the slow state stays where it is in period 1.

The paths are schematic and always the same; the slow path has its own scale.
"""

from dataclasses import dataclass

import numpy as np

from fsdash.figures.palette import BLUE, GREEN, GREY, GRID, INK, PANEL, VERMILLION, Colour
from fsdash.figures.svg import Pen, Point, subscript

HEIGHT = 372
LEFT = 6
SLOW_BAND = (38, 118)
FAST_BAND = (152, 212)
STATIONARY = (240, 264)
PERIODIC = (290, 322)
SIZE, SMALL = 14, 13
"""Font sizes."""


@dataclass(frozen=True)
class _Frame:
    """A pen and the place of each period in the drawing."""

    pen: Pen
    T: int
    periods: int
    width: int

    @property
    def step(self) -> float:
        return (self.width - 2 * LEFT) / self.periods

    def x(self, period: float) -> float:
        return LEFT + self.step * period


def periods_shown(T: int, fewest: int) -> int:
    """The number of periods drawn: whole blocks, at least two, and at least `fewest` periods."""
    return T * max(2, -(-fewest // T))


def timescales_svg(T: int, width: int = 700, fewest: int = 24, now: int | None = None) -> str:
    """The drawing for T, as one <svg> element that scales to its container.

    `now` is the period under the cursor, if any.
    """
    frame = _Frame(Pen(), T, periods_shown(T, fewest), width)
    slow, fast = _slow_path(frame.periods), _fast_path(frame.periods)
    elements = [
        *_blocks(frame),
        *_cursor(frame, now),
        *_slow_band(frame, slow),
        *_fast_band(frame, fast),
        *_stationary(frame),
        *_periodic(frame),
        *_brackets(frame),
        *_time_axis(frame),
    ]
    return frame.pen.drawing(width, HEIGHT, elements)


def describe_timescales(T: int, now: int | None = None) -> str:
    """The drawing in words."""
    text = (
        f"Timeline with T = {T}: in every block of {T} periods the upper policy acts once and the "
        f"lower policies {T - 1} times. The plan holds the slow state frozen inside the block."
    )
    return text if now is None else f"{text} {describe_period(T, now)}"


def describe_period(T: int, now: int) -> str:
    """Which policy acts in a period, and what was held frozen when it was planned."""
    t = now % T
    if t == 0:
        return (
            f"Period {now}: a block begins. The upper policy μ sees the true slow state x and "
            "plans block by block."
        )
    return (
        f"Period {now}: π{subscript(t)} acts on the true state. It was planned as if x stayed "
        f"where it is. The upper level expects a reward with x as it was in period {now - t + 1}."
    )


def _unit(path: np.ndarray) -> np.ndarray:
    """The path, scaled to the range from 0 to 1."""
    low, high = path.min(), path.max()
    return (path - low) / (high - low) if high > low else np.full_like(path, 0.5)


def _slow_path(periods: int) -> np.ndarray:
    """A smooth drift. Two waves of different length do not look periodic within the drawing."""
    t = np.arange(periods + 1) / max(periods, 48)
    return _unit(0.7 * t + 0.3 * np.sin(2 * np.pi * (1.3 * t + 0.1)) + 0.08 * np.sin(25 * t))


def _fast_path(periods: int) -> np.ndarray:
    """Build-up and depletion with noise, like a stock that is ordered and sold."""
    noise = np.random.default_rng(7).uniform(-0.35, 0.35, periods + 1)
    return _unit(-(np.arange(periods + 1) % 5) / 4 + noise)


def _points(
    frame: _Frame, periods: np.ndarray, path: np.ndarray, band: tuple[int, int]
) -> list[Point]:
    top, bottom = band
    return [
        (frame.x(t), bottom - value * (bottom - top))
        for t, value in zip(periods, path, strict=True)
    ]


def _blocks(frame: _Frame) -> list[str]:
    """Panels behind the periods that the lower level plans, so that blocks can be counted."""
    if frame.T == 1:
        return []
    width = frame.step * (frame.T - 1)
    return [
        frame.pen.box(frame.x(start + 1), 26, width, 190, PANEL, None, radius=4)
        for start in range(0, frame.periods, frame.T)
    ]


def _slow_band(frame: _Frame, slow: np.ndarray) -> list[str]:
    """The true slow state, the frozen copy of each block, and the gap between them."""
    pen, times = frame.pen, np.arange(frame.periods + 1)
    drawn = [_label(frame, 14, "slow state x", BLUE)]
    for start in range(0, frame.periods, frame.T):
        inside = times[start + 1 : start + frame.T + 1]
        frozen = np.full(len(inside), slow[start + 1])
        if frame.T > 1:
            there = _points(frame, inside, slow[inside], SLOW_BAND)
            back = _points(frame, inside[::-1], frozen, SLOW_BAND)
            copy = _points(frame, inside, frozen, SLOW_BAND)
            drawn.append(pen.polygon([*there, *back], BLUE, opacity=0.3))
            drawn.append(pen.polyline(copy, INK, dash="5 3"))
    drawn.append(pen.polyline(_points(frame, times, slow, SLOW_BAND), BLUE, 3))
    return drawn


def _fast_band(frame: _Frame, fast: np.ndarray) -> list[str]:
    points = _points(frame, np.arange(frame.periods + 1), fast, FAST_BAND)
    label = _label(frame, 142, "fast state y", VERMILLION)
    return [label, frame.pen.polyline(points, VERMILLION)]


def _stationary(frame: _Frame) -> list[str]:
    """The same policy ν in every period: the policy that ordinary value iteration finds."""
    label = _small_label(frame, STATIONARY[0] - 6, "stationary policy")
    cells = (_cell(frame, t, 1, "ν", False, STATIONARY) for t in range(frame.periods))
    return [label, *cells]


def _periodic(frame: _Frame) -> list[str]:
    """The policy of each period: one dark cell for μ, light cells for the lower policies."""
    drawn = [_small_label(frame, PERIODIC[0] - 6, f"T-periodic policy, T = {frame.T}")]
    for start in range(0, frame.periods, frame.T):
        drawn.append(_cell(frame, start, 1, "μ", True, PERIODIC))
        if frame.step >= 22:
            for t in range(1, frame.T):
                drawn.append(_cell(frame, start + t, 1, "π" + subscript(t), False, PERIODIC))
        elif frame.T > 1:
            drawn.append(_cell(frame, start + 1, frame.T - 1, _span(frame), False, PERIODIC))
    return drawn


def _brackets(frame: _Frame) -> list[str]:
    """The periods of each T-period reward."""
    y = PERIODIC[1] + 6
    return [
        frame.pen.path(
            f"M{frame.x(start) + 2:.1f} {y}v6H{frame.x(start + frame.T) - 2:.1f}v-6", GREY, 1.5
        )
        for start in range(0, frame.periods, frame.T)
    ]


def _cursor(frame: _Frame, now: int | None) -> list[str]:
    if now is None:
        return []
    height = PERIODIC[1] - 20
    x, width = frame.x(now), frame.step
    return [frame.pen.box(x, 24, width, height, GREEN, GREEN, line=2.5, radius=4, opacity=0.12)]


def _label(frame: _Frame, y: float, words: str, colour: Colour) -> str:
    return frame.pen.text(LEFT, y, words, colour, anchor="start", size=SIZE, weight=600, halo=True)


def _small_label(frame: _Frame, y: float, words: str) -> str:
    return frame.pen.text(LEFT, y, words, anchor="start", size=SMALL, halo=True)


def _span(frame: _Frame) -> str:
    """The names of all lower policies, if there is room for them."""
    last = subscript(frame.T - 1)
    return f"π₁ … π{last}" if frame.step * (frame.T - 1) > 64 else ""


def _cell(
    frame: _Frame, start: int, length: int, name: str, upper: bool, band: tuple[int, int]
) -> str:
    """A box over `length` periods with the name of the policy, if there is room for it."""
    fill, ink = (INK, PANEL) if upper else (PANEL, INK)
    left, width = frame.x(start), frame.step * length
    gap, radius = min(2.0, width / 4), min(4.0, width / 4)
    top, bottom = band
    box = frame.pen.box(left + gap / 2, top, width - gap, bottom - top, fill, GRID, radius=radius)
    if width < 14:
        return box
    middle = (top + bottom) / 2
    return box + frame.pen.text(left + width / 2, middle + 5, name, ink, size=SIZE)


def _time_axis(frame: _Frame) -> list[str]:
    """A tick at the start of every block, or of every few blocks where they are narrow."""
    every = frame.T * max(1, -(-34 // max(1, int(frame.step * frame.T))))
    ticks = [
        frame.pen.text(frame.x(start), 352, str(start), anchor="start", size=SMALL)
        for start in range(0, frame.periods, every)
        if frame.x(start) < frame.width - 76  # room for the title at the right end
    ]
    return [*ticks, frame.pen.text(frame.width - LEFT, 352, "period", anchor="end", size=SMALL)]
