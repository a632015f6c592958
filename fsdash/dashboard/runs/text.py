"""Wording of the Runs page."""

from __future__ import annotations

from collections.abc import Sequence

from fsdash.dashboard.curves.text import FINAL_RULE, STATUS_BADGES, lead_text
from fsdash.formatting import escape_markdown, file_size, number, shorten, time_ago
from fsdash.runs.records import Experiment
from fsdash.runs.store.experiments import StoreSize
from fsdash.runs.summary import Difference

PAGE = "Runs"
TITLE = "Recorded runs"
INTRODUCTION = (
    "All runs that were started on this server and not deleted. Click a heading to sort, and click "
    "rows to compare them. The address of this page holds the view: copy it to share the view."
)

# Filters

FIND = "Find"
FIND_PLACEHOLDER = "name, note, method or T=3,6"
OWNER = "Owner"
OWNER_LABELS = {"everyone": "Everyone", "mine": "Me"}
MORE_FILTERS = "More filters"
DOMAIN, ALGORITHM, STATUS = "Domain", "Algorithm", "Status"
ANY_LABEL = "any"
BEST_PER = "Show"
BEST_LABELS = {
    "all": "all runs",
    "domain": "best per domain",
    "method": "best per method",
    "experiment": "best per experiment",
}
BEST_PER_HELP = (
    "The best run of each group at equal work: after the work that all runs of the group have "
    "spent. Only runs on the same domain with the same parameters are compared."
)
NONE_FOUND = "No run matches the search and the filters. Change them, or start a run."
NONE_STORED = "No run is stored yet. Start one in the Run lab, or import some."
GO_TO_LAB = "Go to the Run lab"
SHOW_MORE = "Show older experiments"
READING = "Reading results …"


def unusable_T(problem: str) -> str:
    """What is wrong with `T=` in the search; without a problem, nothing follows it."""
    what = problem or "T= has no value; use whole numbers, such as T=6, T=2:6 or T=3,6,12"
    return f"Find: {what}. The search ignores it."


def leaders_line(leaders: Sequence[tuple[str, str, str]]) -> str:
    """The best run of each model in the table, with its value at equal work."""
    parts = [
        f"**{escape_markdown(domain)}** {escape_markdown(method)} ({value})"
        for domain, method, value in leaders
    ]
    return f"Best at equal work: {'; '.join(parts)}."


def at_work(value: str, sweeps: float) -> str:
    return f"{value} after {_sweeps(sweeps)}"


def behind_best(lead: Difference, share: bool, sweeps: float) -> str:
    """How far a run is behind the best one at equal work."""
    if lead.mean != lead.mean:
        return f"It has no policy yet after {_sweeps(sweeps)}."
    return f"After {_sweeps(sweeps)} it is behind the best run by {lead_text(lead, share)}."


def _sweeps(sweeps: float) -> str:
    return f"{number(sweeps)} sweep{'' if number(sweeps) == '1' else 's'}"


# The table

TABLE = "Runs"
SELECT_ALL = "Select all runs in the table"
UNNAMED = "unnamed"
PINNED_MARK = "pinned"
RANK_MARKS = {"": "", "best": "best", "open": "maybe best"}
COLUMNS = {
    "name": "Experiment",
    "domain": "Domain",
    "method": "Method",
    "T": "T",
    "budget": "Budget",
    "curve": "Curve",
    "final": "Final",
    "work": "to\N{NO-BREAK SPACE}90%",
    "seconds": "Seconds",
    "owner": "By",
    "created": "Started",
    "status": "Status",
    "open": "Open",
}
COLUMN_HELP = {
    "budget": "Work of each replication; a sweep is one sweep of Base E-VI",
    "curve": "Mean over replications, against work on a logarithmic scale; dashed: the optimum",
    "final": f"Share of the optimum, or mean regret where it has no meaning: {FINAL_RULE}. best: "
    "the best on its domain after the work that all its runs have spent; maybe best: the 95% "
    "interval of the difference from the best one contains 0 (paired if the seeds are equal)",
    "work": "Sweeps until the mean curve stays above 90% of the optimum, or 90% below the initial "
    "policy's regret",
    "seconds": "Seconds that workers spent on all replications",
    "owner": "Who started it: you, or the first letters of another visitor's id",
}
TO_POLICY, TO_LAB, TO_SWEEP = "Policy", "Lab", "Sweep"


def row_label(name: str, method: str, T: int | None) -> str:
    return f"{name}: {method}" + ("" if T is None else f", T={T}")


def owner_label(owner: str, visitor: str) -> str:
    return "you" if owner == visitor else owner[:4]


def age(seconds: float) -> str:
    """How long ago, in a few characters.

    >>> [age(seconds) for seconds in (20, 300, 9000, 400_000)]
    ['just now', '5 min ago', '2 h ago', '5 d ago']
    """
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= (1 if unit == "min" else 1.5) * size:
            return f"{seconds / size:.0f} {unit} ago"
    return "just now"


