"""A model on which FSVI's theorem does not hold as stated: its frozen dynamics are more sensitive.

There are two slow states and five places in a row. An action names a direction and a place. A legal
action (the next place in that direction, or staying at an end) has reward P; staying at an end has
M more, and a small extra reward e at the end that the slow state prefers. Moving left makes the
slow state prefer the right end, and vice versa, so every new plan reverses the previous one. The
next state depends on the action only, and actions are far apart, so L_f is near 0 and the freeze
error is small. The frozen dynamics, however, never forget x, so their values differ in x by
e/(1 − γ).
"""

import numpy as np
import pytest

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.theory import fsvi_bound, reward_error, transition_distance, trivial_bound
from fsdash.theory.measured import measure


def reversing_model(gamma, reach=2, M=1.0):
    e, P, N = 2.6 * (1 - gamma) * M, 4 * M * reach, 2 * reach + 1
    actions = [(direction, place) for direction in (-1, 1) for place in range(N)]
    reward_XYA = np.zeros((2, N, len(actions)))
    for a, (direction, place) in enumerate(actions):
        for y in range(N):
            if place == np.clip(y + direction, 0, N - 1):
                reward_XYA[:, y, a] = P + (M if place == y else 0)
                if place == y:
                    reward_XYA[0 if direction < 0 else 1, y, a] += e
    scale = (P + M + e) / e
    return FastSlowMDP(
        reward_XYA=reward_XYA,
        noise_W=[1.0],
        next_slow=np.array([int(d < 0) for d, _ in actions])[None, None, :, None],
        next_fast=np.array([place for _, place in actions])[None, None, :, None],
        gamma=gamma,
        fast=Axis(("place",), np.arange(N) * scale),
        actions=Axis(("action",), np.arange(len(actions)) * 1e6 * scale),
    )


@pytest.mark.parametrize("gamma, T, lost", [(0.9, 300, 9.0), (0.95, 600, 19.0)])
def test_the_regret_exceeds_the_stated_bound(gamma, T, lost):
    model = reversing_model(gamma)
    best = optimum(model, tolerance=1e-8)
    constants = measure(model, best.U_XY).constants(gamma)
    assert constants.alpha <= 1 and model.reward_XYA.min() >= 0 and constants.l_f < 1
    last = run_until(fsvi(model, T), tolerance=1e-8)
    true = regret(model, last.policy_PXY, best=best).max_regret
    bound = fsvi_bound(constants, T, k=10**6)
    assert true == pytest.approx(lost, rel=1e-3)
    assert 1.5 * bound.total < true < trivial_bound(constants)


@pytest.mark.parametrize(
    ("T", "lost", "allowed", "exceeded"), [(300, 9.0, 4.68, True), (80, 8.98, 9.82, False)]
)
def test_exceeding_it_takes_a_long_T(T, lost, allowed, exceeded):
    model = reversing_model(0.9)
    best = optimum(model, tolerance=1e-8)
    last = run_until(fsvi(model, T), tolerance=1e-8)
    true = regret(model, last.policy_PXY, best=best).max_regret
    bound = fsvi_bound(measure(model, best.U_XY).constants(0.9), T, k=10**6).total
    assert true == pytest.approx(lost, abs=0.005) and bound == pytest.approx(allowed, abs=0.005)
    assert (true > bound) is exceeded


@pytest.mark.parametrize("gamma, T", [(0.9, 300), (0.95, 600)])
def test_the_repaired_bound_holds(gamma, T):
    """The freeze error of the last gap has L̃ = 1, the Lipschitz constant of (x, f_Y) here."""
    from dataclasses import replace

    model = reversing_model(gamma)
    best = optimum(model, tolerance=1e-8)
    constants = measure(model, best.U_XY).constants(gamma)
    last = run_until(fsvi(model, T), tolerance=1e-8)
    q = gamma**T
    freeze = reward_error(replace(constants, l_f=1.0), T).freeze
    gaps = reward_error(constants, T).total + q * constants.l_u * transition_distance(constants, T)
    repaired = (gaps + gamma * freeze) / (1 - q)
    assert regret(model, last.policy_PXY, best=best).max_regret <= repaired
