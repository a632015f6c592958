"""The page Your model without a browser: from a file to a saved model."""

import io
import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fsdash.algorithms.optimum import optimum
from fsdash.dashboard.your_model import state, text
from fsdash.dashboard.your_model.new_model import Drafts
from fsdash.dashboard.your_model.state import Upload
from fsdash.dashboard.your_model.url import URL
from fsdash.domains.saved import domain_name
from fsdash.formatting import number
from fsdash.models.archive import to_bytes
from fsdash.models.arrays import from_arrays
from fsdash.models.files import load
from fsdash.models.transitions import from_transitions
from tests.dashboard.kit import address, metrics, opened, words
from tests.saved_models import shop_frame, shop_model

# Together they take several seconds.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("store")]

PAGE = "4_Your_model.py"
GAMMA = 0.95
"""The discount factor that a visitor gives for a table without one."""
ODD_NAMES = {
    "action": "choice",
    "p": "share",
    "next_season": "season later",
    "next_stock": "stock later",
    "reward": "gain",
}


def drop(test: AppTest, name: str, content: bytes) -> AppTest:
    test.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not test.exception
    return test


def dropped(frame, name: str = "shop.csv") -> AppTest:
    """The page after a table was dropped."""
    return drop(opened(PAGE), name, frame.to_csv(index=False).encode())


def key(name: str) -> str:
    return URL.key(name)


def give_gamma(test: AppTest) -> AppTest:
    return test.number_input(key=key("gamma")).set_value(GAMMA).run()


def save(test: AppTest) -> AppTest:
    """Give γ if the file does not, and save."""
    if test.number_input(key=key("gamma")).value is None:
        give_gamma(test)
    test.button(key="save-model").click().run()
    assert not test.exception
    assert not test.error
    return test


def has_step(test: AppTest, step: str) -> bool:
    return step in words(test)


# ------------------------------------------------------------------------------------------ tables


def test_gamma_is_asked_for(store):
    test = dropped(shop_frame())
    assert test.number_input(key=key("gamma")).value is None
    assert [warning.value for warning in test.warning] == [
        "Give the discount factor γ: a table does not contain it."
    ]
    assert f"{text.OPEN_STEP} **4. Slow and fast**" in words(test)
    assert not has_step(test, "5. Save")
    give_gamma(test)
    assert has_step(test, "5. Save")
    assert address(test)["gamma"] == str(GAMMA)


def test_gamma_can_be_computed_from_a_yearly_rate(store):
    test = dropped(shop_frame())
    test.selectbox(key="gamma-period").set_value("week").run()
    test.number_input(key="gamma-rate").set_value(8.0).run()
    test.button(key="use-gamma").click().run()
    save(test)
    assert store.models.list()[0].gamma == pytest.approx(1.08 ** (-1 / 52), abs=1e-6)


def test_a_table_with_usual_names_needs_only_gamma(store):
    test = give_gamma(dropped(shop_frame()))
    assert not test.error
    assert not test.warning
    for step in (text.FILE_STEP, text.COLUMNS_STEP, "3. Check", "4. Slow and fast"):
        assert f"{text.DONE} **{step}**" in words(test)
    assert test.pills(key=key("slow")).value == ["season"]
    save(test)
    [saved] = store.models.list()
    assert address(test) == {"model": saved.domain}
    assert (saved.name, saved.gamma, saved.sense) == ("shop", GAMMA, "max")
    assert saved.domain == domain_name(shop_model(GAMMA))
    best = shop_model(GAMMA)
    assert metrics(test)[text.MEAN["max"]] == number(best.mean(optimum(best).U_XY))
    assert test.get("download_button")[0].label == "Policy, CSV"


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
    test = give_gamma(dropped(shop_frame()))
    test.pills(key=key("slow")).set_value(["season", "stock"]).run()
    assert (
        test.warning[0].value
        == "All variables are slow. At least one must be fast: remove it from the list."
    )
    assert not has_step(test, "5. Save")
    test.pills(key=key("slow")).set_value([]).run()
    assert has_step(test, "5. Save")
    assert address(test)["slow"] == "-"


