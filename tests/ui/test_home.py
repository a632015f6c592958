"""The home page without a browser: its numbers, its links, and input that is not usable."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fsdash.theory import Constants, fsvi_regret, reward_error, trivial_bound
from fsdash.theory.presets import PRESETS
from fsdash.ui.reading import number

APP = str(Path(__file__).parents[2] / "app.py")
CALM = PRESETS["reward-error-small"].constants


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(APP, default_timeout=30)
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def metrics(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


def expected(constants: Constants, T: int, k: int = 50) -> dict[str, str]:
    error = reward_error(constants, T)
    return {
        "Freeze": number(error.freeze),
        "End of horizon": number(error.end_of_horizon),
        "Reward error": number(error.total),
        "Regret bound": number(fsvi_regret(constants, T, k).total),
        "Trivial bound": number(trivial_bound(constants)),
    }


def words(page: AppTest) -> str:
    return " ".join(markdown.value for markdown in page.markdown)


def test_the_page_opens_with_the_librarys_numbers():
    page = opened()
    assert page.title[0].value == "When does freezing slow states pay?"
    assert metrics(page) == expected(CALM, 12)


def test_the_figure_on_the_page_holds_the_librarys_curve():
    (chart,) = opened().get("plotly_chart")
    traces = {trace["name"]: trace for trace in json.loads(chart.proto.spec)["data"]}
    mark = traces["total at T=12"]
    assert mark["x"] == [12]
    np.testing.assert_allclose(mark["y"], reward_error(CALM, 12).total)


def test_moving_the_sliders_moves_the_numbers():
    page = opened()
    page.slider(key="T").set_value(40)
    page.slider(key="Lf").set_value(1.05)
    page.select_slider(key="alpha").set_value(0.2)
    page.select_slider(key="k").set_value(5).run()
    assert not page.exception
    assert metrics(page) == expected(Constants(0.953, 0.2, 1, 0.5, 1.05, 1, 1), 40, 5)


def test_a_link_restores_the_view():
    page = opened(T="30", gamma="0.9", alpha="0.05", Lf="1.2", LU="0.05", rmax="10", k="2")
    assert metrics(page) == expected(Constants(0.9, 0.05, 1, 0.5, 1.2, 0.05, 10), 30, 2)


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "nan", "12,13", "<b>", "9" * 400])
def test_junk_in_the_link_is_ignored(junk):
    names = ("T", "gamma", "alpha", "Lf", "dY", "Lr", "LU", "rmax", "k")
    page = opened(**dict.fromkeys(names, junk))
    assert not page.error
    assert metrics(page) == expected(CALM, 12)


@pytest.mark.parametrize("T", [1, 2, 150])
@pytest.mark.parametrize("gamma", [0.5, 0.999])
@pytest.mark.parametrize("l_f", [0.5, 1.0, 1.5])
def test_extreme_sliders_never_raise(T, gamma, l_f):
    page = opened(T=str(T), gamma=str(gamma), alpha="1.0", Lf=str(l_f))
    assert metrics(page) == expected(Constants(gamma, 1, 1, 0.5, l_f, 1, 1), T)


@pytest.mark.parametrize("value", ["0.0", "1000000.0"])
def test_extreme_constants_never_raise(value):
    page = opened(dY=value, Lr=value, LU=value, rmax=value, k="0")
    v = float(value)
    assert metrics(page) == expected(Constants(0.953, 0.01, v, v, 0.99, v, v), 12, 0)


def test_a_vacuous_bound_is_called_so_and_a_useful_one_is_not():
    page = opened()
    assert "**vacuous**" in words(page)
    page.button(key="three-regimes").click().run()
    assert metrics(page) == expected(PRESETS["three-regimes"].constants, 12)
    assert "vacuous" not in words(page)
    assert "informative" in words(page)


@pytest.mark.parametrize(
    ("T", "l_f", "said"),
    [
        ("1", "0.99", "nothing is frozen"),
        ("12", "0.99", "end-of-horizon error"),
        ("150", "0.99", "freeze error"),
        ("12", "1.05", "no ceiling"),
        ("12", "0.99", "stay bounded"),
    ],
)
def test_the_words_fit_the_numbers(T, l_f, said):
    assert said in words(opened(T=T, Lf=l_f))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.1919, "0.192"),
        (261.2, "261"),
        (999.9999, "1,000"),
        (12345.6, "12,346"),
        (3.2e-7, "3.20e-7"),
        (9.99e6, "9.99e6"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_are_short(value, text):
    assert number(value) == text
