"""What a model is made of: a few texts and numbers (*head*) and a few arrays.

All file formats write this content, and `content_hash` is its SHA-256. The arrays are canonical:
pairs and transitions are sorted, types are int64 and float64, and −0.0 is 0.0. So the hash does not
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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.errors import InputError
from fsdash.models.law import Law, own_frozen_law
from fsdash.models.size import MAX_TRANSITIONS, Size

FORMAT = "fsdash-model"
VERSION = 1
AXES = ("slow", "fast", "actions")
INTEGERS = ("pair_state", "pair_action", "transition_pair", "transition_next")
FLOATS = ("pair_reward", "transition_probability", "initial")
VALUES = tuple(f"{axis}_values" for axis in AXES)
FROZEN = ("frozen_pair", "frozen_next", "frozen_probability")
"""The arrays of a model's own frozen law; they may be absent."""
SHARED = ("pair_row", "pair_frozen")
"""The row of each pair under the true and under the frozen law, if pairs share rows."""
_HASHES: WeakKeyDictionary[FastSlowMDP, str] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Content:
    """The head and the arrays of a model."""

    head: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @property
    def hash(self) -> str:
        """SHA-256 of everything but the name, as 64 hexadecimal digits."""
        head = {k: v for k, v in self.head.items() if k not in ("name", "content_hash")}
        digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        for name in sorted(self.arrays):
            array = self.arrays[name]
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def content_of(model: FastSlowMDP, *, for_file: bool = False) -> Content:
    """The content of a model; for a file, an error if the file could not be read again."""
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
    if (frozen := own_frozen_law(model)) is not None:
        arrays |= _law_arrays(frozen, "frozen", "pair_frozen")
    head = {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "gamma": model.gamma,
        "sense": model.sense,
        **{axis: _describe_axis(getattr(model, axis)) for axis in AXES},
    }
    content = Content(head, {name: canonical(array) for name, array in arrays.items()})
    head["content_hash"] = content.hash
    return content


def _law_arrays(law: Law, kind: str, shared: str) -> dict[str, np.ndarray]:
    """The arrays of a law: the transitions of each pair, or of the rows if those are too many."""
    names = (f"{kind}_pair", f"{kind}_next", f"{kind}_probability")
    if law.n_transitions > MAX_TRANSITIONS:
        transitions = zip(names, (law.row_N, law.next_N, law.probability_N), strict=True)
        return {shared: law.row_P, **dict(transitions)}
    pair_N, take_N = law.transitions_in(law.row_P)
    transitions = zip(names, (pair_N, law.next_N[take_N], law.probability_N[take_N]), strict=True)
    return dict(transitions)


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
        _HASHES[model] = content_of(model).head["content_hash"]
    return _HASHES[model]


def canonical(array: np.ndarray) -> np.ndarray:
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


# ------------------------------------------------------------------------------ content to a model


def model_of(content: Content) -> FastSlowMDP:
    """The model of a content of unknown origin. Everything is checked, including a given hash."""
    head, arrays = content.head, content.arrays
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        raise InputError(f"format: is not {FORMAT!r}, version {VERSION}; save the model again")
    arrays = {name: _checked_array(arrays, name) for name in _expected_arrays(arrays)}
    axes = {axis: read_axis(axis, head.get(axis), arrays[f"{axis}_values"]) for axis in AXES}
    shape = X, Y, A = len(axes["slow"]), len(axes["fast"]), len(axes["actions"])
    if 0 in shape:
        raise InputError("a model needs at least one slow state, one fast state and one action")
    Size(*shape, len(arrays["transition_pair"])).refuse_too_large()
    cell_P = _cells(arrays, shape)
    reward = np.full(X * Y * A, -np.inf)
    reward[cell_P] = arrays["pair_reward"]
    frozen = None
    if "frozen_pair" in arrays:
        frozen = _law(arrays, "frozen", "pair_frozen", cell_P, shape)
        _check_frozen(frozen)
    real = np.zeros(X * Y, bool)
    real[arrays["pair_state"]] = True
    if len(arrays["initial"]) != np.count_nonzero(real):
        raise InputError("initial: needs one probability for each state with a feasible action")
    initial = np.zeros(X * Y)
    initial[real] = arrays["initial"]
    model = FastSlowMDP(
        reward_XYA=reward.reshape(shape),
        rows=_law(arrays, "transition", "pair_row", cell_P, shape),
        frozen_rows=frozen,
        gamma=_number(head, "gamma"),
        slow=axes["slow"],
        fast=axes["fast"],
        actions=axes["actions"],
        initial_XY=initial.reshape(X, Y),
        sense=head.get("sense", "max"),
        name=_text(head, "name", "model"),
    )
    if "content_hash" in head and content_of(model).head["content_hash"] != head["content_hash"]:
        raise InputError(
            "content_hash: does not fit the content; the file was damaged or edited. Restore it, "
            "or remove its content_hash if you changed it on purpose"
        )
    return model


