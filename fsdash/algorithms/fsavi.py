"""Frozen-state approximate value iteration with pre-selected states (FSAVI).

The algorithm of the appendix "Value Function Approximation with a Linear Architecture". Values are
Φ ω with a feature vector φ(s) of length M for each state. The weights are set so that a Bellman
update holds exactly at M pre-selected (anchor) states:

    lower level   ω_t = Φ† H̃ Φ ω_{t+1},   t = T−1, …, 1,   ω_T = 0
    upper level   β_i = Φ† F Φ β_{i−1},   F = F_{Φ ω₁, π̂},   π̂_t greedy for Φ ω_{t+1}

Φ† = [L⁻¹ 0] with L the anchor rows of Φ, so Φ† multiplies the values at the anchors by L⁻¹.

κ is the amplification factor of the features: φ(s) = Σ_m θ_m(s) φ(s_m) with θ(s) = φ(s)ᵀ L⁻¹, and
κ = max_s Σ_m |θ_m(s)|, the smallest that the assumption on basis functions allows. κ ≥ 1 because
the anchors are states. The theory needs κγ < 1; other architectures are refused.

Guarantee: the proven bound of `fsdash.theory.fsavi_regret`. If Φ is the identity, FSAVI is FSVI.
Work, as the algorithm defines it: M|A| backups per lower-level update, M|A| + (T−1)|S| per upper
one. The greedy policies π̂ of all states, |S||A| each, are counted with the lower level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from fsdash.algorithms.fsvi import check_T
from fsdash.algorithms.snapshot import Snapshot
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import bellman, follow, upper_bellman
from fsdash.errors import InputError


@dataclass(frozen=True, eq=False)
class LinearArchitecture:
    """Features and anchor states of a linear architecture.

    Parameters
    ----------
    Phi_XYM : np.ndarray
        Feature vectors φ(s), shape (X, Y, M).
    anchors_M2 : np.ndarray
        The anchor states, one row (x, y) per feature, shape (M, 2).

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> fsdash.LinearArchitecture.tabular(model).kappa
    1.0
    """

    Phi_XYM: np.ndarray
    anchors_M2: np.ndarray
    theta_XYM: np.ndarray = field(init=False, repr=False)
    """θ(s) = φ(s)ᵀ L⁻¹, the weights of the anchors' values in a state's value."""

    def __post_init__(self) -> None:
        Phi_XYM = np.asarray(self.Phi_XYM, float)
        anchors_M2 = np.asarray(self.anchors_M2, int)
        if Phi_XYM.ndim != 3 or anchors_M2.shape != (Phi_XYM.shape[2], 2):
            raise InputError(
                f"Phi_XYM {Phi_XYM.shape} and anchors_M2 {anchors_M2.shape}: give (X, Y, M) "
                "features and one (x, y) row for each of the M features"
            )
        if not np.isfinite(Phi_XYM).all():
            raise InputError("Phi_XYM: has a value that is not finite; give finite features")
        if (anchors_M2 < 0).any() or (anchors_M2 >= Phi_XYM.shape[:2]).any():
            raise InputError(
                f"anchors_M2: an anchor is outside the states {Phi_XYM.shape[:2]}; give indices "
                "of states"
            )
        L_MM = Phi_XYM[anchors_M2[:, 0], anchors_M2[:, 1]]
        if np.linalg.matrix_rank(L_MM) < len(L_MM):
            raise InputError(
                "anchors_M2: the feature vectors of the anchors are linearly dependent; "
                "choose other anchors or drop a feature"
            )
        object.__setattr__(self, "Phi_XYM", Phi_XYM)
        object.__setattr__(self, "anchors_M2", anchors_M2)
        theta_MS = np.linalg.solve(L_MM.T, Phi_XYM.reshape(-1, len(L_MM)).T)
        object.__setattr__(self, "theta_XYM", theta_MS.T.reshape(Phi_XYM.shape))

    @classmethod
    def tabular(cls, model: FastSlowMDP) -> LinearArchitecture:
        """Return the identity: one indicator feature and one anchor for each state."""
        n = model.n_states
        Phi_XYM = np.eye(n).reshape(model.n_slow, model.n_fast, n)
        return cls(Phi_XYM, np.indices((model.n_slow, model.n_fast)).reshape(2, -1).T)

    @property
    def kappa(self) -> float:
        """The amplification factor κ ≥ 1, rounded to 12 digits."""
        return max(1.0, round(float(np.abs(self.theta_XYM).sum(axis=2).max()), 12))

    def through_anchors(self, values_XY: np.ndarray) -> np.ndarray:
        """Return Φ Φ† values: the anchors' values, extended to all states by the features."""
        x, y = self.anchors_M2.T
        return self.theta_XYM @ values_XY[x, y]


