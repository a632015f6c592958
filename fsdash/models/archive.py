"""`.npz` files: models as `save` writes them, and matrices as `numpy.savez` writes them.

A saved model is a zip archive of NumPy arrays and a head in JSON (`fsdash.models.content`). A file
of matrices, `numpy.savez("model.npz", P=P, R=R, gamma=0.97)`, has the arrays

=====================  ========================================================================
`P` or `Q`             transition probabilities, in the forms of `from_arrays` but lists
`R`                    rewards, in the forms of `from_arrays`
`gamma`, `beta` or     the discount factor; may be left out
`discount`
`s_indices`,           state and action of each row of P, if P has one row per pair
`a_indices`
`states`               values of the state variables, shape (S,) or (S, d); may be left out
=====================  ========================================================================

and becomes a table of transitions, so it is checked like any other table. An archive of unknown
origin is read with care: nothing is unpickled, only known members are opened, and the size that a
member's header claims is compared with the size of the member before memory is allocated.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.lib import format as npy

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.arrays import read_law
from fsdash.models.content import FLOATS, FROZEN, INTEGERS, SHARED, VALUES, content_of, model_of
from fsdash.models.size import MAX_ARCHIVE_BYTES

HEAD = "head"
MEMBERS = (HEAD, *INTEGERS, *FLOATS, *VALUES, *FROZEN, *SHARED)
PROBABILITIES, DISCOUNTS = ("P", "Q"), ("gamma", "beta", "discount")
MATRICES = (*PROBABILITIES, "R", *DISCOUNTS, "s_indices", "a_indices", "states")
MAX_NUMBERS = 20_000_000
"""In all matrices of a file together."""
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    SyntaxError,
)
"""What the standard library raises for a damaged archive."""


def to_bytes(model: FastSlowMDP) -> bytes:
    """Return the model as the bytes of an `.npz` file. Equal models give equal bytes."""
    head, arrays = content_of(model, for_file=True)
    members = {HEAD: np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in members.items():
            # A fixed date: the bytes depend on the model alone.
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as target:
                npy.write_array(target, array, allow_pickle=False)
    return file.getvalue()


def from_bytes(data: bytes) -> FastSlowMDP:
    """Return the model of bytes that `to_bytes` made, checked."""
    return _model(_read(data))


def read_npz(data: bytes) -> tuple[FastSlowMDP | pd.DataFrame, dict[str, Any]]:
    """The model of a file that `save` wrote, or the table of its matrices and its options."""
    arrays = _read(data)
    return _table(arrays) if _has_matrices(arrays) else (_model(arrays), {})


def _has_matrices(names: Iterable[str]) -> bool:
    return not {*PROBABILITIES, "R"}.isdisjoint(names)


def _read(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of an archive, each checked before it is read."""
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {m: m.filename.removesuffix(".npy") for m in archive.infolist()}
            matrices = _has_matrices(members.values())
            if sum(member.file_size for member in members) > MAX_ARCHIVE_BYTES:
                raise InputError(f"the archive unpacks to more than {MAX_ARCHIVE_BYTES:,} bytes")
            numbers_left = MAX_NUMBERS if matrices else math.inf
            for member, name in members.items():
                if name not in (expected := MATRICES if matrices else MEMBERS) or name in arrays:
                    wanted = ", ".join(expected)
                    raise InputError(f"{name[:40]!r}: is not read; an archive has {wanted}")
                with archive.open(member) as file:
                    arrays[name] = _read_array(file, member.file_size, name, numbers_left)
                numbers_left -= arrays[name].size
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(
            f"the archive is damaged ({type(error).__name__}); save it again"
        ) from None
    return arrays


def _read_array(file: IO[bytes], size: int, name: str, numbers_left: float) -> np.ndarray:
    """An array in NumPy's format; its data must be exactly as long as its header says."""
    if npy.read_magic(file) != (1, 0):
        raise InputError(f"{name}: has an unknown version of NumPy's format; save it again")
    shape, fortran, dtype = npy.read_array_header_1_0(file)
    if dtype.kind not in "biuf" or len(shape) > 3:
        raise InputError(f"{name}: has {len(shape)} axes of {dtype}; give numbers")
    if math.prod(shape) > numbers_left:
        raise InputError(
            f"the matrices have more than {MAX_NUMBERS:,} numbers; give a table of the "
            "transitions that are possible (.parquet or .csv)"
        )
    if math.prod(shape) * dtype.itemsize != size - file.tell():
        raise InputError(f"{name}: is shorter or longer than its header says; the file is damaged")
    data = file.read()  # to the end, so that the checksum is compared
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _model(arrays: dict[str, np.ndarray]) -> FastSlowMDP:
    """The model of the arrays of an archive."""
    if HEAD not in arrays:
        raise InputError("the archive has no head; it is not a saved model")
    try:
        head = dict(json.loads(arrays.pop(HEAD).tobytes().decode()))
    except (ValueError, TypeError, RecursionError):
        raise InputError("the head of the archive is damaged; save the model again") from None
    return model_of(head, arrays)


def _table(arrays: dict[str, np.ndarray]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One row per possible transition, with the expected reward of its pair, and γ if given."""
    P = [arrays[name] for name in PROBABILITIES if name in arrays]
    if len(P) != 1 or "R" not in arrays:
        raise InputError("the archive needs the arrays P (or Q) and R, each once")
    law, n_states, _ = read_law(P[0], arrays["R"], arrays.get("s_indices"), arrays.get("a_indices"))
    pair_N = law.row_N
    variables = _variables(arrays.get("states"), n_states)
    frame = pd.DataFrame(
        {
            **{name: values_S[law.state_P[pair_N]] for name, values_S in variables.items()},
            "action": law.action_P[pair_N],
            **{f"next_{name}": values_S[law.next_N] for name, values_S in variables.items()},
            "p": law.probability_N,
            "reward": law.reward_P[pair_N],
        }
    )
    gammas = [float(arrays[name]) for name in DISCOUNTS if name in arrays and not arrays[name].ndim]
    return frame, {"gamma": gammas[0]} if gammas else {}


def _variables(states: np.ndarray | None, n_states: int) -> dict[str, np.ndarray]:
    """The values of each state variable, by its name."""
    if states is None:
        return {"state": np.arange(n_states)}
    if states.ndim not in (1, 2) or len(states) != n_states or not states.size:
        raise InputError(
            f"states: shape {states.shape}; give one row for each of {n_states} states"
        )
    if len(np.unique(states, axis=0)) < n_states:
        raise InputError("states: two states have the same values; give each its own")
    if states.ndim == 1:
        return {"state": states}
    return {f"variable {j + 1}": values_S for j, values_S in enumerate(states.T)}
