"""Kept numbers: the measured constants of the three domains, and the true regret of FSVI on them.

Both take seconds to compute, too long for a page to wait. `python -m fsdash.theory.measured_domains` computes them
again and writes the two CSV files here; a test compares them with a fresh computation.

    measured.csv   one domain a line: γ, sizes, and what `fsdash constants` measures
    regret.csv     one domain and T a line: the regret of FSVI's policy, converged to 1e-3, by
                   exact evaluation under the true model, as `fsdash solve` gives it
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from fsdash.theory.parameters import Constants, Sizes

FOLDER = Path(__file__).parent
HORIZONS = (2, 3, 6, 12, 24)


@dataclass(frozen=True)
class MeasuredDomain:
    """A domain at its default parameters: constants, sizes, and T → (largest, mean) regret."""

    name: str
    constants: Constants
    sizes: Sizes
    regret: Mapping[int, tuple[float, float]]


@cache
def measured_domains() -> Mapping[str, MeasuredDomain]:
    """The three domains by name, as they were measured."""
    regret: dict[str, dict[int, tuple[float, float]]] = {}
    for row in _rows("regret"):
        of_domain = regret.setdefault(row["domain"], {})
        of_domain[int(row["T"])] = float(row["max_regret"]), float(row["mean_regret"])
    return MappingProxyType(
        {
            row["domain"]: MeasuredDomain(
                name=row["domain"],
                constants=Constants(**{n: float(row[n]) for n in Constants.__annotations__}),
                sizes=Sizes(**{n: int(row[n]) for n in Sizes.__annotations__}),
                regret=MappingProxyType(regret[row["domain"]]),
            )
            for row in _rows("measured")
        }
    )


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
