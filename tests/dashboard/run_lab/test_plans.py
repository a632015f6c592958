"""The lab's plans, the custom form and its drawings, without a page."""

import xml.etree.ElementTree as xml

import pytest

from fsdash.cli.main import parser
from fsdash.cli.runs import read_specs
from fsdash.dashboard.curves.state import sweep_size
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.state import PLANS, CustomPlan, commands, python_code
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.figures.domains import describe_domain, domain_svg


@pytest.mark.parametrize("name", [n for n in PLANS if n != "paper-pricing"])
def test_the_python_code_of_a_plan_makes_the_same_runs(name):
    plan = PLANS[name]
    for domain in [plan.domain] if plan.domain else DOMAINS:
        specs = plan.build(domain, {}, 4, 7)
        assert all(spec.replications == (4 if spec.method.sampled else 1) for spec in specs)
        made = {}
        exec(python_code(specs).rpartition("\n")[0], made)
        assert made["specs"] == specs


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


def test_a_budget_in_sweeps_counts_sweeps_of_the_domain_with_its_parameters():
    plan = CustomPlan("inventory", ["e-vi"], size=2.5, domain_parameters={"d_max": 20})
    [spec] = plan.specs()
    assert spec.evaluations == 2.5 * 51 * 21 * 11 * 50 == 2.5 * sweep_size(spec.build_domain())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithms": []}, "choose at least one"),
        ({"T": ""}, "T: choose for how many periods E-FSVI"),
        ({"T": "six"}, "T: 'six' is not 6, 1:32 or 3,6,12"),
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
@pytest.mark.parametrize("dark", [False, True])
def test_every_domain_has_a_drawing_and_a_description_with_its_numbers(name, dark):
    domain = make(name, "large")
    root = xml.fromstring(domain_svg(domain, dark))
    assert root.tag.endswith("svg")
    n_slow, n_fast, *_ = domain.shape
    assert f"{n_slow * n_fast:,} states" in describe_domain(domain)
