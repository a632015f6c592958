"""Saved models come back as they were, in every format; the content hash says what is the same."""

import io
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsdash
from fsdash.core.axis import Axis, Coordinate
from fsdash.core.rows import to_rows
from fsdash.models import archive, content, files, size, tables
from fsdash.models.archive import from_bytes, to_bytes
from fsdash.models.json_files import to_json
from fsdash.models.law import Law
from tests.models import in_rows, random_model, random_rows, seeds
from tests.own_models import Walk, random_arrays, shared_chain

SCHEMA = json.loads((Path(files.__file__).with_name("schema.json")).read_text(encoding="utf-8"))
FORMATS = (".npz", ".csv", ".parquet", ".json")


def models():
    arrays = random_arrays(1, product=False)
    table = fsdash.from_transitions(arrays.table(), slow="season", gamma=0.9)
    words = Coordinate("level y", "y", "m", {0.0: "0", 10.0: "007", 20.0: "a, b", 30.0: "né '#\""})
    axis = replace(table.fast, coordinates={"level": words}, title="levels")
    return {
        "table": table,
        "costs": fsdash.from_transitions(arrays.table(), slow="level", gamma=0.9, sense="min"),
        "words that look like numbers": replace(table, fast=axis),
        "padded rows": random_rows(3, padded=True),
        "index tables": random_model(4),
        "walk": fsdash.from_gymnasium(Walk(), gamma=0.9, slow="goal"),
        "no slow variable": fsdash.from_gymnasium(Walk(), gamma=0.9, slow=[]),
        "all slow": fsdash.from_gymnasium(Walk(), gamma=0.9, slow=["goal", "cell", "done"]),
        "the same name twice": replace(
            random_rows(2), slow=Axis(("s",), [0, 1, 2]), fast=Axis(("s",), [5, 6, 7, 8])
        ),
        "names like columns": replace(
            random_rows(2),
            slow=Axis(("p",), [0, 1, 2]),
            fast=Axis(("reward",), [0.1, 0.2, 0.3, 1e300]),
            actions=Axis(("p",), [0, 1, 2], labels=("1", "2", "three")),
        ),
    }


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("kind", list(models()))
def test_a_saved_model_comes_back_as_it_was(kind, suffix, tmp_path):
    model = models()[kind]
    model.save(tmp_path / f"model{suffix}")
    again = fsdash.load(tmp_path / f"model{suffix}")
    assert again.content_hash == model.content_hash
    assert again.name == model.name and again.sense == model.sense
    assert np.array_equal(again.reward_XYA, model.reward_XYA)
    assert np.array_equal(again.initial_XY, model.initial_XY)
    assert np.array_equal(fsdash.optimum(again).policy_PXY, fsdash.optimum(model).policy_PXY)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
@pytest.mark.parametrize(
    "name", ["inventory", "gridworld", pytest.param("pricing", marks=pytest.mark.slow)]
)
def test_the_domains_keep_their_own_frozen_law(name, suffix, tmp_path):
    small = {"inventory": {"y_max": 20}, "gridworld": {}, "pricing": {"n_reference": 21}}
    model = fsdash.make(name, **small[name], gamma=0.9).build()
    model.save(tmp_path / f"model{suffix}")
    again = fsdash.load(tmp_path / f"model{suffix}")
    assert again.content_hash == model.content_hash
    ours, theirs = (
        fsdash.run_until(fsdash.fsvi(m, T=3), iterations=3).values_XY for m in (model, again)
    )
    assert np.allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_cannot_hold_a_frozen_law_of_its_own(suffix, tmp_path):
    model = fsdash.make("inventory", y_max=10).build()
    with pytest.raises(fsdash.InputError, match=r"save it as \.npz or \.json"):
        model.save(tmp_path / f"model{suffix}")


# -------------------------------------------------------------------------------------- large files


