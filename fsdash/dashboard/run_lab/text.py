"""What the lab says about an experiment: when it will go on, what to notice in it. Pure text."""

from __future__ import annotations

import pandas as pd

from fsdash.formatting import duration, number, round_significant
from fsdash.runs.records import RESUMABLE, Experiment
from fsdash.runs.server.manager import Queue

UNITS = {"sweeps": "sweeps", "evaluations": "evaluations", "seconds": "seconds"}
BADGES = {
    "running": ("running", "blue", ":material/play_arrow:"),
    "queued": ("waiting", "orange", ":material/hourglass_empty:"),
    "paused": ("paused", "orange", ":material/pause:"),
    "interrupted": ("interrupted", "orange", ":material/power_off:"),
    "failed": ("failed", "red", ":material/error:"),
    "diverged": ("diverged", "red", ":material/trending_up:"),
    "cancelled": ("stopped", "gray", ":material/stop:"),
    "finished": ("finished", "green", ":material/check:"),
}
"""By status: a word, a colour, a sign."""
EARLY = """Not everything was computed, so nothing is concluded from it here. The table counts the
replications that came to their end; of a method where none did, it shows how far it has come."""


def seconds_between(experiment: Experiment, now: float, pace: float = 1.0) -> float | None:
    """How often a page looks at an experiment; None when nothing more can come.

    `pace` is the server's own, for what has rows. Before there are any, often just after the start,
    for the first point, then seldom. Whether it runs or waits for its next turn does not matter:
    in a full room that changes all the time. Seldom, too, if it might be resumed from another tab.
    """
    if experiment.active:
        if any(run.rows for run in experiment.runs):
            return pace
        return max(0.5, pace / 4) if now - experiment.created < 4 else max(2.0, pace)
    resumable = any(r.status in RESUMABLE for run in experiment.runs for r in run.replications)
    return 5.0 if resumable else None


def duration_told(seconds: float, workers: int) -> str:
    """How long something may take, to be read before it is started."""
    where = "one worker" if workers == 1 else f"{workers} workers"
    about = (
        "Less than a second" if seconds < 1 else f"About {duration(round_significant(seconds, 1))}"
    )
    return f"{about} on {where}, if nobody else computes."


def queue_told(queue: Queue) -> str:
    """Where a waiting experiment stands."""
    others = queue.total - queue.mine
    turn = (
        "Yours is the next to be served."
        if queue.ahead == 0
        else f"{queue.ahead} other{'s' * (queue.ahead > 1)} will be served first."
    )
    return (
        f"Waiting for a worker: {queue.total_running} replications are running, {queue.mine} of "
        f"yours and {others} of others wait. {turn} Everybody gets a turn, whoever has more."
    )


def story(work: pd.DataFrame, x: str) -> list[str]:
    """What to notice in the curves, from the table of work and final values."""
    main = work[~work["stationary"].astype(bool)].dropna(subset=["final"])
    if len(main) < 2:
        return ["Run two methods or more to compare them."]
    return [_first(main, x), _last(main), _levels(main)]


def _first(work: pd.DataFrame, x: str) -> str:
    reached = work[work["reached_75"] > 0].sort_values("work_75")
    if reached.empty:
        return "None has reached 75% of the optimum: give them more work, or look at the spread."
    best = reached.iloc[0]
    text = f"**{best['method']}** is the first at 75%, after {number(best['work_75'])} {UNITS[x]}"
    base = reached[~reached["T"].notna() & (reached["method"] != best["method"])]
    if base.empty or not best["work_75"] > 0:
        return text + "."
    other = base.iloc[0]
    times = other["work_75"] / best["work_75"]
    return f"{text}; {other['method']} takes {number(times)} times as much."


def _last(work: pd.DataFrame) -> str:
    order = work.sort_values("final", ascending=False)
    best, second = order.iloc[0], order.iloc[1]
    if f"{best['final']:.1%}" == f"{second['final']:.1%}":
        names = f"**{best['method']}** and **{second['method']}**"
        return f"At the end {names} are level, at {best['final']:.1%} of the optimum."
    text = f"At the end **{best['method']}** is the best, at {100 * best['final']:.0f}%"
    if best["final_low"] <= second["final_high"] and second["final_low"] <= best["final_high"]:
        return f"{text}, but its interval overlaps that of {second['method']}: run more to be sure."
    return f"{text} of the optimum."


def _levels(work: pd.DataFrame) -> str:
    frozen = work[work["T"].notna()].sort_values("T")
    if frozen.empty:
        return "Nothing here freezes; add E-FSVI to see what that changes."
    if len(frozen) == 1:
        return (
            "A method that freezes starts fast, its lower level is cheap, and then levels off: "
            "what freezing broke, more work does not mend."
        )
    ends = ", ".join(f"T = {row['T']}: {100 * row['final']:.0f}%" for _, row in frozen.iterrows())
    return (
        f"How far freezing gets depends on T (here {ends}). Where such a curve has levelled off, "
        "more work does not lift it."
    )


EXERCISES = (
    (
        "Run *Quick look* on inventory. Which method has a good policy first, and how can it know "
        "so much so early?",
        "E-FSVI, after about a tenth of a sweep. Its lower level freezes demand, so the next stock "
        "is certain and **one** sample for each state and action is exact, where Base E-VI draws "
        "50. Five such sweeps look six periods ahead and cost a tenth of one of Base E-VI's.",
    ),
    (
        "Run *T = 6 against Base E-VI* on inventory. Who is ahead after 12 sweeps?",
        "Base E-VI. It passes E-FSVI after some five sweeps: freezing costs something that no "
        "amount of work wins back, sampling noise costs less. With less than that to spend, "
        "freezing wins.",
    ),
    (
        "Switch on *greedy for J*, the policy that is greedy for the frozen values alone. "
        "What do you see on inventory?",
        "It ends above E-FSVI's own periodic policy after a fraction of a sweep. Good frozen "
        "*values* are cheap; a lower *policy* played for a whole block is what costs. The paper "
        "does not look at this policy.",
    ),
)
