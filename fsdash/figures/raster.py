"""A Plotly figure as an array of pixels, without a browser.

Plotly draws in a browser. This module draws the part of it that the figures of paths use, with
Pillow: panels with axes, lines, steps, bars, markers, arrows, text, plain heat maps, shapes and a
legend. It reads everything from the figure itself, so the picture shows the same data in the same
colours. Everything is drawn `SMOOTH` times larger and then reduced, which smooths the edges.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from math import atan2, ceil, cos, floor, isfinite, log10, pi, sin
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fsdash.errors import require
from fsdash.figures.palette import BACKGROUND, GRID, INK

require("PIL", extra="gymnasium")

from PIL import Image, ImageColor, ImageDraw, ImageFont  # noqa: E402

WIDTH, HEIGHT = 640, 480
SMOOTH = 3
TEXT, TITLE = 12, 13
"""Font sizes of ticks and legend, and of axis titles."""
MARGINS = {"left": 64, "right": 16, "top": 40, "bottom": 48}
FONTS = ("DejaVuSans.ttf", "Arial.ttf", "Helvetica.ttc")
"""Fonts with Greek letters. The font that comes with Pillow replaces them if none is installed."""
DASHES = {"dot": (2, 4), "dash": (8, 6), "dashdot": (8, 4)}
TICKS = 6
"""Most ticks that an axis without given ticks gets."""


def rasterise(figure: go.Figure, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """The figure as an array of shape (height, width, 3) with values from 0 to 255."""
    size = (width * SMOOTH, height * SMOOTH)
    image = Image.new("RGB", size, BACKGROUND.light)
    canvas = Canvas(image, ImageDraw.Draw(image, "RGBA"))
    panels = _panels(figure, width, height)
    for panel in panels.values():
        _draw_axes(canvas, panel)
    for shape in figure.layout.shapes:
        _draw_shape(canvas, shape, panels)
    for trace in figure.data:
        _draw_trace(canvas, panels[trace.yaxis or "y"], trace)
    _draw_legend(canvas, figure, width)
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS))


@dataclass(frozen=True)
class Canvas:
    """An image and its pen; coordinates are in pixels of the final picture."""

    image: Image.Image
    pen: ImageDraw.ImageDraw

    def line(self, points, colour: str, width: float = 1.0, dash: str | None = None) -> None:
        for piece in _dashed(points, DASHES.get(dash or "")):
            scaled = [(SMOOTH * x, SMOOTH * y) for x, y in piece]
            self.pen.line(scaled, _rgba(colour), max(1, round(SMOOTH * width)), joint="curve")

    def box(self, x0, y0, x1, y1, colour: str, edge: str | None = None, opacity=1.0) -> None:
        corners = [SMOOTH * min(x0, x1), SMOOTH * min(y0, y1)]
        corners += [SMOOTH * max(x0, x1), SMOOTH * max(y0, y1)]
        self.pen.rectangle(corners, _rgba(colour, opacity), edge and _rgba(edge), 2 * SMOOTH)

    def polygon(self, points, colour: str, opacity: float = 1.0) -> None:
        self.pen.polygon([(SMOOTH * x, SMOOTH * y) for x, y in points], _rgba(colour, opacity))

    def circle(self, x, y, r, colour: str, edge: str | None = None, opacity=1.0) -> None:
        corners = [SMOOTH * v for v in (x - r, y - r, x + r, y + r)]
        self.pen.ellipse(corners, _rgba(colour, opacity), edge and _rgba(edge), 2 * SMOOTH)

    def text(self, x, y, words: str, colour: str, size: float = TEXT, anchor: str = "mm") -> None:
        """Text; `anchor` is Pillow's, such as "mm" for the middle or "la" for the top left."""
        words = re.sub(r"<[^>]*>", "", words)
        self.pen.text((SMOOTH * x, SMOOTH * y), words, _rgba(colour), _font(size), anchor)

    def sideways(self, x: float, y: float, words: str, colour: str, size: float) -> None:
        """Text that runs upwards, centred at (x, y)."""
        box = _font(size).getbbox(words)
        patch = Image.new("L", (box[2] + 2 * SMOOTH, box[3] + 2 * SMOOTH), 0)
        ImageDraw.Draw(patch).text((0, 0), words, 255, _font(size))
        patch = patch.rotate(90, expand=True)
        corner = (int(SMOOTH * x - patch.width / 2), int(SMOOTH * y - patch.height / 2))
        self.image.paste(Image.new("RGB", patch.size, _rgba(colour)[:3]), corner, patch)


