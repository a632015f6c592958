"""`fsdash reproduce`: the paper's figures and claims, computed again into a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryFile

from fsdash.errors import InputError

PARTS = ("inventory", "gridworld", "pricing", "theory", "all")
FOLDER = "reproduction"


def add_reproduce(p: argparse.ArgumentParser) -> None:
    """The arguments of `reproduce`."""
    p.add_argument(
        "part",
        nargs="?",
        choices=PARTS,
        default="all",
        help=f"{', '.join(PARTS)} (all)",
        metavar="PART",
    )
    p.add_argument(
        "--quick",
        action="store_true",
        help="three replications on a quarter of the budget, to try it out",
    )
    p.add_argument("--out", default=FOLDER, metavar="FOLDER", help=f"({FOLDER})")
    p.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="(0)")


def run_reproduce(arguments: argparse.Namespace) -> str:
    """Compute, write the folder, and say what came of each claim."""
    from fsdash.formatting import format_records
    from fsdash.reproduce.experiments import DOMAINS
    from fsdash.reproduce.judging import claims_table
    from fsdash.reproduce.report import QUICK, write_report

    folder = Path(arguments.out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out = {folder}: is a file; name a folder")
    path = folder.absolute()
    there = next(place for place in (path, *path.parents) if place.exists())
    try:
        with TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise InputError(f"out = {folder}: cannot be written ({error.strerror})") from None
    names = [d for d in DOMAINS if arguments.part in (d, "all")]
    results, endings = compute(names, arguments.quick, arguments.seed, arguments.workers)
    if names and not results:
        raise KeyboardInterrupt
    with_theory = arguments.part in ("theory", "all")
    judged, missing = write_report(folder, results, with_theory, endings, arguments.quick)
    for ending in endings:
        if ending.outcome.status != "finished":
            _say(
                f"{ending.spec.domain} {ending.spec.label}, replication {ending.replication}: "
                f"{ending.outcome.status}, {ending.outcome.reason}"
            )
    if arguments.quick:
        _say(QUICK)
    if missing:
        _say(missing)
    _say(f"Everything is in {folder}")
    table = claims_table(judged)
    if arguments.format == "table":
        return format_records(table[["name", "verdict", "claim"]].to_dict("records"), "table")
    return format_records(table.to_dict("records"), arguments.format)


def compute(names: list[str], quick: bool, seed: int, workers: int) -> tuple[dict, list]:
    """The experiments of these domains, one after the other: plans with rows, and endings.

    Ctrl-C leaves those that were complete.
    """
    from fsdash.cli.runs import Bar
    from fsdash.reproduce.experiments import carry_out, experiment

    plans = [experiment(name, quick, seed) for name in names]
    results, endings = {}, []
    for plan in plans:
        bar = Bar(sum(run.spec.replications for run in plan.runs))
        frame, ended = carry_out(plan, workers, bar.show if sys.stderr.isatty() else None)
        bar.clear()
        if any(e.outcome.status == "cancelled" for e in ended):
            _say(f"{plan.title}: interrupted; only what was complete before is written")
            break
        _say(f"{plan.title}: {len(ended)} replications, {len(frame):,} policies")
        results[plan.domain] = (plan, frame)
        endings += ended
    return results, endings


def _say(text: str) -> None:
    print(f"fsdash reproduce: {text}", file=sys.stderr)
