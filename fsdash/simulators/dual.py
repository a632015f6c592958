"""How far a policy is from the best: a statistical certificate by information relaxation.

For any function V and a state s = (x, y) let d(s, a) = E[r + γV(s')] − V(s), the Bellman residual.
With D_t = γ^min(t, H₀) and a path that ends in each period after H₀ with probability 1 − γ,

    U^π(s₀) = V(s₀) + E Σ_t D_t d(s_t, π(s_t))
    U*(s₀) ≤ V(s₀) + E max over a_0, a_1, … of Σ_t D_t d_t(y_t, a_t)      all noise known in advance

The maximum is a deterministic dynamic program over the controlled part of y, because x and the rest
of y are exogenous. Both sums use the same path, so V(s₀) and every function of x cancel in their
difference, the gap of the path. The expectations in d are means of fresh draws that are independent
of the path; this loosens the bound, but it holds in expectation (docs/proofs.md, section 7).

For integer y the inner problem is exact, and every path's gap is at least 0. For continuous y it is
exact for the lattice model, in which y' is rounded at random to the corners of its cell. The inner
problem is then also solved on a lattice with twice as many intervals, and the larger limit counts.
The mean gap gets a one-sided t limit with a correction for skewness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from fsdash.core.display import Lines, Summary
from fsdash.core.kernels import jit
from fsdash.errors import InputError
from fsdash.simulators.lattice import (
    MAX_POINTS,
    HiddenDependence,
    Lattice,
    Layout,
    mix_rows,
)
from fsdash.simulators.policy import corners
from fsdash.simulators.simulator import (
    Dependence,
    Driver,
    Simulator,
    check_simulator,
    stratified,
)

MIN_PATHS = 30
"""Fewer paths give no verdict: limits from few paths are too low too often."""
MIN_GAPS, SEEN = 5, 1e-9
"""Paths with a gap, larger than this share of the value, below which the limit says little."""
DRAWS = 32
"""Draws in an expectation over y'."""
SLOW_DRAWS = 64
"""Draws of x' in an expectation, if x' and y' are independent."""
CHUNK = 2_000_000
"""Values of V that are held at once for the periods of a path."""

Act = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class StatisticalCertificate(Summary):
    """Gaps of paths and what they imply; all values are rewards (negated costs).

    Attributes
    ----------
    gaps : np.ndarray
        The gap of each path; their mean estimates an upper bound of the regret of the policy.
    limit : float
        One-sided limit of the mean gap at the confidence `level`. It says little if only a few
        paths have a gap: then the gap is zero or rare, and paths cannot tell which (`warning`).
    finer_gaps : np.ndarray or None
        The gaps on the finer lattice, if y has continuous controlled coordinates.
    value, upper : float
        Mean estimates of the policy's value and of an upper bound of the optimum.
    value_error : float
        Half the 95% interval of `value`.
    """

    gaps: np.ndarray
    lower: np.ndarray
    finer_gaps: np.ndarray | None
    level: float
    exact: bool
    calls: int

    @property
    def gap(self) -> float:
        """The mean gap; the larger one of both lattices."""
        return max(float(gaps.mean()) for gaps in self._both)

    @property
    def paths_with_gap(self) -> int:
        """The paths whose gap is more than rounding; the fewer of both lattices."""
        least = SEEN * max(abs(self.value), 1e-300)
        return min(int(np.count_nonzero(gaps > least)) for gaps in self._both)

    @property
    def warning(self) -> str:
        """What the limit cannot say if few paths have a gap; empty otherwise."""
        if self.paths_with_gap >= MIN_GAPS:
            return ""
        n = len(self.gaps)
        return (
            f"Only {self.paths_with_gap} of {n} paths have a gap, so a gap on fewer than about "
            f"{100 * (3 + self.paths_with_gap) / n:.0f}% of paths may be missing, however large"
        )

    @property
    def limit(self) -> float:
        limits = [one_sided_limit(gaps, self.level) for gaps in self._both]
        return max(0.0, *limits)  # less than 0 only by rounding, or on a lattice of continuous y

    @property
    def _both(self) -> list[np.ndarray]:
        return [gaps for gaps in (self.gaps, self.finer_gaps) if gaps is not None]

    @property
    def value(self) -> float:
        return float(self.lower.mean())

    @property
    def upper(self) -> float:
        return self.value + self.gap

    @property
    def value_error(self) -> float:
        return half_interval(self.lower)

    @property
    def limit_share(self) -> float:
        """The limit as a share of the size of the value."""
        return self.limit / max(abs(self.value), 1e-300)

    def _summary(self) -> tuple[str, Lines]:
        of = "the simulator" if self.exact else "its lattice model (continuous y)"
        return f"Certificate for {of}", [
            ("value", f"{self.value:.6g} ± {self.value_error:.3g}"),
            ("mean gap", " and ".join(f"{gaps.mean():.4g}" for gaps in self._both)),
            (f"{100 * self.level:g}% limit", self.limit),
            ("share of value", f"{100 * self.limit_share:.3g}%"),
            ("paths", f"{len(self.gaps)}, {self.paths_with_gap} with a gap"),
            *([("warning", self.warning)] if self.warning else []),
            ("calls", self.calls),
        ]


