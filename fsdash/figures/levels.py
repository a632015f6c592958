"""The two levels of the frozen-state approximation as SVG drawings that can be stepped through.

    lower_level_svg   the lower level with and without freezing, as in the paper's comparison; each
                      step goes back one period and computes one value J_t
    upper_level_svg   the paper's upper level; each step is a block of T periods

`describe_lower_level` and `describe_upper_level` explain a step in words, as a caption and as the
text for screen readers.
"""

from fsdash.figures.palette import (
    BACKGROUND,
    BLUE,
    GREEN,
    GREY,
    GRID,
    INK,
    PANEL,
    VERMILLION,
    Colour,
)
from fsdash.figures.svg import Pen, subscript, superscript

BLOCKS = 3
"""Blocks in the drawing of the upper level."""


def lower_level_steps(T: int) -> int:
    """The number of steps: J_T is given, and J_{T−1}, …, J_1 are computed one by one."""
    return T


def lower_level_svg(T: int, step: int, width: int = 700) -> str:
    """Periods 1 to T under the true dynamics (top) and in the frozen plan (bottom)."""
    pen = Pen()
    if T == 1:
        return pen.drawing(width, 60, [pen.text(width / 2, 36, "T = 1: there is no lower level.")])
    true = _chain(pen, T, step, width, 74, frozen=False)
    frozen = _chain(pen, T, step, width, 244, frozen=True)
    return pen.drawing(width, 316, [*true, *frozen])


def _chain(pen: Pen, T: int, step: int, width: int, y: int, frozen: bool) -> list[str]:
    """The states of periods 1 to T in a row, ending with the terminal value."""
    left, right = 30, width - 40
    gap = (right - left) / (T - 1)
    r = min(19.0, gap / 3)
    title = "frozen plan: x stays at x₁" if frozen else "true lower level: x moves too"
    drawn = [pen.text(4, y - 52, title, anchor="start", size=16)]
    if frozen:
        drawn.append(pen.box(left - 26, y - 40, right - left + 62, 98, PANEL))
    labelled = _labelled_periods(T, gap)
    for t in range(1, T + 1):
        x, last = left + (t - 1) * gap, t == T
        lit = frozen and t >= T - step
        if not last:
            drawn.append(pen.arrow(x + r, y, x + gap - r, y))
        slow = "₁" if frozen else subscript(t)
        if last:
            end = ("0", GREY) if frozen else ("U*", GREEN)
            drawn.append(pen.box(x - r, y - r, 2 * r, 2 * r, BACKGROUND, end[1], line=2.5))
            drawn.append(pen.text(x, y + 5, end[0], end[1]))
        else:
            drawn.append(_state(pen, x, y, r, GREY if frozen else INK, lit))
            if lit:
                drawn.append(pen.text(x, y + 5, f"J{subscript(t)}", BACKGROUND, size=_font_size(r)))
        if t in labelled:
            apart = 11 if t < 10 else 14
            drawn.append(pen.text(x - apart, y + r + 20, f"x{slow}", BLUE))
            drawn.append(pen.text(x + apart, y + r + 20, f"y{subscript(t)}", VERMILLION))
    return drawn


