"""One path of a policy, cut into blocks of T periods: what the frozen plan expected, what happened.

A policy (μ, π₁, …, π_{T−1}) acts in blocks of T periods. At the start s₀ of a block, μ takes an
action and the true dynamics lead to s₁ = (x₁, y₁). From s₁ on, the plan assumes that x₁ stays:

    x̃_t = x₁,   ỹ_{t+1} = frozen f_Y(x₁, ỹ_t, π_t(x₁, ỹ_t), w_t),      t = 1, …, T−1,   ỹ₁ = y₁.

The plan is followed on the noise w_t of the path, so it differs from what happened only because the
slow state moved. With sparse rows, one uniform number picks x' and then y' given x' (the rows are
ordered by x'); the part that picked y' also picks ỹ'. The **gap** of a period is the planned reward
minus the reward that was earned. The expectation of a block's discounted gap, given s₁, is

    γ (J̃₁(s₁) − J₁(s₁)),

the values of (π₁, …, π_{T−1}) over the T−1 periods with the slow state frozen and with the true
dynamics: the reward error of this policy in the paper. Work: 2(T−1)|S| backups for the expectation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsdash.core.display import Lines, Summary
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H_frozen_policy, H_policy
from fsdash.core.simulate import Path, draw_noise, path_of, phases_of, walk, walk_plan
from fsdash.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(Summary):
    """A path of K blocks of T periods, and the frozen plan of the same periods.

    Attributes
    ----------
    path : Path
        What happened.
    plan : Path
        The same periods if the slow state had stayed, from the second period of each block on. In
        the first period of a block it is what happened.
    T : int
        Periods of a block.
    expected_gap_K : np.ndarray
        The expectation of the gap of each block, given its second state; shape (K,).
    """

    path: Path
    plan: Path
    T: int
    expected_gap_K: np.ndarray

    def __len__(self) -> int:
        return len(self.path) // self.T

    @property
    def gap_N(self) -> np.ndarray:
        """The planned reward minus the reward earned, in each period."""
        return self.plan.reward_N - self.path.reward_N

    @property
    def gap_K(self) -> np.ndarray:
        """The gap of each block, Σ γᵗ gap over its periods t = 0, …, T−1."""
        return self.gap_N.reshape(-1, self.T) @ self.path.gamma ** np.arange(self.T)

    def periods(self, block: int) -> slice:
        """Return the periods of a block, counted from 0."""
        if block not in range(len(self)):
            raise InputError(f"block = {block}: choose one of 0 to {len(self) - 1}")
        return slice(block * self.T, (block + 1) * self.T)

    def _summary(self) -> tuple[str, Lines]:
        return f"{len(self):,} blocks of {self.T:,} periods", [
            ("start (x, y)", f"({self.path.x_N[0]}, {self.path.y_N[0]})"),
            ("gap of a block, mean", float(self.gap_K.mean())),
            ("gap of a block, largest", float(np.abs(self.gap_K).max())),
            ("expected gap, mean", float(self.expected_gap_K.mean())),
        ]


def frozen_blocks(
    model: FastSlowMDP,
    policy: np.ndarray,
    *,
    rng: np.random.Generator,
    blocks: int,
    T: int | None = None,
    start: tuple[int, int] | None = None,
) -> Blocks:
    """Simulate a policy and, block by block, the plan that assumed a frozen slow state.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    policy : np.ndarray
        Action indices, shape (T, X, Y) for a T-periodic policy, (X, Y) for a stationary one.
    rng : np.random.Generator
        Source of random numbers. The path is the one that `simulate` returns.
    blocks : int
        Number of blocks.
    T : int, optional
        Periods of a block; the number of phases by default. Give it for a stationary policy.
    start : tuple of int, optional
        Indices (x, y) of the first state; drawn from the initial distribution by default.

    Returns
    -------
    Blocks
        What happened and what was planned in each period, and the gap of each block.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> last = fsdash.run_until(fsdash.fsvi(model, T=6), tolerance=1e-3)
    >>> found = fsdash.core.frozen_blocks(
    ...     model, last.policy_PXY, rng=np.random.default_rng(0), blocks=10
    ... )
    >>> len(found), found.gap_K.shape, bool((found.gap_N[::6] == 0).all())
    (10, (10,), True)
    """
    policy_PXY = phases_of(model, policy)
    P = len(policy_PXY)
    T = P if T is None else T
    if T < 1 or T % P:
        raise InputError(f"T = {T}: use a multiple of the policy's {P} phases, at least {P}")
    if blocks < 1:
        raise InputError(f"blocks = {blocks}: simulate at least one")
    # The true dynamics may have no noise although the frozen ones do.
    law = max(model.true, model.frozen, key=lambda law: law.outcomes)
    noise_N, x, y = draw_noise(model, rng, blocks * T, start, law)
    path = walk(model, policy_PXY, noise_N, x, y)
    plan = _plan(model, policy_PXY, noise_N, path, T)
    expected_K = np.zeros(blocks)
    if T > 1:
        gap_XY = model.gamma * _expected_gap(model, policy_PXY, T)
        expected_K = gap_XY[path.x_N[1::T], path.y_N[1::T]]
    return Blocks(path, plan, T, expected_K)


def _plan(
    model: FastSlowMDP, policy_PXY: np.ndarray, noise_N: np.ndarray, path: Path, T: int
) -> Path:
    x_N, y_N, action_N = path.x_N.copy(), path.y_N.copy(), path.action_N.copy()
    fast_noise_N = model.true.fast_noise(noise_N, path.x_N, path.y_N, path.action_N)
    walk_plan(model.frozen.step, policy_PXY, fast_noise_N, T, x_N, y_N, action_N)
    return path_of(model, len(policy_PXY), x_N, y_N, action_N)


def _expected_gap(model: FastSlowMDP, policy_PXY: np.ndarray, T: int) -> np.ndarray:
    """Return J̃₁ − J₁: the values of π₁, …, π_{T−1} over T−1 periods, frozen minus true."""
    frozen_XY = true_XY = np.zeros((model.n_slow, model.n_fast))
    for t in range(T - 1, 0, -1):
        policy_XY = policy_PXY[t % len(policy_PXY)]
        frozen_XY = H_frozen_policy(model, policy_XY, frozen_XY)
        true_XY = H_policy(model, policy_XY, true_XY)
    return frozen_XY - true_XY
