"""The parts of the Run lab without a page: plans, forms, drawings, the table, the pace of looks."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsdash.dashboard import service as shared
from fsdash.dashboard.curves.state import MethodRow
from fsdash.dashboard.curves.table import methods_html
from fsdash.dashboard.run_lab.state import PLANS, Form, commands, snippet, sweep_size
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.figures.domains import describe_domain, domain_svg

# ------------------------------------------------------------------------------------------- plans


@pytest.mark.parametrize("name", [n for n in PLANS if n != "paper-pricing"])
def test_every_plan_is_made_of_runs_that_its_lines_of_python_make_again(name):
    plan = PLANS[name]
    for domain in [plan.domain] if plan.domain else DOMAINS:
        specs = plan.build(domain, {}, 4, 7)
        assert all(spec.replications == (4 if spec.method.sampled else 1) for spec in specs)
        made = {}
        exec(snippet(specs).rpartition("\n")[0], made)
        assert made["specs"] == specs


def test_the_command_lines_make_the_same_runs():
    from fsdash.cli.main import parser
    from fsdash.cli.runs import read_specs

    form = Form(
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
    for line in commands(form.specs()).splitlines():
        arguments = parser().parse_args(line.split()[1:])
        made += read_specs(arguments)
    assert made == form.specs()


def test_a_form_counts_its_budget_in_sweeps_of_its_own_domain():
    form = Form("inventory", ["e-vi"], size=2.5, domain_parameters={"d_max": 20})
    [spec] = form.specs()
    assert spec.evaluations == 2.5 * 51 * 21 * 11 * 50 == 2.5 * sweep_size(spec.build_domain())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"algorithms": []}, "choose at least one"),
        ({"T": ""}, "T: choose for how many periods E-FSVI"),
        ({"T": "six"}, "T: 'six' is not 6, 1:32 or 3,6,12"),
        ({"T": "1:1000"}, "T: 1,000 values, and a run for each; give at most 24"),
        ({"T": "0"}, "T = 0: use a whole number"),
        ({"size": -1}, "iterations = -1"),
        ({"domain_parameters": {"order_step": 0}}, "order_step"),
    ],
)
def test_a_form_that_cannot_be_run_says_what_to_change(change, told):
    values = {"domain": "inventory", "algorithms": ["e-fsvi"], "T": "6", "unit": "iterations"}
    with pytest.raises(InputError, match=told):
        Form(**(values | change)).specs()


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("dark", [False, True])
def test_every_domain_has_a_drawing_with_its_own_numbers(name, dark):
    import xml.etree.ElementTree as xml

    domain = make(name, "large")
    root = xml.fromstring(domain_svg(domain, dark))
    assert root.tag.endswith("svg")
    n_slow, n_fast, *_ = domain.shape
    assert f"{n_slow * n_fast:,} states" in describe_domain(domain)


def test_a_table_shows_the_stroke_of_each_line():
    row = MethodRow(
        "A · E-FSVI", "#123456", "dashdot", "finished", 1.0, "done", ("1", "2", "–"), "93 %"
    )
    table = methods_html([row], "sweeps")
    assert "#123456 0px 8px,transparent 8px 11px,#123456 11px 14px" in table
    assert '<th scope="col" title="sweeps until 90% of the optimum">sweeps to 90%</th>' in table
    assert '<td data-head="to 90%">2</td>' in table


# -------------------------------------------------------------------------------------------- pace


def test_looks_are_taken_one_after_the_other_but_none_waits_for_ever(monkeypatch):
    monkeypatch.setattr(shared, "TURN_TIMEOUT", 0.01)
    rate, within = shared.RefreshRate(), []
    with rate.refresh("one"):
        began = time.monotonic()
        with rate.refresh("two"):  # a look that hangs holds the others up, then no longer
            within.append(time.monotonic() - began)
    assert within[0] >= 0.01
    monkeypatch.setattr(shared, "TURN_TIMEOUT", 60)
    with ThreadPoolExecutor(2) as threads:
        inside = []

        def look(who):
            with rate.refresh(who):
                inside.append(who)
                assert len(inside) == 1
                inside.remove(who)

        list(threads.map(look, range(200)))
    with pytest.raises(KeyError), rate.refresh("three"):
        raise KeyError
    with rate.refresh("four"):
        assert rate.interval() == shared.FASTEST_REFRESH


def test_the_looks_of_all_visitors_together_take_a_fixed_share_of_one_core(monkeypatch):
    clock = iter([0.0, 0.006] * 80)
    monkeypatch.setattr(shared.time, "thread_time", lambda: next(clock))
    now = [100.0]
    monkeypatch.setattr(shared.time, "monotonic", lambda: now[0])
    rate = shared.RefreshRate()
    found = {}
    for visitor in range(80):
        with rate.refresh(visitor):
            pass
        found[visitor + 1] = rate.interval()
    assert found[1] == shared.FASTEST_REFRESH and found[80] == pytest.approx(
        80 * 0.006 / shared.REFRESH_SHARE
    )
    now[0] += shared.INACTIVE_AFTER
    assert rate.interval() == shared.FASTEST_REFRESH
