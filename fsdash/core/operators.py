"""The Bellman operators of the paper, exact and matrix-free.

    H   (base model)     (H U)(s) = max_a r(s, a) + γ E[U(f(s, a, w))]
    H̃   (lower level)    the same with the slow state frozen
    F   (upper level)    (F V)(s₀) = max_a E[R̃(s₀, a, J₁) + γᵀ V(s_T(a, π))]

All of them are one function, `bellman`, on different inputs. H̃ is `bellman` on the frozen
dynamics. For F, let K be the (T−1)-step kernel of the lower policy π. Since R̃ = r + γ J₁(s₁) and
E[V(s_T)] = E[(K V)(s₁)],

    F V = H (J₁ + γᵀ⁻¹ K V),

and K V takes T−1 expectations under one policy each (`lower_kernel`). So F costs |S||A| + (T−1)|S|
backups and never forms the kernel.

A policy is an integer array π_XY. `follow` returns its dynamics, which have an action axis of
length 1, so the same kernels compute the policy versions. Ties go to the first action.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fsdash.core import kernels
from fsdash.core.law import Policies, TransitionLaw
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError


def follow(dynamics: TransitionLaw, policy_XY: np.ndarray) -> TransitionLaw:
    """Return the dynamics under a policy: the action axis has length 1."""
    return dynamics.follow(policy_XY)


def follow_all(model: FastSlowMDP, lower: Policies) -> list[TransitionLaw]:
    """Check π = (π₁, …, π_{T−1}) and return the true dynamics under each; none for T = 1."""
    if len(lower):
        check_policy(model, np.asarray(lower))
    return [follow(model.true, np.asarray(policy_XY)) for policy_XY in lower]


def policy_reward(model: FastSlowMDP, policy_XY: np.ndarray) -> np.ndarray:
    """Return r(x, y, π(x, y)), shape (X, Y)."""
    return kernels.choose(model.reward_XYA[..., None], policy_XY)[:, :, 0, 0]


def expect(model: FastSlowMDP, dynamics: TransitionLaw, U_XY: np.ndarray) -> np.ndarray:
    """Return E[U(x', y')] for every (x, y, a).

    Its shape is (X, Y, 1) for dynamics under a policy, and for index tables without actions.
    """
    return dynamics.expect(values_of(model, U_XY))


def q_values(model: FastSlowMDP, dynamics: TransitionLaw, U_XY: np.ndarray) -> np.ndarray:
    """Return Q(x, y, a) = r + γ E[U(x', y')]; −∞ for infeasible actions."""
    return model.reward_XYA + model.gamma * expect(model, dynamics, U_XY)


def q_values_at(model: FastSlowMDP, U_XY: np.ndarray, x: int, y: int) -> np.ndarray:
    """Return Q(x, y, ·) of one state under the true dynamics, without a sweep over all states."""
    x, y = check_state(model, x, y)
    U_XY, law = values_of(model, U_XY), model.true

    after_A = [law.next_states(x, y, a) for a in range(model.n_actions)]
    mean_A = [(U_XY[after.x_K, after.y_K] * after.probability_K).sum() for after in after_A]
    return model.reward_XYA[x, y] + model.gamma * np.array(mean_A)


def bellman(
    model: FastSlowMDP, dynamics: TransitionLaw, U_XY: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return max_a Q and the first action that attains it: values and a greedy policy."""
    return dynamics.bellman(model.reward_XYA, model.gamma, values_of(model, U_XY))


def H(model: FastSlowMDP, U_XY: np.ndarray) -> np.ndarray:
    """Apply the Bellman operator of the base model (the paper's equation for H)."""
    return bellman(model, model.true, U_XY)[0]


def H_frozen(model: FastSlowMDP, J_XY: np.ndarray) -> np.ndarray:
    """Apply H̃, the Bellman operator of the lower level, with the slow state frozen."""
    return bellman(model, model.frozen, J_XY)[0]


def H_policy(model: FastSlowMDP, policy_XY: np.ndarray, U_XY: np.ndarray) -> np.ndarray:
    """Apply one step of a policy in the base model: r(s, π) + γ E[U(s')]."""
    return _policy_step(model, model.true, policy_XY, U_XY)


def H_frozen_policy(model: FastSlowMDP, policy_XY: np.ndarray, J_XY: np.ndarray) -> np.ndarray:
    """Apply one step of a policy in the lower level."""
    return _policy_step(model, model.frozen, policy_XY, J_XY)


def policy_sweeps(
    model: FastSlowMDP, policy_XY: np.ndarray, U_XY: np.ndarray, m: int, goal: float
) -> int:
    """Make up to m sweeps U ← r + γ E[U] of a policy, in place; return how many were made.

    The sweeps end early once max_x (max_y δ − min_y δ) ≤ goal for the change δ of a sweep.
    """
    return model.true.policy_sweeps(model.reward_XYA, policy_XY, model.gamma, m, goal, U_XY)


