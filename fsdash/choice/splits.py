"""Splits into slow and fast variables, ranked by the true regret of freezing.

Each candidate is one `SolvedModel`: it is solved exactly, and FSVI's policies are evaluated under
the true dynamics. Its verdict on freezing is the one that every page and command gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsdash.choice.solved import SolvedModel
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.assemble import assemble, split_size
from fsdash.models.columns import NO_GAMMA
from fsdash.models.size import MAX_CELLS
from fsdash.models.slow import as_table, choose_slow, measure_movements
from fsdash.models.table import Table

MOST_SPLITS = 8


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
        `n_fast`, `padding` (share of pairs (x, y) that are not states), `regret_T=2`, … (relative
        regret of FSVI: mean regret ÷ that of the policy that maximises the immediate reward),
        `suits` and `verdict` (those of `suits`).

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory", y_max=20, gamma=0.95).build()
    >>> ranking = fsdash.choice.rank_splits(model, T=(2, 4))
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
    solved = SolvedModel(model)
    regrets = {t: solved.relative_regret(solved.fsvi_regret(t).mean_regret) for t in T}
    return {
        "slow": ", ".join(slow) or "none",
        "fast": ", ".join(name for name in model.fast.names),
        "n_slow": model.n_slow,
        "n_fast": model.n_fast,
        "padding": 1 - model.n_real / model.n_states,
        **{f"regret_T={t}": value for t, value in regrets.items()},
        "suits": solved.freezing.suits,
        "verdict": solved.freezing.text,
    }