def fsavi(model: FastSlowMDP, T: int, *, architecture: LinearArchitecture) -> Iterator[Snapshot]:
    """Frozen-state approximate value iteration with a linear architecture.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    T : int
        Periods per block: the slow state is frozen for T periods.
    architecture : LinearArchitecture
        Features and anchor states, with κγ < 1.

    Yields
    ------
    Snapshot
        T−1 snapshots of the lower level, then Φβ_i and its policy for i = 0, 1, 2, … with β₀ = 0.
        `error` bounds ‖Φβ_i − Φβ*‖∞, the distance to the fixed point of the projected operator.

    Examples
    --------
    >>> import fsdash
    >>> model = fsdash.make("inventory").build()
    >>> identity = fsdash.LinearArchitecture.tabular(model)
    >>> ours = fsdash.run_until(fsdash.fsavi(model, 3, architecture=identity), iterations=2)
    >>> exact = fsdash.run_until(fsdash.fsvi(model, 3), iterations=2)
    >>> bool(abs(ours.values_XY - exact.values_XY).max() < 1e-6)
    True
    """
    check_T(model, T)
    if architecture.Phi_XYM.shape[:2] != (model.n_slow, model.n_fast):
        raise InputError(
            f"architecture: its features are for {architecture.Phi_XYM.shape[:2]} states, but the "
            f"model has {(model.n_slow, model.n_fast)}; build them for this model"
        )
    kappa, M = architecture.kappa, len(architecture.anchors_M2)
    if kappa * model.gamma >= 1:
        raise InputError(
            f"κγ = {kappa:.4g}·{model.gamma:.4g} = {kappa * model.gamma:.4g} ≥ 1: these features "
            "amplify errors faster than discounting damps them; choose anchors at the corners of "
            "the feature space, or features that interpolate between anchors (κ = 1)"
        )
    sweep = model.n_states * model.n_actions

    backups = 0
    J_XY = np.zeros((model.n_slow, model.n_fast))
    policy_PXY = np.empty((T, model.n_slow, model.n_fast), np.int32)
    lower = policy_PXY[1:]
    for t in range(T - 1, 0, -1):
        HJ_XY, policy_PXY[t] = bellman(model, model.frozen, J_XY)
        J_XY = architecture.through_anchors(HJ_XY)
        backups += M * model.n_actions + sweep
        yield Snapshot("lower", T - t, backups, policy_PXY[t:], J_XY, 0.0, policy_kind="cyclic")

    followed = [follow(model.true, pi_XY) for pi_XY in lower]
    V_XY = np.zeros_like(J_XY)
    for i in count():
        FV_XY, mu_XY = upper_bellman(model, J_XY, followed, V_XY)
        next_XY = architecture.through_anchors(FV_XY)
        error = float(np.abs(next_XY - V_XY).max() / (1 - kappa * model.gamma**T))
        policy = np.concatenate([mu_XY[None], lower])
        yield Snapshot("upper", i, backups, policy, V_XY, error, policy_kind="periodic")
        V_XY = next_XY
        backups += M * model.n_actions + (T - 1) * model.n_states
