"""The learning curves of an experiment, and the numbers that claims are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
import pandas as pd

from fsdash.reproduce.experiments import PaperExperiment
from fsdash.reproduce.settings import Setting, rows_for
from fsdash.runs.summary import first_crossing, replications, whole_sweeps

LAST_SHARE, MIN_SWEEPS = 0.1, 3
"""The last part of a run, and the fewest sweeps that a mean over it takes."""
LATE = 0.75
"""The late part of a run begins after this share of the budget."""
GRID_POINTS = 200


@dataclass(frozen=True, eq=False)
class ExperimentCurves:
    """The learning curves of one experiment.

    `runs` has for each method one pair (work in sweeps, share of the optimum) per replication, with
    one entry per recorded policy. After its last policy a replication keeps that policy's share, so
    a run that ended early, for example because it diverged, is judged by its last policy.
    """

    runs: Mapping[str, Sequence[tuple[np.ndarray, np.ndarray]]]
    budget: float
    lengths: Mapping[str, float] = field(default_factory=dict)
    """The sweeps of each method that count; all of them for a method that is not named."""
    whole: Mapping[str, Sequence[np.ndarray]] = field(default_factory=dict)
    """Which policies of each replication are at the end of a sweep; all if a method is missing."""

    @classmethod
    def of(
        cls, plan: PaperExperiment, frame: pd.DataFrame, setting: Setting | None = None
    ) -> ExperimentCurves:
        """The curves of an experiment's rows, read as the setting says."""
        rows = rows_for(frame, setting or Setting())
        ends = whole_sweeps(rows) & (rows["iteration"] > 0) & (rows["phase"] != "lower")
        ends, variants = ends.to_numpy(), rows["variant"].to_numpy()
        runs, lengths, whole = {}, {}, {}
        for series, curves in replications(
            rows, "sweeps", sweep=plan.sweep, lower_policies=("stationary",)
        ):
            runs[series.method] = curves
            lengths[series.method] = plan.length(series.algorithm, variants[series.rows[-1]])
            whole[series.method] = [ends[run] for run in series.runs]
        return cls(runs, plan.budget, lengths, whole)

    def up_to(self, share: float) -> ExperimentCurves:
        """The curves after this share of the budget; every curve keeps its first policy."""
        cut = {
            method: [_cut(*run, share * self.lengths.get(method, inf)) for run in runs]
            for method, runs in self.runs.items()
        }
        return ExperimentCurves(cut, share * self.budget, self.lengths, self.whole)

    def _shares(self, method: str, work: np.ndarray) -> np.ndarray:
        """The share after each amount of work, shape (replications, len(work))."""
        indices = [(np.searchsorted(x, work, side="right") - 1, y) for x, y in self.runs[method]]
        return np.array([y[np.maximum(index, 0)] for index, y in indices])

    def best(self, method: str) -> np.ndarray:
        """The best share of the whole run."""
        return np.array([np.max(y) for _, y in self.runs[method]])

    def last(self, method: str) -> np.ndarray:
        """The share of the last policy."""
        return np.array([y[-1] for _, y in self.runs[method]])

    def last_tenth(self, method: str) -> np.ndarray:
        """The mean share over the whole sweeps in the last tenth of the run, at least three."""
        found = []
        for i, (x, y) in enumerate(self.runs[method]):
            ends = np.arange(len(x))
            if method in self.whole:
                ends = np.flatnonzero(self.whole[method][i][: len(x)])
            late = ends[x[ends] >= (1 - LAST_SHARE) * x[-1]]
            found.append(np.mean(y[late if len(late) >= MIN_SWEEPS else ends[-MIN_SWEEPS:]]))
        return np.array(found)

    def at(self, method: str, work: float) -> np.ndarray:
        """The share after this many sweeps."""
        return self._shares(method, np.array([work]))[:, 0]

    def late(self, method: str) -> np.ndarray:
        """The mean share over the last quarter of the budget."""
        work = np.linspace(LATE * self.budget, self.budget, GRID_POINTS)
        return self._shares(method, work).mean(axis=1)

    def instability(self, method: str) -> np.ndarray:
        """The standard deviation of the share over the second half of the budget."""
        work = np.linspace(0.5 * self.budget, self.budget, GRID_POINTS)
        return self._shares(method, work).std(axis=1)

    def average(self, method: str) -> np.ndarray:
        """The mean share over the whole budget, which combines quality and speed."""
        return self._shares(method, np.linspace(0, self.budget, GRID_POINTS)).mean(axis=1)

    def work(self, method: str, level: float) -> np.ndarray:
        """The work to the first policy at or above this level; inf if there is none."""
        return np.array([first_crossing(x, y, level) for x, y in self.runs[method]])

    def mean_work(self, method: str, level: float) -> float:
        """The work until the mean curve, as drawn in a figure, first reaches this level."""
        grid = np.unique(np.concatenate([x for x, _ in self.runs[method]]))
        return first_crossing(grid, self._shares(method, grid).mean(axis=0), level)

    def work_ratio(self, method: str, other: str, level: float) -> np.ndarray:
        """The work of this method to reach a level, divided by the other's.

        The ratio is infinite if this method never reaches it. If only the other never does, its
        work counts as the whole budget, which is a lower bound.
        """
        return self.work(method, level) / np.minimum(self.work(other, level), self.budget)


def _cut(x: np.ndarray, y: np.ndarray, most: float) -> tuple[np.ndarray, np.ndarray]:
    n = max(int(np.searchsorted(x, most, side="right")), 1)
    return x[:n], y[:n]
