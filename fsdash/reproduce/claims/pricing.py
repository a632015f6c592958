"""The paper's claims about dynamic pricing."""

from __future__ import annotations

import numpy as np

from fsdash.reproduce.claims.parts import ahead, part, share, title
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import BUDGET_SWEEPS
from fsdash.reproduce.judging import GOOD, Claim, FirstRule
from fsdash.reproduce.settings import SHARES

PRICING = 'Section "Dynamic Pricing with Reference Effects and Stochastic Consumer Behavior"'
SWEEPS = [f"{share * BUDGET_SWEEPS['pricing']:g}" for share in SHARES]
BY_BUDGET = (
    f"Judged after {', '.join(SWEEPS[:-1])} and {SWEEPS[-1]} sweeps, because the paper names no "
    "budget: "
)
FIRST_RULE = FirstRule(f"The first rule judged after {SWEEPS[-1]} sweeps only.")
TRAINING = (
    "The paper does not say how its networks are trained. The settings here (20 epochs of 25 "
    "batches, learning rate 0.01, new random weights in every iteration) were chosen on this "
    "domain: by the fit of 1,515 optimal values, by time, and after the curves of Deep-FVI had "
    "been seen. New random weights make Deep-FVI and Deep-FQI less stable than a warm start "
    "would, so this verdict is not independent of that choice."
)


def pricing_claims() -> tuple[Claim, ...]:
    here = ("pricing",)
    d = "pricing"
    nets = ("lin", "deep")
    return (
        Claim(
            "pricing-improves",
            here,
            "Frozen-state methods improve upon the baselines with both architectures.",
            "Frozen-state methods improve upon baselines in both settings …",
            PRICING,
            BY_BUDGET
            + "the share of FSFVI with T=6 and T=12, averaged over the budget, is above that "
            "of FVI and of FQI, linear and deep.",
            tuple(
                ahead(d, "average", title(f"{net}-fsfvi", T), title(f"{net}-{base}"))
                for net in nets
                for T in (6, 12)
                for base in ("fvi", "fqi")
            ),
            first_rule=FIRST_RULE,
            shares=SHARES,
        ),
        Claim(
            "pricing-larger-gains",
            here,
            "The gains are larger with networks.",
            "Frozen-state methods improve upon baselines in both settings, but the gains are "
            "larger in the setting using neural network function approximation.",
            PRICING,
            BY_BUDGET
            + "the share averaged over the budget, FSFVI (T=6, T=12) minus FVI or FQI, is larger "
            "for the deep than for the linear variants.",
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
            first_rule=FIRST_RULE,
            shares=SHARES,
        ),
        Claim(
            "pricing-unstable",
            here,
            "Deep-FVI and Deep-FQI have a higher variance and are less stable than Deep-FSFVI.",
            "This is largely due to the relatively poor performance of Deep-FVI and Deep-FQI, "
            "which appear to suffer from higher variance and instability during training. … In "
            "contrast, the structured nature of Deep-FSFVI … likely contributes to improved "
            "stability and more reliable learning.",
            PRICING,
            BY_BUDGET
            + "the standard deviation of the share within a run, over the second half of the "
            "budget, is larger than that of Deep-FSFVI with T=6 and with T=12.",
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
            TRAINING,
            first_rule=FIRST_RULE,
            shares=SHARES,
        ),
        Claim(
            "pricing-T3",
            here,
            "T=3 performs poorly with both architectures, behind T=6 and T=12.",
            "Again, we see that the T=3 version of Deep-FSFVI performed poorly under both "
            "architectures, but T=6 and T=12 were adequate.",
            PRICING,
            BY_BUDGET
            + "over the last quarter of the budget, the share of T=3 is below that of T=6 and of "
            "T=12, linear and deep.",
            tuple(
                ahead(d, "late", title(f"{net}-fsfvi", T), title(f"{net}-fsfvi", 3))
                for net in nets
                for T in (6, 12)
            ),
            first_rule=FIRST_RULE,
            shares=SHARES,
        ),
        Claim(
            "pricing-adequate",
            here,
            "T=6 and T=12 are adequate with both architectures.",
            "… we see that the T=3 version of Deep-FSFVI performed poorly under both "
            "architectures, but T=6 and T=12 were adequate.",
            PRICING,
            BY_BUDGET
            + "over the last quarter of the budget, their share is above 75%, linear and deep.",
            tuple(
                share(d, "late", title(f"{net}-fsfvi", T), ">", GOOD)
                for net in nets
                for T in (6, 12)
            ),
            "This is a weak test: the myopic policy, from which all but FQI start, reaches 81%.",
            first_rule=FIRST_RULE,
            shares=SHARES,
        ),
    )


def _gain(curves: ExperimentCurves, net: str, T: int, base: str) -> np.ndarray:
    return curves.average(title(f"{net}-fsfvi", T)) - curves.average(title(f"{net}-{base}"))
