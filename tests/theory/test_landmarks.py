"""Peak, shape and limits of the reward error, compared with its sums."""

from dataclasses import replace

import numpy as np
import pytest

from fsdash.theory import Constants, reward_error
from fsdash.theory.landmarks import (
    critical_l_f,
    freeze_error,
    freeze_error_limit,
    peak,
    reward_error_limit,
    reward_error_shape,
)

CALM = Constants(gamma=0.953, alpha=0.01, d_y=1, l_r=0.5, l_f=0.99, l_u=1, r_max=1)


@pytest.mark.parametrize("l_f", [0.0, 0.5, 0.99, 1.0, 1.03])
def test_the_freeze_error_converges_to_its_limit(l_f):
    constants = replace(CALM, l_f=l_f)
    limit = freeze_error_limit(constants)
    assert reward_error(constants, 20_000).freeze == pytest.approx(limit, rel=1e-9)
    assert reward_error(constants, 150).freeze <= limit


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.953, 0.999])
@pytest.mark.parametrize("T", [1, 2, 3, 40, 150])
def test_the_freeze_error_of_an_array_of_l_f_equals_single_calls(gamma, T):
    l_f = np.array([0.0, 0.5, 0.99, 1.0, 1.03, 1.5, 1e100])
    constants = replace(CALM, gamma=gamma)
    each = [reward_error(replace(constants, l_f=float(value)), T).freeze for value in l_f]
    np.testing.assert_allclose(freeze_error(constants, T, l_f=l_f), each, rtol=1e-12)
    assert freeze_error(replace(constants, l_r=0.0), T, l_f=1e100) == 0


def test_the_limit_is_infinite_above_the_critical_l_f():
    critical = critical_l_f(CALM.gamma)
    assert critical * CALM.gamma == pytest.approx(1)
    below, above = freeze_error_limit(CALM, [critical * 0.999, critical * 1.001])
    assert np.isfinite(below) and above == np.inf


def test_the_limit_is_0_if_the_slow_state_never_moves():
    still = replace(CALM, alpha=0.0)
    np.testing.assert_array_equal(freeze_error_limit(still, [0.5, 2.0]), 0.0)
    assert critical_l_f(0.0) == np.inf


def test_the_peak_is_the_largest_total():
    T = np.arange(1, 151)
    found = peak(CALM, T)
    total = reward_error(CALM, T).total
    assert found.value == total.max() == reward_error(CALM, found.T).total
    assert found.inside
    assert not peak(replace(CALM, l_f=1.5), T).inside


def test_the_shape_gives_the_turning_points_of_the_total():
    T = np.arange(1, 151)
    total = reward_error(replace(CALM, l_f=1.05), T).total
    found = reward_error_shape(replace(CALM, l_f=1.05), T)
    assert found.top == (24, total.max()) and found.rises_again
    assert found.bottom == (84, total[30:].min()) and found.end == (150, total[-1])
    falling = reward_error_shape(CALM, T)
    assert falling.top[0] == 23 and falling.bottom == falling.end and not falling.rises_again


@pytest.mark.parametrize("constants", [replace(CALM, l_f=1.5), replace(CALM, l_u=0.0)])
def test_a_total_that_never_falls_has_no_top(constants):
    found = reward_error_shape(constants, np.arange(1, 151))
    assert found.top is None and found.bottom is None and not found.rises_again


def test_a_total_that_overflows_only_rises():
    found = reward_error_shape(replace(CALM, l_f=1e100, l_r=1e100), np.arange(1, 151))
    assert found.top is None and found.end == (150, np.inf)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.953])
@pytest.mark.parametrize("l_f", [0.0, 0.99, 1.03, 2.0])
@pytest.mark.parametrize("l_r", [0.0, 0.5])
@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_the_total_converges_to_its_limit(gamma, l_f, l_r, alpha):
    # 0.5 · 2 = 1 exactly: without a freeze error, the end-of-horizon error has a finite limit.
    constants = replace(CALM, gamma=gamma, l_f=l_f, l_r=l_r, alpha=alpha)
    far = reward_error(constants, 20_000).total
    if np.isinf(reward_error_limit(constants)):
        assert far > reward_error(constants, 10_000).total or np.isinf(far)
    else:
        assert far == pytest.approx(reward_error_limit(constants), rel=1e-9, abs=1e-12)
