"""Sentences of the Run lab about plans, experiments and stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import budget_text
from fsdash.dashboard.curves.text import FINAL_RULE, STATUS_BADGES, lead_text, value_with_measure
from fsdash.dashboard.run_lab.plans import run_title
from fsdash.formatting import (
    duration,
    escape_markdown,
    file_size,
    number,
    round_significant,
    shorten,
    time_ago,
)
from fsdash.runs.records import Experiment
from fsdash.runs.server.manager import QueueStatus
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import StoreSize
from fsdash.runs.summary import Difference

# Before the first start


def paper_caption(domain: str) -> str:
    return f"Example: the paper's experiment on {domain}, as stored for the *Reproduction* page."


def exact_caption(domain: str) -> str:
    return (
        f"Example: exact methods on {domain} with its default parameters, computed just now. The "
        "sampled methods in the plans do not use the model's probabilities."
    )


def no_example(domain: str) -> str:
    return f"{domain} is too large for a quick example. Press *Start* to run it."


def example_alt_text(domain: str) -> str:
    return f"Example of learning curves on {domain}."


# The form

PLAN_TITLES = {
    "quick-look": "Quick look",
    "ways-to-freeze": "Three ways to freeze",
    "t6-against-base": "T = 6 against Base E-VI",
    "how-long": "How long to freeze",
    "known-model": "Known model",
    "paper-inventory": "The paper's inventory experiment",
    "paper-gridworld": "The paper's gridworld experiment",
    "paper-pricing": "The paper's pricing experiment",
}
PLAN_DESCRIPTIONS = {
    "quick-look": "E-FSVI with T = 6, Base E-VI, and a method that ignores the slow state.",
    "ways-to-freeze": "Blocks of T periods (E-FSVI), replanning in every period (E-Rolling), and "
    "frozen sweeps with a correction (E-Thaw, where it suits the domain), against Base E-VI.",
    "t6-against-base": "The paper's comparison, with more work than the quick look.",
    "how-long": "E-FSVI with T = 2, 3, 6 and 12, and E-Rolling: which starts fastest, and which "
    "ends highest?",
    "known-model": "Exact FSVI, rolling freeze, VI and modified policy iteration; no sampling.",
    "paper-inventory": "All methods in the paper's figure, at its size.",
    "paper-gridworld": "All methods in the paper's figure, at its size.",
    "paper-pricing": "Linear regression and neural networks, at the paper's size.",
}
DOMAIN = "Domain"
PERIODS = "Periods frozen T"
PERIODS_PLACEHOLDER = "such as 6"
UNIT_LABELS = {
    "sweeps": "sweeps",
    "evaluations": "evaluations",
    "iterations": "iterations",
    "seconds": "seconds",
}
DOMAIN_PARAMETERS = "Parameters of the domain"
SAVED_GAMMA_HELP = "Leave it empty to use the discount factor of the saved model."
START = "Start"


def algorithms_help() -> str:
    return "\n".join(
        f"- **{method.title}**: {method.description}" for method in ALGORITHMS.values()
    )


def budget_help(evaluations_per_sweep: int) -> str:
    return (
        "Work of each replication. A *sweep* is one sweep of Base E-VI: |S||A|M evaluations of the "
        f"value function with M = 50, here {evaluations_per_sweep:,} with the domain's default "
        "parameters. *Iterations* are those of the algorithm. *Seconds* count its computing time."
    )


def repeat_title(name: str, new_name: str) -> str:
    return f"**Run again:** {name}, as **{new_name}**"


def plan_heading(specs: Sequence[RunSpec]) -> str:
    runs, replications = len(specs), sum(spec.replications for spec in specs)
    return f"Plan: {_plural(runs, 'run')}, {_plural(replications, 'replication')}"


@lru_cache(maxsize=256)
def plan_lines(specs: tuple[RunSpec, ...]) -> str:
    """A Markdown list with the budget and the replications of each run."""
    return "\n".join(
        f"- **{run_title(spec, specs)}**, {budget_text(spec)}, "
        f"{_plural(spec.replications, 'replication')}"
        for spec in specs
    )


def note_lines(notes: Mapping[str, str]) -> str:
    """What the algorithms say about their parameters; runs with the same note share a line."""
    labels: dict[str, list[str]] = {}
    for label, note in notes.items():
        labels.setdefault(note, []).append(f"**{label}**")
    return "  \n".join(f"{' and '.join(names)}: {note}" for note, names in labels.items())


def duration_text(seconds: float, workers: int) -> str:
    """How long a plan will take, to one significant digit: the estimate is no better than that."""
    about = "Less than a second" if seconds < 1 else f"About {_rough_duration(seconds)}"
    return f"{about} on {_plural(workers, 'worker')}, if the machine is idle."


def over_limit(limit: float, label: str, seconds: float) -> str:
    return (
        f"This server stops a run after {duration(limit)} of computing time, and {label} would "
        f"need about {_rough_duration(seconds)}. Reduce its budget or its replications."
    )


def _rough_duration(seconds: float) -> str:
    return duration(round_significant(seconds, 1))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


# An experiment

STOP, CONTINUE = "Stop", "Continue"


def started_by(when: str, by_this_visitor: bool) -> str:
    return f"started {when} by {'you' if by_this_visitor else 'another visitor'}"


def queue_text(queue: QueueStatus) -> str:
    """The position of a waiting experiment in the queue."""
    others = queue.total - queue.mine
    turn = (
        "Yours is next."
        if queue.ahead == 0
        else f"{_plural(queue.ahead, 'other visitor')} will be served first."
    )
    return (
        f"Waiting for a worker. {_plural(queue.total_running, 'replication')} running; "
        f"{queue.mine} of yours and {others} of other visitors are waiting. {turn} Visitors take "
        "turns."
    )


def failure_notice(active: bool, resumable: bool) -> str:
    notice = "Some replications did not finish. Their recorded rows are stored and drawn."
    if resumable:
        when = "After the others have ended, " if active else ""
        notice += f" {when}*{CONTINUE}* resumes them with the same seed."
    return notice


def curves_alt_text(work: pd.DataFrame) -> str:
    values = [f"{row['method']} at {value_with_measure(row)}" for row in work.to_dict("records")]
    return f"Learning curves. {', '.join(values)}." if values else "Learning curves without points."


# Filters

OWNER_LABELS = {"everyone": "Everyone", "mine": "Me"}
BEST_LABELS = {
    "all": "all runs",
    "domain": "best per domain",
    "method": "best per method",
    "experiment": "best per experiment",
}


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


def import_help(megabytes: int) -> str:
    return f"Upload a file exported as *{EXPORT_EVERYTHING}* (at most {megabytes} MB)."


def imported(count: int) -> str:
    return f"Imported {count} experiment{'s' * (count != 1)}."


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

VIEWS = {"curves": "Curves", "settings": "Settings", "parallel": "Parallel coordinates"}
DIFFERENT_SETTINGS = "Settings that differ"


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


def parallel_alt_text(names: Sequence[str], count: int) -> str:
    return f"Parallel coordinates of {count} runs over {', '.join(names)} and the result."


# Actions

DELETE = "Delete"
EXPORT_EVERYTHING = "Everything, JSON"
EXPORT_CAPTION = f"*{EXPORT_EVERYTHING}* also contains the policies and can be imported."


def delete_question(count: int) -> str:
    what = "this experiment" if count == 1 else f"these {count} experiments"
    return (
        f"Delete {what} with all runs, rows and policies? This cannot be undone. Export what you "
        "may need again."
    )
