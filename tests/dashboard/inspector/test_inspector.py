"""The Policy inspector without a browser: saved and solved policies, links, export."""

import io
import re
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from examples.machine import Machine
from fsdash.choice.solved import solved_domain
from fsdash.dashboard.inspector import choice as source
from fsdash.dashboard.inspector import figures as inspector_figures
from fsdash.dashboard.inspector import state as inspector
from fsdash.dashboard.inspector import text
from fsdash.dashboard.inspector import view as inspector_view
from fsdash.dashboard.inspector.url import URL, format_selectors, parse_selectors
from fsdash.dashboard.service import ASK_OPERATOR, NEW_STORE, SET_ASIDE
from fsdash.dashboard.widgets.chart import HTML
from fsdash.dashboard.widgets.url_state import UNUSABLE
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy, policy_figures, policy_table
from fsdash.figures.policies.inspected import inspect_run
from fsdash.formatting import number
from fsdash.runs.columns import BY_NAME
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store
from tests.dashboard.inspector.kit import PAGE, heat, orders, records
from tests.dashboard.kit import figures, metrics, open_popover, opened, snippet, unfold, words
from tests.models import random_model
from tests.runs.work import base
from tests.saved_models import shop_model

pytestmark = pytest.mark.slow  # together; see `make test-fast`

SHARE = BY_NAME["fraction_of_optimal"].label


# ----------------------------------------------------------------------------------- saved policies


def test_a_link_to_a_run_opens_its_last_policy(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id))
    last = records(run.spec)[-1]
    assert metrics(page)[SHARE] == f"{last.row['fraction_of_optimal']:.1%}"
    np.testing.assert_array_equal(heat(page, "policy-orders"), orders(run.spec, last.policy_PXY))
    assert text.describe_step(last.row, run.spec.T) in words(page)


def test_every_step_and_phase_can_be_shown(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), step="6", at="phase:2")
    record = records(run.spec)[6]
    np.testing.assert_array_equal(
        heat(page, "policy-orders"), orders(run.spec, record.policy_PXY, 2)
    )
    page.select_slider(key=URL.key("step")).set_value(0).run()
    assert not page.exception
    # The first record is of the lower level: one policy, the last of the cycle.
    first = records(run.spec)[0]
    assert text.describe_step(first.row, run.spec.T) in words(page)
    np.testing.assert_array_equal(heat(page, "policy-orders"), orders(run.spec, first.policy_PXY))
    assert page.query_params["step"] == "0"


def test_other_replications_store_only_their_last_policy(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), replication="1")
    assert not [slider for slider in page.select_slider if slider.key == URL.key("step")]
    last = records(run.spec, 1)[-1]
    np.testing.assert_array_equal(heat(page, "policy-orders"), orders(run.spec, last.policy_PXY))


def test_a_state_shows_its_values_and_q_values(experiment):
    run = experiment.runs[1]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), state="10,0")
    inspected, _ = inspector.policy_at(inspector.recorded_history(Store(), run, 0), 9)
    assert "The selected state" in words(page)
    facts = inspector.state_table(inspected, 10, 0).iloc[0]
    best = inspected.optimum.U_XY[10, 0]
    row = f"| {text.VALUE_NAMES['max']} | {number(facts['value'])} | {number(float(best))} |"
    assert row in words(page)
    assert f"| regret | {number(facts['regret'])} | 0 |" in words(page)
    bars = figures(page)["q-values"]["data"][0]
    assert len(bars["x"]) == inspected.model.n_actions
    assert page.query_params["state"] == "10,0"


def test_playing_steps_through_the_run_and_stops_at_its_end(experiment):
    run = experiment.runs[1]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id), step="7")
    page.button(key="play").click().run()
    assert page.button(key="play").label == "Pause"
    steps = [page.select_slider(key=URL.key("step")).value]
    while page.button(key="play").label == "Pause":
        page.run()
        steps.append(page.select_slider(key=URL.key("step")).value)
        assert len(steps) < 20
    assert steps[-1] == 9
    assert steps == sorted(steps)
    page.button(key="play").click().run()
    assert page.select_slider(key=URL.key("step")).value in (0, 1)


def test_another_run_opens_at_its_last_step(experiment):
    page = opened(PAGE, experiment=experiment.id)
    open_popover(page, "Change")
    page.selectbox(key=URL.key("run")).set_value(experiment.runs[1].id).run()
    last = records(experiment.runs[1].spec)[-1].row
    assert page.select_slider(key=URL.key("step")).value == last["step"]
    assert "step" not in page.query_params


