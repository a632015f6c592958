"""Wording of the Runs page."""

from __future__ import annotations

from collections.abc import Sequence

from fsdash.dashboard.curves.text import STATUS_BADGES
from fsdash.domains import domain_label
from fsdash.formatting import escape_markdown, file_size, time_ago
from fsdash.runs.records import Experiment
from fsdash.runs.store.experiments import StoreSize
from fsdash.runs.summary import method_title

PAGE = "Runs"
TITLE = "Recorded experiments"
INTRODUCTION = (
    "Every experiment that was started on this server, until it is deleted. Select experiments to "
    "compare, export or repeat them."
)

# The list

FIND = "Find"
FIND_PLACEHOLDER = "a word in a name or a note"
OWNER = "Owner"
OWNER_LABELS = {"everyone": "Everyone", "mine": "Me"}
MORE_FILTERS = "More filters"
DOMAIN, ALGORITHM, STATUS = "Domain", "Algorithm", "Status"
ANY_LABEL = "any"
NONE_FOUND = "There is no experiment to show. Start one in the Run lab, or change the filters."
GO_TO_LAB = "Go to the Run lab"
SHOW_MORE = "Show more"
OPEN = "Open"
UNNAMED = "unnamed"
MAX_METHODS_LISTED = 4


def experiment_summary(experiment: Experiment) -> str:
    """Its domains and methods, and its note."""
    titles = list(dict.fromkeys(method_title(run.algorithm, run.T) for run in experiment.runs))
    more = len(titles) - MAX_METHODS_LISTED
    methods = ", ".join(titles[:MAX_METHODS_LISTED]) + (f" and {more} more" if more > 0 else "")
    domains = ", ".join(
        dict.fromkeys(escape_markdown(domain_label(run.domain)) for run in experiment.runs)
    )
    note = f"  \n{escape_markdown(experiment.note)}" if experiment.note else ""
    return f"{domains}: {methods}{note}"


# Import

IMPORT = "Import"
UPLOAD = "Exported experiment"


def import_help(megabytes: int) -> str:
    return f"Upload a file exported as *{EXPORT_EVERYTHING}* (at most {megabytes} MB)."


def imported(count: int) -> str:
    return f"Imported {count} experiment{'s' * (count != 1)}."


def not_imported(file: str, reason: str) -> str:
    return f"{file} was not imported. {reason}"


def store_size(size: StoreSize) -> str:
    disk = "" if size.bytes is None else f", {file_size(size.bytes)}"
    return f"Stored: {size.experiments:,} experiments, {size.rows:,} rows{disk}."


# The selection

NOTHING_SELECTED = "Nothing is selected"
NOTHING_SELECTED_BODY = (
    "Select one experiment to see its curves, or several to **compare** them, with the settings in "
    "which they differ. The URL then holds the comparison: copy it to share this view."
)
COMPARISON = "Comparison"
NO_ROWS = "These experiments have no recorded rows yet."
SAME_SETTINGS = "The runs differ only in the method."
DIFFERENT_SETTINGS = "Settings that differ"
RUN = "Run"


def missing(ids: Sequence[str]) -> str:
    return f"Not found, perhaps deleted: {', '.join(f'`{id}`' for id in ids)}."


def too_many(most: int) -> str:
    return f"At most {most} experiments can be compared; only the first {most} are shown."


def experiment_line(letter: str, experiment: Experiment, now: float) -> str:
    status = STATUS_BADGES[experiment.status].word
    when = time_ago(experiment.created, now)
    return f"**{letter}** · {escape_markdown(experiment.name)}, {status}, {when}"


def curves_alt_text(labels: Sequence[str]) -> str:
    return f"Learning curves of {', '.join(labels)}."


# Actions

EDIT = "Name and note"
NAME, NOTE, SAVE, SAVED = "Name", "Note", "Save", "Saved."
PIN, UNPIN = "Pin", "Unpin"
PIN_HELP = "A pinned experiment cannot be deleted."
PINNED, UNPINNED = "Pinned.", "Unpinned."
DELETE = "Delete"
DELETE_PINNED = "Pinned experiments cannot be deleted. Unpin first."
DELETE_NOW = "Delete permanently"
DELETED = "Deleted."
RUN_AGAIN = "Run again"
EXPORT = "Export"
EXPORT_CSV = "Rows, CSV"
EXPORT_PARQUET = "Rows, Parquet"
EXPORT_SPECS = "Specifications, JSON"
EXPORT_EVERYTHING = "Everything, JSON"
EXPORT_CAPTION = f"*{EXPORT_EVERYTHING}* also contains the policies and can be imported."


def delete_question(count: int) -> str:
    what = "this experiment" if count == 1 else f"these {count} experiments"
    return (
        f"Delete {what} with all rows and policies? This cannot be undone. Export what you may "
        "need again."
    )
