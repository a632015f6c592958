"""The constants of the domains, and the true regret of FSVI on them.

They take seconds to compute, which is too long for a page, so those of the paper's three domains
are stored. `python -m fsdash.theory.measured_domains` recomputes them and writes the two CSV files
of this folder; a test compares the files with a new computation. Any other registered domain is
measured when it is first asked for.

    constants.csv  one row per domain: γ, sizes, and what `fsdash constants` measures
    regret.csv     one row per domain and T: the regret of FSVI's policy, converged to 1e-3 and
                   evaluated exactly under the true model, as by `fsdash solve`
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

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


class MeasuredDomains(Mapping[str, MeasuredDomain]):
    """Every registered domain by name, the stored ones first.

    A user's own model can be looked up by its name (`fsdash.domains.saved`), but is not listed.
    """

    def __iter__(self) -> Iterator[str]:
        from fsdash.domains import DOMAINS

        return iter(dict.fromkeys([*_stored(), *DOMAINS]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> MeasuredDomain:
        from fsdash.domains import DOMAINS

        if name not in _stored() and name not in DOMAINS:
            raise KeyError(name)
        return _stored().get(name) or _measured(name)


def measured_domains() -> MeasuredDomains:
    """Every registered domain with its constants and regrets."""
    return MeasuredDomains()


@cache
def _stored() -> Mapping[str, MeasuredDomain]:
    regret: dict[str, dict[int, tuple[float, float]]] = {}
    for row in _rows("regret"):
        of_domain = regret.setdefault(row["domain"], {})
        of_domain[int(row["T"])] = float(row["max_regret"]), float(row["mean_regret"])
    return {row["domain"]: _domain(row, regret[row["domain"]]) for row in _rows("constants")}


@cache
def _measured(name: str) -> MeasuredDomain:
    from fsdash.algorithms.optimum import optimum
    from fsdash.domains import make
    from fsdash.theory.measured_domains.__main__ import constants_row, regret_rows

    model = make(name).build()
    best = optimum(model)
    rows = regret_rows(name, model, best)
    regret = {row["T"]: (row["max_regret"], row["mean_regret"]) for row in rows}
    return _domain(constants_row(name, model, best), regret)


def _domain(row: Mapping[str, Any], regret: Mapping[int, tuple[float, float]]) -> MeasuredDomain:
    """A domain from a row of constants.csv and its regrets by T."""
    return MeasuredDomain(
        name=row["domain"],
        constants=Constants(
            coupling=row["coupling"],
            **{n: float(row[n]) for n in Constants.__annotations__ if n != "coupling"},
        ),
        sizes=Sizes(**{n: int(row[n]) for n in Sizes.__annotations__}),
        regret=MappingProxyType(dict(regret)),
    )


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