def _expected_arrays(arrays: Mapping[str, Any]) -> list[str]:
    """The names of the arrays that must be there."""
    frozen = FROZEN if any(name in arrays for name in FROZEN) else ()
    shared = [name for name in SHARED[: 2 if frozen else 1] if name in arrays]
    wanted = [*INTEGERS, *FLOATS, *VALUES, *frozen, *shared]
    missing = [name for name in wanted if name not in arrays]
    extra = [str(name) for name in arrays if name not in wanted]
    if missing or extra:
        wrong = f"{missing[0]}: is missing" if missing else f"{extra[0]}: is not part of a model"
        raise InputError(f"{wrong}; a model has {', '.join(wanted)}")
    return wanted


def _checked_array(arrays: Mapping[str, Any], name: str) -> np.ndarray:
    """An array of the right type and number of axes."""
    array = np.asarray(arrays[name])
    whole = name in (*INTEGERS, *FROZEN[:2], *SHARED)
    kinds, ndim = ("iu" if whole else "iuf"), (2 if name in VALUES else 1)
    if array.dtype.kind not in kinds or array.ndim != ndim:
        raise InputError(
            f"{name}: has {array.ndim} axes of {array.dtype}; give {ndim} of "
            f"{'whole numbers' if whole else 'numbers'}"
        )
    return canonical(array)


def _cells(arrays: Mapping[str, np.ndarray], shape: tuple[int, int, int]) -> np.ndarray:
    """The feasible pairs as cells of (X, Y, A), ascending."""
    X, Y, A = shape
    state_P, action_P = arrays["pair_state"], arrays["pair_action"]
    if not len(state_P) == len(action_P) == len(arrays["pair_reward"]) > 0:
        raise InputError("pairs: state, action and reward must have the same length, at least 1")
    if not (state_P.min() >= 0 and state_P.max() < X * Y):
        raise InputError(f"pairs: states must be from 0 to {X * Y - 1}")
    if not (action_P.min() >= 0 and action_P.max() < A):
        raise InputError(f"pairs: actions must be from 0 to {A - 1}")
    cell_P = state_P * A + action_P
    if (np.diff(cell_P) <= 0).any():
        raise InputError("pairs: must be sorted by state and action, without repeats")
    return cell_P


def _law(
    arrays: Mapping[str, np.ndarray],
    kind: str,
    shared: str,
    cell_P: np.ndarray,
    shape: tuple[int, int, int],
) -> Rows:
    pair_N, next_N = arrays[f"{kind}_pair"], arrays[f"{kind}_next"]
    p_N = arrays[f"{kind}_probability"]
    row_P = arrays.get(shared, np.arange(len(cell_P)))
    if not len(pair_N) == len(next_N) == len(p_N) > 0:
        raise InputError(f"{kind}s: pair, next and probability must have the same length")
    if len(row_P) != len(cell_P) or not (row_P.min() >= 0 and row_P.max() < len(cell_P)):
        raise InputError(f"{shared}: needs a number from 0 to {len(cell_P) - 1} for each pair")
    last = int(row_P.max())
    if not (pair_N.min() >= 0 and pair_N.max() <= last):
        raise InputError(f"{kind}s: pairs must be from 0 to {last}")
    same_N = np.diff(pair_N) == 0
    if (np.diff(pair_N) < 0).any() or (np.diff(next_N)[same_N] <= 0).any():
        raise InputError(f"{kind}s: must be sorted by pair and next state, without repeats")
    if (np.bincount(pair_N, minlength=last + 1) == 0).any():
        raise InputError(f"{kind}s: some pairs have none; give each pair its transitions")
    if not (p_N > 0).all():
        raise InputError("transitions: probabilities must be above 0")
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


def read_axis(kind: str, about: Any, values: np.ndarray) -> Axis:
    """An axis from its description and its values."""
    try:
        coordinates = {
            str(name): Coordinate(
                label=_text(c, "label"),
                symbol=_text(c, "symbol"),
                unit=_text(c, "unit"),
                words={float(value): str(word) for value, word in c.get("words", [])},
            )
            for name, c in about.get("coordinates", {}).items()
        }
        names = tuple(_texts(about["names"]))
        labels = tuple(_texts(about.get("labels", [])))
        title = _text(about, "title")
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"{kind}: is not the description of an axis; see the schema") from None
    if not names or len(set(names)) < len(names):
        raise InputError(f"{kind}: needs at least one name, and no name twice")
    return Axis(names, values, coordinates, labels, title)


def uniform(n_states: int) -> np.ndarray:
    """The initial distribution of a model that does not give one."""
    return np.full(n_states, 1 / n_states)


def _texts(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError
    return values


def _text(about: Mapping[str, Any], name: str, default: str = "") -> str:
    value = about.get(name, default)
    if not isinstance(value, str):
        raise InputError(f"{name}: is not text")
    return value


def _number(head: Mapping[str, Any], name: str) -> float:
    value = head.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name}: is not a number; give one")
    return value
