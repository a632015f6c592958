"""A model in a file instead of a domain: its options, how it is read, and policy files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsdash.errors import InputError

if TYPE_CHECKING:
    from fsdash.core.model import FastSlowMDP

SUFFIXES = (".csv", ".parquet", ".json", ".npz")
POLICY_SUFFIXES = (".csv", ".json")
COLUMN_OPTIONS = {
    "action": "column of the action",
    "probability": "column of the probability",
    "reward": "column of the reward or cost",
    "next_prefix": "prefix of the columns with next values, such as next_, or these columns by "
    "name: stock=stock_after,price=price_after",
    "initial": "column with the initial probability of the row's state",
}
FILE_OPTIONS = ("slow", "fast", "sense", "terminal", "normalize", *COLUMN_OPTIONS)
"""Options that belong to a file. `--gamma` also changes a domain."""


def is_model_file(text: str) -> bool:
    """Whether an argument names a file and not a domain."""
    return Path(text).suffix.lower() in SUFFIXES


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a model in a file."""
    group = parser.add_argument_group(
        "a model in a file",
        "Instead of a domain, a file with a table of transitions (.csv, .parquet, .json), matrices "
        "P and R (.npz) or a whole model (.npz). Columns are recognised by their names; "
        "`fsdash inspect-model FILE` shows how.",
    )
    group.add_argument(
        "--slow",
        metavar="NAMES",
        help="slow state variables, separated by commas; '' for none (default: those that move "
        "least)",
    )
    group.add_argument(
        "--fast", metavar="NAMES", help="fast state variables (default: all that are not slow)"
    )
    group.add_argument(
        "--gamma",
        type=gamma_argument,
        metavar="G",
        help="discount factor γ, such as 0.97, or a yearly interest rate and the period, such as "
        "8%%/week; can also be used with a domain",
    )
    group.add_argument("--sense", choices=("max", "min"), help="maximise rewards or minimise costs")
    for name, text in COLUMN_OPTIONS.items():
        group.add_argument("--" + name.replace("_", "-"), metavar="NAME", help=text)
    group.add_argument(
        "--terminal",
        action="append",
        metavar="STATES",
        help="terminal states: NAME=VALUE (with commas: all of them hold), a column that is true "
        "where the next state is terminal, or 'missing' for next states without rows of their own; "
        "can be repeated; '' for none (a column done or terminated)",
    )
    group.add_argument(
        "--normalize",
        action="store_true",
        default=None,
        help="rescale probabilities whose sum differs from 1 by at most 0.001, and the initial "
        "distribution",
    )


def gamma_argument(text: str) -> float:
    """γ as a number, or as a yearly rate and a period: `8%/week`."""
    rate, slash, period = text.partition("/")
    try:
        if not slash:
            return float(text)
        from fsdash.models.discount import discount_factor

        percent = rate.strip().removesuffix("%")
        return discount_factor(float(percent) / (1 if percent == rate else 100), period.strip())
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor like 8%/week") from None


def refuse_file_options(arguments: argparse.Namespace) -> None:
    """Raise an error if an option of a file is given together with the name of a domain."""
    for name in FILE_OPTIONS:
        if getattr(arguments, name) is not None:
            option = "--" + name.replace("_", "-")
            raise InputError(
                f"{option} belongs to a model in a file, and {arguments.domain} is a domain; leave "
                f"it out or give a path that ends in {', '.join(SUFFIXES)}"
            )


def read_model(path: str, arguments: argparse.Namespace) -> FastSlowMDP:
    """The model in a file, with the options that were given."""
    from fsdash.models.faults import DataFaults, count_errors
    from fsdash.models.files import load

    try:
        model = load(path, **file_options(arguments))
    except DataFaults as faults:
        errors = count_errors(faults.frame)
        more = f" (`fsdash inspect-model {path}` lists the {errors:,} errors)" if errors > 1 else ""
        raise InputError(f"{path}: {faults}{more}") from None
    except InputError as error:
        raise InputError(str(error) if path in str(error) else f"{path}: {error}") from None
    return model


def file_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, as arguments of `fsdash.load`."""
    options: dict[str, Any] = {
        name: value
        for name in (*COLUMN_OPTIONS, "gamma", "sense", "normalize")
        if (value := getattr(arguments, name)) is not None
    }
    for name in ("slow", "fast"):
        if (given := getattr(arguments, name)) is not None:
            options[name] = names(given)
    if "next_prefix" in options:
        options["next_prefix"] = next_columns(options["next_prefix"])
    if arguments.terminal is not None:
        options["terminal"] = [terminal_states(text) for text in arguments.terminal if text]
    return options


def names(text: str) -> list[str]:
    """The names in a text such as `regime,season`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def next_columns(text: str) -> str | dict[str, str]:
    """A prefix as it is; `stock=stock_after,price=price_after` as a mapping."""
    return _mapping(text) if "=" in text else text


def terminal_states(text: str) -> str | dict[str, str]:
    """`missing` and the name of a column as they are; `status=done,stage=3` as a mapping."""
    return _mapping(text) if "=" in text else text


def _mapping(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {name.strip(): value.strip() for name, _, value in pairs}


def report_split(model: FastSlowMDP) -> None:
    """Say on stderr which variables were taken as slow."""
    print(
        f"slow: {', '.join(model.slow.names)}; fast: {', '.join(model.fast.names)} (suggested from "
        "how they move; --slow names others)",
        file=sys.stderr,
    )


# ------------------------------------------------------------------------------------ policy files


def check_policy_path(path: str) -> None:
    """Raise an error before the work if a policy cannot be written to a path."""
    if Path(path).suffix not in POLICY_SUFFIXES:
        raise InputError(f"--policy {path}: use a name that ends in {' or '.join(POLICY_SUFFIXES)}")
    if not Path(path).parent.is_dir():
        raise InputError(f"--policy {path}: there is no folder {Path(path).parent}; create it")


def write_policy(path: str, model: FastSlowMDP, solution: Any) -> None:
    """Write the policy of a snapshot to a file, and say so on stderr."""
    policy = model.policy(solution)
    try:
        policy.save(path)
    except OSError as error:
        raise InputError(f"--policy {path}: cannot be written ({error.strerror})") from None
    phases = f" in each of {policy.period} phases" if policy.period > 1 else ""
    print(f"the actions of {len(policy):,} states{phases} in {path}", file=sys.stderr)
