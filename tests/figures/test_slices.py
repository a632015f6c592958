"""The choice of axes and slices, square cells, labels in cells, and round ticks."""

import numpy as np
import pytest

from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.domains import make
from fsdash.figures.domains import generic as generic_domain
from fsdash.figures.policies import InspectedPolicy, policy_figures
from fsdash.figures.policies.marks import short_labels
from fsdash.figures.policies.plane import evenly_spaced, plane
from fsdash.figures.policies.slices import Slices


def robot(missing: tuple[int, ...] = (), **coordinates) -> FastSlowMDP:
    """A robot on a map of 4 × 3 cells with two loads, in three kinds of weather."""
    column, row, load = (part.ravel() for part in np.indices((4, 3, 2)))
    X, Y = 3, len(column)
    real_Y = ~np.isin(np.arange(Y), missing)
    x, y = (part.ravel() for part in np.meshgrid(range(X), np.flatnonzero(real_Y), indexing="ij"))
    target = x * Y + np.flatnonzero(real_Y)[0]
    rows = Rows.from_entries((X, Y, 1), x * Y + y, target, np.ones(len(x)))
    weather = Coordinate("weather", words={0: "calm", 1: "windy", 2: "storm"})
    return FastSlowMDP(
        reward_XYA=np.where(real_Y, column + 10.0 * row, -np.inf)[None, :, None].repeat(X, axis=0),
        rows=rows,
        gamma=0.5,
        slow=Axis(("phase",), [0, 1, 2], {"phase": weather}),
        fast=Axis(("column", "row", "load"), np.column_stack([column, row, load]), coordinates),
    )


def test_any_two_coordinates_can_be_the_axes():
    model = robot()
    slices = Slices(model, generic_domain.plane_axes(model))
    assert slices.axes == ("column", "row")
    assert len(slices.pairs) == 6 and next(iter(slices.pairs)) == "column|row"
    cells = slices.plane({"axes": "load|phase", "column": 2.0, "row": 1.0})
    assert cells.x_RC.shape == (3, 2)
    assert cells.up.labels == ("calm", "windy", "storm")
    y = np.ravel_multi_index((2, 1, 1), (4, 3, 2))
    assert (cells.x_RC[2, 1], cells.y_RC[2, 1]) == (2, y)


def test_a_coordinate_may_have_the_name_of_a_selector():
    """The slow state is called "phase", like the selector of the phase of a periodic policy."""
    model = robot()
    inspected = InspectedPolicy(model, np.zeros((2, 3, 24), int))
    [values] = [one for one in policy_figures(inspected) if one.name == "values"]
    assert [selector.name for selector in values.selectors] == [
        "show",
        "phase",
        "axes",
        "phase*",
        "column",
        "row",
        "load",
    ]
    shown = values.figure(phase=1, **{"phase*": 2.0, "load": 1.0}).data[0]
    assert (shown.customdata[:, :, 0] == 2).all()


def test_an_axis_needs_no_selector_of_its_value():
    model = robot()
    [actions] = [
        one
        for one in policy_figures(InspectedPolicy(model, np.zeros((1, 3, 24), int)))
        if one.name == "actions"
    ]
    names = [selector.name for selector in actions.needed({"axes": "load|phase"})]
    assert names == ["axes", "column", "row"]


def test_the_first_slice_contains_states():
    middle = np.ravel_multi_index(np.indices((4, 3)).reshape(2, -1), (4, 3)) * 2 + 1
    model = robot(missing=tuple(middle.tolist()))  # the load in the middle of the range is missing
    slices = Slices(model, ("column", "row"))
    assert (slices.plane({}).x_RC >= 0).all()
    empty = slices.plane({"load": 1.0})
    assert (empty.x_RC < 0).all()
    [values] = [
        one
        for one in policy_figures(InspectedPolicy(model, np.zeros((1, 3, 24), int)))
        if one.name == "values"
    ]
    assert "No state" in values.figure(load=1.0).layout.annotations[0].text


def test_cells_are_squares_if_both_axes_have_the_same_unit_and_step():
    def square(model, across, up):
        others = {
            name: float(values[0])
            for axis in (model.slow, model.fast)
            for name, values in zip(axis.names, axis.values.T, strict=True)
            if name not in (across, up)
        }
        return plane(model, across, up, others).square

    assert square(robot(), "column", "row")
    assert not square(robot(), "column", "phase")  # a fast and a slow coordinate
    assert not square(robot(column=Coordinate(unit="m")), "column", "row")
    assert not square(robot(row=Coordinate(words={0: "low"})), "column", "row")
    assert square(make("gridworld").build(), "column", "row")
    assert not square(make("inventory").build(), "stock", "demand")
    [shown] = [
        one
        for one in policy_figures(InspectedPolicy(robot(), np.zeros((1, 3, 24), int)))
        if one.name == "values"
    ]
    layout = shown.figure().layout
    assert layout.yaxis.scaleanchor == "x" and layout.xaxis.range == (-0.5, 3.5)
    assert shown.figure(axes="load|phase").layout.yaxis.scaleanchor is None


@pytest.mark.parametrize(
    "labels, short",
    [
        (["up", "right", "down", "left"], ["↑", "→", "↓", "←"]),
        (["North", "South", "stay"], ["↑", "↓", "sta"]),
        (["0", "5", "10"], ["0", "5", "10"]),
        (["1 ↑", "2 →"], ["1↑", "2→"]),
        (["left", "buy", "sell"], None),
        (["wait", "watch", "ok", "no"], None),
        (["accept", "reject"], None),
    ],
)
def test_labels_that_fit_into_a_cell(labels, short):
    assert short_labels(labels) == short


@pytest.mark.parametrize(
    "n, most, first", [(12, 12, [0, 1]), (51, 12, [0, 5]), (34, 12, [0, 5]), (101, 12, [0, 10])]
)
def test_ticks_are_in_round_steps(n, most, first):
    found = evenly_spaced(n, most)
    assert found[:2].tolist() == first and len(found) <= most
