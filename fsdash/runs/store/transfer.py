"""Exporting an experiment as data for a JSON file, and importing such a file.

Rows are stored as columns; policies are packed (`arrays`) and base64-encoded. Imported data are
checked before anything is written: shapes, types, sizes, and that the specifications can be run
here. Replications that were not finished arrive as interrupted and can be resumed.
"""

from __future__ import annotations

import base64
import binascii
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, and_, select

from fsdash.errors import InputError
from fsdash.formatting import shorten
from fsdash.runs.columns import BY_NAME, ROW_COLUMNS, Column
from fsdash.runs.records import ACTIVE, STATUSES, Experiment
from fsdash.runs.spec import RunSpec
from fsdash.runs.store import schema
from fsdash.runs.store.arrays import unpack
from fsdash.runs.store.database import storable
from fsdash.runs.store.queries import MAX_NOTE, MAX_RUNS, checked_text, insert_experiment
from fsdash.runs.store.recorder import POLICY_BYTES

FORMAT = "fsdash experiment"
VERSION = 1
MAX_ROWS = 10_000
MAX_POLICY_BYTES = 64 * 2**20
MAX_UNPACKED = 256 * 2**20
"""Bytes of all policies of one experiment when they are unpacked, to be checked."""
CLOCK_TOLERANCE = 24 * 3600
"""Seconds by which the clock of the exporting computer may be ahead."""
NAMES = [column.name for column in ROW_COLUMNS]
LARGEST = {"INTEGER": 2**31 - 1, "BIGINT": 2**63 - 1}
"""The largest whole number by the type of its column."""
WORD = r"[a-z-]{1,16}"
INSERT_SIZE = 500
"""Rows in one insert."""


@dataclass(frozen=True)
class ImportedReplication:
    """A replication of a file, checked."""

    status: str
    reason: str
    seconds: float
    rows: Sequence[Mapping[str, object]]
    policies: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ImportedRun:
    """A run of a file, checked."""

    spec: RunSpec
    replications: Sequence[ImportedReplication]


@dataclass(frozen=True)
class ImportedExperiment:
    """An experiment of a file, checked except for the length of its name and note."""

    name: object
    note: object
    created: float
    runs: Sequence[ImportedRun]


# ---------------------------------------------------------------------------------------- exporting


