"""The figures of Section "Interpreting the Regret Analysis", and what the paper reads off them.

Nothing here is random: a number is on the right side of its limit or it is not. The constants are
those of the presets; the paper does not give its own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.budget import budget_figure
from fsdash.figures.reward_error import NAMES, reward_error_figure
from fsdash.reproduce.judging import Claim, Part
from fsdash.theory import advise, fsvi_regret, preset, regimes, reward_error, vi_regret
from fsdash.theory.staircase import staircases

PANELS = ("reward-error-small", "reward-error-large")
REGIMES = "three-regimes"
REWARD_FIGURE = 'Section "Illustrating Reward Error", Figure "Reward approximation error"'
COST_FIGURE = 'Section "… Selecting T", Figure "Regret versus computational cost"'
FAR = 20_000
"""A T that stands for "as T becomes large"."""
WIDE = 2.0
"""A regime is one of the figure's if its largest budget is at least so many times its smallest."""
MARKED_T = {"reward-error-small": 20, "reward-error-large": 20}
SHOWN_SWEEPS = 20.0


def figures(dark: bool = False) -> dict[str, tuple[str, go.Figure]]:
    """By name: the title and the figure."""
    drawn = {}
    for name in PANELS:
        p = preset(name)
        figure = reward_error_figure(p.constants, np.array(p.T), MARKED_T[name], dark)
        drawn[name] = (p.title, figure)
    p = preset(REGIMES)
    budget = SHOWN_SWEEPS * p.sizes.sweep
    advice = advise(p.constants, p.sizes, budget=budget, T=p.T)
    figure = budget_figure(
        p.constants, p.sizes, p.T, budget, advice.regimes, advice.candidates, dark=dark
    )
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
    stairs = [
        pd.DataFrame({"T": c.T, "k": c.k, "sweeps": c.cost / p.sizes.sweep, "regret": c.regret})
        for c in staircases(p.constants, p.sizes, T=p.T, max_budget=200 * p.sizes.sweep)
    ]
    return {
        "reward-error": pd.concat(errors, ignore_index=True),
        "regret-cost": pd.concat(stairs, ignore_index=True),
        "regimes": pd.DataFrame(
            {"from_sweeps": low, "to_sweeps": high, "winner": winner}
            for low, high, winner in _regimes()
        ),
    }


def _regimes() -> list[tuple[float, float, str]]:
    p = preset(REGIMES)
    return [
        (r.start / p.sizes.sweep, r.end / p.sizes.sweep, "Base VI" if r.T == 1 else f"T={r.T}")
        for r in regimes(p.constants, p.sizes, T=p.T)
    ]


# ------------------------------------------------------------------------------------------ claims


def _term(name: str, term: str, T: int | None = None) -> np.ndarray:
    """A term of the bound over the figure's T, or at one T."""
    p = preset(name)
    return np.atleast_1d(getattr(reward_error(p.constants, np.array(T or p.T)), term))


def _turns(values: np.ndarray) -> int:
    """How often a curve changes between rising and falling."""
    signs = np.sign(np.diff(values))
    signs = signs[signs != 0]
    return int((np.diff(signs) != 0).sum())


def _rises_and_turns(values: np.ndarray, turns: int) -> float:
    """1 if the curve rises at first and turns so often, else 0."""
    return float(values[1] > values[0] and _turns(values) == turns)


def _part(told: str, sign: str, limit: float, measure) -> Part:
    return Part(told, sign, limit, lambda evidence: np.ravel(measure()))


def _rises_then_falls(name: str, term: str) -> Part:
    told = f"{NAMES[term]}, L_f={preset(name).constants.l_f}: rises, then falls (1 yes, 0 no)"
    return _part(told, ">", 0.5, lambda: _rises_and_turns(_term(name, term), 1))


def _relative(name: str, term: str) -> float:
    """The term at a very large T over its largest value in the figure."""
    with np.errstate(over="ignore"):
        return float(_term(name, term, FAR)[0] / _term(name, term).max())


