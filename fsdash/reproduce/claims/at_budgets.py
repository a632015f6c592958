"""Findings about rolling freeze, thawed sweeps, the recommendation and certificates.

The rules were written before the runs that they judge. Figures of earlier prototypes were known.
"""

from __future__ import annotations

import numpy as np

from fsdash.reproduce.budgets import (
    BASE,
    BUDGETS,
    CERTAINTY,
    COMMON,
    FROZEN,
    GREEDY,
    RECOMMENDED,
    ROLLING,
    THAWED,
    evidence_name,
)
from fsdash.reproduce.claims.own_findings import BEYOND
from fsdash.reproduce.claims.parts import part
from fsdash.reproduce.judging import NEAR_OPTIMAL, OPTIMAL, Claim, ClaimPart, FirstRule

EQUAL = -0.001
"""A difference of shares above this counts as "at least as good"."""
PAPER = (FROZEN, BASE, GREEDY)
OTHERS = (*PAPER, COMMON, CERTAINTY)
"""What the recommendation is compared with: methods that it does not choose from."""
LARGEST_RATIO = {"inventory": 3.0, "gridworld": 10.0, "pricing": 3.0}


def budget_claims() -> tuple[Claim, ...]:
    """Four findings for each domain."""
    return tuple(
        claim(domain)
        for claim in (_rolling, _thawed, _recommended, _certificates)
        for domain in LARGEST_RATIO
    )


def _rolling(domain: str) -> Claim:
    last = BUDGETS[-1]
    return Claim(
        f"{domain}-rolling",
        (evidence_name(domain),),
        "Replanning every period (rolling freeze) is near-optimal, and better than E-FSVI with any "
        "T: its floor is lower.",
        "",
        BEYOND,
        f"After {last} sweeps, E-Rolling's share is above 95% and above that of E-FSVI with the T "
        "that is best in hindsight.",
        (
            _at(domain, ROLLING, last, NEAR_OPTIMAL),
            _lead(domain, ROLLING, (FROZEN,), last, 0.0, "E-FSVI with the best T"),
        ),
    )


def _thawed(domain: str) -> Claim:
    last = BUDGETS[-1]
    return Claim(
        f"{domain}-thawed",
        (evidence_name(domain),),
        "Thawed sweeps (E-Thaw) are optimal, and better than E-FSVI with any T at every budget.",
        "",
        BEYOND,
        f"After {last} sweeps, E-Thaw's share is above 99%; after {_budgets()} sweeps it is above "
        "that of E-FSVI with the T that is best in hindsight.",
        (
            _at(domain, THAWED, last, OPTIMAL),
            *(_lead(domain, THAWED, (FROZEN,), b, 0.0, "E-FSVI with the best T") for b in BUDGETS),
        ),
    )


def _recommended(domain: str) -> Claim:
    def leads(others: tuple[str, ...], named: str) -> tuple[ClaimPart, ...]:
        return tuple(_lead(domain, RECOMMENDED, others, b, EQUAL, named) for b in BUDGETS)

    return Claim(
        f"{domain}-recommendation",
        (evidence_name(domain),),
        "The recommendation from samples, all of which count against its budget, is at least as "
        "good as the best of the other methods in hindsight.",
        "",
        BEYOND,
        f"After {_budgets()} sweeps: its share minus the best of E-FSVI and the policy greedy for "
        "J, each with the T that is best in hindsight, Base E-VI, Base E-VI with common random "
        "numbers and certainty equivalence, is above −0.1%. E-Rolling and E-Thaw are left out: "
        "the recommendation is often one of them.",
        leads(OTHERS, "the best other method"),
        first_rule=FirstRule(
            "Certainty equivalence and common random numbers were added after results were known. "
            "The first rule also required a share within 1% of E-Thaw and E-Rolling, which often "
            "compared a run with itself.",
            leads(PAPER, "the paper's best in hindsight"),
        ),
    )


def _certificates(domain: str) -> Claim:
    most = LARGEST_RATIO[domain]
    return Claim(
        f"{domain}-certificates",
        (evidence_name(domain),),
        "A certificate computed on the model is within a small factor of FSVI's true regret.",
        "",
        BEYOND,
        f"For T = 2, …, 24, the median of certificate ÷ true largest regret is below {most:g}, and "
        "the smallest is above 1.",
        (
            part(
                "median of certificate ÷ regret",
                "<",
                most,
                evidence_name(domain),
                lambda c: [float(np.median(c.ratios))],
            ),
            part(
                "smallest certificate ÷ regret",
                ">",
                1.0,
                evidence_name(domain),
                lambda c: [float(c.ratios.min())],
            ),
        ),
    )


def _at(domain: str, method: str, sweeps: float, limit: float) -> ClaimPart:
    return part(
        f"share of {method} after {sweeps:g} sweeps",
        ">",
        limit,
        evidence_name(domain),
        lambda c: c.at(method, sweeps),
    )


def _lead(
    domain: str, method: str, others: tuple[str, ...], sweeps: float, limit: float, named: str
) -> ClaimPart:
    return part(
        f"after {sweeps:g} sweeps, share of {method} minus {named}",
        ">",
        limit,
        evidence_name(domain),
        lambda c: c.at(method, sweeps) - c.best_of(others, sweeps),
    )


def _budgets() -> str:
    return f"{', '.join(f'{b:g}' for b in BUDGETS[:-1])} and {BUDGETS[-1]:g}"
