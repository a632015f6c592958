"""`fsdash inspect-model`: what a file with a model holds, and what is wrong with it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fsdash.cli.arguments import add_command, add_file_options, file_options, read_model
from fsdash.errors import InputError
from fsdash.formatting import as_json, as_table

if TYPE_CHECKING:
    from fsdash.core.model import FastSlowMDP

CONSTANTS_SECONDS = 20.0
"""Default time limit of the constants."""
REMEDIES = {
    "set normalize=True": "add --normalize",
    'set terminal="missing"': "add --terminal missing",
}
"""Options of this command instead of those in Python."""
SECTIONS = {
    "columns": "Columns",
    "faults": "Data errors and warnings",
    "variables": "State variables",
    "sizes": "Sizes",
    "constants": "Constants",
}


def add_commands(commands) -> None:
    """Add `inspect-model`."""
    p = add_command(
        commands,
        "inspect-model",
        run_inspect_model,
        "check a file with a model: data errors, sizes, suggested slow variables, constants",
    )
    p.add_argument("file", metavar="FILE", help="a file: .csv, .parquet, .json or .npz")
    add_file_options(p)
    p.add_argument(
        "--seconds",
        type=float,
        default=CONSTANTS_SECONDS,
        metavar="S",
        help=f"time limit of the constants; 0 leaves them out (default: {CONSTANTS_SECONDS:g})",
    )


def run_inspect_model(arguments: argparse.Namespace) -> str:
    """Columns, data errors, state variables, sizes and constants, as tables or as JSON.

    The constants need γ; without it they are left out.
    """
    from fsdash.models.columns import guess_columns
    from fsdash.models.faults import count_errors, without_notes
    from fsdash.models.files import read
    from fsdash.models.slow import suggest_slow
    from fsdash.models.transitions import check_transitions

    path, contents = arguments.file, read(arguments.file)
    report: dict[str, Any] = {"file": path}
    if contents.frame is not None:
        guessed = {n: v for n, v in guess_columns(contents.frame).items() if v is not None}
        options = guessed | contents.options | file_options(arguments)
        report["rows"] = len(contents.frame)
        report["columns"] = _columns(options)
        faults = without_notes(check_transitions(contents.frame, **options), REMEDIES)
        report["faults"] = faults.to_dict("records")
        if errors := count_errors(faults):
            print(_describe(report, arguments.format))
            raise InputError(f"{path}: {errors:,} errors; correct the file and try again")
    with_gamma = (
        contents.frame is None or arguments.gamma is not None or "gamma" in contents.options
    )
    if not with_gamma:
        arguments.gamma = 0.0
    model = read_model(path, arguments)
    report["variables"] = suggest_slow(model).to_dict("records")
    report["sizes"] = _sizes(model)
    if arguments.seconds > 0 and with_gamma:
        report["constants"] = _constants(model, arguments.seconds)
    return _describe(report, arguments.format)


def _columns(options: dict[str, Any]) -> dict[str, Any]:
    """Which column is which, and the other options of the table."""
    after = options.get("next_prefix", "next_")
    pairs = after.items() if isinstance(after, dict) else [("", f"{after}…")]
    states = ", ".join(f"{name} → {next_name}".strip() for name, next_name in pairs)
    rest = {n: v for n, v in options.items() if n not in ("next_prefix", "slow", "fast", "gamma")}
    return {"states": states, **rest}


def _sizes(model: FastSlowMDP) -> dict[str, object]:
    """The sizes of the model, its sense, and the memory and time that it needs."""
    from fsdash.models.size import Size

    return {
        "slow": ", ".join(model.slow.names),
        "fast": ", ".join(model.fast.names),
        "n_slow": model.n_slow,
        "n_fast": model.n_fast,
        "n_states": model.n_real,
        "n_actions": model.n_actions,
        "n_pairs": model.n_pairs,
        "sense": model.sense,
        "bytes": model.nbytes,
        "needs": Size.of(model).text,
    }


def _constants(model: FastSlowMDP, seconds: float) -> dict[str, object]:
    """The measured constants within a time limit."""
    from fsdash.compilation import ensure_compiled
    from fsdash.theory.measured import measure

    ensure_compiled()
    return asdict(measure(model, seconds=seconds))


def _describe(report: dict[str, Any], fmt: str) -> str:
    """The report as JSON or as tables with headings."""
    if fmt == "json":
        return as_json(report)
    parts = [f"{report['file']}" + (f": {report['rows']:,} rows" if "rows" in report else "")]
    for name, title in SECTIONS.items():
        if name in report:
            records = report[name] if isinstance(report[name], list) else [report[name]]
            parts += ["", title, as_table(records) if records else "none"]
    return "\n".join(parts)
