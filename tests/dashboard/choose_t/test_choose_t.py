"""The Choose T page without a browser: its advice, figures, link, snippets and unusable input."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.dashboard.choose_t import state as choose
from fsdash.dashboard.choose_t import text
from fsdash.dashboard.choose_t.state import ChooseTState, truth_frame
from fsdash.dashboard.shell import FROZEN_DYNAMICS_CONDITION
from fsdash.formatting import number
from fsdash.theory import (
    PRESETS,
    Constants,
    Sizes,
    advise,
    fsvi_regret,
    regimes,
    trivial_bound,
    value_lipschitz_bound,
)
from fsdash.theory.measured import measure
from fsdash.theory.measured_domains import HORIZONS, measured_domains
from fsdash.theory.repaired import repaired_regret
from fsdash.theory.sensitivity import best_T
from tests.dashboard.kit import figures, metrics, opened, traces, words
from tests.theory.test_counterexample import reversing_model

PAGE = "2_Choose_T.py"
THREE = PRESETS["three-regimes"]
EVERY = "every"
SENSITIVITY, TRUST = "sensitivity", "trust"


def view(
    sweeps=4.0, constants=THREE.constants, sizes=THREE.sizes, T=THREE.T, **rest
) -> ChooseTState:
    return ChooseTState(constants, sizes, sweeps, T, **rest)


def advised(page) -> tuple[str, dict[str, str]]:
    return headline(page), metrics(page)


def headline(page) -> str:
    return page.header[0].value.replace("\u00a0", " ")


def expected(shown: ChooseTState) -> tuple[str, dict[str, str]]:
    """The headline and the numbers, from the library alone."""
    bound = partial(repaired_regret, l_frozen=shown.l_frozen) if shown.repaired else fsvi_regret
    T = shown.T if not shown.every else range(2, 101)
    advice = advise(
        shown.constants, shown.sizes, budget=shown.sweeps * shown.sizes.sweep, T=T, bound=bound
    )
    run, share = advice.choice, advice.choice.regret / trivial_bound(shown.constants)
    name = (
        f"FSVI with T = {run.T}, k = {run.k:,}" if run.T > 1 else f"Base VI: k = {run.k:,} sweeps"
    )
    return f"Run {name}", {
        text.REGRET_BOUND: number(run.regret),
        text.BOUND_RATIO: f"{number(100 * share)}%" if share < 10 else f"{number(share)}×",
    }


def ran(snippet: str) -> dict:
    names: dict = {}
    exec(snippet, names)
    return names


# ---------------------------------------------------------------------------------- the main path


def test_the_page_opens_on_three_regimes():
    page = opened(PAGE)
    assert advised(page) == expected(view())
    assert headline(page) == "Run FSVI with T = 16, k = 3"
    assert text.reasons(view()) in words(page)
    for number_shown in ("3.48 sweeps", "T = 9 with 14.2", "from 1.48 to 5.27 sweeps"):
        assert number_shown in text.reasons(view())
    assert not page.error and not page.warning


def test_the_figure_on_the_page_is_the_librarys():
    drawn = figures(opened(PAGE))["regret-cost"]
    found = regimes(THREE.constants, THREE.sizes, T=THREE.T)
    np.testing.assert_allclose(
        traces(drawn)["regimes"]["x"][:-1], [regime.start for regime in found]
    )
    mark = traces(drawn)["T = 16 on the budget"]
    assert mark["y"] == [fsvi_regret(THREE.constants, 16, k=3).total]
    assert [s["x0"] for s in drawn["layout"]["shapes"] if s["name"] == "handle"] == [2e10]


def test_the_controls_move_the_advice():
    page = opened(PAGE)
    page.number_input(key="choose-t.budget").set_value(60.0)
    page.number_input(key="choose-t.gamma").set_value(0.95)
    page.number_input(key="choose-t.Lf").set_value(0.9)
    page.number_input(key="choose-t.na").set_value(5.0)
    page.multiselect(key="choose-t.T").set_value([3, 7]).run()
    constants = replace(THREE.constants, gamma=0.95, l_f=0.9)
    assert advised(page) == expected(
        view(60.0, constants, Sizes(n_slow=100, n_fast=100, n_actions=5), (3, 7))
    )


def test_every_T_may_compete():
    page = opened(PAGE, budget="20", over=EVERY)
    assert headline(page) == "Run FSVI with T = 8, k = 19"
    assert advised(page) == expected(view(20.0, every=True))


@pytest.mark.parametrize("name", choose.example_names())
def test_examples_fill_the_controls(name):
    page = opened(PAGE, budget="7", Lf="1.3", LUby="derived")
    page.button(key=f"load-{name}").click().run()
    assert not page.exception
    assert advised(page) == expected(choose.example(name))


def test_the_bound_of_a_measured_domain_is_called_vacuous():
    page = opened(PAGE)
    page.button(key="load-inventory").click().run()
    advice = choose.example("inventory").advice
    ratio = number(advice.choice.regret / advice.trivial_bound)
    vacuous = text.VACUOUS.format(ratio=ratio, trivial=number(advice.trivial_bound))
    assert vacuous in words(page) and text.VACUOUS_FLOORS in words(page)


def test_only_competitors_are_called_off_the_scale():
    assert text.SET_BUDGET in [caption.value for caption in opened(PAGE).caption]


def test_competitors_off_the_scale_are_named():
    page = opened(PAGE)
    page.button(key="load-pricing").click().run()
    captions = " ".join(caption.value for caption in page.caption)
    assert text.off_scale(["T = 6", "T = 12", "T = 24"]) in captions
    top = 10 ** figures(page)["regret-cost"]["layout"]["yaxis"]["range"][1]
    curves = traces(figures(page)["regret-cost"])
    assert min(curves["T = 6"]["y"]) > top > min(curves["Base VI"]["y"])


def test_one_sweep_is_written_in_the_singular():
    page = opened(PAGE, budget="1")
    assert "k\u00a0=\u00a01 sweep" in " ".join(header.value for header in page.header)
    assert "It costs 1 sweep." in words(page) and "1 sweeps" not in words(page)


def test_L_U_can_be_derived():
    page = opened(PAGE, Lf="0.9", LUby="derived")
    constants = replace(THREE.constants, l_f=0.9)
    constants = replace(constants, l_u=value_lipschitz_bound(0.9, 0.5, l_f=0.9))
    assert advised(page) == expected(view(constants=constants))
    assert page.number_input(key="choose-t.LU").disabled


def test_the_repaired_bound_can_be_chosen():
    stated, repaired = opened(PAGE), opened(PAGE, bound="repaired")
    # Without a given L̃ it is √(1 + L_f²).
    assert advised(repaired) == expected(view(repaired=True, l_frozen=np.hypot(1, 1.2)))
    assert advised(stated) != advised(repaired)
    field = repaired.number_input(key="choose-t.Lfrozen")
    assert field.placeholder == "√(1 + L_f²)" and "√(1 + L_f²)" in field.help
    page = opened(PAGE, bound="repaired", Lfrozen="2.0", budget="10")
    run = advise(
        THREE.constants,
        THREE.sizes,
        budget=10 * THREE.sizes.sweep,
        T=THREE.T,
        bound=lambda c, T, k: repaired_regret(c, T, k=k, l_frozen=2.0),
    ).choice
    assert metrics(page)[text.REGRET_BOUND] == number(run.regret)


@pytest.mark.parametrize("given", [{}, {"Lfrozen": "0.5"}])
def test_with_one_slow_state_the_frozen_dynamics_are_the_true_ones(given):
    page = opened(PAGE, bound="repaired", nx="1", **given)
    l_frozen = float(given.get("Lfrozen", THREE.constants.l_f))
    sizes = replace(THREE.sizes, n_slow=1)
    run = advise(
        THREE.constants,
        sizes,
        budget=4 * sizes.sweep,
        T=THREE.T,
        bound=partial(repaired_regret, l_frozen=l_frozen, n_slow=1),
    ).choice
    assert metrics(page)[text.REGRET_BOUND] == number(run.regret)
    assert page.number_input(key="choose-t.Lfrozen").placeholder == text.ONE_SLOW_STATE == "L_f"


def test_a_sensitivity_below_1_is_refused_in_words():
    page = opened(PAGE, bound="repaired", Lfrozen="0.5")
    (error,) = page.error
    assert error.value == text.L_FROZEN_TOO_SMALL.format(value="0.5")
    assert not page.metric
    assert advised(opened(PAGE, Lfrozen="0.5")) == expected(view())  # the stated bound has no L̃


def test_the_default_sensitivity_follows_the_varied_constant():
    shown = view(repaired=True)
    _, table = choose.heat_map(shown, "l_f")
    cells = table()
    row = cells[cells["l_f"] == cells["l_f"].unique()[3]]
    constants = replace(THREE.constants, l_f=float(row["l_f"].iloc[0]))
    budgets = choose.heat_budgets(shown)
    best = best_T(constants, THREE.sizes, budgets=budgets, T=THREE.T, bound=repaired_regret)
    assert row["T"].tolist() == best.T.tolist()


def test_the_counterexample_in_the_text_is_the_one_of_the_theory_s_tests():
    said = text.COUNTEREXAMPLE
    model = reversing_model(said["gamma"])
    best = optimum(model, tolerance=1e-8)
    constants = measure(model, best.U_XY).constants(said["gamma"])
    for name in ("long", "short"):
        T = said[f"{name}_T"]
        policy_PXY = run_until(fsvi(model, T), tolerance=1e-8).policy_PXY
        true = regret(model, policy_PXY, best=best).max_regret
        stated = fsvi_regret(constants, T, k=10**6).total
        assert true == pytest.approx(float(said[f"{name}_regret"]), abs=0.005)
        assert stated == pytest.approx(float(said[f"{name}_bound"]), abs=0.005)


# ------------------------------------------------------------------------------------------- tabs


def test_the_first_tab_shows_the_terms():
    drawn = traces(figures(opened(PAGE))["terms"])
    assert drawn["reward term"]["x"] == ["VI", "2", "4", "9", "16", "25"]
    assert drawn["iteration term"]["y"][4] == fsvi_regret(THREE.constants, 16, k=3).iteration_term


def test_the_heat_map_varies_the_chosen_constant():
    page = opened(PAGE, tab=SENSITIVITY, vary="alpha")
    assert set(figures(page)) == {"regret-cost", "best-T"}
    cells = traces(figures(page)["best-T"])["best T"]
    z, row = np.reshape(cells["z"], (choose.CELLS, choose.CELLS)), 11
    constants = replace(THREE.constants, alpha=float(cells["y"][row]))
    budgets = np.array(cells["x"]) * THREE.sizes.sweep
    expected_T = best_T(constants, THREE.sizes, budgets=budgets, T=THREE.T).T
    np.testing.assert_allclose(2 ** z[row], expected_T)


def test_the_last_tab_shows_the_true_regret_and_the_condition():
    page = opened(PAGE, tab=TRUST, domain="pricing")
    domain = measured_domains()["pricing"]
    bound = fsvi_regret(domain.constants, 12, k=0).floor
    assert text.truth("pricing", domain, bound) in words(page)
    assert f"**{number(domain.regret[12][0])}**" in text.truth("pricing", domain, bound)
    assert FROZEN_DYNAMICS_CONDITION in words(page) and text.WITHOUT_CONDITION in words(page)
    assert list(traces(figures(page)["truth"])["the true regret"]["y"]) == [
        domain.regret[T][0] for T in HORIZONS
    ]


@pytest.mark.parametrize("name", measured_domains())
def test_the_snippet_recomputes_the_true_regret(name):
    page = opened(PAGE, tab=TRUST, domain=name)
    frame = ran(page.code[-1].value)["frame"]
    pd.testing.assert_frame_equal(frame, truth_frame(name))
    drawn = traces(figures(page)["truth"])
    np.testing.assert_array_equal(drawn["the bound, k → ∞"]["y"], frame["bound"])
    np.testing.assert_array_equal(drawn["the true regret"]["y"], frame["largest_regret"])


# --------------------------------------------------------------------------------------- the link


def test_a_link_restores_the_view():
    link = {
        "budget": "12.5",
        "gamma": "0.95",
        "alpha": "0.02",
        "dY": "2.0",
        "Lr": "0.4",
        "Lf": "1.1",
        "LU": "0.1",
        "rmax": "20.0",
        "nx": "30",
        "ny": "40",
        "na": "6",
    }
    page = opened(PAGE, **link)
    constants = Constants(gamma=0.95, alpha=0.02, d_y=2, l_r=0.4, l_f=1.1, l_u=0.1, r_max=20)
    assert advised(page) == expected(
        view(12.5, constants, Sizes(n_slow=30, n_fast=40, n_actions=6))
    )
    assert not page.warning


def test_the_plotted_values_of_T_are_in_the_link():
    page = opened(PAGE, T=["3", "6"])
    assert page.multiselect(key="choose-t.T").value == [3, 6]
    assert advised(page) == expected(view(T=(3, 6)))


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "nan", "1;2", "<b>", "9" * 400])
def test_unusable_values_in_the_link_are_reported(junk):
    names = (
        "budget",
        "gamma",
        "alpha",
        "Lf",
        "dY",
        "Lr",
        "LU",
        "rmax",
        "nx",
        "ny",
        "na",
        "T",
        "LUby",
        "over",
        "bound",
        "Lfrozen",
        "vary",
        "tab",
        "domain",
        "unknown",
    )
    page = opened(PAGE, **dict.fromkeys(names, junk))
    assert advised(page) == expected(view())
    (notice,) = page.warning
    assert "unknown=" in notice.value and "budget=" in notice.value


@pytest.mark.parametrize(
    ("query", "shown", "said"),
    [
        ({"T": ["4", "abc"]}, (4,), "`T=abc`: give a whole number from 2 to 100"),
        ({"T": ["abc", "4"]}, (4,), "`T=abc`"),
        ({"T": [*map(str, range(2, 12))]}, tuple(range(2, 10)), "`T=10`, `T=11`: give at most"),
        ({"nx": "1.5"}, THREE.T, "`nx=1.5`: give a whole number from 1 to 1000000000"),
    ],
)
def test_the_usable_part_of_a_link_is_shown(query, shown, said):
    page = opened(PAGE, **query)
    (notice,) = page.warning
    assert said in notice.value
    assert advised(page) == expected(view(T=shown))


# -------------------------------------------------------------------------------------- bad input


def test_no_discounting_is_explained():
    page = opened(PAGE, gamma="1.0")
    (error,) = page.error
    assert "γ = 1 means no discounting" in error.value
    assert page.multiselect(key="choose-t.T").value == list(THREE.T), "the controls are all there"


def test_no_discounting_leaves_the_controls():
    page = opened(PAGE, gamma="1.0", LUby="derived", Lf="0.9")
    assert len(page.error) == 1 and not page.warning
    assert page.number_input(key="choose-t.nx").value == 100


def test_a_field_shows_all_digits_of_its_value():
    page = opened(PAGE, gamma="0.99995", budget="12345.6", alpha="0.012345")
    for key in ("gamma", "budget", "alpha"):
        field = page.number_input(key=f"choose-t.{key}")
        assert float(f"{field.value:{field.proto.format[1:]}}") == field.value


@pytest.mark.parametrize("budget", ["0.0", "0.99"])
def test_a_budget_below_the_cheapest_run(budget):
    page = opened(PAGE, budget=budget)
    assert headline(page) == text.TOO_SMALL
    (error,) = page.error
    cost = {"sweeps": number(float(budget)), "operations": number(THREE.sizes.sweep)}
    assert error.value == text.RAISE_BUDGET.format(**cost)
    assert "regret-cost" in figures(page)


def test_L_U_is_not_derived_where_gamma_L_f_is_at_least_1():
    page = opened(PAGE, LUby="derived")
    (warning,) = page.warning
    value = number(THREE.constants.l_u)
    assert warning.value == text.NO_L_U.format(product="1.08", value=value)
    assert advised(page) == expected(view())


def test_infinite_bounds_are_shown():
    page = opened(PAGE, Lf="1000000.0", Lr="1000000.0", T="100")
    assert "∞" in words(page)
    assert headline(page).startswith("Run Base VI")


@pytest.mark.slow
@pytest.mark.parametrize("tab", [None, SENSITIVITY, TRUST])
@pytest.mark.parametrize(
    "extreme",
    [
        {"alpha": "0.0", "LU": "0.0"},
        {"gamma": "0.0"},
        {"rmax": "0.0"},
        {"gamma": "0.9999", "over": EVERY},
        {"budget": "1000000000.0", "nx": "1000000000.0", "ny": "1000000000.0"},
        {"budget": "0.0", "over": EVERY},
        {"nx": "1.0", "ny": "1.0", "na": "1.0"},
    ],
)
def test_extremes_never_raise(tab, extreme):
    page = opened(PAGE, **extreme, **({"tab": tab} if tab else {}))
    assert "regret-cost" in figures(page)


def test_without_any_T_the_defaults_are_shown():
    page = opened(PAGE)
    page.multiselect(key="choose-t.T").set_value([]).run()
    assert advised(page) == expected(view())
    defaults = ", ".join(map(str, THREE.T))
    assert text.NO_T.format(T=defaults) in [info.value for info in page.info]


# --------------------------------------------------------------------- clicks, snippets, exercises


@pytest.mark.parametrize(
    ("x", "sweeps"), [(2e10, 4), (5.27 * 5e9, 5.27), (12.3456 * 5e9, 12.4), (0, 0), (-1, 0)]
)
def test_a_click_sets_a_budget_that_pays_for_the_clicked_step(x, sweeps):
    assert choose.clicked_sweeps(x, THREE.sizes) == pytest.approx(sweeps)


VIEWS = [
    view(),
    view(20.0, every=True, repaired=True, l_frozen=1.3),
    view(20.0, repaired=True),
    view(0.5),
    choose.example("pricing"),
]


@pytest.mark.parametrize("shown", VIEWS)
def test_the_snippets_recompute_the_tables(shown):
    names = ran(choose.curves_snippet(shown))
    pd.testing.assert_frame_equal(names["frame"], choose.curves_frame(shown))
    if shown.advice:
        assert names["advice"].choice == shown.advice.choice
        terms = ran(choose.terms_snippet(shown))["frame"]
        pd.testing.assert_frame_equal(terms, choose.terms_frame(shown))
    heat = ran(choose.heat_snippet(shown, "l_f"))["frame"]
    pd.testing.assert_frame_equal(heat, choose.heat_map(shown, "l_f")[1]())


def test_the_page_shows_the_snippet_of_its_view():
    page = opened(PAGE, budget="12.5")
    codes = [block.value for block in page.code]
    assert codes == [choose.curves_snippet(view(12.5)), choose.terms_snippet(view(12.5))]


def test_the_numbers_in_the_answers():
    answers = [answer for _, answer in text.EXERCISES]
    last = regimes(THREE.constants, THREE.sizes, T=THREE.T)[-1]
    floors = fsvi_regret(THREE.constants, THREE.T, k=0).floor
    assert (last.algorithm, last.start / THREE.sizes.sweep) == ("VI", 53)
    assert "**53 sweeps**" in answers[0] and f"**{floors.min():.2f}** for T = 9" in answers[0]
    *_, before, _ = regimes(THREE.constants, THREE.sizes, T=range(2, 101))
    assert before.T == 8 and "**T = 8** is the best from about 12 to 53" in answers[1]
    assert round(before.start / THREE.sizes.sweep) == 12
    eight, nine = fsvi_regret(THREE.constants, [8, 9], k=0).floor
    assert 0 < nine / eight - 1 < 0.01
    inventory = measured_domains()["inventory"]
    floor = fsvi_regret(inventory.constants, HORIZONS, k=0).floor.min()
    assert 1e4 < floor / trivial_bound(inventory.constants) < 1e5
