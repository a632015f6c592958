"""What to notice in learning curves, for every page that shows them.

Every sentence is derived from the curves: from a number of the table of methods (starting value,
work to a level, value at equal work, final value), from the difference of two runs, or from a
crossing of two mean curves. Where the curves do not show
something, nothing is said about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
import pandas as pd

from fsdash.dashboard.curves.text import (
    X_LABELS,
    lead_text,
    percent,
    slow_agnostic_wins,
    value_with_measure,
)
from fsdash.formatting import number
from fsdash.runs.measures import SHARE
from fsdash.runs.summary import (
    LEVELS,
    OWN,
    MeanCurve,
    Sample,
    difference,
    lasting_crossing,
    read_at,
)

COMPARE_TWO = "Run at least two methods to compare them."
NOTHING_FROZEN = "No method here freezes the slow state. Add E-FSVI to compare."
AGNOSTIC = "slow-agnostic"


def observations(
    work: pd.DataFrame,
    curves: Sequence[MeanCurve],
    samples: Mapping[str, Sample],
    x: str,
    n_slow: int = 1,
) -> list[str]:
    """Sentences about the curves.

    Parameters
    ----------
    work : pandas.DataFrame
        The table of methods (`work_to_reach`) of finished replications.
    curves : sequence of MeanCurve
        The mean curves of its measure, along x.
    samples : mapping
        By method: the values of its replications at equal work.
    x : str
        The unit of work.
    n_slow : int
        The number of slow states.
    """
    main = work[work["policy"] == OWN].dropna(subset=["final"])
    if len(main) < 2:
        return [COMPARE_TWO]
    main_curves = {curve.method: curve for curve in curves if curve.policy == OWN}
    sentences = [
        _fastest(main, x),
        _best_at_equal_work(main, samples, x),
        _effect_of_T(main),
        _overtaken(main, main_curves, x),
        why_agnostic_wins(main, n_slow),
    ]
    return [sentence for sentence in sentences if sentence]


def why_agnostic_wins(work: pd.DataFrame, n_slow: int) -> str:
    """Why the method that ignores the slow state can win, if it is best; otherwise empty."""
    main = work[work["policy"] == OWN].dropna(subset=["final"])
    if len(main) < 2:
        return ""
    best = _from_best(main).iloc[0]
    if best["algorithm"] != AGNOSTIC or n_slow < 2:
        return ""
    return slow_agnostic_wins(best["method"], n_slow, value_with_measure(best))


def _from_best(work: pd.DataFrame) -> pd.DataFrame:
    """The methods from the best to the worst value at equal work."""
    return work.sort_values("at_budget", ascending=work["measure"].iloc[0] != SHARE, kind="stable")


def _work_text(work: float, x: str) -> str:
    shown, unit = number(work), X_LABELS[x].lower()
    return f"{shown} {unit.removesuffix('s') if shown == '1' else unit}"


def _level_text(level: float, share: bool) -> str:
    if share:
        return f"reaches {100 * level:g}% of the optimum"
    return f"removes {100 * level:g}% of the initial policy's regret"


def _fastest(work: pd.DataFrame, x: str) -> str:
    """Which method reaches the lowest level that no method starts above, and after which work."""
    share = work["measure"].iloc[0] == SHARE
    start = _start(work) if share else ""
    for level in LEVELS:
        column = f"work_{100 * level:g}"
        if (work[column] == work["start_work"]).any():
            continue
        reached = work.dropna(subset=[column]).sort_values(column)
        if reached.empty:
            return f"{start}No method {_level_text(level, share)} and stays there."
        best = reached.iloc[0]
        sentence = (
            f"{start}**{best['method']}** {_level_text(level, share)} first, after "
            f"{_work_text(best[column], x)}"
        )
        others = reached[reached["T"].isna() & (reached["method"] != best["method"])]
        if others.empty or not best[column] > 0:
            return f"{sentence}."
        other = others.iloc[0]
        ratio = number(other[column] / best[column])
        return f"{sentence}; {other['method']} needs {ratio} times as much."
    return start.strip()


def _start(work: pd.DataFrame) -> str:
    """The starting value, where it is so high that the lowest level says nothing."""
    high = work[work["start"] >= LEVELS[0]]
    if high.empty:
        return ""
    low, best = (percent(value) for value in (high["start"].min(), high["start"].max()))
    values = low if low == best else f"{low} to {best}"
    who = "The first policies are" if len(high) == len(work) else "Some first policies are"
    return f"{who} already worth {values} of the optimum. "


def _best_at_equal_work(work: pd.DataFrame, samples: Mapping[str, Sample], x: str) -> str:
    """Which method is best after the work that all have spent, and by how much."""
    order = _from_best(work)
    best, second = order.iloc[0], order.iloc[1]
    worth = value_with_measure(best, "at_budget")
    when = f"After {_work_text(best['budget'], x)}, the work that all methods have spent"
    same = [value_with_measure(row, "at_budget") == worth for _, row in order.iterrows()]
    equal = [f"**{name}**" for name in order["method"][same]]
    if len(equal) > 1:
        names = f"{', '.join(equal[:-1])} and {equal[-1]}"
        return f"{when}, {names} have the same, best value: {worth}."
    if second["method"] not in samples or best["method"] not in samples:
        return f"{when}, **{best['method']}** is best: {worth}."
    share, own, other = best["measure"] == SHARE, samples[best["method"]], samples[second["method"]]
    lead = difference(own, other) if share else difference(other, own)
    ahead = lead_text(lead, share)
    if lead.has_interval and lead.contains_zero:
        return (
            f"{when}, **{best['method']}** has the best mean: {worth}. Its lead over "
            f"{second['method']} is {ahead}; more replications are needed to decide between them."
        )
    return (
        f"{when}, **{best['method']}** is best: {worth}. Its lead over {second['method']} is "
        f"{ahead}."
    )


def _effect_of_T(work: pd.DataFrame) -> str:
    frozen = work[work["T"].notna()].sort_values("T")
    if frozen.empty:
        return NOTHING_FROZEN
    if frozen["T"].nunique() == 1:
        return ""
    ends = ", ".join(f"{row['method']} {value_with_measure(row)}" for _, row in frozen.iterrows())
    return f"Last policies of the methods that freeze the slow state, by T: {ends}."


def _overtaken(work: pd.DataFrame, curves: dict[str, MeanCurve], x: str) -> str:
    """After which work the best method that does not freeze stays ahead of the best that does."""
    order = [row for _, row in _from_best(work).iterrows() if row["method"] in curves]
    frozen = [row for row in order if pd.notna(row["T"])]
    base = [row for row in order if pd.isna(row["T"]) and row["algorithm"] != AGNOSTIC]
    if not frozen or not base:
        return ""
    leader, other = frozen[0]["method"], base[0]["method"]
    at = overtakes(curves[other], curves[leader])
    if at < inf:
        return f"**{other}** overtakes {leader} after {_work_text(at, x)} and stays ahead."
    at = overtakes(curves[leader], curves[other])
    if at < inf:
        return f"**{leader}** overtakes {other} after {_work_text(at, x)} and stays ahead."
    return ""


def overtakes(one: MeanCurve, other: MeanCurve) -> float:
    """The work after which one mean curve stays better than another that was better before.

    Infinity if it does not stay better, or always was. Only work that both have spent counts.
    """
    x = np.unique(np.concatenate([one.x, other.x]))
    better = read_at(one.x, one.mean, x) - read_at(other.x, other.mean, x)
    better = better if one.y == SHARE else -better
    known = ~np.isnan(better)
    if not known.any() or better[known].min() >= 0:
        return inf
    return lasting_crossing(x[known], better[known], 0.0)
