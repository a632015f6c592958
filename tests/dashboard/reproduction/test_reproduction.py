"""The Reproduction page without a browser: figures and verdicts are those of the kept results."""

import shutil

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fsdash.dashboard.reproduction import state as reproduction
from fsdash.dashboard.reproduction.state import MARKS, PARTS, STATES
from fsdash.dashboard.run_lab.state import PLANS
from fsdash.reproduce import archive as kept
from fsdash.reproduce.experiments import FigureSpec, experiment
from fsdash.reproduce.judging import REPRODUCED
from fsdash.reproduce.report import figure_of
from tests.dashboard.kit import figures, opened, traces, words

PAGE = "7_Reproduction.py"
INVENTORY = PARTS["inventory"]


@pytest.fixture
def without_pricing(tmp_path, monkeypatch):
    """The kept results as they are, but for pricing."""
    for file in kept.FOLDER.iterdir():
        if not file.name.startswith("pricing"):
            shutil.copy(file, tmp_path)
    monkeypatch.setattr(kept, "FOLDER", tmp_path)


def cards(test: AppTest) -> list[str]:
    """The claims on the page: verdict and text."""
    marks = tuple(f":{mark.colour}[" for mark in MARKS.values())
    return [card.label for card in test.expander if card.label.startswith(marks)]


def test_every_kept_claim_is_there_with_its_verdict():
    page = opened(PAGE)
    shown = cards(page)
    claims = reproduction.claims()
    assert len(shown) == len(claims)
    for claim in claims.to_dict("records"):
        mark = MARKS[claim["verdict"]].text(claim["beyond"])
        assert any(card.startswith(mark) and claim["claim"] in card for card in shown)


def test_the_counts_are_of_the_papers_claims():
    page = opened(PAGE)
    claims = kept.kept_claims()
    papers = claims[claims["where"] != reproduction.BEYOND]["verdict"]
    found = {m.label.rpartition("] ")[2]: int(m.value) for m in page.metric}
    assert found == {mark.word: int((papers == v).sum()) for v, mark in MARKS.items()}


def test_a_figure_is_the_one_of_the_kept_rows():
    page = opened(PAGE, part=INVENTORY)
    plan = experiment("inventory")
    drawn = traces(figures(page)["inventory"])
    for trace in figure_of(plan, plan.views[0], kept.kept_rows("inventory")).data:
        np.testing.assert_allclose(
            np.asarray(drawn[trace.name]["y"], float), np.asarray(trace.y, float)
        )


def test_another_figure_can_be_chosen():
    page = opened(PAGE, part=INVENTORY)
    page.pills(key="figure-inventory").set_value("The model is known").run()
    assert not page.exception
    assert "inventory-exact" in figures(page)


def test_the_filters_choose_claims():
    page = opened(PAGE, part=INVENTORY, verdict="Reproduced")
    claims = reproduction.claims()
    wanted = claims[(claims["part"] == "inventory") & (claims["verdict"] == REPRODUCED)]
    assert len(cards(page)) == len(wanted)
    assert not any(key in figures(page) for key in ("gridworld", "reward-error-small"))


def test_a_card_tells_rule_numbers_and_place():
    page = opened(PAGE, part=INVENTORY)
    claim = reproduction.claims().set_index("name").loc["inventory-agnostic"]
    assert claim["rule"] in words(page)
    finding = kept.kept_findings().set_index("name").loc["inventory-agnostic"]
    low, high = finding["low"], finding["high"]
    assert f"**{finding['mean']:.3g}** [{low:.3g}, {high:.3g}], needed < 0.75" in words(page)
    assert any(claim["where"] in caption.value for caption in page.caption)


def test_run_this_again_is_a_plan_of_the_lab():
    for domain in kept.kept_domains():
        assert f"paper-{domain}" in PLANS


def test_the_page_says_when_and_with_what():
    page = opened(PAGE, part=INVENTORY)
    made = kept.about()["inventory"]
    text = " ".join(caption.value for caption in page.caption)
    assert made["date"] in text
    assert f"numpy {made['packages']['numpy']}" in text


def test_results_that_are_not_kept_are_named_with_the_remedy(without_pricing):
    page = opened(PAGE)
    [told] = [info.value for info in page.info]
    assert "fsdash reproduce pricing" in told
    assert "pricing-linear" not in figures(page)
    assert "inventory" in figures(page)


def test_without_any_kept_result_the_theory_is_still_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    page = opened(PAGE)
    assert len(page.info) == 3
    assert len(cards(page)) == 7
    assert set(figures(page)) == {"reward-error-small"}


@pytest.mark.parametrize("part", ["theory", "inventory"])
def test_the_snippets_draw_the_figures_again(part):
    name = next(iter(reproduction.labels(part).values()))
    page = opened(PAGE, part=PARTS[part])
    [code] = [c.value for c in page.code if c.language == "python"]
    assert code == reproduction.snippet(part, name)
    space = {}
    exec(code, space)
    drawn = figures(page)[name]["data"]
    assert [t.get("name") for t in drawn] == [t.name for t in space["figure"].data]
    assert len(space["frame"])


def test_downloads_are_the_kept_tables():
    page = opened(PAGE, part="Theory")
    labels = [button.label for button in page.get("download_button")]
    assert {"Claims, CSV", "Measured values, CSV", f"{INVENTORY}, CSV"} <= set(labels)


@pytest.mark.parametrize("junk", ["x", "", "9" * 400, "<b>"])
def test_junk_in_the_link_is_told_and_all_is_shown(junk):
    page = opened(PAGE, part=junk, verdict=junk)
    assert "could not be used" in page.warning[0].value
    assert len(cards(page)) == len(reproduction.claims())


def test_verdicts_differ_in_word_and_icon():
    for marks in ([m.word for m in MARKS.values()], [m.icon for m in MARKS.values()]):
        assert len(set(marks)) == len(MARKS)
    assert len(set(STATES.values())) == 3


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Inventory control", "The paper's figure"),
        ("Gridworld: the model is known", "The model is known"),
        ("Dynamic pricing, networks", "Networks"),
    ],
)
def test_figures_have_short_names(title, label):
    assert reproduction.figure_label(FigureSpec("any", title, ())) == label
