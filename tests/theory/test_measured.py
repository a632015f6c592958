"""Measured constants, compared with their definitions over all pairs and with worked examples."""

from dataclasses import replace
from itertools import combinations, count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.core.tables import Tables
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.theory import lipschitz, measured
from fsdash.theory.measured import COUPLINGS, measure
from tests.models import in_rows, random_model, random_rows, seeds, shapes, sizes


def by_definition(model, U_XY):
    """The constants from their definitions, over all pairs of feasible pairs, one at a time."""
    pairs = np.argwhere(model.feasible_XYA)
    points = np.array([[*coordinates(model, x, y), *model.actions.values[a]] for x, y, a in pairs])
    states = np.argwhere(model.real_XY)
    state_points = np.array([coordinates(model, x, y) for x, y in states])
    rewards = model.reward_XYA[tuple(pairs.T)][:, None]
    noise = isinstance(model.true, Tables)
    steps = [
        (model.slow.values[x] - model.slow.values[x2], model.fast.values[y] - model.fast.values[y2])
        for x, y, a in pairs
        for p, x2, y2 in next_states(model, model.true, x, y, a)
        if p > 0
    ]
    expected = {
        "d_y": max(np.linalg.norm(dy) for _, dy in steps),
        "slow_step": max(np.linalg.norm(dx) for dx, _ in steps),
        "l_r": ratio(points, rewards, euclidean),
        "l_u": ratio(state_points, U_XY[tuple(states.T)][:, None], euclidean),
    }
    laws_of = {}
    for name, dynamics in (("l_f", model.true), ("l_frozen", model.frozen)):
        laws = laws_of[name] = [
            [(p, coordinates(model, x2, y2)) for p, x2, y2 in next_states(model, dynamics, *pair)]
            for pair in pairs
        ]
        if noise:
            expected[f"{name} noise"] = ratio(points, laws, same_noise)
        expected[f"{name} wasserstein"] = ratio(points, laws, wasserstein)
    both = list(zip(*laws_of.values(), strict=True))
    if noise:
        full = (*model.reward_XYA.shape, len(model.noise_W))
        true, frozen = (
            [np.broadcast_to(t, full) for t in (d.next_slow, d.next_fast)]
            for d in (model.true, model.frozen)
        )
        expected["eta noise"] = max(
            np.linalg.norm(
                coordinates(model, *(t[x, y, a, w] for t in true))
                - coordinates(model, *(t[x, y, a, w] for t in frozen))
            )
            for x, y, a in pairs
            for w in range(len(model.noise_W))
        )
    expected["eta wasserstein"] = max(wasserstein(both))
    expected["d_y_frozen"] = max(
        np.linalg.norm(model.fast.values[y] - model.fast.values[y2])
        for x, y, a in pairs
        for p, _, y2 in next_states(model, model.frozen, x, y, a)
        if p > 0
    )
    return expected


def coordinates(model, x, y):
    return np.concatenate([model.slow.values[x], model.fast.values[y]])


def next_states(model, dynamics, x, y, a):
    """The probability and the next state of each entry of the row, or of each outcome w."""
    if isinstance(dynamics, Rows):
        row = dynamics.row_XYA[x, y, a]
        x2, y2 = np.divmod(dynamics.targets(row), model.n_fast)
        return list(zip(dynamics.probabilities(row), x2, y2, strict=True))
    full = (*model.reward_XYA.shape, len(dynamics.noise_W))
    x2, y2 = (np.broadcast_to(t, full)[x, y, a] for t in (dynamics.next_slow, dynamics.next_fast))
    return list(zip(dynamics.noise_W, x2, y2, strict=True))


def ratio(points, images, distances):
    """The largest distance of two images over the distance of their points."""
    pairs = list(combinations(range(len(points)), 2))
    if not pairs:
        return 0.0
    apart = [np.linalg.norm(points[i] - points[j]) for i, j in pairs]
    return max(distances([(images[i], images[j]) for i, j in pairs]) / apart)


def euclidean(pairs):
    return np.array([np.linalg.norm(u - v) for u, v in pairs])


def same_noise(pairs):
    """The largest distance over the outcomes w."""
    return np.array(
        [
            max(np.linalg.norm(s - s2) for (p, s), (_, s2) in zip(*laws, strict=True) if p > 0)
            for laws in pairs
        ]
    )


