"""The settings of recorded runs: what tells runs apart, in a table and in a legend. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.domains import DOMAINS
from fsdash.formatting import number
from fsdash.runs.records import Run
from fsdash.runs.summary import method_title

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
    of_domain = DOMAINS[run.domain].legacy_values() if run.domain in DOMAINS else {}
    of_domain |= data.get("domain_parameters", {})
    own = ALGORITHMS[run.algorithm].legacy_values if run.algorithm in ALGORITHMS else {}
    domain = {f"{run.domain}.{n}": v for n, v in of_domain.items()}
    return general | domain | own | data.get("parameters", {})


def changed_settings(run: Run) -> tuple[dict[str, object], dict[str, object]]:
    """The parameters of the domain and of the algorithm that differ from their defaults."""
    domain, algorithm = DOMAINS.get(run.domain), ALGORITHMS.get(run.algorithm)
    usual = {p.name: p.default for p in domain.parameters()} if domain else {}
    own = {n: p.default for n, p in algorithm.all_parameters.items()} if algorithm else {}
    given = (run.spec_data.get(name, {}) for name in ("domain_parameters", "parameters"))
    of_domain, of_algorithm = (
        {name: value for name, value in values.items() if defaults.get(name) != value}
        for values, defaults in zip(given, (usual, own), strict=True)
    )
    return of_domain, of_algorithm


def differing_settings(runs: Sequence[Run]) -> list[str]:
    """The names of the settings in which the runs differ, in order.

    A parameter that every run has at its algorithm's default does not count.
    """
    given = [run_settings(run) for run in runs]
    found = []
    for name in dict.fromkeys(name for settings in given for name in settings):
        values = {str(settings[name]) for settings in given if name in settings}
        missing = any(name not in settings for settings in given)
        if name in GENERAL_SETTINGS:
            differs = len(values) > 1 or missing
        else:
            differs = len(values) > 1 and not all(_is_default(run, name) for run in runs)
        if differs:
            found.append(name)
    return found


def _is_default(run: Run, name: str) -> bool:
    known = ALGORITHMS[run.algorithm].all_parameters if run.algorithm in ALGORITHMS else {}
    settings = run_settings(run)
    return name not in settings or (name in known and settings[name] == known[name].default)


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


def short_value(value: object) -> str:
    return number(value) if isinstance(value, int | float) and abs(value) >= 1e5 else str(value)
