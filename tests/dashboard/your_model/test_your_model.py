"""The page Your model without a browser: from a file to a saved model."""

import io
import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from fsdash.algorithms.optimum import optimum
from fsdash.dashboard.service import _store
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.your_model import saved_text, state, text
from fsdash.dashboard.your_model.drafts import Drafts
from fsdash.dashboard.your_model.state import Upload
from fsdash.dashboard.your_model.url import URL
from fsdash.domains.saved import domain_name
from fsdash.formatting import number
from fsdash.models.archive import to_bytes
from fsdash.models.files import load
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.database import default_url
from fsdash.theory.measured import measure
from tests.dashboard.kit import address, figures, metrics, opened, table_rows, traces, words
from tests.saved_models import shop_frame, shop_model

pytestmark = pytest.mark.slow  # together they take several seconds

PAGE = "8_Your_model.py"
ODD_NAMES = {
    "action": "choice",
    "p": "share",
    "next_season": "season later",
    "next_stock": "stock later",
    "reward": "gain",
}


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """An empty store of its own for each test."""
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    monkeypatch.delenv("FSDASH_DATABASE_URL", raising=False)
    yield _store(default_url())
    st.cache_resource.clear()


def drop(test: AppTest, name: str, content: bytes) -> AppTest:
    test.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not test.exception
    return test


def dropped(frame, name: str = "shop.csv") -> AppTest:
    """The page after a table was dropped."""
    return drop(opened(PAGE), name, frame.to_csv(index=False).encode())


def key(name: str) -> str:
    return URL.key(name)


def save(test: AppTest) -> AppTest:
    test.button(key="save-model").click().run()
    assert not test.exception
    assert not test.error
    return test


def has_step(test: AppTest, step: str) -> bool:
    return step in words(test)


# ------------------------------------------------------------------------------------------ tables


def test_a_table_with_usual_names_needs_one_click(store):
    test = dropped(shop_frame())
    assert not test.error
    assert not test.warning
    for step in (text.FILE_STEP, text.COLUMNS_STEP, text.CHECK_STEP, text.SLOW_STEP):
        assert f"{text.DONE} **{step}**" in words(test)
    assert test.pills(key=key("slow")).value == ["season"]
    save(test)
    [saved] = store.models.list()
    assert address(test) == {"model": saved.domain}
    assert (saved.name, saved.gamma, saved.sense) == ("shop", state.DEFAULT_GAMMA, "max")
    assert saved.domain == domain_name(shop_model(state.DEFAULT_GAMMA))
    best = shop_model(state.DEFAULT_GAMMA)
    assert metrics(test)[saved_text.MEAN["max"]] == number(best.mean(optimum(best).U_XY))
    assert [button.label for button in test.get("download_button")][:2] == [
        saved_text.POLICY_CSV,
        saved_text.POLICY_JSON,
    ]


def test_slow_variables_gamma_name_and_note_can_be_chosen(store):
    test = dropped(shop_frame())
    test.pills(key=key("slow")).set_value(["stock"]).run()
    test.number_input(key=key("gamma")).set_value(0.8).run()
    assert address(test)["slow"] == "stock"
    assert address(test)["gamma"] == "0.8"
    test.text_input[0].set_value("Corner shop").run()
    test.text_input[1].set_value("from the till").run()
    save(test)
    [saved] = store.models.list()
    assert (saved.name, saved.note, saved.gamma) == ("Corner shop", "from the till", 0.8)
    assert saved.variables["slow"] == ["stock"]
    assert "Corner shop" in test.header[0].value


def test_all_variables_slow_is_refused():
    test = dropped(shop_frame())
    test.pills(key=key("slow")).set_value(["season", "stock"]).run()
    assert test.warning[0].value == text.NO_FAST
    assert not has_step(test, text.SAVE_STEP)
    test.pills(key=key("slow")).set_value([]).run()
    assert has_step(test, text.SAVE_STEP)
    assert address(test)["slow"] == "-"