def wasserstein(pairs):
    """The transport problems of all pairs of laws as one linear program."""
    costs, equations, given = [], [], []
    for law, other in pairs:
        n, m = len(law), len(other)
        costs.append([np.linalg.norm(s - s2) for _, s in law for _, s2 in other])
        sums = [np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))]
        equations.append(np.vstack(sums)[:-1])  # the last equation follows from the others
        given += [p for p, _ in law] + [p for p, _ in other][:-1]
    A_eq = sparse.block_diag(equations, format="csr")
    found = linprog(np.concatenate(costs), A_eq=A_eq, b_eq=given)
    assert found.success
    parts = np.split(found.x, np.cumsum([len(c) for c in costs])[:-1])
    return np.array([np.dot(c, x) for c, x in zip(costs, parts, strict=True)])


def with_random_coordinates(model, seed):
    """The model with random coordinates in one to three dimensions."""
    rng = np.random.default_rng(seed)

    def axis(n):
        dimensions = int(rng.integers(1, 4))
        names = tuple(f"c{i}" for i in range(dimensions))
        return Axis(names, rng.normal(size=(n, dimensions)))

    X, Y, A = model.reward_XYA.shape
    return replace(model, slow=axis(X), fast=axis(Y), actions=axis(A))


def check(model, U_XY, found, expected):
    """All constants are exact and equal to their definitions."""
    assert found.exact
    assert found.d_y == pytest.approx(expected["d_y"])
    assert found.d_y_frozen == pytest.approx(expected["d_y_frozen"])
    if expected["d_y"] > 0:
        assert found.alpha * found.d_y == pytest.approx(expected["slow_step"])
    possible = model.reward_XYA[model.feasible_XYA]
    assert found.r_max == pytest.approx(possible.max() + max(0, -possible.min()))
    for name in ("l_r", "l_u"):
        assert getattr(found, name) == pytest.approx(expected[name], rel=1e-12), name
    tolerance = 1e-12 if found.coupling == "noise" else 1e-7  # the linear programs are not exact
    for name in ("l_f", "l_frozen", "eta"):
        definition = expected[f"{name} {found.coupling}"]
        assert getattr(found, name) == pytest.approx(definition, rel=tolerance, abs=1e-9), name


@settings(max_examples=25)
@given(seeds, st.tuples(*(st.integers(1, 3) for _ in range(4))), shapes)
def test_all_constants_equal_their_definitions(seed, sizes, shape):
    """Index tables with either coupling, and the same model in rows."""
    model = with_random_coordinates(random_model(seed, sizes, shape, frozen=shape[1]), seed)
    U_XY = np.random.default_rng(seed).normal(size=(model.n_slow, model.n_fast))
    expected = by_definition(model, U_XY)
    noise = measure(model, U_XY)
    assert noise.coupling == "noise"
    check(model, U_XY, noise, expected)
    tables = measure(model, U_XY, coupling="wasserstein")
    check(model, U_XY, tables, expected)
    axes = {"slow": model.slow, "fast": model.fast, "actions": model.actions}
    assert measure(replace(in_rows(model), **axes), U_XY) == tables
    for name in ("l_f", "l_frozen", "eta"):
        assert getattr(tables, name) <= getattr(noise, name) * (1 + 1e-12)
    if model.n_slow > 1:
        assert min(noise.l_frozen, tables.l_frozen) >= 1 - 1e-12


@settings(max_examples=25)
@given(seeds, st.sampled_from([(2, 3, 2), (3, 2, 3), (1, 4, 2), (3, 3, 1)]), st.booleans())
def test_infeasible_actions_and_padding_do_not_count(seed, sizes, padded):
    model = with_random_coordinates(random_rows(seed, sizes, padded=padded), seed)
    U_XY = np.random.default_rng(seed).normal(size=(model.n_slow, model.n_fast))
    check(model, U_XY, measure(model, U_XY), by_definition(model, U_XY))


