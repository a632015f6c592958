"""The figures show the library's numbers, and nothing else."""

import re
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fsdash.figures.palette import (
    BACKGROUND,
    CATEGORICAL,
    FAMILY_COLOURS,
    INK,
    OTHER_FAMILY_COLOURS,
    PANEL,
    TERMS,
    algorithm_colour,
    fsvi_colour,
)
from fsdash.figures.reward_error import NAMES, ceiling_figure, reward_error_figure
from fsdash.figures.timescales import periods_shown, timescales_svg
from fsdash.theory import Constants, reward_error
from fsdash.theory.landmarks import freeze_error, freeze_error_limit, peak

CALM = Constants(gamma=0.953, alpha=0.01, d_y=1, l_r=0.5, l_f=0.99, l_u=1, r_max=1)
WILD = Constants(gamma=0.999, alpha=1, d_y=1, l_r=1, l_f=1.5, l_u=1, r_max=1)
STILL = Constants(gamma=0.5, alpha=0, d_y=0, l_r=0, l_f=0.5, l_u=0, r_max=0)
T_VALUES = np.arange(1, 151)
CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def labels(figure, text):
    return [label for label in figure.layout.annotations if text in label.text]


def trace(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


@pytest.mark.parametrize("constants", [CALM, WILD, STILL])
def test_the_curves_are_the_librarys_values(constants):
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


def test_a_chosen_T_beyond_the_range_has_no_marks():
    figure = reward_error_figure(CALM, np.arange(1, 21), 60)
    assert not [trace for trace in figure.data if "at T" in trace.name]


def test_the_peak_of_the_total_is_labelled_where_there_is_one():
    (label,) = labels(reward_error_figure(CALM, T_VALUES, 12), "peak")
    found = peak(CALM, T_VALUES)
    assert (label.x, label.y) == (found.T, found.value) and str(found.T) in label.text
    assert not labels(reward_error_figure(WILD, T_VALUES, 12), "peak")
    assert not labels(reward_error_figure(STILL, T_VALUES, 12), "peak")


def test_the_grey_is_called_vacuous_wherever_it_is_drawn():
    assert labels(reward_error_figure(CALM, T_VALUES, 12), "vacuous")
    assert not labels(reward_error_figure(replace(CALM, r_max=1e6), T_VALUES, 12), "vacuous")


def test_a_chosen_T_beyond_the_range_is_pointed_at():
    assert labels(reward_error_figure(CALM, np.arange(1, 21), 60), "T = 60 ▸")
    assert not labels(reward_error_figure(CALM, T_VALUES, 60), "T = 60 ▸")


@pytest.mark.parametrize(("gamma", "side"), [(0.953, "left"), (0.7, "right"), (0.667, "right")])
def test_the_label_of_the_crossing_has_room_beside_its_line(gamma, side):
    (label,) = labels(ceiling_figure(replace(CALM, gamma=gamma), 12), "no ceiling")
    assert label.xanchor == side


def test_without_a_freeze_error_the_ceiling_figure_says_so():
    layout = ceiling_figure(replace(CALM, alpha=0), 12).layout
    assert not layout.shapes and [label.text for label in layout.annotations] == [
        "no freeze error at any L_f"
    ]


@pytest.mark.parametrize("T", [3, 40])
def test_the_ceiling_figure_shows_the_librarys_values_and_the_crossing(T):
    figure = ceiling_figure(CALM, T)
    here, above = trace(figure, f"freeze error at T = {T}"), trace(figure, "ceiling over all T")
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


def test_the_last_tick_leaves_room_for_the_name_of_the_axis():
    for T in range(1, 13):
        for width in (700, 360):
            ticks = re.findall(
                r'<text x="([\d.]+)" y="352.0" text-anchor="start"', timescales_svg(T, width)
            )
            assert float(ticks[-1]) < width - 76


def test_a_value_beyond_the_figure_is_marked_at_its_edge_by_an_arrow():
    figure = reward_error_figure(WILD, T_VALUES, 150)
    mark = trace(figure, "total at T=150")
    assert mark.y[0] == figure.layout.yaxis.range[1]
    assert mark.marker.symbol == "triangle-up"


def test_the_largest_reward_is_drawn_where_it_is_a_yardstick():
    figure = reward_error_figure(CALM, T_VALUES, 12)
    [line] = [trace for trace in figure.data if trace.name == "largest reward"]
    literal = [CALM.r_max * sum(CALM.gamma**t for t in range(T)) for T in T_VALUES]
    np.testing.assert_allclose(line.y, literal)
    generous = replace(CALM, r_max=1e6)
    names = [trace.name for trace in reward_error_figure(generous, T_VALUES, 12).data]
    assert "largest reward" not in names


@pytest.mark.parametrize("constants", [CALM, WILD, STILL])
@pytest.mark.parametrize("dark", [False, True])
def test_the_axes_are_labelled_and_have_room(constants, dark):
    layout = reward_error_figure(constants, T_VALUES, 12, dark).layout
    assert layout.xaxis.title.text and layout.yaxis.title.text
    low, high = layout.yaxis.range
    assert low == 0 < high < np.inf


@pytest.mark.parametrize("T", [1, 2, 3, 12, 24, 150])
def test_the_timeline_has_one_upper_cell_for_each_whole_block(T):
    shown = periods_shown(T, 24)
    assert shown % T == 0 and shown >= 24 and shown >= 2 * T
    assert timescales_svg(T).count(">μ<") in (shown // T, 0)
    assert timescales_svg(T).count(">ν<") in (shown, 0)
    assert "π₁₁" in timescales_svg(12) and "π" not in timescales_svg(1)
    assert "nan" not in timescales_svg(T)


def luminance(colour: str) -> float:
    """Relative luminance as the accessibility guidelines of the web define it."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_stands_out_from_the_background(dark):
    colours = [*CATEGORICAL, *TERMS.values(), *map(fsvi_colour, (1, 2, 3, 6, 12, 25, 1000))]
    for colour in colours:
        assert contrast(colour.on(dark), BACKGROUND.on(dark)) >= 3, colour


@pytest.mark.parametrize("dark", [False, True])
def test_the_theme_has_the_background_of_the_palette_and_no_chart_colours(dark):
    theme = tomllib.loads(CONFIG.read_text())["theme"]["dark" if dark else "light"]
    assert "chartCategoricalColors" not in theme  # they are in the palette alone
    assert theme["backgroundColor"] == BACKGROUND.on(dark)
    assert theme["secondaryBackgroundColor"] == PANEL.on(dark)
    assert theme["textColor"] == INK.on(dark)


@pytest.mark.parametrize("dark", [False, True])
def test_an_unknown_family_has_a_colour_that_no_known_family_has(dark):
    known = {colour.on(dark) for colour in FAMILY_COLOURS.values()}
    for family in ("toy", "policy gradient", "SARSA", "", "FSVI"):
        colour = algorithm_colour(family).on(dark)
        assert colour not in known and colour == algorithm_colour(family).on(dark)
    for colour in OTHER_FAMILY_COLOURS:
        assert contrast(colour.on(dark), BACKGROUND.on(dark)) >= 3, colour


def test_fsvi_keeps_one_colour_for_one_T_and_tells_values_of_T_apart():
    assert fsvi_colour(6) == fsvi_colour(6)
    assert len({fsvi_colour(T).light for T in (2, 3, 4, 6, 9, 12, 16, 25)}) == 8


def lab(colour: str) -> np.ndarray:
    """CIE L*a*b*, in which distances are about what the eye sees."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(to_xyz @ linear / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True])
def test_the_values_of_T_on_the_first_screen_can_be_told_apart(dark):
    colours = [lab(fsvi_colour(T).on(dark)) for T in (2, 4, 9, 16, 25)]
    distances = [np.linalg.norm(a - b) for a, b in pairwise(colours)]
    assert min(distances) > 20
