"""The paper's experiments as lists of runs (Section "Numerical Experiments").

As in the paper, γ = 0.995, M = M_u = 50, M_l = 1, and there are five replications. Work is counted
in *sweeps*: everywhere, one sweep is |S||A|M evaluations with M = 50, the work of one sweep of Base
E-VI. An iteration of FVI updates a tenth of the states, so it is a tenth of a sweep.

The paper does not say how long its runs are. Its optimum comes from 50 iterations of Base E-VI with
M = 100, the *yardstick*, which is run here too. The budgets were fixed before the first full run,
for inventory and gridworld after a pilot run with another seed:

inventory   12 sweeps, by which Base E-VI and E-QI have levelled off. These two continue to 50
            sweeps, because the claim that they reach the optimum "eventually" needs the paper's 50
            iterations.
gridworld   60 sweeps: every method of the paper makes at least 50 iterations or has levelled off
            (an upper-level iteration costs two sweeps).
pricing     2 sweeps, which are 20 iterations of FVI.

Slow-agnostic E-VI makes 40 sweeps of its own, which are |X| times cheaper; by then it has long
stopped changing. Methods that freeze the slow state make twice the work of the budget, so that they
fill it if an upper-level sample counts as one evaluation instead of two (`settings`). Every sampled
method runs twice: with ties broken at random, and by the first index.

Not in the paper:

exact     VI, FSVI and modified policy iteration with m = T−1 evaluation sweeps. Their work is
          counted in exact sweeps, |S||A||W|.
samples   Base E-VI with M = 50, 200 and 500, each with separate samples for every action and with
          common random numbers, on the two tabular domains (`samples` says why).

A quick experiment makes three replications with a quarter of the budget: enough to try everything,
not enough for verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

import pandas as pd

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.formatting import round_significant
from fsdash.reproduce.settings import COUNTS, TIES_ORDER
from fsdash.runs.progress import ProgressBar
from fsdash.runs.records import method_title
from fsdash.runs.runner import Ending, Progress, run_all
from fsdash.runs.spec import RunSpec

HORIZONS = (3, 6, 12)
REPLICATIONS, QUICK_REPLICATIONS = 5, 3
QUICK_SHARE = 0.25
SAMPLES = 50
AGNOSTIC_SWEEPS = 40
LONG_SWEEPS = 50
YARDSTICK_SAMPLES, YARDSTICK_ITERATIONS = 100, 50
SAMPLE_SIZES = (50, 200, 500)
EXACT_ITERATIONS = 100
DOMAINS = ("inventory", "gridworld", "pricing")


@dataclass(frozen=True)
class PaperRun:
    """One specification; `variant` distinguishes runs of the same algorithm and T."""

    spec: RunSpec
    variant: str = ""
    ties: str = ""
    """How ties are broken; empty for a run that is made once, for every setting."""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of an experiment: its title, its algorithms and how they are drawn."""

    name: str
    title: str
    algorithms: tuple[str, ...]
    variants: tuple[str, ...] = ("",)
    """The variants of the algorithms."""
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
    budget: float
    quick: bool

    def length(self, algorithm: str, variant: str) -> float:
        """The sweeps of a run that count; infinity if they are not limited.

        Base E-VI and E-QI may continue after the budget, because their end is a claim of its own.
        """
        if algorithm in BASE:
            long = LONG_SWEEPS * (QUICK_SHARE if self.quick else 1.0)
            return inf if variant else max(self.budget, long)
        limited = algorithm == "e-fsvi" or algorithm in LINEAR + DEEP
        return self.budget if limited else inf

    def default_runs(self) -> PaperExperiment:
        """The runs behind the paper's claims in the default setting: ties at random, no more work.

        Left out are the runs that are not in the paper.
        """
        most = int(self.budget * self.sweep)
        runs = (run for run in self.runs if run.ties == TIES_ORDER[0])
        return replace(
            self,
            runs=tuple(
                replace(run, spec=replace(run.spec, evaluations=most))
                if run.spec.method.freezes
                else run
                for run in runs
            ),
        )

    def paper_specs(self) -> list[RunSpec]:
        """The runs behind the paper's figures, with ties at random and without the extra work."""
        return [run.spec for run in self.default_runs().runs if not run.variant]


BASE = ("e-vi", "e-qi")
TABULAR = ("e-vi", "e-qi", "slow-agnostic", "e-fsvi")
LINEAR = ("lin-fvi", "lin-fqi", "lin-fsfvi")
DEEP = ("deep-fvi", "deep-fqi", "deep-fsfvi")
EXACT = ("vi", "fsvi", "mpi")
SNAPSHOTS_PER_SWEEP = {"inventory": 3, "gridworld": 2}
BUDGET_SWEEPS = {"inventory": 12, "gridworld": 60, "pricing": 2}
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
    share = QUICK_SHARE if quick else 1.0
    budget = BUDGET_SWEEPS[domain] * share
    sweep = states * n_actions * SAMPLES
    size = {"replications": QUICK_REPLICATIONS if quick else REPLICATIONS, "seed": seed}
    make_runs = _fitted if fitted else _tabular
    runs = [r for ties in TIES_ORDER for r in make_runs(domain, sweep, budget, share, ties, size)]
    if not fitted:
        runs += _samples(domain, share, size)
    title, where = TITLES[domain]
    return PaperExperiment(
        domain,
        title,
        where,
        (*runs, *_exact(domain, seed)),
        _figures(domain, budget),
        sweep,
        states * n_actions * n_noise,
        budget,
        quick,
    )