def test_columns_with_unusual_names_are_chosen_by_hand(store):
    frame = shop_frame().rename(columns=ODD_NAMES)
    test = dropped(frame)
    assert "state variables with their next values" in test.warning[0].value
    assert not has_step(test, text.CHECK_STEP)
    test.selectbox(key=key("action")).set_value("choice").run()
    test.selectbox(key=key("p")).set_value("share").run()
    test.selectbox(key=key("reward")).set_value("gain").run()
    test.multiselect[0].set_value(["season", "stock"]).run()
    for name in ("season", "stock"):
        test.selectbox(key=f"your-model-next-{name}").set_value(f"{name} later").run()
    assert not test.warning
    assert address(test)["states"] == "season>season later,stock>stock later"
    save(test)
    [saved], same = store.models.list(), shop_model(state.DEFAULT_GAMMA)
    assert (saved.n_pairs, saved.variables["fast"]) == (same.n_pairs, ["stock"])
    assert metrics(test)[saved_text.MEAN["max"]] == number(same.mean(optimum(same).U_XY))


def test_costs_are_recognised_and_shown_as_costs(store):
    test = dropped(shop_frame(cost=True))
    assert test.segmented_control(key=key("sense")).value == "min"
    save(test)
    model = shop_model(state.DEFAULT_GAMMA, cost=True)
    cost = -model.mean(optimum(model).U_XY)
    assert metrics(test)[saved_text.MEAN["min"]] == number(cost)
    assert any("Costs are minimised" in caption.value for caption in test.caption)


# ---------------------------------------------------------------------------------------- mistakes


def test_data_errors_are_listed_with_their_rows_and_prevent_saving():
    frame = shop_frame().astype(object)
    frame.loc[2, "p"], frame.loc[4, "reward"], frame.loc[6, "next_stock"] = "x", None, 99
    test = dropped(frame)
    table = words(test)
    for row, problem in ((3, "is not a number"), (5, "empty"), (7, "never occurs as a state")):
        assert f"| {row} |" in table
        assert problem in table
    assert not has_step(test, text.SAVE_STEP)
    assert text.ENDS in [box.label for box in test.checkbox]


def test_rounded_probabilities_can_be_rescaled(store):
    frame = shop_frame()
    frame["p"] = frame["p"].replace({0.1: 0.0999})
    test = dropped(frame)
    assert "errors" in words(test)
    assert f"tick “{text.RESCALE}”" in words(test)
    test.checkbox(key=key("rescale")).check().run()
    assert f"{text.DONE} **{text.CHECK_STEP}**" in words(test)
    assert address(test)["rescale"] == "1"
    save(test)
    assert store.models.list()[0].n_pairs == 20


def test_next_states_without_rows_can_be_terminal(store):
    frame = shop_frame()
    frame = frame[(frame["stock"] > 0) | (frame["season"] == "calm")]
    test = dropped(frame)
    assert not has_step(test, text.SAVE_STEP)
    test.checkbox(key=key("ends")).check().run()
    save(test)
    assert store.models.list()[0].n_pairs < 20


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("shop.csv", b"", "no columns"),
        ("shop.csv", b"a,b\n1,2\n", "state variables"),
        ("shop.npz", b"PK\x03\x04 not an archive", "damaged"),
        ("shop.json", b"[1, 2", "JSON"),
        ("shop.parquet", b"PAR1", "arquet"),
        ("shop.csv", b"\xff\xfe\x00bad", "CSV"),
    ],
)
def test_an_unusable_file_gets_a_message_and_another_try(name, content, problem):
    test = drop(opened(PAGE), name, content)
    shown = " ".join(element.value for element in (*test.error, *test.warning))
    assert problem.lower() in f"{shown} {words(test)}".lower()
    assert not has_step(test, text.SAVE_STEP)
    test.button(key="other-file").click().run()
    assert not test.error
    assert test.file_uploader
    assert address(test) == {}


# ----------------------------------------------------------------------------------- other sources


@pytest.mark.parametrize("name", state.EXAMPLES)
def test_every_example_is_saved_with_one_click(store, name):
    example = state.EXAMPLES[name]
    test = opened(PAGE)
    test.button(key=f"example-{name}").click().run()
    assert address(test) == {"example": name}
    assert not test.warning
    save(test)
    [saved] = store.models.list()
    assert saved.domain == domain_name(load(example.path, **example.options))


def test_a_whole_model_is_saved_as_it_is(store):
    model = shop_model(0.83, cost=True)
    test = drop(opened(PAGE), "exported.npz", to_bytes(model))
    assert test.number_input(key=key("gamma")).value == 0.83
    assert test.pills(key=key("slow")).value == ["season"]
    assert not has_step(test, text.COLUMNS_STEP)
    save(test)
    assert store.models.list()[0].domain == domain_name(model)


def test_a_whole_model_can_be_divided_anew(store):
    test = drop(opened(PAGE), "exported.npz", to_bytes(shop_model()))
    test.pills(key=key("slow")).set_value(["stock"]).run()
    save(test)
    assert store.models.list()[0].variables["slow"] == ["stock"]


