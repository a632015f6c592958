"""`fsdash domains`, `fsdash algorithms` and `fsdash solve`."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from fsdash.cli.arguments import add_command, add_domain, read_domain
from fsdash.errors import InputError
from fsdash.formatting import format_records, number

if TYPE_CHECKING:
    from fsdash.models.policy import Policy

TOLERANCE = 1e-3
"""The default tolerance of `solve`."""


def add_commands(commands) -> None:
    """Add `domains`, `algorithms` and `solve`."""
    add_command(
        commands,
        "domains",
        run_domains,
        "list the domains, their presets and parameters, and saved models",
    )
    add_command(commands, "algorithms", run_algorithms, "list the algorithms and their parameters")
    p = add_command(
        commands, "solve", run_solve, "solve a domain exactly and compute the policy's true regret"
    )
    add_domain(p)
    p.add_argument(
        "--method", choices=("vi", "fsvi", "mpi"), default="mpi", help="algorithm (default: mpi)"
    )
    p.add_argument("-T", type=int, default=6, help="periods to freeze, for fsvi (default: 6)")
    stop = p.add_mutually_exclusive_group()
    stop.add_argument("--iterations", type=int, metavar="K", help="stop after K iterations")
    stop.add_argument(
        "--tolerance",
        type=float,
        metavar="EPS",
        help="stop when certified within EPS of the method's fixed point (default: 1e-3)",
    )
    p.add_argument("--policy", metavar="FILE", help="write the policy to FILE.csv")


def run_domains(arguments: argparse.Namespace) -> str:
    """One record per preset of each domain and per saved model."""
    from fsdash.domains import DOMAINS

    records = []
    for name, domain in DOMAINS.items():
        for preset, changes in domain.presets.items():
            configured = domain(**changes)
            model = configured.build()
            records.append(
                {
                    "domain": name,
                    "preset": preset,
                    "n_slow": model.n_slow,
                    "n_fast": model.n_fast,
                    "n_states": model.n_states,
                    "n_actions": model.n_actions,
                    "parameters": _assigned(asdict(configured)),
                }
            )
    return format_records([*records, *_saved_models()], arguments.format)


def _saved_models() -> list[dict]:
    """One record per saved model; its name takes the place of a preset's."""
    from fsdash.runs.errors import StoreError
    from fsdash.runs.store.models import users_models

    try:
        saved = users_models()
    except StoreError as error:
        print(f"fsdash domains: {error}", file=sys.stderr)
        return []
    return [
        {
            "domain": model.domain,
            "preset": model.name,
            "n_slow": model.n_slow,
            "n_fast": model.n_fast,
            "n_states": model.n_slow * model.n_fast,
            "n_actions": model.n_actions,
            "parameters": _assigned({"gamma": model.gamma}),
        }
        for model in saved
    ]


def run_algorithms(arguments: argparse.Namespace) -> str:
    """One record per algorithm, with the defaults of its parameters."""
    from fsdash.algorithms.registry import ALGORITHMS

    records = [
        {
            "algorithm": name,
            "title": algorithm.title,
            "freezes": "yes" if algorithm.freezes else "no",
            "parameters": _assigned({n: p.default for n, p in algorithm.all_parameters.items()}),
        }
        for name, algorithm in ALGORITHMS.items()
    ]
    return format_records(records, arguments.format)


def _assigned(parameters: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())


def run_solve(arguments: argparse.Namespace) -> str:
    """One record: the work done, the policy's exact mean value (or cost) and its regret."""
    if arguments.policy:
        check_policy_path(Path(arguments.policy))
    model = read_domain(arguments).build()
    from fsdash.algorithms import fsvi, mpi, run_until, vi
    from fsdash.algorithms.optimum import regret
    from fsdash.compilation import ensure_compiled
    from fsdash.core.certificate import attainable
    from fsdash.models.policy import Policy

    ensure_compiled()
    T = arguments.T if arguments.method == "fsvi" else 1
    algorithm = {"vi": vi, "mpi": mpi, "fsvi": lambda model: fsvi(model, T)}[arguments.method]
    tolerance = arguments.tolerance
    if tolerance is None and arguments.iterations is None:
        tolerance = TOLERANCE
    start = time.perf_counter()
    if tolerance is not None and (least := attainable(model, tolerance)) > tolerance:
        _report(
            f"tolerance = {tolerance}: rounding in double precision allows {number(least)}, which "
            "is used instead"
        )
        tolerance = least
    last = run_until(algorithm(model), iterations=arguments.iterations, tolerance=tolerance)
    seconds = time.perf_counter() - start
    result = regret(model, last.policy_PXY)
    if result.notice:
        _report(result.notice)
    record = {
        "domain": arguments.domain,
        "method": arguments.method,
        "T": T,
        "iterations": last.iteration,
        "backups": last.backups,
        "seconds": seconds,
        **mean_values(result.mean_value, result.optimal_mean_value, model.sense),
        "max_regret": result.max_regret,
        "mean_regret": result.mean_regret,
    }
    if arguments.policy:
        write_policy(arguments.policy, Policy(model, last))
    return format_records([record], arguments.format, record)


def mean_values(policy: float, optimal: float, sense: str) -> dict[str, float]:
    """The mean value of a policy and of the optimal one; of a model of costs, their mean costs."""
    if sense == "min":
        return {"mean_cost": -policy, "optimal_mean_cost": -optimal}
    return {"mean_value": policy, "optimal_mean_value": optimal}


def check_policy_path(path: Path) -> None:
    """Raise an error before the work if a policy cannot be written to a path."""
    if path.suffix != ".csv":
        raise InputError(f"--policy {path}: use a name that ends in .csv")
    if not path.parent.is_dir():
        raise InputError(f"--policy {path}: there is no folder {path.parent}; create it")


def write_policy(path: str, policy: Policy) -> None:
    """Write a policy to a file, and say so on stderr."""
    try:
        policy.save(path)
    except OSError as error:
        raise InputError(f"--policy {path}: cannot be written ({error.strerror})") from None
    phases = f" in each of {policy.period} phases" if policy.period > 1 else ""
    print(f"the actions of {len(policy):,} states{phases} in {path}", file=sys.stderr)


def _report(text: str) -> None:
    print(f"fsdash solve: {text}", file=sys.stderr)
