"""The policy figures show the numbers of the policy in the right cells, for every domain."""

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum
from fsdash.core.evaluation import policy_values
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.core.operators import q_values, q_values_at
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.figures.domains import gridworld, gridworld_agent
from fsdash.figures.domains.inventory import (
    inventory_path_figure,
    level_lines_figure,
    order_figure,
    reorder_figure,
)
from fsdash.figures.domains.pricing import price_figure, price_path_figure
from fsdash.figures.palette import INK, QUIET
from fsdash.figures.policies import InspectedPolicy, generic, phase_names, policy_figures, q_figure
from fsdash.figures.policies.labels import action_labels
from fsdash.figures.policies.plane import coordinates, index_plane, plane
from fsdash.figures.policies.q_values import LookAhead, q_pair_figure
from tests.figures.kit import contrast, tick_places, trace
from tests.models import random_model, seeds, shapes, sizes

pytestmark = pytest.mark.slow  # together they take several seconds

PRESETS = [(name, preset) for name, domain in DOMAINS.items() for preset in domain.presets]
IDLE = {"task": 0, "carried": 0, "inner ring pays": 0}


@cache
def inspected_policy(name, preset="default", T=3):
    domain = make(name, preset)
    model = domain.build()
    policy_PXY = run_until(fsvi(model, T), iterations=2).policy_PXY
    return InspectedPolicy(model, policy_PXY, domain, optimum(model, tolerance=1e-2))


def random_policy(sizes=(3, 5, 4, 2), P=2):
    model = random_model(5, sizes)
    rng = np.random.default_rng(1)
    return InspectedPolicy(model, rng.integers(sizes[2], size=(P, *sizes[:2])))


def figure_named(inspected, name):
    (found,) = [figure for figure in policy_figures(inspected) if figure.name == name]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name, preset", PRESETS)
def test_every_figure_of_every_preset_is_drawn(name, preset):
    shown = policy_figures(inspected_policy(name, preset))
    assert len({one.name for one in shown}) == len(shown) >= 5
    for one in shown:
        figure = one.figure()
        assert figure.layout.template.layout.font.color == INK
        assert one.title and one.caption.endswith(".")
        assert bool(figure.frames) == one.animated
        for selector in one.selectors:
            assert len(selector.options) == len(selector.labels)
            selector.check(selector.default)


@pytest.mark.parametrize("make_policy", [random_policy, lambda: random_policy((1, 1, 1, 1), 1)])
def test_a_model_without_a_domain_has_generic_figures(make_policy):
    for one in policy_figures(make_policy()):
        json.loads(one.figure().to_json())


@pytest.mark.parametrize("name", DOMAINS)
def test_the_first_and_last_option_of_every_selector_can_be_drawn(name):
    for one in policy_figures(inspected_policy(name)):
        for selector in one.selectors:
            if selector.name in ("seed", "steps"):
                continue
            for option in {selector.options[0], selector.options[-1]}:
                one.figure(**{selector.name: (option,) if selector.many else option})


def test_an_error_names_an_unknown_option():
    orders = figure_named(inspected_policy("inventory"), "orders")
    with pytest.raises(InputError, match="no selector 'task'"):
        orders.figure(task=1)
    with pytest.raises(InputError, match="phase = 9"):
        orders.figure(phase=9)
    with pytest.raises(InputError, match="demand = 3"):
        figure_named(inspected_policy("inventory"), "levels").figure(demand=3)
    with pytest.raises(InputError, match="phases"):
        InspectedPolicy(
            inspected_policy("inventory").model,
            inspected_policy("inventory").policy_PXY,
            phases=("μ",),
        )


@pytest.mark.parametrize(
    "name, across, up",
    [
        ("inventory", "stock", "demand"),
        ("gridworld", "column", "row"),
        ("gridworld", "task", "inner ring pays"),
        ("pricing", "reference price", "alpha"),
        ("pricing", "eta-", "eta+"),
    ],
)
def test_the_cells_of_a_plane_are_the_states_with_its_coordinates(name, across, up):
    model = inspected_policy(name).model
    others = {n: found[-1] for n, found in coordinates(model).items() if n not in (across, up)}
    cells = plane(model, across, up, others)
    for row, column in np.ndindex(cells.x_RC.shape):
        x, y = cells.states_RC2[row, column]
        at = dict(zip(model.slow.names, model.slow.values[x], strict=True))
        at |= dict(zip(model.fast.names, model.fast.values[y], strict=True))
        assert at == others | {across: cells.across.values[column], up: cells.up.values[row]}


