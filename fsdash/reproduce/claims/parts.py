"""The building blocks of the claims: parts that compare two methods, or a method with a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fsdash.reproduce.experiments import YARDSTICK
from fsdash.reproduce.judging import OPTIMAL, ClaimPart
from fsdash.runs.records import method_title

EARLY_SWEEPS = 1.0
BASE_ALGORITHMS = ("e-vi", "e-qi")
YARDSTICK_METHOD = f"{method_title('e-vi', None)}, {YARDSTICK}"
YARDSTICK_RULE = (
    "The paper's optimum is a run of Base E-VI with 50 iterations and M=100. In {sweeps} sweeps, "
    "both the best share and the mean share over the whole sweeps in the last tenth of the run are "
    "above 99% of that run's share over its last tenth, for both algorithms. The exact optimum is "
    "shown for comparison."
)
FIRST_YARDSTICK_RULE = (
    "The first rule compared the best and the last policy with the exact optimum. The paper's "
    "optimum is the run named above."
)
WORDS = {"last_tenth": "share over the last tenth"}
"""What a measure is called, where that is not its name and "share"."""


def title(name: str, T: int | None = None) -> str:
    """The title of an algorithm, with its T if it freezes."""
    return method_title(name, T)


def e_fsvi(T: int) -> str:
    """The title of E-FSVI with this T."""
    return method_title("e-fsvi", T)


def part(
    label: str,
    sign: str,
    limit: float,
    domain: str,
    measure: Callable[..., Any],
    decides: bool = True,
) -> ClaimPart:
    """A part that is measured on one experiment."""
    return ClaimPart(label, sign, limit, lambda evidence: measure(evidence[domain]), decides)


def share(
    domain: str, what: str, method: str, sign: str, limit: float, decides: bool = True
) -> ClaimPart:
    """Compare the best, last or late share, or that over the last tenth, with a limit."""
    return part(
        f"{WORDS.get(what, f'{what} share of the optimum')}, {method}",
        sign,
        limit,
        domain,
        lambda c: getattr(c, what)(method),
        decides,
    )


def against_yardstick(
    domain: str, what: str, method: str, limit: float, decides: bool = True
) -> ClaimPart:
    """Compare a share with that of the run by which the paper computes its optimum."""
    return part(
        f"{WORDS.get(what, f'{what} share')}, {method} ÷ the yardstick's last tenth",
        ">",
        limit,
        domain,
        lambda c: getattr(c, what)(method) / c.last_tenth(YARDSTICK_METHOD).mean(),
        decides,
    )


def reaches_optimum(domain: str) -> tuple[ClaimPart, ...]:
    """The best and the last policy of Base E-VI and E-QI against the exact optimum."""
    return tuple(
        share(domain, what, title(base), ">", OPTIMAL)
        for base in BASE_ALGORITHMS
        for what in ("best", "last")
    )


def reaches_yardstick(domain: str) -> tuple[ClaimPart, ...]:
    """Base E-VI and E-QI against the run by which the paper computes its optimum.

    The exact optimum is shown for comparison, also for that run itself.
    """
    measured = [(title(base), what) for base in BASE_ALGORITHMS for what in ("best", "last_tenth")]
    return (
        *(against_yardstick(domain, what, method, OPTIMAL) for method, what in measured),
        *(
            share(domain, what, method, ">", OPTIMAL, decides=False)
            for method, what in [*measured, (YARDSTICK_METHOD, "last_tenth")]
        ),
    )


def ahead(domain: str, what: str, method: str, other: str) -> ClaimPart:
    """Require that the best, late, last or average share of one method exceeds another's."""
    return part(
        f"{what} share, {method} minus {other}",
        ">",
        0,
        domain,
        lambda c: getattr(c, what)(method) - getattr(c, what)(other),
    )


def early(domain: str, method: str, other: str) -> ClaimPart:
    """Require that one method's share after one sweep exceeds another's."""
    return part(
        f"share after one sweep, {method} minus {other}",
        ">",
        0,
        domain,
        lambda c: c.at(method, EARLY_SWEEPS) - c.at(other, EARLY_SWEEPS),
    )


def less_work(domain: str, method: str, other: str, level: float, limit: float) -> ClaimPart:
    """Require that the ratio of the two methods' work to reach a level is below a limit."""
    return part(
        f"work to {level:.0%}, {method} ÷ {other}",
        "<",
        limit,
        domain,
        lambda c: c.work_ratio(method, other, level),
    )
