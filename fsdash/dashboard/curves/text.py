"""Wording shared by the Run lab and the Runs page: statuses, options, the table of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fsdash.formatting import compact_ranges, duration
from fsdash.runs.columns import MEASURES, WORK
from fsdash.runs.records import Progress, Run


class StatusBadge(NamedTuple):
    """How a status is shown: a word, one of Streamlit's colours and an icon."""

    word: str
    colour: str
    icon: str


STATUS_BADGES = {
    "running": StatusBadge("running", "blue", ":material/play_arrow:"),
    "queued": StatusBadge("waiting", "orange", ":material/hourglass_empty:"),
    "paused": StatusBadge("paused", "orange", ":material/pause:"),
    "interrupted": StatusBadge("interrupted", "orange", ":material/power_off:"),
    "failed": StatusBadge("failed", "red", ":material/error:"),
    "diverged": StatusBadge("diverged", "red", ":material/trending_up:"),
    "cancelled": StatusBadge("stopped", "gray", ":material/stop:"),
    "finished": StatusBadge("finished", "green", ":material/check:"),
}

# Curve options

X_LABELS = {"sweeps": "Sweeps"} | {column.name: column.label for column in WORK}
Y_LABELS = {column.name: column.label for column in MEASURES}
X_AXIS = "Work in"
OPTIONS = "Options"
Y_AXIS = "Measure"
Y_AXIS_HELP = "Every policy is evaluated exactly under the true model."
LOG_X = "Logarithmic work axis"
SINGLE_RUNS = "Single replications"
GREEDY_FOR_J = "Greedy for J"
GREEDY_FOR_J_HELP = (
    "While E-FSVI solves its lower level there is a second policy: stationary, and greedy with "
    "respect to the frozen values J."
)

# The table of methods

METHOD_TABLE = "Methods and their results"
METHOD, PROGRESS, FINAL = "Method", "Progress", "Final"
FINAL_HELP = "share of the optimum at the end, with its 95% interval"
NO_DATA, NOT_REACHED = "…", "–"
SO_FAR = "so far"


def work_heading(level: float) -> str:
    return f"to {100 * level:g}%"


def work_help(level: float, unit: str) -> str:
    return f"{unit} until {100 * level:g}% of the optimum"


def part_of(count: int, total: int) -> str:
    return f"{count} of {total}"


def progress_text(run: Run, progress: Progress | None) -> str:
    """How far a run is: "40%, 12 s left", "waiting", "done", "1 of 5 finished"."""
    if any(r.stopping for r in run.replications):
        return "stopping"
    percent = f"{100 * progress.fraction:.0f}%" if progress else ""
    if run.status == "queued":
        return f"{percent}, waiting" if progress and progress.fraction else "waiting"
    if run.status == "running" and progress is not None:
        left = progress.seconds_left
        return percent if left is None else f"{percent}, {duration(left)} left"
    if run.status == "finished":
        return "done"
    if all(r.status == run.status for r in run.replications):
        return STATUS_BADGES[run.status].word
    finished = sum(r.status == "finished" for r in run.replications)
    return f"{part_of(finished, len(run.replications))} finished"


def failure_title(status: str, replications: Sequence[tuple[str, Sequence[int]]]) -> str:
    """ "Failed: Base E-VI (replications 0–2)" from the run's label and replication numbers."""
    places = (
        f"{label} (replication{'s' * (len(numbers) > 1)} {compact_ranges(numbers)})"
        for label, numbers in replications
    )
    return f"{STATUS_BADGES[status].word.capitalize()}: {', '.join(places)}"
