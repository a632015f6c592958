"""Declaring and checking simulators: every fault is reported, all of them at once."""

import time

import numpy as np
import pytest

import fsdash
from fsdash.simulators.battery import Battery
from fsdash.simulators.dual import no_certificate
from fsdash.simulators.lost_sales import LostSales, poisson
from fsdash.simulators.pricing import ContinuousPricing
from fsdash.simulators.queue import Queue
from fsdash.simulators.simulator import SECONDS, Driver, SimulatorFaults, check_simulator
from fsdash.simulators.tabular import TabularSimulator
from tests.models import random_model

SIMULATORS = [Battery(), LostSales(3), ContinuousPricing(), Queue()]


class Shop(fsdash.Simulator):
    """A small simulator without faults, with everything that can be declared."""

    gamma, actions, noise, sense = 0.9, [0, 1, 2], 2, "max"
    slow = {"rate": (1.0, 3.0), "kind": [0, 1]}
    fast = {"stock": range(6), "weather": (0.0, 1.0, 5), "day": fsdash.clock(7)}
    controlled = ["stock"]
    theta = {"up to": (0, 6)}

    def initial(self, rng, n):
        y = np.column_stack([rng.integers(0, 6, n), rng.random(n), rng.integers(0, 7, n)])
        return np.column_stack([rng.uniform(1, 3, n), rng.integers(0, 2, n)]), y

    def move(self, x, u):
        return np.column_stack([np.clip(x[:, 0] + 0.1 * (u[:, 0] - 0.5), 1, 3), x[:, 1]])

    def play(self, x, x_next, y, a, u):
        stock = np.minimum(y[:, 0] + a, 5)
        sold = np.minimum(stock, np.floor(x[:, 0] * 2 * u[:, 1]))
        weather = np.clip(0.5 * y[:, 1] + 0.5 * u[:, 1], 0, 1)
        return np.column_stack([stock - sold, weather, (y[:, 2] + 1) % 7]), 3 * sold - a

    def rule(self, theta, x, y):
        return np.clip(np.round(theta[0]) - y[:, 0], 0, 2).astype(int)

    def feasible(self, y):
        return y[:, :1] + np.arange(3) <= 5


def changed(**attributes):
    return type("Changed", (Shop,), attributes)()


def faults(sim, **options):
    with pytest.raises(SimulatorFaults) as error:
        check_simulator(sim, **options)
    assert isinstance(error.value, fsdash.InputError)
    return error.value.faults


def with_answer(change):
    """`play` with its answer (y', r) changed by a function."""

    def play(self, x, x_next, y, a, u):
        y_next, r = Shop.play(self, x, x_next, y, a, u)
        return change(y_next.copy(), r.copy())

    return changed(play=play)


def put(array, where, value):
    array[where] = value
    return array


@pytest.mark.parametrize("sim", [*SIMULATORS, Shop()], ids=lambda sim: sim.name)
def test_the_simulators_have_no_faults(sim):
    check_simulator(sim)


def test_the_structure_is_found():
    found = check_simulator(LostSales(3))
    stock_reads, order_1_reads, order_2_reads, cost_reads = found.reads.tolist()
    assert stock_reads == [True, True, False, False]  # stock and the oldest order
    assert order_1_reads == [False, False, True, False]
    assert order_2_reads == [False, False, False, True]  # the action alone
    assert cost_reads == [True, False, False, False]
    assert found.noisy.tolist() == [True, False, False, True]
    assert found.separate
    assert not check_simulator(TabularSimulator(random_model(1, shape=("X..W", "XYAW")))).separate


