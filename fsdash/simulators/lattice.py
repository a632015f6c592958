"""Value iteration for simulators: a lattice in y, nodes in x, polynomials between the nodes.

    frozen   J_0 = 0,  J_n(x, y) = max_a r(x, y, a) + γ E[J_{n−1}(x, y')]     at every node x alone
    thawed   V(x, y) = max_a r(x, y, a) + γ E[V(x', y')],   V(x', ·) = φ(x')ᵀθ,  θ = Φ⁺ V(nodes, ·)

y' is interpolated linearly along continuous coordinates. φ are Chebyshev polynomials of a total
degree, or indicators if the slow state has few values. One frozen chain gives rolling freeze for
every horizon n, and needs no model of x. A function of x alone changes no action if x is
exogenous, so every sweep centres V(x, ·), and sweeps converge quickly although γ is near 1.

`play` is called as little as its structure allows (`Dependence`). Coordinates of y' with noise form
the group Z, those without the group N, and each group is tabulated over the inputs that it reads:

    E[V(x', y') | y, a] = Σ_c weight_c(n) G(z, n_c),   G(z, ·) = Σ_z' P(z' | z) V(z', ·)

where z and n are the rows of (y, a) in the two tables, and n_c are the corners around y'_N. The
noise is therefore averaged once per row of Z, not once per (y, a). Random entries of the tables
are compared with full calls; if one differs, everything is tabulated over everything.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fsdash.core.kernels import jit
from fsdash.errors import InputError
from fsdash.simulators.policy import Features, LatticePolicy, corners
from fsdash.simulators.simulator import Dependence, Driver, Points, Spec, stratified

MAX_POINTS = 150_000
"""Lattice points of y; with more, a lattice needs too much memory and time."""
MAX_ROWS = 200_000
"""Rows of one call of `play`."""
DRAWS, DISCRETE_DRAWS = 32, 128
"""Draws of the noise of y for each node; more of them if y' takes separate values only."""
SLOW_DRAWS, INDICATOR_DRAWS = 64, 256
"""Draws of x' for each node; more of them for indicators, which are not smooth."""
VERIFIED = 16
"""Table entries that are compared with full calls, in every batch."""


class HiddenDependence(Exception):
    """`play` reads an argument that the tests of its structure did not show."""


class Inputs:
    """All combinations of some free coordinates of y, and of the actions if they matter."""

    def __init__(self, layout: Layout, read: np.ndarray) -> None:
        self.coordinates = [j for j in layout.order if read[j]]
        self.sizes = [len(layout.points[j].values) for j in self.coordinates]
        self.actions = layout.A if read[-1] else 1
        self.key = (*self.coordinates, self.actions > 1)
        rows = int(np.prod(self.sizes, dtype=np.int64)) * self.actions
        *index, self.a_P = np.unravel_index(np.arange(rows), (*self.sizes, self.actions))
        self.index_P = dict(zip(self.coordinates, index, strict=True))
        self.y_P = np.tile([p.low for p in layout.points], (rows, 1))
        for j, i in self.index_P.items():
            self.y_P[:, j] = layout.points[j].values[i]

    def __len__(self) -> int:
        return len(self.a_P)

    def place(self, index: Mapping[int, np.ndarray], a: np.ndarray | int) -> np.ndarray:
        """The row with these indices of the coordinates and this action."""
        place: Any = 0
        for j, size in zip(self.coordinates, self.sizes, strict=True):
            place = place * size + index[j]
        return np.asarray(place * self.actions + (a if self.actions > 1 else 0))


