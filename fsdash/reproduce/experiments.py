"""The paper's experiments as lists of runs (Section "Numerical Experiments").

As in the paper, γ = 0.995, M = M_u = 50, M_l = 1, and there are five replications. Work is counted
in *sweeps*. One sweep of Base E-VI is |S||A|M evaluations; where functions are fitted, one sweep of
FVI is N|A|M evaluations.

The paper does not say how long its runs are; its optimum comes from 50 iterations of Base E-VI. The
budgets here were fixed before the runs that are judged, for the first two with another seed:

inventory   12 sweeps, by which Base E-VI and E-QI have levelled off. These two continue to 50
            sweeps, because the claim that they reach the optimum "eventually" needs the paper's 50
            iterations.
gridworld   60 sweeps: every method of the paper makes at least 50 iterations or has levelled off
            (an upper-level iteration costs two sweeps).
pricing     20 sweeps of FVI.

Slow-agnostic E-VI makes 40 sweeps of its own, which are |X| times cheaper; by then it has long
stopped changing.

Exact FSVI and modified policy iteration with m = T−1 evaluation sweeps are added to each domain.
They are not in the paper. Their work is counted in exact sweeps, |S||A||W|.

A quick experiment makes three replications with a quarter of the budget: enough to try everything,
not enough for verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.formatting import round_significant
from fsdash.runs.local import Ending, Progress, run_all
from fsdash.runs.spec import RunSpec
from fsdash.runs.summary import method_title

HORIZONS = (3, 6, 12)
REPLICATIONS, QUICK_REPLICATIONS = 5, 3
QUICK_SHARE = 0.25
SAMPLES = 50
AGNOSTIC_SWEEPS = 40
LONG_SWEEPS = 50
EXACT_ITERATIONS = 100
DOMAINS = ("inventory", "gridworld", "pricing")


@dataclass(frozen=True)
class PaperRun:
    """One specification; `variant` distinguishes runs of the same algorithm and T."""

    spec: RunSpec
    variant: str = ""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of an experiment: its title, its algorithms and how they are drawn."""

    name: str
    title: str
    algorithms: tuple[str, ...]
    stationary: bool = False
    exact: bool = False
    """Whether work is counted in exact sweeps."""
    last: float | None = None
    """Work up to which the curves are drawn; None for all."""


@dataclass(frozen=True)
class PaperExperiment:
    """The runs of one domain, the units of their work, and the figures that show them."""

    domain: str
    title: str
    where: str
    runs: tuple[PaperRun, ...]
    figures: tuple[FigureSpec, ...]
    sweep: int
    exact_sweep: int
    sweep_of: str
    budget: float
    quick: bool


TABULAR = ("e-vi", "e-qi", "slow-agnostic", "e-fsvi")
LINEAR = ("lin-fvi", "lin-fqi", "lin-fsfvi")
DEEP = ("deep-fvi", "deep-fqi", "deep-fsfvi")
EXACT = ("vi", "fsvi", "mpi")
SNAPSHOTS_PER_SWEEP = {"inventory": 3, "gridworld": 2}
BUDGET_SWEEPS = {"inventory": 12, "gridworld": 60, "pricing": 20}
TITLES = {
    "inventory": ("Inventory control", 'Section "Inventory Control with Fixed Order Costs"'),
    "gridworld": ("Gridworld", 'Section "Gridworld with Spatial Tasks"'),
    "pricing": ("Dynamic pricing", 'Section "Dynamic Pricing with Reference Effects …"'),
}


def experiment(domain: str, quick: bool = False, seed: int = 0) -> PaperExperiment:
    """The paper's experiment on a domain."""
    if domain not in DOMAINS:
        raise InputError(f"experiment = {domain!r}: choose from {', '.join(DOMAINS)}")
    n_slow, n_fast, n_actions, n_noise = make(domain).shape
    fitted = domain == "pricing"
    states = n_slow * n_fast
    sampled_states = states // 10 if fitted else states
    budget = BUDGET_SWEEPS[domain] * (QUICK_SHARE if quick else 1)
    sweep = sampled_states * n_actions * SAMPLES
    runs = (_fitted if fitted else _tabular)(domain, sweep, budget, quick, seed)
    title, where = TITLES[domain]
    return PaperExperiment(
        domain,
        title,
        where,
        runs + _exact(domain, seed),
        _figures(domain, budget),
        sweep,
        states * n_actions * n_noise,
        "FVI" if fitted else "Base E-VI",
        budget,
        quick,
    )


def mpi_variant(T: int) -> str:
    """The variant of modified policy iteration whose iterations cost as much as those of FSVI."""
    return f"m={T - 1}"


