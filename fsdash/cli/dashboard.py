"""`fsdash dashboard`: start the dashboard and open it in a browser."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from fsdash.cli.arguments import add_command, name_argument
from fsdash.errors import InputError


def add_commands(commands) -> None:
    """Add `dashboard`."""
    parser = add_command(commands, "dashboard", run_dashboard, "start the dashboard", records=False)
    parser.add_argument(
        "--host",
        type=name_argument,
        default="127.0.0.1",
        help="address to listen on; 0.0.0.0 serves everyone on the network (default: 127.0.0.1)",
    )
    parser.add_argument("--port", type=int, default=8501, help="port to listen on (default: 8501)")
    parser.add_argument(
        "--data",
        type=name_argument,
        metavar="FOLDER",
        help="folder that holds the runs (default: the environment variable FSDASH_DATA, or the "
        "user's data folder)",
    )
    parser.add_argument(
        "--no-browser",
        action="store_true",
        help="do not open a browser; without a terminal or a display none is opened anyway",
    )


def run_dashboard(arguments: argparse.Namespace) -> None:
    """Serve the dashboard until it is stopped."""
    from fsdash.dashboard import server

    if arguments.data is not None:
        os.environ["FSDASH_DATA"] = str(_data_folder(arguments.data))
    open_browser = not arguments.no_browser and server.can_open_browser()
    server.serve(arguments.host, arguments.port, open_browser)


def _data_folder(given: str) -> Path:
    try:
        folder = Path(given).expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: ~name of an unknown user
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"--data {given}: the folder cannot be created ({reason}); choose another one"
        ) from None
    return folder
