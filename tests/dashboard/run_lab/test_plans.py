"""The lab's plans, the custom form and its drawings, without a page."""

import subprocess
import sys
import xml.etree.ElementTree as xml
from dataclasses import replace
from unittest.mock import Mock

import pytest

from fsdash.cli.main import parser
from fsdash.cli.runs import read_specs
from fsdash.dashboard.curves.state import sweep_size
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.plans import (
    PLANS,
    CustomPlan,
    SweepPlan,
    commands,
    parse_values,
    python_code,
    repeated_name,
    suggested_values,
    sweepable,
    unused_name,
)
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.figures.domains import describe_domain, domain_svg
from fsdash.runs.store.queries import MAX_NAME


@pytest.mark.parametrize("name", [n for n in PLANS if n != "paper-pricing"])
def test_the_python_code_of_a_plan_makes_the_same_runs(name, monkeypatch):
    plan, run_all = PLANS[name], Mock(return_value=(None, []))
    monkeypatch.setattr("fsdash.run_all", run_all)
    monkeypatch.setattr("fsdash.runs.work_to_reach", Mock())
    for domain in [plan.domain] if plan.domain else DOMAINS:
        specs = plan.build(domain, {}, 4, 7)
        assert all(spec.replications == (4 if spec.method.sampled else 1) for spec in specs)
        exec(python_code(specs), {})
        run_all.assert_called_with(specs, workers=2)


