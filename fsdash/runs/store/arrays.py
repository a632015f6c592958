"""Policies and values as compact bytes.

A policy is stored in the smallest unsigned integers that hold it, and values in single precision:
they are shown, never used in computations. Both are NumPy files, which record their own shape and
type, compressed with zlib.
"""

from __future__ import annotations

import io
import zlib

import numpy as np

COMPRESSION_LEVEL = 1
"""Higher levels take many times as long and save a few per cent."""


def pack_policy(policy_PXY: np.ndarray) -> bytes:
    """A policy as bytes."""
    return _pack(policy_PXY.astype(np.min_scalar_type(int(policy_PXY.max(initial=0)))))


def pack_values(values_XY: np.ndarray) -> bytes:
    """Values as bytes, in single precision."""
    return _pack(values_XY.astype(np.float32))


def unpack(data: bytes, max_bytes: int = 0) -> np.ndarray:
    """The array. With `max_bytes`, a larger array is a ValueError: a file may be malicious."""
    decompressor = zlib.decompressobj()
    try:
        raw = decompressor.decompress(data, max_bytes)
    except zlib.error as error:
        raise ValueError(f"not compressed data: {error}") from None
    if decompressor.unconsumed_tail:
        raise ValueError(f"larger than {max_bytes:,} bytes")
    array: np.ndarray = np.load(io.BytesIO(raw), allow_pickle=False)
    return array


def _pack(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return zlib.compress(file.getvalue(), COMPRESSION_LEVEL)
