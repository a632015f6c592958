"""`Field`: one parameter of an algorithm, a domain or a page.

It is declared once, with its default, range, label, unit and help. The form, the link, the command
line and the JSON text of a run follow from it: they show its texts, and read a value with `parse`.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from fsdash.errors import InputError

MAX_TEXT = 1_000
"""Most characters of a text."""
KINDS = {
    "int": "a whole number",
    "float": "a finite number",
    "bool": "true or false",
    "str": f"text of at most {MAX_TEXT:,} characters in one line",
}
"""What a value of each kind must be."""

Number = int | float | bool
Value = Number | str | None


@dataclass(frozen=True)
class Field:
    """A parameter: its default, range or choices, and the texts that a form shows.

    Attributes
    ----------
    default : int, float, bool, str or None
        The value that is used if none is given.
    help : str
        What the parameter means, as a sentence.
    low, high : float
        Smallest and largest value allowed, for numbers.
    choices : tuple of str
        The values allowed, for a parameter that is a word.
    kind : str
        "int", "float", "bool", "str" or "choice"; derived from the default unless it is None.
    optional : bool
        Whether None is allowed; the algorithm then chooses the value itself.
    label : str
        What a form writes next to the value; the parameter's name if empty.
    unit : str
        The unit of the value, such as "units per period".
    remedy : str
        What an error advises for a value outside the range; the range itself if empty.
    name : str
        The name in links, commands and specifications.

    Examples
    --------
    >>> Field(50, "Samples of the next state.", low=1, high=1000, name="M").parse("20")
    20
    """

    default: Value
    help: str = ""
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    kind: str = ""
    optional: bool = False
    label: str = ""
    unit: str = ""
    remedy: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        kind = "choice" if self.choices else type(self.default).__name__
        object.__setattr__(self, "kind", self.kind or kind)

    @property
    def title(self) -> str:
        """The label of its widget, with the unit."""
        return (self.label or self.name) + (f" ({self.unit})" if self.unit else "")

    @property
    def description(self) -> str:
        """The help text of its widget, with the name that the command line and a link use."""
        return f"{self.help} Parameter `{self.name}`.".strip()

    def parse(self, value: object) -> Value:
        """The value, from a number or a text; an `InputError` if it is not permitted."""
        if self.optional and (value is None or str(value).strip().lower() in ("", "none", "auto")):
            return None
        if self.choices:
            remedy = f"choose from {', '.join(self.choices)}"
            return str(require(value in self.choices, self.name, value, remedy))
        if self.kind == "str":
            return parse_text(self.name, value)
        number = parse_number(self.name, self.kind, value)
        inside = self.low <= number <= self.high
        return require(inside, self.name, number, self.remedy or self._range())

    def _range(self) -> str:
        if math.isinf(self.high):
            return f"use {self.low:g} or more"
        if math.isinf(self.low):
            return f"use {self.high:g} or less"
        return f"use a value from {self.low:g} to {self.high:g}"


def require(ok: bool, name: str, value: object, remedy: str):
    """Return the value, or raise an `InputError` that names the parameter and the remedy."""
    if not ok:
        raise InputError(f"{name} = {value}: {remedy}")
    return value


def parse_text(name: str, value: object) -> str:
    """The value as a text, from a text or a path; an `InputError` names the parameter."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(text, str) and len(text) <= MAX_TEXT and text.isprintable():
        return text
    raise InputError(f"{name} = {str(value)[:60]!r}: give {KINDS['str']}")


def parse_number(name: str, kind: str, value: object) -> Number:
    """The value as an int, a float or a bool, from a number or from text.

    Raises an `InputError` that names the parameter if the value is not of this kind.
    """
    number = _finite_number(value)
    if kind == "bool" and number in (0, 1):
        return bool(number)
    if kind == "int" and number is not None and number == int(number):
        return int(number)
    if kind == "float" and number is not None:
        return float(number)
    raise InputError(f"{name} = {value}: give {KINDS[kind]}")


def _finite_number(value: object) -> float | None:
    """A finite number, or None. The words true and false mean 1 and 0."""
    words = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
    text = str(value).strip().lower()
    try:
        number = words[text] if text in words else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number + 0.0 if math.isfinite(number) else None  # + 0.0 normalises −0.0
