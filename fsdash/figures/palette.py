"""One colour-blind-safe palette for the whole project.

The hues are those of Okabe and Ito, darkened for a light background and lightened for a dark one
so that every line has a contrast of at least 3 to 1 with what lies behind it. A term of a bound
and a family of algorithms keep their colour on every page and in every export.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import log2


@dataclass(frozen=True)
class Colour:
    """One meaning, as it is drawn on a light and on a dark background."""

    light: str
    dark: str

    def on(self, dark: bool) -> str:
        """The variant for the background."""
        return self.dark if dark else self.light


BLUE = Colour("#0072B2", "#56B4E9")
VERMILLION = Colour("#C65300", "#F28E4B")
GREEN = Colour("#00805E", "#2EC4A0")
PURPLE = Colour("#A34D80", "#DE94BE")
AMBER = Colour("#946400", "#E6B422")
GREY = Colour("#5B6670", "#9AA7B3")

INK = Colour("#17222D", "#E8EEF3")
BACKGROUND = Colour("#FFFFFF", "#10171E")
GRID = Colour("#DFE6EC", "#2A3642")
PANEL = Colour("#F1F5F8", "#1A242E")

CATEGORICAL = (BLUE, VERMILLION, GREEN, PURPLE, AMBER, GREY)

TERMS = {"freeze": BLUE, "end_of_horizon": VERMILLION, "total": INK, "trivial": GREY}

ALGORITHMS = {
    "VI": AMBER,
    "QI": VERMILLION,
    "MPI": PURPLE,
    "PI": INK,
    "slow-agnostic": GREY,
}

# FSVI runs from green over blue to violet as T grows. Brightness changes steadily along the ramp,
# so that two values of T can be told apart without seeing the hue.
_FSVI_RAMP = (
    (2, Colour("#1B9E77", "#8FE3C4")),
    (6, BLUE),
    (16, Colour("#5B3A9B", "#B9A3F2")),
    (64, Colour("#2E1140", "#E9D2FA")),
)


def fsvi_colour(T: int) -> Colour:
    """The colour of frozen-state value iteration with period T, the same on every page."""
    position = log2(min(max(T, _FSVI_RAMP[0][0]), _FSVI_RAMP[-1][0]))
    for (low, start), (high, end) in pairwise(_FSVI_RAMP):
        if position <= log2(high):
            share = (position - log2(low)) / (log2(high) - log2(low))
            return Colour(_mix(start.light, end.light, share), _mix(start.dark, end.dark, share))
    return _FSVI_RAMP[-1][1]


def with_opacity(colour: str, opacity: float) -> str:
    """A #rrggbb colour as an rgba() text."""
    red, green, blue = _channels(colour)
    return f"rgba({red},{green},{blue},{opacity:g})"


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mix(start: str, end: str, share: float) -> str:
    pairs = zip(_channels(start), _channels(end), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in pairs)
