"""The Linear architecture page without a browser."""

import numpy as np
import pandas as pd
import pytest

from fsdash.dashboard.linear_architecture import text
from fsdash.dashboard.linear_architecture.state import LinearState, bound_frame, terms_frame
from fsdash.dashboard.shell import FROZEN_DYNAMICS_CONDITION
from fsdash.formatting import factor, number
from fsdash.theory import Constants, fsavi_regret, fsvi_regret, trivial_bound
from fsdash.theory.presets import PRESETS
from tests.dashboard.kit import figures, metrics, opened, snippet, traces, words

PAGE = "3_Linear_architecture.py"
START = PRESETS["three-regimes"].constants
FIT = {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2}
NAMES = ("T", "kappa", "elow", "eup", "gamma", "k", "alpha", "dY", "Lr", "Lf", "LU", "rmax")


def expected(constants: Constants, T: int, k: int, fit: dict[str, float]) -> dict[str, str]:
    return {
        text.CORRECTED: number(fsavi_regret(constants, T, k=k, **fit).total),
        text.STATED: number(fsavi_regret(constants, T, k=k, **fit, corrected=False).total),
        text.TRIVIAL: number(trivial_bound(constants)),
    }


def test_the_page_opens_with_the_librarys_numbers_and_curves():
    page = opened(PAGE)
    assert metrics(page) == expected(START, 6, 20, FIT)
    drawn, T = traces(figures(page)["bound"]), np.arange(1, 41)
    np.testing.assert_array_equal(
        drawn["corrected"]["y"], fsavi_regret(START, T, k=20, **FIT).total
    )
    np.testing.assert_array_equal(
        drawn["as stated"]["y"], fsavi_regret(START, T, k=20, **FIT, corrected=False).total
    )
    np.testing.assert_array_equal(
        drawn["exact tables (FSVI)"]["y"], fsvi_regret(START, T, k=20).total
    )


def test_the_bars_are_the_terms_and_add_up():
    bars = figures(opened(PAGE, T="3"))["terms"]["data"]
    stated = fsavi_regret(START, 3, k=20, **FIT, corrected=False)
    corrected = fsavi_regret(START, 3, k=20, **FIT)
    sums = np.sum([bar["x"] for bar in bars], axis=0)
    np.testing.assert_allclose(sums, [stated.total, corrected.total])


def test_moving_the_controls_moves_the_numbers():
    page = opened(PAGE)
    page.slider(key="linear-architecture.T").set_value(15)
    page.slider(key="linear-architecture.kappa").set_value(1.1)
    page.select_slider(key="linear-architecture.elow").set_value(0.5)
    page.select_slider(key="linear-architecture.k").set_value(3).run()
    fit = {"kappa": 1.1, "eps_low": 0.5, "eps_up": 0.2}
    assert metrics(page) == expected(START, 15, 3, fit)


def test_example_features_fill_the_controls():
    page = opened(PAGE)
    page.button(key="load-perfect").click().run()
    assert metrics(page) == expected(START, 6, 20, {"kappa": 1, "eps_low": 0, "eps_up": 0})


def test_a_link_restores_the_view():
    page = opened(PAGE, T="9", kappa="1.05", elow="0.1", eup="1.0", gamma="0.8", k="5")
    constants = Constants(gamma=0.8, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10)
    assert metrics(page) == expected(constants, 9, 5, {"kappa": 1.05, "eps_low": 0.1, "eps_up": 1})
    assert not page.warning


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "<b>"])
def test_unusable_values_in_the_link_are_reported(junk):
    page = opened(PAGE, **dict.fromkeys(NAMES, junk))
    assert metrics(page) == expected(START, 6, 20, FIT)
    (notice,) = page.warning
    assert all(f"`{name}=" in notice.value for name in NAMES)


def test_misfits_may_be_written_as_whole_numbers():
    page = opened(PAGE, elow="0", eup="5")
    assert not page.warning
    assert metrics(page) == expected(START, 6, 20, {"kappa": 1.02, "eps_low": 0, "eps_up": 5})


@pytest.mark.parametrize(("kappa", "gamma"), [("1.2", "0.9"), ("1.25", "0.8"), ("1.3", "0.999")])
def test_a_fit_that_may_diverge_is_reported_with_the_remedy(kappa, gamma):
    page = opened(PAGE, kappa=kappa, gamma=gamma)
    (warning,) = page.warning
    product, critical = factor(float(kappa) * float(gamma)), 1 / float(gamma)
    assert warning.value == text.MAY_DIVERGE.format(product=product, critical=critical)
    assert not page.metric


@pytest.mark.parametrize("query", [{"rmax": "0", "LU": "0", "Lr": "0"}, {"T": "40", "Lf": "1000"}])
def test_extreme_constants_never_raise(query):
    opened(PAGE, **query)


@pytest.mark.parametrize(
    ("T", "sentence"),
    [(8, text.LARGE_FACTOR), (9, text.OUTWEIGHED), (10, text.OUTWEIGHED), (11, text.SMALL_FACTOR)],
)
def test_the_page_says_which_version_of_the_bound_is_smaller(T, sentence):
    # γᵀ = 1/3 lies between T = 10 and T = 11, but the other factor dominates from T = 9 on.
    assert sentence.format(T=T, share=START.gamma**T) in words(opened(PAGE, T=str(T)))
    corrected, stated = (
        fsavi_regret(START, T, k=20, **FIT, corrected=version).total for version in (True, False)
    )
    assert (corrected > stated) == (T == 8)


def test_the_unstated_condition_of_the_theorem_is_shown():
    assert FROZEN_DYNAMICS_CONDITION in words(opened(PAGE))


def test_the_exercises_numbers_are_the_librarys():
    costs = {
        T: fsavi_regret(START, T, k=20, kappa=1.02, eps_low=0.1, eps_up=0.1) for T in range(1, 41)
    }
    assert [T for T, cost in costs.items() if cost.upper_fit_term > cost.lower_fit_term] == [1]
    rounded = [round(costs[1].upper_fit_term), round(costs[1].lower_fit_term)]
    assert rounded == [44, 18] and round(costs[2].lower_fit_term) == 15
    assert round(costs[2].upper_fit_term, 1) == 9.9


def test_the_snippet_recomputes_the_table():
    page = opened(PAGE, T="9", kappa="1.05", elow="0.1")
    scope: dict = {}
    exec(snippet(page), scope)
    fit = {"kappa": 1.05, "eps_low": 0.1, "eps_up": 0.2}
    pd.testing.assert_frame_equal(scope["frame"], bound_frame(LinearState(START, 9, 20, fit)))


def test_the_snippet_recomputes_the_terms():
    page = opened(PAGE, T="9", kappa="1.05", elow="0.1")
    scope: dict = {}
    exec(snippet(page, 1), scope)
    fit = {"kappa": 1.05, "eps_low": 0.1, "eps_up": 0.2}
    pd.testing.assert_frame_equal(scope["frame"], terms_frame(LinearState(START, 9, 20, fit)))


def test_without_rewards_nothing_is_called_vacuous():
    page = opened(PAGE, rmax="0", LU="0", Lr="0", elow="0", eup="0")
    assert text.NO_REWARD in words(page) and text.VACUOUS not in words(page)
    assert not any(metric.delta for metric in page.metric)
