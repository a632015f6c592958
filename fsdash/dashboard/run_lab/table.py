"""The table of runs: one row per run, its statistics, its order, and the best run of each group.

Pure, without Streamlit. Final values are shares of the optimum, or mean regret on models without
such shares (`fsdash.runs.measures`), the same here and in the table of methods. Only runs on the
same model, a domain with its parameters, are compared, and only at equal work: after the
evaluations that all of them have spent (`fsdash.runs.summary`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves import state as curves
from fsdash.dashboard.curves.state import facts_of
from fsdash.dashboard.curves.text import STATUS_BADGES, amount
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.widgets.data_table import Cell, TableColumn, TableRow
from fsdash.dashboard.widgets.theme import themed
from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.formatting import duration, number, setting, whole_range
from fsdash.runs.measures import RELATIVE, SHARE
from fsdash.runs.records import (
    OVER,
    Experiment,
    Run,
    changed_settings,
    differing_settings,
    method_title,
    run_settings,
    short_value,
)
from fsdash.runs.summary import (
    MeanCurve,
    RunCurves,
    Sample,
    common_budget,
    difference,
    mean_curves,
    read_at,
    run_curves,
)

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


LEVEL = 0.9
MAX_CHANGES = 2
"""Changed parameters that a cell names."""
BEST, OPEN = "best", "open"
ASKED_T = re.compile(r"\bT\s*=\s*((?:[^\s,]*\s*,\s*)*[^\s,]*)", re.IGNORECASE)
"""`T=` and the list that follows: its parts are separated by commas, with or without spaces."""
MAX_ASKED_T = 100
"""Values of T in one search."""


@dataclass(frozen=True)
class RunRow:
    """One run with what the table shows about it."""

    experiment: Experiment
    run: Run
    score: RunScore | None = None
    sweep: float = 0.0
    """Evaluations in one sweep of its domain; 0 if the specification cannot be read."""
    rank: str = ""
    """`BEST` of its model at equal work, or `OPEN` if the interval of its difference from the best
    one contains 0."""
    comparison: str = ""
    """The numbers behind its rank."""

    @property
    def id(self) -> str:
        return reference(self.run)

    @property
    def model(self) -> tuple[str, str]:
        """Its domain with its parameters."""
        parameters = self.run.spec_data.get("domain_parameters", {})
        return self.run.domain, json.dumps(parameters, sort_keys=True)


def reference(run: Run) -> str:
    """How links name a run: the id of its experiment and its place there."""
    return f"{run.experiment}.{run.position}"


def run_rows(
    experiments: Sequence[Experiment], scores: Mapping[int, RunScore | None], chosen: Filters
) -> list[RunRow]:
    """The rows of the runs that pass the filters, with the best of each model marked."""
    found = [(e, run) for e in experiments for run in e.runs if chosen.accept(run)]
    readable = curves.readable_runs([run for _, run in found])
    sweeps = {run.id: curves.facts_of(run).sweep for run in readable}
    rows = [RunRow(e, run, scores.get(run.id), sweeps.get(run.id, 0.0)) for e, run in found]
    return mark_best(rows)


@dataclass(frozen=True)
class Filters:
    """What a run must have; None accepts everything."""

    domain: str | None = None
    algorithm: str | None = None
    status: str | None = None
    T: tuple[int, ...] = ()
    """The values of T of which a run must have one; none accepts every run."""

    def accept(self, run: Run) -> bool:
        wanted = (self.domain, run.domain), (self.algorithm, run.algorithm)
        wanted += ((self.status, run.status),)
        if self.T and run.T not in self.T:
            return False
        return all(value is None or value == found for value, found in wanted)


@dataclass(frozen=True)
class Search:
    """What the words of a search ask for."""

    text: str = ""
    """What is searched in names and notes."""
    T: tuple[int, ...] = ()
    algorithm: str | None = None
    domain: str | None = None
    problem: str = field(default="", compare=False)
    """What is wrong with values of T, and the remedy."""


def read_search(words: str, domains: Mapping[str, str]) -> Search:
    """Words that name an algorithm, a domain or values of T, such as `E-FSVI T=3,6,12` or `T=2:6`.

    `domains` has the labels of the domains. All other words are searched in names and notes. Values
    of T that cannot be read are reported and do not count.
    """
    T, problems = set[int](), []
    for found in ASKED_T.findall(words):
        try:
            T |= set(whole_range(found, MAX_ASKED_T))
        except InputError as problem:
            problems.append(text.unusable_T(str(problem) if found else ""))
    rest = f" {' '.join(ASKED_T.sub(' ', words).split())} "
    titles = {name: algorithm.title for name, algorithm in ALGORITHMS.items()}
    algorithm, rest = _named(rest, titles)
    domain, rest = _named(rest, domains)
    return Search(rest.strip(), tuple(sorted(T)), algorithm, domain, " ".join(problems))


def _named(words: str, titles: Mapping[str, str]) -> tuple[str | None, str]:
    """The name whose title is in the words, the longest one first, and the other words."""
    for name, title in sorted(titles.items(), key=lambda pair: -len(pair[1])):
        if (place := words.lower().find(f" {title.lower()} ")) >= 0:
            return name, f"{words[:place]} {words[place + len(title) + 2 :]}"
    return None, words


# -------------------------------------------------------------------------------------------- best

GROUPS: dict[str, Callable[[RunRow], object]] = {
    "domain": lambda row: row.model,
    "method": lambda row: (row.model, row.run.algorithm, row.run.T),
    "experiment": lambda row: (row.model, row.experiment.id),
}
"""By name: what the runs of one group share. Runs on different models are never in one group."""


def best_rows(rows: Sequence[RunRow], group: str) -> list[RunRow]:
    """The best run of each group, in the given order; runs without a score are left out."""
    ranked = [_at_equal_work(own)[0] for own in _groups(rows, group)]
    leaders = {pairs[0][0].id for pairs in ranked}
    return [row for row in rows if row.id in leaders]


def mark_best(rows: Sequence[RunRow]) -> list[RunRow]:
    """The rows, with the best run of each model marked, and those that may be as good."""
    marked: dict[str, RunRow] = {}
    for own in _groups(rows, "domain"):
        if len(own) > 1:
            marked |= {row.id: row for row in _ranked(own)}
    return [marked.get(row.id, row) for row in rows]


def _groups(rows: Sequence[RunRow], group: str) -> list[list[RunRow]]:
    """The runs of each group that have a score."""
    found: dict[object, list[RunRow]] = {}
    for row in rows:
        if row.score:
            found.setdefault(GROUPS[group](row), []).append(row)
    return list(found.values())


def _at_equal_work(rows: Sequence[RunRow]) -> tuple[list[tuple[RunRow, Sample]], float]:
    """The runs of one model from the best to the worst after a common budget, and this budget."""
    scores = [row.score for row in rows if row.score]
    budget = common_budget(score.curves for score in scores)
    pairs = [(row, row.score.sample(budget)) for row in rows if row.score]

    def goodness(pair: tuple[RunRow, Sample]) -> float:
        value = pair[1].mean if scores[0].is_share else -pair[1].mean
        return -inf if isnan(value) else value

    return sorted(pairs, key=goodness, reverse=True), budget


def _ranked(rows: Sequence[RunRow]) -> Iterator[RunRow]:
    """The runs of one model with their rank and the comparison that it comes from."""
    pairs, budget = _at_equal_work(rows)
    best_row, best = pairs[0]
    assert best_row.score is not None  # rows without a score are in no group
    is_share, sweeps = best_row.score.is_share, budget / best_row.sweep if best_row.sweep else nan
    for row, sample in pairs:
        if row is best_row:
            value = amount(best.mean, is_share)
            yield replace(row, rank=BEST, comparison=text.at_work(value, sweeps))
            continue
        lead = difference(best, sample) if is_share else difference(sample, best)
        same = amount(sample.mean, is_share) == amount(best.mean, is_share)
        rank = OPEN if same or (lead.has_interval and lead.contains_zero) else ""
        yield replace(row, rank=rank, comparison=text.behind_best(lead, is_share, sweeps))


def leader(row: RunRow) -> tuple[str, str, str]:
    """The domain of the best run, its method and its value at equal work, as texts."""
    return (
        domain_label(row.run.domain),
        method_title(row.run.algorithm, row.run.T),
        row.comparison,
    )


# --------------------------------------------------------------------------------------- selection


def selected_references(wanted: Sequence[str], experiments: Sequence[Experiment]) -> list[str]:
    """The references of selected runs; the id of an experiment stands for all its runs."""
    runs = {e.id: [reference(run) for run in e.runs] for e in experiments}
    found = [ref for part in wanted for ref in runs.get(part, [part])]
    known = {ref for refs in runs.values() for ref in refs}
    return [ref for ref in dict.fromkeys(found) if ref in known]


def shortest_selection(refs: Sequence[str], experiments: Sequence[Experiment]) -> list[str]:
    """The same selection for a link: an experiment whose runs are all selected is named once."""
    whole = {e.id for e in experiments if {reference(run) for run in e.runs} <= set(refs)}
    parts = (ref.partition(".")[0] for ref in refs)
    return list(
        dict.fromkeys(id if id in whole else ref for id, ref in zip(parts, refs, strict=True))
    )


# ------------------------------------------------------------------------------------------- order


def sorted_rows(rows: Sequence[RunRow], sort: str) -> list[RunRow]:
    """The rows by one column, in descending order after a minus; rows without a value are last."""
    key = SORT_KEYS[sort.removeprefix("-")]
    known = [row for row in rows if key(row) is not None]
    unknown = [row for row in rows if key(row) is None]
    return sorted(known, key=key, reverse=sort.startswith("-")) + unknown


def next_order(sort: str, column: str) -> str:
    """The order after a click on a heading: the other direction, or the column's usual one."""
    if sort.removeprefix("-") == column:
        return column if sort.startswith("-") else f"-{column}"
    return f"-{column}" if column in DESCENDING else column


