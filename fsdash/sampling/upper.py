"""T-step samples: the sampled F, in the form that the model's shape allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fsdash.errors import InputError
from fsdash.model import INDEX, FastSlowMDP
from fsdash.operators import follow_all, values_of
from fsdash.sampling.checks import check_samples, check_ties
from fsdash.sampling.laws import Frequent, Multinomial, Rows, frequent, multinomial
from fsdash.sampling.one_step import room
from fsdash.sampling.t_step import counted, lower_rows, simulated

SPARSE = 64
"""Non-zeros a row of K, on average, up to which counts are drawn instead of paths."""
WIDEST = 512
"""Non-zeros at which a single row is given up: one look at it shows that K is dense."""


@dataclass(frozen=True, eq=False)
class UpperSampler:
    """T-step samples, the sampled F, for lower-level values J₁ and policy π = (π₁, …, π_{T−1})."""

    model: FastSlowMDP
    J1_XY: np.ndarray
    lower: Sequence[np.ndarray]
    M: int
    ties: str = "first"
    common_random_numbers: bool = False
    sparse: bool | None = None
    """Counts over rows of K or simulated paths; None lets the model decide."""
    law: Multinomial = field(init=False, repr=False)
    rows: Rows | None = field(init=False, repr=False)
    often: Frequent | None = field(init=False, repr=False)
    slow_T: np.ndarray = field(init=False, repr=False)
    fast_T: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_samples("M_u", self.M)
        check_ties(self.ties)
        if self.sparse and self.common_random_numbers:
            raise InputError(
                "sparse = True: rows of K hide the noise that common_random_numbers shares; "
                "leave one of the two off"
            )
        put = lambda key, value: object.__setattr__(self, key, value)  # noqa: E731
        put("J1_XY", values_of(self.model, self.J1_XY, "J1_XY"))
        put("law", multinomial(self.model.true.noise_W, int(self.M)))
        followed = follow_all(self.model, self.lower)
        put("slow_T", _stack([d.next_slow for d in followed]))
        put("fast_T", _stack([d.next_fast for d in followed]))
        put("rows", self._rows())
        put("often", self.rows and frequent(self.law, self.rows, int(self.M)))

    def _rows(self) -> Rows | None:
        m = self.model
        if self.sparse is False or self.common_random_numbers:
            return None
        widest, limit = (m.n_states, m.n_states) if self.sparse else (WIDEST, SPARSE)
        # An array of states' size holds any row, so a row must not be wider than that either.
        fits, rows = lower_rows(
            self.slow_T, self.fast_T, m.true.noise_W, m.n_slow, m.n_fast,
            min(widest, m.n_states), min(limit, m.n_states) * m.n_states,
        )  # fmt: skip
        return rows if fits else None

    def q_values(
        self, V_XY: np.ndarray, rng: np.random.Generator, start: int = 0, stop: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Q(s, a) and a greedy action for the flattened states [start, stop): (N, A) and (N,)."""
        m, (Q_NA, greedy_N) = self.model, room(self.model, start, stop)
        M, random = int(self.M), self.ties == "random"
        tables = (
            m.reward_XYA, m.next_slow, m.next_fast, m.gamma, m.gamma ** len(self.lower),
            self.J1_XY, values_of(m, V_XY, "V_XY"), start, Q_NA, greedy_N,
        )  # fmt: skip
        if self.rows is None:
            common = bool(self.common_random_numbers)
            simulated(rng, self.law, self.slow_T, self.fast_T, M, common, random, *tables)
        else:
            counted(rng, self.law, self.rows, self.often, M, random, *tables)
        return Q_NA, greedy_N


def _stack(tables: list[np.ndarray]) -> np.ndarray:
    """(T−1, X, Y, 1, W) from the tables of T−1 policies; an empty first axis for none."""
    return np.stack(tables) if tables else np.empty((0, 1, 1, 1, 1), INDEX)
