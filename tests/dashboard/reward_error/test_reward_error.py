"""The Reward error page without a browser: its numbers, its figures, its link, unusable input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fsdash.dashboard.reward_error import text
from fsdash.dashboard.reward_error.state import ceiling_frame, reward_error_frame

from fsdash.dashboard.widgets.controls import NO_DISCOUNTING
from fsdash.dashboard.widgets.url_state import UNUSABLE
from fsdash.formatting import number
from fsdash.theory import Constants, reward_error
from fsdash.theory.landmarks import freeze_error_limit
from fsdash.theory.presets import PRESETS
from tests.dashboard.kit import figures, follow_link, metrics, opened, snippet, traces, words

PAGE = "1_Reward_error.py"
CALM = PRESETS["reward-error-small"].constants
NAMES = ("T", "range", "gamma", "alpha", "Lf", "dY", "Lr", "LU", "rmax")


def expected(constants: Constants, T: int) -> dict[str, str]:
    error = reward_error(constants, T)
    return {
        text.FREEZE: number(error.freeze),
        text.END_OF_HORIZON: number(error.end_of_horizon),
        text.TOTAL: number(error.total),
    }


def rises_again(**found) -> str:
    return text.FALLS_AND_RISES.format(last=150, **found)


def test_the_page_opens_with_the_librarys_numbers_and_curves():
    page = opened(PAGE)
    assert metrics(page) == expected(CALM, 12)
    drawn = traces(figures(page)["error"])
    curves = reward_error(CALM, np.arange(1, 151))
    np.testing.assert_array_equal(drawn["freeze"]["y"], curves.freeze)
    np.testing.assert_array_equal(drawn["end of horizon"]["y"], curves.end_of_horizon)
    np.testing.assert_array_equal(drawn["total"]["y"], curves.total)


def test_moving_the_controls_moves_numbers_and_curves():
    page = opened(PAGE)
    page.slider(key="reward-error.T").set_value(40)
    page.slider(key="reward-error.Lf").set_value(1.05)
    page.select_slider(key="reward-error.range").set_value(50)
    page.select_slider(key="reward-error.alpha").set_value(0.2).run()
    constants = Constants(gamma=0.953, alpha=0.2, d_y=1, l_r=0.5, l_f=1.05, l_u=1, r_max=1)
    assert metrics(page) == expected(constants, 40)
    drawn = traces(figures(page)["error"])["total"]
    np.testing.assert_array_equal(drawn["x"], np.arange(1, 51))
    np.testing.assert_allclose(drawn["y"], reward_error(constants, np.arange(1, 51)).total)


def test_the_papers_two_panels_are_shown_and_can_be_loaded():
    page = opened(PAGE, T="30", gamma="0.9")
    for name in ("reward-error-small", "reward-error-large"):
        drawn = traces(figures(page)[name])["total"]
        constants = PRESETS[name].constants
        np.testing.assert_array_equal(drawn["y"], reward_error(constants, np.arange(1, 151)).total)
    page.button(key="load-reward-error-large").click().run()
    assert metrics(page) == expected(PRESETS["reward-error-large"].constants, 30)


def test_a_link_restores_the_view():
    page = opened(PAGE, T="30", gamma="0.9", alpha="0.05", Lf="1.2", LU="0.05", rmax="10")
    assert metrics(page) == expected(
        Constants(gamma=0.9, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10), 30
    )
    assert not page.warning


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "nan", "12,13", "<b>", "9" * 400])
def test_unusable_values_in_the_link_are_reported(junk):
    page = opened(PAGE, **dict.fromkeys(NAMES, junk))
    assert metrics(page) == expected(CALM, 12)
    (notice,) = page.warning
    assert all(f"`{name}=" in notice.value for name in NAMES)
    assert UNUSABLE in notice.value


@pytest.mark.parametrize("T", ["13.5", ["5", "9"], ["abc", "5.5"]])
def test_a_T_that_the_slider_cannot_show_is_reported_and_the_default_is_used(T):
    page = opened(PAGE, T=T)
    (notice,) = page.warning
    assert "`T=" in notice.value
    assert metrics(page) == expected(CALM, 12)


def test_a_number_may_be_written_in_any_form():
    page = opened(PAGE, alpha="0", range="5e1", T="30.0")
    assert not page.warning
    assert metrics(page) == expected(replace(CALM, alpha=0), 30)
    assert len(traces(figures(page)["error"])["total"]["x"]) == 50


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"gamma": "1"}, f"`gamma=1`: give a number from 0.5 to 0.999{NO_DISCOUNTING}"),
        ({"Lf": "2"}, "`Lf=2`: give a number from 0.5 to 1.5"),
        ({"alpha": "0.04"}, "`alpha=0.04`: give one of 0, 0.001,"),
        ({"T": "13.5"}, "`T=13.5`: give a whole number from 1 to 150"),
    ],
)
def test_a_bad_link_is_reported_with_the_remedy(query, said):
    (notice,) = opened(PAGE, **query).warning
    assert said in notice.value


def test_an_unknown_parameter_is_reported():
    page = opened(PAGE, colour="red", T="20")
    (notice,) = page.warning
    assert "`colour=red`" in notice.value and "T=20" not in notice.value
    assert metrics(page) == expected(CALM, 20)


@pytest.mark.slow
@pytest.mark.parametrize("T", [1, 2, 150])
@pytest.mark.parametrize(("gamma", "l_f"), [(0.5, 0.5), (0.999, 1.0), (0.999, 1.5), (0.5, 1.5)])
def test_extreme_sliders_never_raise(T, gamma, l_f):
    page = opened(PAGE, T=str(T), gamma=str(gamma), alpha="1.0", Lf=str(l_f))
    assert metrics(page) == expected(
        Constants(gamma=gamma, alpha=1, d_y=1, l_r=0.5, l_f=l_f, l_u=1, r_max=1), T
    )


@pytest.mark.parametrize("value", ["0", "1000000"])
def test_extreme_constants_never_raise(value):
    page = opened(PAGE, dY=value, Lr=value, LU=value, rmax=value)
    v = float(value)
    assert metrics(page) == expected(
        Constants(gamma=0.953, alpha=0.01, d_y=v, l_r=v, l_f=0.99, l_u=v, r_max=v), 12
    )


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"T": "1"}, text.NOTHING_FROZEN),
        ({}, text.END_DOMINATES.format(T=12)),
        ({"T": "150"}, text.FREEZE_DOMINATES.format(T=150)),
        ({"Lf": "1.05"}, text.NO_CEILING.format(product="1.001", critical=1 / 0.953)),
        ({}, text.CEILING.format(product="0.9435", ceiling=number(freeze_error_limit(CALM)))),
        ({"Lf": "1.03"}, text.SLOW_TO_CEILING),
        ({}, text.PEAK.format(top_T=23, top="15.2")),
        ({}, text.SMALL_ON_BOTH_SIDES),
        ({"Lf": "1.2"}, text.RISES.format(last=150, end="1.08e8")),
        ({"Lf": "1.2"}, text.GROWS_WITHOUT_LIMIT.format(product="1.144")),
        ({"Lf": "1.05"}, rises_again(low="9.57", low_T=84, end="14")),
        ({"Lf": "1.05"}, text.GROWS_WITHOUT_LIMIT.format(product="1.001")),
        ({"Lf": "1.05", "gamma": "0.95"}, " at T = 150. " + text.TENDS_TO[:20]),
        ({"Lf": "1.05", "gamma": "0.96"}, text.PEAK.format(top_T=29, top="18.8")),
        ({"range": "10"}, text.RISES.format(last=10, end=number(reward_error(CALM, 10).total))),
        ({"range": "10"}, text.TENDS_TO.format(limit=number(freeze_error_limit(CALM)))),
        ({"LU": "0", "gamma": "0.8"}, text.LEVELS_OFF.format(end="0.0962")),
        ({"alpha": "0.0"}, text.NO_FREEZE_ERROR),
        ({"alpha": "0.0"}, text.NOTHING_TO_DRAW),
        ({"gamma": "0.5"}, text.CRITICAL_NOT_SHOWN.format(critical=2)),
        ({"gamma": "0.7"}, text.CRITICAL_SHOWN),
        ({"T": "150", "range": "10"}, text.T_NOT_SHOWN.format(T=150)),
        ({"range": "300"}, text.LARGEST_T.format(largest=150)),
        ({"T": "23"}, text.HARDLY_CHANGES.format(total="15.2")),
        ({"gamma": "0.952", "Lf": "1.05"}, "0.9996 < 1"),
    ],
)
def test_the_sentences_fit_the_numbers(query, sentence):
    assert sentence in words(opened(PAGE, **query))


def test_the_formula_shows_the_numbers_of_the_chosen_T():
    page = opened(PAGE, T="30", alpha="0.1")
    error = reward_error(
        Constants(gamma=0.953, alpha=0.1, d_y=1, l_r=0.5, l_f=0.99, l_u=1, r_max=1), 30
    )
    total = page.latex[-1].value
    for value in (error.freeze, error.end_of_horizon, error.total):
        assert f"{value:.3g}" in total
    assert "0.953^{29}" in page.latex[3].value


@pytest.mark.parametrize(("last", "rows"), [(50, 50), (20, 30)])  # the chosen T is always in it
def test_the_snippet_recomputes_the_table(last, rows):
    page = opened(PAGE, T="30", Lf="1.2", range=str(last))
    scope: dict = {}
    exec(snippet(page), scope)
    constants = Constants(gamma=0.953, alpha=0.01, d_y=1, l_r=0.5, l_f=1.2, l_u=1, r_max=1)
    pd.testing.assert_frame_equal(scope["frame"], reward_error_frame(constants, rows))


def test_the_snippet_recomputes_the_ceiling_and_the_panels():
    page = opened(PAGE, T="30", alpha="0.1")
    tables = [ceiling_frame(replace(CALM, alpha=0.1), 30)]
    tables += [
        reward_error_frame(PRESETS[f"reward-error-{n}"].constants, 150) for n in ("small", "large")
    ]
    for place, table in enumerate(tables, 1):
        scope: dict = {}
        exec(snippet(page, place), scope)
        pd.testing.assert_frame_equal(scope["frame"], table)


def test_another_page_does_not_inherit_values():
    page = follow_link(opened(PAGE, gamma="0.9"), "3_Linear_architecture.py")
    page.slider(key="linear-architecture.gamma").set_value(0.8).run()
    assert metrics(follow_link(page, PAGE)) == expected(CALM, 12)
