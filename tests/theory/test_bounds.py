"""The bounds, compared with the paper's formulas in 50 digits."""

from dataclasses import astuple, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from fsdash.theory import (
    Constants,
    Sizes,
    bounds_table,
    fsavi_bound,
    fsvi_bound,
    iteration_term,
    lemma_regret,
    preset,
    repaired_bound,
    reward_error,
    rolling_bound,
    transition_distance,
    trivial_bound,
    value_lipschitz_bound,
    vi_bound,
)

mp.dps = 50
thorough = settings(max_examples=250, deadline=None, derandomize=True, database=None)

GOOD = Constants(gamma=0.9, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10)

NEAR_ONE = [1 - 1e-15, 1 - 1e-12, 1 - 1e-9, 1 - 1e-6, 1 - 1e-3]
gammas = st.one_of(st.floats(0, 0.999), st.sampled_from([0.0, 1e-300, 1e-9, 0.5, *NEAR_ONE]))
ratios = st.one_of(
    st.floats(0, 3),
    st.sampled_from([0.0, 1e-300, 1.0, 50.0, 1e9, *NEAR_ONE, *(2 - x for x in NEAR_ONE)]),
)
scales = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
constants_drawn = st.builds(
    Constants,
    gamma=gammas,
    alpha=scales,
    d_y=scales,
    l_r=scales,
    l_f=ratios,
    l_u=scales,
    r_max=scales,
)
horizons = st.one_of(st.integers(1, 6), st.integers(1, 120))
iterations = st.integers(0, 80)


def exact_reward_error(c, T):
    """Both errors, by the sums of the proposition."""
    gamma, l_f = mpf(c.gamma), mpf(c.l_f)
    freeze = inner = mpf(0)  # inner is Σ_{j<i} L_f^j
    discount = power = mpf(1)  # γ^i and L_f^i
    for _ in range(1, T - 1):
        inner, power, discount = inner + power, power * l_f, discount * gamma
        freeze += discount * inner
    tail = inner + power if T > 1 else mpf(0)
    drift = mpf(c.alpha) * mpf(c.d_y) * tail
    terminal = gamma * mpf(c.d_y) * (mpf(c.alpha) + 2) * (T - 1)
    return (
        mpf(c.alpha) * mpf(c.d_y) * mpf(c.l_r) * freeze,
        gamma ** (T - 1) * mpf(c.l_u) * (drift + terminal),
    )


def exact_lemma(gamma, T, reward_error, l_u_distance, value_error):
    """The lemma's three terms with the coefficients as the paper prints them."""
    q = mpf(gamma) ** T
    return (
        (2 * q / (1 - q) ** 2 + 2 / (1 - q)) * reward_error,
        (2 * q**2 / (1 - q) ** 2 + 2 * q / (1 - q)) * l_u_distance,
        2 * q / (1 - q) * value_error,
    )


def exact_distance(c, T):
    return 2 * mpf(c.d_y) * (mpf(c.alpha) + 1) * (T - 1)


def same(ours, exact, digits=1e-11):
    """Equal to 11 digits; inf only where the exact value is at or beyond the largest float."""
    assert isinstance(ours, float)
    if exact > mpf(10) ** 290:
        return ours == np.inf or abs(ours - exact) <= digits * exact
    # Numbers around the smallest float have no digits left to compare.
    return ours >= 0 and abs(ours - exact) <= digits * exact + mpf(10) ** -290


@pytest.mark.slow
@thorough
@given(constants_drawn, horizons)
def test_reward_error_equals_the_double_sum(c, T):
    with np.errstate(all="raise"):
        error = reward_error(c, T)
    freeze, end_of_horizon = exact_reward_error(c, T)
    assert same(error.freeze, freeze)
    assert same(error.end_of_horizon, end_of_horizon)
    assert error.total == error.freeze + error.end_of_horizon


def test_reward_error_equals_exact_fractions():
    eighths = dict(gamma=7, alpha=3, d_y=5, l_r=9, l_f=10, l_u=2, r_max=80)
    c = Constants(**{name: Fraction(n, 8) for name, n in eighths.items()})
    gamma, alpha, d_y, l_r, l_f, l_u = (Fraction(x) for x in astuple(c)[:6])
    for T in range(1, 30):
        inner = [sum(l_f**j for j in range(i)) for i in range(T)]
        freeze = alpha * d_y * l_r * sum(gamma**i * inner[i] for i in range(1, T - 1))
        drift = alpha * d_y * inner[T - 1] + gamma * d_y * (alpha + 2) * (T - 1)
        error = reward_error(c, T)
        assert error.freeze == pytest.approx(float(freeze), rel=1e-14)
        assert error.end_of_horizon == pytest.approx(
            float(gamma ** (T - 1) * l_u * drift), rel=1e-14
        )


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.9, 0.9999, 1 - 1e-7, 1 - 1e-12])
@pytest.mark.parametrize("l_f", [0.5, 1 - 1e-4, 1 - 1e-12, 1.0, 1 + 1e-12, 1 + 1e-7, 1.0001, 1.05])
def test_long_horizons_keep_their_digits(gamma, l_f):
    c = replace(GOOD, gamma=gamma, l_f=l_f)
    T = [3, 100, 10_000]
    error = reward_error(c, T)
    for i, horizon in enumerate(T):
        freeze, end_of_horizon = exact_reward_error(c, horizon)
        assert same(float(error.freeze[i]), freeze)
        assert same(float(error.end_of_horizon[i]), end_of_horizon)