# ------------------------------------------------------------------------------------------ reload


HOSTILE = "![x](http://example.invalid/x.png)"


def test_names_in_a_file_are_never_links_or_images(store):
    frame = shop_frame().rename(columns={"season": HOSTILE, "next_season": f"next_{HOSTILE}"})
    test = dropped(frame, f"{HOSTILE[:20]}.csv".replace("/", "-"))
    store.models.add("me", HOSTILE, shop_model(0.6))
    test.run()
    save(test)
    shown = [words(test), *(element.value for element in (*test.caption, *test.header))]
    labels = [button.label for button in test.button]
    labels += test.segmented_control[0].options
    for label in (*shown, *labels):
        assert "![x](" not in re.sub(r"`[^`]*`", "", label)
    lab = opened("4_Run_lab.py")
    assert not any("![x](" in option for option in lab.segmented_control(key="lab.domain").options)


def test_a_reload_finds_the_file_and_what_was_chosen():
    test = dropped(shop_frame())
    test.pills(key=key("slow")).set_value(["stock"]).run()
    again = opened(PAGE, **address(test))
    assert again.pills(key=key("slow")).value == ["stock"]
    assert "shop.csv" in words(again)


def test_a_file_that_is_gone_is_reported():
    test = opened(PAGE, file="0123456789abcdef")
    assert test.warning[0].value == text.LOST_FILE
    assert test.file_uploader


def test_the_oldest_files_are_forgotten_first():
    drafts = Drafts(max_bytes=100)
    keys = [drafts.add(Upload(f"{i}.csv", bytes(40))) for i in range(3)]
    assert drafts.get(keys[0]) is None
    assert drafts.get(keys[1]).name == "1.csv"
    assert drafts.get(drafts.add(Upload("large.csv", bytes(500)))).name == "large.csv"


def test_a_link_to_a_saved_model_opens_it(store):
    saved = store.models.add("me", "shop", shop_model())
    test = opened(PAGE, model=saved.domain)
    assert "shop" in test.header[0].value
    missing = opened(PAGE, model="model-0123456789abcdef")
    assert "may have been deleted" in missing.warning[0].value
    assert missing.file_uploader


# ------------------------------------------------------------------------------------- saved model


@pytest.fixture
def saved(store):
    return store.models.add("me", "shop", shop_model())


def test_the_frozen_policy_has_its_regret(saved):
    test = opened(PAGE, model=saved.domain, method="fsvi", T="3")
    found = state.solve(saved.domain, "fsvi", 3)
    assert found.policy.period == 3
    shown = metrics(test)[saved_text.REGRET]
    assert shown == saved_text.regret_text(found.worth.mean_regret, found.relative_regret)
    assert found.worth.mean_regret >= 0
    frame = test.dataframe[0].value
    assert list(frame.columns) == ["phase", "season", "stock", "action"]
    assert set(frame["action"]) <= {f"order {n}" for n in range(4)}


def test_the_policy_file_never_has_an_infeasible_action(saved):
    frame = state.solve(saved.domain, "optimal", 1).policy.to_frame()
    ordered = frame["action"].str.removeprefix("order ").astype(int)
    assert (frame["stock"] + ordered <= 3).all()
    assert len(frame) == 8


def test_regret_over_T_is_drawn_and_judged(saved):
    test = opened(PAGE, model=saved.domain, tab="regret")
    drawn = figures(test)["regret-over-T"]["data"][0]
    solutions = {T: state.solve(saved.domain, "fsvi", T) for T in state.HORIZONS}
    table = state.regret_table(solutions)
    np.testing.assert_allclose(drawn["y"], 100 * table["relative_regret"])
    sentence, kind = state.verdict(saved.domain, table)
    assert getattr(test, kind)[0].value == sentence
    test.button(key=f"compare-splits-{saved.hash}").click().run()
    assert set(test.dataframe[-1].value["slow"]) == {"season", "stock", "none"}


@pytest.mark.parametrize(
    ("regrets", "kind", "word"),
    [
        ((0.01, 0.001), "success", "0.10%"),
        ((0.15, 0.05), "info", "5.00%"),
        ((0.5, 0.001), "warning", "50%"),
    ],
)
def test_the_verdict_follows_the_regrets(saved, regrets, kind, word):
    table = pd.DataFrame({"T": [2, 8], "relative_regret": regrets})
    sentence, found = state.verdict(saved.domain, table)
    assert found == kind
    assert word in sentence