def test_playing_a_long_run_skips_steps(empty_store, monkeypatch):
    monkeypatch.setattr(inspector_view, "MAX_FRAMES", 10)
    page = opened(PAGE, domain="inventory", method="fsvi", T="3", step="0")
    page.button(key="play").click().run()
    page.run()
    slider = page.select_slider(key=URL.key("step"))
    stride = -(-len(slider.options) // 10)
    assert stride > 2 and slider.value in (stride, 2 * stride)


# ---------------------------------------------------------------------------------- exact solutions


def test_without_any_run_an_exact_algorithm_is_solved(empty_store):
    page = opened(PAGE)
    assert metrics(page)[SHARE] == "90.9%"
    assert page.query_params["domain"] == "inventory"
    open_popover(page, "Change")
    page.selectbox(key=URL.key("method")).set_value("mpi").run()
    assert not page.exception
    assert metrics(page)[SHARE] == "100.0%"
    assert metrics(page)[text.suboptimal_label(None)] == "0%"


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["inventory", "gridworld", "pricing"])
def test_every_figure_of_every_domain_is_drawn(empty_store, domain):
    page = opened(PAGE, domain=domain, T="2")
    names = [figure.name for figure in policy_figures(_optimal_policy(domain))]
    for name in names:
        page.pills(key=URL.key("view")).set_value(name).run()
        assert not page.exception
        assert not page.error
        assert f"policy-{name}" in figures(page)


def test_the_lesson_names_figures_that_exist():
    titles = {figure.title for figure in policy_figures(_optimal_policy("inventory"))}
    lesson = " ".join(text.notices("policy", ("μ", "π₁")))
    assert set(re.findall(r"(?<![*])[*]([^*]+)[*](?![*])", lesson)) <= titles


@pytest.mark.parametrize("method", ["mpi", "rolling", "vi", "fsvi"])
def test_the_lesson_speaks_of_phases_only_if_the_policy_has_some(empty_store, method):
    page = opened(PAGE, domain="inventory", method=method, T="3")
    [lesson] = [m.value for m in page.markdown if text.notices("policy", ("one",))[1] in m.value]
    assert ("μ acts first, then π₁ to π₂, then μ again" in lesson) == (method == "fsvi")
    assert (text.STATIONARY in lesson) == (method != "fsvi")


def test_the_lesson_about_two_policies_names_the_one_with_phases(empty_store):
    page = opened(PAGE, domain="inventory", method="fsvi", T="2", compare="optimum")
    assert "Policy A is **periodic**: μ acts first, then π₁, then μ again" in words(page)


def test_a_phase_that_earlier_policies_lack_falls_back_to_the_first(empty_store):
    page = opened(PAGE, domain="inventory", T="12", at="phase:9")
    assert page.select_slider(key="inspector-phase-one").value == 9
    for step in (2, 0, 9, 30):
        page.select_slider(key=URL.key("step")).set_value(step).run()
        assert not page.exception
        assert "policy-orders" in figures(page)


def test_a_custom_domain_gets_heat_maps(empty_store, monkeypatch):
    monkeypatch.setitem(DOMAINS, "machine", Machine)
    page = opened(PAGE)
    open_popover(page, "Change")
    page.selectbox(key=URL.key("domain")).set_value("machine").run()
    assert not page.exception
    assert not page.error
    spec = inspector.solved_spec("machine", "default", "fsvi", 6)
    history = inspector.solved_history(spec)
    policy_PXY, _ = history.read(history.steps[-1])
    np.testing.assert_array_equal(heat(page, "policy-actions"), orders(spec, policy_PXY))


def test_an_animated_figure_is_sent_with_its_frames(empty_store):
    drawn = figures(opened(PAGE, domain="gridworld", T="2", view="agent", at="steps:30"))
    assert len(drawn["policy-agent"]["frames"]) == 30


# ------------------------------------------------------------------------------------------- links


def test_the_url_restores_the_view(experiment):
    run = experiment.runs[0]
    query = {
        "experiment": experiment.id,
        "run": str(run.id),
        "replication": "0",
        "step": "7",
        "view": "levels",
        "at": "demand:0.0,10.0;phase:1",
        "state": "3,7",
        "compare": "step",
        "otherstep": "2",
    }
    page = opened(PAGE, **query)
    assert dict(page.query_params) == query
    assert list(page.pills(key="inspector-demand-many").value) == [0.0, 10.0]


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ({"experiment": "abcdefghij"}, "may have been deleted"),
        ({"run": "999999"}, "Run: the link asks for 999999"),
    ],
)
def test_a_link_to_something_deleted_shows_a_notice(experiment, query, notice):
    page = opened(PAGE, **({"experiment": experiment.id} | query))
    assert notice in page.warning[0].value
    assert "policy-orders" in figures(page)