def _tabular(
    domain: str, sweep: int, budget: float, quick: bool, seed: int
) -> tuple[PaperRun, ...]:
    common = {
        "parameters": {"snapshots_per_sweep": SNAPSHOTS_PER_SWEEP[domain]},
        "replications": QUICK_REPLICATIONS if quick else REPLICATIONS,
        "seed": seed,
    }
    work = int(budget * sweep)
    base = max(work, int(LONG_SWEEPS * sweep * (QUICK_SHARE if quick else 1)))
    return (
        PaperRun(RunSpec(domain, "e-vi", evaluations=base, **common)),
        PaperRun(RunSpec(domain, "e-qi", evaluations=base, **common)),
        PaperRun(RunSpec(domain, "slow-agnostic", iterations=AGNOSTIC_SWEEPS, **common)),
        *(PaperRun(RunSpec(domain, "e-fsvi", T=T, evaluations=work, **common)) for T in HORIZONS),
    )


def _fitted(domain: str, sweep: int, budget: float, quick: bool, seed: int) -> tuple[PaperRun, ...]:
    common = {
        "replications": QUICK_REPLICATIONS if quick else REPLICATIONS,
        "seed": seed,
        "evaluations": int(budget * sweep),
    }
    # Policies are extracted from the sampled paths of the iteration ("kept") instead of from fresh
    # paths: each policy has the same distribution, in half the time.
    extraction = {True: {"extract": "kept", "lower_policy": "frozen"}, False: {}}
    return tuple(
        PaperRun(
            RunSpec(domain, name, T=T, parameters=extraction[ALGORITHMS[name].freezes], **common)
        )
        for name in LINEAR + DEEP
        for T in (HORIZONS if ALGORITHMS[name].freezes else (None,))
    )


def _exact(domain: str, seed: int) -> tuple[PaperRun, ...]:
    budget = {"iterations": EXACT_ITERATIONS, "seed": seed}
    return (
        PaperRun(RunSpec(domain, "vi", **budget)),
        *(PaperRun(RunSpec(domain, "fsvi", T=T, **budget)) for T in HORIZONS),
        *(
            # enough=0 always makes m sweeps; with fewer, an iteration would cost less than FSVI's.
            PaperRun(
                RunSpec(domain, "mpi", parameters={"m": T - 1, "enough": 0.0}, **budget),
                mpi_variant(T),
            )
            for T in HORIZONS
        ),
    )


def _figures(domain: str, budget: float) -> tuple[FigureSpec, ...]:
    title, _ = TITLES[domain]
    exact = FigureSpec(f"{domain}-exact", f"{title}: the model is known", EXACT, exact=True)
    if domain == "pricing":
        return (
            FigureSpec("pricing-linear", f"{title}, linear regression", LINEAR),
            FigureSpec("pricing-deep", f"{title}, networks", DEEP),
            exact,
        )
    figures = (
        FigureSpec(domain, title, TABULAR, last=budget),
        FigureSpec(
            f"{domain}-stationary",
            f"{title}: with the policy greedy for the frozen J",
            ("e-vi", "e-fsvi"),
            stationary=True,
            last=budget,
        ),
        exact,
    )
    if domain == "inventory":
        figures += (
            FigureSpec(f"{domain}-long", f"{title}: {LONG_SWEEPS} sweeps", ("e-vi", "e-qi")),
        )
    return figures


# --------------------------------------------------------------------------------------- execution


def run_experiment(
    plan: PaperExperiment, workers: int = 1, progress: Progress | None = None
) -> tuple[pd.DataFrame, list[Ending]]:
    """All rows of an experiment, rounded to the archived digits, and how each replication ended."""
    frames, endings = [], []
    for variant in dict.fromkeys(run.variant for run in plan.runs):
        specs = [run.spec for run in plan.runs if run.variant == variant]
        frame, ended = run_all(specs, workers if len(specs) > 1 else 1, progress=progress)
        frames.append(frame.assign(variant=variant))
        endings += ended
    return named(compact(pd.concat(frames, ignore_index=True))), endings


def compact(frame: pd.DataFrame) -> pd.DataFrame:
    """Round to the digits that the certified precision of the values (1e-5) supports."""
    return frame.assign(
        seconds=frame["seconds"].map(lambda s: round_significant(s, 3)),
        mean_return=frame["mean_return"].map(lambda v: round_significant(v, 5)),
        fraction_of_optimal=frame["fraction_of_optimal"].round(4),
        **{
            name: frame[name].map(lambda v: round_significant(v, 4))
            for name in ("mean_regret", "relative_regret", "max_regret")
        },
    )


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a column `method`, the name of each run in legends."""
    titles = [
        method_title(name, None if pd.isna(T) else int(T)) + (f", {variant}" if variant else "")
        for name, T, variant in zip(
            frame["algorithm"], frame["T"], frame["variant"].fillna(""), strict=True
        )
    ]
    return frame.assign(method=titles)
