"""Splits into slow and fast variables, ranked by the true regret of freezing.

For each candidate the model is solved exactly and by FSVI for a few T, and the regret of FSVI's
policy is computed under the true dynamics: the mean over the initial distribution, relative to the
mean of |U*|. If freezing does not suit a model, the verdict says why and what does: repeating FSVI
with its own values as the terminal value of the lower level, or modified policy iteration on the
base model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.optimum import Optimum, optimum, regret
from fsdash.algorithms.snapshot import Snapshot, run_until
from fsdash.core.certificate import attainable
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.assemble import assemble, split_size
from fsdash.models.columns import NO_GAMMA
from fsdash.models.size import MAX_CELLS
from fsdash.models.slow import as_table, choose_slow, measure_movements
from fsdash.models.table import Table

LARGE_REGRET = 0.2
"""Relative regret at the smallest T above which freezing does not suit a model."""
SPARSE_REWARDS = 0.95
"""Share of pairs with the same reward above which rewards are sparse."""
NOTABLE_REGRET = 0.01
"""Relative regret from which sparse rewards are a reason against freezing."""
PASSES = 5
"""Solves of the repeated terminal value."""
MOST_SPLITS = 8
ACCURACY = 1e-4
"""Certified error of FSVI's values, relative to the mean of |U*|."""


