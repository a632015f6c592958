"""Methods beyond the paper at fixed budgets: rolling freeze, thawed sweeps, the recommendation.

Each method is read at seven budgets, in sweeps of Base E-VI with 50 samples: the share of the
optimum of the last policy that the budget pays for, by exact evaluation. Seeds are used nowhere
else, and the recommendation has seeds of its own, so no method is compared with the same run under
another name. A recommendation from samples pays for every sample that it draws. The methods of the
paper are counted as in the paper, without the samples that extract a policy, which favours them.

Two baselines that are not in the paper need no freezing either: Base E-VI with common random
numbers, and certainty equivalence, which spends the whole budget on one table of draws, the same
number for each state and action, and solves the model with the frequencies in that table.

Certificates need no samples: the certified regret of FSVI with T = 2, …, 24 is compared with its
true largest regret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd

from fsdash.algorithms import e_fsvi, e_rolling, e_thaw, e_vi, fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.snapshot import Snapshot
from fsdash.choice.certify import certify
from fsdash.choice.plan import plan
from fsdash.choice.race import SAMPLES
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows, to_rows
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import DOMAINS
from fsdash.sampling import Sampling

BUDGETS = (0.25, 0.5, 1, 2, 4, 8, 16)
"""In sweeps of Base E-VI with 50 samples."""
SEEDS = range(7_200, 7_220)
RECOMMENDATION_SEEDS = 100_000
"""Added to the seed of a replication for its recommendation."""
HORIZONS = (2, 3, 6, 12, 24)
LONGEST = 800
"""Longest horizon of rolling freeze; the budgets end before."""
CERTIFIED_T = range(2, 25)
UPPER_ITERATIONS = 30
PRECISION = 1e-5
"""Precision of a policy's value, relative to the optimum."""
PLAN_TOLERANCE = 1e-4
"""Precision to which certainty equivalence solves the estimated model, as in `optimum`."""
BASE, FROZEN, GREEDY = "Base E-VI", "E-FSVI", "Greedy for J"
COMMON, CERTAINTY = "Base E-VI, common random numbers", "Certainty equivalence"
ROLLING, THAWED, RECOMMENDED = "E-Rolling", "E-Thaw", "Recommendation"
METHODS = (RECOMMENDED, THAWED, ROLLING, FROZEN, GREEDY, BASE, COMMON, CERTAINTY)
COLUMNS = ["domain", "method", "T", "seed", "sweeps", "share"]
CERTIFICATE_COLUMNS = ["domain", "T", "certificate", "max_regret"]

Score = Callable[[np.ndarray], float]
"""How good a policy is."""


# ----------------------------------------------------------------------------------------- methods


def share_score(model: FastSlowMDP) -> Score:
    """The policy's share of the optimal mean value."""
    best = model.mean(optimum(model).U_XY)
    tolerance = PRECISION * abs(best)
    return lambda policy: model.mean(policy_values(model, policy, tolerance=tolerance).U_XY) / best


def at_budgets(
    snapshots: Iterator[Snapshot],
    unit: int,
    score: Score,
    extraction: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, np.ndarray]:
    """By kind of policy: the score of the last affordable policy at each budget; NaN for none.

    `extraction` has the evaluations that extract a policy of a kind, where they count.
    """
    last: dict[tuple[str, int], np.ndarray] = {}
    for snapshot in snapshots:
        kind = snapshot.policy_kind
        cost = snapshot.evaluations + extraction.get(kind, 0)
        for place, budget in enumerate(BUDGETS):
            if cost <= budget * unit:
                last[kind, place] = snapshot.policy_PXY
        if snapshot.evaluations > BUDGETS[-1] * unit:
            break
    found = {kind: np.full(len(BUDGETS), np.nan) for kind, _ in last}
    for (kind, place), policy in last.items():
        found[kind][place] = score(policy)
    return found


