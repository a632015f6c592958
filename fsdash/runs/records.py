"""Experiments, runs and replications as the store returns them, their progress and settings.

The status of a replication is one of

    queued       it waits for a worker
    running      a worker computes it
    paused       stopped by request; it can be resumed
    interrupted  its server ended, or the store could not be written; it can be resumed
    failed       an error or a limit ended it; the reason says which
    diverged     its values are no longer finite
    cancelled    stopped by request
    finished     the budget is spent, or an exact algorithm has converged

The status of a run or of an experiment is derived from its replications: the first status in
`STATUSES` that any of them has.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.core.display import Lines, Summary
from fsdash.domains import DOMAINS
from fsdash.formatting import number
from fsdash.runs.spec import BUDGETS, RunSpec, share_spent

STATUSES = (
    "running",
    "queued",
    "paused",
    "interrupted",
    "failed",
    "diverged",
    "cancelled",
    "finished",
)
ACTIVE = ("queued", "running")
RESUMABLE = ("paused", "interrupted", "failed", "cancelled")
OVER = ("finished", "diverged")
MAX_SHOWN = 8
"""Runs in the text of an experiment."""

LastRows = Mapping[tuple[int, int], Mapping[str, Any]]
"""The last stored row of each replication, by run and replication."""


@dataclass(frozen=True)
class Replication:
    """One replication of a run."""

    index: int
    status: str
    reason: str
    rows: int
    seconds: float
    """Time that workers have spent on it, including the evaluation of its policies."""
    pid: int | None
    """Process of the worker that computes or computed it."""
    heartbeat: float | None
    started: float | None
    finished: float | None
    """Times in seconds since 1970; None if it has not happened."""
    stopping: bool
    """Whether it was asked to stop and is still running."""


@dataclass(frozen=True, repr=False)
class Run(Summary):
    """One specification with its replications."""

    id: int
    experiment: str
    position: int
    spec_json: str
    hash: str
    domain: str
    algorithm: str
    T: int | None
    replications: tuple[Replication, ...]

    @cached_property
    def spec(self) -> RunSpec:
        """The specification.

        Raises `InputError` if it was written by a version of fsdash with other parameters.
        """
        return RunSpec.from_json(self.spec_json)

    @cached_property
    def spec_data(self) -> dict[str, Any]:
        """The specification as data, even if it can no longer be used."""
        data: dict[str, Any] = json.loads(self.spec_json)
        return data

    @property
    def status(self) -> str:
        return first_status(r.status for r in self.replications)

    @property
    def reason(self) -> str:
        """The reason of the first replication that has the run's status."""
        return next((r.reason for r in self.replications if r.status == self.status), "")

    @property
    def resumable(self) -> list[Replication]:
        """The replications that can be resumed."""
        return [r for r in self.replications if r.status in RESUMABLE]

    @property
    def rows(self) -> int:
        """Number of stored rows."""
        return sum(r.rows for r in self.replications)

    @property
    def started(self) -> float | None:
        """When its first replication started; None if none has."""
        return min((r.started for r in self.replications if r.started), default=None)

    @property
    def finished(self) -> float | None:
        """When its last replication ended; None while one is active."""
        if self.status in ACTIVE:
            return None
        return max((r.finished for r in self.replications if r.finished), default=None)

    def _summary(self) -> tuple[str, Lines]:
        T = "" if self.T is None else f", T={self.T}"
        return f"Run {self.id}: {self.algorithm}{T} on {self.domain}", [
            ("status", self.status),
            ("reason", self.reason),
            ("replications", len(self.replications)),
            ("rows", self.rows),
        ]


@dataclass(frozen=True, repr=False)
class Experiment(Summary):
    """The runs that were started together."""

    id: str
    owner: str
    name: str
    note: str
    pinned: bool
    created: float
    runs: tuple[Run, ...]

    @property
    def status(self) -> str:
        return first_status(run.status for run in self.runs)

    @property
    def active(self) -> bool:
        """Whether any replication is queued or running."""
        return self.status in ACTIVE

    def _summary(self) -> tuple[str, Lines]:
        rows: list[tuple[str, object]] = [
            (f"run {run.id}", f"{run.algorithm} on {run.domain}, {run.status}, {run.rows:,} rows")
            for run in self.runs[:MAX_SHOWN]
        ]
        if len(self.runs) > MAX_SHOWN:
            rows.append(("more runs", len(self.runs) - MAX_SHOWN))
        return f"Experiment {self.id}: {self.name!r} of {self.owner!r}, {self.status}", rows


def first_status(statuses: Iterable[str]) -> str:
    """The status that stands for several: the first of `STATUSES` that occurs."""
    return min(statuses, key=STATUSES.index, default="finished")


# ----------------------------------------------------------------------------------------- progress


@dataclass(frozen=True)
class Progress:
    """Progress of one run."""

    run: int
    status: str
    fraction: float
    """Share of the budget that is spent, over all replications."""
    seconds_left: float | None
    """Estimate; None while there is nothing to base it on, or when the run is not active."""
    finished: int
    replications: int


def progress_of(experiment: Experiment, last_rows: LastRows) -> list[Progress]:
    """The progress of each run, in order."""
    return [_progress_of_run(run, last_rows) for run in experiment.runs]


