"""Transitions and rewards computed by hand from the paper's text."""

import numpy as np
import pytest

from fsdash.domains import Gridworld, Inventory, Pricing, make


@pytest.fixture(scope="module")
def inventory():
    return make("inventory").build()


def test_inventory_noise(inventory):
    assert inventory.noise_W == pytest.approx([0.8, 0.1, 0.1])
    assert inventory.next_slow[4, 0, 0].tolist() == [4, 5, 3]
    # Demand is clipped at both ends.
    assert inventory.next_slow[0, 0, 0].tolist() == [0, 1, 0]
    assert inventory.next_slow[10, 0, 0].tolist() == [10, 10, 9]


def test_inventory_transition(inventory):
    # d = 4, y = 20, order 15 (a = 3): d' = 4, 5, 3 sells that much; 20 + 15 − d'.
    assert inventory.next_fast[4, 20, 3].tolist() == [31, 30, 32]
    # y = 3, d = 7, order 10: sales are limited to the stock; the order arrives afterwards.
    assert inventory.next_fast[7, 3, 2].tolist() == [10, 10, 10]
    # y = 48, d = 2, order 50: storage is limited to 50.
    assert inventory.next_fast[2, 48, 10].tolist() == [50, 50, 50]
    # Frozen: tomorrow's demand is today's.
    assert inventory.frozen_next_fast[4, 20, 3].tolist() == [31]


def test_inventory_reward(inventory):
    # d = 4, y = 20, order 15: 10·E[d'] − 1·15 − 120 − 1·E[y'], E[d'] = 4, E[y'] = 31.
    assert inventory.reward_XYA[4, 20, 3] == pytest.approx(40 - 15 - 120 - 31)
    # No order, no fixed cost: d = 10, y = 10: sales 10, 10, 9 and y' = 0, 0, 1.
    assert inventory.reward_XYA[10, 10, 0] == pytest.approx(10 * 9.9 - 0.1)
    # Empty store, demand 0: nothing happens.
    assert inventory.reward_XYA[0, 0, 0] == 0


def test_inventory_presets():
    wide = make("inventory", "wide-demand").build()
    assert (wide.n_states, wide.n_actions) == (2_601, 11)
    thin = make("inventory", "thin-margin")
    assert (thin.p, thin.c, thin.K, thin.h) == (10, 6, 100, 0.3)
    large = make("inventory", "large").build()
    assert (large.n_slow, large.n_fast, large.n_actions) == (101, 501, 11)
    shifted = Inventory(d_min=3, d_max=5).build()
    # d' = 3 when d = 3 falls: clipped at d_min, and indices start there.
    assert shifted.next_slow[0, 0, 0].tolist() == [0, 1, 0]
    assert shifted.next_fast[0, 10, 0].tolist() == [7, 6, 7]


def test_inventory_with_a_coarser_demand():
    # The demands are 0, 5, …, 50, and demand moves by 5 units.
    coarse = make("inventory", "coarse-demand").build()
    assert (coarse.n_slow, coarse.n_states) == (11, 561)
    assert coarse.slow.values[:, 0].tolist() == list(range(0, 51, 5))
    assert coarse.next_slow[4, 0, 0].tolist() == [4, 5, 3]
    assert coarse.next_slow[0, 0, 0].tolist() == [0, 1, 0]
    assert coarse.next_slow[10, 0, 0].tolist() == [10, 10, 9]
    # d = 20, y = 22, order 15: d' = 20, 25, 15 sells 20, 22, 15; frozen it sells 20.
    assert coarse.next_fast[4, 22, 3].tolist() == [17, 15, 22]
    assert coarse.frozen_next_fast[4, 22, 3].tolist() == [17]
    sales, stock = 0.8 * 20 + 0.1 * 22 + 0.1 * 15, 0.8 * 17 + 0.1 * 15 + 0.1 * 22
    assert coarse.reward_XYA[4, 22, 3] == pytest.approx(10 * sales - 15 - 120 - stock)
    # The smallest demand need not be a multiple of the step.
    shifted = Inventory(d_min=3, d_max=11, d_step=4).build()
    assert shifted.slow.values[:, 0].tolist() == [3, 7, 11]
    assert shifted.next_slow[:, 0, 0].tolist() == [[0, 1, 0], [1, 2, 0], [2, 2, 1]]


@pytest.fixture(scope="module")
def gridworld():
    return make("gridworld").build()


UP, RIGHT, DOWN, LEFT = range(4)


def cell(column, row, task=0, carried=0):
    return int(np.ravel_multi_index((column, row, task, carried), (11, 11, 9, 2)))


def act(task, direction):
    return 4 * (task - 1) + direction


def step(model, state, action, signal=0):
    """(next fast state, reward) of one step."""
    return int(model.next_fast[0, state, action, 0]), float(model.reward_XYA[signal, state, action])


def test_gridworld_reward_signal(gridworld):
    assert gridworld.noise_W.tolist() == [0.98, 0.02]
    assert gridworld.next_slow[:, 0, 0].tolist() == [[0, 1], [1, 0]]


def test_gridworld_moves_and_walls(gridworld):
    assert step(gridworld, cell(5, 5, 3), act(1, RIGHT)) == (cell(6, 5, 3), 0)
    assert step(gridworld, cell(5, 5, 3), act(8, DOWN)) == (cell(5, 4, 3), 0)
    assert step(gridworld, cell(0, 5, 3), act(1, LEFT)) == (cell(0, 5, 3), 0)
    assert step(gridworld, cell(3, 10, 3), act(1, UP)) == (cell(3, 10, 3), 0)


