"""A small drawing of each domain: what moves, what is decided, what is paid. As SVG.

The slow state is blue and the fast state vermillion, as in the drawing of the two timescales;
what the policy decides is ink. A domain of one's own is told by its sizes.
"""

from __future__ import annotations

from html import escape

from fsdash.domains import Domain, Gridworld, Inventory, Pricing
from fsdash.domains.gridworld import INNER, OUTER
from fsdash.figures.palette import BLUE, GREY, GRID, INK, PANEL, VERMILLION, with_opacity

WIDTH = 340


def domain_svg(domain: Domain, dark: bool = False) -> str:
    """The drawing as one <svg> element that scales to its container."""
    draw = {Inventory: _inventory, Gridworld: _gridworld, Pricing: _pricing}.get(type(domain), _own)
    height, body = draw(domain, dark)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{INK.on(dark)}">'
        f"{_heads(dark)}{body}</svg>"
    )


def domain_told(domain: Domain) -> str:
    """The drawing in words."""
    n_slow, n_fast, n_actions, _ = domain.shape
    sizes = f"{n_slow * n_fast:,} states, {n_actions} actions."
    texts = {
        Inventory: "How much to order? Stock changes every day, demand drifts slowly; an order "
        "has a fixed cost.",
        Gridworld: "Which task to accept, where to step? The agent moves fast; which tasks pay "
        "well, the outer or the inner ones, changes rarely.",
        Pricing: "Which price? Customers remember past prices as a reference, which moves fast; "
        "how they react to it drifts slowly.",
    }
    text = texts.get(type(domain), f"{domain.title}.")
    return f"{text} {sizes}"


# ------------------------------------------------------------------------------------- the domains


def _inventory(domain: Inventory, dark: bool) -> tuple[int, str]:
    slow, fast, ink = BLUE.on(dark), VERMILLION.on(dark), INK.on(dark)
    parts = [
        _box(4, 58, 84, 52, dark),
        _text(46, 80, "order a", weight=600),
        _text(46, 98, f"0 … {domain.order_max}"),
        _arrow(90, 84, 126, 84, ink),
        _stock(132, 30, 76, 106, dark),
        _text(170, 154, "stock y", fast, 600),
        _text(170, 171, f"0 … {domain.y_max}"),
        _arrow(212, 84, 248, 84, ink),
        _text(230, 75, "sales", size=11),
        _box(252, 30, 84, 106, dark),
        _wave(260, 66, 68, slow),
        _text(294, 154, "demand d", slow, 600),
        _text(294, 171, f"{domain.d_min} … {domain.d_max}"),
        _text(46, 130, f"fixed cost {domain.K:g}", size=11),
        _text(46, 145, f"{domain.c:g} a unit", size=11),
        _text(170, 20, f"holding {domain.h:g} a unit", size=11),
        _text(294, 20, f"price {domain.p:g}", size=11),
    ]
    return 180, "".join(parts)


def _stock(x: float, y: float, width: float, height: float, dark: bool) -> str:
    """A shelf two thirds full."""
    fast = VERMILLION.on(dark)
    rows = 6
    step = (height - 8) / rows
    units = "".join(
        f'<rect x="{x + 6}" y="{y + height - 4 - (i + 1) * step + 2:.1f}" width="{width - 12}" '
        f'height="{step - 4:.1f}" rx="3" fill="{with_opacity(fast, 0.75 if i < 4 else 0.13)}"/>'
        for i in range(rows)
    )
    return _box(x, y, width, height, dark) + units


def _wave(x: float, y: float, width: float, colour: str) -> str:
    """A slow drift with the place it is at now."""
    path = (
        f"M{x} {y + 30} C{x + width * 0.3} {y + 34}, {x + width * 0.35} {y - 14}, "
        f"{x + width * 0.6} {y} S{x + width * 0.85} {y + 30}, {x + width} {y + 12}"
    )
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="3"/>'
        f'<circle cx="{x + width}" cy="{y + 12}" r="5" fill="{colour}"/>'
    )