def lower_kernel(
    model: FastSlowMDP, followed: Sequence[TransitionLaw], V_XY: np.ndarray
) -> np.ndarray:
    """Return (K V)(s₁) = E[V(s_T)] under π₁, …, π_{T−1} and the true dynamics.

    `followed` holds `follow(model.true, π_t)` for t = 1, …, T−1. If it is empty (T = 1), K V = V.
    """
    for dynamics in reversed(followed):
        V_XY = expect(model, dynamics, V_XY)[:, :, 0]
    return V_XY


def upper_bellman(
    model: FastSlowMDP, J1_XY: np.ndarray, followed: Sequence[TransitionLaw], V_XY: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return F V and the greedy upper policy μ (the paper's equation for F_{J₁,π})."""
    return bellman(model, model.true, _after_one_step(model, J1_XY, followed, V_XY))


def _after_one_step(
    model: FastSlowMDP, J1_XY: np.ndarray, followed: Sequence[TransitionLaw], V_XY: np.ndarray
) -> np.ndarray:
    """Return J₁ + γᵀ⁻¹ K V, the value of the upper level after its first action."""
    return J1_XY + model.gamma ** len(followed) * lower_kernel(model, followed, V_XY)


def _policy_step(
    model: FastSlowMDP, dynamics: TransitionLaw, policy_XY: np.ndarray, U_XY: np.ndarray
) -> np.ndarray:
    policy_XY = check_policy(model, np.asarray(policy_XY)[None])[0]
    future_XY = expect(model, follow(dynamics, policy_XY), U_XY)[:, :, 0]
    return policy_reward(model, policy_XY) + model.gamma * future_XY


def feasible_only(model: FastSlowMDP, Q: np.ndarray) -> np.ndarray:
    """Return Q-values as an array (|S|, A) with −∞ at the infeasible actions."""
    infeasible_SA = np.isneginf(model.reward_XYA).reshape(-1, model.n_actions)
    return np.where(infeasible_SA, -np.inf, Q.reshape(infeasible_SA.shape))


def values_of(model: FastSlowMDP, U_XY: np.ndarray | None, name: str = "U_XY") -> np.ndarray:
    """Return values as contiguous floats of shape (X, Y), or raise; zeros for None."""
    shape = (model.n_slow, model.n_fast)
    U_XY = np.zeros(shape) if U_XY is None else np.ascontiguousarray(U_XY, dtype=float)
    if U_XY.shape != shape:
        raise InputError(f"{name}: shape {U_XY.shape}; give one value for each (x, y), {shape}")
    return U_XY


def check_policy(model: FastSlowMDP, policy_PXY: np.ndarray) -> np.ndarray:
    """Return a policy with one or more phases, shape (P, X, Y), if its actions are feasible.

    At padding it takes the action of the state that the padding mirrors.
    """
    shape = (model.n_slow, model.n_fast)
    if policy_PXY.ndim != 3 or policy_PXY.shape[1:] != shape or not len(policy_PXY):
        raise InputError(
            f"policy: shape {policy_PXY.shape} is not (P, X, Y) with one or more phases and "
            f"(X, Y) = {shape}"
        )
    if not np.issubdtype(policy_PXY.dtype, np.integer):
        raise InputError(f"policy: holds {policy_PXY.dtype}; give integers, indices of actions")
    if policy_PXY.min() < 0 or policy_PXY.max() >= model.n_actions:
        outside = np.argwhere((policy_PXY < 0) | (policy_PXY >= model.n_actions))
        index = tuple(outside[0].tolist())
        raise InputError(
            f"policy{list(index)} = {policy_PXY[index]} is not an action; "
            f"indices run from 0 to {model.n_actions - 1}"
        )
    if model.n_pairs == model.reward_XYA.size:
        return policy_PXY
    policy_PXY = np.stack([model.mirror(policy_XY) for policy_XY in policy_PXY])
    rewards_XYP = np.take_along_axis(model.reward_XYA, np.moveaxis(policy_PXY, 0, 2), axis=2)
    if (rewards_XYP == -np.inf).any():
        x, y, p = np.argwhere(rewards_XYP == -np.inf)[0].tolist()
        raise InputError(
            f"policy[{p}, {x}, {y}] = {policy_PXY[p, x, y]}: this action is infeasible in (x, y) = "
            f"({x}, {y}); choose one with feasible_XYA"
        )
    return policy_PXY


def check_state(model: FastSlowMDP, x: int, y: int) -> tuple[int, int]:
    """Check the indices of a state."""
    for name, index, size in (("x", x, model.n_slow), ("y", y, model.n_fast)):
        if index not in range(size):
            raise InputError(f"{name} = {index}: give the index of a state, 0 to {size - 1}")
    return int(x), int(y)
