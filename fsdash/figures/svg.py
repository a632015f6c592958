"""Small SVG drawings: shapes and text as SVG elements.

    pen = Pen()
    pen.drawing(340, 120, [pen.box(4, 14, 96, 50), pen.text(52, 35, "price", weight=600)])

Lengths are in pixels of the drawing's own coordinates; a page scales the drawing to its width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import hypot

from fsdash.figures.palette import BACKGROUND, GRID, INK, PANEL, Colour, with_opacity

Point = tuple[float, float]

_SUBSCRIPTS = str.maketrans("0123456789−", "₀₁₂₃₄₅₆₇₈₉₋")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def subscript(number: int) -> str:
    return str(number).translate(_SUBSCRIPTS)


def superscript(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)


@dataclass(frozen=True)
class Pen:
    """Makes SVG elements. Colours are palette colours; the pen picks the variant of the page."""

    def drawing(self, width: float, height: float, elements: Iterable[str]) -> str:
        """One <svg> element that scales to its container."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="system-ui, sans-serif">{"".join(elements)}</svg>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        colour: Colour = INK,
        *,
        anchor: str = "middle",
        size: float = 15,
        weight: int = 400,
        halo: bool = False,
    ) -> str:
        """One line of text; `halo` keeps lines behind it from cutting through the words."""
        behind = (
            f' paint-order="stroke" stroke="{BACKGROUND}" stroke-width="5" stroke-linejoin="round"'
        )
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}" fill="{colour}"{behind if halo else ""}>'
            f"{escape(words)}</text>"
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: Colour | None = PANEL,
        edge: Colour | None = GRID,
        *,
        line: float = 1,
        radius: float = 8,
        opacity: float = 1,
    ) -> str:
        """A rectangle with round corners; `opacity` is that of the fill."""
        return (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{radius:.1f}" {self._style(fill, edge, line, opacity)}/>'
        )

    def circle(self, x: float, y: float, r: float, fill: Colour, edge: Colour | None = None) -> str:
        style = self._style(fill, edge, 2.5)
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {style}/>'

    def arrow(
        self, x0: float, y0: float, x1: float, y1: float, colour: Colour = INK, head: float = 8
    ) -> str:
        """A straight arrow whose tip is at (x1, y1); `head` is the length of its head."""
        length = hypot(x1 - x0, y1 - y0) or 1.0
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        # The line ends inside the head, so that it does not show beyond the tip.
        end_x, end_y = x1 - 0.75 * head * dx, y1 - 0.75 * head * dy
        back_x, back_y, half = x1 - head * dx, y1 - head * dy, 0.55 * head
        corners = [
            (x1, y1),
            (back_x - half * dy, back_y + half * dx),
            (back_x + half * dy, back_y - half * dx),
        ]
        return self.polyline([(x0, y0), (end_x, end_y)], colour) + self.polygon(corners, colour)

    def polyline(
        self, points: Sequence[Point], colour: Colour, line: float = 2, dash: str = ""
    ) -> str:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        style = self._style(None, colour, line)
        return f'<polyline points="{_coordinates(points)}" {style}{dashed}/>'

    def polygon(self, points: Sequence[Point], fill: Colour, opacity: float = 1) -> str:
        return f'<polygon points="{_coordinates(points)}" {self._style(fill, None, 0, opacity)}/>'

    def path(self, commands: str, colour: Colour, line: float = 1) -> str:
        """An open path of SVG commands such as `M0 0H10`."""
        return f'<path d="{commands}" {self._style(None, colour, line)}/>'

    def moved(self, y: float, elements: Iterable[str]) -> str:
        """The elements, shifted down by `y`."""
        return f'<g transform="translate(0,{y:g})">{"".join(elements)}</g>'

    def _style(
        self, fill: Colour | None, edge: Colour | None, line: float, opacity: float = 1
    ) -> str:
        inside = "none" if fill is None else fill
        if fill is not None and opacity < 1:
            inside = with_opacity(inside, opacity)
        if edge is None:
            return f'fill="{inside}"'
        return f'fill="{inside}" stroke="{edge}" stroke-width="{line:g}"'


def _coordinates(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
