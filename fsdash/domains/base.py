"""The base class of every domain: a frozen set of named parameters that builds one model.

A domain describes itself. Each field carries its label, help text, unit and permitted range
(`parameter`), and the class names the module with its drawing and its policy figures (`figures`).
The run lab's form, the command line and the inspector read them from here.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError

MAX_ENTRIES = 50_000_000
"""Largest number of entries in a domain's largest table: about 2 GB while it is built."""
MAX_TEXT = 1_000
"""Most characters in the value of a text parameter."""
KINDS = {
    "int": "a whole number",
    "float": "a finite number",
    "bool": "true or false",
    "str": f"text of at most {MAX_TEXT:,} characters in one line",
}
"""By the type of a domain's field: what its value must be."""
MODEL_FIELDS = frozenset(f.name for f in fields(FastSlowMDP))

Number = int | float | bool
Value = Number | str


def parameter(
    default: Value,
    *,
    help: str = "",
    label: str = "",
    unit: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    remedy: str = "",
    legacy: Value | None = None,
) -> Any:
    """A dataclass field of a domain, with what a form shows about it.

    Parameters
    ----------
    default
        The default value. The field's annotation (int, float, bool or str) decides its kind.
    help
        One or two sentences on what the parameter means.
    label
        A few words for the form; the parameter's name if empty.
    unit
        The unit of the value, such as "units" or "per period".
    low, high
        The permitted range of a number, both ends included.
    remedy
        What an error message advises for a value outside the range; the range itself if empty.
    legacy
        For a parameter that is newer than stored runs: the value that means the same as before. A
        specification leaves the parameter out at this value, so that older hashes remain valid.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Shop:
    ...     shelf: int = parameter(10, help="Units on the shelf.", unit="units", low=1)
    >>> Shop().shelf
    10
    """
    about = {
        "help": help,
        "label": label,
        "unit": unit,
        "low": low,
        "high": high,
        "remedy": remedy,
        "legacy": legacy,
    }
    return field(default=default, metadata={"parameter": about})


def discount(default: float = 0.995) -> Any:
    """The field `gamma`, which every domain has."""
    return parameter(
        default,
        label="Discount factor γ",
        help="Weight of a reward that comes one period later.",
        low=0,
        high=1,
        remedy="use 0 ≤ γ < 1, such as 0.995",
    )


@dataclass(frozen=True)
class DomainParameter:
    """One parameter of a domain: its name, kind (one of `KINDS`), default and text."""

    name: str
    kind: str
    default: Value
    help: str = ""
    label: str = ""
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    remedy: str = ""
    legacy: Value | None = None

    @property
    def title(self) -> str:
        """The label of its widget, with the unit."""
        return (self.label or self.name) + (f" ({self.unit})" if self.unit else "")

    @property
    def description(self) -> str:
        """The help text of its widget, with the name that the command line and a link use."""
        return f"{self.help} Parameter `{self.name}`.".strip()

    def parse(self, value: object) -> Value:
        """The value, from a number or from text; an `InputError` if it is not permitted."""
        if self.kind == "str":
            return parse_text(self.name, value)
        number = parse_number(self.name, self.kind, value)
        require(self.low <= number <= self.high, self.name, number, self.remedy or self._range())
        return number

    def _range(self) -> str:
        if math.isinf(self.high):
            return f"use {self.low:g} or more"
        if math.isinf(self.low):
            return f"use {self.high:g} or less"
        return f"use a value from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Domain(ABC):
    """A family of models with named parameters.

    A subclass is a frozen dataclass that adds its parameters as fields (int, float, bool or str,
    each with a default, usually by `parameter`), among them `gamma`, and a `title`, named `presets`
    (values that differ from the defaults; the one named "default" is empty), `shape` and `build`.

    Examples
    --------
    >>> import fsdash
    >>> domain = fsdash.make("inventory", K=100)
    >>> isinstance(domain, fsdash.Domain), domain.K, domain.build().n_states
    (True, 100.0, 561)
    """

    title: ClassVar[str]
    presets: ClassVar[dict[str, dict[str, Any]]]
    noisy_fast: ClassVar[bool] = False
    """Whether y' depends on the noise, so that its table has an axis for it."""
    figures: ClassVar[str | None] = None
    """Module with the domain's figures (see `fsdash.figures.domains`); None for generic ones."""

    def __post_init__(self) -> None:
        for own in self.parameters():
            object.__setattr__(self, own.name, own.parse(getattr(self, own.name)))
        require(0 <= self.gamma < 1, "gamma", self.gamma, "use 0 ≤ γ < 1, such as 0.995")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and (name in MODEL_FIELDS or hasattr(FastSlowMDP, name)):
            raise InputError(
                f"model: {self.name} is a domain, which only describes its model; call .build() "
                f'on it, as in fsdash.make("{self.name}").build()'
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def parameters(cls) -> tuple[DomainParameter, ...]:
        """The parameters with their labels, help texts and ranges, in the order of the fields."""
        return tuple(
            DomainParameter(
                f.name,
                f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type)),
                f.default,  # type: ignore[arg-type]  # every field has a default
                **f.metadata.get("parameter", {}),
            )
            for f in fields(cls)
        )

    @classmethod
    def legacy_values(cls) -> dict[str, Value]:
        """Parameters that older specifications do not have, with the values that they stand for."""
        return {own.name: own.legacy for own in cls.parameters() if own.legacy is not None}

    def check_size(self) -> None:
        """Refuse tables that would not fit into memory; called once the parameters are valid."""
        X, Y, A, W = self.shape
        if self.entries > MAX_ENTRIES:
            raise InputError(
                f"{self.name} with these parameters has {X:,} slow and {Y:,} fast states, {A:,} "
                f"actions and {W} outcomes: a table of more than {MAX_ENTRIES:,} entries; make it "
                "smaller"
            )

    @property
    def name(self) -> str:
        """The name in the registry: the class name in lower case."""
        return type(self).__name__.lower()

    @property
    @abstractmethod
    def gamma(self) -> float:
        """The discount factor γ, a field of every domain."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int, int]:
        """|X|, |Y|, |A| and |W|, known before the model is built."""

    @property
    def entries(self) -> int:
        """Entries of the model's largest table, known before the model is built."""
        X, Y, A, W = self.shape
        return X * Y * A * (W if self.noisy_fast else 1)

    @abstractmethod
    def build(self) -> FastSlowMDP:
        """The model with these parameters."""


def require(ok: bool, name: str, value: object, remedy: str) -> None:
    """Raise an `InputError` that names the parameter, its value and the remedy, unless `ok`."""
    if not ok:
        raise InputError(f"{name} = {value}: {remedy}")


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
