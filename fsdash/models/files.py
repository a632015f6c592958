"""Saving and loading models.

`save` writes a complete model (`.npz`), which `load(path)` reads back with the same content hash,
or its table of transitions (`.csv`) for other programs. Tables (`.csv`, `.parquet`, `.json`) are
read by `from_transitions`, with its options, and so are the matrices P and R of an `.npz` file. No
file is executed or unpickled, and sizes are checked before memory is allocated
(`fsdash.models.size`).
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
from fsdash.models.size import MAX_FILE_BYTES, MAX_JSON_BYTES
from fsdash.models.tables import read_csv, read_json, read_parquet, write_csv
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
    """Write a model to a file.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    path : str or Path
        A path that ends in .npz for the complete model, or in .csv for its table of transitions,
        which does not say γ and which variables are slow. What `load` would refuse as too large is
        not written.

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
    part = path.with_name(f"{path.name}.part")
    try:
        if path.suffix.lower() == ".npz":
            part.write_bytes(to_bytes(model))
        elif path.suffix.lower() == ".csv":
            write_csv(model, part)
        else:
            raise InputError(f"{path.name}: a model is saved as .npz or .csv; use one of them")
        if part.stat().st_size > MAX_FILE_BYTES:
            raise InputError(
                f"{model.name}: the file would exceed {MAX_FILE_BYTES:,} bytes, the limit for "
                f"{path.suffix}; use a coarser model"
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
    >>> fsdash.models.content_hash(fsdash.load(path)) == fsdash.models.content_hash(model)
    True
    """
    contents = read(path)
    if contents.model is not None:
        _check_options(options, RESPLIT_OPTIONS, "of a complete model")
        return resplit(contents.model, **options) if options else contents.model
    assert contents.frame is not None
    options = contents.options | options
    _check_options(options, OPTIONS, "of a table")
    if "gamma" not in options:
        raise InputError(NO_GAMMA)
    defaults = {"slow": None, "name": Path(_name(path)).stem}
    return from_transitions(contents.frame, **(defaults | guess_columns(contents.frame) | options))


def _check_options(options: dict[str, Any], allowed: tuple[str, ...], kind: str) -> None:
    if unknown := sorted(set(options) - set(allowed)):
        raise InputError(f"{unknown[0]!r}: is not an option {kind}; they are {', '.join(allowed)}")


def read(path: str | Path | BinaryIO) -> Contents:
    """Read a file without building a model from a table; see `load`."""
    name = _name(path)
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{name}: its ending is not one of {', '.join(SUFFIXES)}; use one of them")
    size, limit = _size(path), MAX_JSON_BYTES if suffix == ".json" else MAX_FILE_BYTES
    if size > limit:
        raise InputError(f"the file has {size:,} bytes; the limit for {suffix} is {limit:,}")
    if isinstance(path, str | Path):
        with Path(path).open("rb") as file:
            return _read(file, suffix)
    path.seek(0)
    return _read(path, suffix)


def _read(file: BinaryIO, suffix: str) -> Contents:
    if suffix == ".npz":
        content, options = read_npz(file.read())
        if isinstance(content, FastSlowMDP):
            return Contents(model=content)
        return Contents(frame=content, options=options)
    if suffix == ".json":
        frame, options = read_json(file)
        return Contents(frame=frame, options=options)
    return Contents(frame=read_csv(file) if suffix == ".csv" else read_parquet(file))


def _name(path: str | Path | BinaryIO) -> str:
    return Path(path if isinstance(path, str | Path) else getattr(path, "name", "")).name


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