def test_an_unavailable_option_in_a_link_is_reported(experiment):
    page = opened(PAGE, experiment=experiment.id, replication="77", view="bar")
    notices = [warning.value for warning in page.warning]
    assert text.unavailable("Replication", 77, "0") in notices
    assert any(notice.startswith("Figure: the link asks for bar") for notice in notices)


@pytest.mark.parametrize("junk", ["x", "-1", "1e9", "nan", "9" * 400, "<b>", "a:b;c", "1,2,3"])
def test_invalid_link_values_are_reported_and_replaced_by_defaults(experiment, junk):
    names = ("run", "replication", "step", "T", "view", "at", "state", "compare", "beside", "other")
    page = opened(PAGE, experiment=experiment.id, **dict.fromkeys(names, junk))
    assert not page.error
    assert any(UNUSABLE in warning.value for warning in page.warning)
    assert "policy-orders" in figures(page)


def test_a_run_without_policies_says_so(experiment, store):
    waiting = store.add_experiment("me", "waiting", [base()])
    try:
        page = opened(PAGE, experiment=waiting)
        assert page.info[0].value == text.no_policy(base().label, 0, "paused", active=False)
    finally:
        store.delete(waiting)


def test_models_and_policies_that_are_too_large_are_refused_before_they_are_built(monkeypatch):
    monkeypatch.setattr(DOMAINS["inventory"], "build", Mock(side_effect=AssertionError))
    large = {"d_max": 20, "y_max": 3000, "order_max": 1000, "order_step": 5}
    specs = [
        RunSpec("inventory", "vi", domain_parameters=large, iterations=1),
        RunSpec("inventory", "fsvi", T=20_000, iterations=1),
    ]
    for spec in specs:
        with pytest.raises(InputError, match="more than this page shows"):
            inspector.solved_history(spec)
        with pytest.raises(InputError, match="more than this page shows"):
            inspector.policy_at(SimpleNamespace(spec=spec), 0)


def test_the_total_size_of_cached_policies_is_limited(monkeypatch):
    """Here a policy is its own size."""
    monkeypatch.setattr(inspector, "policy_at", lambda history, step: (step, None))
    monkeypatch.setattr(inspector, "size_of", lambda policy: policy)
    source.policy_at.cache_clear()
    history, cache = SimpleNamespace(name="run"), source.policy_at.cache
    large = source.MAX_TOTAL + 1
    assert source.policy_at(history, large)[0] == large and not cache
    for size in range(2 * source.MAX_POLICIES):
        source.policy_at(history, size)
    assert len(cache) == source.MAX_POLICIES
    source.policy_at(history, source.MAX_TOTAL)
    assert len(cache) == 1
    source.policy_at.cache_clear()


def test_a_damaged_store_can_be_replaced_by_a_new_one(tmp_path, monkeypatch):
    (tmp_path / "runs.db").write_text("not a database, certainly" * 100)
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    page = opened(PAGE)
    assert page.error
    assert page.button(key="recover").label == SET_ASIDE
    page.button(key="recover").click().run()
    assert page.success[0].value.startswith(NEW_STORE.partition("{")[0])


def test_only_the_operator_can_replace_a_damaged_store(tmp_path, monkeypatch):
    (tmp_path / "runs.db").write_text("not a database, certainly" * 100)
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    monkeypatch.setattr("fsdash.dashboard.visitors.is_single_user", lambda: False)
    page = opened(PAGE)
    assert ASK_OPERATOR in [text.value for text in page.markdown]
    assert "recover" not in [button.key for button in page.button]


# ------------------------------------------------------------------------------------------ export


@pytest.mark.parametrize("run", [0, 1])
def test_the_snippet_recomputes_the_policy(experiment, run):
    saved = experiment.runs[run]
    page = opened(PAGE, experiment=experiment.id, run=str(saved.id), step="3")
    space = {}
    exec(snippet(page), space)
    inspected, _ = inspector.policy_at(inspector.recorded_history(Store(), saved, 0), 3)
    pd.testing.assert_frame_equal(space["frame"], policy_table(inspected))
    np.testing.assert_array_equal(
        np.asarray(space["figure"].data[0].z, float).ravel(), heat(page, "policy-orders")
    )


