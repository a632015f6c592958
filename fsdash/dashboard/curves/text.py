"""Wording shared by the pages that show experiments: statuses, options, the table of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from fsdash.formatting import compact_ranges, duration, number
from fsdash.runs.columns import MEASURES, WORK
from fsdash.runs.measures import SHARE
from fsdash.runs.records import Progress, Run
from fsdash.runs.summary import FEW, TWO_GROUPS, Difference


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
Y_AXIS_HELP = "Every policy is evaluated exactly under the true model."
GREEDY_FOR_J_HELP = (
    "While E-FSVI solves its lower level, it also has a stationary policy, which is greedy for the "
    "frozen values J."
)
ROLLING_HELP = (
    "The newest policy of the lower level, played in every period. It needs no upper level."
)

# The table of methods

NO_DATA, NOT_REACHED = "…", "–"
FINAL_RULE = "the last policy, mean over replications with its 95% interval"
FINAL_NOTE = (
    "*Final* is the value of the last policy, the mean over replications with its 95% interval. "
    "*Last tenth* is the mean over the last tenth of the work, for runs with at least ten whole "
    "sweeps. Dots are the last policies of single replications; they are drawn where an interval "
    "rests on fewer than five replications, or where replications form two groups."
)
CAUTIONS = {FEW: "only n = {n}", TWO_GROUPS: "two groups"}


class TableWords(NamedTuple):
    """Headings of the table of methods, and the explanation of each."""

    start: str
    start_help: str
    work: str
    work_help: str
    at_budget: str
    at_budget_help: str
    final: str
    final_help: str


SHARE_WORDS = TableWords(
    "Start",
    "share of the optimum of the first policy",
    "to\N{NO-BREAK SPACE}{level}",
    "{unit} until the mean curve stays above {level} of the optimum",
    "at\N{NO-BREAK SPACE}{work}",
    "share of the optimum after the {unit} that all methods have spent",
    "Final",
    f"share of the optimum: {FINAL_RULE}",
)
REGRET_WORDS = TableWords(
    "Start regret",
    "mean regret of the first policy",
    "to\N{NO-BREAK SPACE}−{level}",
    "{unit} until the mean curve stays at least {level} below the initial policy's regret",
    "regret at\N{NO-BREAK SPACE}{work}",
    "mean regret after the {unit} that all methods have spent",
    "Final regret",
    f"mean regret: {FINAL_RULE}, and its share of the initial policy's",
)
"""For models whose optimum is not positive."""


def table_words(share: bool) -> TableWords:
    return SHARE_WORDS if share else REGRET_WORDS


def work_heading(level: float, share: bool = True) -> str:
    return table_words(share).work.format(level=f"{100 * level:g}%")


def work_help(level: float, unit: str, share: bool = True) -> str:
    return table_words(share).work_help.format(level=f"{100 * level:g}%", unit=unit)


def last_tenth_note(value: str) -> str:
    return f"last tenth {value}"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def amount(value: float, share: bool) -> str:
    """A value of a run: a share in percent, or a regret."""
    return percent(value) if share else number(value)


def value_with_measure(row: Mapping | pd.Series, name: str = "final") -> str:
    """A value with its measure: "93.4% of the optimum" or "a mean regret of 12"."""
    if row["measure"] == SHARE:
        return f"{percent(row[name])} of the optimum"
    return f"a mean regret of {number(row[name])}"


def lead_text(lead: Difference, share: bool) -> str:
    """By how much one run is better than another, with the interval and how it was found."""
    unit = " percentage points" if share else " in mean regret"
    shown = [f"{100 * v:.1f}" if share else number(v) for v in (lead.mean, lead.low, lead.high)]
    mean, low, high = (text.replace("-", "−") for text in shown)
    if not lead.has_interval:
        return f"{mean}{unit} (no interval: one replication)"
    if lead.low == lead.high:
        return f"{mean}{unit}"
    how = f"{lead.pairs} pairs with the same seed" if lead.pairs else "independent runs"
    return f"{mean}{unit} (95% interval {low} to {high}; {how})"


def interval(low: str, high: str) -> str:
    """ "88.7 to 90.4%" from its ends."""
    return f"{low.removesuffix('%')} to {high}"


def of_initial_regret(relative: float) -> str:
    return f"{100 * relative:.3g}% of initial"


def part_of(count: int, total: int) -> str:
    return f"{count} of {total}"


REGRET_SHOWN = (
    "If the mean optimal value is not positive, a share of it has no meaning. Curves and table "
    "therefore show **mean regret**, the loss compared with the optimal policy. The initial "
    "policy, which maximises the immediate reward, is the reference."
)


def slow_agnostic_wins(method: str, n_slow: int, final: str) -> str:
    """Why a method that does not observe the slow state can end best."""
    return (
        f"**{method}** can win although it does not observe the slow state. It learns one value "
        f"for each fast state instead of {n_slow:,}, one for each slow state, so its sweep costs "
        f"1/{n_slow:,} of the work and every value is an average over slow states. Knowing the "
        f"slow state is worth little here, so the method loses little: it ends at {final}."
    )


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
