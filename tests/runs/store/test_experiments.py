"""The store on a real SQLite file: contents, limits, export and import."""

import base64
import json
from itertools import pairwise

import numpy as np
import pytest
from sqlalchemy import func, select, text

from fsdash.errors import InputError
from fsdash.runs.engine import Record
from fsdash.runs.server.work_queue import WorkQueue
from fsdash.runs.store import recorder, schema, transfer
from fsdash.runs.store.arrays import pack_policy, pack_values, unpack
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.recorder import MAX_POLICIES, PolicySelection
from tests.runs.work import assert_same_rows, base, compute, expected, finished_experiment, frozen


def test_an_experiment_is_stored_with_its_rows(store):
    specs = base(replications=2), frozen()
    experiment = finished_experiment(store, *specs, name="two methods")
    assert experiment == Store(store.url).experiment(experiment.id)
    assert (experiment.owner, experiment.name, experiment.status) == (
        "me",
        "two methods",
        "finished",
    )
    for run, spec in zip(experiment.runs, specs, strict=True):
        assert run.spec == spec and run.hash == spec.hash
        assert run.started <= run.finished
        assert_same_rows(store.rows([run.id]), spec)


def test_runs_take_turns_and_the_shortest_is_first_in_each_turn(store):
    specs = base(50, replications=2), frozen(1, replications=3), base(1, replications=1)
    id = store.add_experiment("me", "turns", specs)
    queue = WorkQueue(store.database)
    queue.open_lease()
    queue.enqueue(store.run_ids(id))
    place = {run.id: run.position for run in store.experiment(id).runs}
    served = []
    while waiting := queue.waiting():
        attempt = queue.claim(waiting[0].next_id)
        served.append((attempt.replication, place[attempt.run]))
    assert [turn for turn, _ in served] == [0, 0, 0, 1, 1, 2]
    assert served[2] == (0, 0) and served[4] == (1, 0)  # the long run is last in its turns
    queue.close_lease("")


def test_a_reading_transaction_sees_one_state(store):
    id = finished_experiment(store, base()).id
    count = select(func.count()).select_from(schema.rows)
    with store.database.reading() as connection:
        before = connection.scalar(count)
        Store(store.url).delete(id)
        assert connection.scalar(count) == before > 0
    assert store.experiments() == []


def test_an_export_is_complete_although_the_experiment_is_deleted_meanwhile(store, monkeypatch):
    experiment, export = finished_experiment(store, base()), transfer.export_experiment

    def delete_and_export(*arguments):
        Store(store.url).delete(experiment.id)
        return export(*arguments)

    monkeypatch.setattr(transfer, "export_experiment", delete_and_export)
    [run] = store.export(experiment.id)["runs"]
    assert len(run["replications"][0]["rows"]["step"]) == experiment.runs[0].rows > 0


def test_only_new_rows_are_fetched(store):
    run = finished_experiment(store, base(replications=3)).runs[0]
    everything = store.rows([run.id])
    seen = {(run.id, 0): run.replications[0].rows, (run.id, 1): 4}
    new = store.rows([run.id], seen)
    assert new.replication.unique().tolist() == [1, 2]
    assert len(new) == len(everything) - seen[run.id, 0] - 4
    assert new.step.iloc[0] == 4
    assert store.rows([]).empty


def test_rows_of_many_replications_come_in_several_queries(store, monkeypatch):
    monkeypatch.setattr("fsdash.runs.store.experiments.QUERY_SIZE", 2)
    spec = base(iterations=1, replications=5)
    assert_same_rows(store.rows([finished_experiment(store, spec).runs[0].id]), spec)


def test_stored_policies_equal_the_computed_ones(store):
    spec = frozen(replications=2)
    run = finished_experiment(store, spec).runs[0]
    records = expected(spec)
    first, last = run.replications[0].rows, run.replications[1].rows
    assert store.policy_steps(run.id, 0) == list(range(first))
    assert store.policy_steps(run.id, 1) == [last - 1]
    for record in [*records[:first], records[-1]]:
        policy_PXY, values_XY = store.policy(
            run.id, *(record.row[n] for n in ("replication", "step"))
        )
        np.testing.assert_array_equal(policy_PXY, record.policy_PXY)
        np.testing.assert_array_equal(values_XY, record.values_XY.astype(np.float32))
    with pytest.raises(InputError, match="step = 0"):
        store.policy(run.id, 1, 0)


