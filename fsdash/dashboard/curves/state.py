"""Learning curves and numbers of recorded runs, for every page that shows experiments.

Pure functions of records and rows, without Streamlit: labels that tell runs apart, a figure whose
series keep their names while rows arrive, and one row of numbers per method.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves import text
from fsdash.domains import Domain, make
from fsdash.errors import InputError
from fsdash.fields import Value
from fsdash.figures.learning import learning_figure, method_colour
from fsdash.figures.palette import GREY
from fsdash.formatting import number
from fsdash.reproduce.experiments import SAMPLES
from fsdash.runs.columns import DEFAULT_MEASURE
from fsdash.runs.measures import (
    LOWEST,
    SHARE,
    drawable_measures,
    lowest_return,
    main_measure,
    with_regret,
)
from fsdash.runs.records import OVER, LastRows, Progress, Run
from fsdash.runs.spec import BUDGETS, RunSpec
from fsdash.runs.summary import (
    LEVELS,
    SERIES,
    MeanCurve,
    Sample,
    common_budget,
    mean_curves,
    run_curves,
    work_to_reach,
)

MIN_FOR_INTERVAL = 3
"""Replications. The interval of two is twelve times as wide as their difference."""


@dataclass(frozen=True)
class CurveOptions:
    """What the axes show and which additional curves are drawn."""

    x: str = "sweeps"
    y: str = DEFAULT_MEASURE
    """The measure; the default one stands for mean regret where it has no meaning."""
    log_x: bool = True
    single_runs: bool = False
    greedy_for_J: bool = False
    rolling: bool = False

    @property
    def lower_policies(self) -> tuple[str, ...]:
        """The kinds of lower-level policies that are drawn."""
        chosen = {"stationary": self.greedy_for_J, "rolling": self.rolling}
        return tuple(kind for kind, drawn in chosen.items() if drawn)


# ------------------------------------------------------------------------------------------ curves


def sweep_size(domain: Domain, samples: int = SAMPLES) -> int:
    """Evaluations in one sweep of Base E-VI: |S||A|M."""
    n_slow, n_fast, n_actions, _ = domain.shape
    return n_slow * n_fast * n_actions * samples


class DomainFacts(NamedTuple):
    """What a chart needs to know about a domain with its parameters."""

    n_slow: int
    n_states: int
    sweep: int
    """Evaluations in one sweep of Base E-VI."""
    lowest: float
    """`lowest_return`."""


@lru_cache(maxsize=1024)
def domain_facts(name: str, parameters: tuple[tuple[str, Value], ...]) -> DomainFacts:
    """The facts of a domain; its parameters are sorted pairs."""
    domain = make(name, **dict(parameters))
    n_slow, n_fast = domain.shape[:2]
    return DomainFacts(n_slow, n_slow * n_fast, sweep_size(domain), lowest_return(domain))


def facts_of(run: Run | RunSpec) -> DomainFacts:
    """The facts of the run's domain, found by the parameters as they are stored."""
    return domain_facts(run.domain, tuple(sorted(_data_of(run)["domain_parameters"].items())))


def _data_of(run: Run | RunSpec) -> dict[str, Any]:
    return run.spec_data if isinstance(run, Run) else json.loads(run.to_json())


def seed_of(run: Run | RunSpec) -> int | None:
    """The seed of its random numbers; None if it has none, because its algorithm is exact."""
    algorithm = ALGORITHMS.get(run.algorithm)
    return _data_of(run).get("seed") if algorithm and algorithm.sampled else None


