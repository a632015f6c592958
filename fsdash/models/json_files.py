"""Models as JSON, as `schema.json` describes it: a complete model, or a table of transitions.

A complete model (`"format": "fsdash-model"`) is what `save` writes. A table has the transitions as
a list of records or as columns, and may have any argument of `from_transitions`:

    {"gamma": 0.97, "slow": ["regime"], "sense": "min", "transitions": [{"regime": "low", …}, …]}
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.columns import OPTIONS
from fsdash.models.content import AXES, FORMAT, Content, content_of, model_of, uniform
from fsdash.models.size import MAX_COLUMNS, MAX_JSON_BYTES

GROUPS = {
    "pairs": ("pair", ("state", "action", "reward")),
    "transitions": ("transition", ("pair", "next", "probability")),
    "frozen": ("frozen", ("pair", "next", "probability")),
}
"""The groups of columns in a document: the prefix of their arrays, and their names."""
OPTIONAL = {"pairs": ("row", "frozen")}
"""Columns that a group has only if pairs share rows."""


def to_json(model: FastSlowMDP) -> str:
    """The model as a JSON document."""
    content = content_of(model, for_file=True)
    if 2 * sum(array.size for array in content.arrays.values()) > MAX_JSON_BYTES:  # "0," at least
        raise InputError(f"{model.name}: is too large for JSON; save it as .npz")
    document: dict[str, Any] = dict(content.head)
    for axis in AXES:
        values = content.arrays[f"{axis}_values"].tolist()
        document[axis] = document[axis] | {"values": values}
    for group, (prefix, names) in GROUPS.items():
        if f"{prefix}_{names[0]}" in content.arrays:
            document[group] = {
                name: content.arrays[f"{prefix}_{name}"].tolist()
                for name in (*names, *OPTIONAL.get(group, ()))
                if f"{prefix}_{name}" in content.arrays
            }
    document["initial"] = content.arrays["initial"].tolist()
    return json.dumps(document)


def read_json(data: bytes) -> tuple[FastSlowMDP | pd.DataFrame, dict[str, Any]]:
    """The model of a document, or the frame of its table and the options that it gives."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the file is not JSON: {' '.join(str(error).split())[:200]}") from None
    if isinstance(document, list):
        document = {"transitions": document}
    if not isinstance(document, dict):
        raise InputError("the file holds neither a model nor a table; see the schema")
    if document.get("format") == FORMAT:
        return _model(document), {}
    if "transitions" not in document:
        raise InputError(f'the file has neither "format": "{FORMAT}" nor "transitions"')
    options = {name: document[name] for name in OPTIONS if name in document}
    unknown = sorted(set(document) - set(OPTIONS) - {"transitions", "$schema"})
    if unknown:
        raise InputError(f"{unknown[0]!r}: is not an option; they are {', '.join(OPTIONS)}")
    return _frame(document["transitions"]), options


def _model(document: dict[str, Any]) -> FastSlowMDP:
    arrays: dict[str, Any] = {}
    for group, (prefix, names) in GROUPS.items():
        columns = document.get(group)
        if columns is None and group == "frozen":
            continue
        optional = OPTIONAL.get(group, ())
        if not isinstance(columns, dict) or set(columns) - set(optional) != set(names):
            raise InputError(f"{group}: needs the columns {', '.join(names)}, and no others")
        arrays |= {f"{prefix}_{n}": _array(f"{group}.{n}", columns[n]) for n in columns}
    for axis in AXES:
        about = document.get(axis)
        if not isinstance(about, dict) or "values" not in about:
            raise InputError(f"{axis}: needs the values of its points")
        arrays[f"{axis}_values"] = _array(f"{axis}.values", about["values"])
    initial = document.get("initial")
    if initial is None:
        states = np.unique(arrays["pair_state"])
        arrays["initial"] = uniform(max(len(states), 1))
    else:
        arrays["initial"] = _array("initial", initial)
    head = {k: v for k, v in document.items() if k not in (*GROUPS, "initial")}
    return model_of(Content(head, arrays))


def _array(name: str, values: Any) -> np.ndarray:
    try:
        array = np.array(values)
    except (ValueError, OverflowError):
        array = np.array(None)
    if not isinstance(values, list) or array.dtype.kind not in "iuf":
        raise InputError(f"{name}: is not a list of numbers")
    return array


def _frame(rows: Any) -> pd.DataFrame:
    """A table given as a list of records or as columns of equal length."""
    records = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    columns = isinstance(rows, dict) and all(isinstance(c, list) for c in rows.values())
    parts = [row.values() for row in rows] if records else rows.values() if columns else [[[]]]
    if any(isinstance(cell, list | dict) for part in parts for cell in part):
        raise InputError(
            "transitions: give a list of records or columns of equal length, with numbers and words"
        )
    names = {name for row in rows for name in row} if records else set(rows)
    if len(names) > MAX_COLUMNS:
        raise InputError(f"transitions: {len(names):,} columns; the limit is {MAX_COLUMNS}")
    try:
        return pd.DataFrame(rows)
    except (ValueError, OverflowError) as error:
        raise InputError(f"transitions: {' '.join(str(error).split())[:200]}") from None
