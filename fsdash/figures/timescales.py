"""The two timescales as an SVG drawing: what really moves, and what the plan believes.

Four bands over the same periods: the slow state with the copy that the lower level holds frozen,
the fast state, and who acts under a stationary and under a T-periodic policy (the paper's figure of
the T-periodic policy). A cursor marks the period that is looked at. Period 0 of each block belongs
to the upper policy μ; the reward J₁ that it expects of the lower policies π₁, …, π_{T−1} holds the
slow state where it is in period 1.

The paths are schematic and the same every time; the slow one is drawn on a scale of its own.
"""

from dataclasses import dataclass

import numpy as np

from fsdash.figures.palette import (
    BACKGROUND,
    BLUE,
    GREEN,
    GREY,
    GRID,
    INK,
    PANEL,
    VERMILLION,
    with_opacity,
)

HEIGHT = 372
LEFT = 6
SLOW_BAND = (38, 118)
FAST_BAND = (152, 212)
STATIONARY = (240, 264)
CELLS = (290, 322)
SUBSCRIPTS = str.maketrans("0123456789−", "₀₁₂₃₄₅₆₇₈₉₋")


@dataclass(frozen=True)
class _Frame:
    """Where a period lies in a drawing of this many periods and pixels."""

    T: int
    periods: int
    width: int
    dark: bool

    @property
    def step(self) -> float:
        return (self.width - 2 * LEFT) / self.periods

    def x(self, period: float) -> float:
        return LEFT + self.step * period


