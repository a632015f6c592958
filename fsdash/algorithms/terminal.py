"""The terminal value J_T of the lower level (the paper's remark "Non-zero terminal value").

    zero    J_T = 0, which the paper assumes and its theorems need.
    last    J_T = J₁ of a first backward induction with J_T = 0: as if another T−1 frozen periods
            followed the block.
    reward  J_T(s) = max_a r(s, a) / (1 − γ): as if the best reward of the last state were earned
            for ever.

The remark leaves J_T to the user's knowledge of the domain; in the library any values can be given.
The lower policy π̃ is greedy for the recursion that starts from J_T. R̃ must not contain J_T, so J₁
is then the value of π̃ in the objective without it: T−1 more steps, with the slow state frozen,

    J_t = r(s, π̃_t) + γ E[J_{t+1}(x, f_Y(x, y, π̃_t, w))],    t = T−1, …, 1,    J_T = 0.

Work, in addition to the algorithm's own: one backup per state and step for the evaluation of π̃, and
for `last` the backups of a second lower level.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.errors import InputError

TERMINALS = ("zero", "last", "reward")


def terminal_values(
    model: FastSlowMDP, terminal: str, terminal_XY: np.ndarray | None
) -> tuple[np.ndarray, bool]:
    """Return J_T, shape (X, Y), and whether J₁ needs an evaluation of the lower policy.

    For `last`, J_T is where the first backward induction starts: zero.
    """
    if terminal not in TERMINALS:
        raise InputError(f"terminal = {terminal!r}: choose from {', '.join(TERMINALS)}")
    if terminal_XY is not None and terminal != "zero":
        raise InputError(f"terminal = {terminal!r}: leave it out if terminal_XY gives the values")
    if terminal == "reward":
        terminal_XY = model.reward_XYA.max(axis=2) / (1 - model.gamma)
    J_XY = values_of(model, terminal_XY, "terminal_XY")
    return J_XY, terminal_XY is not None or terminal == "last"
