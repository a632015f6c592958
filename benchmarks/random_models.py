"""Random fast-slow models for `benchmarks.choice`.

The slow state is a lazy walk on 3 to 12 values that moves with a probability of 2% to 25% a period.
The fast state is one of 20 to 80 places on a line or a circle; an action shifts it, and so does a
drift that depends on x. The reward has a peak whose place and height depend on x, the shift costs
something, and every (x, y, a) has some noise in its reward, fixed once. There are four kinds:

    noise-free    x is exogenous, y' is known given (x, y, a)
    slow-driven   x is exogenous, y' depends on tomorrow's x: noise-free only while x is frozen
    noisy         x is exogenous, y' has noise of its own
    endogenous    the action tilts the walk of x

No reward is shifted or scaled, so results are given as a score: 0 is the policy that draws its
actions uniformly, 1 the optimum.
"""

from __future__ import annotations

import numpy as np

from fsdash.core.model import FastSlowMDP

KINDS = ("noise-free", "slow-driven", "noisy", "endogenous")
CELLS = 20
"""Outcomes of the noise that moves an endogenous slow state."""


def random_fast_slow(
    seed: int, kind: str, sizes: tuple[int, int, int] | None = None
) -> FastSlowMDP:
    """The model of a kind with this seed; `sizes` replaces its random (|X|, |Y|, |A|)."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    drawn = (int(rng.integers(low, high)) for low, high in ((3, 13), (20, 81), (3, 11)))
    X, Y, A = sizes or drawn
    gamma, move = float(rng.choice([0.97, 0.98, 0.99, 0.995])), rng.uniform(0.02, 0.25)
    circle, up = rng.random() < 0.4, rng.uniform(0.3, 0.7)
    x, y = np.arange(X), np.arange(Y)
    shift_A = np.sort(rng.integers(-max(2, Y // 6), max(3, Y // 6) + 1, size=A))
    drift_X = rng.integers(-3, 4, size=X)

    def place(position: np.ndarray) -> np.ndarray:
        return position % Y if circle else np.clip(position, 0, Y - 1)

    def walk(step: np.ndarray) -> np.ndarray:
        return np.clip(x.reshape(-1, *(1,) * (step.ndim)) + step, 0, X - 1)

    reward_XYA = _rewards(rng, X, Y, shift_A, circle)
    stays = place(y[None, :, None] + shift_A + drift_X[:, None, None])[..., None]
    common = {"reward_XYA": reward_XYA, "gamma": gamma, "name": f"{kind} {seed}"}
    noise_W, step_W = np.array([move * up, 1 - move, move * (1 - up)]), np.array([1, 0, -1])
    next_slow = walk(step_W)[:, None, None, :]
    if kind == "noise-free":
        return FastSlowMDP(noise_W=noise_W, next_slow=next_slow, next_fast=stays, **common)
    if kind == "slow-driven":
        driven = y[None, :, None, None] + shift_A[:, None] + drift_X[next_slow]
        return FastSlowMDP(
            noise_W=noise_W,
            next_slow=next_slow,
            next_fast=place(driven),
            frozen_next_fast=stays,
            **common,
        )
    if kind == "noisy":
        jump_W = np.array([-1, 0, 1]) * int(rng.integers(1, max(2, Y // 12) + 1))
        return FastSlowMDP(
            noise_W=np.outer(noise_W, [0.25, 0.5, 0.25]).ravel(),
            next_slow=walk(np.repeat(step_W, 3))[:, None, None, :],
            next_fast=place(stays + np.tile(jump_W, 3)),
            **common,
        )
    tilt_A, u_W = rng.uniform(-1, 1, size=A), (np.arange(CELLS) + 0.5) / CELLS
    rises, falls = (
        (u_W < (move * (1 + tilt_A))[:, None]),
        (u_W > 1 - (move * (1 - tilt_A))[:, None]),
    )
    return FastSlowMDP(
        noise_W=np.full(CELLS, 1 / CELLS),
        next_slow=walk(rises.astype(int) - (falls & ~rises))[:, None],
        next_fast=stays,
        **common,
    )


def _rewards(
    rng: np.random.Generator, X: int, Y: int, shift_A: np.ndarray, circle: bool
) -> np.ndarray:
    """A peak that depends on x, the cost of the shift, and noise that is fixed once."""
    peak_X = rng.uniform(0, Y, size=X)
    peak_X = peak_X[0] + rng.uniform(0.2, 1) * (peak_X - peak_X[0])
    distance_XY = np.abs(np.arange(Y) - peak_X[:, None])
    distance_XY = np.minimum(distance_XY, Y - distance_XY) if circle else distance_XY
    height_XY = np.exp(-((distance_XY / (rng.uniform(0.05, 0.3) * Y)) ** 2))
    cost_A = rng.uniform(0, 0.3) * np.abs(shift_A) / max(1, np.abs(shift_A).max())
    value_XYA = (rng.uniform(0.5, 1.5, size=(X, 1)) * height_XY)[:, :, None] - cost_A
    return value_XYA + 0.1 * rng.normal(size=value_XYA.shape)