def test_cells_without_a_state_are_empty_and_all_coordinates_must_be_given():
    corner = Axis(("u", "v"), [(0, 0), (0, 1), (1, 0)])
    model = FastSlowMDP(
        reward_XYA=np.zeros((1, 3, 1)),
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.5,
        fast=corner,
    )
    taken = plane(model, "u", "v", {"slow": 0}).take(np.array([[1.0, 2.0, 3.0]]))
    np.testing.assert_array_equal(taken, [[1, 3], [2, np.nan]])
    with pytest.raises(InputError, match="fix the others"):
        plane(model, "u", "v", {})


@pytest.mark.parametrize("phase", [0, 1, 2])
def test_the_heat_map_of_orders_shows_the_policy(phase):
    s = inspected_policy("inventory")
    heat = figure_named(s, "orders").figure(phase=phase).data[0]
    order = s.model.actions.values[s.policy_PXY[phase], 0]
    np.testing.assert_array_equal(heat.z, order)
    np.testing.assert_array_equal(heat.x, s.model.fast.values[:, 0])
    np.testing.assert_array_equal(heat.y, s.model.slow.values[:, 0])
    assert list(heat.customdata[4][7]) == [4, 7]
    assert heat.zmin <= 0 and heat.zmax >= 50


def test_order_up_to_levels_are_stock_plus_order():
    s = inspected_policy("inventory")
    order = s.model.actions.values[s.policy_PXY[1], 0]
    figure = level_lines_figure(s.model, s.policy_PXY[1], (2.0, 9.0))
    for demand in (2, 9):
        np.testing.assert_array_equal(
            trace(figure, f"d = {demand}").y, np.arange(51) + order[demand]
        )


def test_reorder_points_of_a_small_example():
    model = make("inventory", y_max=4, d_max=2, order_step=1, order_max=3).build()
    policy_XY = np.array([[0, 0, 0, 0, 0], [3, 2, 0, 0, 0], [3, 3, 2, 1, 0]])
    figure = reorder_figure(model, policy_XY)
    np.testing.assert_array_equal(trace(figure, "s: reorder point").y, [np.nan, 1, 3])
    np.testing.assert_array_equal(trace(figure, "S: order-up-to level").y, [np.nan, 3, 4])
    low, high = figure.data[1], figure.data[0]
    assert (list(low.x), list(low.y), list(high.y)) == ([1, 2], [3, 3], [3, 4])


def test_the_inventory_path_shades_its_cycles():
    s = inspected_policy("inventory")
    path = s.path(seed=4, steps=10)
    figure = inventory_path_figure(s.model, path, s.phases)
    for name, axis, index in (
        ("stock", s.model.fast, path.y_N),
        ("demand", s.model.slow, path.x_N),
        ("order", s.model.actions, path.action_N),
    ):
        np.testing.assert_array_equal(trace(figure, name).y, axis.values[index, 0])
    shapes = figure.layout.shapes
    assert [shape.x0 for shape in shapes if shape.type == "line"] == [0, 3, 6, 9]
    assert [(b.x0, b.x1) for b in shapes if b.type == "rect"] == [(2.5, 5.5), (8.5, 9.5)]
    assert list(trace(figure, "stock").customdata[4]) == [path.x_N[4], path.y_N[4], "π₁"]
    still = InspectedPolicy(s.model, s.policy_PXY[0])
    assert not inventory_path_figure(s.model, still.path(4, 10), still.phases).layout.shapes


def test_the_price_lines_show_the_policy_for_the_chosen_consumers():
    s = inspected_policy("pricing")
    figure = price_figure(s.model, s.policy_PXY[0], "alpha", (0.4, 0.8), {"eta+": 5, "eta-": 9})
    for alpha in (0.4, 0.8):
        [x] = np.flatnonzero(np.isclose(s.model.slow.values, [alpha, 5, 9]).all(axis=1))
        line = trace(figure, f"α = {alpha}")
        np.testing.assert_array_equal(line.y, s.model.actions.values[s.policy_PXY[0, x], 0])
        assert list(line.customdata[3]) == [x, 3]


@pytest.mark.parametrize("below, column", [("alpha", 0), ("eta-", 2)])
def test_the_price_path_shows_the_chosen_lower_panel(below, column):
    s = inspected_policy("pricing")
    path = s.path(seed=2, steps=30)
    figure = price_path_figure(s.model, path, s.phases, below)
    price, reference, lower = figure.data
    np.testing.assert_array_equal(price.y, s.model.actions.values[path.action_N, 0])
    np.testing.assert_array_equal(reference.y, s.model.fast.values[path.y_N, 0])
    np.testing.assert_array_equal(lower.y, s.model.slow.values[path.x_N, column])
    assert price_path_figure(s.model, path, s.phases, "reward").data[2].y[7] == path.reward_N[7]


