"""The paper's claims about inventory control."""

from __future__ import annotations

from fsdash.reproduce.claims.parts import (
    BASE_ALGORITHMS,
    FIRST_YARDSTICK_RULE,
    YARDSTICK_RULE,
    against_yardstick,
    ahead,
    e_fsvi,
    early,
    less_work,
    reaches_optimum,
    reaches_yardstick,
    share,
    title,
)
from fsdash.reproduce.experiments import LONG_SWEEPS
from fsdash.reproduce.judging import GOOD, HALF, NEAR_OPTIMAL, Claim, FirstRule

INVENTORY = 'Section "Inventory Control with Fixed Order Costs"'
CONCLUSION = 'Section "Conclusion"'


def inventory_claims() -> tuple[Claim, ...]:
    here = ("inventory",)
    d = "inventory"
    t12_work = tuple(less_work(d, e_fsvi(12), e_fsvi(T), GOOD, 1) for T in (6, 3))
    return (
        Claim(
            "inventory-near-optimal",
            here,
            "E-FSVI with T=6 and T=12 reaches near-optimal returns.",
            "… E-FSVI with moderate values of T, such as T = 6 and T = 12, achieves near-optimal "
            "return with significantly fewer value function evaluations compared to Base E-VI and "
            "E-QI.",
            INVENTORY,
            "The best share of the optimum within 12 sweeps is above 95%, for T=6 and for T=12. "
            "Its ratio to the share of the paper's own optimum is shown for comparison.",
            (
                *(share(d, "best", e_fsvi(T), ">", NEAR_OPTIMAL) for T in (6, 12)),
                *(
                    against_yardstick(d, "best", e_fsvi(T), NEAR_OPTIMAL, decides=False)
                    for T in (6, 12)
                ),
            ),
            "The paper measures against a run of Base E-VI with 50 iterations and M=100, which "
            "itself stays below the optimum. It does not give p, c, K and h.",
        ),
        Claim(
            "inventory-less-work",
            here,
            "E-FSVI with T=6 and T=12 finds good policies with significantly fewer evaluations "
            "than Base E-VI and E-QI.",
            "Empirically, on three example applications, we show that our new frozen-state methods "
            "converge significantly faster to good policies than standard methods …",
            CONCLUSION,
            "The work to reach 75% of the optimum is less than half that of Base E-VI and of E-QI, "
            "for T=6 and for T=12.",
            tuple(
                less_work(d, e_fsvi(T), title(b), GOOD, HALF)
                for T in (6, 12)
                for b in BASE_ALGORITHMS
            ),
        ),
        Claim(
            "inventory-T12-first",
            here,
            "T=12 converges faster at first than smaller T.",
            "Larger values of T, such as T = 12, initially converge faster …",
            INVENTORY,
            "After one sweep its share of the optimum is above that of T=6 and of T=3, and its "
            "work to reach 75% of the optimum is less than theirs.",
            (*(early(d, e_fsvi(12), e_fsvi(T)) for T in (6, 3)), *t12_work),
            first_rule=FirstRule(
                "The share after one sweep was added after the first run.", t12_work
            ),
        ),
        Claim(
            "inventory-T12-late",
            here,
            "T=12 suffers from its larger approximation error in the end.",
            "Larger values of T, such as T = 12, … eventually suffer from increased approximation "
            "error due to longer freezing horizons.",
            INVENTORY,
            "Over the last quarter of the budget, the share of T=6 is above that of T=12.",
            (ahead(d, "late", e_fsvi(6), e_fsvi(12)),),
        ),
        Claim(
            "inventory-T3-early",
            here,
            "T=3 gains less than larger T at the beginning.",
            "Conversely, if we look at the earlier part of the curves, E-FSVI with T = 3 seems to "
            "benefit less from the improved discount factor.",
            INVENTORY,
            "After one sweep the share of T=3 is below that of T=6 and of T=12.",
            tuple(early(d, e_fsvi(T), e_fsvi(3)) for T in (6, 12)),
        ),
        Claim(
            "inventory-T6-best",
            here,
            "T=6 is the best E-FSVI variant when both return and work count.",
            "Among the E-FSVI variants, we find that T = 6 offers the best overall performance "
            "when considering both reward and computational cost.",
            INVENTORY,
            "The share of the optimum, averaged over the whole budget, is above that of T=3 and of "
            "T=12.",
            tuple(ahead(d, "average", e_fsvi(6), e_fsvi(T)) for T in (3, 12)),
        ),
        Claim(
            "inventory-base-optimal",
            here,
            "Base E-VI and E-QI reach optimal performance in the end.",
            "While Base E-VI and E-QI eventually reach optimal performance, they require "
            "significantly more computation.",
            INVENTORY,
            YARDSTICK_RULE.format(sweeps=LONG_SWEEPS),
            reaches_yardstick(d),
            first_rule=FirstRule(FIRST_YARDSTICK_RULE, reaches_optimum(d)),
        ),
        Claim(
            "inventory-agnostic",
            here,
            "The slow-agnostic baseline performs poorly.",
            "… the slow-agnostic baseline performs poorly, confirming that ignoring the slow state "
            "leads to suboptimal policies.",
            INVENTORY,
            "Its best share of the optimum stays below 75%.",
            (share(d, "best", title("slow-agnostic"), "<", GOOD),),
        ),
    )
