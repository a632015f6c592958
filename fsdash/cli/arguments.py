"""What several commands share: their parser, argument types, and the arguments of a domain or of a
model in a file."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fsdash import formatting
from fsdash.errors import InputError

if TYPE_CHECKING:
    from fsdash.core.model import FastSlowMDP
    from fsdash.domains import Domain

RunCommand = Callable[[argparse.Namespace], str | None]
SUFFIXES = (".csv", ".parquet", ".json", ".npz")
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
NO_VALUE = re.compile(r"(-\w|--?[\w-]+=)--")
"""An option with the value `--`, which argparse drops silently."""


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one line."""

    more_help: Callable[[], str] | None = None
    """What the end of the help says. It is computed only if somebody asks for help."""

    def format_help(self) -> str:
        if self.more_help is not None:
            self.epilog = self.more_help()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {one_line(message)} (see {self.prog} --help)\n")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[override]
        """Parse the arguments, as argparse does, except for options with the value `--`."""
        arguments = list(sys.argv[1:] if args is None else args)
        for argument in arguments:
            if NO_VALUE.fullmatch(argument):
                self.error(f"{argument}: gives no value; write one after {argument[:-2]}")
        return super().parse_known_args(arguments, namespace)


def one_line(message: object) -> str:
    """A message without line breaks, which may come from an argument."""
    return " ".join(str(message).splitlines())


def add_command(
    commands, name: str, run: RunCommand, summary: str, *, records: bool = True
) -> Parser:
    """Add a command. `run` returns the text to print, or None for no output.

    A command that prints records has the option `--format`.
    """
    parser = commands.add_parser(name, help=summary, description=f"{capitalized(summary)}.")
    if records:
        parser.add_argument(
            "--format",
            choices=formatting.FORMATS,
            default="table",
            help="output format (default: table)",
        )
    parser.set_defaults(run=run)
    return parser


def capitalized(text: str) -> str:
    """The text with its first letter in upper case and the others unchanged."""
    return text[0].upper() + text[1:]


def whole_range(text: str, most: int = formatting.MAX_WHOLE_NUMBERS) -> tuple[int, ...]:
    """`formatting.whole_range` as a type for argparse, which wants its own kind of error."""
    try:
        return formatting.whole_range(text, most)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def name_argument(text: str) -> str:
    """The name of a file, a folder or a host, as a type for argparse."""
    if "\0" in text:
        raise argparse.ArgumentTypeError("a name must not contain a null character")
    return text


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where replications are computed."""
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="worker processes (default: 1)"
    )
    parser.add_argument(
        "--cluster",
        type=name_argument,
        metavar="ADDRESS",
        help="compute on the Dask cluster with this scheduler, such as tcp://192.0.2.7:8786",
    )


def assignments(option: str, texts: Sequence[str], example: str) -> dict[str, str]:
    """The `NAME=VALUE` texts given to an option, as a dict; `example` is for the error message."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{option} {text}: write NAME=VALUE, such as {option} {example}")
        values[name.strip()] = value.strip()
    return values


def add_domain(parser: Parser) -> None:
    """Add the arguments that name a domain and change its parameters."""
    parser.more_help = domains_help
    parser.add_argument(
        "domain",
        help="a domain, such as inventory (`fsdash domains` lists them), or a file with a model",
    )
    parser.add_argument(
        "--preset",
        default="default",
        metavar="NAME",
        help="a preset of the domain (default: the one named default)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="parameters",
        help="change a parameter of the domain; can be repeated",
    )
    add_file_options(parser)


def domains_help() -> str:
    """All domains, those of the user included, or why they cannot be listed."""
    from fsdash.domains import DOMAINS

    try:
        return f"Domains: {', '.join(DOMAINS)}."
    except InputError as error:
        return str(error)


def read_domain(arguments: argparse.Namespace) -> Domain:
    """The domain that the arguments describe; a model in a file becomes one."""
    from fsdash.domains import make
    from fsdash.domains.saved import remember
    from fsdash.runs.errors import StoreError

    parameters = assignments("--set", arguments.parameters, "gamma=0.99")
    if Path(arguments.domain).suffix.lower() not in SUFFIXES:
        _refuse_file_options(arguments)
        if arguments.gamma is not None:
            parameters = {"gamma": str(arguments.gamma), **parameters}
        try:
            return make(arguments.domain, arguments.preset, **parameters)
        except StoreError as error:  # a saved model is in the user's database
            raise InputError(str(error)) from None
    model = read_model(arguments.domain, arguments)
    domain = make(remember(model), arguments.preset, **parameters)
    if arguments.slow is None and arguments.fast is None:
        print(
            f"slow: {', '.join(model.slow.names)}; fast: {', '.join(model.fast.names)} (suggested "
            "from how they move; --slow names others)",
            file=sys.stderr,
        )
    return domain


# --------------------------------------------------------------------------------- model in a file


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
        type=_gamma,
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


def _gamma(text: str) -> float:
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


def _refuse_file_options(arguments: argparse.Namespace) -> None:
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
        if (text := getattr(arguments, name)) is not None:
            options[name] = [part.strip() for part in text.split(",") if part.strip()]
    if "next_prefix" in options:
        options["next_prefix"] = _text_or_mapping("--next-prefix", options["next_prefix"])
    if arguments.terminal is not None:
        ends = [text for text in arguments.terminal if text]
        options["terminal"] = [_text_or_mapping("--terminal", text) for text in ends]
    return options


def _text_or_mapping(option: str, text: str) -> str | dict[str, str]:
    """`status=done,stage=3` as a mapping; the name of a column, a prefix or `missing` as it is."""
    return assignments(option, text.split(","), "stock=0") if "=" in text else text