def curve_alt_text(last: float | None) -> str:
    return "no curve yet" if last is None else f"learning curve that ends at {100 * last:.0f}%"


# Import

IMPORT = "Import"
UPLOAD = "Exported experiment"


def import_help(megabytes: int) -> str:
    return f"Upload a file exported as *{EXPORT_EVERYTHING}* (at most {megabytes} MB)."


def imported(count: int) -> str:
    return f"Imported {count} experiment{'s' * (count != 1)}."


OPEN_EXISTING, IMPORT_COPY = "Show it in the table", "Import a copy"


def already_stored(names: Sequence[str]) -> str:
    listed = ", ".join(f"**{escape_markdown(name)}**" for name in names)
    return f"Not imported, because it is already stored: {listed}."


def not_imported(file: str, reason: str) -> str:
    """Both texts can come from the file, so they are escaped."""
    return f"{escape_markdown(shorten(file))} was not imported. {escape_markdown(reason)}"


def store_size(size: StoreSize) -> str:
    disk = "" if size.bytes is None else f", {file_size(size.bytes)}"
    plural = "" if size.experiments == 1 else "s"
    return f"Stored: {size.experiments:,} experiment{plural}, {size.rows:,} rows{disk}."


# The selection

NOTHING_SELECTED = (
    "Select one run to see its curve, or several to **compare** them and the settings in which "
    "they differ."
)
COMPARISON = "Comparison"
CLEAR = "Clear the selection"
VIEWS = {"curves": "Curves", "settings": "Settings", "parallel": "Parallel coordinates"}
VIEW = "View of the selected runs"
NO_ROWS = "These runs have no recorded rows yet."
SAME_SETTINGS = "These runs have the same settings."
DIFFERENT_SETTINGS = "Settings that differ"
RUN = "Run"
COMPARE_POLICIES = "Compare their policies"
PARALLEL_CAPTION = (
    "One line for each run. The last axis is the result, which also colours the lines; the best "
    "run has the thickest line."
)
PARALLEL_NEEDS = (
    "Select at least two runs that have results and differ in a number, such as T or the budget."
)
SHARE_AXIS, IMPROVEMENT_AXIS = "share of the optimum", "part of the initial regret removed"
UNREADABLE = (
    "Some selected runs were recorded with parameters or domains that this version does not have. "
    "They are left out."
)


def selection(n: int, hidden: int) -> str:
    """How many runs are selected, and how many of them the search does not show."""
    return f"**{n} selected**" + (f", {hidden} of them not in this table" if hidden else "")


def all_found(n: int) -> str:
    """What is compared while nothing is selected."""
    return f"All {n} runs that the search found are shown. Select rows to show only those."


def missing(refs: Sequence[str]) -> str:
    return f"Not found, perhaps deleted: {', '.join(f'`{ref}`' for ref in refs)}."


def too_many_curves(most: int, domain: str) -> str:
    return f"Only the first {most} selected runs on {domain} are drawn."


def experiment_line(letter: str, experiment: Experiment, now: float) -> str:
    status = STATUS_BADGES[experiment.status].word
    when = time_ago(experiment.created, now)
    return f"**{letter}** · {escape_markdown(experiment.name)}, {status}, {when}"


def curves_alt_text(labels: Sequence[str], domain: str) -> str:
    return f"Learning curves on {domain}: {', '.join(labels)}."


def parallel_alt_text(names: Sequence[str], count: int) -> str:
    return f"Parallel coordinates of {count} runs over {', '.join(names)} and the result."


# Actions

EDIT = "Name and note"
NAME, NOTE, SAVE, SAVED = "Name", "Note", "Save", "Saved."
PIN, UNPIN = "Pin", "Unpin"
PIN_HELP = "A pinned experiment cannot be deleted."
PINNED, UNPINNED = "Pinned.", "Unpinned."
DELETE = "Delete"
DELETE_PINNED = "Pinned experiments cannot be deleted. Unpin them first."
DELETE_NOW = "Delete permanently"
DELETED = "Deleted."
RUN_AGAIN = "Run again"
OPEN_LAB = "Open in the Run lab"
EXPORT = "Export"
EXPORT_CSV = "Rows, CSV"
EXPORT_PARQUET = "Rows, Parquet"
EXPORT_SPECS = "Specifications, JSON"
EXPORT_EVERYTHING = "Everything, JSON"
EXPORT_CAPTION = f"*{EXPORT_EVERYTHING}* also contains the policies and can be imported."


def delete_question(count: int) -> str:
    what = "this experiment" if count == 1 else f"these {count} experiments"
    return (
        f"Delete {what} with all runs, rows and policies? This cannot be undone. Export what you "
        "may need again."
    )
