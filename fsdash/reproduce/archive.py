"""The archived results of one full reproduction, which pages show without computing.

`python -m fsdash.reproduce` recomputes them in minutes. A test recomputes some of the rows, and all
verdicts from the archived rows.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pandas as pd

from fsdash.errors import InputError
from fsdash.reproduce.experiments import DOMAINS, named
from fsdash.runs.columns import NAMES
from fsdash.runs.measures import with_regret

FOLDER = Path(__file__).parent / "results"


def archived_domains() -> tuple[str, ...]:
    """The domains whose rows are archived."""
    return tuple(domain for domain in DOMAINS if (FOLDER / f"{domain}.csv").exists())


def archived_rows(domain: str) -> pd.DataFrame:
    """The tidy rows of an experiment, with `variant`, `ties` and `method`, its name in legends."""
    return _rows(domain).copy()


@cache
def _rows(domain: str) -> pd.DataFrame:
    if domain not in archived_domains():
        raise InputError(f"experiment = {domain!r}: choose from {', '.join(archived_domains())}")
    path = FOLDER / f"{domain}.csv"
    rows = pd.read_csv(path, dtype={"T": "Int64"}).fillna({"variant": "", "ties": ""})
    return named(with_regret(rows))[[*NAMES, "variant", "ties", "method"]]


def archived_claims() -> pd.DataFrame:
    """One row per claim.

    The columns are name, claim, quotation, where, rule, verdict, clear_parts, parts, first_verdict,
    measured, replications, remark and changed.
    """
    empty = {name: "" for name in ("quotation", "first_verdict", "remark", "changed")}
    return pd.read_csv(FOLDER / "claims.csv").fillna(empty)


def archived_findings() -> pd.DataFrame:
    """One row per part of a claim, as numbers."""
    return pd.read_csv(FOLDER / "findings.csv")


def archived_sensitivity() -> pd.DataFrame:
    """The verdict on each claim for every count, way to break ties, and share of the budget."""
    return pd.read_csv(FOLDER / "sensitivity.csv")


def archived_seeds() -> pd.DataFrame:
    """The verdict on each of the paper's numerical claims for five seeds, and for all together."""
    return pd.read_csv(FOLDER / "seeds.csv", dtype={"seed": str})


def archived_seed_rows() -> pd.DataFrame:
    """The tidy rows of the seeds but the first, with `variant`, `ties` and `method`."""
    rows = pd.read_csv(FOLDER / "seed-rows.csv.gz", dtype={"T": "Int64"})
    return named(rows.fillna({"variant": ""}))


def archived_constants() -> pd.DataFrame:
    """The verdicts on the claims about the inventory for other p, c, K and h."""
    return pd.read_csv(FOLDER / "constants.csv")


def archived_samples() -> pd.DataFrame:
    """The shares of Base E-VI by domain, number of samples and kind of random numbers."""
    return pd.read_csv(FOLDER / "samples.csv")


def archived_budgets() -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """The shares of methods at fixed budgets, and certificates; None if they are missing."""
    paths = [FOLDER / f"{name}.csv" for name in ("budgets", "certificates")]
    if not all(path.exists() for path in paths):
        return None
    budgets, certificates = (pd.read_csv(path, dtype={"T": "Int64"}) for path in paths)
    return budgets, certificates


def archived_work(domain: str) -> pd.DataFrame:
    """The work in sweeps of each method to reach 75%, 90% and 95% of the optimum."""
    return pd.read_csv(FOLDER / f"{domain}-work.csv", dtype={"T": "Int64"})


def about() -> dict:
    """When and with which versions the archived results were computed, by domain."""
    return json.loads((FOLDER / "about.json").read_text("utf-8"))
