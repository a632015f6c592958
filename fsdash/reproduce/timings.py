"""Seconds per evaluation of each run of the reproduction, for `fsdash.runs.estimate`."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fsdash.reproduce.experiments import PaperExperiment
from fsdash.reproduce.settings import Setting, rows_for
from fsdash.runs.estimate import Timing, unit_of
from fsdash.runs.spec import RunSpec

TOTALS = ["seconds", "evaluations", "iteration"]


def recorded_timings(
    results: Mapping[str, tuple[PaperExperiment, pd.DataFrame]],
) -> tuple[Timing, ...]:
    """One timing per domain, algorithm and T; the slowest where several variants share them.

    Of two runs that differ only in how they break ties, the one with ties at random is used.
    """
    found: dict[tuple[str, str, int], Timing] = {}
    for domain, (experiment, frame) in results.items():
        rows = rows_for(frame, Setting())
        groups = rows.groupby(["algorithm", "T", "variant", "replication"], dropna=False)
        last = groups[TOTALS].last().reset_index()
        for run in (r for r in experiment.runs if r.ties in (Setting().ties, "")):
            T = run.spec.T
            same_T = last["T"].isna() if T is None else last["T"].eq(T).fillna(False)
            same_run = last["algorithm"].eq(run.spec.algorithm) & last["variant"].eq(run.variant)
            timing = _timing(run.spec, last[same_run & same_T])
            key = domain, timing.algorithm, timing.T
            known = found.get(key)
            if known is None or timing.seconds_per_evaluation > known.seconds_per_evaluation:
                found[key] = timing
    return tuple(found.values())


def _timing(spec: RunSpec, last_rows: pd.DataFrame) -> Timing:
    total = last_rows[TOTALS].sum()
    return Timing(
        spec.domain,
        spec.algorithm,
        spec.T or 0,
        float(total["seconds"] / total["evaluations"]),
        float(total["evaluations"] / total["iteration"] / unit_of(spec)),
    )
