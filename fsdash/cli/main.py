"""The entry point of the command line.

A command reads its arguments, calls the library and prints records. Bad input gives one line on
stderr and exit code 2.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from fsdash.cli import (
    choice,
    compile,
    dashboard,
    inspect_model,
    models,
    reproduce,
    runs,
    store,
    theory,
)
from fsdash.cli.arguments import Parser, one_line
from fsdash.errors import InputError
from fsdash.version import __version__

COMMAND_MODULES = (
    *(models, inspect_model, theory, choice, runs),
    *(reproduce, dashboard, store, compile),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show γ shows ?
    arguments = parser().parse_args(argv)
    try:
        output = arguments.run(arguments)
        if output is not None:
            print(output)
        sys.stdout.flush()
    except InputError as error:
        print(f"fsdash {arguments.command}: {one_line(error)}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, for example `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError:
        print(f"fsdash {arguments.command}: not enough memory", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"fsdash {arguments.command}: interrupted", file=sys.stderr)
        return 130
    return 0


def parser() -> Parser:
    """The parser with all commands."""
    about = "Frozen-state value iteration: bounds, exact solutions and experiments"
    top = Parser(prog="fsdash", description=about)
    top.add_argument("--version", action="version", version=f"fsdash {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in COMMAND_MODULES:
        module.add_commands(commands)
    return top
