"""An `.npz` file of matrices, as `numpy.savez("model.npz", P=P, R=R, gamma=0.97)` writes it.

=====================  ========================================================================
`P` or `Q`             transition probabilities, in the forms of `from_arrays` but lists
`R`                    rewards, in the forms of `from_arrays`
`gamma`, `beta` or     the discount factor; may be left out
`discount`
`s_indices`,           state and action of each row of P, if P has one row per pair
`a_indices`
`states`               values of the state variables, shape (S,) or (S, d); may be left out
=====================  ========================================================================

The matrices become a table of transitions, so they are checked like any other table. Nothing is
unpickled, and the sizes that the file announces are checked before memory is allocated.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np
import pandas as pd
from numpy.lib import format as npy

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.archive import UNREADABLE, from_bytes
from fsdash.models.arrays import read_law

PROBABILITIES, DISCOUNTS = ("P", "Q"), ("gamma", "beta", "discount")
NAMES = (*PROBABILITIES, "R", *DISCOUNTS, "s_indices", "a_indices", "states")
MAX_NUMBERS = 20_000_000
"""In all matrices of a file together."""


def read_npz(data: bytes) -> tuple[FastSlowMDP | pd.DataFrame, dict[str, Any]]:
    """The model of a file that `save` wrote, or the table of its matrices and its options."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if not {"P", "Q", "R"}.intersection(names):
                return from_bytes(data), {}
            arrays = _read(archive)
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(
            f"the archive is damaged ({type(error).__name__}); save it again"
        ) from None
    return _table(arrays)


def _read(archive: zipfile.ZipFile) -> dict[str, np.ndarray]:
    """The arrays, each checked before it is read."""
    arrays: dict[str, np.ndarray] = {}
    left = MAX_NUMBERS
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in NAMES or name in arrays:
            raise InputError(f"{name[:40]!r}: is not read; an archive has {', '.join(NAMES)}")
        with archive.open(member) as file:
            if npy.read_magic(file) != (1, 0):
                raise InputError(f"{name}: has an unknown version of NumPy's format; save it again")
            shape, fortran, dtype = npy.read_array_header_1_0(file)
            if dtype.kind not in "biuf" or len(shape) > 3:
                raise InputError(f"{name}: has {len(shape)} axes of {dtype}; give numbers")
            left -= math.prod(shape)
            if left < 0:
                raise InputError(
                    f"the matrices have more than {MAX_NUMBERS:,} numbers; give a table of the "
                    "transitions that are possible (.parquet or .csv)"
                )
            if math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
                raise InputError(f"{name}: is shorter or longer than its header says")
            values = np.frombuffer(file.read(), dtype)
        arrays[name] = values.reshape(shape, order="F" if fortran else "C")
    return arrays


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
    given = [float(arrays[name]) for name in DISCOUNTS if name in arrays and not arrays[name].ndim]
    return frame, {"gamma": given[0]} if given else {}


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
