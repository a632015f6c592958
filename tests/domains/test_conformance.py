"""Properties of every domain and preset."""

from dataclasses import FrozenInstanceError, asdict, fields, replace

import numpy as np
import pytest

from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError

CASES = [(name, preset) for name, domain in DOMAINS.items() for preset in domain.presets]
PAPER_SIZES = {"inventory": (561, 11), "gridworld": (4_356, 32), "pricing": (15_150, 21)}


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request):
    name, preset = request.param
    domain = make(name, preset)
    return domain, domain.build()


def test_building_is_deterministic_and_the_model_is_named(case):
    domain, model = case
    again = make(domain.name, **asdict(domain)).build()
    assert model.name == domain.name and domain.title
    for table in ("reward_XYA", "noise_W", "next_slow", "next_fast", "frozen_next_fast"):
        assert np.array_equal(getattr(model, table), getattr(again, table)), table


def test_rewards_noise_and_initial_distribution(case):
    domain, model = case
    assert np.isfinite(model.reward_XYA).all()
    assert model.noise_W.min() > 0
    assert model.initial_XY == pytest.approx(1 / model.n_states)
    assert model.gamma == domain.gamma


def test_the_slow_state_is_exogenous_and_slow(case):
    _, model = case
    assert model.true.exogenous_slow
    values = model.slow.values
    step = np.abs(values[model.next_slow[:, 0, 0, :]] - values[:, None, :])
    width = np.ptp(values, axis=0)
    # One grid step at most in each coordinate.
    grid = [np.diff(np.unique(column.round(9))).min() for column in values.T]
    assert (step <= np.array(grid) + 1e-9).all() and (width > 0).all()


def test_axes_have_distinct_points_and_labels(case):
    _, model = case
    for axis in (model.slow, model.fast, model.actions):
        assert len(np.unique(axis.values, axis=0)) == len(axis)
        assert axis.label(len(axis) - 1)


def test_the_frozen_level_is_deterministic(case):
    _, model = case
    assert model.frozen.noise_W.tolist() == [1.0]


def test_the_model_fits_into_32_megabytes(case):
    _, model = case
    assert model.nbytes <= 32e6


def test_the_shape_is_known_before_the_model_is_built(case):
    domain, model = case
    assert domain.shape == (*model.reward_XYA.shape, len(model.noise_W))
    assert domain.noisy_fast == (not model.true.noise_free_fast)


@pytest.mark.parametrize("name", PAPER_SIZES)
def test_the_default_sizes_are_those_of_the_paper(name):
    model = make(name).build()
    assert (model.n_states, model.n_actions) == PAPER_SIZES[name]
    assert model.gamma == 0.995


@pytest.mark.parametrize("name", DOMAINS)
def test_every_parameter_has_a_label_and_a_help_text(name):
    for own in DOMAINS[name].parameters().values():
        assert own.label and own.help.endswith("."), own.name
        assert own.low <= own.default <= own.high
        assert f"`{own.name}`" in own.description


@pytest.mark.parametrize("name", DOMAINS)
def test_configurations_are_frozen_hashable_and_read_text(name):
    domain = make(name)
    with pytest.raises(FrozenInstanceError):
        domain.gamma = 0.5
    assert hash(domain) == hash(make(name)) and domain == make(name)
    as_text = {key: str(value) for key, value in asdict(domain).items()}
    assert make(name, **as_text) == domain
    assert replace(domain, gamma="0.9").gamma == 0.9
    assert all(f.default is not None for f in fields(domain))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: make("shop"), ["shop", "inventory, gridworld, pricing"]),
        (lambda: make("inventory", "huge"), ["huge", "default"]),
        (lambda: make("inventory", volume=3), ["volume", "y_max"]),
        (lambda: make("inventory", y_max="many"), ["y_max = many", "whole number"]),
        (lambda: make("inventory", y_max=2.5), ["y_max = 2.5", "whole number"]),
        (lambda: make("inventory", y_max=0), ["y_max = 0"]),
        (lambda: make("inventory", p="nan"), ["p = nan", "finite"]),
        (lambda: make("inventory", move=0.7), ["move = 0.7", "1/2"]),
        (lambda: make("inventory", d_min=5, d_max=4), ["d_min"]),
        (lambda: make("inventory", d_step=3), ["d_step = 3", "divisor of d_max − d_min = 10"]),
        (lambda: make("inventory", gamma=1), ["gamma", "0 ≤ γ < 1"]),
        (lambda: make("inventory", y_max=10**9), ["1,000,000,001 fast states", "smaller"]),
        (lambda: make("gridworld", size=10**6), ["fast states", "smaller"]),
        (lambda: make("pricing", n_reference=10**7 + 1), ["fast states", "smaller"]),
        (lambda: make("gridworld", size=3), ["size = 3", "at least 6"]),
        (lambda: make("gridworld", switch=-1), ["switch"]),
        (lambda: make("pricing", n_reference=100), ["n_reference = 100", "multiple of 20"]),
        (lambda: make("pricing", clip_demand="maybe"), ["clip_demand = maybe", "true or false"]),
        (lambda: make("pricing", alpha_min=0.45), ["alpha_min = 0.45", "tenths"]),
        (lambda: make("pricing", eta_plus_min=9), ["eta_plus_min"]),
    ],
)
def test_an_error_names_the_parameter_and_the_remedy(call, words):
    with pytest.raises(InputError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
