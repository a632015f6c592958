"""Imported files that were made to do harm: each is refused with a message, quickly."""

import base64
import io
import json
import random
import zlib
from functools import partial

import numpy as np
import pytest

from fsdash.errors import InputError
from fsdash.runs.store import transfer
from fsdash.runs.store.arrays import pack_policy, unpack
from fsdash.runs.store.experiments import Store
from tests.runs.work import base, finished_experiment


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("export") / "runs.db")
    return json.dumps(store.export(finished_experiment(store, base()).id))


def array_file(shape, kind="|u1", body=b""):
    """A NumPy file with this header, true or not."""
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


def archive():
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3))
    return file.getvalue()


ARRAYS = {
    "nothing": b"",
    "an archive": archive(),
    "a broken archive": b"PK\x03\x04 broken",
    "a shape of 32 TB": array_file("(35184372088832,)"),
    "a negative shape": array_file("(-1, -1)", body=b"1"),
    "an open string": b"\x93NUMPY\x01\x00\x10\x00{\"descr\": '''  \n",
    "objects": array_file("(1,)", "|O", b"x"),
    "records": array_file("(1,)", [("a", "<f8")], b"0" * 8),
    "too many bytes": array_file("(1,)", body=b"12"),
    "a later version": b"\x93NUMPY\x02\x00" + b"\0" * 60,
    "a long header": b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_are_not_ours_are_refused(store, exported, name):
    data, content = json.loads(exported), zlib.compress(ARRAYS[name])
    with pytest.raises(ValueError):
        unpack(content)
    policy = data["runs"][0]["replications"][0]["policies"][0]
    policy["policy"] = base64.b64encode(content).decode()
    with pytest.raises(InputError, match="a policy cannot be read"):
        store.import_(data, "me")
    assert store.size().experiments == 0


def test_the_total_size_of_unpacked_policies_is_limited(store, exported, monkeypatch):
    monkeypatch.setattr(transfer, "UnpackBudget", partial(transfer.UnpackBudget, 4_000))
    with pytest.raises(InputError, match="when they are unpacked"):  # 2,805 bytes each
        store.import_(json.loads(exported), "me")


def test_a_policy_that_unpacks_to_much_more_is_refused(store, exported):
    """It has 65 kB in the file and 70 MB in memory."""
    data = json.loads(exported)
    large = base64.b64encode(pack_policy(np.zeros((70_000_000, 1, 1), np.uint8))).decode()
    data["runs"][0]["replications"][0]["policies"][0]["policy"] = large
    with pytest.raises(InputError, match="larger than 67,108,864 bytes"):
        store.import_(data, "me")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"created": 9.9e11}, "is in the future"),
        ({"created": 10**5000}, "not a number of seconds"),
        ({"version": 10**5000}, "a very large number"),
        ({"name": "a\0b"}, "cannot be stored"),
        ({"note": "a\0b"}, "cannot be stored"),
        ({"runs": [{}] * 1000}, "has 1,000 runs"),
    ],
)
def test_values_of_an_experiment_are_checked(store, exported, change, words):
    with pytest.raises(InputError, match=words):
        store.import_(json.loads(exported) | change, "me")


@pytest.mark.parametrize("place", range(8))
def test_whole_numbers_fit_into_their_columns(store, exported, place):
    value = [2**40, 10**5000, -1, 1.5, True, "1", [], {}][place]
    data = json.loads(exported)
    data["runs"][0]["replications"][0]["rows"]["iteration"][0] = value
    with pytest.raises(InputError, match="iteration = "):
        store.import_(data, "me")


def test_several_experiments_are_imported_all_or_none(store, exported):
    good = json.loads(exported)
    with pytest.raises(InputError, match="name: give text"):
        store.import_all([good, good, good | {"name": 3}], "me")
    assert store.size().experiments == 0
    assert len(store.import_all([good, good], "me")) == store.size().experiments == 2


def test_every_change_of_a_value_is_imported_or_refused_with_a_message(store, exported):
    """Values at random places are replaced: only an `InputError` may come out."""
    rng = random.Random(0)
    texts, numbers = ["", "\0", "\ud800", "=1", "x" * 300], [True, -1, 2**70, 10**5000, 1e308]
    junk = [None, [], {}, [[]], *texts, *numbers]
    refused = 0
    for _ in range(400):
        data = json.loads(exported)
        place = data
        for _ in range(rng.randrange(1, 8)):
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not (isinstance(place[key], dict | list) and place[key]) or rng.random() < 0.2:
                break
            place = place[key]
        else:
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        place[key] = rng.choice(junk)
        try:
            store.import_(data, "me")
        except InputError as error:
            refused += 1
            assert len(str(error)) < 1000
    assert 100 < refused < 400