def export_experiment(
    connection: Connection, experiment: Experiment, policies: bool
) -> dict[str, Any]:
    """An experiment as data that JSON can represent."""
    runs = []
    for run in experiment.runs:
        replications = [
            {
                "replication": r.index,
                "status": r.status,
                "reason": r.reason,
                "seconds": r.seconds,
                "rows": _export_rows(connection, run.id, r.index),
                "policies": _export_policies(connection, run.id, r.index) if policies else [],
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


def _export_rows(connection: Connection, run: int, replication: int) -> dict[str, list[object]]:
    t = schema.rows
    query = select(*(t.c[name] for name in NAMES)).where(
        and_(t.c.run == run, t.c.replication == replication)
    )
    rows = connection.execute(query.order_by(t.c.step)).mappings().all()
    return {name: [row[name] for row in rows] for name in NAMES}


def _export_policies(connection: Connection, run: int, replication: int) -> list[dict[str, object]]:
    t = schema.policies
    query = select(t).where(and_(t.c.run == run, t.c.replication == replication))
    return [
        {
            "step": row["step"],
            "policy": base64.b64encode(row["policy"]).decode(),
            "values": base64.b64encode(row["values"]).decode(),
        }
        for row in connection.execute(query.order_by(t.c.step)).mappings()
    ]


# ----------------------------------------------------------------------------------------- checking


def check_import(data: object) -> ImportedExperiment:
    """The content of an exported experiment, or an error that says where it is wrong."""
    try:
        return _check_experiment(data)
    except InputError:
        raise
    except Exception as error:  # whatever else a malicious file can cause
        kind = type(error).__name__
        raise InputError(f"file: has a value that cannot be read ({kind}); export again") from None


def _check_experiment(data: object) -> ImportedExperiment:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(
            "file: this is not an exported experiment; use one that was exported as "
            f"*Everything, JSON* (format {FORMAT!r})"
        )
    if data.get("version") != VERSION:
        raise InputError(
            f"version = {_quoted(data.get('version'))}: this program reads version {VERSION}; "
            "update it"
        )
    runs = _list(data, "runs", "file")
    if not 1 <= len(runs) <= MAX_RUNS:
        raise InputError(f"file: has {len(runs):,} runs; use 1 to {MAX_RUNS}")
    created, latest = _seconds(data, "created", "file"), time.time() + CLOCK_TOLERANCE
    if created > latest:
        raise InputError(f"file: created = {created:.0f} is in the future; correct the date")
    budget = UnpackBudget()
    return ImportedExperiment(
        name=data.get("name"),
        note=data.get("note", ""),
        created=created,
        runs=[_check_run(run, f"run {n}", budget) for n, run in enumerate(runs)],
    )


@dataclass
class UnpackBudget:
    """Counts the bytes that are unpacked, because a small file can contain large arrays."""

    left: int = MAX_UNPACKED

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise InputError(
                f"file: its policies have more than {MAX_UNPACKED:,} bytes when they are unpacked; "
                "export without policies"
            )


def _check_run(run: object, where: str, budget: UnpackBudget) -> ImportedRun:
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
    checked = [
        _check_replication(r, spec, f"{where}, replication {i}", budget)
        for i, r in enumerate(replications)
    ]
    if sum(policy["size"] for r in checked for policy in r.policies) > POLICY_BYTES:
        raise InputError(f"{where}: its policies have more than {POLICY_BYTES:,} bytes")
    return ImportedRun(spec, checked)


def _check_replication(
    data: dict[str, Any], spec: RunSpec, where: str, budget: UnpackBudget
) -> ImportedReplication:
    status = data.get("status")
    if status not in STATUSES:
        raise InputError(f"{where}: status = {_quoted(status)} is not one of {', '.join(STATUSES)}")
    columns = _check_columns(data.get("rows"), where)
    count = len(columns["step"])
    if columns["step"] != list(range(count)):
        raise InputError(f"{where}: step must count 0, 1, 2, … without gaps")
    if columns["evaluations"] != sorted(columns["evaluations"]):
        raise InputError(f"{where}: evaluations must not decrease")
    policies = [
        _check_policy(p, count, spec, where, budget) for p in _list(data, "policies", where)
    ]
    steps = [policy["step"] for policy in policies]
    if len(set(steps)) < len(steps):
        raise InputError(f"{where}: two policies have the same step; export again")
    return ImportedReplication(
        status="interrupted" if status in (*ACTIVE, "paused") else status,
        reason=storable(f"{where}: reason", str(data.get("reason", ""))[:1000]),
        seconds=_seconds(data, "seconds", where),
        rows=[{name: values[i] for name, values in columns.items()} for i in range(count)],
        policies=policies,
    )


def _check_columns(columns: object, where: str) -> dict[str, list[Any]]:
    """The values of each column; a nullable column that is missing has no values."""
    required = {column.name for column in ROW_COLUMNS if not column.nullable}
    if not isinstance(columns, dict) or not required <= set(columns) <= set(NAMES):
        raise InputError(f"{where}: rows needs the columns {', '.join(NAMES)}")
    lengths = {len(values) if isinstance(values, list) else -1 for values in columns.values()}
    if len(lengths) != 1 or not 0 <= min(lengths) <= MAX_ROWS:
        raise InputError(f"{where}: the columns need one length, at most {MAX_ROWS:,}")
    for name, values in columns.items():
        for row, value in enumerate(values):
            if not _fits(value, BY_NAME[name]):
                raise InputError(
                    f"{where}, row {row}: {name} = {_quoted(value)} cannot be used; export again"
                )
    return {name: columns.get(name, [None] * min(lengths)) for name in NAMES}


def _fits(value: object, column: Column) -> bool:
    """Whether a value can be stored in a column."""
    if value is None:
        return column.nullable
    if column.dtype == "str":
        return isinstance(value, str) and re.fullmatch(WORD, value) is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if column.dtype == "float64":
        return abs(value) <= sys.float_info.max
    return isinstance(value, int) and 0 <= value <= LARGEST[column.sql_type]


def _check_policy(
    data: Any, rows: int, spec: RunSpec, where: str, budget: UnpackBudget
) -> dict[str, Any]:
    try:
        step, packed = data["step"], [base64.b64decode(data[n]) for n in ("policy", "values")]
        policy_PXY, values_XY = (unpack(p, MAX_POLICY_BYTES) for p in packed)
        budget.take(policy_PXY.nbytes + values_XY.nbytes)
        X, Y, A, _ = spec.build_domain().shape
        good = type(step) is int and step in range(rows)
        good = good and policy_PXY.dtype.kind == "u" and values_XY.dtype.kind == "f"
        good = good and policy_PXY.ndim == 3 and 1 <= len(policy_PXY) <= (spec.T or 1)
        good = good and policy_PXY.shape[1:] == values_XY.shape == (X, Y)
        good = good and bool(policy_PXY.max() < A)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise InputError(f"{where}: a policy cannot be read ({error}); export again") from None
    if not good:
        raise InputError(f"{where}: a policy has the wrong step, shape or type; export again")
    return {"step": step, "policy": packed[0], "values": packed[1], "size": sum(map(len, packed))}


def _list(data: dict[str, Any], name: str, where: str) -> list[Any]:
    value = data.get(name)
    if not isinstance(value, list):
        raise InputError(f"{where}: {name} is missing or not a list")
    return value


def _seconds(data: dict[str, Any], name: str, where: str) -> float:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise InputError(f"{where}: {name} = {_quoted(value)} is not a number of seconds")
    return float(value)


def _quoted(value: object) -> str:
    """The beginning of a value from a file, for a message."""
    try:
        return shorten(repr(value))
    except ValueError:  # a whole number with thousands of digits
        return "a very large number"


# ---------------------------------------------------------------------------------------- inserting


def insert_imported(connection: Connection, owner: str, imported: ImportedExperiment) -> str:
    """Insert an experiment with its rows and policies; return its id."""
    id = insert_experiment(
        connection,
        owner,
        imported.name,
        [run.spec for run in imported.runs],
        "interrupted",
        note=checked_text("note", imported.note, MAX_NOTE),
        created=imported.created,
    )
    insert_results(connection, id, imported)
    return id


def insert_results(connection: Connection, experiment: str, imported: ImportedExperiment) -> None:
    """Write the rows and policies of an experiment whose runs were just inserted."""
    r, p = schema.runs, schema.replications
    ids = connection.scalars(
        select(r.c.id).where(r.c.experiment == experiment).order_by(r.c.position)
    ).all()
    for run, imported_run in zip(ids, imported.runs, strict=True):
        for i, data in enumerate(imported_run.replications):
            connection.execute(
                p.update()
                .where(and_(p.c.run == run, p.c.replication == i))
                .values(
                    status=data.status,
                    reason=data.reason,
                    seconds=data.seconds,
                    rows=len(data.rows),
                    started=imported.created,
                    finished=imported.created,
                )
            )
            for table, items in ((schema.rows, data.rows), (schema.policies, data.policies)):
                remaining = iter(items)
                while batch := list(islice(remaining, INSERT_SIZE)):
                    values = [{"run": run, "replication": i, **item} for item in batch]
                    connection.execute(table.insert(), values)