def _budget(row: RunRow) -> tuple[str, float] | None:
    data = row.run.spec_data
    for unit in ("evaluations", "iterations", "seconds"):
        if data.get(unit) is not None:
            size = data[unit] / row.sweep if unit == "evaluations" and row.sweep else data[unit]
            return unit, float(size)
    return None


def _work(row: RunRow) -> float | None:
    if row.score is None or not row.sweep:
        return None
    work = work_in_sweeps(row.score, row.sweep)[f"work_{100 * LEVEL:g}"]
    return None if work != work else float(work)


SORT_KEYS: dict[str, Callable[[RunRow], Any]] = {
    "name": lambda row: row.experiment.name.lower(),
    "domain": lambda row: domain_label(row.run.domain).lower(),
    "method": lambda row: algorithm_title(row.run),
    "T": lambda row: row.run.T,
    "budget": _budget,
    # Shares come before regrets: the two cannot be compared.
    "final": lambda row: row.score and (row.score.is_share, row.score.goodness),
    "work": _work,
    "seconds": lambda row: sum(r.seconds for r in row.run.replications),
    "owner": lambda row: row.experiment.owner,
    "created": lambda row: row.experiment.created,
    "status": lambda row: row.run.status,
}
DESCENDING = ("final", "seconds", "created")
"""Columns whose largest value is the most interesting one."""
NEWEST_FIRST = "-created"


