"""A transition law in two factors: an exogenous chain, and the other variables while it stands.

The state has an exogenous part z and an endogenous part q; as one number it is z·|Q| + q, which is
also x·|Y| + y. The slow state x is all of z or its first variables; the fast state has the rest.

    z' ~ P(z, ·)        q' ~ inner(· | z, q, a), independent of z'

Written out, the law would have (non-zeros of P) times (non-zeros of the inner law) transitions.
That is not necessary:

    E[U(z', q')] = E_inner[Ū(z, q')]        with        Ū(z, q) = Σ_z' P(z, z') U(z', q),

so every operator averages over z' first, row by row, and is then that of the inner law, in which z
stands still. That law is `Rows`; the pairs (q, a) that lead to the same q' share a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fsdash.core.axis import read_only
from fsdash.core.draws import LowerKernel, greedy_rows, pick_action
from fsdash.core.kernels import choose, jit, widest_change
from fsdash.core.law import NextStateLaw, Policies, TransitionLaw
from fsdash.core.policy_chain import RowChain, average_exogenous
from fsdash.core.row_kernels import SWEEPS_PER_CHECK, look_up, next_state, row_means
from fsdash.core.row_samples import (
    RowCdf,
    alias_tables,
    draw_target,
    invert_row,
    row_cdf,
    rows_at,
)
from fsdash.core.rows import EXOGENOUS_TOLERANCE, INDEX, Rows
from fsdash.core.threads import split
from fsdash.errors import InputError


class ExogenousChain(NamedTuple):
    """P(z, z') as sparse rows: those of z are start_Z[z] to start_Z[z + 1] − 1."""

    start_Z: np.ndarray
    to_N: np.ndarray
    probability_N: np.ndarray

    @classmethod
    def of(cls, P: sparse.csr_array) -> ExogenousChain:
        """Take the rows of a matrix whose rows sum to 1."""
        P = sparse.csr_array(P, copy=True)
        P.sum_duplicates()
        start_Z, to_N = P.indptr.astype(np.int64), P.indices.astype(INDEX)
        return cls(read_only(start_Z), read_only(to_N), read_only(P.data.astype(float)))

    def matrix(self) -> sparse.csr_array:
        """Return P as a matrix of its own, which may be changed."""
        n, entries = len(self.start_Z) - 1, (self.probability_N, self.to_N, self.start_Z)
        return sparse.csr_array(entries, shape=(n, n), copy=True)


class FactoredStep(NamedTuple):
    """The inner rows and the chain, for one step of a path."""

    row_XYA: np.ndarray
    start_R: np.ndarray
    target_N: np.ndarray
    probability_N: np.ndarray
    exogenous: ExogenousChain


@dataclass(frozen=True, eq=False)
class Factored(TransitionLaw):
    """An exogenous chain times the law of the other variables while z stands (`inner`)."""

    exogenous: ExogenousChain
    inner: Rows

    @property
    def shape(self) -> tuple[int, ...]:
        return self.inner.shape

    @property
    def row_XYA(self) -> np.ndarray:
        """The inner row of each pair; row 0 marks an infeasible action."""
        return self.inner.row_XYA

    def with_rows(self, row_XYA: np.ndarray) -> Factored:
        """Return the law with other rows for the pairs."""
        return replace(self, inner=self.inner.with_rows(row_XYA))

    @property
    def n_exogenous(self) -> int:
        """The number of exogenous states |Z|."""
        return len(self.exogenous.start_Z) - 1

    @property
    def n_endogenous(self) -> int:
        """The number of endogenous states |Q|."""
        X, Y, _ = self.shape
        return X * Y // self.n_exogenous

    @property
    def n_fast_exogenous(self) -> int:
        """Exogenous states for each slow state; 1 if all exogenous variables are slow."""
        return self.n_exogenous // self.shape[0]

    @cached_property
    def exogenous_gap(self) -> float:
        F = self.n_fast_exogenous
        if F == 1:
            return 0.0
        P, Z = self.exogenous.matrix(), self.n_exogenous
        slow = sparse.csr_array((P.data, P.indices // F, P.indptr), shape=(Z, self.shape[0]))
        slow.sum_duplicates()
        first_Z = np.arange(Z) // F * F
        return float(np.abs(slow - slow[first_Z]).sum(axis=1).max())

    @property
    def exogenous_slow(self) -> bool:
        return self.exogenous_gap <= EXOGENOUS_TOLERANCE

    @cached_property
    def noise_free_fast(self) -> bool:
        start_Z, to_N, _ = self.exogenous
        fast_N = to_N % self.n_fast_exogenous
        first_N = np.repeat(start_Z[:-1], np.diff(start_Z))
        return self.inner.noise_free_fast and bool((fast_N == fast_N[first_N]).all())

    @cached_property
    def outcomes(self) -> int:
        length_ZP = np.diff(self.inner.start_R)[self.row_XYA].reshape(self.n_exogenous, -1)
        total = np.diff(self.exogenous.start_Z) @ length_ZP.sum(axis=1)
        return int(np.ceil(total / np.count_nonzero(length_ZP)))

    @property
    def terms(self) -> int:
        return int(np.diff(self.exogenous.start_Z).max()) + self.inner.longest

    @property
    def entries(self) -> int:
        return len(self.exogenous.to_N) + self.inner.entries

    @property
    def nbytes(self) -> int:
        return self.inner.nbytes + sum(a.nbytes for a in self.exogenous)

    @property
    def description(self) -> str:
        chain = f"{len(self.exogenous.to_N):,} of {self.n_exogenous:,} exogenous states"
        return f"{self.entries:,} probabilities, {chain}"

    def frozen(self, real_XY: np.ndarray) -> Rows | Factored:
        """Return the law with x' = x; the fast part of z moves as in the true law."""
        F = self.n_fast_exogenous
        if F == 1:
            return self.inner
        P, Z = self.exogenous.matrix(), self.n_exogenous
        stay_N = np.repeat(np.arange(Z) // F * F, np.diff(P.indptr))
        matrix = sparse.csr_array((P.data, stay_N + P.indices % F, P.indptr), shape=(Z, Z))
        return replace(self, exogenous=ExogenousChain.of(matrix))

    def follow(self, policy_XY: np.ndarray) -> Factored:
        return replace(self, inner=self.inner.follow(policy_XY))

    def average(self, U_XY: np.ndarray) -> np.ndarray:
        """Return Ū(z, q) = Σ_z' P(z, z') U(z', q), in the shape of U."""
        U_ZQ = U_XY.reshape(self.n_exogenous, -1)
        out_ZQ = np.empty_like(U_ZQ)

        def block(i: int, j: int) -> None:
            average_exogenous(i, j, *self.exogenous, U_ZQ, out_ZQ)

        split(block, len(U_ZQ), len(self.exogenous.to_N) * U_ZQ.shape[1])
        return out_ZQ.reshape(U_XY.shape)

    def expect(self, U_XY: np.ndarray) -> np.ndarray:
        return self.inner.expect(self.average(U_XY))

    def bellman(
        self, reward_XYA: np.ndarray, gamma: float, U_XY: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.inner.bellman(reward_XYA, gamma, self.average(U_XY))

    def policy_sweeps(
        self,
        reward_XYA: np.ndarray,
        policy_XY: np.ndarray,
        gamma: float,
        m: int,
        goal: float,
        U_XY: np.ndarray,
    ) -> int:
        inner = self.inner.follow(policy_XY)
        reward_S = choose(reward_XYA[..., None], policy_XY).reshape(-1)
        law = (inner.row_XYA.reshape(-1), *inner.step[1:], *self.exogenous)
        return sweep_factored(reward_S, *law, gamma, m, goal, U_XY)

    def chain(self, reward_XYA: np.ndarray, policy_PXY: np.ndarray, gamma: float) -> RowChain:
        chain = RowChain.of(self.inner, reward_XYA, policy_PXY, gamma)
        return replace(chain, exogenous=tuple(self.exogenous))

    def push_forward(self, m_XY: np.ndarray) -> np.ndarray:
        moved_XY = self.inner.push_forward(m_XY)
        moved_ZQ = moved_XY.reshape(self.n_exogenous, -1)
        return np.asarray(self.exogenous.matrix().T @ moved_ZQ).reshape(m_XY.shape)

    def slow_kernel(self) -> np.ndarray:
        X, F = self.shape[0], self.n_fast_exogenous
        P_XX, first = np.zeros((X, X)), self.exogenous.matrix()[np.arange(X) * F].tocoo()
        np.add.at(P_XX, (first.row, first.col // F), first.data)
        return P_XX

    def next_states(self, x: int, y: int, a: int) -> NextStateLaw:
        (_, Y, _), Q = self.shape, self.n_endogenous
        z, row = (x * Y + y) // Q, self.row_XYA[x, y, a]
        here = slice(*self.exogenous.start_Z[z : z + 2])
        to_Z, p_Z = self.exogenous.to_N[here].astype(np.int64), self.exogenous.probability_N[here]
        to_Q = self.inner.targets(row).astype(np.int64) % Q
        state_K = (to_Z[:, None] * Q + to_Q).reshape(-1)
        return NextStateLaw(
            state_K // Y, state_K % Y, np.outer(p_Z, self.inner.probabilities(row)).reshape(-1)
        )

    def stages(self) -> Iterator[Iterator[tuple[np.ndarray, np.ndarray]]]:
        yield self._exogenous_terms()
        yield from self.inner.stages()

    def _exogenous_terms(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The first, second, … next exogenous state, with the endogenous state unchanged."""
        start_Z, to_N, p_N = self.exogenous
        length_Z, q_Q = np.diff(start_Z)[:, None], np.arange(self.n_endogenous)
        for i in range(int(length_Z.max())):
            place_Z1 = np.where(length_Z > i, start_Z[:-1, None] + i, 0)
            target_ZQ = to_N[place_Z1].astype(np.int64) * self.n_endogenous + q_Q
            yield np.where(length_Z > i, p_N[place_Z1], 0.0), target_ZQ

    def per_pair(self, values: np.ndarray) -> np.ndarray:
        return self.inner.per_pair(values)

    def supports(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        yield from self.to_rows(self.row_XYA > 0).supports()

    def stays(self) -> np.ndarray:
        start_Z, to_N, _ = self.exogenous
        first_Z = to_N[start_Z[:-1]]
        stays_Z = (np.diff(start_Z) == 1) & (first_Z == np.arange(self.n_exogenous))
        stays_XYA = self.inner.stays().reshape(self.n_exogenous, -1) & stays_Z[:, None]
        return stays_XYA.reshape(self.shape)

    def to_rows_size(self) -> int:
        length_Z, length_R = np.diff(self.exogenous.start_Z), np.diff(self.inner.start_R)
        first_R = np.append(self.inner.target_N, 0)[self.inner.start_R[:-1]]  # row 0 is empty
        return int(length_R @ length_Z[first_R // self.n_endogenous])

    def to_rows(self, feasible_XYA: np.ndarray, most: int | None = None) -> Rows:
        inner, S = self.inner, self.n_exogenous * self.n_endogenous
        if most is not None and (needed := self.to_rows_size()) > most:
            raise InputError(
                f"the law has {needed:,} transitions when it is written out, more than {most:,} "
                "transitions; use a coarser model"
            )
        matrix = sparse.csr_array(
            (inner.probability_N, inner.target_N.astype(np.int64), inner.start_R),
            shape=(inner.n_rows, S),
        ) @ sparse.kron(self.exogenous.matrix(), sparse.eye_array(self.n_endogenous), format="csr")
        matrix.sort_indices()
        arrays = (matrix.indptr.astype(np.int64), matrix.indices.astype(INDEX), matrix.data)
        return Rows(inner.row_XYA, *map(read_only, arrays))

    def draw_noise(self, rng: np.random.Generator, steps: int) -> np.ndarray:
        return rng.random(steps)

    @property
    def step(self) -> FactoredStep:
        return FactoredStep(*self.inner.step, self.exogenous)

    def fast_noise(
        self, noise_N: np.ndarray, x_N: np.ndarray, y_N: np.ndarray, action_N: np.ndarray
    ) -> np.ndarray:
        """Return the part of each uniform number that picked y' after x' was picked."""
        z_N = (x_N * self.shape[1] + y_N) // self.n_endogenous
        picked_N = np.empty(len(noise_N))
        split_exogenous(*self.exogenous, self.n_fast_exogenous, noise_N, z_N, picked_N)
        return picked_N

    def at_quantiles(self, pair_N: np.ndarray, u_N: np.ndarray) -> np.ndarray:
        target_N = np.empty(len(pair_N), np.int64)
        draw_factored(self.step, self.shape[2], self.n_endogenous, pair_N, u_N, target_N)
        return target_N

    def samples(self, M: int, lower: Policies | None = None) -> FactoredSamples:
        return FactoredSamples(self, M, lower)


class FactoredSamples:
    """M draws from each pair, and paths that follow the policies `lower` after their first step.

    The rows of K are products and seldom sparse, so paths are always simulated.
    """

    def __init__(self, law: Factored, M: int, lower: Policies | None = None) -> None:
        self.law, self.M, self.row_XYA = law, M, law.row_XYA
        X, Y, _ = law.shape
        policies = () if lower is None else lower
        rows = [rows_at(law.row_XYA, np.asarray(policy_XY)) for policy_XY in policies]
        self.row_TS = np.array(rows, INDEX).reshape(len(rows), X * Y)

    @cached_property
    def tables(self) -> tuple:
        """Alias tables and CDFs of the inner rows, and of the chain."""
        start_Z, to_N, p_N = self.law.exogenous
        chain = alias_tables(start_Z, to_N, p_N, self.law.n_exogenous)
        inner, (X, Y, _) = self.law.inner, self.law.shape
        rows = alias_tables(inner.start_R, inner.target_N, inner.probability_N, X * Y)
        return rows, inner.cdf, chain, RowCdf(start_Z, to_N, row_cdf(start_Z, p_N))

    def under(self, policy_XY: np.ndarray) -> FactoredSamples:
        """The draws of a policy, which has one action in each state."""
        followed = FactoredSamples(self.law, self.M)
        followed.row_XYA = rows_at(self.law.row_XYA, policy_XY.astype(np.int64))
        followed.__dict__["tables"] = self.tables
        return followed

    def one_step(
        self, rng, common, random, reward_XYA, gamma, U_XY, states_N, Q_NA, greedy_N
    ) -> None:
        """Set the sampled Q and a greedy action of some states."""
        values = (reward_XYA, gamma, 0.0, U_XY, np.zeros_like(U_XY))
        nothing = (np.empty((0, self.row_TS.shape[1]), INDEX), np.empty((0, 0, 0), INDEX))
        self._simulate(
            nothing[0], rng, common, random, *values, states_N, Q_NA, greedy_N, nothing[1]
        )

    def lower_kernel(self, widest: int, limit: int) -> LowerKernel | None:
        return None

    def simulate(self, *how) -> None:
        """Sample the T-step Q by paths, and store their ends unless `end_NAM` is empty."""
        self._simulate(self.row_TS, *how)

    def _simulate(self, row_TS: np.ndarray, *how) -> None:
        law = (*self.tables, self.law.n_endogenous, row_TS, self.row_XYA)
        q_by_factored_simulation(*law, self.M, *how)

    def agnostic(
        self, real_XY, rng, common, random, reward_XYA, allowed_YA, gamma, U_Y, start, best, greedy
    ) -> None:
        """Set the sampled maximum and a greedy action of fast states, with x drawn uniformly."""
        (X, Y, A), N, M = self.law.shape, len(best), self.M
        actions = 1 if common else A
        x_NAM = np.broadcast_to(rng.integers(X, size=(N, actions, M)), (N, A, M))
        u_NAM = np.broadcast_to(rng.random((N, actions, M)), (N, A, M))
        y_N11, a_A1 = np.arange(start, start + N)[:, None, None], np.arange(A)[:, None]
        pair_NAM = (x_NAM * Y + y_N11) * A + a_A1
        allowed_NA = allowed_YA[start : start + N]
        feasible_NAM = np.broadcast_to(allowed_NA[:, :, None], pair_NAM.shape)
        next_K = self.law.at_quantiles(pair_NAM[feasible_NAM], u_NAM[feasible_NAM])
        value_NAM = np.full(pair_NAM.shape, -np.inf)
        reward_K = reward_XYA.reshape(-1)[pair_NAM[feasible_NAM]]
        value_NAM[feasible_NAM] = reward_K + gamma * U_Y[next_K % Y]
        Q_NA = value_NAM.mean(axis=2)
        greedy[:] = greedy_rows(rng, Q_NA, random)
        best[:] = Q_NA[np.arange(N), greedy]


@jit
def sweep_factored(
    reward_S, row_S, start_R, target_N, probability_N, start_Z, to_N, p_N, gamma, m, goal, U_XY
):
    """Make up to m sweeps U ← r + γ E[U] of one policy, in place; return how many were made.

    Every fifth sweep measures the change δ; the sweeps end when max_x (max_y δ − min_y δ) ≤ goal.
    """
    Z = len(start_Z) - 1
    U_S, U_ZQ = U_XY.reshape(-1), U_XY.reshape(Z, U_XY.size // Z)
    average_ZQ, before_XY = np.empty_like(U_ZQ), np.empty_like(U_XY)
    mean_R = np.empty(len(start_R) - 1)
    for n in range(1, m + 1):
        measure = n % SWEEPS_PER_CHECK == 0
        if measure:
            before_XY[:] = U_XY
        average_exogenous(0, Z, start_Z, to_N, p_N, U_ZQ, average_ZQ)
        average_S = average_ZQ.reshape(-1)
        row_means(start_R[:-1], start_R[1:], target_N, probability_N, average_S, mean_R)
        look_up(reward_S, row_S, mean_R, gamma, U_S)
        if measure and widest_change(before_XY, U_XY) <= goal:
            return n
    return m


@jit
def next_factored(step, Q, s, row, u):
    """Return the next state at the quantile u: first z', then q' by what is left of u."""
    start_Z, to_N, p_N = step.exogenous
    i, last = start_Z[s // Q], start_Z[s // Q + 1] - 1
    low, high = 0.0, p_N[i]
    while u >= high and i < last:
        i += 1
        low, high = high, high + p_N[i]
    left = min(max((u - low) / (high - low), 0.0), 1.0)
    inner = next_state(step.start_R, step.target_N, step.probability_N, row, left)
    return np.int64(to_N[i]) * Q + inner % Q


@jit
def draw_factored(step, A, Q, pair_N, u_N, target_N):
    """Draw one next state of each pair."""
    row_P = step.row_XYA.reshape(-1)
    for n in range(pair_N.size):
        target_N[n] = next_factored(step, Q, pair_N[n] // A, row_P[pair_N[n]], u_N[n])


@jit
def split_exogenous(start_Z, to_N, p_N, F, u_N, z_N, picked_N):
    """Return the part of each uniform number that remains after x' was picked, from 0 to 1."""
    for t in range(u_N.size):
        i, end = start_Z[z_N[t]], start_Z[z_N[t] + 1]
        low = 0.0
        while True:
            slow, high = to_N[i] // F, low
            while i < end and to_N[i] // F == slow:
                high += p_N[i]
                i += 1
            if u_N[t] < high or i == end:
                picked_N[t] = min(max((u_N[t] - low) / (high - low), 0.0), 1.0)
                break
            low = high


@jit
def q_by_factored_simulation(
    rows,
    cdf,
    chain,
    chain_cdf,
    Q,
    row_TS,
    row_XYA,
    M,
    rng,
    common,
    random,
    reward_XYA,
    gamma,
    discount,
    J1_XY,
    V_XY,
    states_N,
    Q_NA,
    greedy_N,
    end_NAM,
):
    """Sample the T-step Q by M paths: the first action, then the rows of π₁, …, π_{T−1}.

    Their ends s_T are stored in `end_NAM` unless it is empty.
    """
    A, J1_S, V_S = Q_NA.shape[1], J1_XY.reshape(-1), V_XY.reshape(-1)
    reward_SA, row_SA = reward_XYA.reshape(-1, A), row_XYA.reshape(-1, A)
    T = len(row_TS) + 1
    u_TM, v_TM = np.empty((T, M)), np.empty((T, M))
    for n in range(greedy_N.size):
        s = states_N[n]
        if common:
            for t in range(T):
                for j in range(M):
                    u_TM[t, j], v_TM[t, j] = rng.random(), rng.random()
        for a in range(A):
            Q_NA[n, a] = -np.inf
            if end_NAM.size > 0:
                end_NAM[n, a, :] = s
            if reward_SA[s, a] == -np.inf:
                continue
            base, total = 0.0, 0.0
            for j in range(M):
                to, value = s, 0.0
                for t in range(T):
                    r = np.int64(row_SA[s, a] if t == 0 else row_TS[t - 1, to])
                    if common:
                        z = np.int64(invert_row(chain_cdf, to // Q, u_TM[t, j]))
                        to = z * Q + np.int64(invert_row(cdf, r, v_TM[t, j])) % Q
                    else:
                        z = np.int64(draw_target(rng, chain, to // Q))
                        to = z * Q + np.int64(draw_target(rng, rows, r)) % Q
                    if t == 0:
                        value = J1_S[to]
                value += discount * V_S[to]
                base = value if j == 0 else base
                total += value - base
                if end_NAM.size > 0:
                    end_NAM[n, a, j] = to
            Q_NA[n, a] = reward_SA[s, a] + gamma * (base + total / M)
        greedy_N[n] = pick_action(rng, Q_NA[n], random)
