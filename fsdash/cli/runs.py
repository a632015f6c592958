"""`fsdash run`: learning curves of any algorithm on any domain, from the command line."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field

from fsdash.errors import InputError
from fsdash.formatting import as_table, duration, format_records

DEFAULT_ITERATIONS = 10
MAX_RUNS = 200
BAR = 30


def add_run(p: argparse.ArgumentParser, whole_range) -> None:
    """The arguments of `run` after those of the domain."""
    p.add_argument(
        "--algorithm",
        required=True,
        metavar="NAME",
        action="append",
        help="vi, fsvi, mpi, e-vi, e-fsvi, e-qi, slow-agnostic, lin- or deep- with fvi, fsfvi, fqi;"
        " several with commas",
    )
    p.add_argument(
        "-T",
        type=whole_range,
        default=(6,),
        metavar="RANGE",
        help="periods to freeze: 6, 1:4 or 3,6,12; one run for each (6)",
    )
    p.add_argument("--replications", type=int, default=5, metavar="N", help="(5)")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="(0)")
    p.add_argument(
        "--with",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="change a parameter of the algorithm, such as M=20; may be repeated",
    )
    budget = p.add_mutually_exclusive_group()
    budget.add_argument(
        "--evaluations", type=float, metavar="N", help="stop after N value-function evaluations"
    )
    budget.add_argument(
        "--iterations",
        type=int,
        metavar="K",
        help=f"stop after K iterations ({DEFAULT_ITERATIONS})",
    )
    budget.add_argument("--seconds", type=float, metavar="S", help="stop after S seconds each")
    p.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
    p.add_argument("--out", metavar="FILE", help="write the rows to FILE.csv, .parquet or .json")


def run_run(arguments: argparse.Namespace, domain_parameters: dict) -> str:
    """Carry the runs out; print how they ended, and write their rows if a file is given."""
    from fsdash.runs.frames import check_path, save
    from fsdash.runs.local import run_all

    if arguments.out:
        check_path(arguments.out)
    specs = read_specs(arguments, domain_parameters)
    bar = Bar(sum(spec.replications for spec in specs))
    frame, endings = run_all(specs, arguments.workers, bar.show if sys.stderr.isatty() else None)
    bar.clear()
    if frame.empty:
        raise InputError(f"no policy was recorded: {endings[0].outcome.reason}")
    for ending in endings:
        if ending.outcome.status != "finished" or ending.outcome.rows == 0:
            print(
                f"{ending.spec.label}, replication {ending.replication}: "
                f"{ending.outcome.status}, {ending.outcome.reason}",
                file=sys.stderr,
            )
    shown = show(frame, specs, arguments.format)
    try:
        if arguments.out:
            save(arguments.out, frame, specs)
            print(f"{len(frame):,} rows in {arguments.out}", file=sys.stderr)
    except OSError as error:
        print(shown)
        raise InputError(f"out = {arguments.out}: cannot be written ({error.strerror})") from None
    if any(ending.outcome.status == "cancelled" for ending in endings):
        print(shown)
        raise KeyboardInterrupt
    return shown


def show(frame, specs, fmt: str) -> str:
    """A line for each run, or every row in a format for programs."""
    if fmt == "table":
        return as_table(summary(frame, specs))
    from fsdash.runs.frames import records

    rows = records(frame)
    return format_records(rows, fmt, {"specs": [spec.to_dict() for spec in specs], "rows": rows})


def read_specs(arguments: argparse.Namespace, domain_parameters: dict) -> list:
    """One specification for each algorithm, and for each T where it freezes."""
    from fsdash.algorithms.registry import get_algorithm
    from fsdash.runs.spec import RunSpec

    budget = {name: getattr(arguments, name) for name in ("evaluations", "iterations", "seconds")}
    if not any(value is not None for value in budget.values()):
        budget["iterations"] = DEFAULT_ITERATIONS
    settings = assignments("--with", arguments.settings)
    names = [name.strip() for text in arguments.algorithm for name in text.split(",")]
    specs = []
    for name in dict.fromkeys(names):
        known = get_algorithm(name).all_parameters
        mine = settings if len(names) == 1 else {n: v for n, v in settings.items() if n in known}
        for T in dict.fromkeys(arguments.T) if get_algorithm(name).freezes else (None,):
            specs.append(
                RunSpec(
                    arguments.domain,
                    name,
                    T,
                    domain_parameters,
                    mine,
                    arguments.replications,
                    arguments.seed,
                    **budget,
                )
            )
    if len(specs) > MAX_RUNS:
        raise InputError(f"{len(specs):,} runs asked for; narrow -T to at most {MAX_RUNS} of them")
    used = {name for spec in specs for name, _ in spec.parameters}
    for name in settings:
        if name not in used:
            raise InputError(f"--with {name}: none of {', '.join(names)} has such a parameter")
    return specs


def assignments(option: str, texts: list[str]) -> dict[str, str]:
    """NAME=VALUE texts as a mapping."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            example = "M=20" if option == "--with" else "gamma=0.99"
            raise InputError(f"{option} {text}: write NAME=VALUE, such as {option} {example}")
        values[name.strip()] = value.strip()
    return values


def summary(frame, specs) -> list[dict]:
    """For each run: the work and the value of its last policies, and the best value on the way,
    means over replications."""
    from fsdash.runs.columns import COLUMNS

    means = [c.name for c in COLUMNS if c.role in ("work", "measure") and c.name != "evaluations"]
    records = []
    for spec in specs:
        same_T = frame["T"].isna() if spec.T is None else frame["T"].eq(spec.T)
        mine = frame[frame.algorithm.eq(spec.algorithm) & same_T]
        last = mine.groupby("replication").tail(1)
        if last.empty:
            continue
        records.append(
            {
                "run": spec.label,
                "replications": len(last),
                "policies": len(mine),
                "evaluations": int(last.evaluations.mean()),
                **{name: float(last[name].mean()) for name in means},
                "best_fraction": float(
                    mine.groupby("replication").fraction_of_optimal.max().mean()
                ),
            }
        )
    return records


@dataclass
class Bar:
    """A line on the terminal that tells how much is done and how long the rest may take."""

    tasks: int
    started: float = field(default_factory=time.monotonic)
    shares: dict = field(default_factory=dict)

    def show(self, spec, replication: int, row: dict | None) -> None:
        from fsdash.runs.spec import share_spent

        done = 1.0 if row is None else share_spent(*spec.budget, row)
        self.shares[spec.hash, replication] = done
        share = sum(self.shares.values()) / self.tasks
        spent = time.monotonic() - self.started
        left = f"{duration(spent / share - spent)} left" if share > 0.01 else "starting"
        full = "█" * round(BAR * share)
        print(f"\r{full:░<{BAR}} {100 * share:3.0f}% {left:<20}", end="", file=sys.stderr)

    def clear(self) -> None:
        if self.shares:
            print("\r" + " " * (BAR + 30) + "\r", end="", file=sys.stderr)
