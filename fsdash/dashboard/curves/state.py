"""What is drawn of kept runs: named curves, a steady figure, a row of numbers for each method.

Pure functions of records and rows, no Streamlit; the lab and the list of runs both use them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.run_lab.state import sweep_size
from fsdash.dashboard.run_lab.text import BADGES
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.figures.learning import ONE_RUN, learning_figure
from fsdash.figures.palette import algorithm_colour
from fsdash.figures.unchecked import unchecked
from fsdash.formatting import compact_ranges, duration, number, setting
from fsdash.runs.columns import DEFAULT_MEASURE, MEASURES, WORK
from fsdash.runs.records import Run
from fsdash.runs.store.progress import OVER, LastRows, Progress
from fsdash.runs.summary import LEVELS, method_title, work_to_reach

X_LABELS = {"sweeps": "Sweeps"} | {column.name: column.label for column in WORK}
Y_LABELS = {column.name: column.label for column in MEASURES}
GENERAL = (
    "domain",
    "algorithm",
    "T",
    "evaluations",
    "iterations",
    "seconds",
    "replications",
    "seed",
)
ENOUGH = 3
"""Replications for an interval: that of two is twelve times as wide as their difference."""
FITTED_SHARE = 0.1
"""The part of the states that fitted methods draw by default."""


@dataclass(frozen=True)
class CurveOptions:
    """How curves are looked at."""

    x: str = "sweeps"
    y: str = DEFAULT_MEASURE
    log_x: bool = True
    singles: bool = False
    stationary: bool = False
    dark: bool = False


# ------------------------------------------------------------------------------------------- names


def settings(run: Run) -> dict[str, object]:
    """Everything that a run was told, flat; names of the domain come after a dot."""
    data = run.spec_data
    plain = {n: v for n, v in data.items() if n not in ("domain_parameters", "parameters")}
    domain = {f"{run.domain}.{n}": v for n, v in data.get("domain_parameters", {}).items()}
    return plain | domain | data.get("parameters", {})


def differing(runs: Sequence[Run]) -> list[str]:
    """The names of settings that tell these runs apart, in order.

    A parameter that every run left at its algorithm's own default tells nothing.
    """
    given = [settings(run) for run in runs]
    found = []
    for name in dict.fromkeys(name for values in given for name in values):
        values = {str(values[name]) for values in given if name in values}
        missing = any(name not in values for values in given)
        if name in GENERAL:
            differs = len(values) > 1 or missing
        else:
            differs = len(values) > 1 and not all(_is_default(run, name) for run in runs)
        if differs:
            found.append(name)
    return found


def _is_default(run: Run, name: str) -> bool:
    known = ALGORITHMS[run.algorithm].all_parameters if run.algorithm in ALGORITHMS else {}
    return name not in settings(run) or (
        name in known and settings(run)[name] == known[name].default
    )


def labels(runs: Sequence[Run], marks: Mapping[str, str] | None = None) -> dict[int, str]:
    """What a legend calls each run: its method, and what tells it from others of that method.

    `marks` are short names of the experiments, where there are several.
    """
    marks = marks or {}
    titles = {
        run.id: (f"{marks[run.experiment]} · " if run.experiment in marks else "")
        + method_title(run.algorithm, run.T)
        for run in runs
    }
    found = {}
    for run in runs:
        alike = [other for other in runs if titles[other.id] == titles[run.id]]
        given = settings(run)
        parts = [titles[run.id]] + [
            f"{name.rpartition('.')[2]}={setting(given[name])}"
            for name in differing(alike)
            if name in given and name not in ("algorithm", "T")
        ]
        found[run.id] = ", ".join(parts)
    counts = Counter(found.values())
    return {id: f"{label} ({id})" if counts[label] > 1 else label for id, label in found.items()}


# ------------------------------------------------------------------------------------------ curves


def sweeps_of(runs: Sequence[Run]) -> tuple[dict[int, float], str]:
    """By run: evaluations in one sweep, |S||A|M with the paper's M = 50; and the sweep's name.

    On a domain where functions are fitted, the unit of all its runs is a sweep of FVI, N|A|M.
    """
    drawn: dict[str, float] = {}
    for run in runs:
        given = run.spec_data.get("parameters", {})
        if "N" in given:
            n_slow, n_fast = make(run.domain, **run.spec_data["domain_parameters"]).shape[:2]
            share = given["N"] / (n_slow * n_fast) if given["N"] else FITTED_SHARE
            drawn[run.domain] = min(share, drawn.get(run.domain, share))
    sizes = {
        run.id: drawn.get(run.domain, 1.0)
        * sweep_size(make(run.domain, **run.spec_data["domain_parameters"]))
        for run in runs
    }
    fitted = {run.domain in drawn for run in runs}
    name = "FVI" if fitted == {True} else "the base method" if len(fitted) > 1 else "Base E-VI"
    return sizes, name


def prepared(frame: pd.DataFrame, runs: Sequence[Run], named: Mapping[int, str]) -> pd.DataFrame:
    """The rows with the name of their curve and with their work in sweeps.

    Rows of a method that this program does not have are left out: there is nothing to call it.
    """
    frame = frame[frame["algorithm"].isin(ALGORITHMS)].copy()
    frame["method"] = frame["run"].map(named)
    frame["sweeps"] = frame["evaluations"] / frame["run"].map(sweeps_of(runs)[0])
    return frame


def last_rows(frame: pd.DataFrame) -> LastRows:
    """By run and replication: its last row, from rows in order."""
    last = frame.drop_duplicates(["run", "replication"], keep="last")
    return {(row["run"], row["replication"]): row for row in last.to_dict("records")}


def _in_unit(frame: pd.DataFrame, x: str) -> pd.DataFrame:
    """Sweeps differ between domains, so they are put in the place of evaluations beforehand."""
    return frame.assign(evaluations=frame["sweeps"]) if x == "sweeps" else frame


def curves(frame: pd.DataFrame, look: CurveOptions, sweep_name: str = "Base E-VI") -> go.Figure:
    """The learning curves of prepared rows, whose series keep their names while rows come in."""
    figure = learning_figure(
        _in_unit(frame, look.x),
        look.x,
        look.y,
        1.0,
        sweep_name,
        look.log_x,
        look.singles,
        look.stationary,
        dark=look.dark,
    )
    return steady(figure)


def steady(figure: go.Figure) -> go.Figure:
    """Name series by their method alone, and make one series of all its single runs.

    A chart keeps what a visitor hid by the names of the series, and the number of replications,
    which the legend would tell, grows while they run.
    """
    kept, single = [], {}
    for trace in figure.data:
        trace = trace.to_plotly_json()
        name = trace["name"]
        if not name.endswith(ONE_RUN):
            if trace.get("showlegend", True):
                trace["name"] = trace["legendgroup"]
            kept.append(trace)
        elif name in single:
            for axis in "xy":
                single[name][axis] += [None, *trace[axis].tolist()]
        else:
            single[name] = trace | {axis: trace[axis].tolist() for axis in "xy"}
            kept.append(single[name])
    return unchecked(kept, figure.layout.to_plotly_json())


def strokes(figure: go.Figure) -> dict[str, str]:
    """By the name of a series: whether its line is dashed, and how."""
    lines = ((trace["name"], trace.get("line", {})) for trace in figure.to_dict()["data"])
    return {name: line["dash"] for name, line in lines if "dash" in line}


# ----------------------------------------------------------------------------------------- numbers


@dataclass(frozen=True)
class MethodRow:
    """One line of the table: a method, how far it is, and what it has reached."""

    label: str
    colour: str
    dash: str
    status: str
    share: float
    told: str
    reached: tuple[str, ...]
    final: str


def work_table(frame: pd.DataFrame, x: str, stationary: bool = False) -> pd.DataFrame:
    """For each curve: the work to 75%, 90% and 95% of the optimum, and the final value."""
    return work_to_reach(_in_unit(frame, x), LEVELS, x, stationary=stationary)


def settled(frame: pd.DataFrame, runs: Sequence[Run]) -> pd.DataFrame:
    """Rows of the replications that came to their end; of a run where none has, all its rows.

    A replication that has just begun is no evidence of where a method ends.
    """
    over = {(run.id, r.index) for run in runs for r in run.replications if r.status in OVER}
    some = {run for run, _ in over}
    rows = zip(frame["run"], frame["replication"], strict=True)
    return frame[np.array([row in over or row[0] not in some for row in rows], bool)]


def method_rows(
    runs: Sequence[Run],
    named: Mapping[int, str],
    work: pd.DataFrame,
    progress: Sequence[Progress] | None,
    strokes: Mapping[str, str],
    dark: bool = False,
) -> list[MethodRow]:
    """A line for each run, with its progress if given, and `strokes` of the figure beside it."""
    found = {row["method"]: row for row in work.to_dict("records")}
    done = {p.run: p for p in progress or ()}
    rows = []
    for run in runs:
        record, at = found.get(named[run.id]), done.get(run.id)
        rows.append(
            MethodRow(
                named[run.id],
                colour_of(run, dark),
                strokes.get(named[run.id], "solid"),
                run.status,
                at.fraction if at else 1.0,
                progress_told(run, at),
                tuple(_reached(record, level) for level in LEVELS),
                _final(record, run),
            )
        )
    return rows


def colour_of(run: Run, dark: bool) -> str:
    family = ALGORITHMS[run.algorithm].family if run.algorithm in ALGORITHMS else "slow-agnostic"
    return algorithm_colour(family, run.T).on(dark)


def progress_told(run: Run, at: Progress | None) -> str:
    """How far a run is, in a few words."""
    count = len(run.replications)
    if any(r.stopping for r in run.replications):
        return "stopping"
    share = "" if at is None or not at.fraction else f"{100 * at.fraction:.0f}%, "
    if run.status == "queued":
        return f"{share}waiting"
    if run.status == "running" and at is not None:
        left = "" if at.seconds_left is None else f", {duration(at.seconds_left)} left"
        return f"{100 * at.fraction:.0f}%{left}"
    if run.status == "finished":
        return "done"
    ended, word = sum(r.status == run.status for r in run.replications), BADGES[run.status][0]
    return word if ended == count else f"{ended} of {count} {word}"


def _reached(record: Mapping | None, level: float) -> str:
    """The mean work; how many replications got there, if not all did."""
    if record is None:
        return "…"
    work, count = record[f"work_{level * 100:g}"], record[f"reached_{level * 100:g}"]
    if not count:
        return "–"
    return number(work) + ("" if count == record["n"] else f" ({count} of {record['n']})")


def _final(record: Mapping | None, run: Run) -> str:
    """The mean where replications ended, with its interval if there are enough for one."""
    if record is None or isnan(record["final"]):
        return "…" if record is None else "–"
    over, count = sum(r.status in OVER for r in run.replications), len(run.replications)
    half = (record["final_high"] - record["final_low"]) / 2
    spread = f" ± {100 * half:.1f}" if over >= ENOUGH and not isnan(half) else ""
    of = "" if over == count else " (so far)" if over == 0 else f" ({over} of {count})"
    return f"{100 * record['final']:.1f}{spread} %{of}"


def troubles(runs: Sequence[Run], named: Mapping[int, str]) -> list[tuple[str, str]]:
    """Replications that ended badly: which, and why. Equal reasons are told once."""
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    for run in runs:
        for r in run.replications:
            if r.status in ("failed", "diverged", "interrupted"):
                which = found.setdefault((r.status, r.reason), {})
                which.setdefault(named[run.id], []).append(r.index)
    return [
        (f"{status.capitalize()}: {', '.join(map(_which, which.items()))}", reason)
        for (status, reason), which in found.items()
    ]


def _which(run: tuple[str, Sequence[int]]) -> str:
    label, numbers = run
    return f"{label} (replication{'s' * (len(numbers) > 1)} {compact_ranges(numbers)})"


def usable(runs: Sequence[Run]) -> list[Run]:
    """The runs whose specification this program can still read."""
    good = []
    for run in runs:
        try:
            run.spec  # noqa: B018  (reading it checks it)
        except InputError:
            continue
        good.append(run)
    return good
