"""Findings of this project that the paper does not have."""

from __future__ import annotations

import numpy as np

from fsdash.reproduce.claims.parts import ahead, e_fsvi, part, share, title
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import HORIZONS, SAMPLE_SIZES, mpi_variant
from fsdash.reproduce.judging import NEAR_OPTIMAL, OPTIMAL, Claim, FirstRule
from fsdash.reproduce.samples import sample_method
from fsdash.runs.summary import STATIONARY

BEYOND = "not in the paper"


def own_findings() -> tuple[Claim, ...]:
    """Three findings: the policy greedy for J₁, MPI with m = T−1, and Base E-VI's samples."""
    return (
        *(_greedy_finding(domain, T=12) for domain in ("inventory", "gridworld")),
        *(_mpi_finding(domain) for domain in ("inventory", "gridworld", "pricing")),
        *(_samples_finding(domain) for domain in ("inventory", "gridworld")),
    )


def _greedy_finding(domain: str, T: int) -> Claim:
    method, greedy = e_fsvi(T), e_fsvi(T) + STATIONARY
    return Claim(
        f"{domain}-greedy-J",
        (domain,),
        f"The stationary policy greedy for the frozen J₁ (T={T}) is near-optimal, and better than "
        "the periodic policy ever becomes.",
        "",
        BEYOND,
        "At the end of the lower level, its share is above 95% and above the run's best share.",
        (
            share(domain, "last", greedy, ">", NEAR_OPTIMAL),
            part(
                f"last share of {greedy} minus best share of {method}",
                ">",
                0,
                domain,
                lambda c: c.last(greedy) - c.best(method),
            ),
        ),
    )


def _mpi_finding(domain: str) -> Claim:
    """An iteration of MPI needs as many evaluations as one of FSVI's upper level."""
    mpi = lambda T: f"{title('mpi')}, {mpi_variant(T)}"  # noqa: E731
    return Claim(
        f"{domain}-mpi",
        (domain,),
        "With a known model, modified policy iteration with m=T−1 costs the same per iteration as "
        "FSVI and converges to the true optimum, which FSVI does not.",
        "",
        BEYOND,
        "For T=3, 6, 12: an iteration needs within 1% as many evaluations as one of FSVI, and the "
        "last share of MPI is above 99.9% and above that of FSVI.",
        tuple(
            p
            for T in HORIZONS
            for p in (
                part(
                    f"relative difference in evaluations per iteration, T={T}",
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


def _samples_finding(domain: str) -> Claim:
    """Too few samples, not separate samples for each action, keep Base E-VI below the optimum."""
    few, many = SAMPLE_SIZES[0], SAMPLE_SIZES[-1]
    more = sample_method(many, False)
    others = {"separate samples": sample_method(few, False)}
    others |= {"common random numbers": sample_method(few, True)}
    return Claim(
        f"{domain}-samples",
        (domain,),
        f"Base E-VI falls short because M={few} samples are too few, not because each action has "
        "samples of its own.",
        "",
        BEYOND,
        "The mean share over the whole sweeps in the last tenth of the run is larger "
        f"with M={many} and separate samples than with M={few}, with separate samples and with "
        "common random numbers.",
        (
            *(
                part(
                    f"share over the last tenth, M={many} minus M={few} with {kind}",
                    ">",
                    0,
                    domain,
                    lambda c, method=method: c.last_tenth(more) - c.last_tenth(method),
                )
                for kind, method in others.items()
            ),
            *(
                share(domain, "last_tenth", method, ">", OPTIMAL, decides=False)
                for method in (more, *others.values())
            ),
        ),
        first_rule=FirstRule(
            "The experiment was made because an earlier explanation was wrong. This rule was "
            "written after its results were known.",
            (),
        ),
    )


def _per_iteration(curves: ExperimentCurves, method: str) -> np.ndarray:
    """The work of the last iteration, between the last two recorded policies."""
    return np.array([x[-1] - x[-2] for x, _ in curves.runs[method]])
