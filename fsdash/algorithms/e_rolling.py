"""Rolling freeze with sampled expectations.

The backward induction of E-FSVI's lower level, with the slow state frozen and M_l samples:

    J_n(x, y) = max_a r + γ · 1/M_l Σ_j J_{n−1}(x, y^(a,j)),  π̃_n greedy,   n = 1, …, T,  J_0 = 0.

The newest policy π̃_n is played in every period, as in `fsdash.algorithms.rolling`. It needs samples
of the frozen model only, none of the true one. With the same generator, π̃_n is the rolling policy
that E-FSVI records in its lower level.

Work: |S||A|M_l value-function evaluations per sweep. π̃_n is the maximiser of the sweep itself, so
extracting it takes no further samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan

import numpy as np

from fsdash.algorithms.fsvi import check_periods
from fsdash.algorithms.snapshot import Resume, Snapshot, finite
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import values_of
from fsdash.sampling import Sampler, Sampling, backup


def e_rolling(
    model: FastSlowMDP,
    rng: np.random.Generator,
    *,
    T: int,
    sampling: Sampling = Sampling(),
    J0_XY: np.ndarray | None = None,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Rolling freeze with sampled expectations (E-Rolling).

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    rng : np.random.Generator
        Source of random numbers; the same generator state gives the same run.
    T : int
        Longest horizon: the slow state is frozen for n = 1, …, T periods.
    sampling : Sampling
        `M_l`, `ties` and `common_random_numbers`.
    J0_XY : np.ndarray, optional
        Terminal value J_0, shape (X, Y); zero by default.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        J_n and the rolling policy π̃_n for n = 1, …, T. The generator then ends.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("gridworld").build()
    >>> run = fsdash.e_rolling(model, np.random.default_rng(0), T=24)
    >>> last = fsdash.run_until(run, iterations=24)
    >>> last.policy_kind, last.evaluations == 24 * model.n_states * model.n_actions
    ('rolling', True)
    """
    check_periods(T)
    sampling.check(rng, "M_l ties common_random_numbers")
    frozen = Sampler(model, model.frozen, sampling.M_l, sampling)
    start = resume or {"n": 1, "J_XY": values_of(model, J0_XY, "J0_XY")}
    J_XY = start["J_XY"]
    for n in range(start["n"], T + 1):
        J_S, pi_S = backup(frozen, J_XY, rng)
        J_XY, pairs = finite(J_S, "rolling", n).reshape(J_XY.shape), n * model.n_pairs
        policy = pi_S.reshape(1, *J_XY.shape)
        resume = {"n": n + 1, "J_XY": J_XY}
        work = pairs * sampling.M_l
        yield Snapshot("rolling", n, pairs, policy, J_XY, nan, work, "rolling", resume)
