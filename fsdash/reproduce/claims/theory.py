"""The claims that the paper reads off the figures of "Interpreting the Regret Analysis".

Nothing here is random: a number is on the right side of its limit or not. The constants are those
of the presets, because the paper does not give its own.
"""

from __future__ import annotations

import numpy as np

from fsdash.figures.reward_error import NAMES
from fsdash.reproduce.judging import Claim, ClaimPart
from fsdash.reproduce.theory_figures import PANELS, REGIMES, winners
from fsdash.theory import fsvi_bound, preset, reward_error, vi_bound

REWARD_ERROR = 'Section "Illustrating Reward Error"'
COST = 'Section "Regret versus Computational Cost for FSVI and VI: Selecting T"'
COST_FIGURE = 'Caption of "Regret versus computational cost for Base VI and FSVI …"'
FAR = 20_000
"""A T that stands for "as T becomes large"."""
WIDE = 2.0
"""A regime counts as visible if its largest budget is at least this multiple of its smallest."""


def _term(name: str, term: str, T: int | None = None) -> np.ndarray:
    """A term of the bound, for the T of the figure or for one T."""
    p = preset(name)
    return np.atleast_1d(getattr(reward_error(p.constants, np.array(T or p.T)), term))


def _turns(values: np.ndarray) -> int:
    """How often a curve changes between rising and falling."""
    signs = np.sign(np.diff(values))
    signs = signs[signs != 0]
    return int((np.diff(signs) != 0).sum())


def _rises_and_turns(values: np.ndarray, turns: int) -> float:
    """1 if the curve first rises and then turns this many times, else 0."""
    return float(values[1] > values[0] and _turns(values) == turns)


def _part(label: str, sign: str, limit: float, measure) -> ClaimPart:
    return ClaimPart(label, sign, limit, lambda evidence: np.ravel(measure()))


def _rises_then_falls(name: str, term: str) -> ClaimPart:
    label = f"{NAMES[term]}, L_f={preset(name).constants.l_f}: rises, then falls (1 yes, 0 no)"
    return _part(label, ">", 0.5, lambda: _rises_and_turns(_term(name, term), 1))


def _relative(name: str, term: str) -> float:
    """The term at a very large T, divided by its largest value in the figure."""
    with np.errstate(over="ignore"):
        return float(_term(name, term, FAR)[0] / _term(name, term).max())


def theory_claims() -> tuple[Claim, ...]:
    small, large = PANELS
    wide = lambda: [name for low, high, name in winners() if high / low >= WIDE]  # noqa: E731
    return (
        Claim(
            "theory-end-of-horizon",
            (),
            "The end-of-horizon error first rises with T and then decreases towards zero, for "
            "small and for large L_f.",
            "For both examples, the end-of-horizon error increases at first, but then decreases "
            "toward zero as T becomes large.",
            REWARD_ERROR,
            "For L_f=0.99 and L_f=1.05: on T=1..150 it rises, turns once and falls, and at "
            "T=20,000 it is below 1% of its largest value in the figure.",
            tuple(
                part
                for name in PANELS
                for part in (
                    _rises_then_falls(name, "end_of_horizon"),
                    _part(
                        "the same at T=20,000 ÷ its largest value on T=1..150",
                        "<",
                        0.01,
                        lambda name=name: _relative(name, "end_of_horizon"),
                    ),
                )
            ),
            "It goes to zero only if γ·L_f < 1, and the freeze error is unbounded if and only if "
            "γ·L_f ≥ 1. Both can be seen together only on a finite range of T.",
        ),
        Claim(
            "theory-freeze-converges",
            (),
            "With L_f < 1 the freeze error converges.",
            "In the example with L_f < 1 (left), the freeze error converges as T increases …",
            REWARD_ERROR,
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
            "… if L_f > 1, the freeze error grows without bound.",
            REWARD_ERROR,
            "From T=150 to T=20,000 it grows more than a hundredfold.",
            (
                _part(
                    "freeze error at T=20,000 ÷ its largest value in the figure",
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
            "… when the freeze error is well-controlled, the total reward approximation error "
            "(blue) generally follows the unimodal shape of the end-of-horizon error (green) …",
            REWARD_ERROR,
            "On T=1..150 it rises, turns once and falls.",
            (_rises_then_falls(small, "total"),),
        ),
        Claim(
            "theory-total-large",
            (),
            "With L_f > 1 the total error is unimodal at first and later grows again.",
            "… when the freeze error (orange) grows without bound, the reward approximation error "
            "(blue) follows a unimodal shape at first, but eventually grows again.",
            REWARD_ERROR,
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
            "Three budgets have three winners: a large T (16) on a low budget, a moderate T (9) on "
            "a medium budget, and Base VI on a high budget.",
            "In this example, we see three regimes depending on the computational budget: in the "
            "low budget regime, the lowest regret algorithm is FSVI with T=16; in the medium "
            "budget regime, FSVI with T=9 achieves lowest regret; and in the high budget regime, "
            "not surprisingly, Base VI achieves lowest regret.",
            COST_FIGURE,
            "Three regimes span a factor of two or more in budget, in this order: T=16, T=9, Base "
            "VI.",
            (
                _part(
                    "wide regimes other than T=16, T=9, Base VI",
                    "<",
                    0.5,
                    lambda: _misplaced(wide(), ["T=16", "T=9", "Base VI"]),
                ),
            ),
            "The constants are those of the preset, because the paper does not give its own. Below "
            "one and a half sweeps, the most recently affordable candidate wins.",
        ),
        Claim(
            "theory-floor",
            (),
            "The error of FSVI does not vanish with more iterations; that of Base VI does.",
            "If the computational budget is high, one should simply use Base VI, as it will "
            "eventually achieve zero regret. This is natural and intuitive because FSVI introduces "
            "unavoidable error that does not vanish as the number of value iteration steps "
            "increases.",
            COST,
            "After a million iterations the bound of Base VI is below 1e-6, and that of FSVI is "
            "above 1e-6 for every T in the figure.",
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
    return float(vi_bound(c, k) if T == 1 else fsvi_bound(c, T, k=k).total)