def test_gridworld_accepts_a_task_only_when_idle(gridworld):
    assert step(gridworld, cell(5, 5), act(7, UP)) == (cell(5, 6, 7), 0)
    assert step(gridworld, cell(5, 5, 2), act(7, UP)) == (cell(5, 6, 2), 0)


def test_gridworld_picks_up_at_the_start_of_the_task(gridworld):
    # Task 1 starts at (1, 7): reached from below, with the task accepted in the same step.
    assert step(gridworld, cell(1, 6), act(1, UP)) == (cell(1, 7, 1, 1), 2)
    assert step(gridworld, cell(1, 6, 1), act(5, UP), signal=1) == (cell(1, 7, 1, 1), 2)
    # Nothing is picked up if the object is carried already or the cell starts another task.
    assert step(gridworld, cell(1, 6, 1, 1), act(5, UP)) == (cell(1, 7, 1, 1), 0)
    assert step(gridworld, cell(1, 6, 2), act(5, UP)) == (cell(1, 7, 2, 0), 0)


@pytest.mark.parametrize(
    "task, end, pays",
    [
        (1, (4, 10), (80, 6)),
        (2, (10, 6), (80, 6)),
        (3, (6, 0), (80, 6)),
        (4, (0, 4), (80, 6)),
        (5, (4, 7), (1, 1)),
        (6, (6, 3), (1, 1)),
        (7, (6, 6), (2, 30)),
        (8, (4, 4), (2, 30)),
    ],
)
def test_gridworld_delivers_at_the_end_of_the_task(gridworld, task, end, pays):
    column, row = end
    before, direction = ((column - 1, row), RIGHT) if column else ((1, row), LEFT)
    for signal in (0, 1):
        carrying = cell(*before, task, 1)
        assert step(gridworld, carrying, act(1, direction), signal) == (cell(*end), pays[signal])
        empty = cell(*before, task, 0)
        assert step(gridworld, empty, act(1, direction), signal) == (cell(*end, task), 0)


def test_gridworld_stretches_its_map():
    domain = Gridworld(size=33)
    assert domain.tasks[0].tolist() == [[3, 22], [13, 32]]
    assert domain.build().n_states == 2 * 33 * 33 * 18


@pytest.fixture(scope="module")
def pricing():
    return make("pricing").build()


def consumer(alpha_tenths, eta_plus, eta_minus):
    return int(np.ravel_multi_index((alpha_tenths - 4, eta_plus - 3, eta_minus - 8), (6, 5, 5)))


def test_pricing_grids(pricing):
    assert pricing.slow.values[0].tolist() == [0.4, 3, 8]
    assert pricing.slow.values[-1].tolist() == [0.9, 7, 12]
    assert pricing.fast.values[[0, 1, 100], 0] == pytest.approx([0, 0.1, 10])
    assert pricing.actions.values[[0, 1, 20], 0] == pytest.approx([0, 0.5, 10])


def test_pricing_reference(pricing):
    # α = 0.6, reference 5.0, price 3.0: 0.6·5 + 0.4·3 = 4.2.
    assert pricing.next_fast[consumer(6, 5, 10), 50, 6, 0] == 42
    # α = 0.5, reference 0.1, price 0: 0.05 is half a step and rounds up to 0.1.
    assert pricing.next_fast[consumer(5, 3, 8), 1, 0, 0] == 1
    # α = 0.4, reference 0.1, price 0: 0.04 rounds down.
    assert pricing.next_fast[consumer(4, 3, 8), 1, 0, 0] == 0
    # α = 0.7, reference 3.3, price 9.5: 2.31 + 2.85 = 5.16 → 5.2.
    assert pricing.next_fast[consumer(7, 4, 9), 33, 19, 0] == 52


def test_pricing_reward(pricing):
    x = consumer(6, 5, 10)
    # Gain: reference 5, price 3: demand 100 − 15 + 5·2 = 95, times 3.
    assert pricing.reward_XYA[x, 50, 6] == pytest.approx(285)
    # Loss: reference 2, price 6: demand 100 − 30 − 10·4 = 30, times 6.
    assert pricing.reward_XYA[x, 20, 12] == pytest.approx(180)
    # Demand can turn negative: reference 0, price 10, η⁻ = 12: 100 − 50 − 120 = −70.
    worst = consumer(4, 3, 12)
    assert pricing.reward_XYA[worst, 0, 20] == pytest.approx(-700)
    assert Pricing(clip_demand=True).build().reward_XYA[worst, 0, 20] == 0


def test_pricing_noise(pricing):
    # All three stay with probability 0.9³; one moves with 0.05·0.9².
    x = consumer(6, 5, 10)
    P = dict.fromkeys(range(150), 0.0)
    for w, p in enumerate(pricing.noise_W):
        P[int(pricing.next_slow[x, 0, 0, w])] += p
    assert P[x] == pytest.approx(0.9**3)
    assert P[consumer(7, 5, 10)] == pytest.approx(0.05 * 0.9**2)
    assert P[consumer(5, 4, 11)] == pytest.approx(0.05**3)
    assert sum(p > 0 for p in P.values()) == 27
    # In a corner, outward moves have no effect: (0.9 + 0.05)³.
    corner = consumer(4, 3, 8)
    stays = pricing.next_slow[corner, 0, 0] == corner
    assert pricing.noise_W[stays].sum() == pytest.approx(0.95**3)
