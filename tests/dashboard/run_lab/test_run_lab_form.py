"""The form of the Run lab without a browser: plans, their URL, and what is refused."""

from dataclasses import replace

import pytest

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.run_lab.plans import CUSTOM, SWEEP
from fsdash.dashboard.widgets.url_state import UNUSABLE
from fsdash.runs.limits import Limits
from fsdash.runs.spec import RunSpec
from tests.dashboard.kit import address, figures, traces, words
from tests.dashboard.run_lab.lab import errors, lab, shown
from tests.runs.work import base, finished_experiment, over

# The page starts the worker processes.
pytestmark = pytest.mark.processes


def test_the_page_opens_with_a_plan_that_can_be_started(service):
    test = lab()
    assert not test.button(key="start").disabled
    assert "E-FSVI, T=6" in words(test) and "Slow-agnostic E-VI" in words(test)
    assert address(test) == {}


def test_a_link_restores_a_custom_plan(service):
    query = {
        "preset": CUSTOM,
        "domain": "gridworld",
        "algorithms": "e-vi,mpi",
        "unit": "iterations",
        "budget": "7",
        "seed": "5",
        "replications": "2",
        "gridworld.switch": "0.1",
        "e-vi.M": "9",
    }
    test = lab(**query)
    assert address(test) == query
    test.button(key="start").click().run()
    specs = [run.spec for run in shown(service, test).runs]
    service.manager.cancel(shown(service, test).id)
    common = {"domain_parameters": {"switch": 0.1}, "replications": 2, "seed": 5, "iterations": 7}
    assert specs == [
        RunSpec("gridworld", "e-vi", parameters={"M": 9}, **common),
        RunSpec("gridworld", "mpi", **common),
    ]


def test_every_parameter_of_the_domain_and_the_algorithms_has_a_widget(service):
    test = lab(preset=CUSTOM, algorithms=",".join(ALGORITHMS))
    keys = {w.key for kind in (test.number_input, test.checkbox, test.selectbox) for w in kind}
    assert {f"lab.inventory.{n}" for n in ("K", "gamma", "d_max")} <= keys
    wanted = {f"lab.{m}.{p}" for m in ALGORITHMS for p in ALGORITHMS[m].all_parameters}
    assert wanted <= keys


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "nan", "<b>", "9" * 400])
def test_unusable_values_in_a_link_are_reported_and_left_out(service, junk):
    names = ("preset", "domain", "algorithms", "T", "budget", "seed", "replications", "e-vi.M", "x")
    test = lab(**dict.fromkeys(names, junk))
    assert UNUSABLE in test.warning[0].value
    assert not test.button(key="start").disabled
    assert address(test) == {}


def test_a_plan_that_cannot_run_is_refused(service):
    test = lab(preset=CUSTOM)
    test.multiselect(key="lab.algorithms").set_value([]).run()
    assert "choose at least one" in errors(test)
    assert test.button(key="start").disabled
    test.multiselect(key="lab.algorithms").set_value(["e-vi"]).run()
    test.number_input(key="lab.inventory.order_step").set_value(0).run()
    assert "order_step = 0" in errors(test)
    assert test.button(key="start").disabled


def test_kappa_of_fsavi_is_shown_before_the_start_and_with_the_results(service):
    chosen = {"algorithms": "fsavi", "T": "3", "unit": "iterations", "budget": "2"}
    test = lab(preset=CUSTOM, **chosen)
    note = "**FSAVI, T=3**: aggregation, 40 features for 561 states, κ = 1, κγ = 0.995"
    assert note in [c.value for c in test.caption]
    test.number_input(key="lab.fsavi.fast_cells").set_value(5).run()
    note = note.replace("40", "20")
    assert note in [c.value for c in test.caption]
    assert address(test)["fsavi.fast_cells"] == "5"
    test.button(key="start").click().run()
    experiment = over(service.store, shown(service, test).id)
    assert experiment.status == "finished"
    [run] = experiment.runs
    assert run.spec == RunSpec(
        "inventory", "fsavi", T=3, parameters={"fast_cells": 5}, iterations=2, replications=1
    )
    test = lab(experiment=experiment.id)
    assert note in [c.value for c in test.caption]
    assert len(traces(figures(test)["curves"])["FSAVI, T=3"]["y"]) > 0
    assert lab().caption and not any("κ" in c.value for c in lab().caption)


def test_features_that_amplify_errors_are_refused_before_the_start(service):
    test = lab(preset=CUSTOM, algorithms="fsavi", T="3")
    test.selectbox(key="lab.fsavi.features").set_value("polynomial").run()
    assert not test.button(key="start").disabled
    test.number_input(key="lab.fsavi.degree").set_value(2).run()
    assert "κγ = 1.55·0.995" in errors(test)
    assert test.button(key="start").disabled


