"""The tab Linear architecture of the Bounds page without a browser."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fsdash.algorithms.optimum import regret
from fsdash.dashboard.bounds import text
from fsdash.dashboard.bounds.state import LinearState
from fsdash.figures.linear_architecture import STATED
from fsdash.formatting import factor, number
from fsdash.theory import Constants, fsavi_bound, repaired_bound, trivial_bound
from fsdash.theory.measured import measure
from fsdash.theory.presets import PRESETS
from tests.dashboard.kit import figures, metrics, opened, snippet, traces, words
from tests.theory.test_fsavi_proven import after, fitting_errors, greedy_trap

PAGE = "2_Bounds.py"
STATED_LABEL = "Bound as stated (arXiv text)"
START = PRESETS["three-regimes"].constants
FIT = {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2}
NAMES = (
    "T",
    "kappa",
    "elow",
    "eup",
    "gamma",
    "k",
    "alpha",
    "dY",
    "Lr",
    "Lf",
    "LU",
    "rmax",
    "Lfrozen",
)


def expected(constants: Constants, T: int, k: int, fit: dict[str, float], l_frozen=None):
    """The three numbers of the page by label, from the library alone."""
    return {
        "Proven bound": number(fsavi_bound(constants, T, k=k, **fit, l_frozen=l_frozen).total),
        STATED_LABEL: number(fsavi_bound(constants, T, k=k, **fit, bound="stated").total),
        "Trivial bound": number(trivial_bound(constants)),
    }


def test_the_page_opens_with_the_librarys_numbers_and_curves():
    page = opened(PAGE, tab="linear")
    assert metrics(page) == expected(START, 6, 20, FIT)
    drawn, T = traces(figures(page)["bound"]), np.arange(1, 41)
    np.testing.assert_array_equal(drawn["proven"]["y"], fsavi_bound(START, T, k=20, **FIT).total)
    np.testing.assert_array_equal(
        drawn[STATED]["y"],
        fsavi_bound(START, T, k=20, **FIT, bound="stated").total,
    )
    np.testing.assert_array_equal(
        drawn["exact tables (FSVI)"]["y"], repaired_bound(START, T, k=20).total
    )


def test_the_bars_are_the_terms_and_add_up():
    bars = figures(opened(PAGE, tab="linear", T="3"))["terms"]["data"]
    stated = fsavi_bound(START, 3, k=20, **FIT, bound="stated")
    proven = fsavi_bound(START, 3, k=20, **FIT)
    sums = np.sum([bar["x"] for bar in bars], axis=0)
    np.testing.assert_allclose(sums, [stated.total, proven.total])


def test_moving_the_controls_moves_the_numbers():
    page = opened(PAGE, tab="linear")
    page.slider(key="bounds.T").set_value(15)
    page.slider(key="bounds.kappa").set_value(1.1)
    page.select_slider(key="bounds.elow").set_value(0.5)
    page.select_slider(key="bounds.k").set_value(3).run()
    fit = {"kappa": 1.1, "eps_low": 0.5, "eps_up": 0.2}
    assert metrics(page) == expected(START, 15, 3, fit)


def test_example_features_fill_the_controls():
    page = opened(PAGE, tab="linear")
    page.button(key="load-perfect").click().run()
    assert metrics(page) == expected(START, 6, 20, {"kappa": 1, "eps_low": 0, "eps_up": 0})


def test_a_link_restores_the_view():
    page = opened(
        PAGE, tab="linear", T="9", kappa="1.05", elow="0.1", eup="1.0", gamma="0.8", k="5"
    )
    constants = Constants(gamma=0.8, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10)
    assert metrics(page) == expected(constants, 9, 5, {"kappa": 1.05, "eps_low": 0.1, "eps_up": 1})
    assert not page.warning


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "<b>"])
def test_unusable_values_in_the_link_are_reported(junk):
    page = opened(PAGE, tab="linear", **dict.fromkeys(NAMES, junk))
    assert metrics(page) == expected(START, 6, 20, FIT)
    (notice,) = page.warning
    assert all(f"`{name}=" in notice.value for name in NAMES)


def test_misfits_may_be_written_as_whole_numbers():
    page = opened(PAGE, tab="linear", elow="0", eup="5")
    assert not page.warning
    assert metrics(page) == expected(START, 6, 20, {"kappa": 1.02, "eps_low": 0, "eps_up": 5})


@pytest.mark.parametrize(("kappa", "gamma"), [("1.2", "0.9"), ("1.25", "0.8"), ("1.3", "0.999")])
def test_a_fit_that_may_diverge_is_reported_with_the_remedy(kappa, gamma):
    page = opened(PAGE, tab="linear", kappa=kappa, gamma=gamma)
    (warning,) = page.warning
    product, critical = factor(float(kappa) * float(gamma)), 1 / float(gamma)
    assert f"{product} \\ge 1$" in warning.value and f"{critical:.3f}" in warning.value
    assert not page.metric


@pytest.mark.parametrize("query", [{"rmax": "0", "LU": "0", "Lr": "0"}, {"T": "40", "Lf": "1000"}])
def test_extreme_constants_never_raise(query):
    opened(PAGE, tab="linear", **query)


@pytest.mark.parametrize("T", [2, 6, 16])
def test_the_page_says_that_the_stated_bound_does_not_hold(T):
    shown = words(opened(PAGE, tab="linear", T=str(T)))
    proven, stated = (
        fsavi_bound(START, T, k=20, **FIT, bound=bound).total for bound in ("proven", "stated")
    )
    assert text.DOES_NOT_HOLD in shown
    said = f"At T = {T} it is {number(stated)}, and the proven bound is {number(proven)}."
    assert said in shown
    # The theorem of FSAVI needs more than L̃ ≤ L_f, so the condition of FSVI's is not shown.
    assert text.CONDITION not in shown


def test_the_verdict_is_about_the_proven_bound_only():
    page = opened(PAGE, tab="linear", T="20", Lfrozen="3.0")
    proven = fsavi_bound(START, 20, k=20, **FIT, l_frozen=3.0).total
    stated = fsavi_bound(START, 20, k=20, **FIT, bound="stated").total
    assert stated < trivial_bound(START) < proven
    deltas = {metric.label: metric.delta for metric in page.metric}
    assert deltas == {
        "Proven bound": "vacuous",
        STATED_LABEL: "",
        "Trivial bound": "",
    }


def test_equal_bounds_are_not_compared():
    assert text.describe_stated(4, 1.0, 1.0).endswith("differ by less than the digits shown.")


def test_the_counterexample_in_the_text_is_the_one_of_the_theory_s_tests():
    said = text.LINEAR_COUNTEREXAMPLE
    model, architecture = greedy_trap(said["gamma"])
    snapshot = after(model, said["T"], architecture, 3)
    low, up = fitting_errors(model, said["T"], architecture, snapshot)
    fit = {"kappa": architecture.kappa, "eps_low": low, "eps_up": up}
    constants = measure(model).constants(said["gamma"])
    stated = fsavi_bound(constants, said["T"], k=3, **fit, bound="stated").total
    assert round(regret(model, snapshot.policy_PXY).max_regret) == said["true"]
    assert round(stated) == said["allowed"]
    assert (model.n_slow, model.n_fast) == (1, 4)


def test_the_sensitivity_of_the_frozen_dynamics_can_be_given():
    page = opened(PAGE, tab="linear", Lfrozen="1.1")
    assert metrics(page) == expected(START, 6, 20, FIT, 1.1)
    field = page.number_input(key="bounds.Lfrozen")
    assert field.value == 1.1
    drawn = traces(figures(page)["bound"])["exact tables (FSVI)"]["y"]
    exact = repaired_bound(START, np.arange(1, 41), k=20, l_frozen=1.1).total
    np.testing.assert_array_equal(drawn, exact)
    empty = opened(PAGE, tab="linear").number_input(key="bounds.Lfrozen")
    assert empty.value is None and empty.placeholder == "√(1 + L_f²)"


def test_a_sensitivity_below_1_is_reported():
    page = opened(PAGE, tab="linear", Lfrozen="0.5")
    (error,) = page.error
    assert "L̃ = 0.5 is below 1" in error.value and not page.metric


def test_perfect_features_differ_from_exact_tables_by_the_iteration_term():
    fit = {"kappa": 1, "eps_low": 0, "eps_up": 0}
    for T in (1, 2, 10):
        ours, exact = fsavi_bound(START, T, k=20, **fit), repaired_bound(START, T, k=20)
        slack = (1 - START.gamma ** (T + 1)) / (1 - START.gamma**T)
        assert ours.iteration_term == pytest.approx(slack * exact.iteration_term)
        assert ours.total - ours.iteration_term == pytest.approx(exact.floor)


def test_the_snippet_recomputes_the_table():
    page = opened(PAGE, tab="linear", T="9", kappa="1.05", elow="0.1", Lfrozen="1.3")
    scope: dict = {}
    exec(snippet(page), scope)
    fit = {"kappa": 1.05, "eps_low": 0.1, "eps_up": 0.2}
    state = LinearState(replace(START, l_frozen=1.3), 9, 20, fit)
    pd.testing.assert_frame_equal(scope["frame"], state.frame())
    assert list(scope["frame"]) == ["T", "proven", "as_stated", "without_features"]


def test_the_snippet_recomputes_the_terms():
    page = opened(PAGE, tab="linear", T="9", kappa="1.05", elow="0.1")
    scope: dict = {}
    exec(snippet(page, 1), scope)
    fit = {"kappa": 1.05, "eps_low": 0.1, "eps_up": 0.2}
    pd.testing.assert_frame_equal(scope["frame"], LinearState(START, 9, 20, fit).terms_frame())


def test_without_rewards_nothing_is_called_vacuous():
    page = opened(PAGE, tab="linear", rmax="0", LU="0", Lr="0", elow="0", eup="0")
    assert "every regret is 0" in words(page) and "vacuous" not in words(page)
    assert not any(metric.delta for metric in page.metric)