def _labelled_periods(T: int, gap: float) -> set[int]:
    """The periods whose state is labelled: not all of them where the circles are close."""
    every = -(-(46 if T < 10 else 62) // gap)
    return {T, *(t for t in range(1, T) if (t - 1) % every == 0 and T - t >= every)}


def upper_level_svg(T: int, step: int, gamma: float = 0.95, width: int = 700) -> str:
    """Blocks of T periods, in a row or, on a narrow page, one below the other.

    The frozen periods of a block are summarised by one number, J₁.
    """
    pen, now = Pen(), step % BLOCKS
    rows = BLOCKS if width < 500 else 1
    block = (width - 70) * rows / BLOCKS
    drawn = []
    for n in range(BLOCKS):
        row, place = (n, 0) if rows > 1 else (0, n)
        x = 30 + place * block
        parts = _block(pen, T, n, x, block, n == now, gamma)
        if rows > 1 or n == BLOCKS - 1:
            parts += _end(pen, x + block, (n + 1) * T)
        drawn.append(pen.moved(row * 190, parts))
    return pen.drawing(width, 216 + 190 * (rows - 1), drawn)


def _end(pen: Pen, x: float, period: int) -> list[str]:
    return [_state(pen, x, 110, 20, INK, False), pen.text(x, 115, f"s{subscript(period)}", size=13)]


def _block(pen: Pen, T: int, n: int, x: float, block: float, on: bool, gamma: float) -> list[str]:
    """One step of the upper level: one true period under μ, then T−1 periods of the lower level."""
    edge = GREEN if on else GRID
    drawn = [
        pen.arrow(x + 20, 110, x + 46 if T > 1 else x + block - 20, 110),
        pen.text(x + 32, 98, "μ", size=16),
        _state(pen, x, 110, 20, GREEN if on else INK, on),
        pen.text(x, 115, f"s{subscript(n * T)}", BACKGROUND if on else INK, size=13),
    ]
    if T > 1:
        middle = x + 46 + (block - 46 - 46) / 2
        drawn += [
            pen.box(x + 48, 76, block - 46 - 48, 68, PANEL, edge, line=3 if on else 1),
            pen.text(middle, 105, f"{T - 1} × π", size=14),
            pen.text(middle, 128, "value J₁", GREY, size=14),
            pen.arrow(x + block - 44, 110, x + block - 20, 110),
        ]
    weight = gamma ** (n * T)
    label = "× 1" if n == 0 else f"× γ{superscript(n * T)} = {weight:.2f}"
    drawn.append(pen.text(x + block / 2, 182, label, GREEN if on else INK, size=16))
    drawn.append(pen.text(x + block / 2, 204, _periods(n, T), GREY, size=13))
    reward = "reward of 1 period" if T == 1 else f"reward over {T} periods"
    drawn.append(pen.text(x + block / 2, 52, reward, size=14))
    return drawn


def _periods(n: int, T: int) -> str:
    return f"period {n}" if T == 1 else f"periods {n * T}–{(n + 1) * T - 1}"


def describe_lower_level(T: int, step: int) -> str:
    """What the drawing of the lower level shows at this step."""
    if T == 1:
        return "With T = 1 nothing is frozen and there is no lower level: this is value iteration."
    if step == 0:
        return (
            f"Backward induction starts at period {T}. The true problem continues with the value "
            "U*; the frozen plan assumes that nothing follows, J = 0. This causes the "
            "end-of-horizon error."
        )
    t = T - step
    text = (
        f"Backward induction: step {step} of {T - 1}. J{subscript(t)} is the best reward of period "
        f"{t} plus the discounted J{subscript(t + 1)}, with x held at x₁."
    )
    if t == 1:
        text += (
            " Done: J₁ is the value of the block after its first period. It is computed once for "
            "all blocks."
        )
    return text


def describe_upper_level(T: int, step: int, gamma: float = 0.95) -> str:
    """What the drawing of the upper level shows at this step."""
    n = step % BLOCKS
    if T == 1:
        return (
            f"Block {n + 1} is period {n} alone: the upper policy μ acts in every period and there "
            f"is no lower level. The reward of this block has weight {gamma**n:.2f} today (γ = "
            f"{gamma})."
        )
    return (
        f"Block {n + 1}: in period {n * T} the upper policy μ acts on the true state. The lower "
        f"level then acts {T - 1} times; its value J₁ is already known. The reward of this block "
        f"has weight {gamma ** (n * T):.2f} today (γ = {gamma}): each step of the upper level "
        f"discounts by γ{superscript(T)} = {gamma**T:.2f}."
    )


def _state(pen: Pen, x: float, y: float, r: float, edge: Colour, filled: bool) -> str:
    """A state as a circle, filled if it is part of the current step."""
    return pen.circle(x, y, r, edge if filled else BACKGROUND, edge)


def _font_size(r: float) -> int:
    """The size of the letters in a circle of radius r."""
    return 15 if r >= 17 else 11