def _progress_of_run(run: Run, last_rows: LastRows) -> Progress:
    done = [
        1.0 if r.status in OVER else _fraction(run, last_rows.get((run.id, r.index)))
        for r in run.replications
    ]
    spent = sum(r.seconds for r in run.replications)
    left = None
    if run.status in ACTIVE and sum(done) > 0:
        running = sum(r.status == "running" for r in run.replications)
        # The rest takes time in proportion, divided between the workers that the run has now.
        left = spent / sum(done) * (len(done) - sum(done)) / max(1, running)
    over = sum(r.status in OVER for r in run.replications)
    return Progress(run.id, run.status, sum(done) / len(done), left, over, len(done))


def _fraction(run: Run, row: Mapping[str, Any] | None) -> float:
    # Not from run.spec: another version of fsdash may have written a spec that cannot be read now.
    [unit] = [name for name in BUDGETS if name in run.spec_data]
    return 0.0 if row is None else share_spent(unit, run.spec_data[unit], row)


# ---------------------------------------------------------------------------------------- settings

GENERAL_SETTINGS = (
    "domain",
    "algorithm",
    "T",
    "evaluations",
    "iterations",
    "seconds",
    "replications",
    "seed",
)
"""Settings that every run has; the others are parameters of its domain or its algorithm."""


def run_settings(run: Run) -> dict[str, object]:
    """Everything a run was started with; parameters of the domain as `domain.name`."""
    data = run.spec_data
    general = {n: v for n, v in data.items() if n not in ("domain_parameters", "parameters")}
    domain = {f"{run.domain}.{n}": v for n, v in data.get("domain_parameters", {}).items()}
    return general | domain | data.get("parameters", {})


def changed_settings(run: Run) -> tuple[dict[str, object], dict[str, object]]:
    """The parameters of the domain and of the algorithm that differ from their defaults."""
    domain, algorithm = DOMAINS.get(run.domain), ALGORITHMS.get(run.algorithm)
    domain_defaults = {n: p.default for n, p in domain.parameters().items()} if domain else {}
    algorithm_defaults = (
        {n: p.default for n, p in algorithm.all_parameters.items()} if algorithm else {}
    )
    chosen = (run.spec_data.get(name, {}) for name in ("domain_parameters", "parameters"))
    defaults: tuple[dict[str, Any], dict[str, Any]] = domain_defaults, algorithm_defaults
    of_domain, of_algorithm = (
        {name: value for name, value in values.items() if default.get(name) != value}
        for values, default in zip(chosen, defaults, strict=True)
    )
    return of_domain, of_algorithm


def differing_settings(runs: Sequence[Run]) -> list[str]:
    """The names of the settings in which the runs differ, in order.

    A parameter that every run has at its algorithm's default does not count.
    """
    settings_of_runs = [run_settings(run) for run in runs]
    names = []
    for name in dict.fromkeys(name for settings in settings_of_runs for name in settings):
        values = {str(settings[name]) for settings in settings_of_runs if name in settings}
        missing = any(name not in settings for settings in settings_of_runs)
        if name in GENERAL_SETTINGS:
            differs = len(values) > 1 or missing
        else:
            differs = len(values) > 1 and not all(_is_default(run, name) for run in runs)
        if differs:
            names.append(name)
    return names


def _is_default(run: Run, name: str) -> bool:
    parameters = ALGORITHMS[run.algorithm].all_parameters if run.algorithm in ALGORITHMS else {}
    settings = run_settings(run)
    return name not in settings or (
        name in parameters and settings[name] == parameters[name].default
    )


def method_title(name: str, T: int | None) -> str:
    """The name of a method in a legend, such as "E-FSVI, T=6"."""
    return ALGORITHMS[name].label(T) if name in ALGORITHMS else name


def run_labels(runs: Sequence[Run], letters: Mapping[str, str] | None = None) -> dict[int, str]:
    """The legend's name for each run, by its id: its method, and what tells it from similar runs.

    `letters` are short names of the experiments, where there are several.
    """
    letters = letters or {}
    titles = {
        run.id: (f"{letters[run.experiment]} · " if run.experiment in letters else "")
        + method_title(run.algorithm, run.T)
        for run in runs
    }
    labels = {}
    for run in runs:
        similar = [other for other in runs if titles[other.id] == titles[run.id]]
        if len(similar) == 1:
            labels[run.id] = titles[run.id]
            continue
        settings = run_settings(run)
        parts = [titles[run.id]] + [
            f"{name.rpartition('.')[2]}={short_value(settings[name])}"
            for name in differing_settings(similar)
            if name in settings and name not in ("algorithm", "T")
        ]
        labels[run.id] = ", ".join(parts)
    counts = Counter(labels.values())
    return {id: f"{label} ({id})" if counts[label] > 1 else label for id, label in labels.items()}


def spec_labels(specs: Sequence[RunSpec]) -> dict[str, str]:
    """`run_labels` of specifications, by their hash."""
    specs = list(dict.fromkeys(specs))
    runs = [
        Run(i, "", i, spec.to_json(), spec.hash, spec.domain, spec.algorithm, spec.T, ())
        for i, spec in enumerate(specs)
    ]
    labels = run_labels(runs)
    return {run.hash: labels[run.id] for run in runs}


def short_value(value: object) -> str:
    return number(value) if isinstance(value, int | float) and abs(value) >= 1e5 else str(value)
