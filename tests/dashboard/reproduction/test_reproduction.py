"""The Reproduction page without a browser: it shows the archived figures, claims and verdicts."""

import shutil
from dataclasses import astuple

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fsdash.dashboard.reproduction import state as reproduction
from fsdash.dashboard.reproduction import text
from fsdash.dashboard.reproduction.text import FINDINGS, PARTS, VERDICTS
from fsdash.dashboard.reproduction.view import BUDGET_CLAIMS
from fsdash.dashboard.run_lab.plans import PLANS
from fsdash.dashboard.widgets.url_state import UNUSABLE
from fsdash.figures.samples import samples_figure
from fsdash.reproduce import archive
from fsdash.reproduce.claims import BEYOND
from fsdash.reproduce.experiments import FigureSpec, experiment
from fsdash.reproduce.judging import REPRODUCED
from fsdash.reproduce.report import figure_of
from fsdash.reproduce.settings import Setting
from tests.dashboard.kit import figures, opened, traces, unfold, words

pytestmark = pytest.mark.slow  # together they take several seconds

PAGE = "8_Reproduction.py"
INVENTORY = PARTS["inventory"]


@pytest.fixture
def without_pricing(tmp_path, monkeypatch):
    """The archived results without those of pricing."""
    for file in archive.FOLDER.iterdir():
        if not file.name.startswith("pricing"):
            shutil.copy(file, tmp_path)
    monkeypatch.setattr(archive, "FOLDER", tmp_path)


def cards(test: AppTest) -> list[str]:
    """The titles of the claims on the page."""
    verdicts = tuple(f":{label.colour}[" for label in VERDICTS.values())
    return [card.label for card in test.expander if card.label.startswith(verdicts)]


def test_every_archived_claim_is_shown_with_its_verdict():
    page = opened(PAGE)
    shown = cards(page)
    claims = reproduction.claims()
    assert len(shown) == len(claims)
    for claim in claims.to_dict("records"):
        verdict = VERDICTS[claim["verdict"]].markdown(claim["beyond"])
        assert any(card.startswith(verdict) and claim["claim"] in card for card in shown)


def test_the_counts_include_only_the_claims_of_the_paper():
    page = opened(PAGE)
    claims = archive.archived_claims()
    papers = claims[claims["where"] != BEYOND]["verdict"]
    found = {m.label.rpartition("] ")[2]: int(m.value) for m in page.metric}
    assert found == {label.word: int((papers == v).sum()) for v, label in VERDICTS.items()}


def test_a_figure_is_drawn_from_the_archived_rows():
    page = opened(PAGE, part=INVENTORY)
    plan = experiment("inventory")
    drawn = traces(figures(page)["inventory"])
    for trace in figure_of(plan, plan.figures[0], archive.archived_rows("inventory")).data:
        np.testing.assert_allclose(
            np.asarray(drawn[trace.name]["y"], float), np.asarray(trace.y, float)
        )


def test_another_figure_can_be_chosen():
    page = opened(PAGE, part=INVENTORY)
    page.pills(key="reproduction.figure-inventory").set_value("The model is known").run()
    assert not page.exception
    assert "inventory-exact" in figures(page)


def test_the_filters_select_claims():
    page = opened(PAGE, part=INVENTORY, verdict=VERDICTS[REPRODUCED].word)
    claims = reproduction.claims()
    wanted = claims[(claims["part"] == "inventory") & (claims["verdict"] == REPRODUCED)]
    assert len(cards(page)) == len(wanted)
    assert not any(key in figures(page) for key in ("gridworld", "reward-error-small"))


def test_a_claim_shows_its_rule_its_measured_values_and_its_place():
    page = opened(PAGE, part=INVENTORY)
    claim = reproduction.claims().set_index("name").loc["inventory-agnostic"]
    assert claim["rule"] in words(page)
    [found] = (archive.archived_findings().query("name == 'inventory-agnostic'")).to_dict("records")
    assert text.finding(found) in words(page)
    assert f"[{found['low']:.3g}, {found['high']:.3g}], required < 0.75" in text.finding(found)
    assert any(claim["where"] in caption.value for caption in page.caption)


def test_a_claim_quotes_the_paper_and_says_when_its_rule_was_changed():
    page = opened(PAGE, part=PARTS["gridworld"])
    claim = reproduction.claims().set_index("name").loc["gridworld-T3"]
    assert "never quite able to achieve good performance" in claim["quotation"]
    assert text.quotation(claim) in words(page) and claim["where"] in text.quotation(claim)
    assert text.changed(claim) in words(page)


