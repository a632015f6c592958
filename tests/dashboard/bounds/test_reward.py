"""The tab Reward error of the Bounds page: its numbers, figures and link, and unusable input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fsdash.dashboard.bounds.state import (
    LONGEST_BLOCK,
    PANELS,
    START,
    START_T,
    ceiling_frame,
    reward_error_frame,
)
from fsdash.dashboard.bounds.view import TABS
from fsdash.dashboard.widgets.url_state import UNUSABLE
from fsdash.formatting import number
from fsdash.theory import Constants, reward_error
from fsdash.theory.landmarks import freeze_error_limit
from fsdash.theory.presets import PRESETS
from tests.dashboard.kit import (
    address,
    figures,
    follow_link,
    metrics,
    opened,
    snippet,
    traces,
    words,
)

PAGE = "2_Bounds.py"
CALM = PRESETS["reward-error-small"].constants
PAPER = {
    **{"gamma": "0.953", "alpha": "0.01", "Lf": "0.99", "LU": "1", "rmax": "1"},
    "range": "150",
}
"""The constants of the paper's figure in the URL."""
NAMES = ("T", "range", "gamma", "alpha", "Lf", "dY", "Lr", "LU", "rmax")


def expected(constants: Constants, T: int) -> dict[str, str]:
    error = reward_error(constants, T)
    return {
        "Freeze error": number(error.freeze),
        "End-of-horizon error": number(error.end_of_horizon),
        "Reward error": number(error.total),
    }


def paper(**query: str):
    """The page with the constants of the paper's figure, unless the query has others."""
    return opened(PAGE, **{**PAPER, **query})


def test_the_page_opens_with_the_librarys_numbers_and_curves():
    page = paper()
    assert metrics(page) == expected(CALM, 6)
    drawn = traces(figures(page)["error"])
    curves = reward_error(CALM, np.arange(1, 151))
    np.testing.assert_array_equal(drawn["freeze"]["y"], curves.freeze)
    np.testing.assert_array_equal(drawn["end of horizon"]["y"], curves.end_of_horizon)
    np.testing.assert_array_equal(drawn["total"]["y"], curves.total)


def test_moving_the_controls_moves_numbers_and_curves():
    page = paper()
    page.slider(key="bounds.T").set_value(40)
    page.number_input(key="bounds.Lf").set_value(1.05)
    page.select_slider(key="bounds.range").set_value(50)
    page.number_input(key="bounds.alpha").set_value(0.2).run()
    constants = Constants(gamma=0.953, alpha=0.2, d_y=1, l_r=0.5, l_f=1.05, l_u=1, r_max=1)
    assert metrics(page) == expected(constants, 40)
    drawn = traces(figures(page)["error"])["total"]
    np.testing.assert_array_equal(drawn["x"], np.arange(1, 51))
    np.testing.assert_allclose(drawn["y"], reward_error(constants, np.arange(1, 51)).total)


@pytest.mark.parametrize("name", PANELS)
def test_the_constants_of_the_papers_two_panels_can_be_loaded(name):
    page = opened(PAGE, T="30")
    page.button(key=f"load-{name}").click().run()
    constants = PRESETS[name].constants
    assert metrics(page) == expected(constants, 30)
    drawn = traces(figures(page)["error"])["total"]
    np.testing.assert_array_equal(drawn["y"], reward_error(constants, np.arange(1, 151)).total)


def test_the_page_opens_where_the_bound_says_something():
    page = opened(PAGE)
    assert metrics(page) == expected(START.constants, START_T)
    assert "vacuous" not in words(page)


def test_a_link_restores_the_view():
    page = paper(T="30", gamma="0.9", alpha="0.05", Lf="1.2", LU="0.05", rmax="10")
    assert metrics(page) == expected(
        Constants(gamma=0.9, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10), 30
    )
    assert not page.warning


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "nan", "12,13", "<b>", "9" * 400])
def test_unusable_values_in_the_link_are_reported(junk):
    page = opened(PAGE, **dict.fromkeys(NAMES, junk))
    assert metrics(page) == expected(START.constants, START_T)
    (notice,) = page.warning
    assert all(f"`{name}=" in notice.value for name in NAMES)
    assert UNUSABLE in notice.value


@pytest.mark.parametrize("T", ["13.5", ["5", "9"], ["abc", "5.5"]])
def test_a_T_that_the_slider_cannot_show_is_reported_and_the_default_is_used(T):
    page = paper(T=T)
    (notice,) = page.warning
    assert "`T=" in notice.value
    assert metrics(page) == expected(CALM, 6)


def test_a_number_may_be_written_in_any_form():
    page = paper(alpha="0", range="5e1", T="30.0")
    assert not page.warning
    assert metrics(page) == expected(replace(CALM, alpha=0), 30)
    assert len(traces(figures(page)["error"])["total"]["x"]) == 50


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"gamma": "2"}, "`gamma=2`: give a number from 0 to 1 (below 1)"),
        ({"range": "60"}, "`range=60`: give one of 10, 20,"),
        ({"T": "13.5"}, "`T=13.5`: give a whole number from 1 to 150"),
    ],
)
def test_a_bad_link_is_reported_with_the_remedy(query, said):
    (notice,) = paper(**query).warning
    assert said in notice.value


def test_an_unknown_parameter_is_reported():
    page = paper(colour="red", T="20")
    (notice,) = page.warning
    assert "`colour=red`" in notice.value and "T=20" not in notice.value
    assert metrics(page) == expected(CALM, 20)