def _gridworld(domain: Gridworld, dark: bool) -> tuple[int, str]:
    n, side, left, top = domain.size, 176, 4, 4
    cell = side / n
    colours = dict.fromkeys(OUTER, BLUE.on(dark)) | dict.fromkeys(INNER, VERMILLION.on(dark))

    def at(column: int, row: int) -> tuple[float, float]:
        return left + (column + 0.5) * cell, top + side - (row + 0.5) * cell

    lines = "".join(
        f'<path d="M{left + i * cell:.1f} {top}v{side}M{left} {top + i * cell:.1f}h{side}" '
        f'stroke="{GRID.on(dark)}"/>'
        for i in range(n + 1)
    )
    arrows = "".join(
        _arrow(*at(*start), *at(*end), colours.get(task, GREY.on(dark)))
        for task, (start, end) in enumerate(domain.tasks.tolist(), 1)
    )
    x = left + side + 14
    words = [
        _text(x, 22, "pick up → deliver", weight=600, anchor="start"),
        _text(x, 52, "outer tasks pay", BLUE.on(dark), 600, anchor="start"),
        _text(x, 69, f"{domain.outer_high:g} or {domain.outer_low:g}", anchor="start"),
        _text(x, 96, "inner tasks pay", VERMILLION.on(dark), 600, anchor="start"),
        _text(x, 113, f"{domain.inner_low:g} or {domain.inner_high:g}", anchor="start"),
        _text(x, 144, "slow: which ring pays,", size=12, anchor="start"),
        _text(x, 160, f"switches with {domain.switch:g}", size=12, anchor="start"),
    ]
    return 184, lines + arrows + "".join(words)


def _pricing(domain: Pricing, dark: bool) -> tuple[int, str]:
    slow, fast, ink = BLUE.on(dark), VERMILLION.on(dark), INK.on(dark)
    parts = [
        _box(4, 14, 96, 50, dark),
        _text(52, 35, "price", weight=600),
        _text(52, 53, f"0 … {domain.price_max:g}"),
        _arrow(102, 39, 234, 39, ink),
        _text(168, 31, "demand, revenue", size=11),
        _box(238, 14, 98, 50, dark),
        _text(287, 35, "consumers", slow, 600),
        _text(287, 53, "α, η⁺, η⁻", slow),
        _box(106, 112, 128, 50, dark),
        _text(170, 133, "reference price", fast, 600),
        _text(170, 151, "what they expect", size=11),
        _arrow(52, 66, 102, 134, ink),
        _text(44, 112, "remembered", size=11),
        _arrow(238, 134, 290, 68, ink),
        _text(294, 112, "compared", size=11),
    ]
    return 170, "".join(parts)


def _own(domain: Domain, dark: bool) -> tuple[int, str]:
    n_slow, n_fast, n_actions, n_noise = domain.shape
    parts = [
        _box(4, 14, 160, 56, dark),
        _text(84, 37, "slow state x", BLUE.on(dark), 600),
        _text(84, 57, f"{n_slow:,} values"),
        _box(176, 14, 160, 56, dark),
        _text(256, 37, "fast state y", VERMILLION.on(dark), 600),
        _text(256, 57, f"{n_fast:,} values"),
        _text(170, 98, f"{n_actions:,} actions, {n_noise:,} outcomes of the noise"),
    ]
    return 110, "".join(parts)


# ------------------------------------------------------------------------------------------- shapes


def _heads(dark: bool) -> str:
    """An arrow head for each colour that an arrow may have."""
    colours = {colour.on(dark) for colour in (INK, BLUE, VERMILLION, GREY)}
    marks = "".join(
        f'<marker id="head{colour[1:]}" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="5.5" '
        f'markerHeight="5.5" orient="auto"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
        for colour in sorted(colours)
    )
    return f"<defs>{marks}</defs>"


def _arrow(x0: float, y0: float, x1: float, y1: float, colour: str) -> str:
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
        f'stroke-width="2" marker-end="url(#head{colour[1:]})"/>'
    )


def _box(x: float, y: float, width: float, height: float, dark: bool) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{PANEL.on(dark)}" '
        f'stroke="{GRID.on(dark)}"/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    colour: str = "",
    weight: int = 400,
    size: int = 13,
    anchor: str = "middle",
) -> str:
    fill = f' fill="{colour}"' if colour else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" '
        f'font-size="{size}"{fill}>{escape(text)}</text>'
    )
