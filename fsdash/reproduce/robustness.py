"""Do the verdicts hold with other seeds, and with other constants of the inventory?

seeds       The paper's numerical claims, judged with five seeds, five replications each, and on the
            25 replications together. Every seed is judged like the archived one, which is the
            first.
constants   The claims about the inventory, for other costs. The paper gives none of p, c, K and h.
            Only their ratios matter, so p = 10 sets the unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pandas as pd

from fsdash.algorithms.optimum import optimum
from fsdash.core.evaluation import policy_values
from fsdash.domains import make
from fsdash.reproduce.claims import numerical_claims
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import (
    DOMAINS,
    REPLICATIONS,
    PaperExperiment,
    PaperRun,
    experiment,
    run_experiment,
)
from fsdash.reproduce.judging import GOOD, Verdict, judge

SEEDS = range(5)
TOGETHER = "all"
"""The name of all replications of all seeds together."""
CONSTANTS = tuple(
    {"p": 10.0, "c": c, "K": K, "h": h}
    for c, K, h in product((1.0, 3.0, 6.0), (30.0, 60.0, 120.0, 240.0), (0.1, 0.3, 1.0))
)
NEAR_OPTIMAL_CLAIM = "inventory-near-optimal"
SHARES = ("T=6", "T=12", "T=6 ÷ yardstick", "T=12 ÷ yardstick")
"""What that claim measures, in the order of its parts."""
ROW_COLUMNS = [
    "domain",
    "seed",
    "algorithm",
    "T",
    "variant",
    "ties",
    "replication",
    "step",
    "phase",
    "iteration",
    "evaluations",
    "policy_kind",
    "fraction_of_optimal",
]
"""What curves of other seeds are drawn from."""
VERDICT_COLUMNS = ["name", "verdict", "clear_parts", "parts"]

Frames = Mapping[str, pd.DataFrame]
"""The rows of an experiment, by domain."""


# ------------------------------------------------------------------------------------------- seeds


def compute_seeds(
    domains: Sequence[str], progress: Callable[[str], object], workers: int = 1
) -> pd.DataFrame:
    """The rows of the paper's runs with every seed but the first, in the default setting."""
    frames = []
    for domain, seed in product(domains, SEEDS[1:]):
        frame, _ = run_experiment(experiment(domain, seed=seed).default_runs(), workers)
        # No claim is about the rolling policy of the lower level.
        frames.append(frame[frame["policy_kind"] != "rolling"].assign(seed=seed))
        progress(f"{domain}, seed {seed}")
    return pd.concat(frames, ignore_index=True)[[*ROW_COLUMNS, "method"]]


def seeds_table(first: Frames, others: pd.DataFrame) -> pd.DataFrame:
    """The verdict on each of the paper's numerical claims for every seed, and for all together.

    Domains without rows of other seeds are left out.
    """
    first = {domain: rows for domain, rows in first.items() if domain in set(others["domain"])}
    frames = {
        seed: {domain: rows for domain, rows in own.groupby("domain")}
        for seed, own in others.groupby("seed")
    }
    by_seed = {SEEDS[0]: first} | frames
    together = {
        domain: pd.concat(
            own[domain].assign(replication=own[domain]["replication"] + REPLICATIONS * i)
            for i, own in enumerate(by_seed.values())
        )
        for domain in first
    }
    tables = [
        _table(_judged(own)).assign(seed=seed)
        for seed, own in (*by_seed.items(), (TOGETHER, together))
    ]
    found = pd.concat(tables).astype({"seed": str})
    return found[["name", "seed", *VERDICT_COLUMNS[1:]]].reset_index(drop=True)


# --------------------------------------------------------------------------------------- constants


def compute_constants(
    sets: Iterable[Mapping[str, float]], progress: Callable[[str], object], workers: int = 1
) -> pd.DataFrame:
    """The verdicts on the claims about the inventory for each set of constants.

    Sets in which a shop that never orders is already good are left out: nothing is to be learned.
    """
    tables = []
    for constants in sets:
        if share_without_orders(constants) < GOOD:
            plan = with_constants(experiment("inventory").default_runs(), constants)
            frame, _ = run_experiment(plan, workers)
            judged = _judged({"inventory": frame})
            [near] = [v for v in judged if v.claim.name == NEAR_OPTIMAL_CLAIM]
            shares = {name: f.mean for name, f in zip(SHARES, near.findings, strict=True)}
            tables.append(_table(judged).assign(**constants, **shares))
        progress(", ".join(f"{name} = {value:g}" for name, value in constants.items()))
    columns = [*CONSTANTS[0], *SHARES, *VERDICT_COLUMNS]
    return pd.concat(tables, ignore_index=True)[columns]


def share_without_orders(constants: Mapping[str, float]) -> float:
    """The share of the optimum of the policy that never orders; infinite without a profit."""
    model = make("inventory", **constants).build()
    never_PXY = np.zeros((1, model.n_slow, model.n_fast), int)
    best, never = (
        model.mean(U_XY) for U_XY in (optimum(model).U_XY, policy_values(model, never_PXY).U_XY)
    )
    return never / best if best > 0 else inf


def with_constants(plan: PaperExperiment, constants: Mapping[str, float]) -> PaperExperiment:
    """The experiment on a domain with other constants."""
    runs = (
        PaperRun(replace(run.spec, domain_parameters=dict(constants)), run.variant, run.ties)
        for run in plan.runs
    )
    return replace(plan, runs=tuple(runs))


# ----------------------------------------------------------------------------------------- verdicts


def _judged(frames: Frames) -> list[Verdict]:
    """The paper's claims, judged on the rows of one seed."""
    evidence = {
        domain: ExperimentCurves.of(experiment(domain), frames[domain])
        for domain in DOMAINS
        if domain in frames
    }
    return judge([claim for claim in numerical_claims() if claim.quotation], evidence)


def _table(judged: Sequence[Verdict]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": v.claim.name,
            "verdict": v.verdict,
            "clear_parts": v.clear_parts,
            "parts": v.parts,
        }
        for v in judged
    )