@settings(max_examples=25)
@given(seeds, shapes)
def test_infeasible_actions_of_index_tables_do_not_count(seed, shape):
    model = with_random_coordinates(random_model(seed, (2, 3, 3, 2), shape), seed)
    rng = np.random.default_rng(seed)
    feasible_XYA = rng.random(model.reward_XYA.shape) < 0.5
    feasible_XYA[..., 0] |= ~feasible_XYA.any(axis=2)
    model = replace(model, feasible_XYA=feasible_XYA)
    U_XY = rng.normal(size=(2, 3))
    expected = by_definition(model, U_XY)
    for coupling in COUPLINGS:
        check(model, U_XY, measure(model, U_XY, coupling=coupling), expected)


@given(seeds, sizes, shapes)
def test_the_frozen_constant_is_bounded_by_that_of_the_dynamics(seed, sizes, shape):
    model = with_random_coordinates(random_model(seed, sizes, shape), seed)
    U_XY = np.zeros((model.n_slow, model.n_fast))
    noise, best = (measure(model, U_XY, coupling=coupling) for coupling in COUPLINGS)
    assert noise.l_frozen <= np.hypot(1, noise.l_f) * (1 + 1e-12)
    assert best.l_frozen <= (1 + best.l_f) * (1 + 1e-12)


@given(seeds, shapes, st.sampled_from(COUPLINGS), st.booleans())
def test_a_search_that_is_cut_off_gives_proven_bounds(seed, shape, coupling, in_the_middle):
    """After no search at all, and after each piece of work that ends with a look at the clock."""
    model = with_random_coordinates(random_model(seed, (2, 4, 3, 2), shape), seed)
    U_XY = np.random.default_rng(seed).normal(size=(2, 4))
    whole = measure(model, U_XY, coupling=coupling)
    with pytest.MonkeyPatch.context() as patch:
        if in_the_middle:
            ticks = count()
            patch.setattr(lipschitz, "BLOCK", 4)
            patch.setattr(lipschitz, "perf_counter", lambda: float(next(ticks)))
            patch.setattr(measured, "perf_counter", lambda: 0.0)
        cut = measure(model, U_XY, coupling=coupling, seconds=seed % 40 if in_the_middle else 0)
    for name, (lower, upper) in cut.intervals.items():
        assert lower <= getattr(whole, name) * (1 + 1e-12), name
        assert upper >= getattr(whole, name) * (1 - 1e-12), name
    assert cut.constants(0.9).l_f == cut.l_f


def test_without_time_to_solve_l_u_is_between_its_bounds():
    model = make("inventory").build()
    exact = measure(model)
    cut = measure(model, seconds=0)
    assert cut.l_u_lower <= exact.l_u <= cut.l_u < np.inf
    assert not cut.exact and exact.exact
    # Each axis of the inventory has one coordinate: neighbours alone give useful bounds.
    assert cut.l_r <= 1.1 * exact.l_r and cut.l_f <= 1.1 * exact.l_f


def test_a_generous_time_limit_changes_nothing():
    model = make("inventory", y_max=12, order_max=12).build()
    assert measure(model, seconds=600) == measure(model)


def two_rows(shape, seed=3):
    """A model with random rows over all states, one for the first state and one for the others."""
    n = shape[0] * shape[1]
    P = np.random.default_rng(seed).dirichlet(np.ones(n), size=2)
    row_S = np.minimum(np.arange(n), 1)
    rows = Rows.from_entries(
        (*shape, 1), np.repeat(np.arange(n), n), np.tile(np.arange(n), n), P[row_S].ravel()
    )
    return FastSlowMDP(reward_XYA=np.zeros((*shape, 1)), rows=rows, gamma=0.9), P


def test_long_rows_in_one_dimension_are_compared_exactly():
    model, P = two_rows((1, 200))
    found = measure(model)
    y = np.arange(200)
    assert found.exact
    assert found.l_f == pytest.approx(wasserstein_distance(y, y, *P), rel=1e-12)


def test_long_rows_in_two_dimensions_have_a_lower_and_an_upper_value():
    """Their transport problem is too large to be solved for every pair."""
    model, P = two_rows((10, 10))
    found = measure(model)
    points = np.array([divmod(i, 10) for i in range(100)])
    [exact] = wasserstein([[list(zip(p, points, strict=True)) for p in P]])
    assert not found.exact
    assert 0 < found.l_f_lower < exact < found.l_f


