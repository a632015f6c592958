"""Empirical value iteration that ignores the slow state (appendix "Ignoring the Slow State").

The decision maker sees y alone. Whenever the generative model asks for a full state, a slow state
is drawn uniformly, for the reward and for the next state of the same sample:

    U^k(y) = max_a 1/M Σ_j [r(x_j, y, a) + γ U^{k−1}(f_Y(x_j, y, a, w_j))],    x_j uniform on X,
    ν^k(y)   greedy for U^k, by M samples of its own: the same action in every slow state.

With a single slow state it is E-VI. Snapshots repeat U and ν over the slow states.

Work: |Y||A|M value-function evaluations a sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Snapshot, finite
from fsdash.core.kernels import axis_strides, jit
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.sampling import (
    check_run,
    check_samples,
    check_ties,
    draw_counts,
    extraction,
    multinomial,
    pick,
    ranges,
)


@jit
def agnostic(
    rng, law, M, common, random, reward_XYA, next_fast, gamma, U_Y, start, best_N, greedy_N
):
    """The sampled maximum and a greedy action for the fast states start, start + 1, …

    An outcome of the law is a slow state and an outcome of the noise, (x, w) as x·|W| + w.
    """
    A, W = reward_XYA.shape[2], next_fast.shape[3]
    fx, fy, fa = axis_strides(next_fast)
    size_R, Q_A = np.empty(1 if common else A, np.int64), np.empty(A)
    o_P, n_P = np.empty(size_R.size * M, np.int64), np.empty(size_R.size * M, np.int64)
    first = law.outcome_W[0]
    for n in range(best_N.size):
        y = start + n
        draw_counts(rng, law, size_R, o_P, n_P)
        low = high = 0
        for a in range(A):
            if a == 0 or not common:
                low, high = high, high + size_R[a]
            x = first // W
            base = reward_XYA[x, y, a] + gamma * U_Y[next_fast[x * fx, y * fy, a * fa, first % W]]
            # Differences, so that equal samples have an exactly equal mean.
            total = 0.0
            for i in range(low, high):
                x, w = o_P[i] // W, o_P[i] % W
                value = reward_XYA[x, y, a] + gamma * U_Y[next_fast[x * fx, y * fy, a * fa, w]]
                total += n_P[i] * (value - base)
            Q_A[a] = base + total / M
        greedy_N[n] = pick(rng, Q_A, random)
        best_N[n] = Q_A[greedy_N[n]]


def slow_agnostic(
    model: FastSlowMDP,
    rng: np.random.Generator,
    M: int = 50,
    snapshots_per_sweep: int = 3,
    U0_Y: np.ndarray | None = None,
    ties: str = "first",
    common_random_numbers: bool = False,
) -> Iterator[Snapshot]:
    """A snapshot of U⁰, then `snapshots_per_sweep` in each sweep, the last of them U^k and ν^k."""
    check_run(rng, snapshots_per_sweep)
    check_samples("M", M)
    check_ties(ties)
    n, A, shape = model.n_fast, model.n_actions, (model.n_slow, model.n_fast)
    U_Y = np.zeros(n) if U0_Y is None else np.array(U0_Y, float)
    if U_Y.shape != (n,):
        raise InputError(f"U0_Y: shape {U_Y.shape}; give one value for each fast state, {(n,)}")
    # A fast state without noise leaves one outcome: the noise of the slow state is not seen.
    noise_W = model.noise_W if model.next_fast.shape[3] > 1 else np.ones(1)
    law = multinomial(np.tile(noise_W / model.n_slow, model.n_slow), int(M))

    def backup(U_Y: np.ndarray, rng: np.random.Generator, start: int, stop: int):
        best_N, greedy_N = np.empty(stop - start), np.empty(stop - start, np.int32)
        agnostic(
            rng,
            law,
            int(M),
            bool(common_random_numbers),
            ties == "random",
            model.reward_XYA,
            model.next_fast,
            model.gamma,
            U_Y,
            start,
            best_N,
            greedy_N,
        )
        return best_N, greedy_N

    def snapshot(k: int, renewed: int, values_Y: np.ndarray, rng: np.random.Generator) -> Snapshot:
        pairs = (k * n + renewed) * A
        iteration = k + renewed // n
        nu_Y = backup(finite(values_Y, "base", iteration), rng, 0, n)[1]
        policy_PXY, U_XY = np.tile(nu_Y, (1, model.n_slow, 1)), np.tile(values_Y, (shape[0], 1))
        return Snapshot("base", iteration, pairs, policy_PXY, U_XY, nan, pairs * M, "stationary")

    yield snapshot(0, 0, U_Y, rng.spawn(1)[0])
    for k in count():
        inside, end = extraction(rng)
        next_Y = U_Y.copy()
        for start, stop in ranges(n, snapshots_per_sweep):
            next_Y[start:stop] = backup(U_Y, rng, start, stop)[0]
            yield snapshot(k, stop, next_Y, end if stop == n else inside)
        U_Y = next_Y