def half_interval(values: np.ndarray) -> float:
    """Half the 95% t interval of a mean."""
    n = len(values)
    if n < 2:
        return float("inf")
    return float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n))


def one_sided_limit(gaps: np.ndarray, level: float = 0.95) -> float:
    """An upper confidence limit of the mean: a t limit, raised if the values are skewed upward.

    With n values, standard deviation s and skewness κ it is mean + [t + max(κ, 0)(1 + 2t²)/(6√n)]
    s/√n, the first term of the correction for skewness by Johnson (1978).
    """
    n, spread = len(gaps), gaps.std(ddof=1)
    if spread == 0:
        return float(gaps.mean())
    t, skewness = stdtrit(n - 1, level), (((gaps - gaps.mean()) / spread) ** 3).mean()
    raised = t + max(skewness, 0.0) * (1 + 2 * t**2) / (6 * np.sqrt(n))
    return float(gaps.mean() + raised * spread / np.sqrt(n))


def no_certificate(driver: Driver, dependence: Dependence | None = None) -> str:
    """The reason why a simulator can have no certificate; empty if there is none."""
    spec = driver.spec
    if driver.sim.move is None:
        return "the slow state has no model (move)"
    if not driver.sim.exogenous:
        return "the slow state is not exogenous"
    points = np.prod(
        [len(p.values) for p, c in zip(spec.points, spec.controlled, strict=True) if c]
    )
    if points > MAX_POINTS:
        return (
            f"the controlled part of y has {points:,.0f} lattice points, more than {MAX_POINTS:,}"
        )
    return ""


def certify_simulator(
    sim: Simulator,
    policy: Any,
    *,
    paths: int = MIN_PATHS,
    seed: int = 1,
    lattice: Lattice | None = None,
    values: np.ndarray | None = None,
) -> StatisticalCertificate:
    """Bound how far a policy for a simulator is from the best one, with a confidence limit.

    Parameters
    ----------
    sim : Simulator
        The simulator; its slow state needs `move` and must be exogenous.
    policy : LatticePolicy or callable
        The policy; a callable takes x and y and returns indices of actions.
    paths : int
        Simulated paths, at least 30. The seed must not be one that was used to find the policy.
    seed : int
        Seed of the paths.
    lattice, values : optional
        A lattice and values at its nodes, after `Lattice.solve`; computed by default.

    Returns
    -------
    StatisticalCertificate
        Gaps, limit, value and upper bound.

    Examples
    --------
    >>> import fsdash
    >>> from fsdash.simulators.tabular import TabularSimulator
    >>> model = fsdash.make("inventory", y_max=20, gamma=0.9).build()
    >>> best = fsdash.optimum(model).policy_PXY[0]
    >>> act = lambda x, y: best[x[:, 0].astype(int), y[:, 0].astype(int)]
    >>> certificate = fsdash.simulators.certify_simulator(TabularSimulator(model), act)
    >>> bool(certificate.gaps.min() > -1e-6), certificate.limit_share < 0.01
    (True, True)
    """
    driver = Driver(sim) if lattice is None else lattice.driver
    if reason := no_certificate(driver):
        raise InputError(f"no certificate: {reason}")
    if paths < MIN_PATHS:
        raise InputError(f"paths = {paths}: a limit needs at least {MIN_PATHS} paths")
    if lattice is None:
        lattice = Lattice(driver, check_simulator(sim), np.random.default_rng([seed, 0]))
        values = None
    if values is None:
        values = np.zeros((len(lattice.x_N), lattice.layout.L))
        for _, values in lattice.solve(values):  # noqa: B007, B020
            pass
    act = getattr(policy, "act", policy)
    last = None
    for last in certified_paths(lattice, values, act, seed=seed, most=paths):  # noqa: B007
        pass
    assert last is not None
    return last