@pytest.mark.parametrize("most, dtype", [(7, np.uint8), (300, np.uint16)])
def test_policies_are_packed_into_small_types(most, dtype):
    policy_PXY = np.full((2, 30, 40), most, np.int64)
    assert unpack(pack_policy(policy_PXY)).dtype == dtype
    assert len(pack_policy(policy_PXY)) < policy_PXY.size / 10
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        unpack(pack_values(np.zeros((100, 100))), 100)


def record(step, size=4):
    rng = np.random.default_rng(step)
    policy_PXY = rng.integers(0, 200, (1, size, size))
    return Record({"step": step}, policy_PXY, rng.random((size, size)))


def stored_steps(selection, rows, each):
    """The steps whose policies are stored after so many rows, written every `each` rows."""
    stored = {}
    for step in range(rows):
        selection.add(record(step))
        if step % each == 0 or step == rows - 1:
            written, dropped = selection.take(last=step == rows - 1)
            stored |= {packed.step: packed for packed in written}
            stored = {s: packed for s, packed in stored.items() if s not in dropped}
            assert set(stored) == selection.stored
    return sorted(stored)


@pytest.mark.slow
@pytest.mark.parametrize("each", [1, 7, 600])
@pytest.mark.parametrize("rows", [1, 2, MAX_POLICIES, 1001, 2500])
def test_policies_at_equal_distances_are_stored(rows, each):
    steps = stored_steps(PolicySelection((), several=True), rows, each)
    assert steps[0] == 0 and steps[-1] == rows - 1
    assert len(steps) <= MAX_POLICIES
    assert len(steps) >= min(rows, MAX_POLICIES // 3)
    gaps = {b - a for a, b in pairwise(steps[:-1])}
    assert len(gaps) <= 1


def test_fewer_large_policies_are_stored(monkeypatch):
    size = sum(map(len, (pack_policy(record(1).policy_PXY), pack_values(record(1).values_XY))))
    monkeypatch.setattr(recorder, "HALF_OF_POLICY_BYTES", 12 * size)
    steps = stored_steps(PolicySelection((), several=True), 500, 9)
    assert steps[0] == 0 and steps[-1] == 499
    assert 4 <= len(steps) <= 12


def test_the_bytes_of_a_run_are_limited(store, monkeypatch):
    monkeypatch.setattr(recorder, "HALF_OF_POLICY_BYTES", 12_000)
    run = finished_experiment(store, frozen(iterations=3, replications=7)).runs[0]
    p = schema.policies.c
    with store.database.reading() as connection:
        for of_first in (p.replication == 0, p.replication > 0):
            size = connection.scalar(select(func.sum(p.size)).where(p.run == run.id, of_first))
            assert 6_000 < size <= 12_000
    assert store.policy_steps(run.id, 0)[0] == 0
    assert store.policy_steps(run.id, 0)[-1] == run.replications[0].rows - 1


def test_an_experiment_can_be_renamed_noted_pinned_and_deleted(store):
    id = store.add_experiment("me", "first", [base()])
    store.rename(id, "second")
    store.note(id, "why")
    store.pin(id)
    experiment = store.experiment(id)
    assert (experiment.name, experiment.note, experiment.pinned) == ("second", "why", True)
    with pytest.raises(InputError, match="pinned"):
        store.delete(id)
    store.pin(id, False)
    store.delete(id)
    with pytest.raises(InputError, match="is not in the store"):
        store.experiment(id)
    with pytest.raises(InputError, match="is not in the store"):
        store.rename(id, "third")
    with pytest.raises(InputError, match="at most 200"):
        store.add_experiment("me", "x" * 201, [base()])
    with pytest.raises(InputError, match="0 runs"):
        store.add_experiment("me", "nothing", [])


def test_deleting_removes_everything_and_numbers_are_not_reused(store):
    run = finished_experiment(store, frozen(replications=2)).runs[0]
    before = store.size()
    store.delete(run.experiment)
    after = store.size()
    assert (after.experiments, after.runs, after.rows) == (0, 0, 0) != before.rows
    assert store.rows([run.id]).empty and store.policy_steps(run.id) == []
    if store.file is not None:
        with store.database.reading() as connection:
            assert connection.scalar(text("PRAGMA freelist_count")) == 0
    assert store.run(finished_experiment(store, base()).runs[0].id).id > run.id


def test_filters_find_experiments(store):
    first = store.add_experiment("ann", "100% of it", [base()])
    second = finished_experiment(store, frozen(), owner="bob", name="other").id
    store.note(second, "A Note")
    store.pin(second)

    def found(**filters):
        return [experiment.id for experiment in store.experiments(**filters)]

    assert found() == [second, first]
    assert found(owner="ann") == found(status="paused") == found(algorithm="e-vi") == [first]
    assert found(text="a note") == found(pinned=True) == found(algorithm="e-fsvi") == [second]
    assert found(text="0%") == [first]
    assert found(domain="gridworld") == found(text="_") == []
    assert found(limit=1) == [second] and found(limit=1, offset=1) == [first]


def test_an_exported_experiment_can_be_imported(store, tmp_path):
    experiment = finished_experiment(store, base(replications=2), frozen(), name="to move")
    store.note(experiment.id, "a note")
    data = json.loads(json.dumps(store.export(experiment.id), allow_nan=False))
    other = Store(tmp_path / "other.db")
    copy = other.experiment(other.import_(data, "you"))
    assert (copy.name, copy.note, copy.owner) == ("to move", "a note", "you")
    assert copy.created == experiment.created and copy.status == "finished"
    for old, new in zip(experiment.runs, copy.runs, strict=True):
        assert old.spec == new.spec
        rows = [s.rows([r.id]).drop(columns="run") for s, r in ((store, old), (other, new))]
        assert rows[0].equals(rows[1])
        assert store.policy_steps(old.id) == other.policy_steps(new.id)
        assert all(map(np.array_equal, store.policy(old.id, 0, 1), other.policy(new.id, 0, 1)))


def test_an_imported_unfinished_run_can_be_resumed(store):
    id = store.add_experiment("me", "waits", [base()])
    copy = store.import_(store.export(id), "you")
    assert store.experiment(copy).status == "interrupted"
    compute(store, copy)
    assert_same_rows(store.rows([store.experiment(copy).runs[0].id]), base())


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("export") / "runs.db")
    return json.dumps(store.export(finished_experiment(store, base()).id))


