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
length 1, so the same kernels compute the policy versions. Ties go to the first action. Dynamics
given as index tables and as sparse rows have their own kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fsdash.core import kernels, row_kernels
from fsdash.core.model import Dynamics, FastSlowMDP, Tables
from fsdash.core.rows import Rows
from fsdash.core.threads import split, thread_count
from fsdash.errors import InputError

OWN_ROWS, MANY_ROWS = 0.9, 10_000
"""Rows per feasible pair, and rows, above which each pair's row is read where it is needed."""
Policies = Sequence[np.ndarray] | np.ndarray
"""Policies π₁, …, π_{T−1}, each (X, Y): a sequence of them or one array (T−1, X, Y)."""


def follow(dynamics: Dynamics, policy_XY: np.ndarray) -> Dynamics:
    """Return the dynamics under a policy: the action axis has length 1."""
    if isinstance(dynamics, Rows):
        return dynamics.follow(policy_XY)
    return follow_tables(dynamics, policy_XY)


def follow_tables(tables: Tables, policy_XY: np.ndarray) -> Tables:
    """Return index tables under a policy."""

    def chosen(table: np.ndarray) -> np.ndarray:
        return table if table.shape[2] == 1 else kernels.choose(table, policy_XY)

    return Tables(chosen(tables.next_slow), chosen(tables.next_fast), tables.noise_W)


def follow_all(model: FastSlowMDP, lower: Policies) -> list[Dynamics]:
    """Check π = (π₁, …, π_{T−1}) and return the true dynamics under each; none for T = 1."""
    if len(lower):
        check_policy(model, np.asarray(lower))
    return [follow(model.true, np.asarray(policy_XY)) for policy_XY in lower]


def policy_reward(model: FastSlowMDP, policy_XY: np.ndarray) -> np.ndarray:
    """Return r(x, y, π(x, y)), shape (X, Y)."""
    return kernels.choose(model.reward_XYA[..., None], policy_XY)[:, :, 0, 0]


def expect(model: FastSlowMDP, dynamics: Dynamics, U_XY: np.ndarray) -> np.ndarray:
    """Return E[U(x', y')] for every (x, y, a).

    Its shape is (X, Y, 1) for dynamics under a policy, and for index tables without actions.
    """
    if isinstance(dynamics, Rows):
        return row_means(dynamics, values_of(model, U_XY))[dynamics.row_XYA]
    followed = dynamics.next_slow.shape[2] == dynamics.next_fast.shape[2] == 1
    out_XYA = np.empty((model.n_slow, model.n_fast, 1 if followed else model.n_actions))
    kernels.expect(*_tables(dynamics), values_of(model, U_XY), out_XYA)
    return out_XYA


def row_means(rows: Rows, U_XY: np.ndarray) -> np.ndarray:
    """Return E[U(x', y')] for every different row; 0 for the empty one."""
    law = (rows.start_R[:-1], rows.start_R[1:], rows.target_N, rows.probability_N)
    return _means(law, U_XY.reshape(-1))


def _means(law: tuple, U_S: np.ndarray) -> np.ndarray:
    start_R, stop_R, *entries = law
    mean_R = np.empty(len(start_R))

    def block(i: int, j: int) -> None:
        row_kernels.row_means(start_R[i:j], stop_R[i:j], *entries, U_S, mean_R[i:j])

    split(block, len(start_R), work=len(entries[0]))
    return mean_R


def q_values(model: FastSlowMDP, dynamics: Dynamics, U_XY: np.ndarray) -> np.ndarray:
    """Return Q(x, y, a) = r + γ E[U(x', y')]; −∞ for infeasible actions."""
    return model.reward_XYA + model.gamma * expect(model, dynamics, U_XY)


def q_values_at(model: FastSlowMDP, U_XY: np.ndarray, x: int, y: int) -> np.ndarray:
    """Return Q(x, y, ·) of one state under the true dynamics, without a sweep over all states."""
    x, y = check_state(model, x, y)
    U_XY, d = values_of(model, U_XY), model.true
    if isinstance(d, Rows):
        mean_A = [
            d.probabilities(row) @ U_XY.reshape(-1)[d.targets(row)] for row in d.row_XYA[x, y]
        ]
        return model.reward_XYA[x, y] + model.gamma * np.array(mean_A)

    def successors(table: np.ndarray) -> np.ndarray:
        return table[x if table.shape[0] > 1 else 0, y if table.shape[1] > 1 else 0]

    U_AW = U_XY[successors(d.next_slow), successors(d.next_fast)]
    return model.reward_XYA[x, y] + model.gamma * (U_AW * d.noise_W).sum(axis=-1)


