"""Policies and values as compact bytes.

A policy is stored in the smallest unsigned integers that hold it, and values in single precision:
they are shown, never used in computations. Both are NumPy files, which record their own shape and
type, compressed with zlib.
"""

from __future__ import annotations

import io
import math
import zlib

import numpy as np

NPY_1 = b"\x93NUMPY\x01\x00"
LONGEST_HEADER = len(NPY_1) + 2 + 2**16
"""Bytes: its length is written in two bytes before it."""
COMPRESSION_LEVEL = 1
"""Higher levels take many times as long and save a few percent."""


def pack_policy(policy_PXY: np.ndarray) -> bytes:
    """A policy as bytes."""
    return _pack(policy_PXY.astype(np.min_scalar_type(int(policy_PXY.max(initial=0)))))


def pack_values(values_XY: np.ndarray) -> bytes:
    """Values as bytes, in single precision."""
    return _pack(values_XY.astype(np.float32))


def unpack(data: bytes, max_bytes: int = 0) -> np.ndarray:
    """The array, or a ValueError: a file may be malicious.

    With `max_bytes`, a larger array is refused before it is unpacked. Only what `pack_policy` and
    `pack_values` write is read: a NumPy file of version 1 with numbers. Its header is read first,
    and no more is unpacked than it announces.
    """
    decompressor = zlib.decompressobj()
    try:
        head = decompressor.decompress(data, LONGEST_HEADER)
        start, shape, dtype = _read_header(head)
        size = start + math.prod(shape) * dtype.itemsize
        if max_bytes and size > max_bytes:
            raise ValueError(f"larger than {max_bytes:,} bytes")
        more = max(0, size - len(head)) + 1
        raw = head + decompressor.decompress(decompressor.unconsumed_tail, more)
    except (zlib.error, OverflowError) as error:
        raise ValueError(f"not compressed data: {error}") from None
    if len(raw) != size:
        raise ValueError(f"not as many bytes as the shape {shape} needs")
    return np.frombuffer(raw, dtype, offset=start).reshape(shape)


def _read_header(head: bytes) -> tuple[int, tuple[int, ...], np.dtype]:
    """Where the numbers of an array begin, its shape and its type."""
    if not head.startswith(NPY_1):
        raise ValueError("not an array")
    file = io.BytesIO(head)
    try:
        file.seek(len(NPY_1))
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # the header is a Python expression: many errors are possible
        raise ValueError(f"an array without a readable header ({type(error).__name__})") from None
    if dtype.kind not in "uf" or fortran_order or min(shape, default=1) < 0:
        raise ValueError(f"not an array of numbers ({dtype})")
    return file.tell(), shape, dtype


def _pack(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return zlib.compress(file.getvalue(), COMPRESSION_LEVEL)