def mpi_variant(T: int) -> str:
    """The variant of modified policy iteration whose iterations cost as much as those of FSVI."""
    return f"m={T - 1}"


def sample_variant(M: int, common: bool) -> str:
    """The variant of Base E-VI with M samples, with or without common random numbers."""
    return f"M={M}" + (", common random numbers" if common else "")


YARDSTICK = f"M={YARDSTICK_SAMPLES}, yardstick"
"""The variant of Base E-VI by which the paper computes its optimum."""


def _tabular(
    domain: str, sweep: int, budget: float, share: float, ties: str, size: dict
) -> list[PaperRun]:
    parameters = {"snapshots_per_sweep": SNAPSHOTS_PER_SWEEP[domain], "ties": ties}
    work = int(budget * sweep)
    base = max(work, int(LONG_SWEEPS * sweep * share))

    def run(name: str, variant: str = "", M: dict | None = None, **budget: int | None) -> PaperRun:
        spec = RunSpec(domain, name, parameters=parameters | (M or {}), **budget, **size)
        return PaperRun(spec, variant, ties)

    yardstick = max(1, int(YARDSTICK_ITERATIONS * share))
    return [
        run("e-vi", evaluations=base),
        run("e-qi", evaluations=base),
        run("slow-agnostic", iterations=AGNOSTIC_SWEEPS),
        *(run("e-fsvi", T=T, evaluations=COUNTS[0] * work) for T in HORIZONS),
        run(
            "e-vi",
            YARDSTICK,
            {"M": YARDSTICK_SAMPLES, "snapshots_per_sweep": 1},
            iterations=yardstick,
        ),
    ]


def _fitted(
    domain: str, sweep: int, budget: float, share: float, ties: str, size: dict
) -> list[PaperRun]:
    # Policies are extracted from the sampled paths of the iteration ("kept") instead of from fresh
    # paths: each policy has the same distribution, in half the time.
    work = int(budget * sweep)
    runs = []
    for name in LINEAR + DEEP:
        freezes = ALGORITHMS[name].freezes
        parameters = {"ties": ties} | ({"extract": "kept"} if freezes else {})
        for T in HORIZONS if freezes else (None,):
            evaluations = COUNTS[0] * work if freezes else work
            spec = RunSpec(
                domain, name, T=T, parameters=parameters, evaluations=evaluations, **size
            )
            runs.append(PaperRun(spec, "", ties))
    return runs


def _samples(domain: str, share: float, size: dict) -> list[PaperRun]:
    """Base E-VI with more samples and with common random numbers, recorded once in each sweep."""
    iterations = max(1, int(max(BUDGET_SWEEPS[domain], LONG_SWEEPS) * share))
    return [
        PaperRun(
            RunSpec(
                domain,
                "e-vi",
                parameters={
                    "M": M,
                    "common_random_numbers": common,
                    "snapshots_per_sweep": 1,
                    "ties": TIES_ORDER[0],
                },
                iterations=iterations,
                **size,
            ),
            sample_variant(M, common),
        )
        for common in (False, True)
        for M in SAMPLE_SIZES
    ]


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
    variants = ("", *map(mpi_variant, HORIZONS))
    exact = FigureSpec(
        f"{domain}-exact", f"{title}: the model is known", EXACT, variants, exact=True
    )
    if domain == "pricing":
        return (
            FigureSpec("pricing-linear", f"{title}, linear regression", LINEAR, last=budget),
            FigureSpec("pricing-deep", f"{title}, networks", DEEP, last=budget),
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
    plan: PaperExperiment,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, list[Ending]]:
    """All rows of an experiment, rounded to the archived digits, and how each replication ended.

    `workers` and `cluster` say where it is computed, as for `run_all`.
    """
    frames, endings = [], []
    for group in dict.fromkeys((run.variant, run.ties) for run in plan.runs):
        specs = [run.spec for run in plan.runs if (run.variant, run.ties) == group]
        frame, ended = run_all(specs, workers, cluster=cluster, progress=progress)
        frames.append(frame.assign(variant=group[0], ties=group[1]))
        endings += ended
    return named(compact(pd.concat(frames, ignore_index=True))), endings


def compute_experiments(
    names: Sequence[str],
    quick: bool = False,
    seed: int = 0,
    *,
    workers: int = 1,
    cluster: str | None = None,
    report: Callable[[str], None],
) -> tuple[dict[str, tuple[PaperExperiment, pd.DataFrame]], list[Ending]]:
    """By domain: the experiment with its rows; and how each replication ended.

    Ctrl-C keeps the experiments that are complete. `report` is called with a line of text for each.
    """
    plans = [experiment(name, quick, seed) for name in names]
    results, endings = {}, []
    for plan in plans:
        bar = ProgressBar(sum(run.spec.replications for run in plan.runs))
        frame, ended = run_experiment(plan, workers, cluster, bar.update)
        bar.clear()
        if any(e.outcome.status == "cancelled" for e in ended):
            report(f"{plan.title}: interrupted; only earlier, complete experiments are written")
            break
        report(f"{plan.title}: {len(ended)} replications, {len(frame):,} policies")
        results[plan.domain] = (plan, frame)
        endings += ended
    return results, endings


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