def test_a_model_whose_pairs_share_rows_can_be_loaded_again(tmp_path):
    """Its 42 million transitions fill 1 GB, its 6,500 different rows 16 MB."""
    model = shared_chain(slow=100, fast=65, actions=65)
    path = tmp_path / "model.npz"
    tracemalloc.start()
    model.save(path)
    again = fsdash.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert again.content_hash == model.content_hash
    assert np.array_equal(again.reward_XYA, model.reward_XYA)
    assert to_rows(again).n_rows == to_rows(model).n_rows
    assert peak < size.Size(100, 65, 65, model.true.to_rows_size()).peak_bytes


@pytest.mark.parametrize("suffix", [".npz", ".json"])
@pytest.mark.parametrize("name", ["inventory", "chain"])
def test_shared_rows_survive_a_file(name, suffix, tmp_path, monkeypatch):
    """Large laws are stored by their different rows, an own frozen law too."""
    model = shared_chain(3, 4, 5)
    if name == "inventory":
        model = fsdash.make("inventory", y_max=10, gamma=0.9).build()
    monkeypatch.setattr(content, "MAX_TRANSITIONS", 10)
    model.save(tmp_path / f"m{suffix}")
    again = fsdash.load(tmp_path / f"m{suffix}")
    assert "pair_row" in content.content_of(model).arrays
    assert again.content_hash == model.content_hash
    best = (fsdash.run_until(fsdash.fsvi(m, T=3), iterations=3).values_XY for m in (model, again))
    assert np.allclose(*best, rtol=1e-12)


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_what_could_not_be_loaded_is_not_written(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"model{suffix}"
    path.write_text("what was there before")
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 1000)
    with pytest.raises(fsdash.InputError, match=f"the limit for {suffix}"):
        models()["table"].save(path)
    assert path.read_text() == "what was there before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_with_too_many_cells_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(size, "MAX_CELLS", 10)
    with pytest.raises(fsdash.InputError, match="the limit is 10"):
        models()["table"].save(tmp_path / "m.npz")


@given(seeds, st.booleans())
def test_bytes_are_the_same_for_the_same_model(seed, padded):
    model = random_rows(seed, padded=padded)
    data = to_bytes(model)
    again = from_bytes(data)
    assert again.content_hash == model.content_hash and to_bytes(again) == data


@given(st.lists(st.text(min_size=1, max_size=8), min_size=3, max_size=3, unique=True))
@settings(max_examples=100)
def test_any_words_survive_a_csv_file(names):
    words = {float(i): name for i, name in enumerate(names)}
    axis = Axis(("x",), [0, 1, 2], {"x": Coordinate(words=words)})
    model = replace(random_rows(2), slow=axis)
    file = io.BytesIO()
    try:
        tables.write_csv(model, file)
    except fsdash.InputError as error:
        assert "cannot hold" in str(error)
        return
    file.seek(0)
    assert tables.read_csv(file).content_hash == model.content_hash


# ------------------------------------------------------------------------------------ content hash


def test_the_hash_depends_on_content_not_on_form_type_order_or_name():
    model = random_model(7)
    assert in_rows(model).content_hash == model.content_hash
    assert replace(model, name="other").content_hash == model.content_hash
    single = fsdash.from_arrays(
        np.eye(3, dtype=np.float32)[:, None], np.zeros((3, 1), np.int8), gamma=0.5
    )
    double = fsdash.from_arrays(np.eye(3)[:, None], np.zeros((3, 1)), gamma=0.5)
    assert single.content_hash == double.content_hash


@pytest.mark.parametrize(
    "changes",
    [
        {"gamma": 0.91},
        {"sense": "min"},
        {"slow": Axis(("other",), [0, 1, 2])},
        {"slow": Axis(("slow",), [0, 1, 3])},
        {"slow": Axis(("slow",), [0, 1, 2], {"slow": Coordinate(unit="m")})},
        {"actions": Axis(("actions",), [0, 1, 2], labels=("a", "b", "c"))},
        {"initial_XY": np.eye(12)[0].reshape(3, 4)},
    ],
    ids=str,
)
def test_the_hash_depends_on_everything_that_is_shown_or_solved(changes):
    model = random_rows(0)
    assert replace(model, **changes).content_hash != model.content_hash


