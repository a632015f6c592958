"""What the tests of figures share: finding a trace, ticks and colours."""

from fsdash.formatting import number_text


def trace(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


def tick_places(axis) -> list[float]:
    """The places of the ticks of a category axis, as Plotly finds them.

    A tick stands at the category of this name, even if it is a number. A number is a place only if
    no category has it as its name.
    """
    names = list(axis.categoryarray)
    ticks = {at: number_text(at) for at in axis.tickvals}
    return [names.index(name) if name in names else float(at) for at, name in ticks.items()]


def luminance(colour: str) -> float:
    """Relative luminance as the accessibility guidelines of the web define it."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
