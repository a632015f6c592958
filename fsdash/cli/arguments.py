"""What several commands share: their parser, argument types, and the arguments of a domain."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from fsdash import formatting
from fsdash.cli.model_files import (
    add_file_options,
    is_model_file,
    read_model,
    refuse_file_options,
    report_split,
)
from fsdash.errors import InputError

if TYPE_CHECKING:
    from fsdash.domains import Domain

RunCommand = Callable[[argparse.Namespace], str | None]


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
        given = list(sys.argv[1:] if args is None else args)
        for argument in given:
            if NO_VALUE.fullmatch(argument):
                self.error(f"{argument}: gives no value; write one after {argument[:-2]}")
        return super().parse_known_args(given, namespace)


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
    if not is_model_file(arguments.domain):
        refuse_file_options(arguments)
        if arguments.gamma is not None:
            parameters = {"gamma": str(arguments.gamma), **parameters}
        try:
            return make(arguments.domain, arguments.preset, **parameters)
        except StoreError as error:  # a saved model is in the user's database
            raise InputError(str(error)) from None
    model = read_model(arguments.domain, arguments)
    domain = make(remember(model), arguments.preset, **parameters)
    if arguments.slow is None and arguments.fast is None:
        report_split(model)
    return domain