def certified_paths(
    lattice: Lattice,
    V_NL: np.ndarray,
    act: Act,
    *,
    seed: int,
    most: int,
    level: float = 0.95,
) -> Iterator[StatisticalCertificate | None]:
    """Yield after each path: None before `MIN_PATHS`, then the certificate so far."""
    driver, calls = lattice.driver, lattice.driver.calls
    V_NL = lattice.levelled(V_NL)
    inner = [Relaxation(lattice, V_NL)]
    if not inner[0].exact and inner[0].layout.L * 2 <= MAX_POINTS:
        inner.append(Relaxation(lattice, V_NL, finer=True))
    paths = Paths(driver, act, np.random.default_rng([seed, 1]), most)
    rng = np.random.default_rng([seed, 2])
    gaps, lower = np.empty((len(inner), most)), np.empty(most)
    for p in range(most):
        draws = rng.integers(2**63)
        for k, relaxation in enumerate(inner):
            try:
                gaps[k, p], lower[p] = relaxation.path(paths, p, int(draws))
            except HiddenDependence:
                inner[k] = Relaxation(lattice, V_NL, k == 1, lattice.dependence.full())
                gaps[k, p], lower[p] = inner[k].path(paths, p, int(draws))
        n = p + 1
        yield (
            None
            if n < MIN_PATHS
            else StatisticalCertificate(
                gaps[0, :n].copy(),
                lower[:n].copy(),
                gaps[1, :n].copy() if len(inner) > 1 else None,
                level,
                inner[0].exact,
                driver.calls - calls,
            )
        )


class Paths:
    """Paths of a policy with all their noise; path p has `H[p]` periods."""

    def __init__(self, driver: Driver, act: Act, rng: np.random.Generator, count: int) -> None:
        gamma = driver.spec.gamma
        self.H0 = int(np.ceil(1 / (1 - gamma)))
        self.H = self.H0 + rng.geometric(1 - gamma, count)
        longest = int(self.H.max())
        self.u = rng.random((longest, count, driver.spec.noise))
        x, y = driver.initial(rng, count)
        xs, ys, acts = [x], [y], []
        for t in range(longest):
            acts.append(checked_actions(driver, act(x, y), y))
            x, y, _ = driver.step(x, y, acts[-1], self.u[t])
            xs.append(x)
            ys.append(y)
        self.x, self.y, self.a = np.array(xs), np.array(ys), np.array(acts)


def checked_actions(driver: Driver, actions: object, y: np.ndarray) -> np.ndarray:
    """Indices of feasible actions; the inner problem takes no others."""
    a = np.asarray(actions)
    if a.shape != (len(y),) or a.dtype.kind not in "iu" or a.min() < 0 or a.max() >= driver.spec.A:
        raise InputError(f"policy: return {len(y)} indices from 0 to {driver.spec.A - 1}")
    if not (allowed := driver.feasible(y)[np.arange(len(y)), a]).all():
        raise InputError(f"policy: takes an infeasible action in y = {y[allowed.argmin()]}")
    return a


