"""One colour-blind-safe palette for the whole project.

The hues are those of Okabe and Ito, darkened for a light background and lightened for a dark one
so that every line has a contrast of at least 3 to 1 with the background. A term of a bound and a
family of algorithms have the same colour on every page and in every export. To change a colour,
change it here; no other file repeats it.

Figures are drawn for a light page; `in_theme` replaces the colours of a finished figure for a dark
one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import log2
from zlib import crc32

Colour = str
"""A colour as it is drawn on a light page, #RRGGBB."""
_ON_DARK: dict[Colour, str] = {}
"""By colour: what replaces it on a dark page."""
_COLOURS = re.compile(r"#[0-9A-F]{6}|(?<=rgba\()\d+,\d+,\d+")


def paired(light: str, dark: str) -> Colour:
    """A colour by its variants for a light and for a dark background."""
    _ON_DARK.setdefault(light, dark)
    return light


def in_theme(drawing: str, dark: bool) -> str:
    """A figure as JSON or HTML, or an SVG drawing, in the colours of a light or a dark page.

    Figures are drawn for a light page. This is the only place that knows about the other one.
    """
    return _COLOURS.sub(_on_dark, drawing) if dark else drawing


def _on_dark(found: re.Match[str]) -> str:
    drawn = found[0]
    if drawn.startswith("#"):
        return _ON_DARK.get(drawn, drawn)
    light = "#" + "".join(f"{int(channel):02X}" for channel in drawn.split(","))
    return ",".join(map(str, _channels(_ON_DARK.get(light, light))))


BLUE = paired("#0072B2", "#56B4E9")
VERMILLION = paired("#C65300", "#F28E4B")
GREEN = paired("#00805E", "#2EC4A0")
PURPLE = paired("#A34D80", "#DE94BE")
AMBER = paired("#946400", "#E6B422")
GREY = paired("#5B6670", "#9AA7B3")

INK = paired("#17222D", "#E8EEF3")
BACKGROUND = paired("#FFFFFF", "#10171E")
GRID = paired("#DFE6EC", "#2A3642")
PANEL = paired("#F1F5F8", "#1A242E")

CATEGORICAL = (BLUE, VERMILLION, GREEN, PURPLE, AMBER, GREY)

TERMS = {"freeze": BLUE, "end_of_horizon": VERMILLION, "total": INK, "trivial": GREY}

# The terms of a bound on regret. More iterations reduce only the last one.
REGRET_TERMS = {
    "reward": BLUE,
    "transition": PURPLE,
    "lower_fit": GREEN,
    "upper_fit": AMBER,
    "iteration": VERMILLION,
}

# By family (`Algorithm.family`); that of FSVI has a ramp over T instead, see `fsvi_colour`.
FAMILY_COLOURS = {
    "VI": AMBER,
    "QI": VERMILLION,
    "MPI": PURPLE,
    "slow-agnostic": GREY,
    "rolling": paired("#C62828", "#FF8A80"),
    "thaw": paired("#B0305C", "#F27CA0"),
}
# For families that are not in `FAMILY_COLOURS`, such as those of a user's algorithms.
OTHER_FAMILY_COLOURS = (
    GREEN,
    paired("#8A4B2A", "#D3A07C"),
    paired("#4F56B8", "#A6ACF2"),
    paired("#B0305C", "#F27CA0"),
)


@dataclass(frozen=True)
class ColourScale:
    """A sequential colour scale; its low end is close to the background.

    Its brightness changes steadily from end to end, so it can be read without seeing the hue.
    """

    colours: tuple[Colour, ...]

    @property
    def stops(self) -> list[list]:
        """A Plotly colour scale."""
        return [[i / (len(self.colours) - 1), shade] for i, shade in enumerate(self.colours)]

    def steps(self, n: int) -> list[list]:
        """A Plotly colour scale of n ≥ 1 plain colours, for values in even steps."""
        return self.plain([i / max(n - 1, 1) for i in range(n)])

    def plain(self, shares: Sequence[float]) -> list[list]:
        """A Plotly colour scale of equally wide plain colours, those at these shares."""
        shades, n = [self.at(share) for share in shares], len(shares)
        return [[(i + edge) / n, shade] for i, shade in enumerate(shades) for edge in (0, 1)]

    def at(self, share: float) -> Colour:
        """The colour at a share, 0 to 1, of the scale."""
        position = min(max(share, 0.0), 1.0) * (len(self.colours) - 1)
        low = min(int(position), len(self.colours) - 2)
        return _mix(self.colours[low], self.colours[low + 1], position - low)


