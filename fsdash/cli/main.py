"""The command line: `fsdash COMMAND`, or `python -m fsdash COMMAND`.

    domains     the domains, their parameters and presets
    bounds      the regret bounds and costs for ranges of T and k
    advise      FSVI with which T, or Base VI, under a budget
    constants   the measured constants of a domain
    solve       an exact solution and its true regret
    run         learning curves of any algorithm, replicated
    reproduce   the paper's figures, and what came of each of its claims

Each command reads its arguments, calls the library and prints records. Bad input is one line on
stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, fields, replace

from fsdash import formatting
from fsdash.cli.reproduce import add_reproduce, run_reproduce
from fsdash.cli.runs import add_run, assignments, run_run
from fsdash.errors import InputError
from fsdash.formatting import FORMATS, as_table, format_records
from fsdash.theory import (
    DEFAULT_PRESET,
    PRESETS,
    Constants,
    Sizes,
    advise,
    bounds_table,
    preset,
    value_lipschitz_bound,
)
from fsdash.version import __version__

MAX_RECORDS = 5_000_000
SHOWN = 16
SYMBOLS = {
    "gamma": "discount factor γ, 0 ≤ γ < 1",
    "alpha": "α: the slow state moves at most α·d_Y a step",
    "d_y": "d_Y: the fast state moves at most this far a step",
    "l_r": "L_r, Lipschitz constant of the reward",
    "l_f": "L_f, Lipschitz constant of the transition",
    "l_u": "L_U, Lipschitz constant of U*, or 'auto' for L_r/(1 − γ·L_f)",
    "r_max": "largest reward; rewards are in [0, r_max]",
    "n_slow": "number of slow states |X|",
    "n_fast": "number of fast states |Y|",
    "n_actions": "number of actions |A|",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> None:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show γ shows ?
    arguments = parser().parse_args(argv)
    try:
        print(arguments.run(arguments))
        sys.stdout.flush()
    except InputError as error:
        print(f"fsdash {arguments.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError:
        print(f"fsdash {arguments.command}: does not fit into memory", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"fsdash {arguments.command}: interrupted", file=sys.stderr)
        return 130
    return 0


def parser() -> Parser:
    top = Parser(prog="fsdash", description="Frozen-state value iteration: bounds and solutions.")
    top.add_argument("--version", action="version", version=f"fsdash {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run, text: str) -> Parser:
        p = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        p.add_argument("--format", choices=FORMATS, default="table", help="how to print (table)")
        p.set_defaults(run=run)
        return p

    command("domains", run_domains, "the domains with their parameters and presets")

    p = command("bounds", run_bounds, "regret bounds and costs of FSVI and Base VI")
    add_constants(p)
    p.add_argument("-T", type=whole_range, default=None, metavar="RANGE", help=RANGE_HELP)
    p.add_argument("-k", type=whole_range, default=(1,), metavar="RANGE", help="iterations (1)")

    p = command("advise", run_advise, "which algorithm, T and k have the least bound on a budget")
    add_constants(p)
    p.add_argument(
        "-T",
        type=whole_range,
        default=tuple(range(2, 101)),
        metavar="RANGE",
        help="horizons to choose from: 6, 1:32 or 3,6,12 (2:100)",
    )
    budget = p.add_mutually_exclusive_group(required=True)
    budget.add_argument("--budget", type=float, metavar="B", help="budget in operations")
    budget.add_argument("--sweeps", type=float, metavar="N", help="budget in units of |S|²|A|")

    p = command("constants", run_constants, "the measured constants of a domain")
    add_domain(p)

    p = command("solve", run_solve, "an exact solution of a domain and its true regret")
    add_domain(p)
    p.add_argument("--method", choices=("vi", "fsvi", "mpi"), default="mpi", help="(mpi)")
    p.add_argument("-T", type=int, default=6, help="periods to freeze, for fsvi (6)")
    stop = p.add_mutually_exclusive_group()
    stop.add_argument("--iterations", type=int, metavar="K", help="make K iterations")
    stop.add_argument(
        "--tolerance",
        type=float,
        metavar="EPS",
        default=None,
        help="stop within EPS of the method's fixed point, certified (1e-3)",
    )

    p = command("run", run_learning, "learning curves of algorithms on a domain, replicated")
    add_domain(p)
    add_run(p, whole_range)

    p = command("reproduce", run_reproduce, "the paper's figures and claims, computed again")
    add_reproduce(p)
    return top


RANGE_HELP = "horizons: 6, 1:32 or 3,6,12 (those of the preset)"


def add_constants(p: Parser) -> None:
    p.add_argument(
        "--preset",
        default=DEFAULT_PRESET,
        metavar="NAME",
        help=f"where constants not given come from: {', '.join(PRESETS)} ({DEFAULT_PRESET})",
    )
    for name, text in SYMBOLS.items():
        kind = int if name.startswith("n_") else str if name == "l_u" else float
        p.add_argument("--" + name.replace("_", "-"), type=kind, metavar="N", help=text)


def add_domain(p: Parser) -> None:
    p.add_argument("domain", help="inventory, gridworld or pricing")
    p.add_argument("--preset", default="default", metavar="NAME", help="a preset of the domain")
    p.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="parameters",
        help="change a parameter of the domain; may be repeated",
    )


def whole_range(text: str) -> tuple[int, ...]:
    """`6`, `1:32` (both ends in) or `3,6,12`, as argparse wants it."""
    try:
        return formatting.whole_range(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_constants(arguments: argparse.Namespace) -> tuple[Constants, Sizes, tuple[int, ...]]:
    """The preset with the constants given on the command line, and the horizons."""
    base = preset(arguments.preset)

    def given(kind) -> dict:
        names = [field.name for field in fields(kind)]
        return {n: v for n in names if (v := getattr(arguments, n)) is not None}

    changes, sizes = given(Constants), replace(base.sizes, **given(Sizes))
    l_u = changes.pop("l_u", None)
    constants = replace(base.constants, **changes)
    if l_u is not None:
        constants = replace(constants, l_u=read_l_u(l_u, constants))
    return constants, sizes, arguments.T or base.T


def read_l_u(text: str, constants: Constants) -> float:
    if text != "auto":
        try:
            return float(text)
        except ValueError:
            raise InputError(f"l_u = {text!r}: give a number or 'auto'") from None
    c = constants
    l_u = value_lipschitz_bound(c.gamma, c.l_r, c.l_f)
    if l_u == float("inf"):
        raise InputError(
            f"l_u = auto needs γ·L_f < 1, and it is {c.gamma * c.l_f:.4g}: give L_U as a number, "
            "or a smaller L_f"
        )
    return l_u


def run_bounds(arguments: argparse.Namespace) -> str:
    constants, sizes, T = read_constants(arguments)
    if len(T) * len(arguments.k) > MAX_RECORDS:
        raise InputError(
            f"{len(T) * len(arguments.k):,} records asked for; narrow T or k to at most "
            f"{MAX_RECORDS:,} pairs"
        )
    table = bounds_table(constants, sizes, T, arguments.k)
    columns = [column.ravel().tolist() for column in table.values()]
    records = [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]
    return format_records(records, arguments.format)


def run_advise(arguments: argparse.Namespace) -> str:
    constants, sizes, T = read_constants(arguments)
    if arguments.sweeps is not None and arguments.sweeps < 0:
        raise InputError(f"--sweeps {arguments.sweeps:g} is negative; give a number >= 0")
    budget = arguments.budget if arguments.sweeps is None else arguments.sweeps * sizes.sweep
    advice = advise(constants, sizes, budget, T)
    candidates = [asdict(candidate) for candidate in advice.candidates]
    regimes = [
        {"from": r.start, "to": r.end, "algorithm": r.algorithm, "T": r.T} for r in advice.regimes
    ]
    if arguments.format == "table":
        return describe(advice, sizes, candidates, regimes)
    whole = {
        "budget": advice.budget,
        "choice": asdict(advice.choice),
        "candidates": candidates,
        "regimes": regimes,
        "trivial_bound": advice.trivial_bound,
    }
    return format_records(candidates, arguments.format, whole)


def describe(advice, sizes: Sizes, candidates: list[dict], regimes: list[dict]) -> str:
    """The advice in words, with its candidates and regimes as tables."""
    choice = advice.choice
    name = "Base VI" if choice.algorithm == "VI" else f"FSVI with T = {choice.T}"
    vacuous = choice.regret >= advice.trivial_bound
    verdict = "not below" if vacuous else "below"
    says = "it says nothing about the policy" if vacuous else "it is informative"
    in_sweeps = [
        {**r, "from": r["from"] / sizes.sweep, "to": r["to"] / sizes.sweep} for r in regimes
    ]
    return "\n".join(
        [
            f"On a budget of {advice.budget:.6g} operations "
            f"({advice.budget / sizes.sweep:.4g} sweeps of Base VI): {name}, k = {choice.k:,}.",
            f"Its regret bound is {choice.regret:.6g}, {verdict} r_max/(1 − γ) = "
            f"{advice.trivial_bound:.6g}: {says}.",
            "",
            "What the budget pays for, best first:",
            first_rows(candidates),
            "",
            "Who wins on which budget, in sweeps of Base VI:",
            first_rows(in_sweeps),
        ]
    )


def first_rows(records: list[dict]) -> str:
    more = len(records) - SHOWN
    return as_table(records[:SHOWN]) + (f"\n… and {more} more (--format json)" if more > 0 else "")


def run_domains(arguments: argparse.Namespace) -> str:
    from fsdash.domains import DOMAINS

    records = []
    for name, domain in DOMAINS.items():
        for preset_name, changes in domain.presets.items():
            model = domain(**changes).build()
            records.append(
                {
                    "domain": name,
                    "preset": preset_name,
                    "n_slow": model.n_slow,
                    "n_fast": model.n_fast,
                    "n_states": model.n_states,
                    "n_actions": model.n_actions,
                    "parameters": " ".join(
                        f"{key}={value}" for key, value in asdict(domain(**changes)).items()
                    ),
                }
            )
    return format_records(records, arguments.format)


def read_domain(arguments: argparse.Namespace):
    """The domain with its parameters set."""
    from fsdash.domains import make

    parameters = assignments("--set", arguments.parameters)
    return make(arguments.domain, arguments.preset, **parameters)


def run_learning(arguments: argparse.Namespace) -> str:
    return run_run(arguments, asdict(read_domain(arguments)))


def run_constants(arguments: argparse.Namespace) -> str:
    model = read_domain(arguments).build()
    from fsdash.theory.measured import measure

    record = asdict(measure(model))
    return format_records([record], arguments.format, record)


def run_solve(arguments: argparse.Namespace) -> str:
    model = read_domain(arguments).build()
    from fsdash.algorithms import fsvi, mpi, run_until, vi
    from fsdash.algorithms.optimum import regret

    T = arguments.T if arguments.method == "fsvi" else 1
    algorithm = {"vi": vi, "mpi": mpi, "fsvi": lambda model: fsvi(model, T)}[arguments.method]
    tolerance = arguments.tolerance
    if tolerance is None and arguments.iterations is None:
        tolerance = 1e-3
    start = time.perf_counter()
    last = run_until(algorithm(model), iterations=arguments.iterations, tolerance=tolerance)
    seconds = time.perf_counter() - start
    if tolerance is not None and last.error > tolerance:
        print(
            f"fsdash solve: rounding allows a certificate of {last.error:.2g}, no closer",
            file=sys.stderr,
        )
    result = regret(model, last.policy_PXY)
    if result.error > 1e-3:
        print(f"fsdash solve: values and regrets are within ±{result.error:.2g}", file=sys.stderr)
    record = {
        "domain": arguments.domain,
        "method": arguments.method,
        "T": T,
        "iterations": last.iteration,
        "backups": last.backups,
        "seconds": seconds,
        "mean_value": result.mean_value,
        "optimal_mean_value": result.optimal_mean_value,
        "max_regret": result.max_regret,
        "mean_regret": result.mean_regret,
    }
    return format_records([record], arguments.format, record)