def packed(policy_PXY) -> str:
    return base64.b64encode(pack_policy(policy_PXY)).decode()


def broken(change):
    def make(data):
        change(data["runs"][0]["replications"][0])
        return data

    return make


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda data: [], "is not an exported experiment"),
        (lambda data: data | {"version": 99}, "update it"),
        (lambda data: data | {"runs": None}, "runs is missing"),
        (lambda data: data | {"runs": []}, "0 runs"),
        (lambda data: data | {"name": 3}, "name: give text"),
        (lambda data: data | {"created": "now"}, "created"),
        (
            lambda data: data | {"runs": [{"spec": {"domain": "x", "algorithm": "y"}}]},
            "run 0, spec",
        ),
        (broken(lambda r: r.update(replication=7)), "needs replications 0 to 0"),
        (broken(lambda r: r.update(status="splendid")), "status = 'splendid'"),
        (broken(lambda r: r["rows"].pop("step")), "rows needs the columns"),
        (broken(lambda r: r["rows"]["step"].pop()), "one length"),
        (broken(lambda r: r["rows"]["step"].reverse()), "without gaps"),
        (broken(lambda r: r["rows"]["seconds"].__setitem__(1, None)), "row 1: seconds"),
        (broken(lambda r: r["rows"]["evaluations"].__setitem__(0, 2**70)), "row 0: evaluations"),
        (broken(lambda r: r["policies"][0].update(policy="AAAA")), "cannot be read"),
        (broken(lambda r: r["policies"][0].update(step=999)), "wrong step"),
        (broken(lambda r: r["policies"].append(r["policies"][0])), "the same step"),
        (broken(lambda r: r["policies"][0].update(policy=packed(np.full((1, 2, 2), 0)))), "shape"),
        (broken(lambda r: r["rows"]["evaluations"].reverse()), "must not decrease"),
        (broken(lambda r: r["rows"]["mean_return"].__setitem__(0, 10**400)), "mean_return"),
        (broken(lambda r: r["rows"]["phase"].__setitem__(0, "<b>x</b>")), "phase"),
        (broken(lambda r: r.update(reason="\ud800")), "reason"),
        (lambda data: data | {"name": "\ud800"}, "name"),
        (lambda data: data | {"runs": [{"spec": [["domain", "inventory"]]}]}, "run 0, spec"),
    ],
)
def test_an_unusable_import_is_refused_and_changes_nothing(store, exported, change, words):
    with pytest.raises(InputError, match=words):
        store.import_(change(json.loads(exported)), "me")
    assert (store.size().experiments, store.size().rows) == (0, 0)