def by_domain(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs on each domain. Curves of different domains never share an axis."""
    runs_on: dict[str, list[Run]] = {}
    for run in runs:
        runs_on.setdefault(run.domain, []).append(run)
    return runs_on


def budget_text(run: Run | RunSpec) -> str:
    """The budget of a run; evaluations are given in sweeps."""
    data = _data_of(run)
    [unit] = [name for name in BUDGETS if data.get(name) is not None]
    size = data[unit] / facts_of(run).sweep if unit == "evaluations" else data[unit]
    if unit == "seconds":
        return f"{number(size)} s"
    word = "sweep" if unit == "evaluations" else "iteration"
    return f"{number(size)} {word}{'' if number(size) == '1' else 's'}"


def slow_states(runs: Sequence[Run]) -> int:
    """The smallest number of slow states in the domains of these runs."""
    return min((facts_of(run).n_slow for run in runs), default=1)


def curve_rows(frame: pd.DataFrame, runs: Sequence[Run], labels: Mapping[int, str]) -> pd.DataFrame:
    """The rows with the label of their curve (`method`) and their work in `sweeps`.

    Rows of an algorithm that this version of fsdash does not have are left out.
    """
    frame = with_regret(frame[frame["algorithm"].isin(ALGORITHMS)]).copy()
    frame["method"] = frame["run"].map(labels)
    facts = {run.id: facts_of(run) for run in runs}
    frame[LOWEST] = frame["run"].map({run: fact.lowest for run, fact in facts.items()})
    sweep = frame["run"].map({run: fact.sweep for run, fact in facts.items()})
    frame["sweeps"] = frame["evaluations"] / sweep
    return frame


def last_rows(frame: pd.DataFrame) -> LastRows:
    """Where each replication is, by (run, replication); the rows must be in order."""
    runs, replications = frame["run"].to_numpy(), frame["replication"].to_numpy()
    new = np.diff(runs, append=-1) | np.diff(replications, append=-1)
    names = ["run", "replication", "phase", "iteration", "evaluations", "seconds"]
    last = frame[names].iloc[np.flatnonzero(new)]
    return {(row["run"], row["replication"]): row for row in last.to_dict("records")}


def finished_rows(frame: pd.DataFrame, runs: Sequence[Run]) -> pd.DataFrame:
    """Rows of the replications that have ended; for a run without any, all its rows.

    A replication that has just begun says nothing about a method's final value.
    """
    ended = {(run.id, r.index) for run in runs for r in run.replications if r.status in OVER}
    runs_with_ended = {run for run, _ in ended}
    keys = zip(frame["run"], frame["replication"], strict=True)
    return frame[np.array([k in ended or k[0] not in runs_with_ended for k in keys], bool)]


def drawn_measure(rows: pd.DataFrame, y: str) -> str:
    """The measure that curves of these rows show if y is asked for."""
    measures = drawable_measures(rows)
    return y if y in measures else measures[0]


def curves_figure(rows: pd.DataFrame, options: CurveOptions) -> go.Figure:
    """The learning curves of `curve_rows`.

    A chart remembers hidden series by name. The number of replications grows while they run, so it
    is no part of the names.
    """
    return learning_figure(
        rows,
        options.x,
        drawn_measure(rows, options.y),
        log_x=options.log_x,
        runs=options.single_runs,
        lower_policies=options.lower_policies,
        counts=False,
    )


def line_dashes(figure: go.Figure) -> dict[str, str]:
    """The dash style of each series that has one, by the name of the series."""
    return {trace.name: trace.line.dash for trace in figure.data if trace.line.dash is not None}


# ----------------------------------------------------------------------------------------- numbers


@dataclass(frozen=True)
class MethodRow:
    """One row of the table of methods: how its line looks, its progress and its results."""

    label: str
    colour: str
    dash: str
    status: str
    progress: float
    """Share of the budget that is spent, from 0 to 1."""
    progress_text: str
    start: str
    work: tuple[str, ...]
    """Work to each of `LEVELS`."""
    at_budget: str
    """The value at equal work."""
    final: str


def work_table(rows: pd.DataFrame, x: str, lower_policies: Collection[str] = ()) -> pd.DataFrame:
    """For each curve: its starting value, the work to each level, and its final value."""
    return work_to_reach(rows, x=x, lower_policies=lower_policies)


def samples_at_equal_work(
    rows: pd.DataFrame, runs: Sequence[Run], labels: Mapping[int, str], x: str
) -> dict[str, Sample]:
    """By method: the values of its replications after the work that all methods have spent."""
    if rows.empty:
        return {}
    curves_of_runs = run_curves(rows, x, y=main_measure(rows))
    budget = common_budget(curves_of_runs.values())
    seeds = {labels[run.id]: seed_of(run) for run in runs}
    by_method = {str(key[SERIES.index("method")]): curves for key, curves in curves_of_runs.items()}
    return {name: Sample(curves.values(budget), seeds[name]) for name, curves in by_method.items()}


def table_curves(rows: pd.DataFrame, work: pd.DataFrame, x: str) -> list[MeanCurve]:
    """The mean curves of the measure that a `work_table` shows."""
    y = work["measure"].iloc[0] if len(work) else DEFAULT_MEASURE
    return mean_curves(rows, x, y=y)


def method_rows(
    runs: Sequence[Run],
    labels: Mapping[int, str],
    work: pd.DataFrame,
    progress: Sequence[Progress] | None,
    dashes: Mapping[str, str],
) -> list[MethodRow]:
    """One row per run from its `work_table`; `dashes` are those of the figure."""
    records = {record["method"]: record for record in work.to_dict("records")}
    progress_of = {entry.run: entry for entry in progress or ()}
    rows = []
    for run in runs:
        label = labels[run.id]
        record, done = records.get(label), progress_of.get(run.id)
        rows.append(
            MethodRow(
                label,
                run_colour(run),
                dashes.get(label, "solid"),
                run.status,
                done.fraction if done else 1.0,
                text.progress_text(run, done),
                value_text(record, "start") if record else text.NO_DATA,
                tuple(work_text(record, level) for level in LEVELS),
                value_text(record, "at_budget") if record else text.NO_DATA,
                final_with_interval(record, run),
            )
        )
    return rows


def run_colour(run: Run) -> str:
    """The colour of a run's method; grey if this server does not know its algorithm."""
    return method_colour(run.algorithm, run.T) if run.algorithm in ALGORITHMS else GREY


def common_work(work: pd.DataFrame) -> float | None:
    """The work at which the methods of a `work_table` are compared.

    None if it is where all of them end: then the final values say the same.
    """
    if work.empty or (work["at_budget"] == work["final"]).all():
        return None
    return float(work["budget"].iloc[0])


def is_share(work: pd.DataFrame) -> bool:
    """Whether the values of a `work_table` are shares of the optimum; otherwise mean regret."""
    return work.empty or bool((work["measure"] == SHARE).all())


def work_text(record: Mapping | None, level: float) -> str:
    """The work after which the mean curve stays at the level."""
    if record is None:
        return text.NO_DATA
    work = record[f"work_{level * 100:g}"]
    if isnan(work):
        return text.NOT_REACHED
    return "from start" if work == record["start_work"] else number(work)


def value_text(record: Mapping, name: str) -> str:
    """A value of a record: a share in percent, or a regret; a dash if it has none."""
    value = record[name]
    return text.NOT_REACHED if isnan(value) else text.amount(value, record["measure"] == SHARE)


def final_with_interval(record: Mapping | None, run: Run, last_tenth: bool = True) -> str:
    """The value of the last policy; in brackets its interval, what limits it, and the last tenth.

    Also how many replications have ended, while others have not. `last_tenth` can be left out.
    """
    if record is None:
        return text.NO_DATA
    notes, ended = [], sum(r.status in OVER for r in run.replications)
    if ended >= MIN_FOR_INTERVAL and not isnan(record["final_low"]):
        low, high = (value_text(record, name) for name in ("final_low", "final_high"))
        if low != high:
            notes.append(text.interval(low, high))
            if doubt := text.CAUTIONS.get(record["caution"]):
                notes.append(doubt.format(n=record["n"]))
    if record["measure"] != SHARE and not isnan(record["relative"]):
        notes.append(text.of_initial_regret(record["relative"]))
    if last_tenth and not isnan(record["last_tenth"]):
        notes.append(text.last_tenth_note(value_text(record, "last_tenth")))
    if ended < len(run.replications):
        notes.append(text.part_of(ended, len(run.replications)) if ended else "so far")
    return value_text(record, "final") + (f" ({'; '.join(notes)})" if notes else "")


def failures(runs: Sequence[Run], labels: Mapping[int, str]) -> list[tuple[str, str]]:
    """A title and a reason for replications that failed; those with the same reason together."""
    reasons: dict[tuple[str, str], dict[str, list[int]]] = {}
    for run in runs:
        for r in run.replications:
            if r.status in ("failed", "diverged", "interrupted"):
                replications = reasons.setdefault((r.status, r.reason), {})
                replications.setdefault(labels[run.id], []).append(r.index)
    return [
        (text.failure_title(status, list(replications.items())), reason)
        for (status, reason), replications in reasons.items()
    ]


def readable_runs(runs: Sequence[Run]) -> list[Run]:
    """The runs whose specification this version of fsdash can read."""
    readable = []
    for run in runs:
        try:
            run.spec  # noqa: B018  (reading the property validates it)
        except InputError:
            continue
        readable.append(run)
    return readable


def runs_with_notes(runs: Sequence[Run]) -> list[Run]:
    """The readable runs of algorithms that have a note about a run."""
    noted = {name for name, algorithm in ALGORITHMS.items() if algorithm.note is not None}
    return readable_runs([run for run in runs if run.algorithm in noted])
