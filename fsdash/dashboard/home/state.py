"""The pictures of the home page without its widgets: steps, drawings and captions."""

from fsdash.figures import levels
from fsdash.figures.timescales import describe_period, describe_timescales, timescales_svg

LARGEST_T, START_T = 12, 4
WIDE, NARROW = 700, 360
"""Widths of a drawing, in pixels."""


def step_count(picture: str, T: int) -> int:
    """The number of steps of a picture before it starts again."""
    if picture == "policy":
        return 2 * T
    return levels.lower_level_steps(T) if picture == "lower" else levels.BLOCKS


def drawing(picture: str, T: int, step: int, width: int) -> str:
    """A picture at one of its steps, as SVG."""
    if picture == "policy":
        return timescales_svg(T, width, 12 if width <= NARROW else 24, now=step)
    if picture == "lower":
        return levels.lower_level_svg(T, step, width)
    return levels.upper_level_svg(T, step, width=width)


def caption(picture: str, T: int, step: int) -> str:
    """The step in words, for the line below the picture."""
    if picture == "policy":
        return describe_period(T, step)
    if picture == "lower":
        return levels.describe_lower_level(T, step)
    return levels.describe_upper_level(T, step)


def alt_text(picture: str, T: int, step: int) -> str:
    """The picture in words, for screen readers."""
    if picture == "policy":
        return describe_timescales(T, step)
    return caption(picture, T, step)
