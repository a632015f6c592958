"""What a model is made of: a few texts and numbers (*head*) and a few arrays.

`.npz` files have this content, and `content_hash` is its SHA-256. The arrays are canonical: pairs
and transitions are sorted, types are int64 and float64, and −0.0 is 0.0. So the hash does not
depend on how a model was built, in which order or with which types. It does depend on everything
that a solution or a figure shows: rewards, law, axes with their words, γ, sense and the initial
distribution. It does not depend on the model's name.

States are numbered x·|Y| + y. A frozen law is stored only if it is not the usual one. A law with
more than `MAX_TRANSITIONS` transitions is stored by its different rows: `pair_row` says which one a
pair has, and `transition_pair` then counts rows instead of pairs.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.errors import InputError
from fsdash.models.law import Law, changed_frozen_law
from fsdash.models.size import MAX_TRANSITIONS, Size

FORMAT = "fsdash-model"
VERSION = 1
AXES = ("slow", "fast", "actions")
INTEGERS = ("pair_state", "pair_action", "transition_pair", "transition_next")
FLOATS = ("pair_reward", "transition_probability", "initial")
VALUES = tuple(f"{axis}_values" for axis in AXES)
FROZEN = ("frozen_pair", "frozen_next", "frozen_probability")
"""The arrays of a frozen law that is not the usual one; they may be absent."""
SHARED = ("pair_row", "pair_frozen")
"""The row of each pair under the true and under the frozen law, if pairs share rows."""
_HASHES: WeakKeyDictionary[FastSlowMDP, str] = WeakKeyDictionary()

Head = dict[str, Any]
Arrays = dict[str, np.ndarray]


def content_of(model: FastSlowMDP, *, for_file: bool = False) -> tuple[Head, Arrays]:
    """The head and the arrays of a model; for a file, an error if it could not be read again."""
    law = Law.of(model, model.true)
    if for_file:
        shared = law.n_transitions > MAX_TRANSITIONS
        transitions = len(law.next_N) if shared else law.n_transitions
        Size(model.n_slow, model.n_fast, model.n_actions, transitions).refuse_too_large()
    arrays = {
        "pair_state": law.state_P,
        "pair_action": law.action_P,
        "pair_reward": law.reward_P,
        "initial": model.initial_XY[model.real_XY],
        **{f"{axis}_values": getattr(model, axis).values for axis in AXES},
        **_law_arrays(law, "transition", "pair_row"),
    }
    if (frozen := changed_frozen_law(model)) is not None:
        arrays |= _law_arrays(frozen, "frozen", "pair_frozen")
    arrays = {name: _canonical(array) for name, array in arrays.items()}
    head = {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "gamma": model.gamma,
        "sense": model.sense,
        **{axis: _describe_axis(getattr(model, axis)) for axis in AXES},
    }
    head["content_hash"] = _hash(head, arrays)
    return head, arrays


def content_hash(model: FastSlowMDP) -> str:
    """The SHA-256 of everything but the name of a model, however it was built.

    Parameters
    ----------
    model : FastSlowMDP
        The model.

    Returns
    -------
    str
        64 hexadecimal digits, computed once for each model object.

    Examples
    --------
    >>> import fsdash
    >>> one, other = (fsdash.make("inventory", y_max=10).build() for _ in range(2))
    >>> fsdash.models.content_hash(one) == fsdash.models.content_hash(other)
    True
    """
    if model not in _HASHES:
        _HASHES[model] = content_of(model)[0]["content_hash"]
    return _HASHES[model]


def _law_arrays(law: Law, kind: str, shared: str) -> Arrays:
    """The arrays of a law: the transitions of each pair, or of the rows if those are too many."""
    if law.n_transitions > MAX_TRANSITIONS:
        rows, parts = {shared: law.row_P}, (law.row_N, law.next_N, law.probability_N)
    else:
        pair_N, take_N = law.transitions_in(law.row_P)
        rows, parts = {}, (pair_N, law.next_N[take_N], law.probability_N[take_N])
    names = (f"{kind}_pair", f"{kind}_next", f"{kind}_probability")
    return rows | dict(zip(names, parts, strict=True))


def _canonical(array: np.ndarray) -> np.ndarray:
    """The array as little-endian int64 or float64, with one zero."""
    if array.dtype.kind in "biu":
        return np.ascontiguousarray(array, dtype="<i8")
    return np.ascontiguousarray(array, dtype="<f8") + 0.0


def _describe_axis(axis: Axis) -> dict[str, Any]:
    described = {
        name: {
            "label": c.label,
            "symbol": c.symbol,
            "unit": c.unit,
            "words": sorted([float(value), str(word)] for value, word in c.words.items()),
        }
        for name, c in axis.coordinates.items()
        if c != Coordinate()
    }
    return {
        "names": list(axis.names),
        "labels": list(axis.labels),
        "title": axis.title,
        "coordinates": described,
    }


def _hash(head: Head, arrays: Arrays) -> str:
    """SHA-256 of everything but the name, as 64 hexadecimal digits."""
    head = {k: v for k, v in head.items() if k not in ("name", "content_hash")}
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


# ------------------------------------------------------------------------------ content to a model


def model_of(head: Head, arrays: Arrays) -> FastSlowMDP:
    """The model of a content of unknown origin.

    The hash finds damage by accident. Somebody may have computed it for a file made to harm, so
    indices are checked as well before they are used.
    """
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        raise InputError(f"format: is not {FORMAT!r}, version {VERSION}; save the model again")
    _check_arrays(arrays)
    if head.get("content_hash") != _hash(head, arrays):
        raise InputError(
            "content_hash: does not fit the content; the file was damaged or edited. Restore it, "
            "or save the model again"
        )
    axes = {axis: _read_axis(axis, head.get(axis), arrays[f"{axis}_values"]) for axis in AXES}
    shape = X, Y, A = len(axes["slow"]), len(axes["fast"]), len(axes["actions"])
    Size(*shape, len(arrays["transition_pair"])).refuse_too_large()
    state_P, action_P = arrays["pair_state"], arrays["pair_action"]
    if not len(state_P) == len(action_P) == len(arrays["pair_reward"]) > 0:
        raise InputError("pairs: state, action and reward must have the same length, at least 1")
    _check_range("pair_state", state_P, X * Y)
    _check_range("pair_action", action_P, A)
    cell_P = state_P * A + action_P
    reward = np.full(X * Y * A, -np.inf)
    reward[cell_P] = arrays["pair_reward"]
    real = np.zeros(X * Y, bool)
    real[state_P] = True
    if len(arrays["initial"]) != np.count_nonzero(real):
        raise InputError("initial: needs one probability for each state with a feasible action")
    initial = np.zeros(X * Y)
    initial[real] = arrays["initial"]
    frozen = None
    if "frozen_pair" in arrays:
        frozen = _rows(arrays, "frozen", "pair_frozen", cell_P, shape)
        _check_frozen(frozen)
    return FastSlowMDP(
        reward_XYA=reward.reshape(shape),
        rows=_rows(arrays, "transition", "pair_row", cell_P, shape),
        frozen_rows=frozen,
        gamma=head.get("gamma"),  # type: ignore[arg-type]  # checked by the model
        slow=axes["slow"],
        fast=axes["fast"],
        actions=axes["actions"],
        initial_XY=initial.reshape(X, Y),
        sense=head.get("sense", "max"),
        name=str(head.get("name", "model")),
    )


def _check_arrays(arrays: Arrays) -> None:
    """The names, types and numbers of axes must be those of a model."""
    frozen = FROZEN if any(name in arrays for name in FROZEN) else ()
    shared = [name for name in SHARED[: 2 if frozen else 1] if name in arrays]
    wanted = [*INTEGERS, *FLOATS, *VALUES, *frozen, *shared]
    if wrong := sorted(set(wanted) ^ set(arrays)):
        raise InputError(f"{wrong[0]}: is missing or not expected; a model has {', '.join(wanted)}")
    for name, array in arrays.items():
        kind = "i" if name in (*INTEGERS, *FROZEN[:2], *SHARED) else "f"
        ndim = 2 if name in VALUES else 1
        if array.dtype.kind != kind or array.ndim != ndim:
            raise InputError(
                f"{name}: has {array.ndim} axes of {array.dtype}; give {ndim} of "
                f"{'whole numbers' if kind == 'i' else 'numbers'}"
            )


def _check_range(name: str, index_N: np.ndarray, size: int) -> None:
    if not (len(index_N) and index_N.min() >= 0 and index_N.max() < size):
        raise InputError(f"{name}: must have indices from 0 to {size - 1}")


def _rows(
    arrays: Arrays, kind: str, shared: str, cell_P: np.ndarray, shape: tuple[int, int, int]
) -> Rows:
    """The law of a model from its arrays."""
    pair_N, next_N = arrays[f"{kind}_pair"], arrays[f"{kind}_next"]
    p_N = arrays[f"{kind}_probability"]
    row_P = arrays.get(shared, np.arange(len(cell_P)))
    if not len(pair_N) == len(next_N) == len(p_N) or len(row_P) != len(cell_P):
        raise InputError(f"{kind}: its arrays must have the same length")
    _check_range(shared, row_P, len(cell_P))
    _check_range(f"{kind}_pair", pair_N, len(cell_P))
    if np.bincount(pair_N, minlength=len(cell_P))[row_P].min() == 0:
        raise InputError(f"{kind}_pair: some pairs have no transitions; give each pair its own")
    row = np.full(math.prod(shape), -1)
    row[cell_P] = row_P
    return Rows.from_entries(shape, pair_N, next_N, p_N, row.reshape(shape))


def _check_frozen(frozen: Rows) -> None:
    """A frozen law must keep the slow state."""
    X, Y, _ = frozen.row_XYA.shape
    low_R, high_R = (
        f.reduceat(frozen.target_N // Y, frozen.start_R[1:-1]) for f in (np.minimum, np.maximum)
    )
    x_XYA = np.arange(X)[:, None, None]
    row_XYA = frozen.row_XYA.astype(np.int64) - 1
    wrong_XYA = (low_R[row_XYA] != x_XYA) | (high_R[row_XYA] != x_XYA)
    if (wrong_XYA & (row_XYA >= 0)).any():
        raise InputError("frozen law: changes the slow state; x must stay where it is")


def _read_axis(kind: str, about: Any, values: np.ndarray) -> Axis:
    """An axis from its description and its values."""
    try:
        coordinates = {
            str(name): Coordinate(
                label=str(c["label"]),
                symbol=str(c["symbol"]),
                unit=str(c["unit"]),
                words={float(value): str(word) for value, word in c["words"]},
            )
            for name, c in about["coordinates"].items()
        }
        names, labels = (tuple(map(str, about[part])) for part in ("names", "labels"))
        title = str(about["title"])
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"{kind}: is not the description of an axis; save the model") from None
    if not names or len(set(names)) < len(names) or not len(values):
        raise InputError(f"{kind}: needs at least one point, one name, and no name twice")
    return Axis(names, values, coordinates, labels, title)