def bellman(
    model: FastSlowMDP, dynamics: Dynamics, U_XY: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return max_a Q and the first action that attains it: values and a greedy policy."""
    HU_XY = np.empty((model.n_slow, model.n_fast))
    greedy_XY, U_XY = np.empty(HU_XY.shape, dtype=np.int32), values_of(model, U_XY)
    if isinstance(dynamics, Rows):
        _bellman_rows(model, dynamics, U_XY, HU_XY, greedy_XY)
    else:
        kernels.bellman(model.reward_XYA, *_tables(dynamics), model.gamma, U_XY, HU_XY, greedy_XY)
    return HU_XY, greedy_XY


def _bellman_rows(
    model: FastSlowMDP, rows: Rows, U_XY: np.ndarray, HU_XY: np.ndarray, greedy_XY: np.ndarray
) -> None:
    """Compute `bellman` for sparse rows, in one kernel or in blocks on several threads."""
    pairs, gamma = (model.reward_XYA, rows.row_XYA), model.gamma
    law, result = (rows.start_R, rows.target_N, rows.probability_N), (HU_XY, greedy_XY)
    work = len(rows.target_N) + model.reward_XYA.size
    if rows.n_rows > max(MANY_ROWS, OWN_ROWS * model.n_pairs):

        def block(i: int, j: int) -> None:
            row_kernels.bellman_own_rows(i, j, *pairs, *law, gamma, U_XY, *result)

        split(block, U_XY.size, work)
    elif thread_count(work) == 1:
        row_kernels.bellman_rows(*pairs, *law, gamma, U_XY, *result)
    else:
        mean_R = row_means(rows, U_XY)

        def block(i: int, j: int) -> None:
            row_kernels.maximise(i, j, *pairs, mean_R, gamma, *result)

        split(block, U_XY.size, work)


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
    d = model.true
    if isinstance(d, Rows):
        return _policy_sweeps_rows(model, d, policy_XY, U_XY, m, goal)
    reward_XY, tables = policy_reward(model, policy_XY), _tables(follow_tables(d, policy_XY))
    return kernels.policy_sweeps(reward_XY, *tables, model.gamma, m, goal, U_XY)


def _policy_sweeps_rows(
    model: FastSlowMDP, rows: Rows, policy_XY: np.ndarray, U_XY: np.ndarray, m: int, goal: float
) -> int:
    """Make the sweeps of `policy_sweeps` for sparse rows."""
    if thread_count(len(rows.target_N) // model.n_actions) == 1:
        law = (rows.row_XYA, rows.start_R, rows.target_N, rows.probability_N)
        return row_kernels.follow_and_sweep(
            model.reward_XYA, *law, policy_XY, model.gamma, m, goal, U_XY
        )
    d, reward_S = rows.follow(policy_XY), policy_reward(model, policy_XY).reshape(-1)
    law = (d.start_R[:-1], d.start_R[1:], d.target_N, d.probability_N)
    return sweep_rows(reward_S, d.row_XYA.reshape(-1), law, model.gamma, m, goal, U_XY)


def sweep_rows(
    reward_S: np.ndarray,
    row_S: np.ndarray,
    law: tuple,
    gamma: float,
    m: int,
    goal: float,
    U_XY: np.ndarray,
) -> int:
    """Make the sweeps of `policy_sweeps`, given the reward and the row of each state.

    `law` has the start and the end of each row, the next states and their probabilities.
    """
    if thread_count(work := len(law[2])) == 1:
        return row_kernels.sweep_rows(reward_S, row_S, *law, gamma, m, goal, U_XY)
    U_S = U_XY.reshape(-1)
    for n in range(1, m + 1):
        before_XY = U_XY.copy() if n % row_kernels.SWEEPS_PER_CHECK == 0 else None
        mean_R = _means(law, U_S)

        def block(i: int, j: int, mean_R: np.ndarray = mean_R) -> None:
            row_kernels.look_up(reward_S[i:j], row_S[i:j], mean_R, gamma, U_S[i:j])

        split(block, len(U_S), work)
        if before_XY is not None and kernels.widest_change(before_XY, U_XY) <= goal:
            return n
    return m


def lower_kernel(model: FastSlowMDP, followed: Sequence[Dynamics], V_XY: np.ndarray) -> np.ndarray:
    """Return (K V)(s₁) = E[V(s_T)] under π₁, …, π_{T−1} and the true dynamics.

    `followed` holds `follow(model.true, π_t)` for t = 1, …, T−1. If it is empty (T = 1), K V = V.
    """
    for dynamics in reversed(followed):
        V_XY = expect(model, dynamics, V_XY)[:, :, 0]
    return V_XY


def upper_bellman(
    model: FastSlowMDP, J1_XY: np.ndarray, followed: Sequence[Dynamics], V_XY: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return F V and the greedy upper policy μ (the paper's equation for F_{J₁,π})."""
    return bellman(model, model.true, _after_one_step(model, J1_XY, followed, V_XY))


def _after_one_step(
    model: FastSlowMDP, J1_XY: np.ndarray, followed: Sequence[Dynamics], V_XY: np.ndarray
) -> np.ndarray:
    """Return J₁ + γᵀ⁻¹ K V, the value of the upper level after its first action."""
    return J1_XY + model.gamma ** len(followed) * lower_kernel(model, followed, V_XY)


def _policy_step(
    model: FastSlowMDP, dynamics: Dynamics, policy_XY: np.ndarray, U_XY: np.ndarray
) -> np.ndarray:
    policy_XY = check_policy(model, np.asarray(policy_XY)[None])[0]
    future_XY = expect(model, follow(dynamics, policy_XY), U_XY)[:, :, 0]
    return policy_reward(model, policy_XY) + model.gamma * future_XY


def _tables(dynamics: Tables) -> tuple:
    return dynamics.next_slow, dynamics.next_fast, dynamics.noise_W, dynamics.separable


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
