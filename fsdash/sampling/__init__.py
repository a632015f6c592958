"""Sampled versions of the Bellman operators, drawn as counts: the same distribution for less work.

    one step   Q(s, a) = r + γ · 1/M Σ_j U(s^(a,j))
    T steps    Q(s, a) = r + 1/M Σ_j [γ J₁(s₁^(a,j)) + γᵀ V(s_T^(a,j))]

with M independent samples from the generative model for each (s, a) (appendix "Empirical Versions
of VI and FSVI"). A mean over M draws depends on the count of each outcome, not on their order, and
the counts are multinomial. First the number of draws that are not the most likely outcome is drawn,
which is binomial (inverse CDF, from a table); then the outcome of each of those.

The T-step sample has two forms. With K the (T−1)-step kernel of the lower policy π₁, …, π_{T−1}:

    counts      n(s₁) is multinomial over the noise, and n(s_T | s₁) multinomial over the row
                K(s₁, ·), so s₁ and s_T have the joint distribution of a path.
    simulation  M paths of T steps, if K has too many non-zeros to be formed.

Simulated noise is drawn in runs of its most likely outcome, with one random number per run. The
model's structure chooses the form (`Sampling.sparse`). Both forms have exactly the joint
distribution of plain sampling. With only one outcome, the mean is exact and nothing is drawn.

Two options reduce the noise. With an exogenous slow state, values can be centred within each slow
state (`centred`). Common random numbers can be used for all actions of a state: the same counts for
one step, the same noise path for T steps (always simulated, because a row of K does not show its
noise). Ties go to the first action or to a random one among exact ties, drawn from the same
generator.

Work is counted in value-function evaluations as plain sampling makes them: |S||A|M for one step,
2|S||A|M for T steps (J₁ and V). The implementation makes about 1 + M·P(not the most likely outcome)
draws for each (s, a).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise

import numpy as np

from fsdash.core.draws import draw_counts, greedy_rows, invert, multinomial, pick_action
from fsdash.sampling.next_states import NextStates, Structure, structure_from_samples
from fsdash.sampling.one_step import Sampler, States, centred
from fsdash.sampling.options import TIES, Sampling, check_samples
from fsdash.sampling.states import StateSample
from fsdash.sampling.upper import StoredPaths, UpperSampler

AnySampler = Sampler | UpperSampler | StoredPaths

__all__ = [
    "TIES",
    "AnySampler",
    "NextStates",
    "Sampler",
    "Sampling",
    "StateSample",
    "States",
    "StoredPaths",
    "Structure",
    "UpperSampler",
    "backup",
    "centred",
    "check_samples",
    "draw_counts",
    "greedy",
    "greedy_rows",
    "invert",
    "multinomial",
    "pick_action",
    "policy_rngs",
    "ranges",
    "structure_from_samples",
    "sweep",
    "sweeps",
]


def backup(
    sampler: AnySampler,
    U_XY: np.ndarray,
    rng: np.random.Generator,
    states: States = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sampled maximum and a greedy action for flattened states, all by default."""
    Q_NA, greedy_N = sampler.q_values(U_XY, rng, states)
    return Q_NA[np.arange(len(Q_NA)), greedy_N], greedy_N


def greedy(sampler: AnySampler, U_XY: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a policy π_XY that is greedy for U, from separate samples."""
    return backup(sampler, U_XY, rng)[1].reshape(U_XY.shape)


def sweep(
    sampler: AnySampler, U_XY: np.ndarray, rng: np.random.Generator, parts: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Make one sweep in parts; yield the number of states updated so far and the values.

    Every state is updated from the values before the sweep, so the number of parts does not change
    the result.
    """
    new_S = np.array(U_XY, float).reshape(-1)
    for start, stop in ranges(len(new_S), parts):
        new_S[start:stop] = backup(sampler, U_XY, rng, range(start, stop))[0]
        yield stop, new_S.reshape(U_XY.shape).copy()


def sweeps(
    sampler: AnySampler, U_XY: np.ndarray, rng: np.random.Generator, parts: int, first: int = 0
) -> Iterator[tuple[int, int, np.ndarray, np.random.Generator]]:
    """Make sweeps without end, in parts, starting with the initial values.

    Yields the number of completed sweeps, the states updated in the current sweep, the values, and
    a generator for extracting their policy. With `first`, U is the result of that many sweeps, and
    the next one follows.
    """
    if first == 0:
        yield 0, 0, U_XY.copy(), rng.spawn(1)[0]
    for k in count(first):
        inside_rng, end_rng = policy_rngs(rng)
        next_XY = U_XY
        for updated, next_XY in sweep(sampler, U_XY, rng, parts):
            yield k, updated, next_XY, end_rng if updated == U_XY.size else inside_rng
        U_XY = next_XY


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Split 0, …, n into ranges (start, stop) whose lengths differ by at most one."""
    stops = [n * i // parts for i in range(parts + 1)]
    return list(pairwise(stops))


def policy_rngs(rng: np.random.Generator) -> tuple[np.random.Generator, np.random.Generator]:
    """Return generators for the policies extracted within one sweep and at its end.

    They are spawned from the run's generator, so extracting policies does not change the run, and
    extracting one within a sweep does not change the one at its end.
    """
    inside_rng, end_rng = rng.spawn(2)
    return inside_rng, end_rng