@pytest.mark.slow
@pytest.mark.parametrize("T", [1, 2, 150])
@pytest.mark.parametrize(("gamma", "l_f"), [(0.5, 0.5), (0.999, 1.0), (0.999, 1.5), (0.5, 1.5)])
def test_extreme_sliders_never_raise(T, gamma, l_f):
    page = paper(T=str(T), gamma=str(gamma), alpha="1.0", Lf=str(l_f))
    assert metrics(page) == expected(
        Constants(gamma=gamma, alpha=1, d_y=1, l_r=0.5, l_f=l_f, l_u=1, r_max=1), T
    )


@pytest.mark.parametrize("value", ["0", "1000000"])
def test_extreme_constants_never_raise(value):
    page = paper(dY=value, Lr=value, LU=value, rmax=value)
    v = float(value)
    assert metrics(page) == expected(
        Constants(gamma=0.953, alpha=0.01, d_y=v, l_r=v, l_f=0.99, l_u=v, r_max=v), 6
    )


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"T": "1"}, "With T = 1 nothing is frozen"),
        ({}, "At T = 6 the **end-of-horizon error** is the larger one"),
        ({"T": "150"}, "At T = 150 the **freeze error** is the larger one"),
        ({"Lf": "1.05"}, "L_f = 1.001 \\ge 1$"),
        ({"Lf": "1.05"}, f"L_f < 1/\\gamma = {1 / 0.953:.3f}$"),
        ({}, "0.9435 < 1$"),
        ({}, f"stays below {number(freeze_error_limit(CALM))}**"),
        ({"Lf": "1.03"}, "It approaches this limit slowly."),
        ({}, "The total peaks at T = 23 with 15.2"),
        ({}, "small on both sides of the peak"),
        ({"Lf": "1.2"}, "Up to T = 150 each further period raises the bound, to 1.08e8."),
        ({"Lf": "1.2"}, "grows without limit, because γL_f = 1.144 ≥ 1"),
        ({"Lf": "1.05"}, "its minimum, 9.57 at T = 84, and then grows again, to 14 at"),
        ({"Lf": "1.05"}, "grows without limit, because γL_f = 1.001 ≥ 1"),
        ({"Lf": "1.05", "gamma": "0.95"}, " at T = 150. As T grows further, it tends to"),
        ({"Lf": "1.05", "gamma": "0.96"}, "The total peaks at T = 29 with 18.8"),
        ({"range": "10"}, f"raises the bound, to {number(reward_error(CALM, 10).total)}."),
        ({"range": "10"}, f"it tends to {number(freeze_error_limit(CALM))}."),
        ({"LU": "0", "gamma": "0.8"}, "The total rises to 0.0962 and levels off."),
        ({"alpha": "0.0"}, "There is no freeze error here"),
        ({"gamma": "0.5"}, "2$ is larger than every $L_f$ shown"),
        ({"gamma": "0.7"}, "To the left of the dashed line"),
        ({"T": "150", "range": "10"}, "T = 150 is outside the range shown."),
        ({"range": "300"}, "You can choose T up to 150"),
        ({"T": "23"}, "One more period would hardly change the total, 15.2."),
        ({"gamma": "0.952", "Lf": "1.05"}, "0.9996 < 1"),
    ],
)
def test_the_sentences_fit_the_numbers(query, sentence):
    assert sentence in words(paper(**query))


def test_the_formula_shows_the_numbers_of_the_chosen_T():
    page = paper(T="30", alpha="0.1")
    error = reward_error(
        Constants(gamma=0.953, alpha=0.1, d_y=1, l_r=0.5, l_f=0.99, l_u=1, r_max=1), 30
    )
    total = page.latex[-1].value
    for value in (error.freeze, error.end_of_horizon, error.total):
        assert f"{value:.3g}" in total
    assert "0.953^{29}" in page.latex[3].value


@pytest.mark.parametrize(("last", "rows"), [(50, 50), (20, 30)])  # the chosen T is always in it
def test_the_snippet_recomputes_the_table(last, rows):
    page = paper(T="30", Lf="1.2", range=str(last))
    scope: dict = {}
    exec(snippet(page), scope)
    constants = Constants(gamma=0.953, alpha=0.01, d_y=1, l_r=0.5, l_f=1.2, l_u=1, r_max=1)
    pd.testing.assert_frame_equal(scope["frame"], reward_error_frame(constants, rows))


def test_the_snippet_recomputes_the_limit():
    scope: dict = {}
    exec(snippet(paper(T="30", alpha="0.1"), 1), scope)
    pd.testing.assert_frame_equal(scope["frame"], ceiling_frame(replace(CALM, alpha=0.1), 30))


def test_the_tabs_share_the_constants_and_keep_their_own_values():
    page = opened(PAGE, T="60", gamma="0.8", range="100")
    page.session_state["bounds.tab"] = TABS["regret"]
    page.run()
    assert page.number_input(key="bounds.gamma").value == 0.8
    assert address(page) == {"tab": "regret", "T": "60", "gamma": "0.8", "range": "100"}
    page.number_input(key="bounds.budget").set_value(9.0).run()
    page.session_state["bounds.tab"] = TABS["linear"]
    page.run()
    assert page.slider(key="bounds.T").value == LONGEST_BLOCK["linear"], "T = 60 is too large here"
    page.session_state["bounds.tab"] = TABS["regret"]
    page.run()
    assert page.number_input(key="bounds.budget").value == 9.0


def test_another_page_does_not_inherit_values():
    page = follow_link(paper(gamma="0.9"), "3_Choose_T.py")
    page.number_input(key="choose-t.budget").set_value(8.0).run()
    assert metrics(follow_link(page, PAGE)) == expected(START.constants, START_T)
