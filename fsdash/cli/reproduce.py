"""`fsdash reproduce`: recompute the paper's figures and check its claims."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryFile

from fsdash.cli.arguments import add_command, add_workers, name_argument
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
    from fsdash.reproduce.budgets import compute_beyond
    from fsdash.reproduce.experiments import DOMAINS, compute_experiments
    from fsdash.reproduce.judging import claims_table
    from fsdash.reproduce.report import QUICK, write_report
    from fsdash.reproduce.settings import Setting

    setting = Setting(arguments.count, arguments.ties, arguments.share)
    folder = Path(arguments.out)
    _check_writable(folder)
    ensure_compiled()
    names = [d for d in DOMAINS if arguments.topic in (d, "all")]
    results, endings = compute_experiments(
        names,
        arguments.quick,
        arguments.seed,
        workers=arguments.workers,
        cluster=arguments.cluster,
        report=_report,
    )
    if names and not results:
        raise KeyboardInterrupt
    with_beyond = arguments.topic in (BEYOND, "all")
    budgets = compute_beyond(arguments.quick, arguments.seed, _report) if with_beyond else None
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
