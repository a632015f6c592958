"""One-step samples: the sampled H and H̃, with counts for the noise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsdash.errors import InputError
from fsdash.kernels import jit, steps
from fsdash.model import Dynamics, FastSlowMDP
from fsdash.operators import values_of
from fsdash.sampling.checks import check_samples, check_ties
from fsdash.sampling.laws import Multinomial, draw_counts, multinomial, pick


@jit
def one_step(rng, law, M, common, random, reward_XYA, next_slow, next_fast, gamma, U_XY, start,
             Q_NA, greedy_N):  # fmt: skip
    """Q and a greedy action for the N flattened states from `start` on."""
    Y, A = reward_XYA.shape[1:]
    (sx, sy, sa), sw = steps(next_slow), int(next_slow.shape[3] > 1)
    (fx, fy, fa), fw = steps(next_fast), int(next_fast.shape[3] > 1)
    size_R = np.empty(1 if common else A, np.int64)
    w_P, n_P = np.empty(size_R.size * M, np.int64), np.empty(size_R.size * M, np.int64)
    first = law.outcome_W[0]
    for n in range(greedy_N.size):
        x, y = (start + n) // Y, (start + n) % Y
        draw_counts(rng, law, size_R, w_P, n_P)
        low = high = 0
        for a in range(A):
            if a == 0 or not common:
                low, high = high, high + size_R[a]
            slow = next_slow[x * sx, y * sy, a * sa, first * sw]
            base = U_XY[slow, next_fast[x * fx, y * fy, a * fa, first * fw]]
            # Differences, so that equal values have an exactly equal mean whatever the counts.
            total = 0.0
            for i in range(low, high):
                w = w_P[i]
                slow = next_slow[x * sx, y * sy, a * sa, w * sw]
                fast = next_fast[x * fx, y * fy, a * fa, w * fw]
                total += n_P[i] * (U_XY[slow, fast] - base)
            Q_NA[n, a] = reward_XYA[x, y, a] + gamma * (base + total / M)
        greedy_N[n] = pick(rng, Q_NA[n], random)


@dataclass(frozen=True, eq=False)
class Sampler:
    """One-step samples: the sampled H (true dynamics) or H̃ (frozen dynamics)."""

    model: FastSlowMDP
    dynamics: Dynamics
    M: int
    ties: str = "first"
    common_random_numbers: bool = False
    law: Multinomial = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_samples("M", self.M)
        check_ties(self.ties)
        object.__setattr__(self, "law", multinomial(self.dynamics.noise_W, int(self.M)))

    def q_values(
        self, U_XY: np.ndarray, rng: np.random.Generator, start: int = 0, stop: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Q(s, a) and a greedy action for the flattened states [start, stop): (N, A) and (N,)."""
        m, (Q_NA, greedy_N) = self.model, room(self.model, start, stop)
        one_step(
            rng, self.law, int(self.M), bool(self.common_random_numbers), self.ties == "random",
            m.reward_XYA, self.dynamics.next_slow, self.dynamics.next_fast, m.gamma,
            values_of(m, U_XY), start, Q_NA, greedy_N,
        )  # fmt: skip
        return Q_NA, greedy_N


def room(model: FastSlowMDP, start: int, stop: int | None) -> tuple[np.ndarray, np.ndarray]:
    stop = model.n_states if stop is None else stop
    if not 0 <= start <= stop <= model.n_states:
        raise InputError(f"states [{start}, {stop}): use a range within 0 to {model.n_states}")
    return np.empty((stop - start, model.n_actions)), np.empty(stop - start, np.int32)
