"""Figures of models of one's own: names, several variables, padding, infeasible actions, costs."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import q_values_at
from fsdash.dashboard.inspector.state import state_table
from fsdash.figures import policy_table
from fsdash.figures.domains.generic import plane_axes
from fsdash.figures.palette import DIVERGING
from fsdash.figures.policies import InspectedPolicy, policy_figures, q_figure
from fsdash.figures.policies.generic import action_figure
from fsdash.figures.policies.plane import index_plane, plane
from fsdash.models.transitions import from_transitions
from tests.models import random_model
from tests.saved_models import shop_model


def rooms_model(padded: bool = False):
    """A robot in a 3 × 2 room with a slow light and a slow season; actions are words.

    If `padded`, the robot cannot be in the corner (2, 1) while the light is off.
    """
    states = [
        (light, season, x, y)
        for light, season, x, y in itertools.product(("off", "on"), (0, 1), (0, 1, 2), (0, 1))
        if not (padded and (light, x, y) == ("off", 2, 1))
    ]
    rows = []
    for light, season, x, y in states:
        for action, (dx, dy) in {"stay": (0, 0), "east": (1, 0), "north": (0, 1)}.items():
            if action == "east" and x == 2:
                continue
            new = (min(x + dx, 2), min(y + dy, 1))
            for other, p in ((light, 0.9), ("on" if light == "off" else "off", 0.1)):
                after = (other, season, *new)
                after = after if after in states else (light, season, x, y)
                rows.append((light, season, x, y, action, *after, p, x + 2 * y + season))
    names = ["light", "season", "x", "y"]
    columns = [*names, "action", *(f"next_{name}" for name in names), "p", "reward"]
    frame = (
        pd.DataFrame(rows, columns=columns)
        .groupby(columns[:-2], as_index=False)
        .agg({"p": "sum", "reward": "first"})
    )
    return from_transitions(frame, slow=["light", "season"], gamma=0.9)


def inspected(model) -> InspectedPolicy:
    best = optimum(model)
    return InspectedPolicy(model, best.policy_PXY, best=best)


def drawn(policy: InspectedPolicy, name: str, **chosen):
    return {figure.name: figure for figure in policy_figures(policy)}[name].figure(**chosen)


def test_two_fast_variables_are_the_axes_and_slow_ones_are_selected():
    policy = inspected(rooms_model())
    assert plane_axes(policy.model) == ("x", "y")
    [actions] = [figure for figure in policy_figures(policy) if figure.name == "actions"]
    axes, *slices = actions.selectors
    assert axes.name == "axes" and axes.labels[0] == "x × y"
    assert [selector.name for selector in slices] == ["light", "season", "x", "y"]
    assert slices[0].labels == ("off", "on")
    figure = drawn(policy, "actions", light=1.0, season=0)
    assert np.shape(figure.data[0].z) == (2, 3)


def test_actions_that_are_words_have_their_own_colours_and_words():
    trace, *legend = drawn(inspected(rooms_model()), "actions").data
    assert [entry.name for entry in legend][:3] == ["east", "north", "stay"]
    assert set(np.ravel(trace.text)) <= {"east", "north", "stay"}
    assert len({colour for _, colour in trace.colorscale}) == 3


def test_padding_is_blank_in_every_heat_map():
    model = rooms_model(padded=True)
    assert model.n_real < model.n_states
    cells = plane(model, "x", "y", {"light": 0.0, "season": 0.0})
    assert (cells.x_RC < 0).tolist() == [[False, False, False], [False, False, True]]
    assert ((index_plane(model).x_RC < 0) == ~model.real_XY).all()
    policy = inspected(model)
    for name in ("actions", "values", "difference"):
        z_RC = np.array(drawn(policy, name, light=0.0, season=0).data[0].z, float)
        assert np.isnan(z_RC[1, 2])
        assert not np.isnan(np.delete(z_RC.ravel(), 5)).any()


def test_a_view_without_any_state_is_empty():
    frame = pd.DataFrame(
        {
            "kind": ["a", "a", "b", "b"],
            "x": [0, 1, 2, 3],
            "y": [0, 0, 0, 1],
            "action": "go",
            "next_kind": ["a", "a", "b", "b"],
            "next_x": [1, 0, 3, 2],
            "next_y": [0, 0, 1, 0],
            "p": 1.0,
            "reward": [0.0, 1.0, 2.0, 3.0],
        }
    )
    policy = inspected(from_transitions(frame, slow="kind", gamma=0.5))
    for figure in policy_figures(policy):
        figure.figure()


def test_only_feasible_actions_have_bars():
    model = shop_model()
    best = optimum(model)
    x, y = 0, 3  # the shelf is full
    figure = q_figure(model, best.U_XY, x, y, int(best.policy_PXY[0, x, y]))
    assert list(figure.data[0].x) == ["order 0"]
    every = q_figure(model, best.U_XY, x, 0, int(best.policy_PXY[0, x, 0]))
    assert list(every.data[0].x) == [f"order {n}" for n in range(4)]
    assert np.isfinite(every.data[0].y).all()


def test_a_model_of_costs_shows_costs():
    model = shop_model(cost=True)
    policy, best = inspected(model), optimum(model)
    values = np.array(drawn(policy, "values", show="optimal").data[0].z)
    assert (values > 0).all()
    assert sorted(values.ravel()) == pytest.approx(sorted(-best.U_XY.ravel()))
    figure = q_figure(model, best.U_XY, 0, 0, int(best.policy_PXY[0, 0, 0]))
    assert figure.layout.yaxis.title.text == "Q(s, a), cost"
    assert min(figure.data[0].y) >= 0  # bars point up from the smallest cost
    assert figure.data[0].base[0] == pytest.approx(-q_values_at(model, best.U_XY, 0, 0).max())
    assert (state_table(policy, 0, 0)["value"] > 0).all()


def test_the_table_of_a_policy_has_words_and_no_padding():
    model = rooms_model(padded=True)
    table = policy_table(inspected(model))
    assert len(table) == model.n_real
    assert set(table["light"]) == {"off", "on"}
    assert set(table["action: action"]) <= {"stay", "east", "north"}
    assert "optimal cost" in policy_table(inspected(shop_model(cost=True)))


def test_a_simulated_path_shows_every_variable_with_its_words():
    figure = drawn(inspected(rooms_model()), "path")
    titles = [axis.title.text for axis in figure.select_yaxes()]
    assert titles == ["x", "y", "light", "season", "action"]
    assert figure.layout.yaxis3.ticktext == ("off", "on")
    assert figure.layout.yaxis5.ticktext == ("east", "north", "stay")


def test_models_without_names_keep_the_order_of_their_states():
    assert plane_axes(random_model(0)) is None


@pytest.mark.parametrize("trades", [[-2, -1, 0, 1], [-30, -1, 0, 2]])
def test_signed_actions_have_a_diverging_scale_with_zero_in_the_middle(trades):
    model = FastSlowMDP(
        reward_XYA=np.zeros((1, 4, 4)),
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.9,
        actions=Axis(("trade",), trades),
    )
    figure = action_figure(model, np.arange(4)[None], index_plane(model))
    heat = figure.data[0]
    largest = max(map(abs, trades))

    def channels(colour):
        return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])

    for value in trades:
        share = (value - heat.zmin) / (heat.zmax - heat.zmin)
        places, colours = zip(*heat.colorscale, strict=True)
        columns = np.array([channels(colour) for colour in colours]).T
        drawn = [np.interp(share, places, column) for column in columns]
        wanted = channels(DIVERGING.at((1 + value / largest) / 2))
        assert np.abs(np.array(drawn) - wanted).max() <= 1  # colours are rounded
