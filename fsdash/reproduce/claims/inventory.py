"""The paper's claims about inventory control."""

from __future__ import annotations

from fsdash.reproduce.claims.parts import (
    BASE_ALGORITHMS,
    ahead,
    early,
    efsvi,
    less_work,
    share,
    title,
)
from fsdash.reproduce.experiments import LONG_SWEEPS
from fsdash.reproduce.judging import GOOD, HALF, NEAR_OPTIMAL, OPTIMAL, Claim

INVENTORY = 'Section "Inventory Control with Fixed Order Costs", Figure "inventory problem"'


def inventory_claims() -> tuple[Claim, ...]:
    here = ("inventory",)
    d = "inventory"
    return (
        Claim(
            "inventory-near-optimal",
            here,
            "E-FSVI with T=6 and T=12 reaches near-optimal returns.",
            INVENTORY,
            "The best share of the optimum within 12 sweeps is above 95%, for T=6 and for T=12.",
            tuple(share(d, "best", efsvi(T), ">", NEAR_OPTIMAL) for T in (6, 12)),
        ),
        Claim(
            "inventory-less-work",
            here,
            "E-FSVI with T=6 and T=12 finds good policies with significantly fewer evaluations "
            "than Base E-VI and E-QI.",
            INVENTORY,
            "The work to reach 75% of the optimum is less than half that of Base E-VI and of E-QI, "
            "for T=6 and for T=12.",
            tuple(
                less_work(d, efsvi(T), title(b), GOOD, HALF)
                for T in (6, 12)
                for b in BASE_ALGORITHMS
            ),
        ),
        Claim(
            "inventory-T12-first",
            here,
            "T=12 converges faster at first than smaller T.",
            INVENTORY,
            "After one sweep its share of the optimum is above that of T=6 and of T=3, and its "
            "work to reach 75% of the optimum is less than theirs.",
            (
                *(early(d, efsvi(12), efsvi(T)) for T in (6, 3)),
                *(less_work(d, efsvi(12), efsvi(T), GOOD, 1) for T in (6, 3)),
            ),
            "The share after one sweep was added after the first run; without it the verdict is "
            "the same.",
        ),
        Claim(
            "inventory-T12-late",
            here,
            "T=12 suffers from its larger approximation error in the end.",
            INVENTORY,
            "Over the last quarter of the budget, the share of T=6 is above that of T=12.",
            (ahead(d, "late", efsvi(6), efsvi(12)),),
        ),
        Claim(
            "inventory-T3-early",
            here,
            "T=3 gains less than larger T at the beginning.",
            INVENTORY,
            "After one sweep the share of T=3 is below that of T=6 and of T=12.",
            tuple(early(d, efsvi(T), efsvi(3)) for T in (6, 12)),
        ),
        Claim(
            "inventory-T6-best",
            here,
            "T=6 is the best E-FSVI variant when both return and work count.",
            INVENTORY,
            "The share of the optimum, averaged over the whole budget, is above that of T=3 and of "
            "T=12.",
            tuple(ahead(d, "average", efsvi(6), efsvi(T)) for T in (3, 12)),
        ),
        Claim(
            "inventory-base-optimal",
            here,
            "Base E-VI and E-QI reach optimal performance in the end.",
            INVENTORY,
            f"In {LONG_SWEEPS} sweeps, the length of the paper's own run for its optimum, both the "
            "best and the last share are above 99%, for both algorithms.",
            tuple(
                share(d, what, title(b), ">", OPTIMAL)
                for b in BASE_ALGORITHMS
                for what in ("best", "last")
            ),
            "M=50 samples, drawn separately for each action, bias the maximum upwards. The bias "
            "grows with the values, and so with the sweeps.",
        ),
        Claim(
            "inventory-agnostic",
            here,
            "The slow-agnostic baseline performs poorly.",
            INVENTORY,
            "Its best share of the optimum stays below 75%.",
            (share(d, "best", title("slow-agnostic"), "<", GOOD),),
        ),
    )