def estimated(model: FastSlowMDP, M: int, rng: np.random.Generator) -> FastSlowMDP:
    """The model with the frequencies of M draws for each state and action as probabilities."""
    law = to_rows(model)
    length_R = np.diff(law.start_R)
    # One line of probabilities per row, shorter ones filled with zeros from the left.
    place_RL = law.start_R[1:, None] - np.arange(law.longest, 0, -1)
    inside_RL = place_RL >= law.start_R[:-1, None]
    p_RL = np.where(inside_RL, law.probability_N[np.maximum(place_RL, 0)], 0.0)
    row_P = law.row_XYA.reshape(-1)
    pair_F = np.flatnonzero(length_R[row_P])
    # A sum of probabilities may be above 1 by rounding.
    count_FL = rng.multinomial(M, np.minimum(p_RL[row_P[pair_F]], 1.0))
    drawn_F, drawn_L = np.nonzero(count_FL)
    target_N = law.target_N[place_RL[row_P[pair_F[drawn_F]], drawn_L]]
    frequency_N = count_FL[drawn_F, drawn_L] / M
    rows = Rows.from_entries(law.row_XYA.shape, pair_F[drawn_F], target_N, frequency_N)
    return FastSlowMDP(reward_XYA=model.reward_XYA, rows=rows, gamma=model.gamma)


def certainty_equivalent(model: FastSlowMDP, M: int, rng: np.random.Generator) -> np.ndarray:
    """The optimal policy of the estimated model; its work is M evaluations per state and action."""
    return optimum(estimated(model, M, rng), tolerance=PLAN_TOLERANCE).policy_PXY


def method_scores(
    model: FastSlowMDP,
    seed: int,
    score: Score,
    all_costs: bool = False,
    methods: Sequence[str] = METHODS,
) -> Iterator[tuple[str, int | None, np.ndarray]]:
    """Each of the methods with its T, and its score at each budget.

    With `all_costs` the samples that extract a policy count for the methods of the paper, too.
    """
    unit, none = SAMPLES * model.n_pairs, np.full(len(BUDGETS), np.nan)
    rng = lambda: np.random.default_rng(seed)  # noqa: E731
    # A policy greedy for values of the base model takes one more sweep, μ one of the upper level.
    extraction = {"stationary": unit, "periodic": 2 * unit} if all_costs else {}

    def read(snapshots: Iterator[Snapshot]) -> dict[str, np.ndarray]:
        return at_budgets(snapshots, unit, score, extraction)

    if RECOMMENDED in methods:
        own_seed = RECOMMENDATION_SEEDS + seed
        plans = (plan(model, sweeps=b, sampled=True, seed=own_seed) for b in BUDGETS)
        yield RECOMMENDED, None, np.array([score(chosen.policy_PXY) for chosen in plans])
    for method, common in ((BASE, False), (COMMON, True)):
        if method in methods:
            sampling = Sampling(snapshots_per_sweep=1, common_random_numbers=common)
            run = e_vi(model, rng(), sampling=sampling)
            yield method, None, read(run)["stationary"]
    if CERTAINTY in methods:
        plans = (certainty_equivalent(model, int(b * SAMPLES), rng()) for b in BUDGETS)
        yield CERTAINTY, None, np.array([score(policy_PXY) for policy_PXY in plans])
    if ROLLING in methods:
        yield ROLLING, None, read(e_rolling(model, rng(), T=LONGEST))["rolling"]
    if THAWED in methods:
        with suppress(InputError):  # for an exogenous slow state and a fast state without noise
            # Its policy is the maximiser of a sweep that counts anyway.
            yield THAWED, None, at_budgets(e_thaw(model, rng()), unit, score)["stationary"]
    if FROZEN in methods:
        for T in HORIZONS:
            kinds = read(e_fsvi(model, rng(), T=T, sampling=Sampling(snapshots_per_sweep=1)))
            periodic, cyclic = kinds.get("periodic", none), kinds["cyclic"]
            yield FROZEN, T, np.where(np.isnan(periodic), cyclic, periodic)
            yield GREEDY, T, kinds["stationary"]


