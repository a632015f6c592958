"""A saved model on its page and on others, without a browser."""

import io
from urllib.parse import parse_qsl

import numpy as np
import pytest

from fsdash.choice.splits import rank_splits
from fsdash.dashboard.choose_t.state import measure_model
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.your_model import state, text
from fsdash.domains import DOMAINS, make
from fsdash.domains.saved import domain_name
from fsdash.formatting import number
from fsdash.models.files import load
from fsdash.runs.spec import RunSpec
from fsdash.theory.measured import measure
from tests.dashboard.kit import address, figures, metrics, opened, table_rows, traces, words
from tests.saved_models import shop_model

# Together they take several seconds.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("store")]

PAGE = "4_Your_model.py"


@pytest.fixture
def saved(store):
    return store.models.add("me", "shop", shop_model())


def test_the_frozen_policy_has_its_regret(saved):
    test = opened(PAGE, model=saved.domain, method="fsvi", T="3")
    solution = state.solve(saved.domain, "fsvi", 3)
    assert solution.policy.period == 3
    shown = metrics(test)["Mean regret"]
    assert shown == text.regret_text(solution.worth.mean_regret, solution.relative_regret)
    assert solution.worth.mean_regret >= 0
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
    shares = [state.solve(saved.domain, "fsvi", T).relative_regret for T in state.HORIZONS]
    np.testing.assert_allclose(drawn["y"], 100 * np.array(shares))
    verdict = state.verdict(saved.domain)
    assert verdict.suits and test.success[0].value == verdict.text
    test.button(key=f"compare-splits-{saved.hash}").click().run()
    assert set(test.dataframe[-1].value["slow"]) == {"season", "stock", "none"}


def test_a_single_slow_state_does_not_suit(store):
    model = shop_model(slow=[])
    saved = store.models.add("me", "one slow state", model)
    test = opened(PAGE, model=saved.domain, tab="regret")
    assert test.warning[0].value == state.verdict(saved.domain).text
    assert "one slow state, so nothing is frozen" in test.warning[0].value


@pytest.mark.parametrize("name", [*DOMAINS, *state.EXAMPLES])
def test_choose_t_and_your_model_give_the_same_verdict(store, name):
    domain = name
    if name in state.EXAMPLES:
        example = state.EXAMPLES[name]
        domain = store.models.add("me", name, load(example.path, **example.options)).domain
    measured = measure_model(make(domain), lambda share: None)
    assert measured.suits is state.verdict(domain)
    model = make(domain).build()
    ranking = rank_splits(model, T=(2,), candidates=[model.slow.names])
    assert ranking["suits"].tolist() == [measured.suits.suits]


def test_the_constants_are_measured(saved):
    test = opened(PAGE, model=saved.domain, tab="constants")
    assert not test.error
    measured = measure(shop_model())
    for name, value in (("alpha", measured.alpha), ("dY", measured.d_y)):
        assert f"| ${SYMBOLS[name].latex}$ | {number(value)} |" in words(test)
    notes = " ".join(caption.value for caption in test.caption)
    assert text.COUPLINGS["wasserstein"] in notes
    assert text.SOME_INFEASIBLE in notes


def test_the_snippet_recomputes_the_regrets(saved):
    scope: dict = {}
    exec(state.regret_snippet(saved.domain), scope)
    assert scope["frame"]["T"].tolist() == list(state.HORIZONS)


def test_a_model_can_be_renamed_and_deleted(store, saved):
    test = opened(PAGE, model=saved.domain, tab="manage")
    test.text_input(key=f"manage-name-{saved.hash}").set_value("new name")
    test.text_area(key=f"manage-note-{saved.hash}").set_value("a note")
    test.button(key="rename-model").click().run()
    assert test.success[0].value == "Saved."
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
    assert test.success[0].value == "The model was deleted."
    assert store.models.list() == []
    assert address(test) == {}


def test_a_model_in_use_is_not_deleted(store, saved):
    store.add_experiment("me", "runs", [RunSpec(saved.domain, "vi", iterations=1)])
    test = opened(PAGE, model=saved.domain, tab="manage")
    test.button(key="delete-model").click().run()
    test.button(key="confirm-delete").click().run()
    assert "1 experiment among the stored runs" in test.error[0].value
    assert store.models.list() == [saved]


def test_an_exported_model_is_the_same_model(store, saved):
    file = io.BytesIO(store.models.content(saved.hash))
    file.name = "shop.npz"
    assert domain_name(load(file)) == saved.domain


# ------------------------------------------------------------------------------------- other pages


def test_the_lab_offers_a_saved_model_and_runs_it_with_another_gamma(saved):
    test = opened("5_Run_lab.py", domain=saved.domain, preset="known-model")
    control = test.segmented_control(key="lab.domain")
    assert control.value == saved.domain
    assert "shop" in control.options
    assert not test.button(key="start").disabled
    test.number_input(key="lab.model.gamma").set_value(0.5).run()
    assert not test.exception
    assert address(test)["model.gamma"] == "0.5"
    assert any("γ = 0.5" in caption.value for caption in test.caption)


def inspected_by_link(test):
    """The page that *Inspect the policy* opens."""
    [link] = [a.proto for a in test.get("page_link") if a.proto.label == "Inspect the policy"]
    query = dict(parse_qsl(link.query_string))
    return opened("7_Policy_inspector.py", **query)


def test_the_inspector_opens_with_the_policy_in_view(saved):
    test = opened(PAGE, model=saved.domain)
    optimal = inspected_by_link(test)
    test.segmented_control(key="your-model.method").set_value("fsvi").run()
    frozen = inspected_by_link(test)
    test.number_input(key="your-model.T").set_value(3).run()
    shorter = inspected_by_link(test)
    for page, solution in (
        (optimal, state.solve(saved.domain, "optimal", 1)),
        (frozen, state.solve(saved.domain, "fsvi", state.DEFAULT_T)),
        (shorter, state.solve(saved.domain, "fsvi", 3)),
    ):
        assert metrics(page)["Mean return"] == number(solution.mean)
        orders = np.ravel(figures(page)["policy-actions"]["data"][0]["z"])
        first_phase = solution.policy.to_frame()["action"][: len(orders)]
        assert [f"order {n:g}" for n in orders] == first_phase.tolist()


@pytest.mark.parametrize("cost", [False, True])
def test_the_inspector_shows_a_saved_model_with_its_names(store, cost):
    saved = store.models.add("me", "shop", shop_model(cost=cost))
    page = opened("7_Policy_inspector.py", domain=saved.domain, T="3")
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
    page = opened("5_Run_lab.py", tab="stored", on=saved.domain)
    assert [row["cells"]["name"]["text"] for row in table_rows(page)] == ["with it"]
