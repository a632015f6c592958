"""Small models for the tests: random ones of every shape, and dense reference solvers."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows, to_rows

SHAPES = [
    # (next_slow axes, next_fast axes): which of X, Y, A, W each depends on
    ("X..W", "XYA."),  # exogenous slow, noise-free fast: separable
    ("X..W", ".YA."),
    ("X..W", "XYAW"),  # exogenous slow, noisy fast
    ("XYAW", "XYAW"),  # everything depends on everything
    ("X...", "XYAW"),
    ("X...", "XYA."),  # no noise at all, although the model has some
    ("XYA.", "XYA."),
    ("XY.W", ".Y.W"),
    ("...W", "XYA."),  # x' is drawn anew, wherever x is
    ("...W", "...W"),
    ("....", "...."),
]


def random_model(seed, sizes=(3, 4, 2, 3), shape=("XYAW", "XYAW"), gamma=0.9, frozen=None):
    """A model with uniform rewards and transitions; an axis not named in `shape` has length 1."""
    rng = np.random.default_rng(seed)
    X, Y, A, W = sizes

    def table(axes, high):
        size = [n if axis != "." else 1 for axis, n in zip(axes, sizes, strict=True)]
        return rng.integers(high, size=size)

    return FastSlowMDP(
        reward_XYA=rng.uniform(-1, 1, (X, Y, A)),
        noise_W=rng.dirichlet(np.ones(W)),
        next_slow=table(shape[0], X),
        next_fast=table(shape[1], Y),
        frozen_next_fast=None if frozen is None else table(frozen, Y),
        gamma=gamma,
        initial_XY=rng.dirichlet(np.ones(X * Y)).reshape(X, Y),
    )


def lipschitz_model(seed, sizes=(3, 4, 2, 2), gamma=0.8):
    """A model that satisfies the paper's assumptions: the frozen f_Y is f_Y itself."""
    return random_model(seed, sizes, ("XYAW", "XYAW"), gamma)


def transition_matrix(model, dynamics):
    """The dense transition kernel, shape (S, A, S), from its definition."""
    X, Y, A = model.reward_XYA.shape
    P = np.zeros((X * Y, A, X * Y))
    full = (X, Y, A, len(dynamics.noise_W))
    slow = np.broadcast_to(dynamics.next_slow, full)
    fast = np.broadcast_to(dynamics.next_fast, full)
    for x, y, a, w in np.ndindex(full):
        P[x * Y + y, a, slow[x, y, a, w] * Y + fast[x, y, a, w]] += dynamics.noise_W[w]
    return P


def dense_policy_values(model, policy_PXY):
    """The value of a periodic policy by linear algebra on dense matrices."""
    n = model.n_states
    P = transition_matrix(model, model.true)
    r = model.reward_XYA.reshape(n, -1)
    M, c = np.eye(n), np.zeros(n)
    for policy in policy_PXY.reshape(len(policy_PXY), n):
        c = c + M @ r[np.arange(n), policy]
        M = model.gamma * M @ P[np.arange(n), policy]
    return np.linalg.solve(np.eye(n) - M, c).reshape(model.n_slow, model.n_fast)


def exact_values(model, policy_S):
    """U^π of a stationary policy by rational elimination, as fractions."""
    S, gamma = model.n_states, Fraction(model.gamma)
    full, rows = (*model.reward_XYA.shape, len(model.noise_W)), []
    slow, fast = np.broadcast_to(model.next_slow, full), np.broadcast_to(model.next_fast, full)
    for s, a in enumerate(policy_S):
        x, y = divmod(s, model.n_fast)
        row = [Fraction(int(s == to)) for to in range(S)]
        for w, p in enumerate(model.noise_W):
            to = int(slow[x, y, a, w]) * model.n_fast + int(fast[x, y, a, w])
            row[to] -= gamma * Fraction(p)
        rows.append([*row, Fraction(model.reward_XYA[x, y, a])])
    for i in range(S):
        pivot = next(j for j in range(i, S) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(S):
            if j != i and rows[j][i]:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def dense_optimum(model):
    """U* by policy iteration on dense matrices."""
    n = model.n_states
    P = transition_matrix(model, model.true)
    r = model.reward_XYA.reshape(n, -1)
    policy = np.zeros(n, int)
    while True:
        rows = np.arange(n)
        U = np.linalg.solve(np.eye(n) - model.gamma * P[rows, policy], r[rows, policy])
        Q = r + model.gamma * P @ U
        better = Q.max(axis=1) > Q[rows, policy] + 1e-12
        if not better.any():
            return U.reshape(model.n_slow, model.n_fast)
        policy = np.where(better, Q.argmax(axis=1), policy)


seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from(SHAPES)
sizes = st.tuples(*(st.integers(1, 4) for _ in range(4)))


def in_rows(model):
    """The same model with its transition law as sparse rows."""
    return FastSlowMDP(
        reward_XYA=model.reward_XYA,
        rows=to_rows(model),
        frozen_rows=to_rows(model, model.frozen),
        gamma=model.gamma,
        initial_XY=model.initial_XY,
    )


def random_rows(seed, sizes=(3, 4, 3), gamma=0.9, padded=False, common_action=False):
    """A model in row form with state-dependent noise and infeasible actions, maybe padded.

    With `common_action` the last action is feasible in every state.
    """
    rng = np.random.default_rng(seed)
    X, Y, A = sizes
    real_XY = rng.random((X, Y)) < 0.7 if padded else np.ones((X, Y), bool)
    real_XY[:, 0], real_XY[-1, -1] = True, not padded
    feasible_XYA = (rng.random(sizes) < 0.6) & real_XY[:, :, None]
    feasible_XYA[..., -1] |= real_XY & (common_action | ~feasible_XYA.any(axis=2))
    P = rng.dirichlet(np.full(X * Y, 0.3), size=X * Y * A) * real_XY.reshape(-1)
    P = np.where(P > 0.02, P, 0) + 1e-3 * np.eye(X * Y)[0]
    P /= P.sum(axis=1, keepdims=True)
    pair_N, target_N = np.nonzero(P * feasible_XYA.reshape(-1, 1))
    return FastSlowMDP(
        reward_XYA=np.where(feasible_XYA, rng.uniform(-1, 1, sizes), -np.inf),
        rows=Rows.from_entries(sizes, pair_N, target_N, P[pair_N, target_N]),
        gamma=gamma,
    )