def test_the_downloads_hold_the_policy(experiment):
    run = experiment.runs[0]
    page = opened(PAGE, experiment=experiment.id, run=str(run.id))
    labels = {button.label for button in unfold(page).get("download_button")}
    assert labels == {*text.table_labels("Policy"), HTML, "Specification, JSON"}
    history = inspector.recorded_history(Store(), run, 0)
    frame = policy_table(inspector.policy_at(history, history.steps[-1])[0])
    again = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    assert list(again.columns[:3]) == ["phase", "demand", "stock"]
    assert len(again) == 3 * 561
    assert (again["regret"] >= 0).all()
    page.selectbox(key=URL.key("compare")).set_value("optimum").run()
    page.pills(key=URL.key("view")).set_value("disagreement").run()
    labels = {button.label for button in page.get("download_button")}
    assert set(text.table_labels("Difference map")) <= labels


def test_a_budget_in_seconds_becomes_iterations_in_the_snippet():
    spec = RunSpec("inventory", "e-vi", seconds=1.0, seed=4, domain_parameters={"K": 50.0})
    again = inspector.without_time_limit(spec)
    assert again.iterations == 10**7
    assert (again.domain_parameters, again.seed) == (spec.domain_parameters, 4)


# --------------------------------------------------------------------------------------- pure parts


def test_selectors_survive_the_url():
    chosen = {"phase": ("2",), "demand": ("0.0", "5.0"), "a:b;c,d%": ("50%, or more",)}
    assert parse_selectors(format_selectors(chosen)) == chosen
    assert parse_selectors("inner ring pays:0.0;eta+:5.0") == {
        "inner ring pays": ("0.0",),
        "eta+": ("5.0",),
    }
    with pytest.raises(ValueError, match="not enough values"):
        parse_selectors("phase")


def test_two_figures_share_their_scale():
    policies = [_random_policy(seed) for seed in (1, 2)]
    left, right = (_figure_named(policy, "values").figure() for policy in policies)
    inspector_figures.share_scale(left, right)
    low = min(policy.values_PXY[0].min() for policy in policies)
    assert left.data[0].zmin == right.data[0].zmin == pytest.approx(low)


def test_the_clicked_state_gets_a_frame_around_its_cell():
    figure = _figure_named(_random_policy(1), "values").figure()
    inspector_figures.mark_state(figure, (1, 2))
    for shape in figure.layout.shapes:
        assert (shape.x0, shape.x1, shape.y0, shape.y1) == (1.5, 2.5, 0.5, 1.5)
    assert len({shape.line.color for shape in figure.layout.shapes}) == 2


def test_the_worst_state_is_chosen_from_those_drawn():
    regret_XY, real_XY = np.array([[0.0, 9.0], [3.0, 4.0]]), np.array([[True, True], [True, True]])
    worst, nothing = inspector_figures.worst_state, np.empty((0, 2), int)
    assert worst(regret_XY, np.array([[0, 0], [1, 0]]), real_XY) == (1, 0)
    assert worst(regret_XY, nothing, real_XY) == (0, 1)
    assert worst(regret_XY, nothing, np.array([[True, False], [True, True]])) == (1, 1)


def test_phases_of_an_unfinished_lower_level_begin_later():
    spec = RunSpec("inventory", "fsvi", T=6, iterations=1)
    policy_PXY = np.zeros((2, *make("inventory").shape[:2]), int)
    assert inspect_run(spec, {"policy_kind": "cyclic"}, policy_PXY).phases == ("π₄", "π₅")
    assert inspect_run(spec, {"policy_kind": "periodic"}, policy_PXY).phases == ("μ", "π₁")


def test_a_history_without_policies_is_refused(experiment, store):
    id = store.add_experiment("me", "waiting", [base()])
    [run] = store.experiment(id).runs
    with pytest.raises(InputError, match="stored no policy"):
        inspector.recorded_history(store, run, 0)
    store.delete(id)


def _random_policy(seed: int) -> InspectedPolicy:
    model = random_model(seed)
    rng = np.random.default_rng(seed)
    return InspectedPolicy(
        model, rng.integers(model.n_actions, size=(1, model.n_slow, model.n_fast))
    )


def _optimal_policy(domain: str) -> InspectedPolicy:
    solved = solved_domain(DOMAINS[domain]())
    return InspectedPolicy(solved.model, solved.best.policy_PXY, DOMAINS[domain](), solved.best)


def _figure_named(inspected: InspectedPolicy, name: str):
    return {figure.name: figure for figure in policy_figures(inspected)}[name]


def test_the_name_of_a_saved_model_is_shown_as_it_was_typed():
    domain = Store().models.add("me", "<b>shop</b> $x$ *y*", shop_model(0.9)).domain
    page = opened(PAGE, domain=domain)
    [label] = [element.value for element in page.markdown if "shop" in element.value][:1]
    assert r"\<b\>shop\</b\> \$x\$ \*y\*" in label and "<b>shop" not in label
