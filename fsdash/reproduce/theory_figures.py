"""The theory figures of Section "Interpreting the Regret Analysis", and the tables behind them.

The constants are those of the presets, because the paper does not give its own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.budget import budget_figure
from fsdash.figures.reward_error import reward_error_figure
from fsdash.theory import advise, preset, regimes, reward_error
from fsdash.theory.staircase import staircases

PANELS = ("reward-error-small", "reward-error-large")
REGIMES = "three-regimes"
MARKED_T = {"reward-error-small": 20, "reward-error-large": 20}
SHOWN_SWEEPS = 20.0


def figures() -> dict[str, tuple[str, go.Figure]]:
    """The title and the figure, by name."""
    drawn = {}
    for name in PANELS:
        p = preset(name)
        figure = reward_error_figure(p.constants, np.array(p.T), MARKED_T[name])
        drawn[name] = (p.title, figure)
    p = preset(REGIMES)
    budget = SHOWN_SWEEPS * p.sizes.sweep
    advice = advise(p.constants, p.sizes, budget=budget, T=p.T)
    figure = budget_figure(p.constants, p.sizes, p.T, budget, advice.regimes, advice.candidates)
    drawn["regret-cost"] = (p.title, figure)
    return drawn


def tables() -> dict[str, pd.DataFrame]:
    """The numbers behind the figures."""
    errors = []
    for name in PANELS:
        p = preset(name)
        e = reward_error(p.constants, np.array(p.T))
        terms = {t: getattr(e, t) for t in ("freeze", "end_of_horizon", "total")}
        errors.append(pd.DataFrame({"preset": name, "l_f": p.constants.l_f, "T": p.T, **terms}))
    p = preset(REGIMES)
    steps = [
        pd.DataFrame({"T": c.T, "k": c.k, "sweeps": c.cost / p.sizes.sweep, "regret": c.regret})
        for c in staircases(p.constants, p.sizes, T=p.T, max_budget=200 * p.sizes.sweep)
    ]
    return {
        "reward-error": pd.concat(errors, ignore_index=True),
        "regret-cost": pd.concat(steps, ignore_index=True),
        "regimes": pd.DataFrame(
            {"from_sweeps": low, "to_sweeps": high, "winner": winner}
            for low, high, winner in winners()
        ),
    }


def winners() -> list[tuple[float, float, str]]:
    """The regimes of the figure: first and last budget in sweeps, and the winner."""
    p = preset(REGIMES)
    return [
        (r.start / p.sizes.sweep, r.end / p.sizes.sweep, "Base VI" if r.T == 1 else f"T={r.T}")
        for r in regimes(p.constants, p.sizes, T=p.T)
    ]
