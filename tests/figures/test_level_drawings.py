"""The drawings of the two levels: well-formed, and true to T and to the step."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from fsdash.figures.levels import (
    BLOCKS,
    lower_level_svg,
    lower_level_told,
    upper_level_svg,
    upper_level_told,
)
from fsdash.figures.timescales import period_told, timescales_svg


@pytest.mark.parametrize("T", [1, 2, 5, 12])
@pytest.mark.parametrize("width", [360, 700])
@pytest.mark.parametrize("dark", [False, True])
def test_every_drawing_is_well_formed(T, width, dark):
    drawings = [lower_level_svg(T, step, width, dark) for step in range(T)]
    drawings += [upper_level_svg(T, step, 0.95, width, dark) for step in range(BLOCKS)]
    drawings += [timescales_svg(T, width, 12, dark, now) for now in (None, 0, T)]
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert "nan" not in drawing and "inf" not in drawing


def test_the_lower_level_lights_up_one_value_for_each_step_back():
    drawn = [lower_level_svg(5, step) for step in range(5)]
    assert [drawing.count(">J") for drawing in drawn] == [0, 1, 2, 3, 4]
    assert ">J₄<" in drawn[1] and ">J₁<" in drawn[4]
    assert "J₄" in lower_level_told(5, 1) and "Done" in lower_level_told(5, 4)


@pytest.mark.parametrize("width", [360, 700])
def test_the_upper_level_steps_T_periods_at_a_time(width):
    drawing = upper_level_svg(4, 1, 0.9, width)
    for state in ("s₀", "s₄", "s₈", "s₁₂"):
        assert f">{state}<" in drawing
    assert f"{0.9**4:.2f}" in drawing and f"{0.9**8:.2f}" in drawing
    assert f"{0.9**4:.2f}" in upper_level_told(4, 1, 0.9)


@pytest.mark.parametrize("width", [360, 700])
def test_names_of_states_have_room_below_them(width):
    for T in range(2, 13):
        names = re.findall(r'<text x="([\d.]+)"[^>]*>y[₀-₉]+<', lower_level_svg(T, 0, width))
        places = sorted({float(x) for x in names})
        assert all(b - a >= 40 for a, b in pairwise(places)), T


def test_one_period_is_not_told_as_a_range():
    assert ">period 1<" in upper_level_svg(1, 0) and ">periods 4–7<" in upper_level_svg(4, 0)


def test_who_acts_is_told():
    assert "upper policy" in period_told(4, 8)
    assert "π₃" in period_told(4, 7) and "period 5" in period_told(4, 7)
