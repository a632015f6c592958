"""Policies and values as compact bytes.

A policy is kept in the smallest unsigned integers that hold it, values in single precision (they
are looked at, never computed on further); both are compressed with zlib. The bytes say their own
shape and type: they are a NumPy file.
"""

from __future__ import annotations

import io
import zlib

import numpy as np

LEVEL = 1
"""Of compression: the levels above cost many times the time for a few per cent of the size."""


def pack_policy(policy_PXY: np.ndarray) -> bytes:
    return _packed(policy_PXY.astype(np.min_scalar_type(int(policy_PXY.max(initial=0)))))


def pack_values(values_XY: np.ndarray) -> bytes:
    return _packed(values_XY.astype(np.float32))


def unpack(data: bytes, most: int = 0) -> np.ndarray:
    """The array; with `most`, an error if it has more bytes than that (a file from outside)."""
    packing = zlib.decompressobj()
    try:
        raw = packing.decompress(data, most)
    except zlib.error as error:
        raise ValueError(f"not compressed data: {error}") from None
    if packing.unconsumed_tail:
        raise ValueError(f"larger than {most:,} bytes")
    return np.load(io.BytesIO(raw), allow_pickle=False)


def _packed(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return zlib.compress(file.getvalue(), LEVEL)
