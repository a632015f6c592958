"""Why Base E-VI with M = 50 falls short: too few samples, or separate samples for each action?

Base E-VI is run with M = 50, 200 and 500 samples, each with separate samples for every action and
with common random numbers. If separate samples were the cause, common random numbers would remove
the shortfall at M = 50. If there are too few samples, a larger M removes it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import SAMPLE_SIZES, PaperExperiment, sample_variant
from fsdash.runs.records import method_title
from fsdash.runs.summary import interval

COLUMNS = ["domain", "M", "common_random_numbers"] + [
    f"{what}{end}" for what in ("final", "best") for end in ("", "_low", "_high")
]


def sample_method(M: int, common: bool) -> str:
    """The name of Base E-VI with M samples, with or without common random numbers."""
    return f"{method_title('e-vi', None)}, {sample_variant(M, common)}"


def samples_table(results: Mapping[str, tuple[PaperExperiment, pd.DataFrame]]) -> pd.DataFrame:
    """The share in the last tenth (`final`) and the best one, with 95% intervals up to 1."""
    records = []
    for domain, (plan, frame) in results.items():
        curves = ExperimentCurves.of(plan, frame)
        for common in (False, True):
            for M in SAMPLE_SIZES:
                method = sample_method(M, common)
                if method in curves.runs:
                    final, best = interval(curves.last_tenth(method)), interval(curves.best(method))
                    ends = (*final[:2], min(final[2], 1.0), *best[:2], min(best[2], 1.0))
                    records.append((domain, M, common, *ends))
    return pd.DataFrame(records, columns=COLUMNS)