@dataclass(frozen=True)
class Scale:
    """One axis of a panel: its settings in the figure, its range, and its place in pixels."""

    axis: Any
    low: float
    high: float
    start: float
    end: float
    whole: bool = False
    """Whether ticks are at whole numbers only."""

    def place(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @cached_property
    def ticks(self) -> list[tuple[float, str]]:
        """The values and texts of the ticks."""
        if self.axis.tickvals is not None:
            values = [float(v) for v in self.axis.tickvals]
            texts = self.axis.ticktext or [f"{v:g}" for v in values]
            found = list(zip(values, map(str, texts), strict=True))
        else:
            step = self.axis.dtick or _round_step((self.high - self.low) / TICKS)
            step = max(1, step) if self.whole else step
            first = ceil(self.low / step - 1e-9)
            found = [
                (i * step, f"{i * step:g}")
                for i in range(first, floor(self.high / step + 1e-9) + 1)
            ]
        return [(v, text) for v, text in found if self.low <= v <= self.high]


@dataclass(frozen=True)
class Panel:
    """A pair of axes."""

    x: Scale
    y: Scale
    bottom: bool
    """Whether the ticks and the title of the horizontal axis are drawn."""

    def place(self, x: float, y: float) -> tuple[float, float]:
        return self.x.place(x), self.y.place(y)


# ---------------------------------------------------------------------------------- panels and axes


def _panels(figure: go.Figure, width: int, height: int) -> dict[str, Panel]:
    """The panels by the name of their vertical axis."""
    left, right = MARGINS["left"], width - MARGINS["right"]
    top, bottom = MARGINS["top"], height - MARGINS["bottom"]
    names = dict.fromkeys(trace.yaxis or "y" for trace in figure.data)
    panels = {}
    for name in names:
        number = name[1:]
        x_axis, y_axis = figure.layout[f"xaxis{number}"], figure.layout[f"yaxis{number}"]
        traces = [trace for trace in figure.data if (trace.yaxis or "y") == name]
        x_low, x_high = _range(x_axis, [t.x for t in traces if t.x is not None])
        values = [t.y for t in traces if t.y is not None]
        bars = any(trace.type == "bar" for trace in traces)
        y_low, y_high = _range(y_axis, values, from_zero=bars)
        share = y_axis.domain or (0, 1)
        y0, y1 = bottom - share[0] * (bottom - top), bottom - share[1] * (bottom - top)
        x0, x1 = left, right
        if y_axis.scaleanchor:  # one unit has the same length on both axes
            unit = min((x1 - x0) / (x_high - x_low), (y0 - y1) / (y_high - y_low))
            middle = (x0 + x1) / 2
            x0, x1 = (middle + side * unit * (x_high - x_low) / 2 for side in (-1, 1))
            y0 = y1 + unit * (y_high - y_low)
        lowest = share[0] == min(
            (figure.layout[f"yaxis{n[1:]}"].domain or (0, 1))[0] for n in names
        )
        x_scale = Scale(x_axis, x_low, x_high, x0, x1, whole=True)  # periods, or cells of a grid
        panels[name] = Panel(x_scale, Scale(y_axis, y_low, y_high, y0, y1), lowest)
    return panels


def _range(axis, values: list, from_zero: bool = False) -> tuple[float, float]:
    """The range of an axis: given, or that of the data with a margin."""
    if axis.range is not None:
        return float(axis.range[0]), float(axis.range[1])
    numbers = _finite(np.concatenate([np.asarray(v, float) for v in values])) if values else []
    low, high = (float(np.min(numbers)), float(np.max(numbers))) if len(numbers) else (0.0, 1.0)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.06 * (high - low) or 0.5
    return (low if from_zero and low == 0 else low - margin), high + margin


def _draw_axes(canvas: Canvas, panel: Panel) -> None:
    """Grid, axis lines, ticks and titles."""
    ink, grid = INK.light, GRID.light
    x, y = panel.x, panel.y
    for value, text in y.ticks:
        place = y.place(value)
        if y.axis.showgrid is not False:
            canvas.line([(x.start, place), (x.end, place)], grid)
        canvas.text(x.start - 7, place, text, ink, anchor="rm")
    if panel.bottom:
        for value, text in x.ticks:
            canvas.text(x.place(value), y.start + 7, text, ink, anchor="ma")
    if y.axis.showline is not False:
        canvas.line([(x.start, y.start), (x.end, y.start)], ink)
        canvas.line([(x.start, y.start), (x.start, y.end)], ink)
    if y.axis.title.text:
        canvas.sideways(x.start - 48, (y.start + y.end) / 2, y.axis.title.text, ink, TITLE)
    if panel.bottom and x.axis.title.text:
        canvas.text((x.start + x.end) / 2, y.start + 34, x.axis.title.text, ink, TITLE)


# ------------------------------------------------------------------------------------------- traces


def _draw_trace(canvas: Canvas, panel: Panel, trace) -> None:
    if trace.type == "heatmap":
        _draw_heatmap(canvas, panel, trace)
    elif trace.type == "bar":
        half, zero = 0.42 * (panel.x.place(1) - panel.x.place(0)), panel.y.place(0)
        for centre, top in (panel.place(*point) for point in _points(trace) if point):
            canvas.box(centre - half, zero, centre + half, top, trace.marker.color)
    elif trace.type == "scatter":
        _draw_scatter(canvas, panel, trace)


def _draw_heatmap(canvas: Canvas, panel: Panel, trace) -> None:
    """The cells of a heat map in one colour: the lowest of its scale."""
    z = np.asarray(trace.z)
    gap = (trace.xgap or 0) / 2
    for row, column in np.ndindex(z.shape):
        x0, y0 = panel.place(column - 0.5, row - 0.5)
        x1, y1 = panel.place(column + 0.5, row + 0.5)
        canvas.box(x0 + gap, y0 - gap, x1 - gap, y1 + gap, trace.colorscale[0][1])


def _draw_scatter(canvas: Canvas, panel: Panel, trace) -> None:
    mode, opacity = trace.mode or "lines", 1.0 if trace.opacity is None else trace.opacity
    places = [point and panel.place(*point) for point in _points(trace)]
    if "lines" in mode:
        colour, width = _faded(trace.line.color or INK.light, opacity), trace.line.width or 2
        for piece in _pieces(places):
            steps = _stairs(piece) if trace.line.shape == "hv" else piece
            canvas.line(steps, colour, width, trace.line.dash)
            if trace.line.shape == "hv" and len(piece) == 1:  # the present value of a new path
                canvas.circle(*piece[0], 2.5, colour)
    if "markers" in mode:
        _draw_markers(canvas, trace, places, opacity)
    if "text" in mode:
        anchor = "lm" if trace.textposition == "middle right" else "lb"
        words = [trace.text] * len(places) if isinstance(trace.text, str) else trace.text or ()
        for place, text in zip(places, words, strict=False):
            shift = 0 if anchor == "lm" else 3
            colour, size = trace.textfont.color or INK.light, trace.textfont.size or TEXT
            if place is not None:
                canvas.text(place[0] + shift, place[1] - shift, text, colour, size, anchor)


def _draw_markers(canvas: Canvas, trace, places: list, opacity: float) -> None:
    colour, r = trace.marker.color or INK.light, (trace.marker.size or 6) / 2
    edge = trace.marker.line.color if trace.marker.line.width else None
    before = None
    for place in places:
        if place is not None and trace.marker.symbol == "arrow":
            if before is not None:
                _draw_arrow_head(canvas, before, place, 2 * r, _faded(colour, opacity))
        elif place is not None and trace.marker.symbol == "square":
            canvas.box(
                place[0] - r, place[1] - r, place[0] + r, place[1] + r, colour, edge, opacity
            )
        elif place is not None:
            canvas.circle(*place, r, colour, edge, opacity)
        before = place


def _draw_arrow_head(canvas: Canvas, start, tip, size: float, colour: str) -> None:
    angle = atan2(tip[1] - start[1], tip[0] - start[0])
    corners = [(tip[0], tip[1])]
    for turn in (0.86 * pi, -0.86 * pi):
        corners.append((tip[0] + size * cos(angle + turn), tip[1] + size * sin(angle + turn)))
    canvas.polygon(corners, colour)


def _draw_shape(canvas: Canvas, shape, panels: dict[str, Panel]) -> None:
    """A rectangle or a line over the whole height, at values of the horizontal axis."""
    first = next(iter(panels.values()))
    top = min(panel.y.end for panel in panels.values())
    bottom = max(panel.y.start for panel in panels.values())
    x0, x1 = first.x.place(shape.x0), first.x.place(shape.x1)
    if shape.type == "rect":
        canvas.box(x0, top, x1, bottom, shape.fillcolor)
    else:
        canvas.line([(x0, top), (x1, bottom)], _faded(shape.line.color, shape.opacity or 1))


def _draw_legend(canvas: Canvas, figure: go.Figure, width: int) -> None:
    """One row above the panels, if there are several traces to tell apart."""
    named = [t for t in figure.data if t.showlegend is not False and t.name and t.type != "heatmap"]
    if len(named) < 2:
        return
    x, y = MARGINS["left"], 18
    for trace in named:
        opacity = 1.0 if trace.opacity is None else trace.opacity
        if trace.type == "bar" or "lines" not in (trace.mode or "lines"):
            canvas.box(x + 6, y - 5, x + 16, y + 5, trace.marker.color)
        else:
            colour = _faded(trace.line.color, opacity)
            canvas.line([(x, y), (x + 22, y)], colour, trace.line.width or 2, trace.line.dash)
        canvas.text(x + 28, y, trace.name, INK.light, anchor="lm")
        x += 28 + _font(TEXT).getlength(trace.name) / SMOOTH + 20


# ------------------------------------------------------------------------------------ small helpers


def _points(trace) -> list[tuple[float, float] | None]:
    """The points of a trace, None where it has a gap. A shorter list of values ends it earlier."""
    columns = (() if values is None else values for values in (trace.x, trace.y))
    return [
        None
        if None in point or not all(map(isfinite, point))
        else (float(point[0]), float(point[1]))
        for point in zip(*columns, strict=False)
    ]


def _pieces(places: list) -> list[list]:
    """The points between gaps."""
    pieces: list[list] = [[]]
    for place in places:
        if place is None:
            pieces.append([])
        else:
            pieces[-1].append(place)
    return [piece for piece in pieces if piece]


def _stairs(piece: list) -> list:
    """Horizontal, then vertical from point to point."""
    steps = piece[:1]
    for x, y in piece[1:]:
        steps += [(x, steps[-1][1]), (x, y)]
    return steps


def _dashed(points, pattern: tuple[int, int] | None) -> list[list]:
    """The line in pieces if it is dashed, otherwise whole."""
    if pattern is None or len(points) < 2:
        return [list(points)]
    on, off = pattern
    corners = np.asarray(points, float)
    lengths = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    starts = np.arange(0, lengths[-1], on + off)
    pieces = []
    for start in starts:
        inside = lengths[(lengths > start) & (lengths < start + on)]
        at = np.concatenate([[start], inside, [min(start + on, lengths[-1])]])
        columns = [np.interp(at, lengths, corners[:, i]) for i in (0, 1)]
        pieces.append(list(zip(*columns, strict=True)))
    return pieces


def _finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


def _round_step(step: float) -> float:
    """1, 2 or 5 times a power of ten, at least `step`."""
    power = 10.0 ** floor(log10(step))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= step * (1 - 1e-9))


def _rgba(colour: str, opacity: float = 1.0) -> tuple[int, int, int, int]:
    match = re.fullmatch(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)", colour)
    if match:
        red, green, blue = (int(part) for part in match.groups()[:3])
        return red, green, blue, round(255 * opacity * float(match[4]))
    red, green, blue = ImageColor.getrgb(colour)[:3]
    return red, green, blue, round(255 * opacity)


def _faded(colour: str, opacity: float) -> str:
    red, green, blue, alpha = _rgba(colour, opacity)
    return f"rgba({red},{green},{blue},{alpha / 255:.4f})"


@cache
def _font(size: float):
    for name in FONTS:
        try:
            return ImageFont.truetype(name, round(SMOOTH * size))
        except OSError:
            continue
    return ImageFont.load_default(round(SMOOTH * size))
