"""The drawings of the timescales and of the two levels match T and the step."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from fsdash.figures.levels import (
    BLOCKS,
    describe_lower_level,
    describe_upper_level,
    lower_level_svg,
    upper_level_svg,
)
from fsdash.figures.timescales import describe_period, periods_shown, timescales_svg


@pytest.mark.parametrize("T", [1, 2, 5, 12])
@pytest.mark.parametrize("width", [360, 700])
def test_every_drawing_is_well_formed(T, width):
    drawings = [lower_level_svg(T, step, width) for step in range(T)]
    drawings += [upper_level_svg(T, step, 0.95, width) for step in range(BLOCKS)]
    drawings += [timescales_svg(T, width, 12, now) for now in (None, 0, T)]
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert "nan" not in drawing and "inf" not in drawing


def test_each_step_of_the_lower_level_fills_one_more_value():
    drawn = [lower_level_svg(5, step) for step in range(5)]
    assert [drawing.count(">J") for drawing in drawn] == [0, 1, 2, 3, 4]
    assert ">J₄<" in drawn[1] and ">J₁<" in drawn[4]
    assert "J₄" in describe_lower_level(5, 1) and "Done" in describe_lower_level(5, 4)


@pytest.mark.parametrize("width", [360, 700])
def test_the_upper_level_steps_T_periods_at_a_time(width):
    drawing = upper_level_svg(4, 1, 0.9, width)
    for state in ("s₀", "s₄", "s₈", "s₁₂"):
        assert f">{state}<" in drawing
    assert f"{0.9**4:.2f}" in drawing and f"{0.9**8:.2f}" in drawing
    assert f"{0.9**4:.2f}" in describe_upper_level(4, 1, 0.9)


@pytest.mark.parametrize("width", [360, 700])
def test_labels_of_states_do_not_overlap(width):
    for T in range(2, 13):
        names = re.findall(r'<text x="([\d.]+)"[^>]*>y[₀-₉]+<', lower_level_svg(T, 0, width))
        places = sorted({float(x) for x in names})
        assert all(b - a >= 40 for a, b in pairwise(places)), T


def test_a_single_period_is_not_written_as_a_range():
    assert ">period 1<" in upper_level_svg(1, 0) and ">periods 4–7<" in upper_level_svg(4, 0)


def test_the_description_of_a_period_names_the_policy():
    assert "upper policy" in describe_period(4, 8)
    assert "π₃" in describe_period(4, 7) and "period 5" in describe_period(4, 7)


@pytest.mark.parametrize("T", [1, 2, 3, 12, 24, 150])
def test_the_timeline_has_one_upper_cell_for_each_whole_block(T):
    shown = periods_shown(T, 24)
    assert shown % T == 0 and shown >= 24 and shown >= 2 * T
    assert timescales_svg(T).count(">μ<") in (shown // T, 0)
    assert timescales_svg(T).count(">ν<") in (shown, 0)
    assert "π₁₁" in timescales_svg(12) and "π" not in timescales_svg(1)
    assert "nan" not in timescales_svg(T)


def test_the_last_tick_leaves_room_for_the_title_of_the_axis():
    for T in range(1, 13):
        for width in (700, 360):
            ticks = re.findall(
                r'<text x="([\d.]+)" y="352.0" text-anchor="start"', timescales_svg(T, width)
            )
            assert float(ticks[-1]) < width - 76
