"""The Policy inspector with two policies, and its block microscope, without a browser."""

import numpy as np
import pytest

from fsdash.choice.solved import solved_domain
from fsdash.core.blocks import frozen_blocks
from fsdash.core.compare import FIRST_BETTER, SECOND_BETTER, TIE
from fsdash.core.operators import q_values_at
from fsdash.dashboard.inspector import state as inspector
from fsdash.dashboard.inspector import text
from fsdash.dashboard.inspector.url import URL
from fsdash.domains import DOMAINS
from fsdash.figures.policies import Versus, optimal_policy
from fsdash.formatting import number
from fsdash.runs.store.experiments import Store
from tests.dashboard.inspector.kit import PAGE, heat, orders
from tests.dashboard.kit import figures, metrics, opened, snippet, words

pytestmark = pytest.mark.slow  # together they take several seconds

# ------------------------------------------------------------------------------------- two policies


@pytest.mark.parametrize("kind", [kind for kind in text.COMPARISONS if kind])
def test_a_second_policy_is_compared_with_the_first(experiment, kind):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), compare=kind)
    assert not page.error
    assert {"policy-disagreement", "q-values"} <= set(figures(page))
    assert "Largest disagreement here" in words(page) or "Largest loss in this view" in words(page)
    assert page.query_params["compare"] == kind and page.query_params["view"] == "disagreement"
    page.pills(key=URL.key("view")).set_value("orders").run()
    drawn = figures(page)
    first, second = (drawn[f"{side}-orders"]["data"][0] for side in ("left", "right"))
    assert (first["zmin"], first["zmax"]) == (second["zmin"], second["zmax"])


def test_the_numbers_of_a_comparison_are_those_of_the_library(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), compare="optimum")
    versus = _versus_optimum(run)
    facts, found = inspector.comparison_facts(versus, 0, "optimal"), versus.disagreement(0)
    shown = metrics(page)
    assert shown["Ties"] == f"{found.share(TIE):.0%}"
    assert shown["Real disagreements"] == f"{found.share(FIRST_BETTER, SECOND_BETTER):.0%}"
    assert shown["A's time there"] == f"{facts.time:.1%}"
    gain = versus.model.mean(versus.second.values_PXY[0] - versus.first.values_PXY[0])
    assert shown[text.GAIN["max"]] == f"+{number(gain)}"
    np.testing.assert_array_equal(heat(page, "policy-disagreement"), found.kind_XY.ravel())


def test_the_button_goes_to_the_next_largest_disagreement(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), compare="optimum")
    largest = _versus_optimum(run).disagreement(0).largest().tolist()
    for x, y in largest[1:4]:
        page.button(key="next-disagreement").click().run()
        assert page.query_params["state"] == f"{x},{y}"
    assert any(caption.value == text.rank_of(4, len(largest)) for caption in page.caption)


def test_the_next_disagreement_is_shown_in_its_slice(empty_store):
    page = opened(PAGE, domain="gridworld", T="2", compare="optimum")
    model = solved_domain(DOMAINS["gridworld"]()).model
    for _ in range(3):
        page.button(key="next-disagreement").click().run()
        x, y = map(int, page.query_params["state"].split(","))
        states = np.asarray(figures(page)["policy-disagreement"]["data"][0]["customdata"])
        assert [x, y] in states.reshape(-1, 2).tolist()
        task = model.fast.values[y, model.fast.names.index("task")]
        assert page.selectbox(key="inspector-task-list").value == task


def test_a_state_shows_the_q_values_of_both_policies(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), compare="optimum", state="10,0")
    versus = _versus_optimum(run)
    bars = [one for one in figures(page)["q-values"]["data"] if one["type"] == "bar"]
    for one, policy in zip(bars, (versus.first, versus.second), strict=True):
        after_XY = policy.values_PXY[1 % len(policy.phases)]
        found = np.asarray(one["base"], float) + np.asarray(one["y"], float)
        np.testing.assert_allclose(found, q_values_at(versus.model, after_XY, 10, 0))
    assert "| A | B | optimal |" in words(page)


def test_another_kind_of_comparison_starts_from_its_defaults(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), compare="step")
    assert page.select_slider(key=URL.key("otherstep")).value == 0
    page.selectbox(key=URL.key("compare")).set_value("fsvi").run()
    slider = page.select_slider(key=URL.key("otherstep"))
    assert str(slider.value) == slider.options[-1] != "0"
    assert page.number_input(key=URL.key("other")).value == 12


def test_the_comparison_with_the_optimal_policy_draws_it(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), compare="optimum", view="orders")
    best = solved_domain(run.spec.build_domain()).best
    np.testing.assert_array_equal(heat(page, "right-orders"), orders(run.spec, best.policy_PXY))


@pytest.mark.parametrize(
    "query",
    [
        {"view": "disagreement", "compare": "optimum", "at": "judge:first;phase:1"},
        {"view": "gain", "compare": "phase", "other": "2"},
        {"view": "pair", "compare": "fsvi", "other": "2", "at": "steps:30;seed:3"},
        {"view": "disagreement", "compare": "step", "otherstep": "4"},
        {"view": "blocks", "at": "block:3;seed:2"},
    ],
)
def test_the_snippet_recomputes_the_view(experiment, query):
    page = opened(PAGE, experiment=experiment.id, run=str(experiment.runs[0].id), **query)
    space = {}
    exec(snippet(page), space)
    mine, theirs = space["figure"].data[0], figures(page)[f"policy-{query['view']}"]["data"][0]
    numbers = "z" if mine.type == "heatmap" else "y"
    drawn = np.asarray(theirs[numbers], float).ravel()
    np.testing.assert_array_equal(np.asarray(mine[numbers], float).ravel(), drawn)
    assert len(space["frame"]) == {"pair": 30, "blocks": 3}.get(query["view"], 561)


# ----------------------------------------------------------------------------------------- blocks


def test_the_microscope_shows_the_block_and_its_numbers(experiment):
    run = experiment.runs[0]
    page = opened(
        PAGE, experiment=experiment.id, run=str(run.id), view="blocks", at="block:5;seed:3"
    )
    history = inspector.recorded_history(Store(), run, 0)
    inspected, _ = inspector.policy_at(history, history.steps[-1])
    blocks = frozen_blocks(
        inspected.model, inspected.policy_PXY, rng=np.random.default_rng(3), blocks=20
    )
    shown = metrics(page)
    assert shown[text.block_gap(5)] == text.signed(blocks.gap_K[4])
    assert shown["Its mean over noise"] == text.signed(blocks.expected_gap_K[4])
    [table] = [one.value for one in page.dataframe if "period" in one.value]
    assert list(table["period"]) == [12, 13, 14]


def _versus_optimum(run) -> Versus:
    history = inspector.recorded_history(Store(), run, 0)
    first, _ = inspector.policy_at(history, history.steps[-1])
    return Versus(first, optimal_policy(run.spec))
