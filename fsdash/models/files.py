"""Saving and loading models: `.npz`, `.csv`, `.parquet` and `.json`.

A file that `save` wrote is complete: `load(path)` gives the same model, with the same content hash.
A table from elsewhere (CSV, Parquet, JSON) is read by `from_transitions`, with its options, and so
are the matrices P and R of an `.npz` file. No file is executed or unpickled, and sizes are checked
before memory is allocated (`fsdash.models.size`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.archive import read_npz, to_bytes
from fsdash.models.assemble import resplit
from fsdash.models.columns import NO_GAMMA, OPTIONS, guess_columns
from fsdash.models.json_files import read_json, to_json
from fsdash.models.size import MAX_FILE_BYTES, MAX_JSON_BYTES
from fsdash.models.tables import read_csv, read_parquet, write_csv, write_parquet
from fsdash.models.transitions import from_transitions

SUFFIXES = (".npz", ".csv", ".parquet", ".json")
RESPLIT_OPTIONS = ("slow", "fast", "gamma", "name")
"""What can be changed about a complete model while it is loaded."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds: a complete model, or a table with the options that the file gives."""

    model: FastSlowMDP | None = None
    frame: pd.DataFrame | None = None
    options: dict[str, Any] = field(default_factory=dict)


def save(model: FastSlowMDP, path: str | Path) -> None:
    """Write a model to a file, in the format of its ending.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    path : str or Path
        A path that ends in .npz, .csv, .parquet or .json. What `load` would refuse as too large is
        not written; an error says which format has room.

    Returns
    -------
    None
        `load` reads the file back.

    Examples
    --------
    >>> import tempfile
    >>> import fsdash
    >>> model = fsdash.make("gridworld").build()
    >>> path = f"{tempfile.mkdtemp()}/model.npz"
    >>> fsdash.save(model, path)
    >>> fsdash.models.content_hash(fsdash.load(path)) == fsdash.models.content_hash(model)
    True
    """
    path = Path(path)
    suffix = _suffix(path.name)
    part = path.with_name(f"{path.name}.part")
    try:
        if suffix == ".npz":
            part.write_bytes(to_bytes(model))
        elif suffix == ".json":
            part.write_text(to_json(model), encoding="utf-8")
        elif suffix == ".csv":
            with part.open("wb") as file:
                write_csv(model, file)
        else:
            write_parquet(model, part)
        if part.stat().st_size > _limit(suffix):
            remedy = "use a coarser model" if suffix == ".npz" else "save it as .npz"
            raise InputError(
                f"{model.name}: the file would exceed {_limit(suffix):,} bytes, the limit for "
                f"{suffix}; {remedy}"
            )
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | Path | BinaryIO, **options: Any) -> FastSlowMDP:
    """Read a model from a file.

    Parameters
    ----------
    path : str, Path or binary file
        A file that ends in .npz, .csv, .parquet or .json. An open file needs a `name`.
    **options
        For a table of transitions, or an .npz file with matrices P and R: the arguments of
        `from_transitions`; `gamma` is needed unless the file has it, column names are guessed
        (`guess_columns`). For a complete model: `slow`, `fast`, `gamma` or `name`
        to change them.

    Returns
    -------
    FastSlowMDP
        The model. `InputError` is raised if the file cannot be used.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import fsdash
    >>> model = fsdash.make("inventory", y_max=10).build()
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
    >>> fsdash.save(model, path)
    >>> fsdash.load(path).n_states == model.n_states
    True
    """
    contents = read(path)
    if contents.model is not None:
        _check_options(options, RESPLIT_OPTIONS, "of a complete model")
        return resplit(contents.model, **options) if options else contents.model
    assert contents.frame is not None
    given = contents.options | options
    _check_options(given, OPTIONS, "of a table")
    if "gamma" not in given:
        raise InputError(NO_GAMMA)
    guessed = guess_columns(contents.frame).options
    given = {"slow": None, "name": _name(path)} | guessed | given
    return from_transitions(contents.frame, **given)


def _check_options(given: dict[str, Any], known: tuple[str, ...], kind: str) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise InputError(f"{unknown[0]!r}: is not an option {kind}; they are {', '.join(known)}")


def read(path: str | Path | BinaryIO) -> Contents:
    """Read a file without building a model from a table; see `load`."""
    suffix, size = _suffix(_name(path, whole=True)), _size(path)
    if size > (limit := _limit(suffix)):
        raise InputError(f"the file has {size:,} bytes; the limit for {suffix} is {limit:,}")
    if isinstance(path, str | Path):
        with Path(path).open("rb") as file:
            return _read(file, suffix)
    path.seek(0)
    return _read(path, suffix)


def _read(file: BinaryIO, suffix: str) -> Contents:
    options: dict[str, Any] = {}
    found: FastSlowMDP | pd.DataFrame
    if suffix == ".npz":
        found, options = read_npz(file.read())
    elif suffix == ".json":
        found, options = read_json(file.read())
    else:
        found = read_csv(file) if suffix == ".csv" else read_parquet(file)
    if isinstance(found, FastSlowMDP):
        return Contents(model=found)
    return Contents(frame=found, options=options)


def _limit(suffix: str) -> int:
    """The largest file with this ending, in bytes."""
    return MAX_JSON_BYTES if suffix == ".json" else MAX_FILE_BYTES


def _suffix(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{name}: its ending is not one of {', '.join(SUFFIXES)}; use one of them")
    return suffix


def _name(path: str | Path | BinaryIO, whole: bool = False) -> str:
    """The name of a file, without its ending unless the whole name is asked for."""
    given = path if isinstance(path, str | Path) else getattr(path, "name", "")
    return Path(given).name if whole else Path(given).stem


def _size(path: str | Path | BinaryIO) -> int:
    """The size of a file in bytes."""
    if not isinstance(path, str | Path):
        return path.seek(0, os.SEEK_END)
    try:
        if not Path(path).is_file():
            raise InputError(f"{path}: there is no such file")
        return Path(path).stat().st_size
    except (OSError, ValueError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{path}: {error}") from None
