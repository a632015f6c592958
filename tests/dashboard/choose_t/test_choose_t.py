"""The Choose T page: what it shows is what the library computes."""

import pandas as pd
import pytest

from fsdash.choice.frontier import frontier
from fsdash.choice.pareto import best_on_budget, competitor, pareto, without
from fsdash.dashboard.choose_t import state as measured
from fsdash.dashboard.choose_t import text, view
from fsdash.dashboard.choose_t.state import MeasuredState
from fsdash.dashboard.inspector.state import solved_history, solved_spec
from fsdash.domains import make
from fsdash.figures.frontier import CERTIFICATE, FRONT, frontier_figure
from fsdash.formatting import number
from tests.dashboard.bounds.kit import headline, ran
from tests.dashboard.kit import address, figures, metrics, opened, snippet, traces, words

PAGE = "3_Choose_T.py"
INVENTORY = make("inventory")


@pytest.fixture(scope="module")
def model():
    return measured.measure_model(INVENTORY, lambda share: None)


@pytest.fixture(scope="module")
def found(model):
    return model.frontier


def test_the_page_opens_measured_on_the_inventory(model, found):
    page = opened(PAGE)
    state = MeasuredState("inventory", model, 4.0)
    assert headline(page) == text.headline(state)
    assert metrics(page) == text.numbers(state)
    best = best_on_budget(found.with_work(), 4.0)
    assert number(best["mean_regret"]) in metrics(page)["Mean regret"]
    drawn = traces(figures(page)["frontier"])
    assert {FRONT, CERTIFICATE, "T = 6", "Rolling freeze", "MPI", "Base VI"} <= set(drawn)
    assert address(page) == {}


def test_a_link_opens_model_budget_measure_and_drawn_curves():
    page = opened(
        PAGE, model="inventory.coarse-demand", budget="2", measure="max_regret", drawn="3,9"
    )
    assert not page.warning
    drawn = traces(figures(page)["frontier"])
    assert {"T = 3", "T = 9"} <= set(drawn) and "T = 6" not in drawn
    assert figures(page)["frontier"]["layout"]["yaxis"]["title"]["text"] == "largest regret"


def test_the_certificate_is_drawn_above_the_true_regret(found):
    for measure in ("mean_regret", "max_regret"):
        figure = frontier_figure(found, (6,), 4.0, measure)
        series = {trace.name: trace for trace in figure.data}
        assert (series[CERTIFICATE].y >= series["truth"].y).all()
        assert list(series[FRONT].x[:-1]) == pareto(found.with_work(), measure)["sweeps"].tolist()


def test_the_figure_and_the_runner_up_are_those_of_a_fresh_frontier(model, found):
    """What is kept for all budgets gives the same as starting anew with each of them."""
    for budget in (0.05, 0.3, 4.0, 1e4):
        for measure in ("mean_regret", "max_regret"):
            state = MeasuredState("inventory", model, budget, (3, 6), measure)
            assert measured.figure(state) == frontier_figure(found, (3, 6), budget, measure)
            paid = found.with_work()
            best = best_on_budget(paid, budget, measure)
            others = None if best is None else without(paid, *competitor(best))
            second = None if others is None else best_on_budget(others, budget, measure)
            assert (state.second is None) == (second is None)
            assert second is None or state.second.equals(second)


def test_the_best_T_of_fsvi_is_named_wherever_fsvi_is_not_the_first_or_second(model, found):
    found = found.points
    fsvi = found[(found["method"] == "fsvi") & found["sweeps"].between(1e-9, 20)]
    T = fsvi.loc[fsvi["mean_regret"].idxmin(), "T"]
    reasons = text.reasons(MeasuredState("inventory", model, 20.0))
    assert f"FSVI does best with T = {T} and" in reasons
    assert "does best" not in text.reasons(MeasuredState("inventory", model, 4.0))


def test_a_budget_below_the_cheapest_policy_says_what_to_do():
    page = opened(PAGE, budget="0.01")
    assert headline(page) == "This budget is too small"
    assert "Raise the budget" in words(page) and not page.metric


def test_T_is_chosen_by_three_rules(model, found):
    found = found.points
    table = measured.choices_of_T(MeasuredState("inventory", model, 20.0)).set_index("chosen by")
    paid = found[(found["method"] == "fsvi") & found["sweeps"].between(1e-9, 20)]
    for rule, column in (
        ("the regret bound", "bound"),
        ("the certificate", "certificate"),
        ("hindsight", "mean_regret"),
    ):
        assert table.loc[rule, "T"] == paid.loc[paid[column].idxmin(), "T"]
    assert table.loc["hindsight", "mean regret"] == table["mean regret"].min()
    assert measured.choices_of_T(MeasuredState("inventory", model, 0.1)).empty


def test_the_bound_is_off_the_scale_and_the_page_says_by_how_much(model, found):
    found = found.points
    ratios = (found["bound"] / found["max_regret"])[found["method"] == "fsvi"]
    assert model.bound_factor == pytest.approx(ratios[found["sweeps"] > 0].min())
    note = text.bound_note(model.bound_factor, False)
    captions = " ".join(caption.value for caption in opened(PAGE).caption)
    assert note in captions and "cannot choose T" in note


def test_a_point_opens_its_own_policy_in_the_inspector(model, found):
    found = found.points
    """The step in the link is the record whose regret is that of the row."""
    state = MeasuredState("inventory", model, 4.0)
    rows = found[found["sweeps"] > 0].groupby("method", group_keys=False).sample(2, random_state=0)
    for _, row in rows.iterrows():
        query = measured.inspector_query(state, row)
        T = int(query["T"]) if "T" in query else None
        history = solved_history(solved_spec(query["domain"], "default", query["method"], T))
        step = int(query["step"])
        if step in history.steps:
            regret = history.row(step)["mean_regret"]
            assert regret == pytest.approx(row["mean_regret"], rel=1e-3, abs=1e-2)
        assert step < 300


def test_the_snippet_recomputes_the_table():
    names = ran(snippet(opened(PAGE)))
    expected = frontier(INVENTORY.build()).points
    pd.testing.assert_frame_equal(names["frame"], expected)


def test_a_measurement_is_shown_although_others_drop_it_at_once(monkeypatch):
    class Full(dict):
        """Another visitor's measurement takes its place."""

        def __setitem__(self, *_):
            pass

    monkeypatch.setattr(view, "_measured_models", Full)
    monkeypatch.setattr(view, "may_start", lambda _: True)
    monkeypatch.setattr(view, "wait_for", lambda *_, **__: "found")
    assert view.measured_model(make("inventory")) == "found"
