"""Wording of the Run lab; `observations` has what it concludes from an experiment's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import budget_text
from fsdash.dashboard.curves.text import value_with_measure
from fsdash.dashboard.run_lab.state import run_title
from fsdash.formatting import duration, round_significant
from fsdash.runs.server.manager import QueueStatus
from fsdash.runs.spec import RunSpec

PAGE = "Run lab"
TITLE = "Watch the algorithms learn"
INTRODUCTION = (
    "Compare frozen-state value iteration (E‑FSVI) with methods that do not freeze the slow state: "
    "start a run and see how the policies improve with the work spent."
)

# Before the first start

PREVIEW = "What you will see"
PREVIEW_BODY = (
    "Every method starts from zero values and improves its policy with each sweep over the "
    "states. Several times per sweep the policy is **evaluated exactly** under the true model. The "
    "curves show its value against the work so far: the mean over replications with its 95% band, "
    "and the optimum for reference.\n\n"
    "Press **Start**. You can pause, stop, or leave and come back: the URL names the experiment, "
    "and its results are stored."
)
RECENT = "**Your latest experiments**"


COMPUTING_EXAMPLE = "Computing an example …"


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

WHAT_TO_RUN = "What to run"
CUSTOM_TITLE = "Custom"
SWEEP_TITLE = "Sweep over T or another parameter"
SWEEP_DESCRIPTION = "One run for each value of a parameter, on one domain or several."
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
DOMAIN, DOMAINS = "Domain", "Domains"
CHOOSE_DOMAINS = "Choose at least one"
ALGORITHM = "Algorithm"
VARY, VALUES = "Vary", "Values"
VALUES_HELP = "A list such as 3, 6, 12, or a range of whole numbers such as 2:6."
ALGORITHM_NAMES = "Algorithms"
CHOOSE_ALGORITHMS = "Choose at least one"
PERIODS = "Periods frozen T"
PERIODS_PLACEHOLDER = "such as 6"
FIXED_PERIODS_HELP = "One value, because another parameter varies."
PERIODS_HELP = (
    "Every algorithm that freezes the slow state runs once for each T. Write 6, a list such as "
    "3, 6, 12, or a range such as 2:6."
)
BUDGET = "Budget"
UNIT = "Unit of the budget"
UNIT_LABELS = {
    "sweeps": "sweeps",
    "evaluations": "evaluations",
    "iterations": "iterations",
    "seconds": "seconds",
}
REPLICATIONS = "Replications"
REPLICATIONS_HELP = (
    "Independent repetitions with different random numbers, for the mean and its 95% band. Exact "
    "algorithms need only one."
)
SEED = "Seed"
SEED_HELP = "The same seed and the same versions of the software give the same numbers."
DOMAIN_PARAMETERS = "Parameters of the domain"
SAVED_GAMMA_HELP = "Leave it empty to use the discount factor of the saved model."
DOMAIN_PRESETS = "Presets"
ALGORITHM_PARAMETERS = "Parameters of the algorithms"
AUTOMATIC = "automatic"
CUSTOMIZE = "Customise"
CUSTOMIZE_HELP = "Copy this plan into the custom form, where everything can be changed."
START = "Start"
NOT_STARTED = "nothing was started; try again in a moment"
BASE_NOT_FOUND = "The run whose settings this link uses is no longer stored."
REPEAT_CAPTION = "The same specifications and seeds, so the results will be the same."
REPEAT_CLOSE = "Choose something else"
LEAVE_ANY_TIME = "You can leave, pause or stop it at any time."


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

PAUSE, STOP, RESUME, CONTINUE = "Pause", "Stop", "Resume", "Continue"
RUN_AGAIN = "Run again"
RUN_AGAIN_HELP = "Copy this specification into the form."
POLICIES = "Policies"
CLOSE = "Close"
NO_ROWS = "Nothing was recorded."
INCOMPLETE = (
    "Some replications have not finished, so no conclusions are drawn here. The table counts "
    "finished replications; for a method without any, it shows the values so far."
)
SPECIFICATION = "Specification"
COMMAND_LINE = "**On the command line**"


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
