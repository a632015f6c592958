"""Frozen-state approximate value iteration with pre-selected states (FSAVI).

The algorithm of the appendix "Value Function Approximation with a Linear Architecture". Values are
Φ ω with a feature vector φ(s) of length M for each state. The weights are set so that a Bellman
update holds exactly at M pre-selected (anchor) states:

    lower level   ω_t = Φ† H̃ Φ ω_{t+1},   t = T−1, …, 1,   ω_T = 0
    upper level   β_i = Φ† F Φ β_{i−1},   F = F_{Φ ω₁, π̂},   π̂_t greedy for Φ ω_{t+1}

Φ† = [L⁻¹ 0] with L the anchor rows of Φ, so Φ† multiplies the values at the anchors by L⁻¹. The
features are chosen by name or given (`fsdash.algorithms.architecture`, which also defines κ). The
theory needs κγ < 1; other architectures are refused.

Guarantee: the proven bound of `fsdash.theory.fsavi_bound`. If Φ is the identity, FSAVI is FSVI.
Work: |S||A| backups per lower-level update, which are the greedy policy π̂_t at every state and
contain the update at the anchors, and M|A| + (T−1)|S| per upper-level iteration. A backup has one
evaluation for each outcome of the noise, as in `fsvi`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from fsdash.algorithms.architecture import (
    Architecture,
    describe_architecture,
    named_architecture,
)
from fsdash.algorithms.fsvi import check_T
from fsdash.algorithms.snapshot import Resume, Snapshot
from fsdash.core.certificate import rounding
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, follow, upper_bellman
from fsdash.errors import InputError


def fsavi(
    model: FastSlowMDP,
    T: int,
    *,
    architecture: Architecture | None = None,
    features: str = "aggregation",
    slow_cells: int = 4,
    fast_cells: int = 10,
    degree: int = 1,
    resume: Resume | None = None,
) -> Iterator[Snapshot]:
    """Frozen-state approximate value iteration with a linear architecture.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    T : int
        Periods per block: the slow state is frozen for T periods.
    architecture : Architecture, optional
        Your own features and anchor states, such as a `LinearArchitecture`, with κγ < 1. By default
        they are chosen by the following arguments.
    features : {"aggregation", "polynomial"}
        Which features.
    slow_cells, fast_cells : int
        For aggregation: cells for each coordinate of the slow and of the fast state.
    degree : int
        For polynomials: largest power of each coordinate.
    resume : mapping, optional
        `Snapshot.resume` of an earlier run, which is continued after that snapshot.

    Yields
    ------
    Snapshot
        T−1 snapshots of the lower level, then Φβ_i and its policy for i = 0, 1, 2, … with β₀ = 0.
        `error` bounds ‖Φβ_i − Φβ*‖∞, the distance to the fixed point of the projected operator.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> run = fsdash.algorithms.fsavi(model, 3, fast_cells=20)
    >>> fsdash.run_until(run, iterations=2).policy_PXY.shape
    (3, 11, 51)
    >>> identity = fsdash.algorithms.LinearArchitecture.tabular(model)
    >>> run = fsdash.algorithms.fsavi(model, 3, architecture=identity)
    >>> ours = fsdash.run_until(run, iterations=2)
    >>> exact = fsdash.run_until(fsdash.fsvi(model, 3), iterations=2)
    >>> bool(abs(ours.values_XY - exact.values_XY).max() < 1e-6)
    True
    """
    check_T(model, T)
    if architecture is None:
        architecture = named_architecture(model, features, slow_cells, fast_cells, degree)
    kappa, M = check_architecture(model, architecture).kappa, len(architecture.anchors_M2)
    sweep, outcomes = model.n_pairs, model.frozen.outcomes

    backups = 0
    J_XY = np.zeros((model.n_slow, model.n_fast))
    policy_PXY = np.empty((T, model.n_slow, model.n_fast), np.int32)
    lower = policy_PXY[1:]
    for t in range(T - 1, 0, -1):
        HJ_XY, policy_PXY[t] = bellman(model, model.frozen, J_XY)
        J_XY = architecture.through_anchors(HJ_XY)
        backups += sweep
        evaluations = backups * outcomes
        for kind, policy in (("cyclic", policy_PXY[t:]), ("rolling", policy_PXY[t : t + 1])):
            if not resume:
                yield Snapshot("lower", T - t, backups, policy, J_XY, 0.0, evaluations, kind)

    evaluations, step = backups * outcomes, M * model.n_actions + (T - 1) * model.n_real
    followed = [follow(model.true, pi_XY) for pi_XY in lower]
    start = resume or {"i": 0, "V_XY": np.zeros_like(J_XY)}
    V_XY = start["V_XY"]
    for i in count(start["i"]):
        FV_XY, mu_XY = upper_bellman(model, J_XY, followed, V_XY)
        next_XY = architecture.through_anchors(FV_XY)
        error = float(np.abs(next_XY - V_XY).max() / (1 - kappa * model.gamma**T))
        policy = np.concatenate([mu_XY[None], lower])
        yield Snapshot(
            "upper",
            i,
            backups + i * step,
            policy,
            V_XY,
            error,
            evaluations + i * step * model.true.outcomes,
            "periodic",
            {"i": i + 1, "V_XY": next_XY},
            rounding(model),
        )
        V_XY = next_XY


def check_architecture(model: FastSlowMDP, architecture: Architecture) -> Architecture:
    """Return the architecture, or raise an error if it is for other states or if κγ ≥ 1."""
    if architecture.shape != (model.n_slow, model.n_fast):
        raise InputError(
            f"architecture: its features are for {architecture.shape} states, but the "
            f"model has {(model.n_slow, model.n_fast)}; build them for this model"
        )
    kappa = architecture.kappa
    if kappa * model.gamma >= 1:
        raise InputError(
            f"κγ = {kappa:.4g}·{model.gamma:.4g} = {kappa * model.gamma:.4g} ≥ 1: these features "
            "amplify errors faster than discounting damps them; choose anchors at the corners of "
            "the feature space, or features that interpolate between anchors (κ = 1)"
        )
    return architecture


def describe_features(
    model: FastSlowMDP, *, features: str, slow_cells: int, fast_cells: int, degree: int
) -> str:
    """Return the features of a run with their number, κ and κγ; refuse what FSAVI would refuse."""
    architecture = named_architecture(model, features, slow_cells, fast_cells, degree)
    check_architecture(model, architecture)
    return f"{features}, {describe_architecture(architecture, model.gamma)}"
