"""2,000 damaged files, made by rule: each is refused with a clear message, and no other exception.

A file that `save` wrote holds the hash of its content, so any change of the content is noticed. A
change that leaves the content as it is (a space in JSON, an unused byte of a zip header) is not
damage: such a file must give the same model, and is not counted.
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
from fsdash.models import content_hash, files, tables
from fsdash.models.archive import to_bytes
from fsdash.models.json_files import to_json
from tests.own_models import random_arrays

PER_FORMAT = 420
MEMORY = 100_000_000
"""Bytes that reading a damaged file of a few kilobytes may take at most."""


def model():
    return fsdash.from_transitions(random_arrays(1).table(), slow="season", gamma=0.9)


def as_csv(model):
    file = io.BytesIO()
    tables.write_csv(model, file)
    return file.getvalue()


def as_parquet(model, path):
    fsdash.save(model, path)
    return path.read_bytes()


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


def digit_damage(data, seed):
    """Another digit, sign, bracket or quote in a text."""
    rng = np.random.default_rng(seed)
    places = [i for i, byte in enumerate(data) if chr(byte) in '0123456789.-e"[]{},:']
    at = int(rng.choice(places))
    return data[:at] + rng.choice(list(b'0123456789.-e"[]{},:;x \n')).tobytes() + data[at + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet", ".json"])
def test_damaged_saved_models_are_refused(suffix, tmp_path):
    original = model()
    data = {
        ".npz": lambda: to_bytes(original),
        ".csv": lambda: as_csv(original),
        ".json": lambda: to_json(original).encode(),
        ".parquet": lambda: as_parquet(original, tmp_path / "model.parquet"),
    }[suffix]()
    refused, seed, largest = 0, 0, 0
    while refused < PER_FORMAT:
        seed += 1
        assert seed < 3 * PER_FORMAT, "too many changes have no effect"
        text = suffix in (".csv", ".json") and seed % 2
        damaged = (digit_damage if text else byte_damage)(data, seed)
        tracemalloc.start()
        try:
            found = fsdash.load(opened(damaged, suffix))
        except fsdash.InputError as error:
            refused += 1
            assert 10 < len(str(error)) < 2000, error
        else:
            assert content_hash(found) == content_hash(original)
        largest = max(largest, tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert largest < MEMORY


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
    count = 0
    for kind, table in damaged_tables():
        if suffix == ".csv":
            data = table.to_csv(index=False).encode()
        else:
            data = json.dumps({"transitions": table.to_dict("records")}).encode()
        with pytest.raises(fsdash.InputError) as raised:
            fsdash.load(opened(data, suffix), slow="season", gamma=0.9)
        assert ";" in str(raised.value) or ":" in str(raised.value), kind
        count += 1
    assert 4 * PER_FORMAT + 2 * count >= 2000


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
        (".json", b'{"format": "fsdash-model", "version": 1}'),
        (".json", b'{"transitions": [{"x": 1}, 2]}'),
        (".json", b'{"transitions": {"x": [1, 2], "next_x": [1]}}'),
        (".json", b'{"transitions": [], "slow": 5}'),
        (".json", b'{"transitions": [{"x": ' + b"9" * 4000 + b"}]}"),
        (".csv", b""),
        (".csv", b"\x00" * 100),
        (".csv", b"\xff\xfe" + "x,y".encode("utf-16-le")),
        (".csv", b"a," * 100_000),
        (".csv", b"# fsdash-model {}\n"),
        (".csv", b'"# fsdash-model {""gamma"": 0.9",x\n'),
        (".csv", b'# fsdash-model {"columns": 3}\nx\n'),
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


def test_a_small_archive_may_not_announce_a_large_model():
    """Axes with 10⁵ points each would need 10¹⁵ cells."""
    document = json.loads(to_json(model()))
    for axis in ("slow", "fast", "actions"):
        document[axis] |= {"values": [[float(i)] for i in range(100_000)], "labels": []}
    with pytest.raises(fsdash.InputError, match="the limit is"):
        fsdash.load(opened(json.dumps(document).encode(), ".json"))
