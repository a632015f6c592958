"""Planning with simulators: races, plans, policy files."""

import json

import numpy as np
import pytest

import fsdash
from fsdash.simulators.battery import Battery
from fsdash.simulators.lost_sales import LostSales
from fsdash.simulators.plan import plan_simulator, plan_simulator_steps
from fsdash.simulators.policy import LatticePolicy
from fsdash.simulators.race import Entrant, race, tuned_rule
from fsdash.simulators.simulator import ROWS, Driver
from fsdash.simulators.tabular import TabularSimulator
from tests.models import random_model
from tests.simulators.test_simulator import Shop


@pytest.fixture(scope="module")
def shop_plan():
    return plan_simulator(Shop(), calls=3e6, seed=1)


def constant(action):
    return lambda x, y: np.full(len(x), action)


def test_the_plan_of_a_tabular_model_is_nearly_optimal_and_its_gap_holds():
    model = random_model(4, (3, 5, 3, 3), ("X..W", "XYAW"))
    plan = plan_simulator(TabularSimulator(model), calls=4e6)
    x, y = np.indices((3, 5)).reshape(2, -1, 1).astype(float)
    regret = fsdash.regret(model, plan.act(x, y).reshape(1, 3, 5))
    assert regret.mean_regret <= plan.gap + regret.error
    assert regret.mean_regret < 0.02 * regret.optimal_mean_value
    assert abs(plan.value - model.mean(fsdash.optimum(model).U_XY)) < 3 * plan.value_error
    assert plan.bound == pytest.approx(plan.value + plan.gap)


def test_a_plan_reports_value_gap_lead_and_costs(shop_plan):
    assert shop_plan.method in ("rolling", "thawed", "rule")
    assert shop_plan.gap >= 0 and shop_plan.gap_share < 0.2
    assert shop_plan.lead is not None and shop_plan.lead_error > 0
    assert set(shop_plan.calls) == {"check", "rule", "race", "value", "lattice", "certificate"}
    assert sum(shop_plan.calls.values()) < 5e6
    assert shop_plan.log[0].method == "rule" and "rule won" in shop_plan.log[0].why
    assert "finer lattice" in shop_plan.why


def test_the_same_seed_gives_the_same_plan(shop_plan):
    again = plan_simulator(Shop(), calls=3e6, seed=1)
    assert (again.method, again.T, again.value, again.gap, again.calls) == (
        shop_plan.method,
        shop_plan.T,
        shop_plan.value,
        shop_plan.gap,
        shop_plan.calls,
    )
    assert np.array_equal(again.policy.theta_LFA, shop_plan.policy.theta_LFA)


def test_planning_stops_at_the_wanted_gap_and_refines_the_lattice_otherwise():
    fast = {**Shop.fast, "weather": (0.0, 1.0, 33)}
    sim = type("FineShop", (Shop,), {"gamma": 0.8, "fast": fast})()
    steps = [list(plan_simulator_steps(sim, calls=1e7, gap=gap)) for gap in (0.9, 1e-9)]
    assert steps[0][-1].gap_share <= 0.9
    assert len(steps[0]) == 3 and len(steps[1]) > 3
    sizes = [len(record.policy.theta_LFA) for record in steps[1] if record.policy]
    assert sizes[-1] > sizes[0]


def test_without_a_model_of_the_slow_state_rolling_freeze_remains():
    sim = type("NoMove", (Shop,), {"move": None})()
    plan = plan_simulator(sim, calls=1e6)
    assert plan.method in ("rolling", "rule") and plan.gap is None
    assert "No certificate: the slow state has no model" in plan.why


def test_a_lattice_that_is_too_large_leaves_the_rule():
    sim = LostSales(8)
    sim.gamma = 0.9
    plan = plan_simulator(sim, calls=3e5)
    assert plan.method == "rule" and plan.policy is None
    assert "No lattice" in plan.why and "points" in plan.why
    assert len(plan.theta) == 3
    with pytest.raises(fsdash.InputError, match="theta ="):
        plan.save("rule.npz")


def test_costs_are_reported_as_costs():
    sim = type("Costs", (Shop,), {"sense": "min", "rule": None})()
    sim.play = lambda x, x_next, y, a, u: (lambda y, r: (y, -r))(*Shop().play(x, x_next, y, a, u))
    costs, rewards = (
        plan_simulator(sim, calls=5e5),
        plan_simulator(type("Rewards", (Shop,), {"rule": None})(), calls=5e5),
    )
    assert costs.value == pytest.approx(-rewards.value)