def rank_splits(
    model_or_frame: FastSlowMDP | pd.DataFrame,
    *,
    T: Sequence[int] = (2, 4, 8),
    candidates: Sequence[Sequence[str]] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Rank splits into slow and fast variables by the true regret of FSVI.

    Parameters
    ----------
    model_or_frame : FastSlowMDP or pd.DataFrame
        A model, or a table of transitions.
    T : sequence of int
        Periods per block to try.
    candidates : sequence of sequences of str, optional
        The slow variables of each split to try. By default the suggested ones, each variable alone
        and the slowest one, two, three, …; at most 8 splits.
    **options
        For a table: arguments of `from_transitions`, among them `gamma`.

    Returns
    -------
    pd.DataFrame
        One row per split, those that suit first, then by mean regret: `slow`, `fast`, `n_slow`,
        `n_fast`, `padding` (share of pairs (x, y) that are not states), `regret_T=2`, … (mean
        regret, relative to the mean of |U*|), `repeated` (the same after five solves with a
        repeated terminal value; only where freezing does not suit), `suits` and `verdict`.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory", y_max=20, gamma=0.95).build()
    >>> ranking = fsdash.rank_splits(model, T=(2, 4))
    >>> ranking.loc[0, "slow"], bool(ranking.loc[0, "suits"])
    ('demand', True)
    """
    T = tuple(T)
    if not T or not all(isinstance(t, int | np.integer) and t >= 1 for t in T):
        raise InputError(f"T = {T}: give whole numbers of periods, at least 1")
    if isinstance(model_or_frame, pd.DataFrame) and options.get("gamma") is None:
        raise InputError(NO_GAMMA)
    table = as_table(model_or_frame, **options)
    sets = candidate_splits(table) if candidates is None else [tuple(c) for c in candidates]
    records = [_try_split(assemble(table, slow), slow, T) for slow in sets]
    frame = pd.DataFrame(records)
    mean = frame[[f"regret_T={t}" for t in T]].mean(axis=1)
    order = np.lexsort((mean.to_numpy(), ~frame["suits"].to_numpy(dtype=bool)))
    return frame.iloc[order].reset_index(drop=True)


def candidate_splits(table: Table) -> list[tuple[str, ...]]:
    """The sets of slow variables that are worth trying, the most plausible first."""
    moving = [m for m in measure_movements(table) if m.values > 1 and not m.marks_end]
    moving.sort(key=lambda m: (m.drift, m.moves))
    names = [m.variable for m in moving]
    slowest = [tuple(names[:k]) for k in range(1, len(names))]
    singles = [(name,) for name in names] if len(names) > 1 else []
    found = dict.fromkeys(
        tuple(sorted(slow, key=table.names.index))
        for slow in (choose_slow(table), *slowest, *singles)
    )
    fits = [slow for slow in found if slow and split_size(table, slow).cells <= MAX_CELLS]
    return [*fits[: MOST_SPLITS - 1], ()]


def _try_split(model: FastSlowMDP, slow: tuple[str, ...], T: tuple[int, ...]) -> dict[str, Any]:
    best = optimum(model)
    scale = value_scale(model, best)
    regrets = {}
    for t in T:
        policy = solve_frozen(model, t, scale).policy_PXY
        regrets[t] = regret(model, policy, best=best).mean_regret / scale
    reasons = unsuited(model, regrets)
    repeated = np.nan
    if reasons:
        repeated = _repeated(model, sorted(T)[len(T) // 2], scale, best)
    return {
        "slow": ", ".join(slow) or "none",
        "fast": ", ".join(name for name in model.fast.names),
        "n_slow": model.n_slow,
        "n_fast": model.n_fast,
        "padding": 1 - model.n_real / model.n_states,
        **{f"regret_T={t}": value for t, value in regrets.items()},
        "repeated": repeated,
        "suits": not reasons,
        "verdict": _verdict(regrets, reasons, repeated),
    }


def value_scale(model: FastSlowMDP, best: Optimum) -> float:
    """The mean of |U*| over the initial distribution; 1 if it is 0."""
    return model.mean(np.abs(best.U_XY)) or 1.0


def solve_frozen(
    model: FastSlowMDP, T: int, scale: float, terminal_XY: np.ndarray | None = None
) -> Snapshot:
    """FSVI, accurate to a small share of the optimal values."""
    tolerance = attainable(model, ACCURACY * scale)
    return run_until(fsvi(model, T, terminal_XY=terminal_XY), tolerance=tolerance)


def _repeated(model: FastSlowMDP, T: int, scale: float, best: Optimum) -> float:
    """Relative regret after solving repeatedly with the last values as terminal value."""
    V_XY = None
    for _ in range(PASSES):
        last = solve_frozen(model, T, scale, V_XY)
        V_XY = last.values_XY
    return regret(model, last.policy_PXY, best=best).mean_regret / scale


def unsuited(model: FastSlowMDP, regrets: dict[int, float]) -> list[str]:
    """Why freezing does not suit a model; empty if it does."""
    reasons = []
    first = min(regrets)
    if model.n_slow == 1:
        reasons.append("there is a single slow state, so nothing is frozen")
    if regrets[first] > LARGE_REGRET:
        reasons.append(f"the regret at T = {first} is {regrets[first]:.0%}")
    _, counts = np.unique(model.reward_XYA[model.feasible_XYA], return_counts=True)
    share = counts.max() / counts.sum()
    if SPARSE_REWARDS < share < 1 and regrets[first] > NOTABLE_REGRET:
        reasons.append(
            f"{share:.1%} of the actions have the same reward, so a plan of a few periods sees no "
            "difference"
        )
    return reasons


def _verdict(regrets: dict[int, float], reasons: list[str], repeated: float) -> str:
    if not reasons:
        best = min(regrets, key=lambda t: regrets[t])
        large = ", ".join(str(t) for t in regrets if regrets[t] > LARGE_REGRET)
        but = f", but above {LARGE_REGRET:.0%} at T = {large}" if large else ""
        return f"freezing suits: the regret at T = {best} is {regrets[best]:.2%}{but}"
    instead = "use modified policy iteration (mpi)"
    if repeated <= LARGE_REGRET / 2:
        again = f"repeat FSVI with its values as terminal value (regret {repeated:.1%})"
        instead = f"{again}, or {instead}"
    return f"freezing does not suit: {'; '.join(reasons)}. Instead, {instead}"
