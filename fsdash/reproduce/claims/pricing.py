"""The paper's claims about dynamic pricing."""

from __future__ import annotations

import numpy as np

from fsdash.reproduce.claims.parts import ahead, part, share, title
from fsdash.reproduce.judging import GOOD, Claim, ExperimentCurves

PRICING = 'Section "Dynamic Pricing with Reference Effects …", Figures "linear" and "network"'
FIRST_LEVEL = 1 / 14


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
            "The share of FSFVI with T=6 and T=12, averaged over the whole budget, is above that "
            "of FVI and of FQI, linear and deep.",
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
            "FSFVI reaches the level of FVI's first iteration with 1/14 to 1/25 of its work.",
            PRICING,
            "FSFVI with T=6 and T=12 needs less than 1/14 sweep to be as good as FVI after its "
            "first sweep, linear and deep.",
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
            "It comes close: about 1/13 sweep on average. FSFVI is evaluated once per lower-level "
            "iteration, which is every 1/50 sweep.",
        ),
        Claim(
            "pricing-stays-ahead",
            here,
            "FSFVI stays ahead of FVI until the end.",
            PRICING,
            "Over the last quarter of the budget, the share of FSFVI with T=6 and T=12 is above "
            "that of FVI, linear and deep.",
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
            "The share averaged over the budget, FSFVI (T=6, T=12) minus FVI or FQI, is larger for "
            "the deep than for the linear variants.",
            tuple(
                part(
                    f"gain over {base.upper()}, deep minus linear, T={T}",
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
            "is larger than that of Deep-FSFVI with T=6 and with T=12.",
            tuple(
                part(
                    f"standard deviation, {title(f'deep-{base}')} minus {title('deep-fsfvi', T)}",
                    ">",
                    0,
                    d,
                    lambda c, T=T, base=base: (
                        c.instability(title(f"deep-{base}")) - c.instability(title("deep-fsfvi", T))
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
            "Over the last quarter of the budget, the share of T=3 is below that of T=6 and of "
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
            "Over the last quarter of the budget, their share is above 75%, linear and deep.",
            tuple(
                share(d, "late", title(f"{net}-fsfvi", T), ">", GOOD)
                for net in nets
                for T in (6, 12)
            ),
            "This is a weak test: the myopic policy, from which all but FQI start, reaches 81%.",
        ),
    )


def _to_first_level(curves: ExperimentCurves, net: str, T: int) -> np.ndarray:
    levels = curves.at(title(f"{net}-fvi"), 1.0)
    work = [
        curves.work(title(f"{net}-fsfvi", T), level)[i] for i, level in enumerate(levels.tolist())
    ]
    return np.array(work)


def _gain(curves: ExperimentCurves, net: str, T: int, base: str) -> np.ndarray:
    return curves.average(title(f"{net}-fsfvi", T)) - curves.average(title(f"{net}-{base}"))
