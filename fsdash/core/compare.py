"""Two policies A and B of one model: where they act differently, and both on the same noise.

In a state s, A takes the action a and B the action b. With values U of the next states,

    advantage(s) = Q(s, b) − Q(s, a),      Q(s, ·) = r(s, ·) + γ E[U(s')],

is how much more B's action is worth than A's. U is known within a certified error e, so the
advantage is known within 2γe (+ rounding). Where the actions differ, and the advantage is no larger
than that, the two actions are a **tie**: nothing shows that one is better. Elsewhere it is certain
which one is better under the exact values that U approximates. With U = U* that says which action
is better if both continue optimally; with U = U^A, if both continue as A does.

Two simulations share their noise (common random numbers): with index tables the outcome w, with
sparse rows the uniform number whose inverse CDF is the next state. Their difference is then due to
the policies, and not to luck. Work: 2|S| backups for the advantage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fsdash.core.certificate import rounding
from fsdash.core.display import Lines, Summary, value_range
from fsdash.core.evaluation import Values
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import H_policy, values_of
from fsdash.core.simulate import Path, draw_noise, phases_of, walk
from fsdash.errors import InputError

PADDING, SAME, TIE, FIRST_BETTER, SECOND_BETTER = range(-1, 4)
"""Kinds: no state, the same action, equally good actions, A's action better, B's action better."""


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(Summary):
    """Where the policies A and B act differently, and which action is better.

    Attributes
    ----------
    kind_XY : np.ndarray
        `SAME`, `TIE`, `FIRST_BETTER` or `SECOND_BETTER`; `PADDING` where there is no state.
    advantage_XY : np.ndarray
        Q(s, b) − Q(s, a) of B's action b over A's action a.
    weight_XY : np.ndarray
        The share of time in each state; sums to 1.
    error : float
        Advantages up to this size are ties.
    """

    kind_XY: np.ndarray
    advantage_XY: np.ndarray
    weight_XY: np.ndarray
    error: float

    def share(self, *kinds: int) -> float:
        """Return the share of states of these kinds."""
        return float(np.isin(self.kind_XY, kinds).sum() / (self.kind_XY != PADDING).sum())

    def time_share(self, *kinds: int) -> float:
        """Return the share of time in states of these kinds."""
        return float(self.weight_XY[np.isin(self.kind_XY, kinds)].sum())

    @property
    def weighted_XY(self) -> np.ndarray:
        """The advantage times the share of time; 0 at ties."""
        return np.where(self.kind_XY > TIE, self.weight_XY * self.advantage_XY, 0.0)

    def largest(self) -> np.ndarray:
        """Return the states (x, y) without a tie, those that matter most first; shape (K, 2).

        They are ordered by the size of the advantage times the share of time. States that are
        never visited come last, ordered by the size of the advantage.
        """
        states_K2 = np.argwhere(self.kind_XY > TIE)
        sizes = (
            np.abs(values[tuple(states_K2.T)]) for values in (self.advantage_XY, self.weighted_XY)
        )
        return states_K2[np.lexsort([-size_K for size_K in sizes])]

    def _summary(self) -> tuple[str, Lines]:
        names = ("same action", "tie", "A's action better", "B's action better")
        shares = [(name, f"{self.share(kind):.2%} of states") for kind, name in enumerate(names)]
        return "Disagreement", [
            *shares,
            ("advantage_XY", value_range(self.advantage_XY)),
            ("error", self.error),
        ]


def disagreement(
    model: FastSlowMDP,
    policies: Sequence[np.ndarray],
    *,
    values: Values,
    weight_XY: np.ndarray | None = None,
) -> Disagreement:
    """Compare the actions of two policies in every state.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    policies : pair of np.ndarray
        The policies A and B, or one phase of each; action indices, shape (X, Y).
    values : Values
        The values U of the next states and their certified error: U* from `optimum`, or those of a
        policy from `policy_values`.
    weight_XY : np.ndarray, optional
        How much each state counts, such as `visits(model, A).share_XY`. Uniform by default.

    Returns
    -------
    Disagreement
        The kind of each state, the advantage of B's action, and the states that matter most.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> best = fsdash.optimum(model)
    >>> order_nothing = np.zeros((model.n_slow, model.n_fast), int)
    >>> found = fsdash.core.disagreement(model, (order_nothing, best.policy_PXY[0]), values=best)
    >>> found.largest()[0].tolist()  # demand 10, no stock
    [10, 0]
    """
    first_XY, second_XY = (phases_of(model, policy)[0] for policy in _pair(policies))
    weight_XY = (
        model.real_XY / 1.0 if weight_XY is None else values_of(model, weight_XY, "weight_XY")
    )
    if not (weight_XY.min() >= 0 and weight_XY.sum() > 0):
        raise InputError("weight_XY: weights are at least 0, and one of them is positive")
    advantage_XY = H_policy(model, second_XY, values.U_XY) - H_policy(model, first_XY, values.U_XY)
    error = 2 * model.gamma * values.error + rounding(model)
    better_XY = np.where(advantage_XY > error, SECOND_BETTER, FIRST_BETTER)
    other_XY = np.where(np.abs(advantage_XY) <= error, TIE, better_XY)
    kind_XY = np.where(first_XY == second_XY, SAME, other_XY)
    return Disagreement(
        kind_XY=np.where(model.real_XY, kind_XY, PADDING),
        advantage_XY=advantage_XY,
        weight_XY=weight_XY / weight_XY.sum(),
        error=float(error),
    )


@dataclass(frozen=True, eq=False, repr=False)
class PairedPaths(Summary):
    """Paths of the policies A (`first`) and B (`second`) from the same state on the same noise."""

    first: Path
    second: Path

    @property
    def difference_N(self) -> np.ndarray:
        """B's reward minus A's reward in each period."""
        return self.second.reward_N - self.first.reward_N

    @property
    def gain_N(self) -> np.ndarray:
        """Σ γᵗ (B's reward − A's reward) up to and including each period.

        Its last entry is one sample of U^B − U^A in the first state, up to the periods left out.
        """
        return np.cumsum(self.difference_N * self.first.gamma ** np.arange(len(self.first)))

    def _summary(self) -> tuple[str, Lines]:
        return f"Paired paths of {len(self.first):,} periods", [
            ("start (x, y)", f"({self.first.x_N[0]}, {self.first.y_N[0]})"),
            ("discounted total of A", self.first.total),
            ("discounted total of B", self.second.total),
            ("gain of B", float(self.gain_N[-1])),
        ]


def simulate_pair(
    model: FastSlowMDP,
    policies: Sequence[np.ndarray],
    *,
    rng: np.random.Generator,
    steps: int,
    start: tuple[int, int] | None = None,
) -> PairedPaths:
    """Simulate two policies from the same state on the same noise.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    policies : pair of np.ndarray
        The policies A and B, each of shape (X, Y), or (P, X, Y) with its own number of phases.
    rng : np.random.Generator
        Source of random numbers. The path of A is the one that `simulate` returns for it.
    steps : int
        Number of periods.
    start : tuple of int, optional
        Indices (x, y) of the first state; drawn from the initial distribution by default.

    Returns
    -------
    PairedPaths
        Both paths, and the running difference of their rewards.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> best = fsdash.optimum(model).policy_PXY
    >>> last = fsdash.run_until(fsdash.fsvi(model, T=3), tolerance=1e-3)
    >>> pair = fsdash.core.simulate_pair(
    ...     model, (last.policy_PXY, best), rng=np.random.default_rng(0), steps=200
    ... )
    >>> bool((pair.first.x_N == pair.second.x_N).all())  # the slow state is exogenous
    True
    """
    first_PXY, second_PXY = (phases_of(model, policy) for policy in _pair(policies))
    noise_N, x, y = draw_noise(model, rng, steps, start)
    return PairedPaths(
        walk(model, first_PXY, noise_N, x, y), walk(model, second_PXY, noise_N, x, y)
    )


def _pair(policies: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    if len(policies) != 2:
        raise InputError(f"policies: {len(policies)} given; compare two policies, (A, B)")
    return policies[0], policies[1]