@pytest.mark.parametrize("task, carried, signal", [(0, 0, 0), (0, 0, 1), (3, 0, 0), (7, 1, 1)])
def test_arrows_point_in_the_direction_of_the_actions(task, carried, signal):
    s = inspected_policy("gridworld")
    chosen = {"task": task, "carried": carried, "inner ring pays": signal}
    figure = figure_named(s, "moves").figure(phase=1, **chosen)
    moves, turned = trace(figure, "move"), {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}
    numbers = trace(figure, "task chosen").text if task == 0 else None
    for i, (x, y) in enumerate(zip(moves.x, moves.y, strict=True)):
        fast = np.ravel_multi_index((round(x + 1e-9), int(y), task, carried), (11, 11, 9, 2))
        chosen_task, *step = s.model.actions.values[s.policy_PXY[1, signal, fast]].tolist()
        assert turned[moves.marker.angle[i] % 360] == tuple(step)
        assert numbers is None or numbers[i] == f"{chosen_task:g}"


def test_all_task_arrows_are_drawn_for_an_idle_agent_and_one_for_an_accepted_task():
    s = inspected_policy("gridworld")
    outer = figure_named(s, "moves").figure().data[1]
    assert outer.name == "outer tasks pay 80"
    assert (outer.x[:2], outer.y[:2]) == ((1, 4), (7, 10))
    assert len(outer.x) == 4 * 3
    figure = figure_named(s, "moves").figure(task=7, **{"inner ring pays": 1})
    assert [t.name for t in figure.data[1:]] == ["inner tasks pay 30", "move"]
    assert (figure.data[1].x[:2], figure.data[1].y[:2]) == ((4, 6), (6, 6))


def test_the_agent_follows_the_path_and_the_frames_match_the_single_figures():
    s = inspected_policy("gridworld")
    path = s.path(seed=3, steps=40)
    film = gridworld_agent.agent_animation(s.domain, s.model, path)
    assert len(film.frames) == 40
    for t in (0, 17, 39):
        figure = gridworld_agent.agent_figure(s.domain, s.model, path, t)
        agent, status = trace(figure, "agent"), trace(figure, "status")
        column, row, task, carried = s.model.fast.values[path.y_N[t]]
        assert (agent.x[0], agent.y[0]) == (column, row)
        assert agent.marker.symbol == ("square" if carried else "circle")
        assert f"<b>{path.reward_N[:t].sum():g}</b>" in status.text[0]
        assert ("idle" in status.text[0]) == (task == 0)
        moving = [figure.data[i] for i in film.frames[t].traces]
        for changed, whole in zip(film.frames[t].data, moving, strict=True):
            assert changed.name in (None, whole.name)
            assert changed.opacity == whole.opacity
            for key in ("x", "text"):
                if changed[key] is not None:
                    np.testing.assert_array_equal(changed[key], whole[key])
    with pytest.raises(InputError, match="step = 40"):
        gridworld_agent.agent_figure(s.domain, s.model, path, 40)


def test_the_visits_of_a_cell_are_the_sum_over_its_states():
    s = inspected_policy("gridworld")
    heat = figure_named(s, "visits").figure().data[0]
    share = s.visits.share_XY.reshape(2, 11, 11, 18).sum(axis=(0, 3))
    np.testing.assert_allclose(heat.z, 100 * share.T)
    assert heat.z.sum() == pytest.approx(100)
    assert heat.customdata is None


@pytest.mark.parametrize("phase", [0, 1, 2])
def test_the_values_of_a_phase_are_those_of_the_policy_started_there(phase):
    s = inspected_policy("inventory")
    rolled = policy_values(s.model, np.roll(s.policy_PXY, -phase, axis=0))
    drawn = figure_named(s, "values").figure(show="value", phase=phase).data[0].z
    np.testing.assert_allclose(drawn, rolled.U_XY, atol=1e-5)
    regret = figure_named(s, "values").figure(show="regret", phase=phase).data[0].z
    np.testing.assert_allclose(regret, s.optimum.U_XY - rolled.U_XY, atol=0.02)


def test_only_a_changed_state_differs_from_the_optimal_policy():
    s = inspected_policy("inventory")
    best = s.optimum
    same = InspectedPolicy(s.model, best.policy_PXY, s.domain, best)
    shown = figure_named(same, "difference")
    assert shown.figure(show="regret").data[0].z.max() <= 0.05
    assert not shown.figure().data[0].z.any() and not shown.figure(show="loss").data[0].z.any()
    changed = best.policy_PXY.copy()
    changed[0, 5, 30] = 10  # order 50 units with 30 in stock
    other = InspectedPolicy(s.model, changed, s.domain, best)
    agreement = figure_named(other, "difference").figure().data[0]
    assert np.argwhere(agreement.z).tolist() == [[5, 30]]
    assert agreement.z[5, 30] == 2 and agreement.text[5][30].startswith("worse")
    assert "takes 50" in agreement.text[5][30]
    loss = figure_named(other, "difference").figure(show="loss").data[0].z
    Q_A = q_values_at(s.model, best.U_XY, 5, 30)
    assert np.argwhere(loss).tolist() == [[5, 30]]
    assert loss[5, 30] == pytest.approx(Q_A.max() - Q_A[10])


