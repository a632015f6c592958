"""The stored constants of the paper's three domains, and the true regret of FSVI on them.

They take seconds to compute, which is too long for a page. `python -m
fsdash.theory.measured_domains` recomputes them and writes the two CSV files of this folder; a test
compares the files with a new computation.

    constants.csv  one row per domain: γ, sizes, and what `fsdash constants` measures
    regret.csv     one row per domain and T: the regret of FSVI's policy, converged to 1e-3 and
                   evaluated exactly under the true model, as by `fsdash solve`
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
    """A domain with its default parameters: constants, sizes, and (largest, mean) regret by T."""

    name: str
    constants: Constants
    sizes: Sizes
    regret: Mapping[int, tuple[float, float]]


@cache
def measured_domains() -> Mapping[str, MeasuredDomain]:
    """The three domains by name."""
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
            for row in _rows("constants")
        }
    )


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