def test_the_hash_of_a_small_model_stays_the_same_for_ever():
    """Models are stored under their hash: another hash would lose them."""
    model = fsdash.from_arrays(np.eye(2)[:, None], [[1.0], [2.0]], gamma=0.5, slow=[])
    assert model.content_hash == "9cbe033ca703c86f9b73bcb7bac0274114f83638b5ba036c585a4cc504bd9780"


# ------------------------------------------------------------------------------ tables and options


def test_a_plain_table_is_read_with_options(tmp_path):
    arrays = random_arrays(2)
    frame = arrays.table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    records = {"gamma": 0.9, "slow": "season", "transitions": frame.to_dict("records")}
    (tmp_path / "t.json").write_text(json.dumps(records), encoding="utf-8")
    columns = frame.to_dict("list")
    (tmp_path / "c.json").write_text(json.dumps({"transitions": columns}), encoding="utf-8")
    wanted = fsdash.from_transitions(frame, slow="season", gamma=0.9).content_hash
    for name in ("t.csv", "t.parquet", "t.json", "c.json"):
        model = fsdash.load(tmp_path / name, slow="season", gamma=0.9)
        assert model.content_hash == wanted and model.name == name[0]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_and_a_byte_order_mark(tmp_path, delimiter):
    frame = random_arrays(2).table()
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False, sep=delimiter, encoding="utf-8-sig")
    wanted = fsdash.from_transitions(frame, slow="season", gamma=0.9).content_hash
    assert fsdash.load(path, slow="season", gamma=0.9).content_hash == wanted


def comma_file(frame, delimiter=";"):
    """A table as spreadsheets in many countries write it."""
    return frame.to_csv(index=False, sep=delimiter, decimal=",")


