"""Constants, sizes and arguments: unusable values are refused with a helpful message."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from fsdash.errors import InputError
from fsdash.theory import (
    DEFAULT_PRESET,
    PRESETS,
    Constants,
    Sizes,
    fsavi_bound,
    fsvi_bound,
    lemma_regret,
    preset,
    reward_error,
    value_lipschitz_bound,
    vi_bound,
)

GOOD = Constants(gamma=0.9, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10)
NAMES = ["gamma", "alpha", "d_y", "l_r", "l_f", "l_u", "r_max"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, "1", None, True, 10**400, [0.5]])
def test_bad_constants_are_refused_by_name(name, value):
    with pytest.raises(InputError, match=rf"^{name} = .*give") as error:
        replace(GOOD, **{name: value})
    assert "\n" not in str(error.value)


def test_gamma_1_has_its_own_message():
    with pytest.raises(InputError, match=r"gamma = 1 means no discounting.*just below 1"):
        replace(GOOD, gamma=1)
    with pytest.raises(InputError, match=r"gamma = 1.5"):
        replace(GOOD, gamma=1.5)


def test_huge_constants_are_refused():
    with pytest.raises(InputError, match=r"r_max = 1e\+200 .* larger units"):
        replace(GOOD, r_max=1e200)


def test_alpha_can_exceed_the_paper_s_assumption():
    assert replace(GOOD, alpha=3).alpha == 3


def test_constants_are_frozen_floats():
    constants = Constants(
        **dict(zip(NAMES, np.array([0, 0, 1, 1, 1, 1, 1], np.float32), strict=True))
    )
    assert all(type(getattr(constants, name)) is float for name in NAMES)
    assert math.copysign(1, replace(GOOD, alpha=-0.0).alpha) == 1
    assert hash(constants) == hash(replace(constants))
    with pytest.raises(FrozenInstanceError):
        constants.gamma = 0.5


@pytest.mark.parametrize("name", ["n_slow", "n_fast", "n_actions"])
@pytest.mark.parametrize("value", [0, -1, 1.5, math.nan, "3", None, True, 10**13, 10**30, [2, 3]])
def test_bad_sizes_are_refused_by_name(name, value):
    with pytest.raises(InputError, match=f"^{name} .*give"):
        replace(Sizes(n_slow=2, n_fast=3, n_actions=4), **{name: value})


def test_sizes_compute_the_states_and_the_sweep():
    sizes = Sizes(n_slow=11, n_fast=np.int32(51), n_actions=51.0)
    assert sizes == Sizes(n_slow=11, n_fast=51, n_actions=51)
    assert sizes.n_states == 561
    assert sizes.sweep == 561**2 * 51
    assert type(sizes.sweep) is float
    assert Sizes(n_slow=10**12, n_fast=10**12, n_actions=10**12).sweep == 1e60


def test_presets_are_found_by_name():
    assert set(PRESETS) == {
        "three-regimes",
        "long-horizon",
        "reward-error-small",
        "reward-error-large",
    }
    assert all(preset(name).name == name for name in PRESETS)
    assert preset(DEFAULT_PRESET).T == (2, 4, 9, 16, 25)
    assert preset("reward-error-large").constants.l_f == 1.05
    for unknown in ("nope", None, []):
        with pytest.raises(InputError, match=r"preset = .* choose one of three-regimes"):
            preset(unknown)


@pytest.mark.parametrize(
    "T", [0, -1, 1.5, 10**6 + 1, 10**30, np.nan, "4", True, None, [1, 0], [[1], [1, 2]]]
)
def test_bad_horizons_are_refused(T):
    with pytest.raises(InputError, match=r"^T .*give whole numbers from 1 to 1000000"):
        reward_error(GOOD, T)
    with pytest.raises(InputError, match=r"^T "):
        fsvi_bound(GOOD, T, k=1)


@pytest.mark.parametrize("k", [-1, 0.5, np.inf, 10**30, "4", [1, -1]])
def test_bad_iterations_are_refused(k):
    for call in (
        lambda: fsvi_bound(GOOD, 2, k=k),
        lambda: vi_bound(GOOD, k),
        lambda: fsavi_bound(GOOD, 2, k=k, kappa=1, eps_low=0, eps_up=0),
    ):
        with pytest.raises(InputError, match=r"^k .*give whole numbers from 0"):
            call()


def test_bad_fitting_errors_are_refused():
    with pytest.raises(InputError, match=r"^kappa = 0.9 is below 1"):
        fsavi_bound(GOOD, 2, k=1, kappa=0.9, eps_low=0, eps_up=0)
    with pytest.raises(InputError, match=r"^kappa = 1\.2 .*kappa\*gamma.*below 1/gamma = 1\.11111"):
        fsavi_bound(GOOD, 2, k=1, kappa=1.2, eps_low=0, eps_up=0)
    with pytest.raises(InputError, match=r"^eps_low = -1"):
        fsavi_bound(GOOD, 2, k=1, kappa=1, eps_low=-1, eps_up=0)
    with pytest.raises(InputError, match=r"^eps_up = nan"):
        fsavi_bound(GOOD, 2, k=1, kappa=1, eps_low=0, eps_up=np.nan)
    with pytest.raises(InputError, match=r"^value_error = -1"):
        lemma_regret(0.9, 2, reward_error=0, l_u=0, distance=0, value_error=[1, -1])
    with pytest.raises(InputError, match=r"^gamma = 1 "):
        lemma_regret(1, 2, reward_error=0, l_u=0, distance=0, value_error=0)
    with pytest.raises(InputError, match=r"^l_f = nan"):
        value_lipschitz_bound(0.9, 1, l_f=np.nan)
    with pytest.raises(InputError, match=r"^distance = 'far'"):
        lemma_regret(0.9, 2, reward_error=0, l_u=0, distance="far", value_error=0)