@pytest.mark.slow
@thorough
@given(constants_drawn, horizons, iterations)
def test_fsvi_regret_equals_the_theorem(c, T, k):
    with np.errstate(all="raise"):
        regret = fsvi_bound(c, T, k=k)
    error = sum(exact_reward_error(c, T))
    moved = mpf(c.l_u) * exact_distance(c, T)
    reward_term, transition_term, _ = exact_lemma(c.gamma, T, error, moved, 0)
    gamma = mpf(c.gamma)
    iteration = 2 * mpf(c.r_max) * gamma ** ((k + 1) * T) / ((1 - gamma) * (1 - gamma**T))
    assert same(regret.reward_term, reward_term)
    assert same(regret.transition_term, transition_term)
    assert same(regret.iteration_term, iteration)
    assert same(regret.total, reward_term + transition_term + iteration)
    assert regret.iteration_term == iteration_term(c, T, k=k)


@thorough
@given(constants_drawn, iterations)
def test_fsvi_with_horizon_1_is_base_vi(c, k):
    regret = fsvi_bound(c, 1, k=k)
    assert regret.floor == 0
    assert regret.total == vi_bound(c, k)
    gamma = mpf(c.gamma)
    assert same(vi_bound(c, k), 2 * mpf(c.r_max) * gamma ** (k + 1) / (1 - gamma) ** 2)


@pytest.mark.slow
@thorough
@given(constants_drawn, horizons, scales, scales, scales)
def test_lemma_regret_equals_the_lemma(c, T, error, distance, value_error):
    ours = lemma_regret(
        c.gamma, T, reward_error=error, l_u=c.l_u, distance=distance, value_error=value_error
    )
    moved = mpf(c.l_u) * mpf(distance)
    exact = exact_lemma(c.gamma, T, mpf(error), moved, mpf(value_error))
    assert same(ours.reward_term, exact[0])
    assert same(ours.transition_term, exact[1])
    assert same(ours.value_term, exact[2])
    assert same(ours.total, sum(exact))


def test_worked_examples_of_small_horizons():
    error = reward_error(GOOD, [1, 2, 3])
    assert error.freeze == pytest.approx([0, 0, 0.05 * 0.5 * 0.9])
    assert error.end_of_horizon == pytest.approx(
        [
            0,
            0.9 * 0.05 * (0.05 + 0.9 * 2.05),
            0.81 * 0.05 * (0.05 * 2.2 + 0.9 * 2.05 * 2),
        ]
    )
    assert transition_distance(GOOD, 4) == pytest.approx(2 * 1.05 * 3)
    assert trivial_bound(GOOD) == pytest.approx(100)


def test_shape_of_the_paper_s_reward_error_figure():
    small = reward_error(preset("reward-error-small").constants, np.arange(1, 151))
    large = reward_error(preset("reward-error-large").constants, np.arange(1, 151))
    for error in (small, large):
        peak = int(np.argmax(error.end_of_horizon))
        assert 0 < peak < 149
        assert (np.diff(error.end_of_horizon[peak:]) < 0).all()
    # γ L_f is 0.943 and 1.0007: the first freeze error levels off, the second does not.
    assert np.diff(small.freeze)[-1] < 0.01 * np.diff(small.freeze).max()
    assert (np.diff(large.freeze, n=2) > 0).all()
    assert small.total[149] < small.total[75]
    assert large.total[149] > large.total[75]


@pytest.mark.parametrize(
    "changes",
    [
        {"l_f": 1e100},
        {"l_f": 2.0, "gamma": 1 - 1e-12},
        {"l_f": 1e9, "gamma": 1e-300},
        {"l_f": 3.0, "alpha": 0.0},
        {"l_f": 3.0, "l_u": 0.0},
        {"l_f": 3.0, "l_r": 0.0},
        {"l_f": 3.0, "d_y": 0.0},
        {"gamma": 0.0, "l_f": 0.0},
        {"gamma": 0.0, "l_f": 1e100},
        {name: 1e100 for name in ("alpha", "d_y", "l_r", "l_f", "l_u", "r_max")},
        {name: 0.0 for name in ("alpha", "d_y", "l_r", "l_f", "l_u", "r_max")},
    ],
)
def test_overflow_is_infinite_and_never_nan(changes):
    c = replace(GOOD, **changes)
    T, k = np.array([1, 2, 3, 100, 10_000])[:, None], np.array([0, 1, 10**12])
    with np.errstate(all="raise"):
        table = bounds_table(c, Sizes(n_slow=10**12, n_fast=10**12, n_actions=10**12), T=T, k=k)
        table["fsavi"] = fsavi_bound(c, T, k=k, kappa=1.0, eps_low=0.1, eps_up=0.1).total
    assert not any(np.isnan(column).any() for column in table.values())
    assert all((column >= 0).all() for column in table.values())
    # A coefficient of 0 times a sum that overflowed is 0.
    if c.alpha * c.d_y * c.l_r == 0:
        assert (table["freeze_error"] == 0).all()


