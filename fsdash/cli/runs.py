"""`fsdash run`: learning curves of algorithms on a domain."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from fsdash.cli.arguments import (
    add_command,
    add_domain,
    add_workers,
    assignments,
    name_argument,
    read_domain,
    whole_range,
)
from fsdash.errors import InputError
from fsdash.formatting import as_table, format_records, frame_records

if TYPE_CHECKING:
    import pandas as pd

    from fsdash.runs.spec import RunSpec

DEFAULT_ITERATIONS = 10
MAX_RUNS = 200


def add_commands(commands) -> None:
    """Add `run`."""
    p = add_command(commands, "run", run_runs, "run algorithms on a domain, with replications")
    add_domain(p)
    p.add_argument(
        "--algorithm",
        required=True,
        metavar="NAME",
        action="append",
        help="an algorithm, or several separated by commas; `fsdash algorithms` lists them",
    )
    p.add_argument(
        "-T",
        type=whole_range,
        default=(6,),
        metavar="RANGE",
        help="periods to freeze: 6, 1:4 or 3,6,12; one run for each (default: 6)",
    )
    p.add_argument(
        "--replications", type=int, default=5, metavar="N", help="replications per run (default: 5)"
    )
    p.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    p.add_argument(
        "--with",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="change a parameter of the algorithm, such as M=20; can be repeated",
    )
    budget = p.add_mutually_exclusive_group()
    budget.add_argument(
        "--evaluations", type=float, metavar="N", help="stop after N value-function evaluations"
    )
    budget.add_argument(
        "--iterations",
        type=int,
        metavar="K",
        help=f"stop after K iterations (default: {DEFAULT_ITERATIONS}; T for rolling methods)",
    )
    budget.add_argument(
        "--seconds", type=float, metavar="S", help="stop each replication after S seconds"
    )
    add_workers(p)
    p.add_argument(
        "--out",
        type=name_argument,
        metavar="FILE",
        help="write the rows to FILE.csv, .parquet or .json",
    )


def run_runs(arguments: argparse.Namespace) -> str:
    """Carry out the runs; return how they ended, and write their rows if a file is given."""
    from fsdash.compilation import ensure_compiled
    from fsdash.runs.frames import check_path, save
    from fsdash.runs.progress import ProgressBar
    from fsdash.runs.runner import run_all
    from fsdash.runs.spec import run_notes

    if arguments.out:
        check_path(arguments.out)
    specs = read_specs(arguments)
    notes = run_notes(specs)
    ensure_compiled()
    bar = ProgressBar(sum(spec.replications for spec in specs))
    frame, endings = run_all(
        specs, arguments.workers, cluster=arguments.cluster, progress=bar.update
    )
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
    output = format_runs(frame, specs, arguments.format, notes)
    try:
        if arguments.out:
            save(arguments.out, frame, specs)
            print(f"{len(frame):,} rows in {arguments.out}", file=sys.stderr)
    except OSError as error:
        print(output)
        raise InputError(f"out = {arguments.out}: cannot be written ({error.strerror})") from None
    if any(ending.outcome.status == "cancelled" for ending in endings):
        print(output)
        raise KeyboardInterrupt
    return output


def read_specs(arguments: argparse.Namespace) -> list[RunSpec]:
    """One specification per algorithm; per algorithm and T for those that freeze."""
    from fsdash.algorithms.registry import get_algorithm
    from fsdash.runs.spec import RunSpec

    domain = read_domain(arguments)
    budget = {name: getattr(arguments, name) for name in ("evaluations", "iterations", "seconds")}
    no_budget = all(value is None for value in budget.values())
    settings = assignments("--with", arguments.settings, "M=20")
    names = [name.strip() for text in arguments.algorithm for name in text.split(",")]
    T_of = {n: dict.fromkeys(arguments.T) if get_algorithm(n).freezes else (None,) for n in names}
    if (count := sum(map(len, T_of.values()))) > MAX_RUNS:
        raise InputError(f"{count:,} runs are too many; narrow -T to at most {MAX_RUNS} runs")
    specs = []
    for name, T_values in T_of.items():
        known = get_algorithm(name).all_parameters
        # With several algorithms, each takes the settings it knows; an only one must know all.
        own = settings if len(names) == 1 else {n: v for n, v in settings.items() if n in known}
        for T in T_values:
            if no_budget:
                budget["iterations"] = T if get_algorithm(name).ends_at_T else DEFAULT_ITERATIONS
            specs.append(
                RunSpec(
                    domain.name,
                    name,
                    T=T,
                    domain_parameters=asdict(domain),
                    parameters=own,
                    replications=arguments.replications,
                    seed=arguments.seed,
                    **budget,
                )
            )
    used = {name for spec in specs for name, _ in spec.parameters}
    for name in settings:
        if name not in used:
            raise InputError(f"--with {name}: none of {', '.join(names)} has such a parameter")
    return specs


def format_runs(
    frame: pd.DataFrame, specs: list[RunSpec], fmt: str, notes: Mapping[str, str]
) -> str:
    """A table with one line per run, or every row as JSON or CSV.

    Notes of the algorithms follow the table, are part of the JSON, and go to the standard error
    with CSV.
    """
    lines = [f"{label}: {note}" for label, note in notes.items()]
    if fmt == "table":
        table = as_table(summarize(frame, specs))
        return "\n".join([table, "", *lines]) if lines else table
    if fmt == "csv" and lines:
        print("\n".join(lines), file=sys.stderr)
    rows = frame_records(frame)
    content = {"specs": [spec.to_dict() for spec in specs], "rows": rows}
    return format_records(rows, fmt, {**content, "notes": dict(notes)} if notes else content)


def summarize(frame: pd.DataFrame, specs: list[RunSpec]) -> list[dict]:
    """One record per run and kind of policy, with means over its replications.

    The first record of a run is about its own kind of policy, such as the periodic policies of
    E-FSVI; the others are about policies of its unfinished lower level. `start_…` is the value of
    the first policy of that kind, `best_…` the best value that was reached, and `final_…`, like all
    other measures, the value of the last policy. `low` and `high` are the 95% interval of
    `final_…`. Where a share of the optimum has no meaning, regret takes its place. A model of costs
    has a mean cost instead of a mean return.
    """
    from fsdash.runs.measures import shown_measures

    measures, costs = shown_measures(frame), specs[0].build_domain().build().sense == "min"
    records = []
    for spec in specs:
        rows = frame[frame["run"] == spec.hash]
        own = spec.method.own_policy_kind
        for kind in sorted(rows["policy_kind"].unique(), key=lambda kind: (kind != own, kind)):
            record = _record(rows[rows["policy_kind"] == kind], kind, measures)
            if costs and "mean_return" in record:
                record["mean_cost"] = -record.pop("mean_return")
            records.append(record)
    return records


def _record(rows: pd.DataFrame, kind: str, measures: Sequence[str]) -> dict:
    """The summary of one kind of policy of one run; the first measure is the main one."""
    from fsdash.runs.columns import BY_NAME
    from fsdash.runs.measures import possible_range
    from fsdash.runs.summary import interval

    main, by_replication = measures[0], rows.groupby("replication")
    last, values = by_replication.tail(1), by_replication[main]
    best = values.min() if BY_NAME[main].lower_is_better else values.max()
    word = {"fraction_of_optimal": "fraction", "mean_regret": "regret"}.get(main, main)
    finals = {name: float(last[name].mean()) for name in measures}
    least, most = possible_range(rows, main)
    _, low, high, _ = interval(last[main].tolist())
    return {
        "run": rows["method"].iloc[0],
        "policy": kind,
        "replications": len(last),
        "policies": len(rows),
        "evaluations": int(last.evaluations.mean()),
        "seconds": float(last.seconds.mean()),
        f"start_{word}": float(values.first().mean()),
        f"best_{word}": float(best.mean()),
        f"final_{word}": finals.pop(main),
        "low": max(low, least),
        "high": min(high, most),
        **finals,
    }
