"""How the texts of a URL's parameters are read: numbers, options, lists, names and ids.

`fsdash.dashboard.widgets.url_state` hands these readers on to the pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from typing import Any

from fsdash.domains import DOMAINS
from fsdash.errors import InputError
from fsdash.formatting import number_text, shorten
from fsdash.runs.errors import StoreError


@dataclass(frozen=True)
class Reader:
    """Turns the text of a parameter into its value, and knows what a usable text looks like.

    `parse` raises ValueError for an unusable text. `remedy` completes a report about it: "give a
    number from 0 to 1". An `InputError` brings its own remedy. `options` are all values that it
    can return, if they can be listed.
    """

    parse: Callable[[str], Any]
    remedy: str = ""
    options: tuple = ()

    def __call__(self, text: str) -> Any:
        return self.parse(text)

    def usable(self, name: str, text: str) -> tuple[list, list[str]]:
        """The value as a list of one, or an empty list and the report of what is wrong."""
        try:
            return [self.parse(text)], []
        except InputError as problem:
            return [], [f"{quote(name, text)}: {problem}"]
        except (ValueError, OverflowError):
            return [], [quote(name, text) + (f": {self.remedy}" if self.remedy else "")]


@dataclass(frozen=True)
class ListReader(Reader):
    """Reads a list separated by commas. Of a partly usable list the usable items count."""

    item: Reader = field(kw_only=True)
    most: int = field(kw_only=True)

    def usable(self, name: str, text: str) -> tuple[list, list[str]]:
        items, problems = [], []
        for part in text.split(","):
            value, problem = self.item.usable(name, part)
            items += [one for one in value if one not in items]
            problems += problem
        if extra := items[self.most :]:
            quoted = ", ".join(quote(name, str(value)) for value in extra)
            problems.append(f"{quoted}: give at most {self.most} values")
        return [items[: self.most]] if items else [], problems


def number_in(low: float, high: float, *, hint: str = "") -> Reader:
    """Reads a number from `low` to `high`; `hint` is added to the remedy."""

    def parse(text: str) -> float:
        value = float(text)
        if not (isfinite(value) and low <= value <= high):
            raise ValueError(text)
        return value

    return Reader(parse, f"give a number from {low:.10g} to {high:.10g}{hint}")


def whole_number(low: int, high: int | None = None) -> Reader:
    """Reads a whole number from `low` to `high`, in any spelling: 30, 30.0, 3e1."""

    def parse(text: str) -> int:
        value = int(text) if re.fullmatch(r"-?\d{1,30}", text.strip()) else float(text)
        above = high is not None and value > high
        if not isfinite(value) or value != int(value) or value < low or above:
            raise ValueError(text)
        return int(value)

    limits = f"from {low} to {high}" if high is not None else f"of at least {low}"
    return Reader(parse, f"give a whole number {limits}")


def one_of(options: Iterable) -> Reader:
    """Reads one of the options; numbers in any spelling, all else as it is written."""
    options = tuple(options)
    numeric = all(isinstance(option, Real) for option in options)
    known = {float(option) if numeric else str(option): option for option in options}

    def parse(text: str) -> Any:
        value = float(text) if numeric else text
        if value not in known:
            raise ValueError(text)
        return known[value]

    remedy = f"give one of {', '.join(number_text(option) for option in options)}"
    return Reader(parse, remedy, options)


def domain_name(text: str) -> str:
    """Reads the name of a registered domain or of a saved model."""
    try:
        known = text in DOMAINS
    except StoreError as problem:
        raise InputError(str(problem)) from None
    if not known:
        raise InputError(f"give one of {', '.join(DOMAINS)}, or a model on the page Your model")
    return text


def list_of(read: Callable[[str], Any], most: int = 1000) -> ListReader:
    """Reads at most `most` values separated by commas; a value given twice counts once."""
    item = as_reader(read)

    def parse(text: str) -> list:
        values = list(dict.fromkeys(item(part) for part in text.split(",")))
        if len(values) > most:
            raise ValueError(text)
        return values

    return ListReader(parse, item.remedy, item=item, most=most)


def short_text(text: str) -> str:
    """Reads a text of at most 100 characters without a null character."""
    if len(text) > 100 or "\0" in text:
        raise ValueError(text)
    return text


def experiment_id(text: str) -> str:
    """Reads the id of an experiment."""
    if not re.fullmatch(r"[a-z0-9]{4,40}", text):
        raise InputError("this is not the id of an experiment; choose one under Stored runs")
    return text


def run_reference(text: str) -> str:
    """Reads the id of an experiment, or of one of its runs: `k3v9xq2mpd` or `k3v9xq2mpd.2`."""
    if not re.fullmatch(r"[a-z0-9]{4,40}(\.\d{1,3})?", text):
        raise InputError("this is not the id of an experiment or a run; select one in the table")
    return text


def as_reader(read: Callable[[str], Any]) -> Reader:
    """The function as a reader without a remedy, unless it is one."""
    return read if isinstance(read, Reader) else Reader(read)


def quote(name: str, text: str) -> str:
    """A parameter as the link has it, as Markdown; long texts are cut."""
    return f"`{_printable(name)}={_printable(text)}`"


def _printable(text: str) -> str:
    return shorten("".join(c for c in text if c.isprintable() and c != "`"))
