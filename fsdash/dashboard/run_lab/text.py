"""Wording of the Run lab, including what it concludes from an experiment's results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import domain_size
from fsdash.dashboard.curves.text import GREEDY_FOR_J, OPTIONS, X_LABELS
from fsdash.formatting import duration, number, round_significant
from fsdash.runs.server.manager import QueueStatus
from fsdash.runs.spec import RunSpec

PAGE = "Run lab"
TITLE = "Watch the algorithms learn"
INTRODUCTION = (
    "Compare frozen-state value iteration (E‑FSVI) with methods that do not freeze the slow state: "
    "start a run and see how good each policy becomes for how much work."
)

# Before the first start

PREVIEW = "What you will see"
PREVIEW_BODY = (
    "Every method starts without knowledge and improves its policy with each sweep over the "
    "states. Several times per sweep the policy is **evaluated exactly** under the true model. The "
    "curves show its value against the work so far: the mean over replications with its 95% band, "
    "and the optimum for reference.\n\n"
    "Press **Start**. You can pause, stop, or leave and come back: the URL names the experiment, "
    "and its results are stored."
)
RECENT = "**Your latest experiments**"


def example_caption(domain: str) -> str:
    return f"Example: the paper's {domain} experiment, as stored for the *Reproduction* page."


def example_alt_text(domain: str) -> str:
    return f"Learning curves of the paper's {domain} experiment."


# The form

WHAT_TO_RUN = "What to run"
CUSTOM_TITLE = "Custom"
PLAN_TITLES = {
    "quick-look": "Quick look",
    "t6-against-base": "T = 6 against Base E-VI",
    "how-long": "How long to freeze",
    "known-model": "Known model",
    "paper-inventory": "The paper's inventory experiment",
    "paper-gridworld": "The paper's gridworld experiment",
    "paper-pricing": "The paper's pricing experiment",
}
PLAN_DESCRIPTIONS = {
    "quick-look": "E-FSVI with T = 6, Base E-VI, and a method that ignores the slow state.",
    "t6-against-base": "The paper's comparison, with enough work for Base E-VI to overtake.",
    "how-long": "E-FSVI with T = 2, 3, 6 and 12: which starts fastest, and which ends highest?",
    "known-model": "Exact FSVI, VI and modified policy iteration, without sampling.",
    "paper-inventory": "All methods in the paper's figure, at its size.",
    "paper-gridworld": "All methods in the paper's figure, at its size.",
    "paper-pricing": "Linear regression and neural networks, at the paper's size.",
}
DOMAIN = "Domain"
ALGORITHM_NAMES = "Algorithms"
CHOOSE_ALGORITHMS = "Choose at least one"
PERIODS = "Periods frozen T"
PERIODS_PLACEHOLDER = "such as 6"
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
SEED_HELP = "The same seed gives the same numbers on any machine."
DOMAIN_PARAMETERS = "Parameters of the domain"
DOMAIN_PRESETS = "Presets"
ALGORITHM_PARAMETERS = "Parameters of the algorithms"
AUTOMATIC = "automatic"
CUSTOMIZE = "Customize"
CUSTOMIZE_HELP = "Copy this plan into the custom form, where everything can be changed."
START = "Start"
NOT_STARTED = "nothing was started; try again in a moment"
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


def repeat_title(name: str) -> str:
    return f"**Run again:** {name}"


def plan_heading(specs: Sequence[RunSpec]) -> str:
    runs, replications = len(specs), sum(spec.replications for spec in specs)
    return f"Plan: {_plural(runs, 'run')}, {_plural(replications, 'replication')}"


@lru_cache(maxsize=256)
def plan_lines(specs: tuple[RunSpec, ...]) -> str:
    """A Markdown list with the budget and the replications of each run."""
    return "\n".join(
        f"- **{spec.label}**, {budget_text(spec)}, {_plural(spec.replications, 'replication')}"
        for spec in specs
    )


def budget_text(spec: RunSpec) -> str:
    """The budget of a run; evaluations are given in sweeps."""
    unit, size = spec.budget
    if unit == "evaluations":
        return f"{number(size / domain_size(spec.domain, spec.domain_parameters)[1])} sweeps"
    return f"{number(size)} {'s' if unit == 'seconds' else unit}"


def duration_text(seconds: float, workers: int) -> str:
    """How long a plan will take, to one significant digit: the estimate is no better than that."""
    about = "Less than a second" if seconds < 1 else f"About {_rough_duration(seconds)}"
    return f"{about} on {_plural(workers, 'worker')}, if the machine is idle."


def over_limit(limit: float, label: str, seconds: float) -> str:
    return (
        f"A run may compute for {duration(limit)} on this server and is then stopped; {label} "
        f"would need about {_rough_duration(seconds)}. Reduce its budget or its replications."
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
    values = [f"{row['method']} at {100 * row['final']:.0f}%" for row in work.to_dict("records")]
    return f"Learning curves. {', '.join(values)}." if values else "Learning curves without points."


# What to notice

COMPARE_TWO = "Run at least two methods to compare them."
NONE_REACHED = "No method has reached 75% of the optimum. Increase the budget."
NOTHING_FROZEN = "No method here freezes the slow state. Add E-FSVI to compare."
FREEZING_LEVELS_OFF = (
    "A method that freezes the slow state improves quickly at first, because its lower level is "
    "cheap, and then levels off: more iterations cannot remove the error made by freezing."
)


def observations(work: pd.DataFrame, x: str) -> list[str]:
    """What to notice in the curves, derived from the `work_table` of finished replications."""
    main = work[~work["stationary"].astype(bool)].dropna(subset=["final"])
    if len(main) < 2:
        return [COMPARE_TWO]
    return [_fastest(main, x), _best_at_end(main), _effect_of_T(main)]


def _fastest(work: pd.DataFrame, x: str) -> str:
    reached = work[work["reached_75"] > 0].sort_values("work_75")
    if reached.empty:
        return NONE_REACHED
    best, unit = reached.iloc[0], X_LABELS[x].lower()
    sentence = (
        f"**{best['method']}** reaches 75% of the optimum first, after "
        f"{number(best['work_75'])} {unit}"
    )
    base = reached[~reached["T"].notna() & (reached["method"] != best["method"])]
    if base.empty or not best["work_75"] > 0:
        return f"{sentence}."
    other = base.iloc[0]
    ratio = other["work_75"] / best["work_75"]
    return f"{sentence}; {other['method']} needs {number(ratio)} times as much."


def _best_at_end(work: pd.DataFrame) -> str:
    order = work.sort_values("final", ascending=False)
    best, second = order.iloc[0], order.iloc[1]
    if f"{best['final']:.1%}" == f"{second['final']:.1%}":
        names = f"**{best['method']}** and **{second['method']}**"
        return f"{names} end at the same value, {best['final']:.1%} of the optimum."
    sentence = f"**{best['method']}** ends highest, at {100 * best['final']:.0f}% of the optimum"
    if best["final_low"] <= second["final_high"] and second["final_low"] <= best["final_high"]:
        return (
            f"{sentence}, but its interval overlaps that of {second['method']}: more replications "
            "are needed to separate them."
        )
    return f"{sentence}."


def _effect_of_T(work: pd.DataFrame) -> str:
    frozen = work[work["T"].notna()].sort_values("T")
    if frozen.empty:
        return NOTHING_FROZEN
    if len(frozen) == 1:
        return FREEZING_LEVELS_OFF
    ends = ", ".join(f"T = {row['T']}: {100 * row['final']:.0f}%" for _, row in frozen.iterrows())
    return (
        f"The final value depends on T (here {ends}). Once such a curve has levelled off, more "
        "work does not raise it."
    )


EXERCISES = (
    (
        f"Run *{PLAN_TITLES['quick-look']}* on inventory. Which method finds a good policy first, "
        "and why so early?",
        "E-FSVI, after about a tenth of a sweep. Its lower level freezes demand, so the next stock "
        "is certain and **one** sample per state and action is exact, where Base E-VI draws 50. "
        "Five such sweeps look six periods ahead and cost a tenth of one sweep of Base E-VI.",
    ),
    (
        f"Run *{PLAN_TITLES['t6-against-base']}* on inventory. Which method is ahead after 12 "
        "sweeps?",
        "Base E-VI. It overtakes E-FSVI after about five sweeps: the error made by freezing cannot "
        "be removed by more work, and sampling noise costs less. With a smaller budget, freezing "
        "wins.",
    ),
    (
        f"Open *{OPTIONS}* and switch on *{GREEDY_FOR_J}*: the policy that is greedy with respect "
        "to the frozen values alone. What do you see on inventory?",
        "It ends above E-FSVI's own periodic policy, after a fraction of a sweep. Good frozen "
        "*values* are cheap; following a lower *policy* for a whole block is what costs. The paper "
        "does not study this policy.",
    ),
)
