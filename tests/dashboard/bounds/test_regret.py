"""The tab Regret and budget of the Bounds page: its advice, its figures and its controls."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fsdash.dashboard.bounds import state as bounds
from fsdash.dashboard.bounds import text
from fsdash.dashboard.bounds.state import truth_frame
from fsdash.formatting import number
from fsdash.theory import Sizes, fsvi_bound, regimes, value_lipschitz_bound
from fsdash.theory.measured_domains import HORIZONS, measured_domains
from fsdash.theory.sensitivity import best_T
from tests.dashboard.bounds.kit import (
    EVERY,
    PAGE,
    SENSITIVITY,
    THREE,
    TRUST,
    advised,
    example_view,
    expected,
    headline,
    ran,
    view,
)
from tests.dashboard.kit import figures, opened, snippet, traces, words


def test_the_page_opens_on_three_regimes():
    page = opened(PAGE, tab="regret")
    assert advised(page) == expected(view())
    assert headline(page) == "Smallest bound: FSVI with T = 16, k = 3"
    assert text.reasons(view()) in words(page)
    for number_shown in ("3.48 sweeps", "second smallest bound, 14.2", "from 1.48 to 5.27 sweeps"):
        assert number_shown in text.reasons(view())
    assert not page.error and not page.warning


def test_the_figure_on_the_page_is_the_librarys():
    drawn = figures(opened(PAGE, tab="regret"))["regret-cost"]
    found = regimes(THREE.constants, THREE.sizes, T=THREE.T)
    np.testing.assert_allclose(
        traces(drawn)["regimes"]["x"][:-1], [regime.start for regime in found]
    )
    mark = traces(drawn)["T = 16 for this budget"]
    assert mark["y"] == [fsvi_bound(THREE.constants, 16, k=3).total]
    assert [s["x0"] for s in drawn["layout"]["shapes"] if s["name"] == "handle"] == [2e10]


def test_the_controls_move_the_advice():
    page = opened(PAGE, tab="regret")
    page.number_input(key="bounds.budget").set_value(60.0)
    page.number_input(key="bounds.gamma").set_value(0.95)
    page.number_input(key="bounds.Lf").set_value(0.9)
    page.number_input(key="bounds.na").set_value(5.0)
    page.multiselect(key="bounds.drawn").set_value([3, 7]).run()
    constants = replace(THREE.constants, gamma=0.95, l_f=0.9)
    assert advised(page) == expected(
        view(60.0, constants, Sizes(n_slow=100, n_fast=100, n_actions=5), (3, 7))
    )


def test_every_T_may_compete():
    page = opened(PAGE, tab="regret", budget="20", over=EVERY)
    assert headline(page) == "Smallest bound: FSVI with T = 8, k = 19"
    assert advised(page) == expected(view(20.0, every=True))


@pytest.mark.parametrize("name", [n for n in bounds.example_names() if n not in bounds.PANELS])
def test_examples_fill_the_controls(name):
    page = opened(PAGE, tab="regret", budget="7", Lf="1.3", LUby="derived")
    page.button(key=f"load-{name}").click().run()
    assert not page.exception
    assert advised(page) == expected(example_view(name))


def test_the_bound_of_a_measured_domain_is_called_vacuous():
    page = opened(PAGE, tab="regret")
    page.button(key="load-inventory").click().run()
    advice = example_view("inventory").advice
    ratio = number(advice.choice.regret / advice.trivial_bound)
    said = f"Base VI: k = {advice.choice.k:,} sweeps, is {ratio} times the largest possible loss"
    assert said in words(page) and "All floors are in the grey area" in words(page)
    assert "Measure it on a model" in [link.proto.label for link in page.get("page_link")]


def test_only_competitors_are_called_off_the_scale():
    captions = " ".join(caption.value for caption in opened(PAGE, tab="regret").caption)
    assert "set the budget" in captions and "off the scale" not in captions


def test_competitors_off_the_scale_are_named():
    page = opened(PAGE, tab="regret")
    page.button(key="load-pricing").click().run()
    captions = " ".join(caption.value for caption in page.caption)
    assert text.off_scale(["T = 6", "T = 12", "T = 24"]) in captions
    top = 10 ** figures(page)["regret-cost"]["layout"]["yaxis"]["range"][1]
    curves = traces(figures(page)["regret-cost"])
    assert min(curves["T = 6"]["y"]) > top > min(curves["Base VI"]["y"])


def test_one_sweep_is_written_in_the_singular():
    page = opened(PAGE, tab="regret", budget="1")
    assert "k = 1 sweep" in words(page)  # of the smallest bound, which is vacuous here
    assert "It costs 1 sweep." in words(page) and "1 sweeps" not in words(page)


def test_L_U_can_be_derived():
    page = opened(PAGE, tab="regret", Lf="0.9", LUby="derived")
    constants = replace(THREE.constants, l_f=0.9)
    constants = replace(constants, l_u=value_lipschitz_bound(0.9, 0.5, l_f=0.9))
    assert advised(page) == expected(view(constants=constants))
    assert page.number_input(key="bounds.LU").disabled


def test_the_first_tab_shows_the_terms():
    drawn = traces(figures(opened(PAGE, tab="regret"))["terms"])
    assert drawn["reward term"]["x"] == ["VI", "2", "4", "9", "16", "25"]
    assert drawn["iteration term"]["y"][4] == fsvi_bound(THREE.constants, 16, k=3).iteration_term


def test_the_heat_map_varies_the_chosen_constant():
    page = opened(PAGE, tab="regret", detail=SENSITIVITY, vary="alpha")
    assert set(figures(page)) == {"regret-cost", "best-T"}
    cells = traces(figures(page)["best-T"])["best T"]
    z, row = np.reshape(cells["z"], (bounds.CELLS, bounds.CELLS)), 11
    constants = replace(THREE.constants, alpha=float(cells["y"][row]))
    budgets = np.array(cells["x"]) * THREE.sizes.sweep
    expected_T = best_T(constants, THREE.sizes, budgets=budgets, T=THREE.T).T
    np.testing.assert_allclose(2 ** z[row], expected_T)


def test_the_last_tab_shows_the_true_regret_and_the_condition():
    page = opened(PAGE, tab="regret", detail=TRUST, domain="pricing")
    domain = measured_domains()["pricing"]
    bound = fsvi_bound(domain.constants, 12, k=0).floor
    assert text.truth("pricing", domain, bound) in words(page)
    assert f"**{number(domain.regret[12][0])}**" in text.truth("pricing", domain, bound)
    assert text.CONDITION in words(page)
    assert list(traces(figures(page)["truth"])["the true regret"]["y"]) == [
        domain.regret[T][0] for T in HORIZONS
    ]


@pytest.mark.parametrize("name", measured_domains())
def test_the_snippet_recomputes_the_true_regret(name):
    page = opened(PAGE, tab="regret", detail=TRUST, domain=name)
    frame = ran(snippet(page, 1))["frame"]
    pd.testing.assert_frame_equal(frame, truth_frame(name))
    drawn = traces(figures(page)["truth"])
    np.testing.assert_array_equal(drawn["the bound, k → ∞"]["y"], frame["bound"])
    np.testing.assert_array_equal(drawn["the true regret"]["y"], frame["largest_regret"])
