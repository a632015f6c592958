"""The results of one full run, kept with the project: pages show them without computing.

`python -m fsdash.reproduce` computes them again (minutes); a test recomputes a part of them, and
all verdicts from the kept rows.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pandas as pd

from fsdash.errors import InputError
from fsdash.reproduce.experiments import DOMAINS, named

FOLDER = Path(__file__).parent / "results"


def kept_domains() -> tuple[str, ...]:
    """The domains whose rows are kept."""
    return tuple(domain for domain in DOMAINS if (FOLDER / f"{domain}.csv").exists())


def kept_rows(domain: str) -> pd.DataFrame:
    """The tidy rows of an experiment, with `variant` and `method`, the name in a legend."""
    return _rows(domain).copy()


@cache
def _rows(domain: str) -> pd.DataFrame:
    if domain not in kept_domains():
        raise InputError(f"experiment = {domain!r}: choose from {', '.join(kept_domains())}")
    path = FOLDER / f"{domain}.csv"
    return named(
        pd.read_csv(path, dtype={"T": "Int64"}, keep_default_na=True).fillna({"variant": ""})
    )


def kept_claims() -> pd.DataFrame:
    """One claim a row: name, claim, where, rule, verdict, measured, replications, remark."""
    return pd.read_csv(FOLDER / "claims.csv").fillna({"remark": ""})


def kept_findings() -> pd.DataFrame:
    """One part of a claim a row, as numbers."""
    return pd.read_csv(FOLDER / "findings.csv")


def kept_work(domain: str) -> pd.DataFrame:
    """The work of each method, in sweeps, to 75%, 90% and 95% of the optimum."""
    return pd.read_csv(FOLDER / f"{domain}-work.csv", dtype={"T": "Int64"})


def about() -> dict:
    """When and with what the kept results were made."""
    return json.loads((FOLDER / "about.json").read_text("utf-8"))
