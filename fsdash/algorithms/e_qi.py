"""Empirical Q-iteration for the base model (Base E-QI, the Q-version of Base E-VI).

    Q^k(s, a) = r(s, a) + γ · 1/M Σ_j max_a' Q^{k−1}(s^(a,j), a'),    ν^k(s) = argmax_a Q^k(s, a).

max_a Q^k has the distribution of E-VI's U^k. ν^k is the argmax of Q^k and needs no further samples;
it is one sweep behind E-VI's policy and has the noise of the values.

Work: |S||A|M evaluations per sweep, with the maximum over a' counted as one; `count_actions` counts
it as |A|, one for each Q-value that it compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import feasible_only
from fsdash.errors import InputError
from fsdash.sampling import Sampler, Sampling, greedy_rows, policy_rngs, ranges


def e_qi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    sampling: Sampling = Sampling(),
    Q0_XYA: np.ndarray | None = None,
    count_actions: bool = False,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Empirical Q-iteration on the base model (Base E-QI).

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    sampling : Sampling
        `M`, `ties`, `common_random_numbers`, `centre` and `snapshots_per_sweep`.
    Q0_XYA : np.ndarray, optional
        Initial Q-values, shape (X, Y, A); zero by default.
    count_actions : bool
        Whether a maximum over next actions counts as |A| evaluations instead of one.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        One snapshot of Q⁰, then `snapshots_per_sweep` per sweep. The last one of sweep k has
        max_a Q^k and the stationary policy ν^k.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> run = fsdash.algorithms.e_qi(model, np.random.default_rng(0))
    >>> fsdash.run_until(run, iterations=2).policy_kind
    'stationary'
    """
    sampling.check(rng, "M ties common_random_numbers centre snapshots_per_sweep")
    # Ties matter when a policy is extracted, not while Q is sampled.
    sampler = Sampler(model, model.true, sampling.M, replace(sampling, ties="first"))
    n, A, shape = model.n_states, model.n_actions, (model.n_slow, model.n_fast)
    Q_SA = np.zeros((n, A)) if Q0_XYA is None else np.array(Q0_XYA, float)
    if Q_SA.size != n * A:
        raise InputError(f"Q0_XYA: shape {Q_SA.shape}; give one value for each (x, y, a)")
    start = resume or {"k": 0, "Q_SA": feasible_only(model, Q_SA)}
    Q_SA = np.array(start["Q_SA"])

    def snapshot(k: int, updated: int, rng: np.random.Generator) -> Snapshot:
        pairs = k * model.n_pairs + int(model.pairs_up_to_S[updated])
        evaluations = pairs * sampling.M * (A if count_actions else 1)
        iteration = k + updated // n
        U_XY = finite(Q_SA.max(axis=1), "base", iteration).reshape(shape)
        nu_XY = greedy_rows(rng, Q_SA, sampling.ties == "random").reshape(shape)
        resume = {"k": iteration, "Q_SA": Q_SA} if updated == n else None
        return Snapshot(
            "base", iteration, pairs, nu_XY[None], U_XY, nan, evaluations, "stationary", resume
        )

    if resume is None:
        yield snapshot(0, 0, rng.spawn(1)[0])
    for k in count(start["k"]):
        inside_rng, end_rng = policy_rngs(rng)
        U_XY = Q_SA.max(axis=1).reshape(shape)
        for low, stop in ranges(n, sampling.snapshots_per_sweep):
            Q_SA[low:stop] = sampler.q_values(U_XY, rng, range(low, stop))[0]
            yield snapshot(k, stop, end_rng if stop == n else inside_rng)