class Relaxation:
    """The inner problem on a lattice of the controlled part of y."""

    def __init__(
        self,
        lattice: Lattice,
        V_NL: np.ndarray,
        finer: bool = False,
        dependence: Dependence | None = None,
    ) -> None:
        self.driver, self.features = lattice.driver, lattice.features
        self.gamma, spec = lattice.gamma, lattice.driver.spec
        self.dependence = D = dependence or lattice.dependence
        self.points, theta = list(lattice.points), lattice.coefficients(V_NL)
        controlled = np.flatnonzero(spec.controlled).tolist()
        self.exact = all(self.points[j].exact for j in controlled)
        if finer:
            for j in controlled:
                self.points[j] = self.points[j].refined()
                if not self.points[j].exact:
                    theta = _halved(theta, 1 + j)
        self.layout = Layout(spec, D, self.points, controlled)
        self.rest = self.layout.fixed
        self.theta_FL = theta.reshape(len(theta), -1)
        order = [0, *(1 + j for j in self.rest), *(1 + j for j in self.layout.order)]
        self.theta_FEL = np.ascontiguousarray(
            np.transpose(theta, order).reshape(len(theta), -1, self.layout.L)
        )
        y_L = self.layout.y_L
        self.barred_LA = np.where(self.driver.feasible(y_L), 0.0, -np.inf)
        self.rest_noisy = bool(D.noisy[self.rest].any())
        self.M = DRAWS if D.noisy.any() or not D.separate else 1
        varies = not D.separate or self.rest_noisy
        self.joint = bool(varies and self.layout.z)
        """Whether the values of y' depend on the same draw as y' itself."""

    def path(self, paths: Paths, p: int, seed: int) -> tuple[float, float]:
        """The gap of a path and its estimate of the policy's value."""
        driver, layout, rng = self.driver, self.layout, np.random.default_rng(seed)
        T, noise = int(paths.H[p]), driver.spec.noise
        W = np.zeros(layout.L)
        residual = np.empty(T)
        step = max(1, CHUNK // (layout.L * (self.M if self.joint else 1)))
        for stop in range(T, 0, -step):
            t = slice(max(0, stop - step), stop)
            x, y, after = paths.x[t, p], paths.y[t, p], paths.x[t.start + 1 : stop + 1, p]
            n, M = len(x), self.M
            u = np.stack([stratified(rng, M, noise) for _ in range(n)])
            if self.dependence.separate:
                u_slow = np.stack([stratified(rng, SLOW_DRAWS, noise) for _ in range(n)])
            else:
                u_slow = u
            K = u_slow.shape[1]
            x_next = driver.move(np.repeat(x, K, 0), u_slow.reshape(n * K, noise))
            phi = self.features(x_next).reshape(n, K, -1)
            if self.dependence.separate:
                phi = phi.mean(axis=1, keepdims=True)
            next_BM = None if self.dependence.separate else x_next.reshape(n, K, -1)
            tables = layout.tables(driver, rng, x, u, next_BM=next_BM, fixed_B=y, joint=self.joint)
            actual = layout.tables(
                driver, rng, x, paths.u[t, p][:, None], next_BM=after[:, None], fixed_B=y,
                noise_only=True,
            )  # fmt: skip
            y_next, r = self._played(x, y, paths.a[t, p], u, next_BM)
            phi_now = self.features(x)
            future = self._future(phi, y_next)
            now = self._mixed(phi_now[:, None], y[:, None], 1)[:, 0]
            relax(
                future.reshape(n, -1, layout.L // layout.Z), now, tables.start, tables.column,
                tables.weight, tables.n_corner, tables.n_weight, tables.reward, actual.start,
                actual.column, actual.weight, *layout.maps, self.barred_LA, self.gamma,
                paths.H0 - t.start, W.reshape(layout.Z, -1),
            )  # fmt: skip
            residual[t] = (
                r.mean(axis=1)
                + self.gamma * self._values(phi, y_next).mean(axis=1)
                - self._values(phi_now[:, None], y[:, None])[:, 0]
            )
        first_x, first_y = paths.x[0, p], paths.y[0, p]
        index, weight = corners([self.points[j] for j in layout.order], first_y[None, layout.order])
        best = float((W[index] * weight).sum())
        total = float(residual @ self.gamma ** np.minimum(np.arange(T), paths.H0))
        start = self._values(self.features(first_x[None])[:, None], first_y[None, None])[0, 0]
        return best - total, float(start) + total

    def _played(
        self, x: np.ndarray, y: np.ndarray, a: np.ndarray, u: np.ndarray, next_BM: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """y' (n, M, d) and rewards (n, M) of the policy's own actions at the draws."""
        n, M = u.shape[:2]
        rows = np.repeat(np.arange(n), M)
        x_next = x[rows] if next_BM is None else next_BM.reshape(n * M, -1)
        y_next, r = self.driver.play(x[rows], x_next, y[rows], a[rows], u.reshape(n * M, -1))
        return y_next.reshape(n, M, -1), r.reshape(n, M)

    def _values(self, phi: np.ndarray, y: np.ndarray) -> np.ndarray:
        """V at rows: φ (n, 1 or M, F) and y (n, M, d) → (n, M)."""
        n, M = y.shape[:2]
        index, weight = corners(self.points, y.reshape(n * M, -1))
        rows = np.einsum("frc,rc->rf", self.theta_FL[:, index], weight).reshape(n, M, -1)
        return (rows * phi).sum(axis=2)

    def _future(self, phi: np.ndarray, y_next: np.ndarray) -> np.ndarray:
        """V(x', ·, rest of y') on the lattice for each draw, or averaged over them: (n, G, L).

        The exogenous part of y' is that of the policy's own path: actions do not influence it.
        """
        if not self.rest_noisy:
            y_next = y_next[:, :1]
        draws = max(phi.shape[1], y_next.shape[1])
        groups = self.M if self.joint else 1
        y_next = np.broadcast_to(y_next, (len(phi), max(draws, groups), y_next.shape[2]))
        return self._mixed(phi, y_next, groups)

    def _mixed(self, phi: np.ndarray, y: np.ndarray, groups: int) -> np.ndarray:
        n, M = y.shape[:2]
        rest = y[:, :, self.rest].reshape(n * M, len(self.rest))
        index, weight = corners([self.points[j] for j in self.rest], rest)
        out = np.zeros((n, groups, self.layout.L))
        mix_values(
            np.ascontiguousarray(phi), index.reshape(n, M, -1), weight.reshape(n, M, -1),
            self.theta_FEL, out,
        )  # fmt: skip
        return out


def _halved(theta: np.ndarray, axis: int) -> np.ndarray:
    """The same piecewise linear function on an axis with twice as many intervals."""
    theta = np.moveaxis(theta, axis, 0)
    fine = np.empty((2 * len(theta) - 1, *theta.shape[1:]))
    fine[::2] = theta
    fine[1::2] = (theta[1:] + theta[:-1]) / 2
    return np.moveaxis(fine, 0, axis)


@jit
def mix_values(phi_TGF, index_TMC, weight_TMC, theta_FEL, out_TGL):
    """out(t, g, ·) = mean over the draws m of g of Σ_c weight Σ_f φ_f θ(f, corner c, ·)."""
    T, M, C = index_TMC.shape
    groups, F, L = out_TGL.shape[1], theta_FEL.shape[0], theta_FEL.shape[2]
    for t in range(T):
        for m in range(M):
            g = m if groups > 1 else 0
            for c in range(C):
                share = weight_TMC[t, m, c] * groups / M
                if share == 0.0:
                    continue
                e = index_TMC[t, m, c]
                for f in range(F):
                    w = share * phi_TGF[t, m if phi_TGF.shape[1] > 1 else 0, f]
                    for i in range(L):
                        out_TGL[t, g, i] += w * theta_FEL[f, e, i]


@jit
def relax(
    future, now_TL, start, column, weight, n_corner, n_weight, reward, own_start, own_column,
    own_weight, z_LA, n_LA, r_LA, barred_LA, gamma, H0, W,
):  # fmt: skip
    """W(y) ← max_a d_t(y, a) + (γ or 1) W(y' on the path), backward over the periods t."""
    T = now_TL.shape[0]
    L, A = z_LA.shape
    P, C = (start.size - 1) // T, n_corner.shape[2]
    G, ahead = np.empty((P, W.shape[1])), np.empty((P, W.shape[1]))
    new = np.empty(L)
    for t in range(T - 1, -1, -1):
        mix_rows(future[t], start, column, weight, t * P, G)
        mix_rows(W, own_start, own_column, own_weight, t * P, ahead)
        factor = gamma if t < H0 else 1.0
        for y in range(L):
            best = -np.inf
            for a in range(A):
                z, n = z_LA[y, a], n_LA[y, a]
                mean, later = 0.0, 0.0
                for c in range(C):
                    mean += n_weight[t, n, c] * G[z, n_corner[t, n, c]]
                    later += n_weight[t, n, c] * ahead[z, n_corner[t, n, c]]
                q = reward[t, r_LA[y, a]] + gamma * mean + factor * later + barred_LA[y, a]
                if q > best:
                    best = q
            new[y] = best - now_TL[t, y]
        W[:] = new.reshape(W.shape)
