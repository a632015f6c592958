"""`fsdash backup` and `fsdash restore`: copies of the store of runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from fsdash.cli.arguments import add_command, name_argument
from fsdash.errors import InputError
from fsdash.formatting import file_size


def add_commands(commands) -> None:
    """Add `backup` and `restore`."""
    p = add_command(
        commands,
        "backup",
        run_backup,
        "copy the store of runs into a file, even while servers use it",
        records=False,
    )
    p.add_argument("file", type=name_argument, metavar="FILE", help="the new file")
    p = add_command(
        commands,
        "restore",
        run_restore,
        "replace the content of the store with a backup, even while servers use it",
        records=False,
    )
    p.add_argument("file", type=name_argument, metavar="FILE", help="a file made by fsdash backup")


def run_backup(arguments: argparse.Namespace) -> str:
    """Where the backup is, and its size."""
    from fsdash.runs.store.copies import backup

    size = _explained(backup, None, Path(arguments.file))
    return f"The store was copied to {arguments.file} ({file_size(size)})."


def run_restore(arguments: argparse.Namespace) -> str:
    """Where the content before is."""
    from fsdash.runs.store.copies import restore

    before = _explained(restore, None, Path(arguments.file))
    kept = f" What was stored before is in {before}." if before else ""
    return f"The store now has the content of {arguments.file}.{kept}"


def _explained(act, *arguments):
    """Carry out an action on the store; its errors, and those of files, in one line."""
    from fsdash.runs.errors import StoreError

    try:
        return act(*arguments)
    except StoreError as error:
        raise InputError(str(error)) from None
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}") from None
