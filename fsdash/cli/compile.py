"""`fsdash compile`: compile the numerical kernels before they are needed."""

from __future__ import annotations

import argparse
import sys

from fsdash.cli.arguments import add_command


def add_commands(commands) -> None:
    """Add `compile`."""
    parser = add_command(
        commands, "compile", run_compile, "compile the numerical kernels", records=False
    )
    parser.add_argument("--force", action="store_true", help="compile them again")


def run_compile(arguments: argparse.Namespace) -> None:
    """Compile the kernels, or report that they are compiled."""
    from fsdash.compilation import compile_kernels, is_compiled

    if is_compiled() and not arguments.force:
        print("The numerical kernels are already compiled.", file=sys.stderr)
    else:
        compile_kernels()
