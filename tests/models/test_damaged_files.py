"""Damaged files, made by rule: each is refused with a clear message, and no other exception.

A saved model holds the hash of its content, so any change of the content is noticed. A change that
leaves the content as it is (an unused byte of a zip header) is not damage: such a file must give
the same model, and is not counted. A table has no hash: some changes only make it another table.
"""

import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

import fsdash
from fsdash.models import content as content_module
from fsdash.models import content_hash, files
from fsdash.models.archive import to_bytes
from tests.own_models import random_arrays

DAMAGED = 600
MEMORY = 100_000_000
"""Bytes that reading a damaged file of a few kilobytes may take at most."""


def model():
    return fsdash.from_transitions(random_arrays(1).table(), slow="season", gamma=0.9)


def opened(data, suffix):
    file = io.BytesIO(data)
    file.name = f"damaged{suffix}"
    return file


def byte_damage(data, seed):
    """One of eight kinds of damage to bytes, at a random place."""
    rng = np.random.default_rng(seed)
    at = int(rng.integers(len(data)))
    size = int(rng.integers(1, 64))
    other = int(rng.integers(len(data)))
    noise = rng.bytes(size)
    return [
        lambda: data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :],
        lambda: data[:at] + noise[:1] + data[at + 1 :],
        lambda: data[:at],
        lambda: data[:at] + data[at + size :],
        lambda: data[:at] + noise + data[at:],
        lambda: data[:at] + noise + data[at + size :],
        lambda: data[:at] + bytes(size) + data[at + size :],
        lambda: data[:at] + data[other : other + size] + data[at + size :],
    ][seed % 8]()


