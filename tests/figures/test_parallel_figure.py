"""Parallel coordinates: where the points are, what they say, and which line is above."""

import numpy as np
import pytest

from fsdash.figures.palette import AMOUNT
from fsdash.figures.parallel import MISSING, parallel_figure
from tests.figures.kit import trace


@pytest.fixture
def figure():
    settings = {"T": [2.0, 4.0, 8.0, 16.0], "M": [10.0, None, 30.0, 20.0]}
    return parallel_figure(settings, [0.5, 0.9, 0.7, 0.6], list("abcd"), "result", percent=True)


def test_axes_run_from_the_smallest_to_the_largest_value(figure):
    # T is on a logarithmic axis, since 16 is eight times 2.
    heights = np.array([trace(figure, name).y for name in "abcd"])
    np.testing.assert_allclose(heights[:, 0], [0, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(heights[:, 1], [0, MISSING, 1, 0.5])
    np.testing.assert_allclose(heights[:, 2], [0, 1, 0.5, 0.25])


def test_points_and_ticks_name_their_values(figure):
    assert list(trace(figure, "b").text) == ["T: 4", "M: not set", "result: 90.0%"]
    ticks = [text.strip("\N{NO-BREAK SPACE}") for text in trace(figure, "values").text]
    assert ticks == ["2", "4", "8", "16", "10", "20", "30", "–", "50.0%", "60.0%", "70.0%", "90.0%"]


def test_the_best_run_is_drawn_last_and_strongest(figure):
    lines = [t for t in figure.data if t.name != "values"]
    assert [line.name for line in lines] == ["a", "d", "c", "b"]
    assert lines[-1].line.width > lines[0].line.width
    assert lines[-1].line.color == AMOUNT.at(1.0)


def test_equal_results_are_in_the_middle_of_their_axis():
    drawn = parallel_figure({"T": [2.0, 3.0]}, [0.5, 0.5], ["a", "b"], "a result with a long name")
    assert trace(drawn, "a").y[-1] == trace(drawn, "b").y[-1] == 0.5
    assert drawn.layout.xaxis.ticktext[-1] == "<b>a result with<br>a long name</b>"