def claims() -> tuple[Claim, ...]:
    small, large = PANELS
    wide = lambda: [name for low, high, name in _regimes() if high / low >= WIDE]  # noqa: E731
    return (
        Claim(
            "theory-end-of-horizon",
            (),
            "The end-of-horizon error rises with T at first, then decreases toward zero, for small "
            "and for large L_f.",
            REWARD_FIGURE,
            "On T=1..150 it rises, turns once and falls; at T=20,000 it is below 1% of its largest "
            "value in the figure; for L_f=0.99 and L_f=1.05.",
            tuple(
                part
                for name in PANELS
                for part in (
                    _rises_then_falls(name, "end_of_horizon"),
                    _part(
                        "the same at T=20,000 over its largest value on T=1..150",
                        "<",
                        0.01,
                        lambda name=name: _relative(name, "end_of_horizon"),
                    ),
                )
            ),
            "It goes to zero only while γ·L_f < 1, and the freeze error is unbounded exactly when "
            "γ·L_f ≥ 1: both happen together on a finite range of T only.",
        ),
        Claim(
            "theory-freeze-converges",
            (),
            "With L_f < 1 the freeze error converges.",
            REWARD_FIGURE,
            "From T=10,000 to T=20,000 it grows by less than 0.01%.",
            (
                _part(
                    "growth of the freeze error",
                    "<",
                    1e-4,
                    lambda: _term(small, "freeze", FAR) / _term(small, "freeze", FAR // 2) - 1,
                ),
            ),
        ),
        Claim(
            "theory-freeze-unbounded",
            (),
            "With L_f > 1 the freeze error grows without bound.",
            REWARD_FIGURE,
            "From T=150 to T=20,000 it grows more than a hundredfold.",
            (
                _part(
                    "freeze error at T=20,000 over its largest value in the figure",
                    ">",
                    100,
                    lambda: _relative(large, "freeze"),
                ),
            ),
            "True for γ·L_f ≥ 1. With 1 < L_f < 1/γ the freeze error converges.",
        ),
        Claim(
            "theory-total-small",
            (),
            "With L_f < 1 the total error follows the unimodal shape of the end-of-horizon error.",
            REWARD_FIGURE,
            "On T=1..150 it rises, turns once and falls.",
            (_rises_then_falls(small, "total"),),
        ),
        Claim(
            "theory-total-large",
            (),
            "With L_f > 1 the total error is unimodal at first and grows again in the end.",
            REWARD_FIGURE,
            "On T=1..150 it rises, falls and rises: two turns.",
            (
                _part(
                    "total, L_f=1.05: rises, falls, rises (1 yes, 0 no)",
                    ">",
                    0.5,
                    lambda: _rises_and_turns(_term(large, "total"), 2),
                ),
            ),
        ),
        Claim(
            "theory-three-regimes",
            (),
            "Three budgets, three winners: a large T (16) on a low budget, a moderate T (9) on a "
            "medium one, Base VI on a high one.",
            COST_FIGURE,
            "Of the regimes whose budgets span a factor of two or more there are three, in this "
            "order: T=16, T=9, Base VI.",
            (
                _part(
                    "wide regimes other than T=16, T=9, Base VI",
                    "<",
                    0.5,
                    lambda: _misplaced(wide(), ["T=16", "T=9", "Base VI"]),
                ),
            ),
            "With the constants of the preset; the paper does not give its own. On the first one "
            "and a half sweeps whatever has just become affordable wins.",
        ),
        Claim(
            "theory-floor",
            (),
            "FSVI's error does not vanish with more iterations; Base VI's does.",
            COST_FIGURE,
            "After a million iterations the bound of Base VI is below 1e-6, and that of FSVI is "
            "above it for every T of the figure.",
            (
                _part("bound of Base VI", "<", 1e-6, lambda: _limit(1)),
                *(
                    _part(f"bound of FSVI, T={T}", ">", 1e-6, lambda T=T: _limit(T))
                    for T in preset(REGIMES).T
                ),
            ),
        ),
    )


def _misplaced(found: list[str], expected: list[str]) -> list[float]:
    pairs = [a != b for a, b in zip(found, expected, strict=False)]
    return [float(sum(pairs) + abs(len(found) - len(expected)))]


def _limit(T: int, k: int = 10**6) -> float:
    c = preset(REGIMES).constants
    return float(vi_regret(c, k) if T == 1 else fsvi_regret(c, T, k=k).total)
