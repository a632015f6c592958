"""What every domain is: a frozen set of named parameters that builds one model."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError

MAX_ENTRIES = 50_000_000
"""Entries that the largest table of a domain may have: about 2 GB while it is built."""
KINDS = {"int": "a whole number", "float": "a finite number", "bool": "true or false"}


def require(ok: bool, name: str, value: object, remedy: str) -> None:
    if not ok:
        raise InputError(f"{name} = {value}: {remedy}")


@dataclass(frozen=True)
class Domain(ABC):
    """A subclass adds its parameters as fields (int, float or bool, each with a default), a
    `title`, named `presets` (parameter values that differ from the defaults) and `build`."""

    title: ClassVar[str]
    presets: ClassVar[dict[str, dict]]
    noisy_fast: ClassVar[bool] = False
    """Whether y' depends on the noise, so that its table has an axis for it."""

    def __post_init__(self) -> None:
        for f in fields(self):
            kind = f.type if isinstance(f.type, str) else f.type.__name__
            object.__setattr__(self, f.name, checked(f.name, kind, getattr(self, f.name)))
        require(0 <= self.gamma < 1, "gamma", self.gamma, "use 0 ≤ γ < 1, such as 0.995")

    def check_size(self) -> None:
        """Refuse tables that would not fit into memory; called once the parameters are valid."""
        X, Y, A, W = self.shape
        if X * Y * A * (W if self.noisy_fast else 1) > MAX_ENTRIES:
            raise InputError(
                f"{self.name} with these parameters has {X:,} slow and {Y:,} fast states, {A:,} "
                f"actions and {W} outcomes: a table of more than {MAX_ENTRIES:,} entries; make it "
                "smaller"
            )

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int, int]:
        """|X|, |Y|, |A|, |W|, before anything is built."""

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    @abstractmethod
    def build(self) -> FastSlowMDP:
        """The model with these parameters."""


def checked(name: str, kind: str, value: object) -> int | float | bool:
    """The value as its declared kind, from a number or from text; else an error naming it."""
    number = _number(value)
    if kind == "bool" and number in (0, 1):
        return bool(number)
    if kind == "int" and number is not None and number == int(number):
        return int(number)
    if kind == "float" and number is not None:
        return float(number)
    raise InputError(f"{name} = {value}: give {KINDS[kind]}")


def _number(value: object) -> float | None:
    """A finite number, or None. The words true and false are 1 and 0."""
    words = {"true": 1, "yes": 1, "false": 0, "no": 0}
    try:
        number = float(words.get(str(value).strip().lower(), value))
    except (TypeError, ValueError, OverflowError):
        return None
    # Adding 0 makes one zero of the two.
    return number + 0.0 if math.isfinite(number) else None