def test_a_long_slow_axis_is_searched_in_blocks_too():
    model = with_random_coordinates(random_model(5, (9, 3, 2, 2)), 5)
    U_XY = np.random.default_rng(5).normal(size=(9, 3))
    whole = measure(model, U_XY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lipschitz, "LONGEST_TABLE", 4)
        assert measure(model, U_XY) == whole
        patch.setattr(lipschitz, "LONGEST_TABLE", 2)  # both are longer: there are only bounds
        for name, (lower, upper) in measure(model, U_XY).intervals.items():
            assert lower <= getattr(whole, name) <= upper, name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coupling": "best"}, "noise, wasserstein"),
        ({"coupling": "noise"}, "use coupling='wasserstein'"),
        ({"seconds": -1}, "0 or more"),
        ({"seconds": float("nan")}, "0 or more"),
        ({"U_XY": np.zeros(3)}, "U_XY: shape"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        measure(random_rows(0), **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_frozen_dynamics_of_the_domains_are_as_sensitive_as_the_true_ones(name):
    model = make(name).build()
    found = measure(model, np.zeros((model.n_slow, model.n_fast)))
    assert found.l_frozen == found.l_f > 1


@given(seeds, shapes)
def test_the_block_size_does_not_change_the_result(seed, shape):
    model = with_random_coordinates(random_model(seed, (2, 5, 3, 2), shape), seed)
    U_XY = np.random.default_rng(seed).normal(size=(2, 5))
    whole = measure(model, U_XY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lipschitz, "BLOCK", 7)
        assert measure(model, U_XY) == whole


def test_a_worked_example_on_inventory():
    found = measure(make("inventory").build())
    assert (found.d_y, found.alpha) == (50, pytest.approx(1 / 50))
    # The smallest reward is ordering 50 with an empty stock, which costs K + 50c and holding 50;
    # the largest is selling E[min(10, d')] = 9.9 from a stock of 10 at d = 10.
    assert found.reward_shift == pytest.approx(120 + 50 + 50)
    assert found.r_max == pytest.approx(10 * 9.9 - 0.1 + 220)
    # The fixed cost: at least K/5 between ordering nothing and ordering 5.
    assert found.l_r >= (120 + 5) / 5


@pytest.mark.slow
def test_a_worked_example_on_pricing():
    found = measure(make("pricing").build())
    assert found.d_y == pytest.approx(6)  # α = 0.4, reference 0, price 10
    assert found.alpha == pytest.approx(np.sqrt(0.1**2 + 1 + 1) / 6)
    # α moves by 0.1 with reference 0 and price 10: y' moves by 1 and x' by 0.1.
    assert found.l_f == pytest.approx(np.sqrt(1 + 0.01) / 0.1)


@pytest.mark.slow
def test_a_worked_example_on_gridworld():
    found = measure(make("gridworld").build())
    # Delivering task 8 resets the task by 8, the object by 1 and moves one cell.
    assert found.d_y == pytest.approx(np.sqrt(64 + 1 + 1))
    assert found.alpha == pytest.approx(1 / np.sqrt(66))
    assert (found.reward_shift, found.r_max) == (0, 80)


def test_outcomes_of_probability_0_are_ignored():
    model = FastSlowMDP(
        reward_XYA=np.zeros((3, 3, 1)),
        noise_W=[1.0, 0.0],
        next_slow=np.array([[0, 2], [1, 0], [2, 0]])[:, None, None, :],
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.5,
    )
    found = measure(model)
    assert (found.alpha, found.l_f, found.l_r, found.l_u) == (0, 1, 0, 0)


def test_two_states_with_equal_coordinates_have_an_infinite_constant():
    model = random_model(1, sizes=(2, 2, 2, 1))
    same = replace(model, fast=Axis(("y",), [1.0, 1.0]))
    assert measure(same, np.array([[0.0, 1.0], [0.0, 1.0]])).l_u == np.inf


def test_a_measurement_reports_its_parts_and_can_be_ended():
    shares = []
    measure(make("inventory").build(), progress=shares.append)
    assert shares == sorted(shares) and len(shares) == 6

    def stop(share):
        if share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(make("inventory").build(), progress=stop)