BAD_ANSWERS = {
    "NaN": (lambda y, r: (y, put(r, 3, np.nan)), "reward in row 3 .*finite"),
    "infinite": (lambda y, r: (put(y, (5, 1), np.inf), r), "finite"),
    "shape of y'": (lambda y, r: (y[:, :2], r), r"shape \(1000, 2\): return shape \(1000, 3\)"),
    "shape of r": (lambda y, r: (y, r[:, None]), r"shape \(1000, 1\)"),
    "dtype": (lambda y, r: (y, r.astype(str)), "dtype .*real numbers"),
    "complex": (lambda y, r: (y, r * 1j), "dtype complex"),
    "range": (lambda y, r: (put(y, (0, 0), 9), r), "stock = 9 .*0 to 5.*clip"),
    "between values": (lambda y, r: (put(y, (0, 0), 0.5), r), "stock = 0.5 is not one of"),
    "one answer": (lambda y, r: y, "return y' and the rewards"),
    "clock": (lambda y, r: (put(y, (slice(None), 2), 0), r), "clock day must become"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_is_reported_with_a_remedy(name):
    change, message = BAD_ANSWERS[name]
    with pytest.raises(SimulatorFaults, match=message):
        check_simulator(with_answer(change))


def test_randomness_of_its_own_is_a_fault():
    rng = np.random.default_rng(0)
    [fault] = faults(with_answer(lambda y, r: (y, r + rng.random(len(r)))))
    assert "take all randomness from u" in fault


def test_rows_that_influence_each_other_are_a_fault():
    [fault] = faults(with_answer(lambda y, r: (y, r - r.mean())))
    assert "treat each row alone" in fault


def test_an_exception_is_reported_with_its_type():
    def play(self, x, x_next, y, a, u):
        raise ZeroDivisionError("no demand")

    [fault] = faults(changed(play=play))
    assert "play raised ZeroDivisionError: no demand" in fault


def test_changing_an_argument_is_reported():
    def play(self, x, x_next, y, a, u):
        y[:, 0] += a
        return y, a

    assert "copy an argument" in faults(changed(play=play))[0]


def test_a_slow_state_that_depends_on_the_action_is_a_fault_unless_declared():
    def move(self, x, u, y, a):
        return np.column_stack([np.clip(x[:, 0] + 0.1 * a, 1, 3), x[:, 1]])

    [fault] = faults(changed(move=move))
    assert "set exogenous = False" in fault
    assert check_simulator(changed(move=move, exogenous=False)) is not None
    assert "not exogenous" in no_certificate(Driver(changed(move=move, exogenous=False)))


def test_an_exogenous_coordinate_that_the_action_changes_is_a_fault():
    [fault] = faults(changed(controlled=[]))
    assert "stock depends on the action" in fault and "add it to `controlled`" in fault


def test_an_endless_loop_ends_after_the_time_limit():
    def move(self, x, u):
        while True:
            pass

    start = time.perf_counter()
    assert any("endless loop" in fault for fault in faults(changed(move=move), seconds=0.2))
    assert time.perf_counter() - start < SECONDS


@pytest.mark.parametrize("rule", [lambda self, t, x, y: y[:, 0] + 0.5, lambda self, t, x, y: 7])
def test_a_rule_that_fails_is_a_fault(rule):
    assert "rule" in faults(changed(rule=rule))[0]


def test_all_faults_are_reported_at_once():
    def initial(self, rng, n):
        return np.zeros((n, 2)), np.zeros((n, 3))  # rate 0 is below its range

    def move(self, x, u):
        return x[:, :1]

    def feasible(self, y):
        return np.zeros((len(y), 3), bool)

    found = faults(changed(initial=initial, move=move, feasible=feasible))
    for word in ("initial", "move", "feasible"):
        assert any(fault.startswith(word) for fault in found)


@pytest.mark.parametrize(
    ("attribute", "value", "word"),
    [
        ("gamma", 1.0, "gamma"),
        ("actions", [], "actions"),
        ("noise", -1, "noise"),
        ("sense", "best", "sense"),
        ("slow", {"rate": (3, 1)}, "rate"),
        ("slow", [1, 2], "slow"),
        ("fast", {"stock": (0, 5, 1)}, "stock"),
        ("fast", {"stock": "full"}, "stock"),
        ("controlled", ["stok"], "stok"),
        ("theta", {"up to": (6, 0)}, "up to"),
    ],
)
def test_a_bad_declaration_is_reported(attribute, value, word):
    with pytest.raises(SimulatorFaults, match=word):
        check_simulator(changed(**{attribute: value}))


def test_functions_make_the_same_simulator_as_a_class():
    shop = Shop()
    names = ("gamma", "actions", "noise", "slow", "fast", "controlled", "theta")
    functions = ("initial", "move", "rule", "feasible")
    other = fsdash.simulator(
        shop.play, **{name: getattr(shop, name) for name in (*names, *functions)}
    )
    a, b = check_simulator(shop), check_simulator(other)
    assert np.array_equal(a.reads, b.reads) and np.array_equal(a.noisy, b.noisy)
    with pytest.raises(fsdash.InputError, match="gama"):
        fsdash.simulator(shop.play, gama=0.9)


def test_costs_become_negative_rewards():
    arguments = [np.array(v, float) for v in ([[np.log(5)]], [[np.log(5)]], [[3, 2, 1]])]
    y, r = Driver(LostSales(3)).play(*arguments, np.array([7]), np.array([[0.5, 0.5]]))
    # The median of Poisson(5) is 5: 3 are sold, 2 are lost, the order of 2 arrives.
    assert y.tolist() == [[2, 1, 7]] and r.tolist() == [-38]


def test_poisson_numbers_are_quantiles():
    from scipy.stats import poisson as law

    u, rate = np.random.default_rng(0).random((2, 500))
    rate = 1 + 9 * rate
    assert np.array_equal(poisson(u, rate), law.ppf(u, rate))
