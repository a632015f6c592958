"""The base class of every domain: a frozen set of named parameters that builds one model.

A domain describes itself. Each field carries its label, help text, unit and permitted range
(`parameter`), and the class names the module with its drawing and its policy figures (`figures`).
The run lab's form, the command line and the inspector read them from here.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.fields import Field, Value, require

MAX_ENTRIES = 50_000_000
"""Largest number of entries in a domain's largest table: about 2 GB while it is built."""
MODEL_FIELDS = frozenset(f.name for f in fields(FastSlowMDP))


def parameter(
    default: Value,
    *,
    help: str = "",
    label: str = "",
    unit: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    remedy: str = "",
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

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Shop:
    ...     shelf: int = parameter(10, help="Units on the shelf.", unit="units", low=1)
    >>> Shop().shelf
    10
    """
    about = Field(default, help, low, high, label=label, unit=unit, remedy=remedy)
    return field(default=default, metadata={"field": about})


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
        for name, parameter in self.parameters().items():
            object.__setattr__(self, name, parameter.parse(getattr(self, name)))
        require(0 <= self.gamma < 1, "gamma", self.gamma, "use 0 ≤ γ < 1, such as 0.995")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and (name in MODEL_FIELDS or hasattr(FastSlowMDP, name)):
            raise InputError(
                f"model: {self.name} is a domain, which only describes its model; call .build() "
                f'on it, as in fsdash.make("{self.name}").build()'
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def parameters(cls) -> dict[str, Field]:
        """The parameters with their labels, help texts and ranges, in the order of the fields."""
        return {f.name: _declared(f) for f in fields(cls)}

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


def _declared(f: dataclasses.Field) -> Field:
    """The parameter of a field, whose annotation decides its kind."""
    kind = f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type))
    return replace(f.metadata.get("field", Field(f.default)), name=f.name, kind=kind)  # type: ignore[arg-type]
