"""Random models for the lemmas, rough and smooth, with constants from plain loops over pairs."""

from dataclasses import replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from fsdash.core.model import Axis, FastSlowMDP
from tests.models import random_model, seeds

SEARCH = settings(max_examples=100, deadline=None, derandomize=True, database=None)
SLACK = 1e-9
gammas = st.sampled_from([0.0, 0.3, 0.8, 0.95])


def smooth_model(seed, gamma):
    """Rewards that change slowly and moves to neighbours, so that the constants are small."""
    rng = np.random.default_rng(seed)
    X, Y, A, W = 4, 5, 2, 2
    x = np.cumsum(rng.uniform(0.5, 1, X)) * 10 ** rng.uniform(-3, 0)
    y = np.cumsum(rng.uniform(0.5, 1, Y))
    a = rng.normal(size=A)
    slopes = rng.normal(size=3)
    reward_XYA = slopes[0] * x[:, None, None] + np.sin(slopes[1] * y)[None, :, None]
    steps = rng.integers(-1, 2, (2, A, W))
    return FastSlowMDP(
        reward_XYA=reward_XYA + slopes[2] * a,
        noise_W=rng.dirichlet(np.ones(W)),
        next_slow=np.clip(np.arange(X)[:, None, None, None] + steps[0], 0, X - 1),
        next_fast=np.clip(np.arange(Y)[None, :, None, None] + steps[1], 0, Y - 1),
        gamma=gamma,
        slow=Axis(("x",), x),
        fast=Axis(("y",), y),
        actions=Axis(("a",), a),
    )


def rough_model(seed, gamma):
    """Uniform rewards and transitions; the rewards are non-negative."""
    model = random_model(seed, sizes=(3, 4, 2, 2), gamma=gamma)
    return replace(model, reward_XYA=model.reward_XYA + 1)


models = st.builds(
    lambda make, seed, gamma: make(seed, gamma),
    st.sampled_from([smooth_model, rough_model]),
    seeds,
    gammas,
)


def chain(n, reward, step, gamma=0.9):
    """One fast state and n slow states 0, …, n − 1 that move by `step`; r(x) = reward · x."""
    x = np.arange(n)
    return FastSlowMDP(
        reward_XYA=(reward * x.astype(float))[:, None, None],
        noise_W=[1.0],
        next_slow=np.clip(x + step, 0, n - 1)[:, None, None, None],
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=gamma,
    )


def tables(model):
    """f_X and f_Y as full arrays (X, Y, A, W)."""
    shape = (*model.reward_XYA.shape, len(model.noise_W))
    return np.broadcast_to(model.next_slow, shape), np.broadcast_to(model.next_fast, shape)


def next_states(model):
    """f as coordinates, shape (X, Y, A, W, d)."""
    slow, fast = tables(model)
    return np.concatenate([model.slow.values[slow], model.fast.values[fast]], axis=-1)


def coordinates(model):
    """The coordinates of all states, shape (|S|, d)."""
    x, y = np.divmod(np.arange(model.n_states), model.n_fast)
    return np.hstack([model.slow.values[x], model.fast.values[y]])


def distances(points, others=None):
    """All Euclidean distances between the rows."""
    others = points if others is None else others
    return np.linalg.norm(points[:, None] - others[None], axis=-1)


def slope(values, points):
    """The Lipschitz constant of values (n, …) at n points, over all pairs."""
    change = np.linalg.norm(
        (values[:, None] - values[None]).reshape(len(points), len(points), -1), axis=-1
    )
    apart = distances(points)
    return float(np.max(change[apart > 0] / apart[apart > 0], initial=0.0))


def pair_coordinates(model):
    """The coordinates of all (s, a), shape (|S||A|, d), in order s·|A| + a."""
    s, a = np.divmod(np.arange(model.n_states * model.n_actions), model.n_actions)
    return np.hstack([coordinates(model)[s], model.actions.values[a]])


def value_slope(model, U_XY):
    return slope(U_XY.reshape(-1, 1), coordinates(model))


def reward_slope(model):
    return slope(model.reward_XYA.reshape(-1, 1), pair_coordinates(model))


def transition_slope(model):
    """L_f: the largest over the outcomes of the noise."""
    f = next_states(model)
    pairs = pair_coordinates(model)
    return max(slope(f[..., w, :].reshape(len(pairs), -1), pairs) for w in range(f.shape[3]))


def frozen_slope(model):
    """L̃: the same for the frozen map (x, f_Y)."""
    f = next_states(model).copy()
    f[..., : model.slow.values.shape[1]] = model.slow.values[:, None, None, None]
    pairs = pair_coordinates(model)
    return max(slope(f[..., w, :].reshape(len(pairs), -1), pairs) for w in range(f.shape[3]))


def largest_steps(model):
    """α d_Y and d_Y: the largest one-step changes of x and y."""
    slow, fast = tables(model)
    x, y = np.ogrid[: model.n_slow, : model.n_fast]
    moves = (
        model.slow.values[slow] - model.slow.values[x][:, :, None, None],
        model.fast.values[fast] - model.fast.values[y][:, :, None, None],
    )
    return tuple(float(np.linalg.norm(move, axis=-1).max()) for move in moves)
