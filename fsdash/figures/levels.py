"""The two levels of the frozen-state approximation as SVG drawings that can be stepped through.

    lower_level_svg   the paper's comparison of the lower level with and without freezing: a step
                      back in time for each value J_t that is computed
    upper_level_svg   the paper's upper level: a step of T periods and one discount γᵀ for each

`told` puts a step into words, for the caption and for who cannot see the drawing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fsdash.figures.palette import BACKGROUND, BLUE, GREEN, GREY, GRID, INK, PANEL, VERMILLION

BLOCKS = 3
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class _Pen:
    """Draws in the colours of a light or a dark page."""

    dark: bool

    def text(self, x: float, y: float, words: str, colour=INK, anchor="middle", size=15) -> str:
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{colour.on(self.dark)}">{words}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, fill, edge=GRID, line=1) -> str:
        return (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="8" '
            f'fill="{fill.on(self.dark)}" stroke="{edge.on(self.dark)}" stroke-width="{line}"/>'
        )

    def disc(self, x: float, y: float, r: float, edge, on: bool) -> str:
        fill = edge if on else BACKGROUND
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{fill.on(self.dark)}" '
            f'stroke="{edge.on(self.dark)}" stroke-width="2.5"/>'
        )

    def arrow(self, x0: float, x1: float, y: float, colour=INK) -> str:
        shade = colour.on(self.dark)
        return (
            f'<path d="M{x0:.1f} {y:.1f}H{x1 - 6:.1f}" stroke="{shade}" stroke-width="2"/>'
            f'<path d="M{x1:.1f} {y:.1f}l-8 -4.5v9z" fill="{shade}"/>'
        )

    def sheet(self, width: int, height: int, parts: Iterable[str]) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="system-ui, sans-serif">{"".join(parts)}</svg>'
        )


def lower_level_steps(T: int) -> int:
    """J_T is given; then J_{T−1}, …, J_1 are computed one after the other."""
    return T


def lower_level_svg(T: int, step: int, width: int = 700, dark: bool = False) -> str:
    """Above, what really happens in periods 1 to T; below, what the frozen plan sees."""
    pen = _Pen(dark)
    if T == 1:
        return pen.sheet(width, 60, [pen.text(width / 2, 36, "T = 1: there is no lower level.")])
    true = _chain(pen, T, step, width, 74, frozen=False)
    frozen = _chain(pen, T, step, width, 244, frozen=True)
    return pen.sheet(width, 316, [*true, *frozen])


def _chain(pen: _Pen, T: int, step: int, width: int, y: int, frozen: bool) -> list[str]:
    """States of periods 1 to T in a row, ending in the value that stands for the rest."""
    left, right = 30, width - 40
    gap = (right - left) / (T - 1)
    r = min(19.0, gap / 3)
    title = "the frozen plan: x stays at x₁" if frozen else "the true lower level: x moves too"
    drawn = [pen.text(4, y - 52, title, anchor="start", size=16)]
    if frozen:
        drawn.append(pen.box(left - 26, y - 40, right - left + 62, 98, PANEL))
    named = _named(T, gap)
    for t in range(1, T + 1):
        x, last = left + (t - 1) * gap, t == T
        lit = frozen and t >= T - step
        if not last:
            drawn.append(pen.arrow(x + r, x + gap - r, y))
        slow = "₁" if frozen else _sub(t)
        if last:
            end = ("0", GREY) if frozen else ("U*", GREEN)
            drawn.append(pen.box(x - r, y - r, 2 * r, 2 * r, BACKGROUND, end[1], 2.5))
            drawn.append(pen.text(x, y + 5, end[0], end[1]))
        else:
            drawn.append(pen.disc(x, y, r, GREY if frozen else INK, lit))
            if lit:
                drawn.append(pen.text(x, y + 5, f"J{_sub(t)}", BACKGROUND, size=_size(r)))
        if t in named:
            apart = 11 if t < 10 else 14
            drawn.append(pen.text(x - apart, y + r + 20, f"x{slow}", BLUE))
            drawn.append(pen.text(x + apart, y + r + 20, f"y{_sub(t)}", VERMILLION))
    return drawn


def _named(T: int, gap: float) -> set[int]:
    """The periods whose state has its name below: where they stand close, not all of them."""
    every = -(-(46 if T < 10 else 62) // gap)
    return {T, *(t for t in range(1, T) if (t - 1) % every == 0 and T - t >= every)}


def upper_level_svg(
    T: int, step: int, gamma: float = 0.95, width: int = 700, dark: bool = False
) -> str:
    """Blocks of T periods; what is frozen inside each is one number, J₁.

    They stand in a row, or one below the other where a row would be too narrow.
    """
    pen, now = _Pen(dark), step % BLOCKS
    rows = BLOCKS if width < 500 else 1
    block = (width - 70) * rows / BLOCKS
    drawn = []
    for n in range(BLOCKS):
        row, place = (n, 0) if rows > 1 else (0, n)
        x = 30 + place * block
        parts = _block(pen, T, n, x, block, n == now, gamma)
        if rows > 1 or n == BLOCKS - 1:
            parts += _end(pen, x + block, (n + 1) * T)
        drawn.append(f'<g transform="translate(0,{row * 190})">{"".join(parts)}</g>')
    return pen.sheet(width, 216 + 190 * (rows - 1), drawn)


def _end(pen: _Pen, x: float, period: int) -> list[str]:
    return [pen.disc(x, 110, 20, INK, False), pen.text(x, 115, f"s{_sub(period)}", size=13)]


def _block(pen: _Pen, T: int, n: int, x: float, block: float, on: bool, gamma: float) -> list[str]:
    """One step of the upper level: a true period under μ, then T−1 periods by the lower level."""
    edge = GREEN if on else GRID
    drawn = [
        pen.arrow(x + 20, x + 46 if T > 1 else x + block - 20, 110),
        pen.text(x + 32, 98, "μ", size=16),
        pen.disc(x, 110, 20, GREEN if on else INK, on),
        pen.text(x, 115, f"s{_sub(n * T)}", BACKGROUND if on else INK, size=13),
    ]
    if T > 1:
        middle = x + 46 + (block - 46 - 46) / 2
        drawn += [
            pen.box(x + 48, 76, block - 46 - 48, 68, PANEL, edge, 3 if on else 1),
            pen.text(middle, 105, f"{T - 1} × π", size=14),
            pen.text(middle, 128, "worth J₁", GREY, size=14),
            pen.arrow(x + block - 44, x + block - 20, 110),
        ]
    weight = gamma ** (n * T)
    label = "× 1" if n == 0 else f"× γ{_sup(n * T)} = {weight:.2f}"
    drawn.append(pen.text(x + block / 2, 182, label, GREEN if on else INK, size=16))
    drawn.append(pen.text(x + block / 2, 204, _periods(n, T), GREY, size=13))
    drawn.append(pen.text(x + block / 2, 52, f"reward R̃ of {T}", size=14))
    return drawn


def _periods(n: int, T: int) -> str:
    return f"period {n}" if T == 1 else f"periods {n * T}–{(n + 1) * T - 1}"


def lower_level_told(T: int, step: int) -> str:
    """What the drawing of the lower level shows at this step."""
    if T == 1:
        return "With T = 1 nothing is frozen and there is no lower level: this is value iteration."
    if step == 0:
        return (
            f"Start at the end: the true problem goes on with the value U* of period {T}; the "
            "frozen plan sees nothing there, J = 0. This is the end-of-horizon error."
        )
    t = T - step
    text = (
        f"Step {step} of {T - 1}, back in time: J{_sub(t)} is the best reward of period {t} plus "
        f"the discounted J{_sub(t + 1)}, with x held at x₁."
    )
    if t == 1:
        text += " Done: J₁ is worth the whole block, and it was computed once for all blocks."
    return text


def upper_level_told(T: int, step: int, gamma: float = 0.95) -> str:
    """What the drawing of the upper level shows at this step."""
    n = step % BLOCKS
    if T == 1:
        return (
            f"Block {n + 1} is period {n} alone: the upper policy μ acts in each, there is no "
            f"lower level, and what this one pays counts {gamma**n:.2f} today (at γ = {gamma})."
        )
    return (
        f"Block {n + 1}: in period {n * T} the upper policy μ acts on the true state; the lower "
        f"level then acts {T - 1} times, and its worth J₁ is a number that is already known. What "
        f"this block pays counts {gamma ** (n * T):.2f} today (at γ = {gamma}): one step discounts "
        f"by γ{_sup(T)} = {gamma**T:.2f}."
    )


def _size(r: float) -> int:
    return 15 if r >= 17 else 11


def _sub(number: int) -> str:
    return str(number).translate(_SUBSCRIPTS)


def _sup(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)