# ------------------------------------------------------------------------------------------- cells


STYLES = {
    "name": "whole-line",
    "open": "unbroken",
    "method": "unbroken",
    "created": "unbroken",
} | dict.fromkeys(("T", "budget", "final", "work", "seconds"), "right")


def table_columns(with_owner: bool = True) -> list[TableColumn]:
    """The columns; on the computer of a single user all experiments have the same owner."""
    return [
        TableColumn(
            name,
            title,
            text.COLUMN_HELP.get(name, ""),
            sortable=name in SORT_KEYS,
            style=STYLES.get(name, "left"),
        )
        for name, title in text.COLUMNS.items()
        if with_owner or name != "owner"
    ]


def table_rows(
    rows: Sequence[RunRow],
    visitor: str,
    now: float,
    links: Callable[[RunRow], list[dict]],
) -> list[TableRow]:
    """The cells of each row; `links` gives those to other pages."""
    made = []
    for row in rows:
        cells = _cells(row, visitor, now) | {"open": {"links": links(row)}}
        label = text.row_label(row.experiment.name, algorithm_title(row.run), row.run.T)
        made.append(TableRow(row.id, label, cells))
    return made


def _cells(row: RunRow, visitor: str, now: float) -> dict[str, Cell]:
    run, experiment, colour = row.run, row.experiment, themed(curves.run_colour(row.run))
    badge, (of_domain, of_method) = STATUS_BADGES[run.status], changed_settings(run)
    seconds = sum(r.seconds for r in run.replications)
    return {
        "name": {
            "text": experiment.name or "unnamed",
            "mark": "pinned" if experiment.pinned else "",
            "help": experiment.note,
        },
        "domain": {"text": domain_label(run.domain)} | _changes(of_domain),
        "method": {"text": algorithm_title(run), "swatch": colour} | _changes(of_method),
        "T": {"text": "" if run.T is None else f"{run.T}"},
        "budget": {"text": curves.budget_text(run) if row.sweep else ""},
        "curve": _curve_cell(row, colour),
        "final": _final_cell(row),
        "work": {"text": _work_text(row)},
        "seconds": {"text": number(seconds), "help": duration(seconds)},
        "owner": {"text": text.owner_label(experiment.owner, visitor)},
        "created": {"text": text.age(now - experiment.created), "help": _date(experiment.created)},
        "status": {"text": badge.word, "badge": badge.colour, "help": run.reason},
    }


