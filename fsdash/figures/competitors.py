"""Names and colours of the competitors for a budget: Base VI (T = 1) and FSVI with each T."""

from functools import cache

from fsdash.figures.palette import algorithm_colour


def competitor_label(T: int) -> str:
    """The name of a competitor in legends and tables."""
    return "Base VI" if T == 1 else f"T = {T}"


@cache
def competitor_colour(T: int, dark: bool = False) -> str:
    """The colour of a competitor, the same on every page."""
    return algorithm_colour("VI", None if T == 1 else T).on(dark)
