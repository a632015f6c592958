"""The figures of the reward error show the library's numbers."""

from dataclasses import replace

import numpy as np
import pytest

from fsdash.figures.reward_error import NAMES, ceiling_figure, reward_error_figure
from fsdash.theory import Constants, reward_error
from fsdash.theory.landmarks import freeze_error, freeze_error_limit, peak
from tests.figures.kit import trace

CALM = Constants(gamma=0.953, alpha=0.01, d_y=1, l_r=0.5, l_f=0.99, l_u=1, r_max=1)
WILD = Constants(gamma=0.999, alpha=1, d_y=1, l_r=1, l_f=1.5, l_u=1, r_max=1)
STILL = Constants(gamma=0.5, alpha=0, d_y=0, l_r=0, l_f=0.5, l_u=0, r_max=0)
T_VALUES = np.arange(1, 151)


def labels(figure, text):
    return [label for label in figure.layout.annotations if text in label.text]


@pytest.mark.parametrize("constants", [CALM, WILD, STILL])
def test_the_curves_are_the_values_of_the_library(constants):
    figure = reward_error_figure(constants, T_VALUES, 12)
    expected = reward_error(constants, T_VALUES)
    for term, name in NAMES.items():
        np.testing.assert_array_equal(trace(figure, name).x, T_VALUES)
        np.testing.assert_array_equal(trace(figure, name).y, getattr(expected, term))


@pytest.mark.parametrize("T", [1, 12, 150])
def test_the_marks_are_at_the_chosen_T(T):
    figure = reward_error_figure(CALM, T_VALUES, T)
    expected = reward_error(CALM, T)
    for term, name in NAMES.items():
        mark = trace(figure, f"{name} at T={T}")
        assert (mark.x[0], mark.y[0]) == (T, getattr(expected, term))
    (handle,) = [shape for shape in figure.layout.shapes if shape.name == "handle"]
    assert handle.x0 == handle.x1 == T


def test_a_chosen_T_out_of_range_has_no_marks():
    figure = reward_error_figure(CALM, np.arange(1, 21), 60)
    assert not [trace for trace in figure.data if "at T" in trace.name]


def test_the_peak_of_the_total_is_labelled_if_there_is_one():
    (label,) = labels(reward_error_figure(CALM, T_VALUES, 12), "peak")
    found = peak(CALM, T_VALUES)
    assert (label.x, label.y) == (found.T, found.value) and str(found.T) in label.text
    assert not labels(reward_error_figure(WILD, T_VALUES, 12), "peak")
    assert not labels(reward_error_figure(STILL, T_VALUES, 12), "peak")


def test_the_grey_area_is_labelled_vacuous():
    assert labels(reward_error_figure(CALM, T_VALUES, 12), "vacuous")
    assert not labels(reward_error_figure(replace(CALM, r_max=1e6), T_VALUES, 12), "vacuous")


def test_a_chosen_T_out_of_range_is_labelled_at_the_edge():
    assert labels(reward_error_figure(CALM, np.arange(1, 21), 60), "T = 60 ▸")
    assert not labels(reward_error_figure(CALM, T_VALUES, 60), "T = 60 ▸")


@pytest.mark.parametrize(("gamma", "side"), [(0.953, "left"), (0.7, "right"), (0.667, "right")])
def test_the_label_of_the_crossing_is_on_the_side_with_room(gamma, side):
    (label,) = labels(ceiling_figure(replace(CALM, gamma=gamma), 12), "no limit")
    assert label.xanchor == side


def test_without_a_freeze_error_the_ceiling_figure_says_so():
    layout = ceiling_figure(replace(CALM, alpha=0), 12).layout
    assert not layout.shapes and [label.text for label in layout.annotations] == [
        "no freeze error at any L_f"
    ]


@pytest.mark.parametrize("T", [3, 40])
def test_the_ceiling_figure_shows_the_values_of_the_library_and_the_crossing(T):
    figure = ceiling_figure(CALM, T)
    here, above = trace(figure, f"freeze error at T = {T}"), trace(figure, "limit as T grows")
    np.testing.assert_array_equal(here.y, freeze_error(CALM, T, l_f=here.x))
    np.testing.assert_array_equal(above.y, freeze_error_limit(CALM, above.x))
    assert above.x[-1] < 1 / CALM.gamma
    assert [s.x0 for s in figure.layout.shapes if s.type == "line"] == [1 / CALM.gamma]
    (mark,) = [t for t in figure.data if t.name == "here"]
    assert (mark.x[0], mark.y[0]) == (CALM.l_f, freeze_error(CALM, T, l_f=CALM.l_f))


@pytest.mark.parametrize("constants", [STILL, WILD, replace(CALM, gamma=0.5)])
@pytest.mark.parametrize("T", [1, 2, 150])
def test_the_ceiling_figure_has_a_finite_range(constants, T):
    low, high = ceiling_figure(constants, T).layout.yaxis.range
    assert -np.inf < low < high < np.inf


def test_a_value_off_the_scale_is_marked_with_an_arrow_at_the_edge():
    figure = reward_error_figure(WILD, T_VALUES, 150)
    mark = trace(figure, "total at T=150")
    assert mark.y[0] == figure.layout.yaxis.range[1]
    assert mark.marker.symbol == "triangle-up"


def test_the_largest_reward_is_drawn_if_the_curves_come_near_it():
    figure = reward_error_figure(CALM, T_VALUES, 12)
    [line] = [trace for trace in figure.data if trace.name == "largest reward"]
    literal = [CALM.r_max * sum(CALM.gamma**t for t in range(T)) for T in T_VALUES]
    np.testing.assert_allclose(line.y, literal)
    generous = replace(CALM, r_max=1e6)
    names = [trace.name for trace in reward_error_figure(generous, T_VALUES, 12).data]
    assert "largest reward" not in names


@pytest.mark.parametrize("constants", [CALM, WILD, STILL])
def test_the_axes_are_labelled_and_finite(constants):
    layout = reward_error_figure(constants, T_VALUES, 12).layout
    assert layout.xaxis.title.text and layout.yaxis.title.text
    low, high = layout.yaxis.range
    assert low == 0 < high < np.inf