def test_a_single_slow_state_does_not_suit(store):
    model = shop_model(slow=[])
    saved = store.models.add("me", "one slow state", model)
    table = pd.DataFrame({"T": [2], "relative_regret": [0.0]})
    sentence, kind = state.verdict(saved.domain, table)
    assert kind == "warning"
    assert "single slow state" in sentence


def test_the_constants_are_measured(saved):
    test = opened(PAGE, model=saved.domain, tab="constants")
    assert not test.error
    measured = measure(shop_model())
    for name, value in (("alpha", measured.alpha), ("dY", measured.d_y)):
        assert f"| ${SYMBOLS[name].latex}$ | {number(value)} |" in words(test)
    notes = " ".join(caption.value for caption in test.caption)
    assert saved_text.COUPLINGS["wasserstein"] in notes
    assert saved_text.SOME_INFEASIBLE in notes


def test_the_snippet_recomputes_the_regrets(saved):
    scope: dict = {}
    exec(state.regret_snippet(saved.domain), scope)
    assert scope["frame"]["T"].tolist() == list(state.HORIZONS)


def test_a_model_can_be_renamed_and_deleted(store, saved):
    test = opened(PAGE, model=saved.domain, tab="manage")
    test.text_input(key=f"manage-name-{saved.hash}").set_value("new name")
    test.text_area(key=f"manage-note-{saved.hash}").set_value("a note")
    test.button(key="rename-model").click().run()
    assert test.success[0].value == saved_text.RENAMED
    assert (store.models.get(saved.hash).name, store.models.get(saved.hash).note) == (
        "new name",
        "a note",
    )
    test.button(key="delete-model").click().run()
    assert store.models.list()
    test.button(key="cancel-delete").click().run()
    test.button(key="delete-model").click().run()
    test.button(key="confirm-delete").click().run()
    assert not test.exception
    assert test.success[0].value == saved_text.DELETED
    assert store.models.list() == []
    assert address(test) == {}


def test_a_model_in_use_is_not_deleted(store, saved):
    store.add_experiment("me", "runs", [RunSpec(saved.domain, "vi", iterations=1)])
    test = opened(PAGE, model=saved.domain, tab="manage")
    test.button(key="delete-model").click().run()
    test.button(key="confirm-delete").click().run()
    assert "1 experiment on the Runs page" in test.error[0].value
    assert store.models.list() == [saved]


def test_an_exported_model_is_the_same_model(store, saved):
    file = io.BytesIO(store.models.content(saved.hash))
    file.name = "shop.npz"
    assert domain_name(load(file)) == saved.domain


# ------------------------------------------------------------------------------------- other pages


def test_the_lab_offers_a_saved_model_and_runs_it_with_another_gamma(saved):
    test = opened("4_Run_lab.py", domain=saved.domain, preset="known-model")
    control = test.segmented_control(key="lab.domain")
    assert control.value == saved.domain
    assert "shop" in control.options
    assert not test.button(key="start").disabled
    test.number_input(key="lab.model.gamma").set_value(0.5).run()
    assert not test.exception
    assert address(test)["model.gamma"] == "0.5"
    assert any("γ = 0.5" in caption.value for caption in test.caption)


@pytest.mark.parametrize("cost", [False, True])
def test_the_inspector_shows_a_saved_model_with_its_names(store, cost):
    saved = store.models.add("me", "shop", shop_model(cost=cost))
    page = opened("5_Policy_inspector.py", domain=saved.domain, T="3")
    assert not page.error
    drawn = figures(page)["policy-actions"]
    assert drawn["layout"]["yaxis"]["ticktext"] == ["busy", "calm"]
    assert drawn["layout"]["xaxis"]["title"]["text"] == "stock"
    assert {f"order {n}" for n in range(4)} <= traces(drawn).keys()
    for view in ("values", "difference", "visits", "path"):
        page.pills(key="inspector.view").set_value(view).run()
        assert not page.exception
        assert not page.error


def test_the_runs_page_finds_the_experiments_of_a_model(store, saved):
    store.add_experiment("me", "with it", [RunSpec(saved.domain, "vi", iterations=1)])
    store.add_experiment("me", "without it", [RunSpec("inventory", "vi", iterations=1)])
    page = opened("6_Runs.py", domain=saved.domain)
    assert [row["cells"]["name"]["text"] for row in table_rows(page)] == ["with it"]