class Group:
    """Outputs of `play` over the inputs that any of them reads; each one is played over its own."""

    def __init__(self, layout: Layout, outputs: Sequence[int], reads: np.ndarray) -> None:
        self.outputs = list(outputs)
        self.inputs = Inputs(layout, np.asarray(reads[self.outputs].any(axis=0)))
        self.own = [Inputs(layout, reads[j]) for j in self.outputs]
        index, a = self.inputs.index_P, self.inputs.a_P
        none = np.zeros(len(self.inputs), np.int64)
        self.place_JP = np.array(
            [none + own.place(index, a) for own in self.own] or [none], np.int64
        )
        """The row of each output's own inputs, for every row of the group."""
        place = self.inputs.place({j: i[:, None] for j, i in layout.index_L.items()},
                                  np.arange(layout.A))  # fmt: skip
        self.row_LA = np.broadcast_to(place, (layout.L, layout.A)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class StepTables:
    """The step of every lattice point and action at B slow states (nodes or periods of a path)."""

    start: np.ndarray  # (B·P_Z + 1,): the rows of P(z' | z), one after the other
    column: np.ndarray
    weight: np.ndarray
    n_corner: np.ndarray  # (B, P_N, C)
    n_weight: np.ndarray
    reward: np.ndarray  # (B, P_R)


class Layout:
    """The lattice of some coordinates of y in the order Z, N, and the groups over it.

    The coordinates that are not `free` are given per batch: the exogenous part of y on a path.
    """

    def __init__(
        self, spec: Spec, dependence: Dependence, points: list[Points], free: Sequence[int]
    ) -> None:
        self.points, self.A, self.dependence = points, spec.A, dependence
        noisy = dependence.noisy
        self.z, self.n = [j for j in free if noisy[j]], [j for j in free if not noisy[j]]
        self.order, self.fixed = self.z + self.n, [j for j in range(len(points)) if j not in free]
        self.sizes = [len(points[j].values) for j in self.order]
        self.L = int(np.prod(self.sizes, dtype=np.int64))
        if self.L > MAX_POINTS:
            raise InputError(
                f"the lattice of y would have {self.L:,} points, more than {MAX_POINTS:,}: use "
                "fewer points or fewer coordinates"
            )
        self.Z = int(np.prod(self.sizes[: len(self.z)], dtype=np.int64))
        self.index_L = dict(
            zip(self.order, np.unravel_index(np.arange(self.L), self.sizes), strict=True)
        )
        reward, reads = len(points), dependence.reads
        self.groups = [Group(self, outputs, reads) for outputs in (self.z, self.n, [reward])]
        self.maps = tuple(group.row_LA for group in self.groups)

    @cached_property
    def y_L(self) -> np.ndarray:
        """The free coordinates of the lattice points, in their declared places; others are low."""
        y = np.tile([p.low for p in self.points], (self.L, 1))
        for j in self.order:
            y[:, j] = self.points[j].values[self.index_L[j]]
        return y

    def tables(
        self,
        driver: Driver,
        rng: np.random.Generator,
        x_B: np.ndarray,
        u_BM: np.ndarray,
        *,
        next_BM: np.ndarray | None = None,
        fixed_B: np.ndarray | None = None,
        joint: bool = False,
        noise_only: bool = False,
    ) -> StepTables:
        """Tabulate the step with M draws of the noise each; x is frozen without `next_BM`.

        With `joint`, the columns of P are (m, z'): the values may depend on the draw. With
        `noise_only`, only P is tabulated.
        """
        B, M = u_BM.shape[:2]
        largest = max(len(own) for g in self.groups for own in g.own) * M
        step = max(1, MAX_ROWS // largest)
        parts, offset = [], 0
        for i in range(0, B, step):
            b = slice(i, i + step)
            batch = _Batch(
                self,
                driver,
                x_B[b],
                u_BM[b],
                None if next_BM is None else next_BM[b],
                None if fixed_B is None else fixed_B[b],
            )
            parts.append(batch.tables(rng, joint, noise_only))
        starts = [np.zeros(1, np.int64)]
        for part in parts:
            starts.append(part[0][1:] + offset)
            offset += part[0][-1]
        return StepTables(
            np.concatenate(starts), *(np.concatenate([p[k] for p in parts]) for k in range(1, 6))
        )


class _Batch:
    """One batch of slow states with their noise: calls `play` for each group."""

    def __init__(
        self, layout: Layout, driver: Driver, x_B: Any, u_BM: Any, next_BM: Any, fixed_B: Any
    ) -> None:
        self.layout, self.driver, self.x_B, self.u_BM = layout, driver, x_B, u_BM
        self.next_BM, self.fixed_B = next_BM, fixed_B

    def play(self, y_R: np.ndarray, a_R: np.ndarray, b: Any, m: Any) -> np.ndarray:
        """y' and rewards of rows, each at slow state b and draw m."""
        if self.fixed_B is not None:
            y_R = y_R.copy()
            y_R[:, self.layout.fixed] = self.fixed_B[b][:, self.layout.fixed]
        x = self.x_B[b]
        x_next = x if self.next_BM is None else self.next_BM[b, m]
        return np.column_stack(self.driver.play(x, x_next, y_R, a_R, self.u_BM[b, m]))

    def outputs(self, group: Group, draws: int, played: dict[Any, np.ndarray]) -> list[np.ndarray]:
        """Each output over its own inputs, shape (B, rows, draws); equal calls are made once."""
        B, outputs = len(self.x_B), []
        for j, own in zip(group.outputs, group.own, strict=True):
            if (own.key, draws) not in played:
                b, p, m = np.unravel_index(np.arange(B * len(own) * draws), (B, len(own), draws))
                rows = self.play(own.y_P[p], own.a_P[p], b, m)
                played[own.key, draws] = rows.reshape(B, len(own), draws, -1)
            outputs.append(played[own.key, draws][..., j])
        return outputs

    def tables(
        self, rng: np.random.Generator, joint: bool, noise_only: bool
    ) -> tuple[np.ndarray, ...]:
        layout, (B, M) = self.layout, self.u_BM.shape[:2]
        draws = (M if layout.z else 1, 1, M if layout.dependence.noisy[-1] else 1)
        played: dict[Any, np.ndarray] = {}
        groups = layout.groups[: 1 if noise_only else 3]
        raw = [self.outputs(g, k, played) for g, k in zip(groups, draws, strict=False)]
        self.verify(rng, raw)
        z, n, _ = layout.groups
        repeat = M if joint and draws[0] < M else 1  # no noise in y', but maybe in x'
        low, share = [np.zeros(1, np.int64)], [np.zeros(1)]
        for j, values in zip(z.outputs, raw[0], strict=True):
            index, weight = corners([layout.points[j]], values.reshape(-1, 1))
            low.append(index[:, 0])
            share.append(np.zeros(len(index)) if layout.points[j].exact else weight[:, 1])
        rows = [len(own) for own in z.own]
        offset = 1 + np.cumsum([0, *(B * P * draws[0] for P in rows[:-1])], dtype=np.int64)
        size = np.array([len(layout.points[j].values) for j in z.outputs], np.int64)
        start, column, mean = merge_rows(
            np.concatenate(low), np.concatenate(share), offset[: len(rows)], size,
            np.array(rows, np.int64), z.place_JP, (B, draws[0], repeat), layout.Z, joint,
        )  # fmt: skip
        if noise_only:
            empty = np.empty((B, 0, 1))
            return start, column, mean, empty.astype(np.int32), empty, empty[..., 0]
        columns = [v[:, p, 0].ravel() for v, p in zip(raw[1], n.place_JP, strict=False)]
        y_n = np.column_stack(columns) if columns else np.empty((B * len(n.inputs), 0))
        n_corner, n_weight = corners([layout.points[j] for j in n.outputs], y_n)
        shape = (B, len(n.inputs), -1)
        reward = raw[2][0].mean(axis=2)
        n_corner = n_corner.reshape(shape).astype(np.int32)
        return start, column, mean, n_corner, n_weight.reshape(shape), reward

    def verify(self, rng: np.random.Generator, raw: list[list[np.ndarray]]) -> None:
        """Compare random entries of the groups with full calls."""
        layout, (B, M) = self.layout, self.u_BM.shape[:2]
        b, m, a = (rng.integers(0, k, VERIFIED) for k in (B, M, layout.A))
        rows = rng.integers(0, layout.L, VERIFIED)
        full = self.play(layout.y_L[rows], a, b, m)
        for group, outputs in zip(layout.groups, raw, strict=False):
            p = group.row_LA[rows, a]
            for k, (j, values) in enumerate(zip(group.outputs, outputs, strict=True)):
                tabulated = values[b, group.place_JP[k, p], np.minimum(m, values.shape[2] - 1)]
                if not np.allclose(tabulated, full[:, j], rtol=1e-9, atol=1e-9):
                    raise HiddenDependence


class Lattice:
    """The lattice model of a simulator: nodes, tables, sweeps.

    Parameters
    ----------
    driver : Driver
        Calls the simulator.
    dependence : Dependence
        What `check_simulator` returned.
    rng : np.random.Generator
        Draws nodes and noise.
    coarse : int
        How many intervals of a continuous coordinate are merged into one: 1, 2, 4, …
    draws, nodes : int
        Draws of the noise of y for each node, and the number of nodes (by default enough for the
        polynomials).
    """

    def __init__(
        self,
        driver: Driver,
        dependence: Dependence,
        rng: np.random.Generator,
        *,
        coarse: int = 1,
        draws: int | None = None,
        nodes: int | None = None,
    ) -> None:
        self.driver, spec = driver, driver.spec
        draws = draws or draws_per_node(spec, dependence)
        self.gamma, self.A = spec.gamma, spec.A
        self.points = [p.coarsened(coarse) for p in spec.points]
        self.features = Features.of(spec.slow)
        self.x_N = self.features.nodes(rng, nodes, self._visited)
        self.pinv_FN = np.linalg.pinv(self.features(self.x_N), rcond=1e-6)
        free = range(len(self.points))
        try:
            self.dependence = dependence
            self._tabulate(rng, free, draws)
        except HiddenDependence:
            self.dependence = dependence.full()
            self._tabulate(rng, free, draws)

    def _visited(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Slow states at random times of simulated paths; only first states without `move`."""
        x, _ = self.driver.initial(rng, count)
        periods = round(1 / (1 - self.gamma)) if self.driver.moves else 0
        stop = rng.integers(0, periods + 1, count)
        for t in range(periods):
            moved = self.driver.move(x, self.driver.noise(rng, count))
            x = np.where((t < stop)[:, None], moved, x)
        return x

    def _tabulate(self, rng: np.random.Generator, free: Sequence[int], draws: int) -> None:
        driver, N = self.driver, len(self.x_N)
        self.layout = Layout(driver.spec, self.dependence, self.points, free)
        noise, D = driver.spec.noise, self.dependence
        M = draws
        u_NM = np.broadcast_to(stratified(rng, M, noise, middle=True), (N, M, noise))
        self.frozen = self.layout.tables(driver, rng, self.x_N, u_NM)
        feasible_LA = driver.feasible(self.layout.y_L)
        self.barred_LA = np.where(feasible_LA, 0.0, -np.inf)
        if not driver.moves:
            return
        if D.separate:
            self.thawed = self.frozen
            smooth = self.features.powers_FD is not None
            count = SLOW_DRAWS if smooth else INDICATOR_DRAWS
            u = stratified(rng, count, noise, middle=True)
        else:
            u = u_NM[0] if M > 1 else stratified(rng, DRAWS, noise, middle=True)
        x_next = driver.move(np.repeat(self.x_N, len(u), 0), np.tile(u, (N, 1)))
        phi = self.features(x_next).reshape(N, len(u), -1)
        if D.separate:
            phi = phi.mean(axis=1, keepdims=True)
        else:
            next_NM = x_next.reshape(N, len(u), -1)
            u_NM = np.broadcast_to(u, (N, *u.shape))
            self.thawed = self.layout.tables(
                driver, rng, self.x_N, u_NM, next_BM=next_NM, joint=True
            )
        self.W_NGN = phi @ self.pinv_FN
        """Values at the nodes → values at x' (for each draw, if x' and y' are not independent)."""

    def _sweep(
        self, V_NL: np.ndarray, thaw: bool, policy_NL: np.ndarray | None = None, want: str = "max"
    ) -> np.ndarray:
        """One sweep: the maxima, the values of a policy, or all Q values (`want` = "Q")."""
        tables, N, layout = self.thawed if thaw else self.frozen, len(V_NL), self.layout
        E = self.W_NGN.reshape(-1, N) @ V_NL if thaw else V_NL
        E = E.reshape(N, -1, layout.L // layout.Z)
        shape = (N, layout.L, self.A) if want == "Q" else (N, layout.L, 1)
        out, policy = np.empty(shape), np.zeros((1, 1), np.int32)
        mode = 2 if want == "Q" else 0
        if policy_NL is not None:
            mode, policy = 1, policy_NL
        sweep_tables(
            E, tables.start, tables.column, tables.weight, tables.n_corner, tables.n_weight,
            tables.reward, *layout.maps, self.barred_LA, self.gamma, mode, policy, out,
        )  # fmt: skip
        return out if want == "Q" else out[:, :, 0]

    def chain(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield n and J_{n−1} (centred) for n = 1, 2, 3, …: rolling freeze is greedy for it."""
        V_NL = np.zeros((len(self.x_N), self.layout.L))
        for n in itertools.count(1):
            yield n, V_NL
            V_NL = centred(self._sweep(V_NL, thaw=False))

    def solve(
        self, V_NL: np.ndarray, tolerance: float = 3e-4, cycles: int = 60, steps: int = 25
    ) -> Iterator[tuple[float, np.ndarray]]:
        """Yield the change and V after each cycle of thawed modified policy iteration.

        The change is the span of the residual as a share of the span of V; it ends below
        `tolerance`.
        """
        for _ in range(cycles):
            Q = self._sweep(V_NL, thaw=True, want="Q")
            policy = Q.argmax(axis=2).astype(np.int32)
            new = centred(np.take_along_axis(Q, policy[:, :, None], 2)[:, :, 0])
            change = float(np.abs(new - V_NL).max() / max(np.abs(new).max(), 1e-300))
            V_NL = new
            if not np.isfinite(change):
                raise InputError("thawed sweeps diverge: the polynomials in x do not fit")
            yield change, V_NL
            if change < tolerance:
                return
            for _ in range(steps):
                V_NL = centred(self._sweep(V_NL, True, policy))

    def levelled(self, V_NL: np.ndarray) -> np.ndarray:
        """V plus the function of x that makes the mean residual of every node 0."""
        residual = self._sweep(V_NL, True).mean(axis=1) - V_NL.mean(axis=1)
        W_NN = self.W_NGN.mean(axis=1)
        return V_NL + np.linalg.solve(np.eye(len(W_NN)) - self.gamma * W_NN, residual)[:, None]

    def coefficients(self, V_NL: np.ndarray) -> np.ndarray:
        """θ with V(x, y) = φ(x)ᵀθ(y), its axes in the order of the fast coordinates."""
        theta = (self.pinv_FN @ V_NL).reshape(-1, *self.layout.sizes)
        return np.transpose(theta, [0, *(1 + np.argsort(self.layout.order))])

    def policy(self, V_NL: np.ndarray, thaw: bool, name: str) -> LatticePolicy:
        """The policy that is greedy for V, its Q values interpolated in x and y."""
        Q = self._sweep(V_NL, thaw, want="Q")
        feasible_LA = np.isfinite(self.barred_LA)
        Q = np.where(feasible_LA, Q, 0.0)
        # Only differences between actions matter, and they need fewer digits.
        Q -= Q.sum(axis=2, keepdims=True) / feasible_LA.sum(axis=1)[:, None]
        order = np.argsort(self.layout.order)

        def by_coordinate(table: np.ndarray, axis: int) -> np.ndarray:
            """Reorder a lattice axis to the order of the fast coordinates."""
            before, after = table.shape[:axis], table.shape[axis + 1 :]
            split = table.reshape(*before, *self.layout.sizes, *after)
            axes = [*range(axis), *(axis + order), *range(axis + len(order), split.ndim)]
            return np.transpose(split, axes).reshape(table.shape)

        theta_FLA = np.tensordot(self.pinv_FN, Q, 1)
        theta_LFA = np.swapaxes(by_coordinate(theta_FLA, 1), 0, 1)
        return LatticePolicy(
            self.driver.spec,
            self.features,
            self.points,
            np.ascontiguousarray(theta_LFA, np.float32),
            by_coordinate(feasible_LA, 0),
            name,
        )


def draws_per_node(spec: Spec, dependence: Dependence) -> int:
    noisy = [p for p, noise in zip(spec.points, dependence.noisy, strict=False) if noise]
    if any(p.exact for p in noisy):
        return DISCRETE_DRAWS
    return DRAWS if dependence.noisy.any() else 1


def centred(V_NL: np.ndarray) -> np.ndarray:
    return V_NL - V_NL.mean(axis=1, keepdims=True)


def merge_rows(
    low: np.ndarray, share: np.ndarray, offset_J: np.ndarray, size_J: np.ndarray,
    rows_J: np.ndarray, place_JP: np.ndarray, shape: tuple[int, int, int], Z: int, joint: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """P(z' | z) as sparse rows (start, column, weight), one entry for each different column.

    Output j of slow state b, own row p and draw m is at offset_J[j] + (b·rows_J[j] + p)·M + m in
    `low` (the lattice point below it) and `share` (the weight of the point above it).
    """
    B, M, repeat = shape
    P, corners = place_JP.shape[1], 2 ** len(size_J) if share.any() else 1
    start = np.zeros(B * P + 1, np.int64)
    place = np.full(Z * (M * repeat if joint else 1), -1, np.int64)
    room = B * P * min(M * repeat * corners, len(place))
    column, weight = np.empty(room, np.int32), np.empty(room)
    merge_kernel(
        low, share, offset_J, size_J, rows_J, place_JP, B, M, repeat, Z, joint, corners, place,
        start, column, weight,
    )  # fmt: skip
    return start, column[: start[-1]].copy(), weight[: start[-1]].copy()


@jit
def merge_kernel(
    low, share, offset_J, size_J, rows_J, place_JP, B, M, repeat, Z, joint, corners, place, start,
    column, weight,
):  # fmt: skip
    J, P = offset_J.size, place_JP.shape[1]
    draw, times = np.empty(M, np.int64), np.empty(M)
    count = 0
    for b in range(B):
        different = 0
        for m in range(M):  # equal draws are counted once, unless the values depend on the draw
            k = different if joint else 0
            while k < different and not same_draw(low, share, offset_J, rows_J, b, M, m, draw[k]):
                k += 1
            if k == different:
                draw[k], times[k] = m, 0.0
                different += 1
            times[k] += 1.0
        for p in range(P):
            first = count
            for k in range(different):
                m = draw[k]
                for corner in range(corners):
                    z, w = 0, times[k] / (M * repeat)
                    for j in range(J):
                        i = offset_J[j] + (b * rows_J[j] + place_JP[j, p]) * M + m
                        up = (corner >> j) & 1
                        w *= share[i] if up else 1.0 - share[i]
                        z = z * size_J[j] + low[i] + up
                        if w == 0.0:
                            break
                    if w == 0.0:
                        continue
                    for copy in range(repeat):
                        c = z + Z * (m + copy) if joint else z
                        if place[c] < first:
                            place[c] = count
                            column[count] = c
                            weight[count] = 0.0
                            count += 1
                        weight[place[c]] += w
            start[b * P + p + 1] = count


@jit
def same_draw(low, share, offset_J, rows_J, b, M, m, other):
    """Whether two draws lead to the same y' from everywhere."""
    for j in range(offset_J.size):
        first = offset_J[j] + b * rows_J[j] * M
        for i in range(first, first + rows_J[j] * M, M):
            if low[i + m] != low[i + other] or share[i + m] != share[i + other]:
                return False
    return True


@jit
def mix_rows(E, start, column, weight, first, G):
    """G(z, ·) = Σ_z' P(z' | z) E(z', ·) for the rows of one slow state, from row `first` on."""
    P, N = G.shape
    for p in range(P):
        for n in range(N):
            G[p, n] = 0.0
        for k in range(start[first + p], start[first + p + 1]):
            w, c = weight[k], column[k]
            for n in range(N):
                G[p, n] += w * E[c, n]


@jit
def sweep_tables(
    E, start, column, weight, n_corner, n_weight, reward, z_LA, n_LA, r_LA, barred_LA, gamma, mode,
    policy_NL, out,
):  # fmt: skip
    """Back up all lattice points: mode 0 the maximum, 1 the value of a policy, 2 all actions."""
    B, _, NN = E.shape
    L, A = z_LA.shape
    C = n_corner.shape[2]
    P = (start.size - 1) // B
    G = np.empty((P, NN))
    for b in range(B):
        mix_rows(E[b], start, column, weight, b * P, G)
        for y in range(L):
            best = -np.inf
            first = policy_NL[b, y] if mode == 1 else 0
            last = first + 1 if mode == 1 else A
            for a in range(first, last):
                z, n = z_LA[y, a], n_LA[y, a]
                mean = 0.0
                for c in range(C):
                    mean += n_weight[b, n, c] * G[z, n_corner[b, n, c]]
                q = reward[b, r_LA[y, a]] + gamma * mean + barred_LA[y, a]
                if mode == 2:
                    out[b, y, a] = q
                elif q > best:
                    best = q
            if mode != 2:
                out[b, y, 0] = best