def test_columns_with_unusual_names_are_chosen_by_hand(store):
    frame = shop_frame().rename(columns=ODD_NAMES)
    test = dropped(frame)
    assert "state variables with their next values" in test.warning[0].value
    assert not has_step(test, "3. Check")
    test.selectbox(key=key("action")).set_value("choice").run()
    test.selectbox(key=key("p")).set_value("share").run()
    test.selectbox(key=key("reward")).set_value("gain").run()
    test.multiselect[0].set_value(["season", "stock"]).run()
    for name in ("season", "stock"):
        test.selectbox(key=f"your-model-next-{name}").set_value(f"{name} later").run()
    give_gamma(test)
    assert not test.warning
    assert address(test)["states"] == "season>season later,stock>stock later"
    save(test)
    [saved], same = store.models.list(), shop_model(GAMMA)
    assert (saved.n_pairs, saved.variables["fast"]) == (same.n_pairs, ["stock"])
    assert metrics(test)[text.MEAN["max"]] == number(same.mean(optimum(same).U_XY))


def test_costs_are_recognised_and_shown_as_costs(store):
    test = dropped(shop_frame(cost=True))
    assert test.segmented_control(key=key("sense")).value == "min"
    save(test)
    model = shop_model(GAMMA, cost=True)
    cost = -model.mean(optimum(model).U_XY)
    assert metrics(test)[text.MEAN["min"]] == number(cost)
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
    assert not has_step(test, "5. Save")
    assert text.ENDS in [box.label for box in test.checkbox]


def test_rounded_probabilities_can_be_rescaled(store):
    frame = shop_frame()
    frame["p"] = frame["p"].replace({0.1: 0.0999})
    test = dropped(frame)
    assert "errors" in words(test)
    assert f"tick “{text.RESCALE}”" in words(test)
    test.checkbox(key=key("rescale")).check().run()
    assert f"{text.DONE} **3. Check**" in words(test)
    assert address(test)["rescale"] == "1"
    save(test)
    assert store.models.list()[0].n_pairs == 20


def test_next_states_without_rows_can_be_terminal(store):
    frame = shop_frame()
    frame = frame[(frame["stock"] > 0) | (frame["season"] == "calm")]
    test = dropped(frame)
    assert not has_step(test, "5. Save")
    test.checkbox(key=key("ends")).check().run()
    save(test)
    assert store.models.list()[0].n_pairs < 20


def test_the_end_of_an_episode_is_a_column(store):
    frame = shop_frame().assign(done=lambda f: f["next_stock"] == 0)
    test = dropped(frame)
    assert test.selectbox(key=key("end")).value == "done"
    save(test)
    options = {"slow": "season", "gamma": GAMMA}
    wanted = from_transitions(frame, terminal="done", **options)
    assert store.models.list()[0].domain == domain_name(wanted)
    test = dropped(frame)
    test.selectbox(key=key("end")).set_value("-").run()
    assert address(test)["end"] == "-"
    save(test)
    whole = from_transitions(frame, **options)
    assert {saved.domain for saved in store.models.list()} == {
        domain_name(wanted),
        domain_name(whole),
    }


def test_the_options_of_a_json_file_are_used(store):
    frame = shop_frame().rename(columns=lambda name: name.replace("next_", "n_"))
    frame["p"] = frame["p"].replace({0.1: 0.0999})
    options = {"gamma": 0.8, "slow": ["season"], "terminal": [["calm", 0]], "normalize": True}
    document = {"transitions": frame.to_dict("records"), "next_prefix": "n_", **options}
    test = drop(opened(PAGE), "shop.json", json.dumps(document).encode())
    save(test)
    wanted = from_transitions(frame, next_prefix="n_", **options)
    assert store.models.list()[0].domain == domain_name(wanted)


def test_matrices_become_a_model(store):
    P, R = np.array([[[0.9, 0.1], [0, 1]], [[1.0, 0], [0.5, 0.5]]]), np.array([[1.0, 2], [0, 3]])
    file = io.BytesIO()
    np.savez(file, P=P, R=R, gamma=0.75)
    test = drop(opened(PAGE), "matrices.npz", file.getvalue())
    save(test)
    wanted = from_arrays(P, R, gamma=0.75)
    assert store.models.list()[0].domain == domain_name(wanted)


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
    assert not has_step(test, "5. Save")
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
    lab = opened("5_Run_lab.py")
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