def test_a_claim_shows_how_many_of_its_parts_are_clear():
    shown = cards(opened(PAGE))
    for claim in reproduction.claims().to_dict("records"):
        parts = f"({claim['clear_parts']} of {claim['parts']} part"
        assert any(claim["claim"] in card and parts in card for card in shown)


def test_a_verdict_that_a_changed_rule_decided_says_so_beside_it():
    claims = reproduction.claims().set_index("name")
    claim = claims.loc["gridworld-base-optimal"].to_dict() | {"name": "gridworld-base-optimal"}
    assert claim["first_verdict"] == "not reproduced" != claim["verdict"]
    [card] = cards(opened(PAGE, claim="gridworld-base-optimal"))
    assert "by the first rule: not reproduced" in card
    assert "written after the results" in text.claim_title(claim | {"first_verdict": ""})
    assert "rule" not in text.decided_by(claim | {"first_verdict": claim["verdict"]})


@pytest.mark.parametrize("name", ["gridworld-T3", "theory-floor", "inventory-rolling"])
def test_every_claim_has_a_link_that_shows_it_alone_and_open(name):
    page = opened(PAGE, claim=name)
    claim = reproduction.claims().set_index("name").loc[name]
    [card] = cards(page)
    assert claim["claim"] in card and claim["rule"] in words(page)
    [opened_card] = [e for e in page.expander if e.label == card]
    assert opened_card.proto.expanded
    page.button(key="all-claims").click().run()
    assert len(cards(page)) == len(reproduction.claims())


def test_a_link_to_an_unknown_claim_is_reported():
    page = opened(PAGE, claim="gridworld-T99")
    assert UNUSABLE in page.warning[0].value
    assert len(cards(page)) == len(reproduction.claims())


def test_the_verdicts_of_five_seeds_are_shown_in_the_table_and_with_each_claim():
    page = opened(PAGE, part=PARTS["gridworld"])
    seeds = archive.archived_seeds()
    by_seed = reproduction.seeds_markdown(seeds, "gridworld-T3")
    assert by_seed in words(page) and len(by_seed.splitlines()) == 2 + 5 + 1
    claims = reproduction.claims()
    table = reproduction.verdicts_table(claims[~claims["beyond"]], seeds).set_index("link")
    row = table.loc["Reproduction?claim=gridworld-T3"]
    assert len(row["seeds"].split()) == 5 and set(row["seeds"]) <= set("✔◐✖ ")
    assert row["together"] == "partly" and row["parts"] == "1 of 2"
    assert any((shown.value.columns == table.reset_index().columns).all() for shown in tables(page))


def tables(page):
    """The tables of the page with a column of links."""
    return [frame for frame in page.dataframe if "link" in frame.value.columns]


def test_the_dependence_on_costs_is_shown_with_the_claims_about_the_inventory():
    page = opened(PAGE, claim="inventory-near-optimal")
    constants = archive.archived_constants()
    assert reproduction.constants_markdown(constants, "inventory-near-optimal") in words(page)
    near = constants[constants["name"] == "inventory-near-optimal"]
    [shown] = [frame.value for frame in page.dataframe if "K" in frame.value.columns]
    assert shown["T=6 ÷ yardstick"].tolist() == near["T=6 ÷ yardstick"].tolist()
    assert reproduction.constants_markdown(constants, "gridworld-T3") == ""


SETTINGS = [
    ({"count": "one"}, Setting(count=1)),
    ({"ties": "first action"}, Setting(ties="first")),
    ({"budget": "a quarter"}, Setting(share=0.25)),
]


@pytest.mark.parametrize(("chosen", "setting"), SETTINGS)
def test_verdicts_and_figures_follow_the_choice_of_count_ties_and_budget(chosen, setting):
    page = opened(PAGE, **chosen)
    assert text.OTHER_SETTING in [info.value for info in page.info]
    claims = reproduction.claims(setting)
    papers = claims[~claims["beyond"]]["verdict"]
    found = {m.label.rpartition("] ")[2]: int(m.value) for m in page.metric}
    assert found == {label.word: int((papers == v).sum()) for v, label in VERDICTS.items()}
    plan = experiment("gridworld")
    rows = archive.archived_rows("gridworld")
    drawn = traces(figures(page)["gridworld"])
    for trace in figure_of(plan, plan.figures[0], rows, setting=setting).data:
        np.testing.assert_allclose(
            np.asarray(drawn[trace.name]["x"], float), np.asarray(trace.x, float)
        )


def test_a_setting_gives_the_archived_verdicts_of_that_setting():
    stored = archive.archived_sensitivity()
    for setting in (Setting(1, "random", 1.0), Setting(2, "first", 0.5)):
        same = stored[(stored[["count", "ties", "share"]] == list(astuple(setting))).all(axis=1)]
        judged = reproduction.claims(setting).set_index("name")["verdict"]
        assert judged[same["name"]].tolist() == same["verdict"].tolist()


