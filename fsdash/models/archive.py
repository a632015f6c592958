"""Models as `.npz` bytes: a zip archive of NumPy arrays and a head in JSON, without pickle.

An archive of unknown origin is read with care. Only known members are opened, and the size that a
member's header claims is compared with the size of the member before memory is allocated.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from typing import IO

import numpy as np
from numpy.lib import format as npy

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.content import (
    FLOATS,
    FROZEN,
    INTEGERS,
    SHARED,
    VALUES,
    Content,
    content_of,
    model_of,
)
from fsdash.models.size import MAX_ARCHIVE_BYTES

HEAD = "head"
MEMBERS = (HEAD, *INTEGERS, *FLOATS, *VALUES, *FROZEN, *SHARED)
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
    content = content_of(model, for_file=True)
    members = {HEAD: np.frombuffer(json.dumps(content.head).encode(), np.uint8), **content.arrays}
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
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays = _read(archive)
        head = json.loads(arrays.pop(HEAD).tobytes().decode())
    except InputError:
        raise
    except (*UNREADABLE, RecursionError) as error:
        raise InputError(
            f"the archive is damaged ({type(error).__name__}); save the model again"
        ) from None
    if not isinstance(head, dict) or "content_hash" not in head:
        raise InputError("the archive has no head with a content_hash; save the model again")
    return model_of(Content(head, arrays))


def _read(archive: zipfile.ZipFile) -> dict[str, np.ndarray]:
    """The arrays of an archive, each checked before it is read."""
    arrays, total = {}, 0
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in MEMBERS or name in arrays:
            raise InputError("the archive has a member that is not part of a model")
        total += member.file_size
        if total > MAX_ARCHIVE_BYTES:
            raise InputError(f"the archive unpacks to more than {MAX_ARCHIVE_BYTES:,} bytes")
        with archive.open(member) as file:
            arrays[name] = _read_array(file, member.file_size, name)
    if HEAD not in arrays:
        raise InputError("the archive has no head; it is not a saved model")
    return arrays


def _read_array(file: IO[bytes], size: int, name: str) -> np.ndarray:
    """An array in NumPy's format; its data must be exactly as long as its header says."""
    if npy.read_magic(file) != (1, 0):
        raise InputError(f"{name}: has an unknown version of NumPy's format; save the model again")
    shape, fortran, dtype = npy.read_array_header_1_0(file)
    kinds = "u" if name == HEAD else "if"
    if dtype.kind not in kinds or dtype.itemsize not in (1, 8) or fortran or len(shape) > 2:
        raise InputError(f"{name}: has the type {dtype}; a model has int64 and float64")
    if math.prod(shape) * dtype.itemsize != size - file.tell():
        raise InputError(f"{name}: is shorter or longer than its header says; the file is damaged")
    data = file.read()  # to the end, so that the checksum is compared
    return np.frombuffer(data, dtype).reshape(shape)
