"""The claims of the paper's numerical section, each with the rule by which it is judged.

The rules were written before the runs that they judge, with the words read as `judging` says, but
not blindly: a pilot of two replications with another seed had been seen for the inventory and the
gridworld. Two rules were given a second reading after the first run, and their remarks say so; the
verdict is the same without it. Findings that the paper does not have stand at the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fsdash.reproduce.experiments import HORIZONS, LONG, mpi_variant
from fsdash.reproduce.judging import GOOD, HALF, NEAR_OPTIMAL, OPTIMAL, Claim, Curves, Part
from fsdash.runs.summary import STATIONARY, method_title

INVENTORY = 'Section "Inventory Control with Fixed Order Costs", Figure "inventory problem"'
GRIDWORLD = 'Section "Gridworld with Spatial Tasks", Figure "spatial gridworld problem"'
PRICING = 'Section "Dynamic Pricing with Reference Effects …", Figures "linear" and "network"'
BEYOND = "not in the paper"
EARLY = 1.0
FIRST_LEVEL = 1 / 14
BASES = ("e-vi", "e-qi")


def title(name: str, T: int | None = None) -> str:
    return method_title(name, T)


def efsvi(T: int) -> str:
    return title("e-fsvi", T)


def part(
    told: str, sign: str, limit: float, domain: str, measure: Callable[[Curves], np.ndarray]
) -> Part:
    """A part that looks at one experiment."""
    return Part(told, sign, limit, lambda evidence: measure(evidence[domain]))


def share(domain: str, what: str, method: str, sign: str, limit: float) -> Part:
    """The best, last or late worth of a method against a limit."""
    return part(
        f"{what} share of the optimum, {method}",
        sign,
        limit,
        domain,
        lambda c: getattr(c, what)(method),
    )


def ahead(domain: str, what: str, method: str, other: str) -> Part:
    """One method's best, late or average worth less another's, which must be positive."""
    return part(
        f"{what} share, {method} less {other}",
        ">",
        0,
        domain,
        lambda c: getattr(c, what)(method) - getattr(c, what)(other),
    )


def early(domain: str, method: str, other: str) -> Part:
    return part(
        f"share after one sweep, {method} less {other}",
        ">",
        0,
        domain,
        lambda c: c.at(method, EARLY) - c.at(other, EARLY),
    )


def less_work(domain: str, method: str, other: str, level: float, limit: float) -> Part:
    return part(
        f"work to {level:.0%}, {method} over {other}",
        "<",
        limit,
        domain,
        lambda c: c.work_ratio(method, other, level),
    )


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
            "The work until 75% of the optimum is less than half of that of Base E-VI, and of "
            "E-QI, for T=6 and for T=12.",
            tuple(less_work(d, efsvi(T), title(b), GOOD, HALF) for T in (6, 12) for b in BASES),
        ),
        Claim(
            "inventory-T12-first",
            here,
            "T=12 converges faster at first than smaller T.",
            INVENTORY,
            "After one sweep's work its share is above that of T=6, and of T=3; and its work until "
            "75% of the optimum is less than theirs.",
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
            "Over the last quarter of the budget the share of T=6 is above that of T=12.",
            (ahead(d, "late", efsvi(6), efsvi(12)),),
        ),
        Claim(
            "inventory-T3-early",
            here,
            "T=3 gains less than larger T in the early part.",
            INVENTORY,
            "After one sweep's work the share of T=3 is below that of T=6, and of T=12.",
            tuple(early(d, efsvi(T), efsvi(3)) for T in (6, 12)),
        ),
        Claim(
            "inventory-T6-best",
            here,
            "Among the E-FSVI variants T=6 is the best when both reward and work count.",
            INVENTORY,
            "The share of the optimum, averaged over the whole budget, is above that of T=3, and "
            "of T=12.",
            tuple(ahead(d, "average", efsvi(6), efsvi(T)) for T in (3, 12)),
        ),
        Claim(
            "inventory-base-optimal",
            here,
            "Base E-VI and E-QI reach optimal performance in the end.",
            INVENTORY,
            f"In {LONG} sweeps, the paper's own length for its optimum, the best share is above "
            "99% and the last one is too, for both.",
            tuple(
                share(d, what, title(b), ">", OPTIMAL) for b in BASES for what in ("best", "last")
            ),
            "M=50 samples drawn for each action anew bias the maximum upwards, by more as the "
            "values grow with the sweeps.",
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


def gridworld_claims() -> tuple[Claim, ...]:
    here = ("gridworld",)
    d = "gridworld"
    return (
        Claim(
            "gridworld-T3",
            here,
            "T=3 improves steadily but never becomes good.",
            GRIDWORLD,
            "Its best share stays below 75%, and its share over the last quarter of the budget is "
            "above that after a tenth of it.",
            (
                share(d, "best", efsvi(3), "<", GOOD),
                part(
                    f"late share less that after a tenth of the budget, {efsvi(3)}",
                    ">",
                    0,
                    d,
                    lambda c: c.late(efsvi(3)) - c.at(efsvi(3), c.budget / 10),
                ),
            ),
        ),
        Claim(
            "gridworld-T6",
            here,
            "T=6 is a strong compromise: it reaches 75% of the optimum.",
            GRIDWORLD,
            "Its best share is above 75%, and its share over the last quarter of the budget is "
            "above that of T=3.",
            (
                share(d, "best", efsvi(6), ">", GOOD),
                ahead(d, "late", efsvi(6), efsvi(3)),
            ),
        ),
        Claim(
            "gridworld-three-times",
            here,
            "Base E-VI and E-QI need nearly three times the work of T=6 to reach 75% of the "
            "optimum.",
            GRIDWORLD,
            "The work of T=6 until 75% is less than half of theirs: of each replication, at its "
            "first look there, and of the mean curves.",
            (
                *(less_work(d, efsvi(6), title(b), GOOD, HALF) for b in BASES),
                *(
                    part(
                        f"work of the mean curve to 75%, {efsvi(6)} over {title(b)}",
                        "<",
                        HALF,
                        d,
                        lambda c, b=b: [
                            c.mean_work(efsvi(6), GOOD) / min(c.mean_work(title(b), GOOD), c.budget)
                        ],
                    )
                    for b in BASES
                ),
            ),
            "Base E-VI and E-QI are noisy with M=50: a replication's first look at 75% comes long "
            "before the mean curve, which is what the paper's figure shows, stays there. The mean "
            "curves were added after the first run; without them the verdict is the same.",
        ),
        Claim(
            "gridworld-pronounced",
            ("inventory", "gridworld"),
            "The choice of T matters far more than on the inventory.",
            GRIDWORLD,
            "The spread over T=3, 6, 12 of the share averaged over the budget is larger than on "
            "the inventory.",
            (
                Part(
                    "spread over T on the gridworld less that on the inventory",
                    ">",
                    0,
                    lambda e: _spread(e["gridworld"]) - _spread(e["inventory"]),
                ),
            ),
        ),
        Claim(
            "gridworld-base-optimal",
            here,
            "Base E-VI and E-QI reach optimality in the end.",
            GRIDWORLD,
            "In 60 sweeps the best share is above 99% and the last one is too, for both.",
            tuple(
                share(d, what, title(b), ">", OPTIMAL) for b in BASES for what in ("best", "last")
            ),
            "M=50 samples drawn for each action anew bias the maximum upwards. The paper's optimum "
            "is itself a run of Base E-VI; ours is exact.",
        ),
        Claim(
            "gridworld-agnostic",
            here,
            "Ignoring the slow state leads to low-performing policies.",
            'Section "Conclusion"',
            "The best share of the slow-agnostic baseline stays below 75%.",
            (share(d, "best", title("slow-agnostic"), "<", GOOD),),
        ),
    )


def _spread(curves: Curves) -> np.ndarray:
    averages = [curves.average(efsvi(T)) for T in HORIZONS]
    return np.max(averages, axis=0) - np.min(averages, axis=0)


def pricing_claims() -> tuple[Claim, ...]:
    here = ("pricing",)
    d = "pricing"
    nets = ("lin", "deep")
    return (
        Claim(
            "pricing-improves",
            here,
            "Frozen-state methods improve upon the baselines with both architectures.",
            PRICING,
            "The share averaged over the whole budget of FSFVI, T=6 and T=12, is above that of "
            "FVI, and of FQI, linear and deep.",
            tuple(
                ahead(d, "average", title(f"{net}-fsfvi", T), title(f"{net}-{base}"))
                for net in nets
                for T in (6, 12)
                for base in ("fvi", "fqi")
            ),
        ),
        Claim(
            "pricing-early",
            here,
            "FSFVI is at the level of FVI's first iteration with 1/14 to 1/25 of its work.",
            PRICING,
            "The work until FSFVI, T=6 and T=12, is as good as FVI after its first sweep is less "
            "than 1/14 sweep, linear and deep.",
            tuple(
                part(
                    f"work to FVI's first level in sweeps, {title(f'{net}-fsfvi', T)}",
                    "<",
                    FIRST_LEVEL,
                    d,
                    lambda c, net=net, T=T: _to_first_level(c, net, T),
                )
                for net in nets
                for T in (6, 12)
            ),
            "It comes close: about 1/13 sweep on average. FSFVI is looked at once a lower "
            "iteration, every 1/50 sweep.",
        ),
        Claim(
            "pricing-stays-ahead",
            here,
            "FSFVI stays ahead of FVI to the end.",
            PRICING,
            "Over the last quarter of the budget the share of FSFVI, T=6 and T=12, is above that "
            "of FVI, linear and deep.",
            tuple(
                ahead(d, "late", title(f"{net}-fsfvi", T), title(f"{net}-fvi"))
                for net in nets
                for T in (6, 12)
            ),
        ),
        Claim(
            "pricing-larger-gains",
            here,
            "The gains are larger with networks.",
            PRICING,
            "The share averaged over the budget of FSFVI (T=6, T=12) less that of FVI, and of FQI, "
            "is larger for the deep than for the linear variants.",
            tuple(
                part(
                    f"deep less linear gain over {base.upper()}, T={T}",
                    ">",
                    0,
                    d,
                    lambda c, T=T, base=base: _gain(c, "deep", T, base) - _gain(c, "lin", T, base),
                )
                for T in (6, 12)
                for base in ("fvi", "fqi")
            ),
        ),
        Claim(
            "pricing-unstable",
            here,
            "Deep-FVI and Deep-FQI have a higher variance and are less stable than Deep-FSFVI.",
            PRICING,
            "The standard deviation of the share within a run, over the second half of the budget, "
            "is larger than that of Deep-FSFVI with T=6, and with T=12.",
            tuple(
                part(
                    f"unrest, {title(f'deep-{base}')} less {title('deep-fsfvi', T)}",
                    ">",
                    0,
                    d,
                    lambda c, T=T, base=base: (
                        c.unrest(title(f"deep-{base}")) - c.unrest(title("deep-fsfvi", T))
                    ),
                )
                for base in ("fvi", "fqi")
                for T in (6, 12)
            ),
        ),
        Claim(
            "pricing-T3",
            here,
            "T=3 performs poorly with both architectures, behind T=6 and T=12.",
            PRICING,
            "Over the last quarter of the budget the share of T=3 is below that of T=6, and of "
            "T=12, linear and deep.",
            tuple(
                ahead(d, "late", title(f"{net}-fsfvi", T), title(f"{net}-fsfvi", 3))
                for net in nets
                for T in (6, 12)
            ),
        ),
        Claim(
            "pricing-adequate",
            here,
            "T=6 and T=12 are adequate with both architectures.",
            PRICING,
            "Over the last quarter of the budget their share is above 75%, linear and deep.",
            tuple(
                share(d, "late", title(f"{net}-fsfvi", T), ">", GOOD)
                for net in nets
                for T in (6, 12)
            ),
            "A weak test here: the myopic policy, from which all but FQI start, is worth 81%.",
        ),
    )


def _to_first_level(curves: Curves, net: str, T: int) -> np.ndarray:
    levels = curves.at(title(f"{net}-fvi"), 1.0)
    work = [
        curves.work(title(f"{net}-fsfvi", T), level)[i] for i, level in enumerate(levels.tolist())
    ]
    return np.array(work)


def _gain(curves: Curves, net: str, T: int, base: str) -> np.ndarray:
    return curves.average(title(f"{net}-fsfvi", T)) - curves.average(title(f"{net}-{base}"))


def our_findings() -> tuple[Claim, ...]:
    """What the paper does not have: the stationary policy greedy for J₁, and MPI with m = T−1."""
    return (
        *(_greedy_finding(domain, T=12) for domain in ("inventory", "gridworld")),
        *(_mpi_finding(domain) for domain in ("inventory", "gridworld", "pricing")),
    )


def _greedy_finding(domain: str, T: int) -> Claim:
    method, greedy = efsvi(T), efsvi(T) + STATIONARY
    return Claim(
        f"{domain}-greedy-J",
        (domain,),
        f"The stationary policy greedy for the frozen J₁ (T={T}) is near-optimal, and better than "
        "the periodic policy ever becomes.",
        BEYOND,
        "At the end of the lower level its share is above 95%, and above the best of the run.",
        (
            share(domain, "last", greedy, ">", NEAR_OPTIMAL),
            part(
                f"last share of {greedy} less best of {method}",
                ">",
                0,
                domain,
                lambda c: c.last(greedy) - c.best(method),
            ),
        ),
    )


def _mpi_finding(domain: str) -> Claim:
    """Per iteration MPI costs what FSVI's upper level does, by the count of evaluations."""
    mpi = lambda T: f"{title('mpi')}, {mpi_variant(T)}"  # noqa: E731
    return Claim(
        f"{domain}-mpi",
        (domain,),
        "With a known model, modified policy iteration with m=T−1 costs the same per iteration as "
        "FSVI and converges to the true optimum, which FSVI does not.",
        BEYOND,
        "For T=3, 6, 12: an iteration's evaluations are within 1% of FSVI's, the last share of MPI "
        "is above 99.9%, and above that of FSVI.",
        tuple(
            p
            for T in HORIZONS
            for p in (
                part(
                    f"difference in evaluations an iteration, T={T}",
                    "<",
                    0.01,
                    domain,
                    lambda c, T=T: np.abs(
                        _per_iteration(c, mpi(T)) / _per_iteration(c, title("fsvi", T)) - 1
                    ),
                ),
                share(domain, "last", mpi(T), ">", 0.999),
                ahead(domain, "last", mpi(T), title("fsvi", T)),
            )
        ),
    )


def _per_iteration(curves: Curves, method: str) -> np.ndarray:
    """Work of the last iteration: a difference of two looks that are one iteration apart."""
    return np.array([x[-1] - x[-2] for x, _ in curves.runs[method]])


def numerical_claims() -> tuple[Claim, ...]:
    return (*inventory_claims(), *gridworld_claims(), *pricing_claims(), *our_findings())
