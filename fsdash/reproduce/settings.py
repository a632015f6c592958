"""Three choices that the paper leaves open and that can decide a verdict.

count   The evaluations that one sample of the upper level costs. It needs J₁(s₁) and V(s_T), so
        this project counts 2. The paper's Section "Computational Cost of FSVI" charges an iteration
        of the upper level like one of VI, which means 1: E[J₁(s₁)] does not change between
        iterations and can be stored.
ties    How every sampled method breaks ties between equally good actions: at random, or by the
        first index.
share   The share of the budget after which the results are read. None: the shares that the rule of
        a claim names, which is the whole budget unless it says otherwise.

A run does not depend on the count, so both counts are read off the same rows. Runs that freeze the
slow state are long enough for either count.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.errors import InputError
from fsdash.sampling import TIES

COUNTS = (2, 1)
TIES_ORDER = ("random", "first")
SHARES = (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Setting:
    """How the results are read. The defaults are those of the archived verdicts."""

    count: int = COUNTS[0]
    ties: str = TIES_ORDER[0]
    share: float | None = None

    def __post_init__(self) -> None:
        if self.count not in COUNTS:
            raise InputError(f"count = {self.count}: choose from 2 and 1")
        if self.ties not in TIES:
            raise InputError(f"ties = {self.ties!r}: choose from {', '.join(TIES)}")
        if self.share is not None and not 0 < self.share <= 1:
            raise InputError(f"share = {self.share}: use more than 0, up to 1")


def all_settings() -> list[Setting]:
    """Every combination of count, ties and share of the budget."""
    return [Setting(*choice) for choice in product(COUNTS, TIES_ORDER, SHARES)]


def rows_for(frame: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    """The rows with the ties of the setting, counted as it says.

    Rows with an empty `ties` belong to runs that were made once, for every setting.
    """
    return counted(frame[frame["ties"].isin((setting.ties, ""))], setting.count)


def counted(frame: pd.DataFrame, count: int) -> pd.DataFrame:
    """The rows with `count` evaluations for each sample of the upper level; recorded are 2."""
    if count == COUNTS[0] or frame.empty:
        return frame
    sampled = [n for n, method in ALGORITHMS.items() if method.freezes and method.sampled]
    upper = frame["algorithm"].isin(sampled) & (frame["phase"] == "upper")
    run = ["algorithm", "T", "variant", "ties", "replication"]
    # The first row of the upper level, V⁰, has the work of the lower level alone.
    lower = frame[upper].groupby(run, dropna=False)["evaluations"].transform("min")
    work = frame["evaluations"].copy()
    work[upper] = lower + (work[upper] - lower) * count // COUNTS[0]
    return frame.assign(evaluations=work)
