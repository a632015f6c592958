"""An experiment as plain data, for a JSON file, and back.

Rows are columns of numbers; policies are packed (`arrays`) and then base64. What comes from outside
is checked before anything is written: shapes, kinds and sizes, and that the specification can be
used. What was not finished elsewhere arrives as interrupted, and can be resumed here.
"""

from __future__ import annotations

import base64
import binascii
import re
import sys
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Connection, and_, select

from fsdash.errors import InputError, encodable
from fsdash.runs.columns import BY_NAME, ROW_COLUMNS, Column
from fsdash.runs.records import ACTIVE, STATUSES, Experiment
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import schema
from fsdash.runs.store.arrays import unpack
from fsdash.runs.store.recorder import POLICY_BYTES

FORMAT = "fsdash experiment"
VERSION = 1
MAX_ROWS = 10_000
MAX_POLICY_BYTES = 64 * 2**20
NAMES = [column.name for column in ROW_COLUMNS]
LARGEST = 2**63 - 1
WORD = r"[a-z-]{1,16}"


@dataclass(frozen=True)
class Part:
    """One run from outside, checked."""

    spec: RunSpec
    replications: list[dict]


@dataclass(frozen=True)
class Parts:
    name: str
    note: str
    created: float
    runs: list[Part]


def exported(connection: Connection, experiment: Experiment, policies: bool) -> dict:
    runs = []
    for run in experiment.runs:
        replications = [
            {
                "replication": r.index,
                "status": r.status,
                "reason": r.reason,
                "seconds": r.seconds,
                "rows": _columns(connection, run.id, r.index),
                "policies": _policies(connection, run.id, r.index) if policies else [],
            }
            for r in run.replications
        ]
        runs.append({"spec": run.spec_data, "replications": replications})
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": experiment.name,
        "note": experiment.note,
        "created": experiment.created,
        "runs": runs,
    }


def _columns(connection: Connection, run: int, replication: int) -> dict[str, list]:
    t = schema.rows
    query = select(*(t.c[name] for name in NAMES)).where(
        and_(t.c.run == run, t.c.replication == replication)
    )
    found = connection.execute(query.order_by(t.c.step)).mappings().all()
    return {name: [row[name] for row in found] for name in NAMES}


def _policies(connection: Connection, run: int, replication: int) -> list[dict]:
    t = schema.policies
    query = select(t).where(and_(t.c.run == run, t.c.replication == replication))
    return [
        {
            "step": row.step,
            "policy": base64.b64encode(row.policy).decode(),
            "values": base64.b64encode(row._mapping["values"]).decode(),
        }
        for row in connection.execute(query.order_by(t.c.step))
    ]


