"""The building blocks of the claims: parts that compare two methods, or a method with a limit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fsdash.reproduce.judging import ClaimPart, ExperimentCurves
from fsdash.runs.summary import method_title

EARLY_SWEEPS = 1.0
BASE_ALGORITHMS = ("e-vi", "e-qi")


def title(name: str, T: int | None = None) -> str:
    """The title of an algorithm, with its T if it freezes."""
    return method_title(name, T)


def efsvi(T: int) -> str:
    """The title of E-FSVI with this T."""
    return method_title("e-fsvi", T)


def part(
    label: str,
    sign: str,
    limit: float,
    domain: str,
    measure: Callable[[ExperimentCurves], np.ndarray],
) -> ClaimPart:
    """A part that is measured on one experiment."""
    return ClaimPart(label, sign, limit, lambda evidence: measure(evidence[domain]))


def share(domain: str, what: str, method: str, sign: str, limit: float) -> ClaimPart:
    """Compare the best, last or late share of the optimum of a method with a limit."""
    return part(
        f"{what} share of the optimum, {method}",
        sign,
        limit,
        domain,
        lambda c: getattr(c, what)(method),
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
