"""Empirical value iteration that ignores the slow state (appendix "Ignoring the Slow State").

The decision maker observes y only. Whenever the generative model needs a full state, a slow state
is drawn uniformly, both for the reward and for the next state of that sample:

    U^k(y) = max_a 1/M Σ_j [r(x_j, y, a) + γ U^{k−1}(f_Y(x_j, y, a, w_j))],    x_j uniform on X,
    ν^k(y)   greedy for U^k, by M separate samples; the same action in every slow state.

With a single slow state it is E-VI. Snapshots repeat U and ν over the slow states. If some (x, y)
are not states of the model, x_j is drawn from the others. Only actions that are feasible in all of
them are considered.

Work: |Y||A|M value-function evaluations per sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.sampling import (
    Sampling,
    policy_rngs,
    ranges,
)


def slow_agnostic(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    sampling: Sampling = Sampling(),
    U0_Y: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Empirical value iteration that ignores the slow state.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    sampling : Sampling
        `M`, `ties`, `common_random_numbers` and `snapshots_per_sweep`.
    U0_Y : np.ndarray, optional
        Initial values, shape (Y,); zero by default.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        One snapshot of U⁰, then `snapshots_per_sweep` per sweep. The last one of sweep k has U^k
        and the stationary policy ν^k, both repeated over the slow states.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> run = fsdash.algorithms.slow_agnostic(model, np.random.default_rng(0))
    >>> policy_XY = fsdash.run_until(run, iterations=2).policy_PXY[0]
    >>> bool((policy_XY == policy_XY[0]).all())  # the same action in every slow state
    True
    """
    sampling.check(rng, "M ties common_random_numbers snapshots_per_sweep")
    M = int(sampling.M)
    n, shape = model.n_fast, (model.n_slow, model.n_fast)
    U_Y = np.zeros(n) if U0_Y is None else np.array(U0_Y, float)
    if U_Y.shape != (n,):
        raise InputError(f"U0_Y: shape {U_Y.shape}; give one value for each fast state, {(n,)}")
    allowed_YA = (model.feasible_XYA | ~model.real_XY[:, :, None]).all(axis=0)
    if not allowed_YA.any(axis=1).all():
        y = int(np.argmin(allowed_YA.any(axis=1)))
        raise InputError(
            f"fast state {y} ({model.fast.label(y)}): no action is feasible in every slow state, "
            "so a policy that ignores the slow state does not exist; use another algorithm"
        )
    how = (
        bool(sampling.common_random_numbers),
        sampling.ties == "random",
        model.reward_XYA,
        allowed_YA,
    )
    samples = model.true.samples(int(M))

    def backup(U_Y: np.ndarray, rng: np.random.Generator, start: int, stop: int):
        best_N, greedy_N = np.empty(stop - start), np.empty(stop - start, np.int32)
        out = (U_Y, start, best_N, greedy_N)
        samples.agnostic(model.real_XY, rng, *how, model.gamma, *out)
        return best_N, greedy_N

    def snapshot(k: int, updated: int, values_Y: np.ndarray, rng: np.random.Generator) -> Snapshot:
        pairs = k * int(allowed_YA.sum()) + int(allowed_YA[:updated].sum())
        iteration = k + updated // n
        nu_Y = backup(finite(values_Y, "base", iteration), rng, 0, n)[1]
        policy_PXY, U_XY = np.tile(nu_Y, (1, model.n_slow, 1)), np.tile(values_Y, (shape[0], 1))
        resume = {"k": iteration, "U_Y": values_Y} if updated == n else None
        return Snapshot(
            "base", iteration, pairs, policy_PXY, U_XY, nan, pairs * M, "stationary", resume
        )

    if resume is None:
        yield snapshot(0, 0, U_Y, rng.spawn(1)[0])
    else:
        U_Y = resume["U_Y"]
    for k in count(resume["k"] if resume else 0):
        inside_rng, end_rng = policy_rngs(rng)
        next_Y = U_Y.copy()
        for start, stop in ranges(n, sampling.snapshots_per_sweep):
            next_Y[start:stop] = backup(U_Y, rng, start, stop)[0]
            yield snapshot(k, stop, next_Y, end_rng if stop == n else inside_rng)
        U_Y = next_Y
