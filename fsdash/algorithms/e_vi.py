"""Empirical value iteration for the base model (Algorithm Base E-VI of the appendix).

    U^k(s) = max_a r(s, a) + γ · 1/M Σ_j U^{k−1}(s^(a,j)),    s^(a,j) from the generative model,
    ν^k    greedy for U^k, by M separate samples for each (s, a).

Independent samples for each action bias the maximum upwards; `common_random_numbers` draws the
noise of a state once for all actions. This does not make up for too few samples: the experiment in
`fsdash.reproduce.samples` compares both with a larger M. If the model has no noise, E-VI is VI.

Work: |S||A|M value-function evaluations per sweep. The samples that extract ν for a snapshot come
from separate generators and are not counted, so U^k does not depend on how many snapshots are
taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.sampling import Sampler, Sampling, greedy, sweeps


def e_vi(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    sampling: Sampling = Sampling(),
    U0_XY: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Empirical value iteration on the base model (Base E-VI).

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    sampling : Sampling
        `M`, `ties`, `common_random_numbers`, `centre` and `snapshots_per_sweep`.
    U0_XY : np.ndarray, optional
        Initial values, shape (X, Y); zero by default.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        One snapshot of U⁰, then `snapshots_per_sweep` per sweep. The last one of sweep k has U^k
        and the stationary policy ν^k.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> last = fsdash.run_until(fsdash.e_vi(model, np.random.default_rng(0)), iterations=3)
    >>> last.evaluations == 3 * model.n_states * model.n_actions * 50
    True
    """
    sampling.check(rng, "M ties common_random_numbers centre snapshots_per_sweep")
    M = sampling.M
    sampler = Sampler(model, model.true, M, sampling)
    start = resume or {"k": 0, "U_XY": values_of(model, U0_XY, "U0_XY")}
    n = model.n_states

    def snapshot(k: int, updated: int, values_XY: np.ndarray, rng: np.random.Generator) -> Snapshot:
        pairs = k * model.n_pairs + int(model.pairs_up_to_S[updated])
        iteration = k + updated // n
        nu_XY = greedy(sampler, finite(values_XY, "base", iteration), rng)
        resume = {"k": iteration, "U_XY": values_XY} if updated == n else None
        return Snapshot(
            "base", iteration, pairs, nu_XY[None], values_XY, nan, pairs * M, "stationary", resume
        )

    for k, updated, values_XY, policy_rng in sweeps(
        sampler, start["U_XY"], rng, sampling.snapshots_per_sweep, start["k"]
    ):
        yield snapshot(k, updated, values_XY, policy_rng)
