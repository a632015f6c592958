"""Sampled versions of the Bellman operators, drawn as counts: the same distribution, less work.

    one step   Q(s, a) = r + γ · 1/M Σ_j U(s^(a,j))
    T steps    Q(s, a) = r + 1/M Σ_j [γ J₁(s₁^(a,j)) + γᵀ V(s_T^(a,j))]

with M independent samples from the generative model for each (s, a) (appendix "Empirical Versions
of VI and FSVI"). A mean over M draws depends on how often each outcome came up, not on the order,
and those counts are multinomial. They are drawn dominant outcome first: how many of the M draws are
something else is binomial (inverse CDF, from a table), and only those are then told apart.

The T-step sample has two forms. With K the (T−1)-step kernel of the lower policy π₁, …, π_{T−1}:

    counts      n(s₁) is multinomial over the noise, and n(s_T | s₁) multinomial over the row
                K(s₁, ·): s₁ and s_T stay on one path, which is all that the joint law says.
    simulation  M paths of T steps, where K has too many non-zeros to be worth forming.

Simulated noise is drawn in runs of its most likely outcome, one random number a run. The form is
chosen by the model (`UpperSampler.sparse`). Both have exactly the joint distribution of
plain sampling; where there is one outcome the mean is exact and nothing is drawn.

Random numbers common to all actions of a state are an option: the same counts for one step, the
same noise path for T steps (then simulated, since a row of K hides its noise). Ties go to the first
action or to a random one among exact ties, drawn from the same generator.

Work, counted in value-function evaluations as plain sampling makes them: |S||A|M for one step,
2|S||A|M for T steps (J₁ and V). What is really done: about 1 + M·P(not dominant) draws a (s, a).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise

import numpy as np

from fsdash.sampling.checks import TIES, check_run, check_samples, check_ties
from fsdash.sampling.laws import draw_counts, greedy_rows, invert, multinomial, pick
from fsdash.sampling.one_step import Sampler, States
from fsdash.sampling.states import StateSample
from fsdash.sampling.upper import KeptPaths, UpperSampler

__all__ = [
    "TIES",
    "KeptPaths",
    "Sampler",
    "StateSample",
    "States",
    "UpperSampler",
    "backup",
    "check_run",
    "check_samples",
    "check_ties",
    "draw_counts",
    "extraction",
    "greedy",
    "greedy_rows",
    "invert",
    "multinomial",
    "pick",
    "ranges",
    "sweep",
    "sweeps",
]


def backup(
    sampler: Sampler | UpperSampler,
    U_XY: np.ndarray,
    rng: np.random.Generator,
    states: States = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The sampled maximum and a greedy action for flattened states, all by default."""
    Q_NA, greedy_N = sampler.q_values(U_XY, rng, states)
    return Q_NA[np.arange(len(Q_NA)), greedy_N], greedy_N


def greedy(sampler: Sampler | UpperSampler, U_XY: np.ndarray, rng: np.random.Generator):
    """A policy π_XY that is greedy for U, by samples of its own."""
    return backup(sampler, U_XY, rng)[1].reshape(U_XY.shape)


def sweep(
    sampler: Sampler | UpperSampler, U_XY: np.ndarray, rng: np.random.Generator, parts: int
) -> Iterator[tuple[int, np.ndarray]]:
    """After each part of one sweep: the states renewed so far, and the values with those renewed.

    Every state is renewed from the values before the sweep, so the parts change nothing but when
    one looks.
    """
    new_S = np.array(U_XY, float).reshape(-1)
    for start, stop in ranges(len(new_S), parts):
        new_S[start:stop] = backup(sampler, U_XY, rng, range(start, stop))[0]
        yield stop, new_S.reshape(U_XY.shape).copy()


def sweeps(
    sampler: Sampler | UpperSampler, U_XY: np.ndarray, rng: np.random.Generator, parts: int
) -> Iterator[tuple[int, int, np.ndarray, np.random.Generator]]:
    """Sweep after sweep: whole sweeps before, states renewed in this one, the values, and the
    generator for looking at their policy. The first are the initial values."""
    yield 0, 0, U_XY.copy(), rng.spawn(1)[0]
    for k in count():
        inside, end = extraction(rng)
        for renewed, next_XY in sweep(sampler, U_XY, rng, parts):
            yield k, renewed, next_XY, end if renewed == U_XY.size else inside
        U_XY = next_XY


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """0, …, n cut into parts that differ by one at most."""
    stops = [n * i // parts for i in range(parts + 1)]
    return list(pairwise(stops))


def extraction(rng: np.random.Generator) -> tuple[np.random.Generator, np.random.Generator]:
    """Generators for the policies seen during one sweep and for the policy at its end.

    Children of the run's own: looking at policies changes no number that the run draws, and looking
    inside a sweep changes no policy at its end.
    """
    inside, end = rng.spawn(2)
    return inside, end