@pytest.mark.slow
def test_damaged_saved_models_are_refused():
    original = model()
    data = to_bytes(original)
    refused, seed, largest = 0, 0, 0
    while refused < DAMAGED:
        seed += 1
        assert seed < 3 * DAMAGED, "too many changes have no effect"
        tracemalloc.start()
        try:
            again = fsdash.load(opened(byte_damage(data, seed), ".npz"))
        except fsdash.InputError as error:
            refused += 1
            assert 10 < len(str(error)) < 2000, error
        else:
            assert content_hash(again) == content_hash(original)
        largest = max(largest, tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert largest < MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_tables_with_damaged_bytes_are_read_or_refused(suffix):
    table, file = random_arrays(1).table(), io.BytesIO()
    if suffix == ".parquet":
        table.to_parquet(file, write_page_checksum=True)
    else:
        (table.to_csv if suffix == ".csv" else table.to_json)(
            file, **({"index": False} if suffix == ".csv" else {"orient": "records"})
        )
    refused = 0
    for seed in range(DAMAGED):
        try:
            fsdash.load(opened(byte_damage(file.getvalue(), seed), suffix), gamma=0.9)
        except fsdash.InputError as error:
            refused += 1
            assert 10 < len(str(error)) < 2000, error
    assert refused > DAMAGED / 2


def damaged_tables():
    """Faults that a table without a hash shows, at a random row: name and damaged frame."""
    table = random_arrays(1).table()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        row = int(rng.integers(len(table)))
        name = str(rng.choice(["season", "level", "next_season", "next_level", "p"]))
        cell = rng.choice(["", "x1", "-3", "1e999", "nan", "0.5.5"])
        texts = table.astype(str)
        texts.loc[row, name] = cell
        kinds = {
            f"{name} = {cell!r}": texts,
            "a row is missing": table.drop(index=row),
            "a column is missing": table.drop(columns=str(rng.choice(list(table)))),
            "a probability changed": table.assign(
                p=table["p"].where(table.index != row, table["p"] * rng.choice([0.5, 1.5]))
            ),
            "a row is there twice": pd.concat([table, table.iloc[[row]]]),
            "the reward is a word": table.astype({"reward": object}).assign(
                reward=lambda t, row=row: t["reward"].where(t.index != row, "many")
            ),
        }
        kind = list(kinds)[seed % len(kinds)]
        yield kind, kinds[kind]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_damaged_tables_are_refused_with_a_remedy(suffix):
    for kind, table in damaged_tables():
        if suffix == ".csv":
            data = table.to_csv(index=False).encode()
        else:
            data = json.dumps({"transitions": table.to_dict("records")}).encode()
        with pytest.raises(fsdash.InputError) as raised:
            fsdash.load(opened(data, suffix), slow="season", gamma=0.9)
        assert ";" in str(raised.value) or ":" in str(raised.value), kind


# ------------------------------------------------------------------------ attacks made by hand


def archive(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in members.items():
            target.writestr(name, content)
    return file.getvalue()


def array(header, content=b""):
    header = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


def npy(values, **options):
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


class Opened:
    """What a pickle would create; reading a file must never do that."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was executed",))


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
OBJECTS = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".npz", b""),
        (".npz", b"PK\x03\x04"),
        (".npz", pickle.dumps(Opened())),
        (".npz", archive({"head.npy": array(HUGE)})),
        (".npz", archive({"head.npy": array(OBJECTS, pickle.dumps([Opened()]))})),
        (".npz", archive({"pair_state.npy": npy(np.array([Opened()]), allow_pickle=True)})),
        (".npz", archive({"../../evil.npy": npy(np.zeros(1))})),
        (".npz", archive({"head.npy": npy(np.frombuffer(b"[" * 100_000, np.uint8))})),
        (".npz", archive({"pair_reward.npy": bytes(300_000_000)})),
        (".json", b"[" * 1_000_000),
        (".json", b'{"transitions": {"x": ' + b"[" * 100_000),
        (".json", b"null"),
        (".json", b'{"gamma": 0.9}'),
        (".json", b'{"transitions": [{"x": 1}, 2]}'),
        (".json", b'{"transitions": {"x": [1, 2], "next_x": [1]}}'),
        (".json", b'{"transitions": [], "slow": 5}'),
        (".json", b'{"transitions": [{"x": ' + b"9" * 4000 + b"}]}"),
        (".csv", b""),
        (".csv", b"\x00" * 100),
        (".csv", b"\xff\xfe" + "x,y".encode("utf-16-le")),
        (".csv", b"a," * 100_000),
        (".csv", b"x,next_x\n1,2,3,4\n"),
        (".csv", b'x,"next_x\n1,2'),
        (".parquet", b""),
        (".parquet", b"PAR1PAR1"),
    ],
)
def test_files_made_to_harm_are_refused(suffix, data):
    tracemalloc.start()
    with pytest.raises(fsdash.InputError):
        fsdash.load(opened(data, suffix), gamma=0.9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * MEMORY


def test_a_file_above_the_limit_is_not_read(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 1000)
    monkeypatch.setattr(files, "_read", lambda *_: pytest.fail("the file was read"))
    for suffix in files.SUFFIXES:
        path = tmp_path / f"model{suffix}"
        path.write_bytes(bytes(1001))
        with pytest.raises(fsdash.InputError, match="the limit for"):
            fsdash.load(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("slow_values", lambda a: np.arange(100_000.0)[:, None]),
        ("slow_values", lambda a: a[:0]),
        ("pair_state", lambda a: a + 10**12),
        ("pair_state", lambda a: a[:-1]),
        ("pair_action", lambda a: a - 1),
        ("pair_reward", lambda a: a[:, None]),
        ("pair_reward", lambda a: a.astype("i8")),
        ("transition_next", lambda a: a - 10**12),
        ("transition_next", lambda a: a + 10**12),
        ("transition_pair", lambda a: a + 10**15),
        ("transition_pair", lambda a: a * 0),
        ("transition_probability", lambda a: a / 2),
        ("transition_probability", lambda a: a * np.nan),
        ("initial", lambda a: a[1:]),
        ("initial", lambda a: -a),
        ("frozen_next", lambda a: a * 0 + a.max()),
        ("frozen_pair", None),
        ("pair_state", None),
    ],
)
def test_a_hash_that_fits_does_not_make_a_harmful_archive_a_model(name, change):
    """Whoever makes a file to harm can compute its hash."""
    head, arrays = content_module.content_of(fsdash.make("inventory", y_max=5).build())
    arrays = {key: array for key, array in arrays.items() if key != name or change is not None}
    if change is not None:
        arrays[name] = change(arrays[name])
    if name == "slow_values":
        head["fast"] |= {"labels": []}
        arrays["fast_values"] = arrays[name]
    head["content_hash"] = content_module._hash(head, arrays)
    with pytest.raises(fsdash.InputError):
        content_module.model_of(head, arrays)