def test_the_page_shows_how_each_verdict_depends_on_count_ties_and_budget():
    page = opened(PAGE)
    sensitivity = reproduction.sensitivity()
    shown = words(page)
    for claim in reproduction.claims().query("part != 'theory'")["name"]:
        dependence = reproduction.sensitivity_markdown(sensitivity, claim)
        if claim.endswith(BUDGET_CLAIMS):  # these name their own budgets, count and ties
            assert not dependence
        else:
            assert dependence and dependence in shown
    table = reproduction.sensitivity_markdown(sensitivity, "gridworld-three-times")
    assert len(table.splitlines()) == 6 and "at random, one" in table


def test_a_verdict_that_never_changes_is_one_sentence():
    same = reproduction.sensitivity().assign(verdict=REPRODUCED)
    assert reproduction.sensitivity_markdown(same, "inventory-agnostic") == text.SAME_VERDICT


def test_the_experiment_on_samples_is_shown_with_its_numbers():
    page = opened(PAGE)
    samples = archive.archived_samples()
    drawn = figures(page)["beyond-samples"]["data"]
    assert len(drawn) == 4
    for line in reproduction.samples_results(samples):
        assert line in words(page)
    first = samples.query("domain == 'gridworld' and M == 50")["final"].iloc[0]
    assert f"has {first:.0%} for M = 50" in reproduction.samples_results(samples)[1]


def test_intervals_of_the_samples_stay_between_zero_and_one():
    table = archive.archived_samples().assign(final=0.98, final_low=0.9, final_high=1.06)
    for trace in samples_figure(table).data:
        assert np.asarray(trace["error_y"]["array"], float).max() == pytest.approx(0.02)
        assert np.asarray(trace["error_y"]["arrayminus"], float).max() == pytest.approx(0.08)


def test_run_this_again_leads_to_a_plan_of_the_lab():
    for domain in archive.archived_domains():
        assert f"paper-{domain}" in PLANS


def test_the_page_shows_when_and_with_which_versions_the_results_were_computed():
    page = opened(PAGE, part=INVENTORY)
    made = archive.about()["inventory"]
    text = " ".join(caption.value for caption in page.caption)
    assert made["date"] in text
    assert f"numpy {made['packages']['numpy']}" in text


def test_missing_results_are_named_with_the_remedy(without_pricing):
    page = opened(PAGE)
    [notice] = [info.value for info in page.info]
    assert notice == text.missing("pricing")
    assert "fsdash reproduce pricing" in notice
    assert "pricing-linear" not in figures(page)
    assert "inventory" in figures(page)


def test_without_an_archive_the_theory_is_still_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "FOLDER", tmp_path)
    page = opened(PAGE)
    assert len(page.info) == 3
    assert len(cards(page)) == 7
    assert set(figures(page)) == {"reward-error-small"}


@pytest.mark.parametrize("part", ["theory", "inventory"])
def test_the_snippets_draw_the_figures(part):
    name = next(iter(reproduction.figure_names(part).values()))
    page = opened(PAGE, part=PARTS[part])
    [code] = [c.value for c in unfold(page).code if c.language == "python"]
    assert code == reproduction.snippet(part, name)
    space = {}
    exec(code, space)
    drawn = figures(page)[name]["data"]
    assert [t.get("name") for t in drawn] == [t.name for t in space["figure"].data]
    assert len(space["frame"])


def test_the_archived_tables_can_be_downloaded():
    page = opened(PAGE, part="Theory")
    labels = [button.label for button in page.get("download_button")]
    assert {
        "Claims, CSV",
        "Measured values, CSV",
        "Verdicts by count, ties and budget, CSV",
        text.rows_csv("inventory"),
    } <= set(labels)


@pytest.mark.parametrize("junk", ["x", "", "9" * 400, "<b>"])
def test_invalid_link_values_are_reported_and_everything_is_shown(junk):
    page = opened(PAGE, part=junk, verdict=junk)
    assert UNUSABLE in page.warning[0].value
    assert len(cards(page)) == len(reproduction.claims())


def test_verdicts_differ_in_word_and_icon():
    assert len({label.word for label in VERDICTS.values()}) == len(VERDICTS)
    assert len({label.icon for label in VERDICTS.values()}) == len(VERDICTS)
    assert len(set(FINDINGS.values())) == 3


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Inventory control", "The paper's figure"),
        ("Gridworld: the model is known", "The model is known"),
        ("Dynamic pricing, networks", "Networks"),
    ],
)
def test_a_figures_label_leaves_out_the_domain(title, label):
    assert reproduction.figure_label(FigureSpec("any", title, ())) == label