def periods_shown(T: int, fewest: int) -> int:
    """Whole blocks: at least two of them, and at least `fewest` periods."""
    return T * max(2, -(-fewest // T))


def timescales_svg(
    T: int, width: int = 700, fewest: int = 24, dark: bool = False, now: int | None = None
) -> str:
    """The drawing for period length T, as one <svg> element that scales to its container.

    `now` is the period under the cursor, if there is one.
    """
    frame = _Frame(T, periods_shown(T, fewest), width, dark)
    slow, fast = _slow_path(frame.periods), _fast_path(frame.periods)
    parts = [
        _blocks(frame),
        _cursor(frame, now),
        _slow_band(frame, slow),
        _fast_band(frame, fast),
        _stationary(frame),
        _cells(frame),
        _brackets(frame),
        _time_axis(frame),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="14" fill="{INK.on(dark)}">'
        + "".join(parts)
        + "</svg>"
    )


def timescales_told(T: int, now: int | None = None) -> str:
    """The drawing in words."""
    text = (
        f"Timeline with T = {T}: in every block of {T} periods the upper policy acts once and the "
        f"lower policies {T - 1} times; the plan holds the slow state frozen inside the block."
    )
    return text if now is None else f"{text} {period_told(T, now)}"


def period_told(T: int, now: int) -> str:
    """Who acts in a period, and what was held frozen when it was planned."""
    t = now % T
    if t == 0:
        return (
            f"Period {now}: a block begins. The upper policy μ sees the true slow state x and "
            "looks ahead block by block."
        )
    return (
        f"Period {now}: π{_subscript(t)} acts on the true state; it was planned as if x moved no "
        f"more. The upper level counts on a reward with x as it was in period {now - t + 1}."
    )


def _unit(path: np.ndarray) -> np.ndarray:
    low, high = path.min(), path.max()
    return (path - low) / (high - low) if high > low else np.full_like(path, 0.5)


def _slow_path(periods: int) -> np.ndarray:
    """A smooth drift. Two waves of unlike length never look periodic within a drawing."""
    t = np.arange(periods + 1) / max(periods, 48)
    return _unit(0.7 * t + 0.3 * np.sin(2 * np.pi * (1.3 * t + 0.1)) + 0.08 * np.sin(25 * t))


def _fast_path(periods: int) -> np.ndarray:
    """Build-up and depletion with noise, as a stock that is ordered and sold."""
    noise = np.random.default_rng(7).uniform(-0.35, 0.35, periods + 1)
    return _unit(-(np.arange(periods + 1) % 5) / 4 + noise)


def _points(frame: _Frame, periods: np.ndarray, path: np.ndarray, band: tuple[int, int]) -> str:
    top, bottom = band
    return " ".join(
        f"{frame.x(t):.1f},{bottom - value * (bottom - top):.1f}"
        for t, value in zip(periods, path, strict=True)
    )


def _blocks(frame: _Frame) -> str:
    """Panels behind the periods that the lower level plans, so that blocks can be counted."""
    if frame.T == 1:
        return ""
    fill = PANEL.on(frame.dark)
    return "".join(
        f'<rect x="{frame.x(start + 1):.1f}" y="26" width="{frame.step * (frame.T - 1):.1f}" '
        f'height="190" rx="4" fill="{fill}"/>'
        for start in range(0, frame.periods, frame.T)
    )


def _slow_band(frame: _Frame, slow: np.ndarray) -> str:
    """The true slow state, the frozen copy of each block, and the gap between the two."""
    colour = BLUE.on(frame.dark)
    times = np.arange(frame.periods + 1)
    drawn = []
    for start in range(0, frame.periods, frame.T):
        inside = times[start + 1 : start + frame.T + 1]
        held = np.full(len(inside), slow[start + 1])
        if frame.T > 1:
            there = _points(frame, inside, slow[inside], SLOW_BAND)
            back = _points(frame, inside[::-1], held, SLOW_BAND)
            drawn.append(f'<polygon points="{there} {back}" fill="{with_opacity(colour, 0.3)}"/>')
            drawn.append(
                f'<polyline points="{_points(frame, inside, held, SLOW_BAND)}" fill="none" '
                f'stroke="{INK.on(frame.dark)}" stroke-width="2" stroke-dasharray="5 3"/>'
            )
    drawn.append(
        f'<polyline points="{_points(frame, times, slow, SLOW_BAND)}" fill="none" '
        f'stroke="{colour}" stroke-width="3"/>'
    )
    return _label(14, "slow state x", colour, _halo(frame)) + "".join(drawn)


def _fast_band(frame: _Frame, fast: np.ndarray) -> str:
    colour = VERMILLION.on(frame.dark)
    points = _points(frame, np.arange(frame.periods + 1), fast, FAST_BAND)
    line = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
    return _label(142, "fast state y", colour, _halo(frame)) + line


def _halo(frame: _Frame) -> str:
    """Keeps the cursor's frame from cutting through a word."""
    shade = BACKGROUND.on(frame.dark)
    return f' paint-order="stroke" stroke="{shade}" stroke-width="5" stroke-linejoin="round"'


def _label(y: float, text: str, colour: str, halo: str) -> str:
    return f'<text x="{LEFT}" y="{y}" fill="{colour}" font-weight="600"{halo}>{text}</text>'


def _stationary(frame: _Frame) -> str:
    """The same policy ν in every period: what ordinary value iteration looks for."""
    top, bottom = STATIONARY
    drawn = [_small(top - 6, "stationary policy", _halo(frame))]
    for t in range(frame.periods):
        drawn.append(_cell(frame, t, 1, "ν", False, (top, bottom)))
    return "".join(drawn)


def _cells(frame: _Frame) -> str:
    """Which policy acts: one dark cell for μ, light cells for the lower policies."""
    drawn = [_small(CELLS[0] - 6, f"T-periodic policy, T = {frame.T}", _halo(frame))]
    for start in range(0, frame.periods, frame.T):
        drawn.append(_cell(frame, start, 1, "μ", True, CELLS))
        if frame.step >= 22:
            for t in range(1, frame.T):
                drawn.append(_cell(frame, start + t, 1, "π" + _subscript(t), False, CELLS))
        elif frame.T > 1:
            drawn.append(_cell(frame, start + 1, frame.T - 1, _span(frame), False, CELLS))
    return "".join(drawn)


def _brackets(frame: _Frame) -> str:
    """The periods of each T-period reward."""
    y = CELLS[1] + 6
    shade = GREY.on(frame.dark)
    return "".join(
        f'<path d="M{frame.x(start) + 2:.1f} {y}v6H{frame.x(start + frame.T) - 2:.1f}v-6" '
        f'fill="none" stroke="{shade}" stroke-width="1.5"/>'
        for start in range(0, frame.periods, frame.T)
    )


def _cursor(frame: _Frame, now: int | None) -> str:
    if now is None:
        return ""
    return (
        f'<rect x="{frame.x(now):.1f}" y="24" width="{frame.step:.1f}" height="{CELLS[1] - 20}" '
        f'rx="4" fill="{with_opacity(GREEN.on(frame.dark), 0.12)}" '
        f'stroke="{GREEN.on(frame.dark)}" stroke-width="2.5"/>'
    )


def _small(y: float, text: str, halo: str) -> str:
    return f'<text x="{LEFT}" y="{y}" font-size="13"{halo}>{text}</text>'


def _span(frame: _Frame) -> str:
    last = _subscript(frame.T - 1)
    return f"π₁ … π{last}" if frame.step * (frame.T - 1) > 64 else ""


def _subscript(number: int) -> str:
    return str(number).translate(SUBSCRIPTS)


def _cell(
    frame: _Frame, start: int, length: int, text: str, upper: bool, band: tuple[int, int]
) -> str:
    fill = INK.on(frame.dark) if upper else PANEL.on(frame.dark)
    ink = PANEL.on(frame.dark) if upper else INK.on(frame.dark)
    left, width = frame.x(start), frame.step * length
    gap = min(2.0, width / 4)
    top, bottom = band
    box = (
        f'<rect x="{left + gap / 2:.1f}" y="{top}" width="{width - gap:.1f}" '
        f'height="{bottom - top}" rx="{min(4.0, width / 4):.1f}" fill="{fill}" '
        f'stroke="{GRID.on(frame.dark)}"/>'
    )
    if width < 14:
        return box
    middle = left + width / 2
    return box + (
        f'<text x="{middle:.1f}" y="{(top + bottom) / 2 + 5}" text-anchor="middle" '
        f'fill="{ink}">{text}</text>'
    )


def _time_axis(frame: _Frame) -> str:
    """A tick at the start of every block, with its period where there is room."""
    every = frame.T * max(1, -(-34 // max(1, int(frame.step * frame.T))))
    ticks = "".join(
        f'<text x="{frame.x(start):.1f}" y="352" font-size="13">{start}</text>'
        for start in range(0, frame.periods, every)
        if frame.x(start) < frame.width - 76  # the last word of the axis needs its place
    )
    end = f'<text x="{frame.width - LEFT}" y="352" font-size="13" text-anchor="end">period</text>'
    return ticks + end