def test_another_optimal_action_counts_as_equally_good():
    model = FastSlowMDP(
        reward_XYA=np.ones((1, 2, 2)),
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.9,
    )
    assert generic.agreement(model, np.array([[0, 1]]), optimum(model)).tolist() == [[0, 1]]


@given(seeds, shapes, sizes)
def test_the_q_values_of_one_state_agree_with_those_of_all_states(seed, shape, sizes):
    model = random_model(seed, sizes, shape)
    U_XY = np.random.default_rng(seed).normal(size=sizes[:2])
    Q_XYA = q_values(model, model.true, U_XY)
    for x, y in np.ndindex(sizes[:2]):
        np.testing.assert_allclose(q_values_at(model, U_XY, x, y), Q_XYA[x, y], atol=1e-12)


@pytest.mark.parametrize("name", DOMAINS)
def test_the_bars_of_the_q_figure_start_at_the_best_action(name):
    s = inspected_policy(name)
    x, y, U_XY = 1, 20, s.optimum.U_XY
    Q_A = q_values_at(s.model, U_XY, x, y)
    figure = q_figure(s.model, U_XY, x, y, chosen_action=1)
    bars, best, chosen = figure.data
    np.testing.assert_allclose(np.array(bars.base, float) + bars.y, Q_A)
    labels = action_labels(s.model)
    assert len(set(labels)) == len(labels) == len(bars.x)
    assert (best.x[0], best.y[0]) == (labels[Q_A.argmax()], Q_A.max())
    assert (chosen.x[0], chosen.y[0]) == (labels[1], Q_A[1])
    assert bars.marker.color[1] != bars.marker.color[2]
    with pytest.raises(InputError, match="y = 99999"):
        q_figure(s.model, U_XY, 0, 99999, 0)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("both", [False, True])
def test_every_tick_of_the_q_figure_names_the_action_at_its_place(name, both):
    s = inspected_policy(name)
    look = LookAhead(1, s.optimum.U_XY)
    figure = (
        q_pair_figure(s.model, (look, look), 1, 20)
        if both
        else q_figure(s.model, look.U_XY, 1, 20, look.action)
    )
    labels = action_labels(s.model)
    for axis in figure.select_xaxes():
        places = tick_places(axis)
        assert list(axis.categoryarray) == labels
        assert list(axis.ticktext) == [labels[int(place)] for place in places]
        assert places == sorted(places) and len(labels) - places[-1] <= places[1] - places[0]


def test_a_users_model_shows_the_labels_of_its_axes():
    s = random_policy()
    figure = figure_named(s, "actions").figure(phase=1)
    np.testing.assert_array_equal(figure.data[0].z, s.policy_PXY[1])
    assert figure.layout.xaxis.ticktext == ("0", "1", "2", "3", "4")
    assert figure.layout.xaxis.title.text == "fast state"
    grid = index_plane(inspected_policy("gridworld").model).across.ticks()
    assert grid["ticktext"][0] == "column=0, row=0, task=idle, carried=not picked up"
    wide = random_model(0, (2, 3000, 2, 1))
    assert len(index_plane(wide).across.ticks()["ticktext"]) <= 12


def test_phases_are_named_as_in_the_paper():
    assert phase_names(1) == ("policy",)
    assert phase_names(3) == ("μ", "π₁", "π₂")
    assert phase_names(2, first=10) == ("π₁₀", "π₁₁")


def test_arrows_contrast_with_the_values_behind_them():
    for share in (0, 0.5, 1):
        behind = QUIET.at(share)
        assert contrast(INK, behind) >= 4.5
        for _, colour in gridworld.RINGS.values():
            assert contrast(colour, behind) >= 3


def test_the_order_figure_needs_only_a_model_and_a_policy():
    s = inspected_policy("inventory", "wide-demand")
    assert order_figure(s.model, s.policy_PXY[0]).data[0].z.shape == (51, 51)


def test_the_order_figure_has_one_row_for_each_demand():
    s = inspected_policy("inventory", "coarse-demand")
    cells = order_figure(s.model, s.policy_PXY[0]).data[0]
    assert cells.z.shape == (11, 51)
    np.testing.assert_array_equal(cells.y, range(0, 51, 5))