def test_large_constants_overflow_to_infinity():
    error = reward_error(replace(GOOD, l_f=1e9, l_u=0), [2, 3, 10_000])
    assert error.freeze[0] == 0 < error.freeze[1] < error.freeze[2] == np.inf
    assert fsvi_bound(replace(GOOD, l_f=1e9), 10_000, k=1).total == np.inf


@thorough
@given(constants_drawn, horizons)
def test_more_iterations_never_increase_the_bound(c, T):
    regret = fsvi_bound(c, T, k=np.arange(60))
    assert (regret.iteration_term[1:] <= regret.iteration_term[:-1]).all()
    assert (regret.total[1:] <= regret.total[:-1]).all()
    assert (regret.total >= regret.floor).all()


def test_arrays_equal_scalar_calls():
    T, k = np.arange(1, 40)[:, None], np.arange(7)
    c = replace(GOOD, gamma=0.97)
    grids = {
        "reward": fsvi_bound(c, T, k=k).total,
        "fsavi": fsavi_bound(c, T, k=k, kappa=1.01, eps_low=0.2, eps_up=0.3).total,
        "stated": fsavi_bound(c, T, k=k, kappa=1.01, eps_low=0.2, eps_up=0.3, bound="stated").total,
    }
    for i in range(39):
        for j in range(7):
            one = {
                "reward": fsvi_bound(c, i + 1, k=j).total,
                "fsavi": fsavi_bound(c, i + 1, k=j, kappa=1.01, eps_low=0.2, eps_up=0.3).total,
                "stated": fsavi_bound(
                    c, i + 1, k=j, kappa=1.01, eps_low=0.2, eps_up=0.3, bound="stated"
                ).total,
            }
            for name, value in one.items():
                assert type(value) is float
                assert value == pytest.approx(grids[name][i, j], rel=1e-14)


def test_bounds_table_equals_single_calls():
    chosen = preset("three-regimes")
    table = bounds_table(chosen.constants, chosen.sizes, T=chosen.T, k=[1, 5])
    assert list(table) == [
        "T",
        "k",
        "freeze_error",
        "end_of_horizon_error",
        "reward_error",
        "reward_term",
        "transition_term",
        "iteration_term",
        "fsvi_bound",
        "vi_bound",
        "rolling_bound",
        "trivial_bound",
        "fsvi_cost",
        "vi_cost",
        "rolling_cost",
    ]
    assert {column.shape for column in table.values()} == {(5, 2)}
    records = [
        dict(zip(table, row, strict=True))
        for row in zip(*map(np.ravel, table.values()), strict=True)
    ]
    assert [(r["T"], r["k"]) for r in records[:3]] == [(2, 1), (2, 5), (4, 1)]
    for r in records:
        T, k = int(r["T"]), int(r["k"])
        assert r["fsvi_bound"] == pytest.approx(fsvi_bound(chosen.constants, T, k=k).total)
        assert r["vi_bound"] == pytest.approx(vi_bound(chosen.constants, k))
        assert r["rolling_bound"] == pytest.approx(rolling_bound(chosen.constants, T).total)
        terms = r["reward_term"] + r["transition_term"] + r["iteration_term"]
        assert terms == pytest.approx(r["fsvi_bound"])
    assert bounds_table(chosen.constants, chosen.sizes, T=3, k=4)["T"].shape == (1, 1)


def test_bounds_table_takes_a_bound():
    chosen = preset("three-regimes")
    table = bounds_table(chosen.constants, chosen.sizes, T=[2, 9], k=[1, 5], bound=repaired_bound)
    for row, T in enumerate((2, 9)):
        expected = repaired_bound(chosen.constants, T, k=5)
        assert table["fsvi_bound"][row, 1] == pytest.approx(expected.total, rel=1e-14)
        assert table["reward_term"][row, 1] == pytest.approx(expected.reward_term, rel=1e-14)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("l_f", [0.0, 0.5, 1.0, 1 + 1e-9, 1.2, 2.0, 1e6])
def test_value_lipschitz_bound_equals_its_formula(gamma, l_f):
    ours = value_lipschitz_bound(gamma, 0.5, l_f=l_f)
    gap = 1 - mpf(gamma) * mpf(l_f)
    if abs(gap) < 1e-17:  # 1 - 1e-9 times 1 + 1e-9 is 1 - 1e-18: no float tells it from 1
        assert ours > 1e15
    else:
        assert same(ours, mpf("0.5") / gap) if gap > 0 else ours == np.inf


def test_value_lipschitz_bound_of_arrays():
    assert value_lipschitz_bound(0.5, 1, l_f=[0, 1, 2, 3]) == pytest.approx([1, 2, np.inf, np.inf])


def test_empty_input_gives_empty_output():
    assert reward_error(GOOD, []).total.shape == (0,)
    assert fsvi_bound(GOOD, np.ones((0, 1), dtype=int), k=[1, 2]).total.shape == (0, 2)