def _changes(settings: Mapping[str, object]) -> Cell:
    """The first parameters that are not at their defaults; all of them on hover."""
    listed = [f"{name}={short_value(value)}" for name, value in settings.items()]
    more = ["…"] if len(listed) > MAX_CHANGES else []
    return {"note": ", ".join(listed[:MAX_CHANGES] + more), "help": ", ".join(listed)}


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def algorithm_title(run: Run) -> str:
    """The name of its algorithm."""
    return ALGORITHMS[run.algorithm].title if run.algorithm in ALGORITHMS else run.algorithm


def _curve_cell(row: RunRow, colour: str) -> Cell:
    curve = row.score.curve if row.score else ()
    alt_text = text.curve_alt_text(curve[-1][1] if curve else None)
    return {"line": [list(point) for point in curve], "colour": colour, "alt_text": alt_text}


def _final_cell(row: RunRow) -> Cell:
    if row.score is None:
        return {"text": ""}
    shown = curves.final_with_interval(row.score.record, row.run, last_tenth=False)
    final, _, note = shown.partition(" (")
    return {
        "text": final,
        "note": note.removesuffix(")"),
        "mark": text.RANK_MARKS[row.rank],
        "help": row.comparison,
    }


def _work_text(row: RunRow) -> str:
    if row.score is None or not row.sweep:
        return ""
    return curves.work_text(work_in_sweeps(row.score, row.sweep), LEVEL)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_CURVES = 24
"""Curves in one chart: more cannot be distinguished."""
MAX_IN_LEGEND = 8
"""More entries would leave no room for the curves."""
MAX_COMPARED = 100
"""Runs that can be selected: more would make a link too long for a browser."""
MAX_FILE_NAME = 60


def experiment_letters(experiments: Sequence[Experiment]) -> dict[str, str]:
    """A letter for each experiment by its id, if there are several."""
    if len(experiments) < 2:
        return {}
    letters = (
        first + second for first in ("", *LETTERS) for second in LETTERS
    )  # A, …, Z, AA, AB, …
    return dict(zip((e.id for e in experiments), letters, strict=False))


def settings_table(
    runs: Sequence[Run], labels: Mapping[int, str]
) -> tuple[list[str], list[list[str]]]:
    """The names of the settings that differ, and a row of label and values for each run."""
    names = differing_settings(runs)
    settings = {run.id: run_settings(run) for run in runs}
    rows = [
        [labels[run.id], *(setting(settings[run.id].get(name, "–")) for name in names)]
        for run in runs
    ]
    return names, rows


def numeric_settings(runs: Sequence[Run]) -> dict[str, list[float | None]]:
    """By name: the values of the settings that are numbers and differ, None where a run has none.

    Evaluations are given in sweeps. The seed is left out: it is a name, not an amount.
    """
    settings = [run_settings(run) for run in runs]
    found = {}
    for name in differing_settings(runs):
        values = [own.get(name) for own in settings]
        known = [value for value in values if value is not None]
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in known)
        if not numbers or name == "seed" or len(set(known)) < 2:
            continue
        if name == "evaluations":
            name, units = "sweeps", [facts_of(run).sweep for run in runs]
            values = [v and v / unit for v, unit in zip(values, units, strict=True)]
        title = name.rpartition(".")[2].replace("_", " ")
        found[title] = [None if value is None else float(value) for value in values]
    return found


def file_stem(experiments: Sequence[Experiment]) -> str:
    """The name of an exported file: that of the first experiment, and how many more there are."""
    words = re.findall(r"\w+", experiments[0].name.lower())
    stem = "-".join(words)[:MAX_FILE_NAME].rstrip("-") or experiments[0].id
    more = len(experiments) - 1
    return f"{stem}-and-{more}-more" if more else stem