@pytest.mark.slow
def test_the_python_code_of_a_plan_runs_as_a_file(tmp_path):
    specs = PLANS["quick-look"].build("inventory", {}, 2, 0)
    specs = [replace(spec, evaluations=None, iterations=1) for spec in specs]
    (tmp_path / "runs.py").write_text(python_code(specs), "utf-8")
    done = subprocess.run(
        [sys.executable, "runs.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert all(spec.label in done.stdout for spec in specs)


def test_an_experiment_that_is_run_again_gets_the_next_free_number():
    taken = ["a", "a (2)", "a (4)", "b"]
    assert repeated_name("a", taken) == repeated_name("a (4)", taken) == "a (3)"
    assert repeated_name("b", taken) == "b (2)"
    assert len(repeated_name("x" * MAX_NAME, ["x" * MAX_NAME])) <= MAX_NAME


def test_a_name_is_numbered_only_if_it_is_taken_and_fits_into_the_store():
    assert unused_name("a", ["b"]) == "a" and unused_name("a", ["a"]) == "a (2)"
    first = unused_name("x" * 300, [])
    second = unused_name("x" * 300, [first])
    assert len({first, second}) == 2 and max(map(len, (first, second))) <= MAX_NAME


def test_every_plan_has_a_title_and_a_description():
    assert list(text.PLAN_TITLES) == list(text.PLAN_DESCRIPTIONS) == list(PLANS)


def test_the_commands_of_a_plan_make_the_same_runs():
    plan = CustomPlan(
        "inventory",
        ["e-fsvi", "e-vi", "mpi"],
        "3, 6",
        "iterations",
        4,
        2,
        9,
        {"K": 90.0},
        {"e-vi": {"M": 20}},
    )
    made = []
    for line in commands(plan.specs()).splitlines():
        made += read_specs(parser().parse_args(line.split()[1:]))
    assert made == plan.specs()


def test_rolling_and_thawed_methods_are_part_of_the_plans():
    labels = [spec.label for spec in PLANS["ways-to-freeze"].build("inventory", {}, 3, 0)]
    assert labels == ["E-FSVI, T=6", "E-Rolling, n=24", "E-Thaw", "Base E-VI"]
    assert "Rolling freeze, n=24" in [
        s.label for s in PLANS["known-model"].build("inventory", {}, 1, 0)
    ]


def test_a_method_that_does_not_suit_the_domain_is_left_out_of_a_plan(monkeypatch):
    def refuse(specs):
        if any(spec.algorithm == "e-thaw" for spec in specs):
            raise InputError("e-thaw: the slow state is endogenous")
        return {}

    monkeypatch.setattr("fsdash.dashboard.run_lab.plans.run_notes", refuse)
    labels = [spec.label for spec in PLANS["ways-to-freeze"].build("inventory", {}, 3, 0)]
    assert labels == ["E-FSVI, T=6", "E-Rolling, n=24", "Base E-VI"]


def test_a_sweep_over_T_has_a_run_for_each_domain_and_value():
    specs = SweepPlan(["inventory", "gridworld"], values="3, 6:7", size=2).specs()
    assert [(s.domain, s.T) for s in specs] == [
        (domain, T) for domain in ("inventory", "gridworld") for T in (3, 6, 7)
    ]
    for spec in specs:
        assert spec.evaluations == 2 * sweep_size(spec.build_domain())
    assert SweepPlan(["inventory"], values="3,6").name() == "Inventory: E-FSVI, T = 3, 6"


def test_any_parameter_of_the_algorithm_or_the_domain_can_vary():
    own = SweepPlan(vary="M_u", values="5, 10", T="6", parameters={"M_l": 2}).specs()
    assert [(dict(s.parameters)["M_u"], dict(s.parameters)["M_l"], s.T) for s in own] == [
        (5, 2, 6),
        (10, 2, 6),
    ]
    price = SweepPlan(algorithm="e-vi", vary="inventory.p", values="5, 7.5").specs()
    assert [dict(s.domain_parameters)["p"] for s in price] == [5.0, 7.5]
    words = SweepPlan(vary="terminal", values="zero, last", T="6").specs()
    assert [dict(s.parameters)["terminal"] for s in words] == ["zero", "last"]


@pytest.mark.parametrize("algorithm", ["e-fsvi", "e-vi", "lin-fvi", "fsavi", "mpi", "vi"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_suggested_values_of_every_parameter_can_be_used(algorithm, domain):
    for vary in sweepable([domain], algorithm):
        text = suggested_values([domain], algorithm, vary)
        assert len(parse_values([domain], algorithm, vary, text)) >= 1, vary


def test_suggestions_are_around_the_present_value():
    assert suggested_values(["inventory"], "e-fsvi", "T", {"T": 8}) == "4, 8, 16"
    assert suggested_values(["inventory"], "e-vi", "M", {"M": 1}) == "1, 2"
    assert suggested_values(["inventory"], "e-vi", "inventory.gamma") == "0.99, 0.995, 0.9975"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domains": []}, "domains: none is chosen"),
        ({"values": ""}, "values: none are given"),
        ({"values": "six"}, "T: 'six': use whole"),
        ({"vary": "M_u", "values": "0"}, "M_u = 0"),
        ({"vary": "M_u", "values": "5", "T": "3, 6"}, "T = 3, 6: give one value; M_u varies"),
        ({"domains": ["inventory", "pricing"], "vary": "inventory.p"}, "inventory.p: cannot vary"),
        ({"vary": "M_u", "values": "1:100", "T": "3"}, "give at most 24"),
    ],
)
def test_an_unusable_sweep_says_what_to_change(change, message):
    with pytest.raises(InputError, match=message):
        SweepPlan(**change).specs()


def test_a_budget_in_sweeps_counts_sweeps_of_the_domain_with_its_parameters():
    plan = CustomPlan("inventory", ["e-vi"], size=2.5, domain_parameters={"d_max": 20})
    [spec] = plan.specs()
    assert spec.evaluations == 2.5 * 51 * 21 * 11 * 50 == 2.5 * sweep_size(spec.build_domain())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithms": []}, "choose at least one"),
        ({"T": ""}, "T: choose for how many periods E-FSVI"),
        ({"T": "six"}, "T: 'six': use whole numbers, such as 6, 1:32 or 3,6,12"),
        ({"T": "1:1000"}, "T: '1:1000' lists more than 24 values; list fewer"),
        ({"T": "0"}, "T = 0: use a whole number"),
        ({"size": -1}, "iterations = -1"),
        ({"domain_parameters": {"order_step": 0}}, "order_step"),
    ],
)
def test_an_unusable_form_says_what_to_change(change, message):
    values = {"domain": "inventory", "algorithms": ["e-fsvi"], "T": "6", "unit": "iterations"}
    with pytest.raises(InputError, match=message):
        CustomPlan(**(values | change)).specs()


@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_has_a_drawing_and_a_description_with_its_numbers(name):
    domain = make(name, "large")
    root = xml.fromstring(domain_svg(domain))
    assert root.tag.endswith("svg")
    n_slow, n_fast, *_ = domain.shape
    assert f"{n_slow * n_fast:,} states" in describe_domain(domain)
