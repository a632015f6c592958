"""`fsdash frontier` and `fsdash plan`: methods compared in hindsight, and a policy for a budget."""

from __future__ import annotations

import argparse
import sys
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsdash.cli.arguments import (
    add_command,
    add_domain,
    name_argument,
    read_domain,
    whole_range,
)
from fsdash.cli.models import check_policy_path, write_policy
from fsdash.formatting import format_records, frame_records, number

if TYPE_CHECKING:
    from fsdash.choice.plan import PlanStep
    from fsdash.choice.solved import SolvedModel


def add_commands(commands) -> None:
    """Add `frontier` and `plan`."""
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
        commands, "plan", run_plan, "find the best policy for a budget, with a certified gap"
    )
    add_domain(p)
    budget = p.add_mutually_exclusive_group()
    budget.add_argument(
        "--seconds", type=float, metavar="S", help="the budget in seconds (default: 10)"
    )
    budget.add_argument(
        "--sweeps",
        type=float,
        metavar="N",
        help="the budget in sweeps of Base VI; with --sampled, of Base E-VI with 50 samples",
    )
    budget.add_argument(
        "--evaluations", type=float, metavar="N", help="the budget in value-function evaluations"
    )
    p.add_argument(
        "--gap",
        type=share,
        default=1e-6,
        metavar="GAP",
        help="stop at this gap between value and bound, such as 1%% (default: 0.0001%%)",
    )
    p.add_argument(
        "--policy",
        type=name_argument,
        metavar="FILE",
        help="write the policy to FILE.csv, also after Ctrl-C",
    )
    p.add_argument(
        "--sampled",
        action="store_true",
        help="use samples only, all of which count against the budget",
    )
    p.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")


def share(text: str) -> float:
    """A share such as 0.01 or 1%, as a type for argparse."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: write a share such as 0.01 or 1%") from None


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
    if not measured.complete:
        print("fsdash frontier: these are the points until the time limit", file=sys.stderr)
    return format_records(frame_records(measured.points), arguments.format)


def run_plan(arguments: argparse.Namespace) -> str | None:
    """One line per improvement, then what was reached. Ctrl-C keeps the best policy so far."""
    if arguments.policy:
        check_policy_path(Path(arguments.policy))
    model = read_domain(arguments).build()
    from fsdash.choice.plan import plan_of, plan_steps
    from fsdash.compilation import ensure_compiled

    ensure_compiled()
    budget = {name: getattr(arguments, name) for name in ("seconds", "sweeps", "evaluations")}
    as_lines, line = arguments.format == "table", StatusLine()
    steps: list[PlanStep] = []
    options = {"gap": arguments.gap, "sampled": arguments.sampled, "seed": arguments.seed}
    interrupted = False
    try:
        for step in plan_steps(model, **budget, **options, progress=line.update):
            steps.append(step)
            if as_lines:
                line.clear()
                print(plan_line(step, model.sense, header=len(steps) == 1), flush=True)
    except KeyboardInterrupt:
        interrupted = True
    line.clear()
    if not steps:
        raise KeyboardInterrupt
    plan = plan_of(model, steps, gap=arguments.gap)
    if arguments.policy:
        write_policy(arguments.policy, plan.policy)
    records = [plan_record(step, model.sense) for step in steps]
    whole = {**records[-1], "why": plan.why, "log": records}
    text = f"\n{plan.why}" if as_lines else format_records(records, arguments.format, whole)
    if interrupted:
        print(text)
        raise KeyboardInterrupt
    return text


def plan_record(step: PlanStep, sense: str) -> dict[str, Any]:
    """A step with its value, or its cost if the rewards are negated costs."""
    sign, name = (-1, "cost") if sense == "min" else (1, "value")
    known = {name: sign * step.value, "bound": sign * step.bound, "gap": step.gap}
    record = dict(zip(("seconds", "evaluations", "sweeps", "method", "T"), step.row, strict=False))
    return record | {key: None if isnan(size) else size for key, size in known.items()}


def plan_line(step: PlanStep, sense: str, header: bool) -> str:
    """A line of the table; the first one with its header."""
    record = plan_record(step, sense)
    name = "cost" if sense == "min" else "value"
    cells = {
        "seconds": f"{step.seconds:.3f}",
        "sweeps": f"{step.sweeps:.2f}",
        "method": step.method + ("" if step.T is None else f" n={step.T}"),
        name: "" if record[name] is None else number(record[name]),
        "bound": "" if record["bound"] is None else number(record["bound"]),
        "gap": "" if record["gap"] is None else f"{number(100 * step.gap)}%",
    }
    rows = [*([cells] * header), cells.values()]
    return "\n".join("".join(f"{cell:>15}" for cell in row) for row in rows)


class StatusLine:
    """A line on stderr with the share of the budget that is spent; none without a terminal."""

    def __init__(self) -> None:
        self.drawn = ""

    def update(self, spent: float) -> None:
        text = f"{spent:4.0%} of the budget"
        if sys.stderr.isatty() and text != self.drawn:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            self.drawn = text

    def clear(self) -> None:
        if self.drawn:
            print(f"\r{' ' * len(self.drawn)}\r", end="", file=sys.stderr, flush=True)
            self.drawn = ""


def _report_verdict(command: str, solved: SolvedModel) -> None:
    """Say on stderr why freezing does not suit the model, or that U* misses its tolerance."""
    verdict = solved.freezing
    if report := verdict.notice if verdict.suits else verdict.text:
        print(f"fsdash {command}: {report}", file=sys.stderr)