def test_a_terminal_value_and_the_reading_of_the_lower_policy_can_be_chosen(service):
    names = "fsvi,e-fsvi,lin-fsfvi"
    test = lab(preset=CUSTOM, algorithms=names, T="3", unit="iterations", budget="1")
    for name in names.split(","):
        assert test.selectbox(key=f"lab.{name}.terminal").value == "zero"
        test.selectbox(key=f"lab.{name}.terminal").set_value("last")
    assert test.selectbox(key="lab.lin-fsfvi.lower_policy").value == "full"
    test.selectbox(key="lab.lin-fsfvi.lower_policy").set_value("frozen").run()
    assert address(test)["e-fsvi.terminal"] == "last"
    test.button(key="start").click().run()
    experiment = over(service.store, shown(service, test).id)
    assert experiment.status == "finished"
    parameters = [dict(run.spec.parameters) for run in experiment.runs]
    assert [p["terminal"] for p in parameters] == ["last"] * 3
    assert parameters[2]["lower_policy"] == "frozen"
    assert "--with terminal=last" in " ".join(c.value for c in lab(experiment=experiment.id).code)


def test_a_sweep_is_one_choice_and_a_link_restores_it(service):
    test = lab()
    test.selectbox(key="lab.preset").set_value(SWEEP).run()
    test.multiselect(key="lab.domains").set_value(["inventory", "gridworld"]).run()
    assert "Gridworld, E-FSVI, T=12" in words(test)
    query = address(test)
    assert query == {"preset": SWEEP, "domains": "inventory,gridworld"}
    test.selectbox(key="lab.vary").set_value("M_u").run()
    assert test.text_input(key="lab.values").value == "25, 50, 100"
    assert test.text_input(key="lab.fixed_T").value == "6"
    again = lab(**address(test))
    assert again.text_input(key="lab.values").value.replace(" ", "") == "25,50,100"
    assert "Plan: 6 runs, 18 replications" in [
        box.proto.popover.label for box in again.get("popover")
    ]


def test_a_sweep_can_be_based_on_an_existing_run(service):
    spec = RunSpec(
        "inventory",
        "e-fsvi",
        T=4,
        domain_parameters={"K": 90.0},
        parameters={"M_u": 7},
        iterations=2,
        replications=1,
        seed=3,
    )
    id = finished_experiment(service.store, base(), spec, name="to sweep").id
    test = lab(base=f"{id}.1")
    assert address(test) == {
        "preset": SWEEP,
        "values": "2, 4, 8",
        "fixed_T": "4",
        "unit": "iterations",
        "budget": "2",
        "replications": "1",
        "seed": "3",
        "inventory.K": "90",
        "e-fsvi.M_u": "7",
    }
    test.button(key="start").click().run()
    runs = shown(service, test).runs
    over(service.store, shown(service, test).id)
    assert [run.spec for run in runs] == [replace(spec, T=T) for T in (2, 4, 8)]
    assert "The run whose settings this link uses is no longer stored." in [
        w.value for w in lab(base="nosuchthing.0").warning
    ]


def test_the_default_number_of_replications_depends_on_the_plan(service):
    test = lab()
    default = test.number_input(key="lab-replications").value
    test.number_input(key="lab-replications").increment().run()
    assert address(test) == {"replications": str(default + 1)}
    assert lab(replications="7").number_input(key="lab-replications").value == 7
    test.number_input(key="lab-replications").decrement().run()
    assert address(test) == {}
    test.selectbox(key="lab.preset").set_value("paper-inventory").run()
    assert test.number_input(key="lab-replications").value != default


def test_any_T_can_be_typed_and_shared(service):
    test = lab(preset=CUSTOM, T="2:4,150")
    assert test.text_input(key="lab.T").value == "2:4, 150"
    assert "E-FSVI, T=150**" in words(test)
    test.text_input(key="lab.T").set_value("soon").run()
    assert "'soon': use whole numbers, such as 6, 1:32 or 3,6,12" in errors(test)
    assert test.button(key="start").disabled


def test_the_estimated_duration_is_shown_before_the_start(service):
    test = lab()
    assert any(c.value.endswith("on 2 workers, if the machine is idle.") for c in test.caption)
    test = lab(preset=CUSTOM, algorithms="e-vi", budget="1e5")
    assert "You can leave, pause or stop it at any time." in test.warning[0].value
    test = lab(preset=CUSTOM, algorithms="e-vi", budget="1e8")
    assert "Base E-VI would need about" in test.warning[0].value
    assert not test.button(key="start").disabled


def test_a_full_queue_refuses_the_experiment(service, monkeypatch):
    monkeypatch.setattr(service.manager, "limits", Limits(queued_per_owner=1))
    before = service.store.size().experiments
    test = lab()
    test.button(key="start").click().run()
    assert "9 queued replications at once are too many: the limit is 1" in errors(test)
    assert service.store.size().experiments == before
    assert "experiment" not in test.query_params