def checked(data: object) -> Parts:
    """The parts of an exported experiment, or an error that says where it is wrong."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(
            "file: this is not an exported experiment; use one that was exported as "
            f"*Everything, JSON* (format {FORMAT!r})"
        )
    if data.get("version") != VERSION:
        raise InputError(
            f"version = {data.get('version')!r}: this program reads version {VERSION}; update it"
        )
    runs = _list(data, "runs", "file")
    return Parts(
        name=data.get("name"),
        note=data.get("note", ""),
        created=_number(data, "created", "file"),
        runs=[_part(run, f"run {n}") for n, run in enumerate(runs)],
    )


def _part(run: object, where: str) -> Part:
    if not isinstance(run, dict):
        raise InputError(f"{where}: is not an object with spec and replications")
    try:
        spec = RunSpec.from_dict(run.get("spec") or {})
    except InputError as error:
        raise InputError(f"{where}, specification: {error}") from None
    replications = _list(run, "replications", where)
    numbers = [r.get("replication") if isinstance(r, dict) else None for r in replications]
    if numbers != list(range(spec.replications)):
        raise InputError(f"{where}: needs replications 0 to {spec.replications - 1}, in order")
    parts = [_replication(r, spec, f"{where}, replication {i}") for i, r in enumerate(replications)]
    if sum(p["size"] for part in parts for p in part["policies"]) > POLICY_BYTES:
        raise InputError(f"{where}: its policies have more than {POLICY_BYTES:,} bytes")
    return Part(spec, parts)


def _replication(data: dict, spec: RunSpec, where: str) -> dict:
    status = data.get("status")
    if status not in STATUSES:
        raise InputError(f"{where}: status = {status!r} is not one of {', '.join(STATUSES)}")
    columns = _recorded_columns(data.get("rows"), where)
    count = len(columns["step"])
    if columns["step"] != list(range(count)):
        raise InputError(f"{where}: step must count 0, 1, 2, … without gaps")
    if columns["evaluations"] != sorted(columns["evaluations"]):
        raise InputError(f"{where}: evaluations must not decrease")
    policies = [_policy(p, count, spec, where) for p in _list(data, "policies", where)]
    steps = [policy["step"] for policy in policies]
    if len(set(steps)) < len(steps):
        raise InputError(f"{where}: two policies have the same step; export again")
    return {
        "status": "interrupted" if status in (*ACTIVE, "paused") else status,
        "reason": encodable(f"{where}: reason", str(data.get("reason", ""))[:1000]),
        "seconds": _number(data, "seconds", where),
        "rows": [{name: values[i] for name, values in columns.items()} for i in range(count)],
        "policies": policies,
    }


def _recorded_columns(columns: object, where: str) -> dict[str, list]:
    """The checked values of each column; a nullable column that is missing has no values."""
    required = [column.name for column in ROW_COLUMNS if not column.nullable]
    known = isinstance(columns, dict) and set(required) <= set(columns) <= set(NAMES)
    if not isinstance(columns, dict) or not known:
        raise InputError(f"{where}: rows needs the columns {', '.join(NAMES)}")
    lengths = {len(values) if isinstance(values, list) else -1 for values in columns.values()}
    if len(lengths) != 1 or not 0 <= min(lengths) <= MAX_ROWS:
        raise InputError(f"{where}: the columns need one length, at most {MAX_ROWS:,}")
    for name, values in columns.items():
        for row, value in enumerate(values):
            if not _fits(value, BY_NAME[name]):
                raise InputError(
                    f"{where}, row {row}: {name} = {str(value)[:40]!r} cannot be used; export again"
                )
    return {name: columns.get(name, [None] * min(lengths)) for name in NAMES}


def _fits(value: object, column: Column) -> bool:
    """Whether the store accepts the value in this column."""
    if value is None:
        return column.nullable
    if column.dtype == "str":
        return isinstance(value, str) and re.fullmatch(WORD, value) is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if column.dtype == "float64":
        return abs(value) <= sys.float_info.max
    return isinstance(value, int) and 0 <= value <= LARGEST


def _policy(data: object, rows: int, spec: RunSpec, where: str) -> dict:
    try:
        step, packed = data["step"], [base64.b64decode(data[n]) for n in ("policy", "values")]
        policy_PXY, values_XY = (unpack(p, MAX_POLICY_BYTES) for p in packed)
        X, Y, A, _ = spec.build_domain().shape
        good = type(step) is int and step in range(rows)
        good = good and policy_PXY.dtype.kind == "u" and values_XY.dtype.kind == "f"
        good = good and policy_PXY.ndim == 3 and 1 <= len(policy_PXY) <= (spec.T or 1)
        good = good and policy_PXY.shape[1:] == values_XY.shape == (X, Y) and policy_PXY.max() < A
    except (KeyError, TypeError, ValueError, EOFError, binascii.Error) as error:
        raise InputError(f"{where}: a policy cannot be read ({error}); export again") from None
    if not good:
        raise InputError(f"{where}: a policy has the wrong step, shape or type; export again")
    return {"step": step, "policy": packed[0], "values": packed[1], "size": sum(map(len, packed))}


def _list(data: dict, name: str, where: str) -> list:
    if not isinstance(data.get(name), list):
        raise InputError(f"{where}: {name} is missing or not a list")
    return data[name]


def _number(data: dict, name: str, where: str) -> float:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise InputError(f"{where}: {name} = {value!r} is not a number of seconds")
    return float(value)


def fill(connection: Connection, experiment: str, parts: Parts) -> None:
    """Write the rows and policies of an experiment whose runs were just inserted."""
    r, p = schema.runs, schema.replications
    ids = connection.scalars(
        select(r.c.id).where(r.c.experiment == experiment).order_by(r.c.position)
    ).all()
    for run, part in zip(ids, parts.runs, strict=True):
        for i, data in enumerate(part.replications):
            here = {"run": run, "replication": i}
            connection.execute(
                p.update()
                .where(and_(p.c.run == run, p.c.replication == i))
                .values(
                    status=data["status"],
                    reason=data["reason"],
                    seconds=data["seconds"],
                    rows=len(data["rows"]),
                    started=parts.created,
                    finished=parts.created,
                )
            )
            for table, items in ((schema.rows, data["rows"]), (schema.policies, data["policies"])):
                found = iter(items)
                while batch := list(islice(found, 500)):
                    connection.execute(table.insert(), [here | item for item in batch])