@pytest.mark.parametrize("delimiter", [";", "\t", ","])  # pandas quotes cells with the delimiter
def test_decimals_with_a_comma(tmp_path, delimiter):
    frame = random_arrays(2).table()
    (tmp_path / "t.csv").write_text(comma_file(frame, delimiter), encoding="utf-8")
    wanted = fsdash.from_transitions(frame, slow="season", gamma=0.9).content_hash
    assert fsdash.load(tmp_path / "t.csv", slow="season", gamma=0.9).content_hash == wanted


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("1.500", "has '1.500', and other numbers have a decimal comma"),
        ("x", "'x' is not a number"),
    ],
)
def test_points_in_a_file_with_decimal_commas_are_refused(tmp_path, reward, message):
    rows = f"s;action;next_s;p;reward\n0;go;0;0,5;{reward}\n0;go;1;0,5;2\n1;go;1;1;0\n"
    (tmp_path / "t.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.load(tmp_path / "t.csv", gamma=0.9)


def test_a_comma_that_may_separate_thousands_is_no_decimal_comma(tmp_path):
    rows = "s;action;next_s;p;reward\n0;go;0;1;1,500\n1;go;0;1;2,000\n"
    (tmp_path / "t.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(fsdash.InputError, match="'1,500' is not a number"):
        fsdash.load(tmp_path / "t.csv", gamma=0.9)
    rows = rows.replace(";0;1;2,000", ";0;1,0;2,000")  # now 1,0 says what a comma is
    (tmp_path / "t.csv").write_text(rows, encoding="utf-8")
    assert fsdash.load(tmp_path / "t.csv", gamma=0.9).reward_XYA.ravel().tolist() == [1.5, 2]


def test_spaces_around_names_and_words_do_not_matter(tmp_path):
    frame = random_arrays(2).table()
    text = frame.to_csv(index=False).replace(",", " , ")
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    wanted = fsdash.from_transitions(frame, slow="season", gamma=0.9).content_hash
    assert fsdash.load(tmp_path / "t.csv", slow="season", gamma=0.9).content_hash == wanted


def test_another_encoding_is_named_with_the_remedy(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe,action\n".encode("cp1252"))
    with pytest.raises(fsdash.InputError, match="not UTF-8 text; save it again"):
        fsdash.load(tmp_path / "t.csv", gamma=0.9)


@pytest.mark.parametrize("form", ["(S, A, S)", "(A, S, S)", "R (S, A, S)", "(SA, S)", "float32"])
def test_matrices_in_an_npz_file(tmp_path, form):
    arrays = random_arrays(2)
    P, R, feasible = arrays.P, arrays.R, arrays.feasible
    s, a = np.nonzero(feasible)
    members = {
        "(S, A, S)": {"P": P, "R": R, "gamma": 0.9},
        "(A, S, S)": {"P": np.asfortranarray(P.transpose(1, 0, 2)), "R": R, "discount": 0.9},
        "R (S, A, S)": {"P": P, "R": np.broadcast_to(R[:, :, None], P.shape)},
        "(SA, S)": {"Q": P[s, a], "R": R[s, a], "s_indices": s, "a_indices": a, "beta": 0.9},
        "float32": {"P": np.round(P * 4096).astype("f4") / 4096, "R": R.astype("f4")},
    }[form]
    if form == "float32":
        members["P"][:, :, 0] += 1 - members["P"].sum(axis=2)
    np.savez(tmp_path / "m.npz", **members)
    options = {} if {"gamma", "beta", "discount"} & set(members) else {"gamma": 0.9}
    model = fsdash.load(tmp_path / "m.npz", **options)
    same = fsdash.from_arrays(
        members.get("P", members.get("Q")).astype(float),
        members["R"].astype(float),
        gamma=0.9,
        **{name: members[name] for name in ("s_indices", "a_indices") if name in members},
    )
    assert model.content_hash == same.content_hash and model.name.startswith("m (")


def test_matrices_may_come_with_the_values_of_state_variables(tmp_path):
    model = fsdash.make("inventory", y_max=3).build()
    ddp = fsdash.to_quantecon(model)
    x, y = np.indices(model.real_XY.shape).reshape(2, -1)
    np.savez(
        tmp_path / "m.npz",
        Q=ddp.Q.toarray(),
        R=ddp.R,
        s_indices=ddp.s_indices,
        a_indices=ddp.a_indices,
        beta=ddp.beta,
        states=np.stack([model.slow.values[x, 0], model.fast.values[y, 0]], axis=1),
    )
    found = fsdash.load(tmp_path / "m.npz")
    assert found.slow.names == ("variable 1",) and found.gamma == model.gamma
    assert np.array_equal(found.reward_XYA, model.reward_XYA)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"P": np.eye(2)[:, None]}, "needs the arrays P"),
        ({"P": np.eye(2)[:, None], "R": np.zeros((2, 1)), "x": 1}, "'x': is not read"),
        ({"P": np.array(["a"]), "R": np.zeros(1)}, "give numbers"),
        ({"P": np.array([{}]), "R": np.zeros(1)}, "give numbers"),  # would need a pickle
        ({"P": np.eye(2)[:, None] / 2, "R": np.zeros((2, 1))}, "sums to 0.5"),
        ({"P": np.eye(2)[:, None], "R": np.zeros((3, 1))}, "R: shape"),
        ({"P": np.eye(2)[:, None], "R": np.zeros((2, 1)), "states": np.zeros(2)}, "same values"),
        ({"P": np.eye(2)[:, None], "R": np.zeros((2, 1)), "states": np.zeros(3)}, "states: shape"),
        ({"P": np.eye(2)[:, None], "R": np.zeros((2, 1)), "gamma": 1.5}, "0 ≤ γ < 1"),
    ],
)
def test_matrices_that_cannot_be_used(tmp_path, members, message):
    np.savez(tmp_path / "m.npz", **members)
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.load(tmp_path / "m.npz", **({} if "gamma" in members else {"gamma": 0.9}))


