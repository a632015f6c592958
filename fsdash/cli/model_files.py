"""A model in a file, in the place of a domain: its options, how it is read, and policy files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsdash.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fsdash.core.model import FastSlowMDP

SUFFIXES = (".csv", ".parquet", ".json", ".npz")
TABLES = (".csv", ".parquet")
"""Files with one row per transition; the others hold a whole model."""
COLUMN_OPTIONS = {
    "action": "column of the action",
    "probability": "column of the probability",
    "reward": "column of the reward or cost",
    "next_prefix": "what the columns of next values have in front, such as next_",
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
        "In the place of a domain, a file with a table of transitions (.csv, .parquet) or a whole "
        "model (.npz, .json). Columns are recognised by their names; `fsdash inspect-model FILE` "
        "shows how.",
    )
    group.add_argument(
        "--slow",
        metavar="NAMES",
        help="slow state variables, separated by commas; '' for none (those that move least)",
    )
    group.add_argument(
        "--fast", metavar="NAMES", help="fast state variables (all that are not slow)"
    )
    group.add_argument(
        "--gamma", type=float, metavar="G", help="discount factor γ, also of a domain"
    )
    group.add_argument("--sense", choices=("max", "min"), help="maximise rewards or minimise costs")
    for name, text in COLUMN_OPTIONS.items():
        group.add_argument("--" + name.replace("_", "-"), metavar="NAME", help=text)
    group.add_argument(
        "--terminal",
        metavar="STATES",
        help="terminal states: NAME=VALUE (several with commas), a column that is true where the "
        "next state is terminal, or 'missing' for next states without rows of their own",
    )
    group.add_argument(
        "--normalize",
        action="store_true",
        default=None,
        help="rescale probabilities whose sum differs from 1 by at most 0.001",
    )


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
    """The model in a file, with the columns that were given or recognised."""
    from fsdash.models import DataFaults, from_transitions, load

    if Path(path).suffix.lower() not in TABLES:
        given = {name: getattr(arguments, name) for name in FILE_OPTIONS}
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            option = "--" + wrong[0].replace("_", "-")
            raise InputError(f"{option}: {path} holds a whole model; leave the option out")
        return load(path)
    frame = read_table(path)
    options = table_options(frame, arguments)
    if options.get("gamma") is None:
        raise InputError(f"--gamma: {path} has no discount factor; give one, such as --gamma 0.97")
    try:
        model = from_transitions(frame, name=Path(path).stem, **options)
    except DataFaults as faults:
        errors = (faults.frame["severity"] == "error").sum()
        more = f" (`fsdash inspect-model {path}` lists all {errors:,} errors)" if errors > 1 else ""
        raise InputError(f"{path}: {faults}{more}") from None
    if arguments.slow is None and arguments.fast is None:
        report_split(model)
    return model


def read_table(path: str) -> pd.DataFrame:
    """The table of transitions in a file."""
    from fsdash.models import read_frame

    return read_frame(path)


def table_options(frame: pd.DataFrame, arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `from_transitions`: recognised columns, replaced by those that are given."""
    from fsdash.models import guess_columns

    options = {n: v for n, v in guess_columns(frame).options.items() if v is not None}
    given = {name: getattr(arguments, name) for name in (*COLUMN_OPTIONS, "sense", "normalize")}
    options |= {name: value for name, value in given.items() if value is not None}
    options["slow"], options["fast"] = names(arguments.slow), names(arguments.fast)
    options["gamma"] = arguments.gamma
    if arguments.terminal is not None:
        options["terminal"] = terminal_states(arguments.terminal)
    return options


def names(text: str | None) -> list[str] | None:
    """The names in a text such as `regime,season`; None if it was not given."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def terminal_states(text: str) -> str | dict[str, str | float]:
    """`missing` and the name of a column as they are; `status=done,stage=3` as a mapping."""
    if "=" not in text:
        return text
    pairs = (part.partition("=") for part in text.split(","))
    return {name.strip(): _value(value.strip()) for name, _, value in pairs}


def _value(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def report_split(model: FastSlowMDP) -> None:
    """Say on stderr which variables were taken as slow."""
    print(
        f"slow: {', '.join(model.slow.names)}; fast: {', '.join(model.fast.names)} (suggested from "
        "how they move; --slow names others)",
        file=sys.stderr,
    )