def budget_rows(domain: str, seed: int, methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """The share of the optimum of every method at every budget, for one seed."""
    model = make(domain).build()
    scores = method_scores(model, seed, share_score(model), methods=methods)
    rows = [
        (domain, method, T, seed, sweeps, share)
        for method, T, shares in scores
        for sweeps, share in zip(BUDGETS, shares, strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"T": "Int64"})


def certificate_rows(domain: str) -> pd.DataFrame:
    """The certified and the true largest regret of FSVI for every T, in one pass with Hᵀ."""
    model = make(domain).build()
    best, rows = optimum(model), []
    for T in CERTIFIED_T:
        last = run_until(fsvi(model, T), iterations=UPPER_ITERATIONS)
        certified = certify(model, last.policy_PXY, values_XY=last.values_XY, steps=T)
        true = regret(model, last.policy_PXY, best=best).max_regret
        rows.append((domain, T, certified.max_regret, true))
    return pd.DataFrame(rows, columns=CERTIFICATE_COLUMNS)


def compute_beyond(
    quick: bool,
    seed: int,
    report: Callable[[str], object],
    domains: Sequence[str] = DOMAINS,
    methods: Sequence[str] = METHODS,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of these methods at budgets, and all certificates, with a report on each part."""
    seeds, parts = [first + seed for first in SEEDS][: 2 if quick else None], []
    for domain, first in product(domains, seeds):
        parts.append(budget_rows(domain, first, methods))
        count = f"{len(parts)} of {len(domains) * len(seeds)}"
        report(f"beyond the paper, {domain}, replication {count}")
    rows = pd.concat(parts).round(6)
    certificates = pd.concat([certificate_rows(domain) for domain in domains]).round(6)
    report(f"Beyond the paper: {len(seeds)} replications, {len(rows):,} policies")
    return rows, certificates


def renewed(
    before: tuple[pd.DataFrame, pd.DataFrame] | None, computed: tuple[pd.DataFrame, pd.DataFrame]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The computed rows and certificates, with the earlier ones of what was not computed."""
    if before is None:
        return computed
    return _renewed(before[0], computed[0], "method"), _renewed(before[1], computed[1], "T")


def _renewed(before: pd.DataFrame, computed: pd.DataFrame, by: str) -> pd.DataFrame:
    """The computed rows, and the earlier ones of other domains and of others `by` a column."""
    done = pd.MultiIndex.from_frame(computed[["domain", by]])
    kept = before[~pd.MultiIndex.from_frame(before[["domain", by]]).isin(done)]
    rows = pd.concat([computed, kept], ignore_index=True)
    order = rows["domain"].map({domain: i for i, domain in enumerate(before["domain"].unique())})
    return rows.iloc[order.argsort(kind="stable")].reset_index(drop=True)


# ---------------------------------------------------------------------------------------- evidence


class BudgetEvidence(ExperimentCurves):
    """What claims about one domain are judged by: shares at budgets, and certificates."""

    def __init__(self, rows: pd.DataFrame, certificates: pd.DataFrame) -> None:
        runs = {
            method if pd.isna(T) else f"{method}, T={T}": [
                (run["sweeps"].to_numpy(), run["share"].to_numpy())
                for _, run in group.groupby("seed")
            ]
            for (method, T), group in rows.groupby(["method", "T"], dropna=False, sort=False)
        }
        super().__init__(runs, BUDGETS[-1])
        ratios = certificates["certificate"] / certificates["max_regret"]
        object.__setattr__(self, "ratios", ratios.to_numpy())

    def up_to(self, share: float) -> BudgetEvidence:
        """These claims name their budgets, so no part of them is left out."""
        return self

    @cached_property
    def _horizons(self) -> list[int]:
        return [T for T in HORIZONS if f"{FROZEN}, T={T}" in self.runs]

    def in_hindsight(self, method: str, sweeps: float) -> np.ndarray:
        """The share with the T that has the best mean at this budget."""
        return _best_mean([self.at(f"{method}, T={T}", sweeps) for T in self._horizons])

    def best_of(self, methods: Sequence[str], sweeps: float) -> np.ndarray:
        """The share of the method with the best mean at this budget, with T in hindsight."""
        found = [
            self.in_hindsight(name, sweeps) if name in (FROZEN, GREEDY) else self.at(name, sweeps)
            for name in methods
            if name in (FROZEN, GREEDY) or name in self.runs
        ]
        return _best_mean(found)


def _best_mean(shares: Sequence[np.ndarray]) -> np.ndarray:
    """The shares with the largest mean; those of a budget that pays for no policy come last."""
    return max(shares, key=lambda share: np.nan_to_num(share.mean(), nan=-np.inf))


def evidence(rows: pd.DataFrame, certificates: pd.DataFrame) -> dict[str, BudgetEvidence]:
    """The evidence of each domain, under the name that its claims ask for."""
    return {
        evidence_name(str(domain)): BudgetEvidence(
            own, certificates[certificates["domain"] == domain]
        )
        for domain, own in rows.groupby("domain", sort=False)
    }


def evidence_name(domain: str) -> str:
    """The name of a domain's evidence at budgets."""
    return f"{domain} at budgets"