def test_what_was_planned_is_kept_if_the_simulator_fails():
    class Breaks(Shop):
        def feasible(self, y):
            if len(y) != ROWS:  # not the test of the simulator, but the lattice
                raise RuntimeError("licence expired")
            return super().feasible(y)

    plan = plan_simulator(Breaks(), calls=3e6)
    assert "Planning stopped early" in plan.why and "licence expired" in plan.why
    assert np.isfinite(plan.value)


@pytest.mark.parametrize("options", [{"seconds": 0}, {"calls": -1}, {"gap": "1%"}])
def test_bad_options_are_rejected(options):
    with pytest.raises(fsdash.InputError, match=next(iter(options))):
        plan_simulator(Shop(), **options)


def test_a_race_finds_the_best_policy_on_common_random_numbers():
    model = random_model(8, (3, 5, 3, 3), ("X..W", "XYAW"))
    driver = Driver(TabularSimulator(model))
    best = fsdash.optimum(model).policy_PXY[0]
    policies = [constant(0), constant(1), constant(2)]
    policies.append(lambda x, y: best[x[:, 0].astype(int), y[:, 0].astype(int)])
    ranking = race(driver, [Entrant(str(k), p) for k, p in enumerate(policies)], 2e4, [0])
    assert ranking[0].name == "3" and len(ranking) == 4
    # The same noise: a candidate that is entered twice has the same returns.
    twice = race(driver, [Entrant("a", policies[0]), Entrant("b", policies[0])], 2e3, [0])
    assert np.array_equal(twice[0].returns, twice[1].returns)


def test_a_tuned_rule_beats_the_middle_of_its_ranges():
    driver = Driver(type("Impatient", (Battery,), {"gamma": 0.9})())
    tuned = tuned_rule(driver, 1e5, [0])
    middle = np.array([(a + b) / 2 for a, b in Battery.theta.values()])
    rule = Entrant("middle", lambda x, y: driver.rule(middle, x, y))
    assert race(driver, [rule, tuned], 1e5, [1])[0] is tuned


# ---------------------------------------------------------------------------------- policy files


def test_a_policy_file_needs_no_simulator(shop_plan, tmp_path):
    path = tmp_path / "shop.npz"
    shop_plan.save(path)
    policy = fsdash.load_policy(path)
    x, y = Shop().initial(np.random.default_rng(3), 500)
    rows = np.column_stack([x, y])
    wanted = np.array(Shop.actions)[shop_plan.policy.act(x, y)]
    assert np.array_equal(policy(rows), wanted)
    columns = dict(zip(("rate", "kind", "stock", "weather", "day"), rows.T, strict=True))
    assert np.array_equal(policy(columns), wanted)
    one = {name: float(column[0]) for name, column in columns.items()}
    assert policy(one) == wanted[0] == policy(rows[0])
    assert policy.about["gap"] == shop_plan.gap and len(policy.about["hash"]) == 16
    with np.load(path, allow_pickle=False) as file:
        assert json.loads(str(file["about"]))["simulator"] == "Shop"


def test_a_state_outside_the_trained_range_is_warned_about(shop_plan):
    inside = {"rate": 2.0, "kind": 0, "stock": 1, "weather": 0.5, "day": 2}
    with pytest.warns(UserWarning, match=r"rate = 7 is outside the range .* \(1 to 3\)"):
        assert shop_plan.policy({**inside, "rate": 7}) == shop_plan.policy({**inside, "rate": 3})


@pytest.mark.parametrize(
    "state", [{"rate": 2.0}, [1.0, 2.0], [1, 0, 1, 0.5, np.nan], ["a"] * 5, 3.0]
)
def test_a_bad_state_is_rejected(shop_plan, state):
    with pytest.raises(fsdash.InputError, match="state"):
        shop_plan.policy(state)


def test_a_damaged_file_is_rejected(shop_plan, tmp_path):
    path = tmp_path / "policy.npz"
    shop_plan.save(path)
    path.write_bytes(path.read_bytes()[:300])
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "pickled.npz", about=np.array([{}], dtype=object))
    for name in ("policy.npz", "other.npz", "pickled.npz"):
        with pytest.raises(fsdash.InputError, match="not a saved policy"):
            LatticePolicy.load(tmp_path / name)
    with pytest.raises(fsdash.InputError, match="no such file"):
        fsdash.load_policy(tmp_path / "missing.npz")
    with pytest.raises(fsdash.InputError, match="use that ending"):
        shop_plan.save(tmp_path / "policy.csv")
