"""Questions on the Run lab. What they say about curves is read off the archived runs."""

from __future__ import annotations

from functools import lru_cache
from math import inf

from fsdash.dashboard.curves.observations import overtakes
from fsdash.dashboard.curves.text import GREEDY_FOR_J, OPTIONS, percent
from fsdash.dashboard.run_lab.text import PLAN_TITLES
from fsdash.formatting import number
from fsdash.reproduce import archive
from fsdash.reproduce.experiments import experiment
from fsdash.runs.summary import STATIONARY, mean_curves, method_title, work_to_reach

DOMAIN, FROZEN, BASE = "inventory", method_title("e-fsvi", 6), method_title("e-vi", None)
ARCHIVED = "In the archived runs of the paper's experiment, "
WHY_EARLY = (
    "The lower level of E-FSVI freezes demand, so the next stock is certain and **one** sample per "
    "state and action is exact, where Base E-VI draws 50. Five such sweeps look six periods ahead "
    "and cost a tenth of one sweep of Base E-VI."
)
WHY_LATER = "More sweeps cannot remove the error made by freezing."
GREEDY_POLICY = (
    "Frozen *values* are cheap, and a policy that is greedy for them needs no upper level. The "
    "paper does not study this policy."
)


def exercises() -> tuple[tuple[str, str], ...]:
    """Questions and answers."""
    return _exercises(str(archive.FOLDER))


@lru_cache(maxsize=2)
def _exercises(_folder: str) -> tuple[tuple[str, str], ...]:
    first, later, greedy = _archived_facts() if DOMAIN in archive.archived_domains() else ("",) * 3
    return (
        (
            f"Run *{PLAN_TITLES['quick-look']}* on {DOMAIN}. Which method finds a good policy "
            "first, and why?",
            f"{first}{WHY_EARLY}",
        ),
        (
            f"Run *{PLAN_TITLES['t6-against-base']}* on {DOMAIN}. Which method is ahead after 12 "
            "sweeps?",
            f"{later}{WHY_LATER}",
        ),
        (
            f"Open *{OPTIONS}* and switch on *{GREEDY_FOR_J}*: the policy that is greedy with "
            f"respect to the frozen values alone. What do you see on {DOMAIN}?",
            f"{greedy}{GREEDY_POLICY}",
        ),
    )


def _archived_facts() -> tuple[str, str, str]:
    """One sentence for each question, from the curves of the archived experiment."""
    plan, rows = experiment(DOMAIN), archive.archived_rows(DOMAIN)
    own = {FROZEN, BASE}
    rows = rows[rows["method"].isin(own) & (rows["evaluations"] <= plan.budget * plan.sweep)]
    work = work_to_reach(rows, x="sweeps", sweep=plan.sweep, stationary=True).set_index("method")
    curves = {curve.method: curve for curve in mean_curves(rows, "sweeps", sweep=plan.sweep)}
    reached = [
        f"{name} stays above 75% of the optimum after {number(work.loc[name, 'work_75'])} sweeps"
        for name in (FROZEN, BASE)
        if work.loc[name, "work_75"] >= 0
    ]
    at = overtakes(curves[BASE], curves[FROZEN])
    ends = {name: percent(work.loc[name, "final"]).replace(" %", "%") for name in work.index}
    overtaken = f"overtakes {FROZEN} after {number(at)} sweeps and " if at < inf else ""
    return (
        f"{ARCHIVED}{', and '.join(reached)}. " if reached else "",
        f"{ARCHIVED}{BASE} {overtaken}ends at {ends[BASE]} of the optimum, {FROZEN} at "
        f"{ends[FROZEN]}. ",
        f"{ARCHIVED}it ends at {ends[FROZEN + STATIONARY]} of the optimum, the periodic policy of "
        f"{FROZEN} at {ends[FROZEN]}. ",
    )
