"""The figures of the story, with Plotly's validation."""

import numpy as np
import pytest

from fsdash.dashboard.story import numbers, state, text
from fsdash.dashboard.story.maze import corridor, maze
from fsdash.dashboard.story.sections import PARTS, URL
from fsdash.figures.story.maze import maze_figure


@pytest.mark.parametrize("name", PARTS)
def test_every_figure_is_valid(name):
    values = [URL.parameters[control].default for control in PARTS[name].controls]
    figure, _ = PARTS[name].figure(*values)
    assert figure.data and figure.to_dict()


def test_the_grid_shows_every_order_of_the_policy():
    figure, words = PARTS["lower"].figure(4)
    cells, orders = figure.data
    policy_XY = state.lower_level()[3].policy_PXY[0]
    assert np.array_equal(cells["z"], state.lower_level()[3].values_XY)
    assert len(orders["text"]) == np.count_nonzero(policy_XY)
    assert f"{np.count_nonzero(policy_XY[2])}." in words


def test_large_numbers_in_figures_are_written_as_in_the_text():
    (bars,) = PARTS["bound"].figure(3)[0].data
    assert bars["text"][-1] == text.display(numbers.bound(3)["bound"]) == "3.88 million"
    errors, _ = PARTS["errors"].figure(4)
    assert list(errors.layout.yaxis.ticktext)[-2:] == ["100,000", "1 million"]


def test_bars_of_orders_are_at_their_weeks():
    figure, _ = PARTS["path"].figure(6, 2)
    path = state.path_in_blocks(6, 2).path
    first, others = figure.data[:2]
    ordered = {
        week
        for bars in (first, others)
        for week, order in zip(bars["x"], bars["y"], strict=True)
        if order == order
    }
    assert ordered == set(np.flatnonzero(path.action_N).tolist())
    assert all(week % 6 == 0 for week in first["x"])


def test_arrows_are_in_the_cells_from_which_the_plan_sees_the_prize():
    seen_Y = np.arange(len(corridor())) >= 50
    figure = maze_figure(maze(), seen_Y, np.zeros(len(seen_Y), int))
    cells, arrows, _ = figure.data
    assert np.sum(cells["z"]) == seen_Y.sum()
    assert len(arrows["x"]) == seen_Y.sum() - 1  # none on the prize itself
    assert len(figure.layout.shapes) == int(corridor()[:, 1].max()) + 1