def test_matrices_that_are_too_large_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_NUMBERS", 10)
    np.savez_compressed(tmp_path / "m.npz", P=np.zeros((1, 3, 3)), R=np.zeros((3, 1)))
    with pytest.raises(fsdash.InputError, match="more than 10 numbers; give a table"):
        fsdash.load(tmp_path / "m.npz", gamma=0.9)


def test_two_columns_with_one_name_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("s,action,next_s,p,p,reward,,\n0,go,0,1,0.5,1,,\n")
    with pytest.raises(fsdash.InputError, match="two columns are called 'p'"):
        fsdash.load(tmp_path / "t.csv", gamma=0.9)


def test_na_is_a_name_like_any_other(tmp_path):
    frame = random_arrays(2).table().replace({"dry": "NA", "wet": "None"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = fsdash.load(tmp_path / "t.csv", slow="season", gamma=0.9)
    assert set(model.slow.coordinates["season"].words.values()) == {"NA", "None", "mild"}


def test_a_complete_model_can_be_split_anew_while_it_is_loaded(tmp_path):
    model = models()["table"]
    model.save(tmp_path / "m.npz")
    again = fsdash.load(tmp_path / "m.npz", slow="level", gamma=0.5)
    assert again.slow.names == ("level",) and again.gamma == 0.5
    assert fsdash.load(tmp_path / "m.npz", gamma=0.5).slow.names == ("season",)
    back = fsdash.resplit(again, slow="season", gamma=0.9)
    assert back.content_hash == model.content_hash
    with pytest.raises(fsdash.InputError, match="'sense': is not an option of a complete model"):
        fsdash.load(tmp_path / "m.npz", sense="min")


def test_an_open_file_can_be_loaded(tmp_path):
    model = models()["table"]
    file = io.BytesIO(to_bytes(model))
    file.name = "upload.npz"
    assert fsdash.load(file).content_hash == model.content_hash


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("nothing.csv", {}, "no such file"),
        ("model.xlsx", {}, "ending"),
        ("t.csv", {"slow": "season"}, "gamma"),
        ("t.csv", {"slow": "season", "gamma": 0.9, "columns": 3}, "not an option"),
        (".", {}, "ending"),
    ],
)
def test_files_that_cannot_be_loaded(name, options, message, tmp_path):
    random_arrays(2).table().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.load(tmp_path / name, **options)


@pytest.mark.parametrize("kind", list(models()))
def test_saved_json_follows_the_schema(kind):
    document = json.loads(to_json(models()[kind]))
    jsonschema.validate(document, SCHEMA)
    del document["content_hash"]  # as if written by hand
    again = files.load(named(json.dumps(document), "m.json"))
    assert again.content_hash == models()[kind].content_hash


def test_the_published_schema_is_the_one_in_the_package():
    published = Path(__file__).parents[2] / "docs" / "guide" / "model.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == SCHEMA


def test_the_schema_is_a_schema_and_refuses_what_is_wrong():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    table = {"gamma": 0.9, "slow": ["x"], "transitions": [{"x": 1, "next_x": 1, "p": 1}]}
    jsonschema.validate(table, SCHEMA)
    for wrong in ({}, {"transitions": [{"x": []}]}, table | {"gamma": 1}, table | {"more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


def named(data, name):
    file = io.BytesIO(data.encode() if isinstance(data, str) else data)
    file.name = name
    return file


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("fsdash.errors.find_spec", lambda name: None)
    with pytest.raises(fsdash.InputError, match=r"pyarrow is not installed.*pip install"):
        models()["table"].save(tmp_path / "m.parquet")


def test_an_ordinary_program_reads_the_csv(tmp_path):
    model = models()["costs"]
    model.save(tmp_path / "m.csv")
    frame = pd.read_csv(tmp_path / "m.csv", comment="#")
    assert list(frame)[:3] == ["level", "season", "action"] and "cost" in frame
    assert len(frame) == Law.of(model, model.true).n_transitions
