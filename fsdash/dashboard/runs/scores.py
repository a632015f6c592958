"""What a run achieved, in one line: its statistics and a small curve. Pure, without Streamlit.

The statistics are those of the table of methods (`fsdash.runs.summary`), so that a run has the same
final value here and in the Run lab. Work is in evaluations; the table of runs divides it by the
size of a sweep. Runs are ranked by their values at equal work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from fsdash.dashboard.curves import state as curves
from fsdash.runs.measures import RELATIVE, SHARE
from fsdash.runs.records import OVER, Run
from fsdash.runs.summary import MeanCurve, RunCurves, Sample, mean_curves, read_at, run_curves

CURVE_POINTS = 40
CurvePoints = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class RunScore:
    """The statistics of one run."""

    record: Mapping[str, Any]
    """Its row of `work_table`, with work in evaluations."""
    finished: int
    """Replications that have ended; if there are none, the statistics are of all rows so far."""
    curve: CurvePoints
    """The mean curve in the unit square: work on a logarithmic scale, and the share of the optimum,
    or of the initial policy's regret that is gone."""
    curves: RunCurves
    """Its main measure by replication, in evaluations."""
    seed: int | None
    """None for an exact algorithm."""

    @property
    def is_share(self) -> bool:
        return bool(self.record["measure"] == SHARE)

    @property
    def final(self) -> float:
        return float(self.record["final"])

    @property
    def goodness(self) -> float:
        """The final value in the direction in which more is better."""
        return self.final if self.is_share else -self.final

    def sample(self, budget: float) -> Sample:
        """The values of its replications after some evaluations."""
        return Sample(self.curves.values(budget), self.seed)

    @property
    def improvement(self) -> float:
        """The share of the optimum, or the part of the initial policy's regret that is gone.

        Both are at most 1, the value of the optimal policy.
        """
        return self.final if self.is_share else 1 - float(self.record["relative"])


def run_version(run: Run) -> tuple[int, int]:
    """Changes whenever the score of a run can have changed."""
    return run.rows, sum(r.status in OVER for r in run.replications)


def run_score(run: Run, frame: pd.DataFrame) -> RunScore | None:
    """The score of a run from its stored rows; None if there are none that can be read."""
    rows = curves.curve_rows(frame, [run], {run.id: "run"})
    if rows.empty:
        return None
    rows = curves.finished_rows(rows, [run])
    [record] = curves.work_table(rows, "evaluations").to_dict("records")
    finished = sum(r.status in OVER for r in run.replications)
    measure = SHARE if record["measure"] == SHARE else RELATIVE
    drawn = mean_curves(rows, "evaluations", y=measure)
    small = _small_curve(drawn[0]) if drawn else ()
    [own] = run_curves(rows, "evaluations", y=record["measure"]).values()
    return RunScore(record, finished, small, _compact(own), curves.seed_of(run))


def _compact(run: RunCurves) -> RunCurves:
    """The same step functions, in as little memory as they need."""
    kept = {}
    for i, (x, y) in run.replications.items():
        changes = np.append(True, y[1:] != y[:-1])
        changes[-1] = True  # the work of the last policy
        kept[i] = x[changes].astype(np.float32), y[changes].astype(np.float32)
    return RunCurves(run.algorithm, kept)


def _small_curve(curve: MeanCurve) -> CurvePoints:
    x, y = curve.x[curve.x > 0], curve.mean[curve.x > 0]
    if len(x) < 2 or x[0] == x[-1]:
        return ()
    x = np.log(x)
    at = np.linspace(x[0], x[-1], CURVE_POINTS)
    heights = read_at(x, y if curve.y == SHARE else 1 - y, np.minimum(at, x[-1]))
    across, up = np.linspace(0, 1, CURVE_POINTS), np.clip(heights, 0, 1)
    return tuple((round(float(a), 3), round(float(b), 3)) for a, b in zip(across, up, strict=True))


def work_in_sweeps(score: RunScore, sweep: float) -> dict[str, Any]:
    """The record of a score with its work in sweeps."""
    record = dict(score.record)
    names = [name for name in record if name == "start_work" or name.startswith("work_")]
    return record | {name: record[name] / sweep if sweep else nan for name in names}
