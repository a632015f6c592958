"""`fsdash frontier` and `fsdash recommend`: methods and T compared by measurement on a model."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from fsdash.cli.arguments import add_command, add_domain, read_domain, whole_range
from fsdash.formatting import format_records, frame_records

if TYPE_CHECKING:
    from fsdash.choice.solved import SolvedModel


def add_commands(commands) -> None:
    """Add `frontier` and `recommend`."""
    p = add_command(
        commands, "frontier", run_frontier, "measure the regret and the cost of each method and T"
    )
    add_domain(p)
    p.add_argument(
        "-T",
        type=whole_range,
        default=tuple(range(2, 25)),
        metavar="RANGE",
        help="periods to freeze: 6, 2:24 or 3,6,12 (default: 2:24)",
    )
    p.add_argument(
        "--methods",
        default="fsvi,rolling,mpi,vi",
        metavar="NAMES",
        help="methods, separated by commas (default: fsvi,rolling,mpi,vi)",
    )
    p.add_argument(
        "--tolerance",
        type=float,
        default=1e-4,
        metavar="EPS",
        help="precision of the values, relative to the largest optimal value (default: 1e-4)",
    )

    p = add_command(
        commands, "recommend", run_recommend, "recommend a method, T and k for a budget"
    )
    add_domain(p)
    budget = p.add_mutually_exclusive_group(required=True)
    budget.add_argument(
        "--sweeps",
        type=float,
        metavar="N",
        help="the budget in sweeps of Base VI; with --sampled, of Base E-VI with 50 samples",
    )
    budget.add_argument(
        "--evaluations", type=float, metavar="N", help="the budget in value-function evaluations"
    )
    budget.add_argument("--seconds", type=float, metavar="S", help="the budget in seconds")
    p.add_argument(
        "--max-regret",
        type=float,
        metavar="R",
        help="recommend the cheapest point with a largest regret of at most R",
    )
    p.add_argument(
        "--sampled",
        action="store_true",
        help="use samples only, all of which count against the budget",
    )
    p.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")


def run_frontier(arguments: argparse.Namespace) -> str:
    """One record per method, T and k."""
    model = read_domain(arguments).build()
    from fsdash.choice.frontier import frontier
    from fsdash.choice.solved import SolvedModel
    from fsdash.compilation import ensure_compiled

    ensure_compiled()
    methods = [name.strip() for name in arguments.methods.split(",")]
    solved = SolvedModel(model)
    measured = frontier(solved, arguments.T, methods=methods, tolerance=arguments.tolerance)
    _report_verdict(arguments.command, solved)
    return format_records(frame_records(measured.points), arguments.format)


def run_recommend(arguments: argparse.Namespace) -> str:
    """One record: the fields of the choice. A table also has the reason as a sentence below it."""
    model = read_domain(arguments).build()
    from fsdash.choice.recommend import recommend
    from fsdash.choice.solved import SolvedModel
    from fsdash.compilation import ensure_compiled

    ensure_compiled()
    solved = SolvedModel(model)
    choice = recommend(
        solved,
        sweeps=arguments.sweeps,
        evaluations=arguments.evaluations,
        seconds=arguments.seconds,
        max_regret=arguments.max_regret,
        sampled=arguments.sampled,
        seed=arguments.seed,
    )
    _report_verdict(arguments.command, solved)
    names = ("method", "T", "k", "evaluations", "mean_regret", "certificate")
    record = {name: getattr(choice, name) for name in names}
    if arguments.format == "table":
        return f"{format_records([record], 'table')}\n\n{choice.why}"
    record["why"] = choice.why
    return format_records([record], arguments.format, record)


def _report_verdict(command: str, solved: SolvedModel) -> None:
    """Say on stderr why freezing does not suit the model, or that U* misses its tolerance."""
    verdict = solved.freezing
    if report := verdict.notice if verdict.suits else verdict.text:
        print(f"fsdash {command}: {report}", file=sys.stderr)
