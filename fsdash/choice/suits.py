"""Whether freezing suits a model, by measurement, with the reasons that its structure shows.

Freezing suits a model if, for some T up to 24, FSVI or rolling freeze removes nine tenths of the
regret of the initial policy, which maximises the immediate reward. Where it does not, the structure
often says why:

    one slow state       nothing is frozen, so the lower level is a short horizon and nothing else
    a fast slow state    x leaves its value in most periods, so a frozen plan is soon out of date
    an endogenous one    the frozen plan does not see how an action moves x
    sparse rewards       with J_T = 0, a block ends before a distant goal pays

The alternative for short blocks is the *repeated terminal value*: solve by FSVI, give its values to
the next pass as J_T, and repeat. The horizon then grows with every pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import pandas as pd

from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.optimum import Optimum, optimum
from fsdash.choice.frontier import FREEZING, frontier, largest_value, settled
from fsdash.core.certificate import MAX_SLOW, slow_kernel
from fsdash.core.display import Lines, Summary
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import expect
from fsdash.runs.engine import Problem

HORIZONS = (2, 4, 8, 16, 24)
REMAINING = 0.1
"""Freezing suits if at most this share of the initial policy's regret remains."""
OFTEN = 0.5
"""A slow state that moves with a larger probability in a period moves fast."""
SPARSE = 0.9
"""Rewards are sparse if the best reward is the same in this share of the states."""
PASSES, BLOCK = 5, 4
"""Passes of the repeated terminal value, and their block length T."""
PRECISION = 1e-3
LOOKED_AT = 64
"""Slow states whose moves are looked at, if the slow state is endogenous."""


@dataclass(frozen=True, repr=False)
class Suitability(Summary):
    """Whether freezing suits a model, with the evidence.

    Attributes
    ----------
    suits : bool
        Whether it does.
    reasons : tuple of str
        What the structure of the model shows, where it does not.
    moves : float
        Probability that the slow state moves in a period, under uniform actions.
    fsvi, rolling : float
        Share of the initial policy's regret that FSVI and rolling freeze leave, with the best T.
        NaN if the initial policy is optimal, or if the method is not in the frontier.
    repeated : float
        The same for FSVI with T = 4 and a terminal value repeated over five passes; NaN if freezing
        suits the model.
    """

    suits: bool
    reasons: tuple[str, ...]
    moves: float
    fsvi: float
    rolling: float
    repeated: float

    @property
    def text(self) -> str:
        """The verdict in one or two sentences."""
        shares = (("FSVI", self.fsvi), ("rolling freeze", self.rolling))
        known = [f"{name} leaves {share:.0%}" for name, share in shares if not isnan(share)]
        if not known:
            return "The policy that maximises the immediate reward is optimal here."
        left = f"with the best T, {' and '.join(known)} of the initial policy's regret"
        if self.suits:
            return f"Freezing suits this model: {left}."
        why = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        instead = "" if self.repeated <= REMAINING else ". Use modified policy iteration"
        return (
            f"Freezing does not suit this model{why}: {left}. FSVI with T = {BLOCK} and its values "
            f"repeated as terminal value over {PASSES} passes leaves {self.repeated:.0%}{instead}."
        )

    def _summary(self) -> tuple[str, Lines]:
        return "Suitability", [
            ("suits", self.suits),
            ("moves", self.moves),
            ("fsvi", self.fsvi),
            ("rolling", self.rolling),
            ("repeated", self.repeated),
            ("text", self.text),
        ]


def suits(
    model: FastSlowMDP, points: pd.DataFrame | None = None, *, best: Optimum | None = None
) -> Suitability:
    """Find out whether freezing suits a model.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    points : pandas.DataFrame, optional
        Its frontier, if it is known; else it is computed for T = 2, 4, 8, 16 and 24.
    best : Optimum, optional
        U* of this model, from `optimum`.

    Returns
    -------
    Suitability
        The verdict with its reasons and the regrets behind it.

    Examples
    --------
    >>> import fsdash
    >>> found = fsdash.suits(fsdash.make("inventory").build())
    >>> found.suits, round(found.fsvi, 2), round(found.rolling, 2)
    (True, 0.05, 0.01)
    """
    best = optimum(model) if best is None else best
    if points is None:
        points = frontier(
            model, HORIZONS, methods=FREEZING, tolerance=PRECISION, bounds=False, best=best
        )
    left = points.groupby("method")["relative_regret"].min()
    by_fsvi, by_rolling = (float(left.get(method, nan)) for method in FREEZING)
    moves = _moves(model)
    reasons = []
    if model.n_slow == 1:
        reasons.append("it has one slow state, so nothing is frozen")
    if moves > OFTEN:
        reasons.append(f"its slow state moves with probability {moves:.2f} in a period")
    if not model.true.exogenous_slow:
        reasons.append("actions or the fast state move its slow state")
    if (share := _most_common_reward(model)) >= SPARSE:
        reasons.append(f"its best reward is the same in {share:.0%} of the states")
    if model.n_slow > 1 and not np.fmin(by_fsvi, by_rolling) > REMAINING:
        return Suitability(True, (), moves, by_fsvi, by_rolling, nan)
    return Suitability(False, tuple(reasons), moves, by_fsvi, by_rolling, _repeated(model, best))


def _moves(model: FastSlowMDP) -> float:
    """The mean probability that x' ≠ x, over the feasible pairs of up to 64 slow states."""
    if model.true.exogenous_slow and model.n_slow <= MAX_SLOW:
        return float(1 - np.diag(slow_kernel(model)).mean())
    stay: list[np.ndarray] = []
    for x in np.unique(np.linspace(0, model.n_slow - 1, LOOKED_AT).astype(int)):
        here_XY = np.zeros(model.real_XY.shape)
        here_XY[x] = 1.0
        stay_YA = np.broadcast_to(
            expect(model, model.true, here_XY)[x], model.feasible_XYA[x].shape
        )
        stay.append(stay_YA[model.feasible_XYA[x]])
    return float(1 - np.concatenate(stay).mean())


def _most_common_reward(model: FastSlowMDP) -> float:
    """The share of states whose best reward is the most common one."""
    best_S = model.reward_XYA.max(axis=2)[model.real_XY]
    return float(np.unique(best_S, return_counts=True)[1].max() / len(best_S))


def _repeated(model: FastSlowMDP, best: Optimum) -> float:
    """The relative regret of FSVI after passes that repeat its values as the terminal value."""
    here, goal = Problem(model, best), PRECISION * largest_value(model, best)
    V_XY = np.zeros(model.real_XY.shape)
    for _ in range(PASSES):
        last = settled(model, BLOCK, fsvi(model, BLOCK, terminal_XY=V_XY), goal)
        V_XY = last.values_XY
    U_XY = policy_values(model, last.policy_PXY, tolerance=goal).U_XY
    regret = model.mean(np.maximum(best.U_XY - U_XY, 0.0))
    return regret / here.initial_regret if here.initial_regret > 0 else nan
