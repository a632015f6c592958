"""Three small tables to try, written by the scripts in the project's folder `examples/`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Example:
    """A table of transitions and the options that `load` needs for it."""

    name: str
    title: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.csv"


EXAMPLES = (
    Example(
        "company_inventory",
        "A company's stock under calm and busy demand (costs)",
        {"slow": "regime", "gamma": 0.99, "sense": "min"},
    ),
    Example(
        "savings",
        "Savings with an uncertain income",
        {"slow": "income", "gamma": 0.96},
    ),
    Example(
        "maintenance",
        "Maintenance of a machine in a slowly changing climate (costs)",
        {"slow": "climate", "gamma": 0.98, "sense": "min"},
    ),
)
