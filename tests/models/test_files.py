"""Saved models come back as they were; the content hash says what is the same."""

import io
import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fsdash
from fsdash.core.axis import Axis, Coordinate
from fsdash.core.rows import to_rows
from fsdash.models import archive, content, content_hash, files, size
from fsdash.models.archive import from_bytes, to_bytes
from fsdash.models.law import Law
from tests.models import in_rows, random_model, random_rows, seeds
from tests.own_models import Walk, random_arrays, shared_chain


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


@pytest.mark.parametrize("kind", list(models()))
def test_a_saved_model_comes_back_as_it_was(kind, tmp_path):
    model = models()[kind]
    fsdash.save(model, tmp_path / "model.npz")
    again = fsdash.load(tmp_path / "model.npz")
    assert content_hash(again) == content_hash(model)
    assert again.name == model.name and again.sense == model.sense
    assert np.array_equal(again.reward_XYA, model.reward_XYA)
    assert np.array_equal(again.initial_XY, model.initial_XY)
    assert np.array_equal(fsdash.optimum(again).policy_PXY, fsdash.optimum(model).policy_PXY)


@pytest.mark.parametrize(
    "name", ["inventory", "gridworld", pytest.param("pricing", marks=pytest.mark.slow)]
)
def test_the_domains_keep_their_own_frozen_law(name, tmp_path):
    small = {"inventory": {"y_max": 20}, "gridworld": {}, "pricing": {"n_reference": 21}}
    model = fsdash.make(name, **small[name], gamma=0.9).build()
    fsdash.save(model, tmp_path / "model.npz")
    again = fsdash.load(tmp_path / "model.npz")
    assert content_hash(again) == content_hash(model)
    ours, theirs = (
        fsdash.run_until(fsdash.fsvi(m, T=3), iterations=3).values_XY for m in (model, again)
    )
    assert np.allclose(ours, theirs, rtol=1e-12)


def test_a_table_cannot_hold_a_frozen_law_of_its_own(tmp_path):
    model = fsdash.make("inventory", y_max=10).build()
    with pytest.raises(fsdash.InputError, match=r"save it as \.npz"):
        fsdash.save(model, tmp_path / "model.csv")


@pytest.mark.parametrize("kind", list(models()))
def test_a_model_as_a_table_can_be_read_by_any_program(kind, tmp_path):
    model, path = models()[kind], tmp_path / "model.csv"
    if kind in ("the same name twice", "names like columns"):
        model = replace(model, slow=Axis(("x",), [0, 1, 2]), fast=Axis(("y",), [5, 6, 7, 8]))
        model = replace(model, actions=Axis(("action",), [0, 1, 2]))
    fsdash.save(model, path)
    frame = pd.read_csv(path)
    assert len(frame) == Law.of(model, model.true).n_transitions
    assert ("cost" if model.sense == "min" else "reward") in frame
    slow = [name for name in model.slow.names if name in frame]
    again = fsdash.load(path, gamma=model.gamma, slow=slow)
    assert again.reward_XYA.shape == model.reward_XYA.shape and again.sense == model.sense
    ours, theirs = fsdash.optimum(model), fsdash.optimum(again)
    assert again.mean(theirs.U_XY) == pytest.approx(model.mean(ours.U_XY))


@pytest.mark.parametrize("kind", ["the same name twice", "names like columns"])
def test_a_table_needs_a_name_for_each_column(kind, tmp_path):
    model = replace(models()[kind], fast=Axis(("reward",), [5, 6, 7, 8]))
    with pytest.raises(fsdash.InputError, match="has the name of another column"):
        fsdash.save(model, tmp_path / "model.csv")
    assert not list(tmp_path.iterdir())


# -------------------------------------------------------------------------------------- large files


def test_a_model_whose_pairs_share_rows_can_be_loaded_again(tmp_path):
    """Its 42 million transitions fill 1 GB, its 6,500 different rows 16 MB."""
    model = shared_chain(slow=100, fast=65, actions=65)
    path = tmp_path / "model.npz"
    tracemalloc.start()
    fsdash.save(model, path)
    again = fsdash.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert content_hash(again) == content_hash(model)
    assert np.array_equal(again.reward_XYA, model.reward_XYA)
    assert to_rows(again).n_rows == to_rows(model).n_rows
    assert peak < size.Size(100, 65, 65, model.true.to_rows_size()).peak_bytes


@pytest.mark.parametrize("name", ["inventory", "chain"])
def test_shared_rows_survive_a_file(name, tmp_path, monkeypatch):
    """Large laws are stored by their different rows, an own frozen law too."""
    model = shared_chain(3, 4, 5)
    if name == "inventory":
        model = fsdash.make("inventory", y_max=10, gamma=0.9).build()
    monkeypatch.setattr(content, "MAX_TRANSITIONS", 10)
    fsdash.save(model, tmp_path / "m.npz")
    again = fsdash.load(tmp_path / "m.npz")
    assert "pair_row" in content.content_of(model)[1]
    assert content_hash(again) == content_hash(model)
    best = (fsdash.run_until(fsdash.fsvi(m, T=3), iterations=3).values_XY for m in (model, again))
    assert np.allclose(*best, rtol=1e-12)


