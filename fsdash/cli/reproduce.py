"""`fsdash reproduce`: recompute the paper's figures and check its claims."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryFile

from fsdash.cli.arguments import add_command, add_workers, chosen_runner, name_argument
from fsdash.cli.progress import ProgressBar
from fsdash.errors import InputError

BEYOND = "beyond"
TOPICS = ("inventory", "gridworld", "pricing", "theory", BEYOND, "all")
FOLDER = "reproduction"


def add_commands(commands) -> None:
    """Add `reproduce`."""
    p = add_command(
        commands, "reproduce", run_reproduce, "recompute the paper's figures and check its claims"
    )
    p.add_argument(
        "topic",
        nargs="?",
        choices=TOPICS,
        default="all",
        help=f"{', '.join(TOPICS)} (default: all)",
        metavar="TOPIC",
    )
    p.add_argument(
        "--quick",
        action="store_true",
        help="three replications with a quarter of the budget, to try the command",
    )
    p.add_argument(
        "--out",
        type=name_argument,
        default=FOLDER,
        metavar="FOLDER",
        help=f"folder for the results (default: {FOLDER})",
    )
    add_workers(p)
    p.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    p.add_argument(
        "--count",
        type=int,
        choices=(2, 1),
        default=2,
        help="evaluations that a sample of the upper level counts as: 2 or 1 (default: 2)",
        metavar="N",
    )
    p.add_argument(
        "--ties",
        choices=("random", "first"),
        default="random",
        help="how all sampled methods break ties: random or first (default: random)",
        metavar="KIND",
    )
    p.add_argument(
        "--share",
        type=float,
        metavar="SHARE",
        help="judge after this share of the budget, such as 0.5 (default: the shares that a rule "
        "names)",
    )


def run_reproduce(arguments: argparse.Namespace) -> str:
    """Compute, write the folder, and return the verdict on each claim."""
    from fsdash.compilation import ensure_compiled
    from fsdash.formatting import format_records
    from fsdash.reproduce.experiments import DOMAINS
    from fsdash.reproduce.judging import claims_table
    from fsdash.reproduce.report import QUICK, write_report
    from fsdash.reproduce.settings import Setting

    setting = Setting(arguments.count, arguments.ties, arguments.share)
    folder = Path(arguments.out)
    _check_writable(folder)
    ensure_compiled()
    names = [d for d in DOMAINS if arguments.topic in (d, "all")]
    run = chosen_runner(arguments)
    results, endings = compute(names, arguments.quick, arguments.seed, arguments.workers, run)
    if names and not results:
        raise KeyboardInterrupt
    with_beyond = arguments.topic in (BEYOND, "all")
    budgets = compute_beyond(arguments.quick, arguments.seed) if with_beyond else None
    with_theory = arguments.topic in ("theory", "all")
    judged, missing = write_report(
        folder, results, with_theory, endings, arguments.quick, setting, budgets
    )
    for ending in endings:
        if ending.outcome.status != "finished":
            _report(
                f"{ending.spec.domain} {ending.spec.label}, replication {ending.replication}: "
                f"{ending.outcome.status}, {ending.outcome.reason}"
            )
    if arguments.quick:
        _report(QUICK)
    if missing:
        _report(missing)
    _report(f"the results are in {folder}")
    table = claims_table(judged)
    if arguments.format == "table":
        shown = table.assign(
            clear=table["clear_parts"].astype(str) + "/" + table["parts"].astype(str)
        )
        records = shown[["name", "verdict", "clear", "claim"]].to_dict("records")
        return format_records(records, "table")
    return format_records(table.to_dict("records"), arguments.format)


def compute(names: list[str], quick: bool, seed: int, workers: int, run) -> tuple[dict, list]:
    """The results of these domains' experiments, by domain, and how each replication ended.

    `run` carries out specifications, as `run_all` does. A result is the experiment with its rows.
    Ctrl-C keeps the experiments that are complete.
    """
    from fsdash.reproduce.experiments import experiment, run_experiment

    plans = [experiment(name, quick, seed) for name in names]
    results, endings = {}, []
    for plan in plans:
        bar = ProgressBar(sum(run.spec.replications for run in plan.runs))
        frame, ended = run_experiment(plan, workers, bar.update, run)
        bar.clear()
        if any(e.outcome.status == "cancelled" for e in ended):
            _report(f"{plan.title}: interrupted; only earlier, complete experiments are written")
            break
        _report(f"{plan.title}: {len(ended)} replications, {len(frame):,} policies")
        results[plan.domain] = (plan, frame)
        endings += ended
    return results, endings


def compute_beyond(
    quick: bool,
    seed: int,
    domains: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
) -> tuple:
    """All methods, or some, on all domains, or some, at fixed budgets, and certificates."""
    from fsdash.reproduce.budgets import METHODS, SEEDS, compute_budgets
    from fsdash.reproduce.experiments import DOMAINS

    seeds = [first + seed for first in SEEDS][: 2 if quick else None]
    progress = lambda part: _report(f"beyond the paper, {part}")  # noqa: E731
    found = compute_budgets(domains or DOMAINS, seeds, progress, methods or METHODS)
    _report(f"Beyond the paper: {len(seeds)} replications, {len(found[0]):,} policies")
    return found


def _check_writable(folder: Path) -> None:
    """Raise an error before the computation if the folder cannot be written after it."""
    path = folder.absolute()
    try:
        if path.exists() and not path.is_dir():
            raise InputError(f"out = {folder}: is a file; name a folder")
        existing = next(place for place in (path, *path.parents) if place.exists())
        with TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise InputError(f"out = {folder}: cannot be written ({error.strerror})") from None


def _report(text: str) -> None:
    print(f"fsdash reproduce: {text}", file=sys.stderr)