def _scale(light: Sequence[str], dark: Sequence[str]) -> ColourScale:
    return ColourScale(tuple(map(paired, light, dark)))


AMOUNT = _scale(
    ("#EDF3F8", "#A9CCE6", "#4A96C9", "#0A5C96", "#082B4C"),
    ("#1C2833", "#1D4E75", "#2F84BC", "#7CC4EE", "#E3F4FF"),
)
LOSS = _scale(
    ("#F6F1EC", "#F5C9A3", "#E58A45", "#B04A00", "#541F00"),
    ("#261F1B", "#6B330F", "#C4672A", "#F5A871", "#FFEBDB"),
)
# From a negative number over zero, which is close to the background, to a positive one: two
# sequential scales.
DIVERGING = _scale(
    (
        "#082B4C",
        "#0A5C96",
        "#4A96C9",
        "#A9CCE6",
        "#F3F4F5",
        "#F5C9A3",
        "#E58A45",
        "#B04A00",
        "#541F00",
    ),
    (
        "#E3F4FF",
        "#7CC4EE",
        "#2F84BC",
        "#1D4E75",
        "#1D2329",
        "#6B330F",
        "#C4672A",
        "#F5A871",
        "#FFEBDB",
    ),
)
# The two policies of a comparison, A and B; DIVERGING goes from the first to the second.
FIRST_POLICY, SECOND_POLICY = BLUE, VERMILLION
# Behind arrows and letters in INK, which need contrast along the whole scale.
QUIET = _scale(("#F7FAFC", "#E1EDF6", "#C4DDEF"), ("#151E27", "#1A3145", "#1F4866"))

# As T grows, the colour of FSVI goes from green through blue and violet to plum (on a dark page, to
# pink). Values of T that are often drawn together differ in brightness as well as in hue.
_FSVI_RAMP = (
    (2, paired("#35A03C", "#B4EE9B")),
    (3, paired("#128C8C", "#6CCFC6")),
    (6, BLUE),
    (16, paired("#6A46B8", "#A88CF0")),
    (28, paired("#3B0F4F", "#EBC8F7")),
    (100, paired("#2A0620", "#FFF3FB")),
)


def fsvi_colour(T: int) -> Colour:
    """The colour of frozen-state value iteration with period T, the same on every page."""
    position = log2(min(max(T, _FSVI_RAMP[0][0]), _FSVI_RAMP[-1][0]))
    for (low, start), (high, end) in pairwise(_FSVI_RAMP):
        if position <= log2(high):
            share = (position - log2(low)) / (log2(high) - log2(low))
            return _mix(start, end, share)
    return _FSVI_RAMP[-1][1]


def algorithm_colour(family: str, T: int | None = None) -> Colour:
    """The colour of an algorithm: that of its family, or by T as for FSVI.

    A family that is not in `FAMILY_COLOURS` and has no T gets one of `OTHER_FAMILY_COLOURS`, always
    the same.
    """
    if family in FAMILY_COLOURS:
        return FAMILY_COLOURS[family]
    if T is not None:
        return fsvi_colour(T)
    return OTHER_FAMILY_COLOURS[crc32(family.encode()) % len(OTHER_FAMILY_COLOURS)]


def competitor_label(T: int) -> str:
    """The name of a competitor in legends and tables."""
    return "Base VI" if T == 1 else f"T = {T}"


@cache
def competitor_colour(T: int) -> Colour:
    """The colour of a competitor, the same on every page."""
    return FAMILY_COLOURS["VI"] if T == 1 else fsvi_colour(T)


def with_opacity(colour: str, opacity: float) -> str:
    """A #rrggbb colour as an rgba(…) string."""
    red, green, blue = _channels(colour)
    return f"rgba({red},{green},{blue},{opacity:g})"


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mix(start: Colour, end: Colour, share: float) -> Colour:
    """A colour between two others, on both pages."""
    ends = (start, end), (_ON_DARK[start], _ON_DARK[end])
    return paired(*(_between(*pair, share) for pair in ends))


def _between(start: str, end: str, share: float) -> str:
    pairs = zip(_channels(start), _channels(end), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in pairs)
