"""T-step samples: the sampled F, in the form that the model's shape allows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsdash.core.model import INDEX, FastSlowMDP
from fsdash.core.operators import Policies, follow_all, values_of
from fsdash.errors import InputError
from fsdash.sampling.checks import check_samples, check_ties
from fsdash.sampling.laws import Frequent, Multinomial, Rows, Runs, frequent, multinomial, runs
from fsdash.sampling.one_step import States, room
from fsdash.sampling.t_step import along, counted, lower_rows, simulated

SPARSE = 64
"""Non-zeros a row of K, on average, up to which counts are drawn instead of paths."""
WIDEST = 512
"""Non-zeros at which a single row is given up: one look at it shows that K is dense."""


@dataclass(frozen=True, eq=False)
class UpperSampler:
    """T-step samples, the sampled F, for lower-level values J₁ and policy π = (π₁, …, π_{T−1})."""

    model: FastSlowMDP
    J1_XY: np.ndarray
    lower: Policies
    M: int
    ties: str = "first"
    common_random_numbers: bool = False
    sparse: bool | None = None
    """Counts over rows of K or simulated paths; None lets the model decide."""
    law: Multinomial = field(init=False, repr=False)
    runs: Runs = field(init=False, repr=False)
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
        put("runs", runs(self.model.true.noise_W))
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
            self.slow_T,
            self.fast_T,
            m.true.noise_W,
            m.n_slow,
            m.n_fast,
            min(widest, m.n_states),
            min(limit, m.n_states) * m.n_states,
        )
        return rows if fits else None

    def q_values(
        self, V_XY: np.ndarray, rng: np.random.Generator, states: States = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Q(s, a) and a greedy action for flattened states, all by default: (N, A) and (N,)."""
        states_N, Q_NA, greedy_N = room(self.model, states)
        if self.rows is None:
            self._simulate(V_XY, rng, states_N, Q_NA, greedy_N, np.empty((0, 0, 0), INDEX))
        else:
            counted(
                rng,
                self.law,
                self.rows,
                self.often,
                int(self.M),
                self.ties == "random",
                *self._tables(V_XY),
                states_N,
                Q_NA,
                greedy_N,
            )
        return Q_NA, greedy_N

    def keep_paths(self, rng: np.random.Generator) -> KeptPaths:
        """M paths of every (s, a), simulated once and for all V: 4·|S||A|M bytes."""
        m, (states_N, Q_SA, greedy_S) = self.model, room(self.model, None)
        end_SAM = np.empty((*Q_SA.shape, int(self.M)), INDEX)
        # Without V, Q is what the first step and J₁ are worth on these paths.
        self._simulate(np.zeros_like(self.J1_XY), rng, states_N, Q_SA, greedy_S, end_SAM)
        return KeptPaths(m, self.ties, Q_SA, end_SAM, m.gamma ** (len(self.lower) + 1))

    def _simulate(self, V_XY, rng, states_N, Q_NA, greedy_N, end_NAM) -> None:
        simulated(
            rng,
            self.runs,
            self.slow_T,
            self.fast_T,
            int(self.M),
            bool(self.common_random_numbers),
            self.ties == "random",
            *self._tables(V_XY),
            states_N,
            Q_NA,
            greedy_N,
            end_NAM,
        )

    def _tables(self, V_XY: np.ndarray) -> tuple:
        m = self.model
        discount = m.gamma ** len(self.lower)
        return (
            m.reward_XYA,
            m.next_slow,
            m.next_fast,
            m.gamma,
            discount,
            self.J1_XY,
            values_of(m, V_XY, "V_XY"),
        )


@dataclass(frozen=True, eq=False)
class KeptPaths:
    """The sampled F on one and the same set of paths for every V.

    For each V that does not depend on these paths, Q has the distribution of fresh ones; the errors
    for two V's are alike. A look at a policy then takes no simulation.
    """

    model: FastSlowMDP
    ties: str
    first_SA: np.ndarray = field(repr=False)
    """r + γ · the mean of J₁(s₁)."""
    end_SAM: np.ndarray = field(repr=False)
    discount: float

    def q_values(
        self, V_XY: np.ndarray, rng: np.random.Generator, states: States = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Q(s, a) and a greedy action for flattened states, all by default: (N, A) and (N,)."""
        states_N, Q_NA, greedy_N = room(self.model, states)
        V_S = values_of(self.model, V_XY, "V_XY").reshape(-1)
        along(
            rng,
            self.ties == "random",
            self.first_SA,
            self.end_SAM,
            self.discount,
            V_S,
            states_N,
            Q_NA,
            greedy_N,
        )
        return Q_NA, greedy_N


def _stack(tables: list[np.ndarray]) -> np.ndarray:
    """(T−1, X, Y, 1, W) from the tables of T−1 policies; an empty first axis for none."""
    return np.stack(tables) if tables else np.empty((0, 1, 1, 1, 1), INDEX)
