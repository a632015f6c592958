"""`fsdash frontier`: methods and T compared by measurement on a model."""

from __future__ import annotations

import argparse

from fsdash.cli.arguments import add_command, add_domain, read_domain, whole_range
from fsdash.formatting import format_records


def add_commands(commands) -> None:
    """Add `frontier`."""
    p = add_command(
        commands, "frontier", run_frontier, "measure the regret and the cost of each method and T"
    )
    add_domain(p)
    p.add_argument(
        "-T",
        type=whole_range,
        default=tuple(range(2, 25)),
        metavar="RANGE",
        help="periods to freeze: 6, 2:24 or 3,6,12 (2:24)",
    )
    p.add_argument(
        "--methods",
        default="fsvi,rolling,mpi,vi",
        metavar="NAMES",
        help="methods, separated by commas (fsvi,rolling,mpi,vi)",
    )
    p.add_argument(
        "--tolerance",
        type=float,
        default=1e-4,
        metavar="EPS",
        help="precision of the values, relative to the largest optimal value (1e-4)",
    )


def run_frontier(arguments: argparse.Namespace) -> str:
    """One record per method, T and k."""
    model = read_domain(arguments).build()
    from fsdash.choice.frontier import frontier
    from fsdash.compilation import ensure_compiled
    from fsdash.runs.frames import records

    ensure_compiled()
    methods = [name.strip() for name in arguments.methods.split(",")]
    frame = frontier(model, arguments.T, methods=methods, tolerance=arguments.tolerance)
    return format_records(records(frame), arguments.format)