@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_what_could_not_be_loaded_is_not_written(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"model{suffix}"
    path.write_text("what was there before")
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1000)
    with pytest.raises(fsdash.InputError, match=f"the limit for {suffix}"):
        fsdash.save(models()["table"], path)
    assert path.read_text() == "what was there before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_with_too_many_cells_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(size, "MAX_CELLS", 10)
    with pytest.raises(fsdash.InputError, match="the limit is 10"):
        fsdash.save(models()["table"], tmp_path / "m.npz")


@given(seeds, st.booleans())
def test_bytes_are_the_same_for_the_same_model(seed, padded):
    model = random_rows(seed, padded=padded)
    data = to_bytes(model)
    again = from_bytes(data)
    assert content_hash(again) == content_hash(model) and to_bytes(again) == data


# ------------------------------------------------------------------------------------ content hash


def test_the_hash_depends_on_content_not_on_form_type_order_or_name():
    model = random_model(7)
    assert content_hash(in_rows(model)) == content_hash(model)
    assert content_hash(replace(model, name="other")) == content_hash(model)
    single = fsdash.from_arrays(
        np.eye(3, dtype=np.float32)[:, None], np.zeros((3, 1), np.int8), gamma=0.5
    )
    double = fsdash.from_arrays(np.eye(3)[:, None], np.zeros((3, 1)), gamma=0.5)
    assert content_hash(single) == content_hash(double)


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
    assert content_hash(replace(model, **changes)) != content_hash(model)


def test_the_hash_of_a_small_model_stays_the_same_for_ever():
    """Models are stored under their hash: another hash would lose them."""
    model = fsdash.from_arrays(np.eye(2)[:, None], [[1.0], [2.0]], gamma=0.5, slow=[])
    assert content_hash(model) == "9cbe033ca703c86f9b73bcb7bac0274114f83638b5ba036c585a4cc504bd9780"


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
    wanted = content_hash(fsdash.from_transitions(frame, slow="season", gamma=0.9))
    for name in ("t.csv", "t.parquet", "t.json", "c.json"):
        model = fsdash.load(tmp_path / name, slow="season", gamma=0.9)
        assert content_hash(model) == wanted and model.name == name[0]


@pytest.mark.parametrize(
    "text",
    [
        lambda frame: "\ufeff" + frame.to_csv(index=False, sep=";"),  # a byte order mark
        lambda frame: frame.to_csv(index=False, sep="\t"),
        lambda frame: frame.to_csv(index=False, sep="|"),
        lambda frame: frame.to_csv(index=False).replace(",", " , "),
        lambda frame: frame.to_csv(index=False, sep=";", decimal=","),
        lambda frame: frame.to_csv(index=False, sep="\t", decimal=","),
        lambda frame: frame.to_csv(index=False, decimal=","),  # pandas quotes such numbers
    ],
)
def test_delimiters_decimal_commas_and_spaces_do_not_matter(tmp_path, text):
    frame = random_arrays(2).table()
    (tmp_path / "t.csv").write_text(text(frame), encoding="utf-8")
    wanted = content_hash(fsdash.from_transitions(frame, slow="season", gamma=0.9))
    assert content_hash(fsdash.load(tmp_path / "t.csv", slow="season", gamma=0.9)) == wanted


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
    assert content_hash(model) == content_hash(same) and model.name.startswith("m (")


def test_matrices_may_come_with_the_values_of_state_variables(tmp_path):
    model = fsdash.make("inventory", y_max=3).build()
    ddp = fsdash.models.to_quantecon(model)
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
    loaded = fsdash.load(tmp_path / "m.npz")
    assert loaded.slow.names == ("variable 1",) and loaded.gamma == model.gamma
    assert np.array_equal(loaded.reward_XYA, model.reward_XYA)


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
    fsdash.save(model, tmp_path / "m.npz")
    again = fsdash.load(tmp_path / "m.npz", slow="level", gamma=0.5)
    assert again.slow.names == ("level",) and again.gamma == 0.5
    assert fsdash.load(tmp_path / "m.npz", gamma=0.5).slow.names == ("season",)
    back = fsdash.models.resplit(again, slow="season", gamma=0.9)
    assert content_hash(back) == content_hash(model)
    with pytest.raises(fsdash.InputError, match="'sense': is not an option of a complete model"):
        fsdash.load(tmp_path / "m.npz", sense="min")


def test_an_open_file_can_be_loaded(tmp_path):
    model = models()["table"]
    file = io.BytesIO(to_bytes(model))
    file.name = "upload.npz"
    assert content_hash(fsdash.load(file)) == content_hash(model)


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


def test_models_are_saved_in_two_formats(tmp_path):
    with pytest.raises(fsdash.InputError, match=r"saved as \.npz or \.csv"):
        fsdash.save(models()["table"], tmp_path / "m.parquet")


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch, tmp_path):
    random_arrays(2).table().to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("fsdash.errors.find_spec", lambda name: None)
    with pytest.raises(fsdash.InputError, match=r"pyarrow is not installed.*pip install"):
        fsdash.load(tmp_path / "t.parquet", gamma=0.9)
