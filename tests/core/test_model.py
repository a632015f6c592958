"""A model is checked when it is built; errors name the field, the index and the remedy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from fsdash.algorithms import e_thaw, rolling, run_until
from fsdash.choice.certify import certify
from fsdash.core.axis import Coordinate
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.domains import make
from fsdash.errors import InputError
from tests.models import random_model, seeds, shapes


def parts(**changes):
    """A valid model of two slow states, three fast states, two actions and two outcomes."""
    return {
        "reward_XYA": np.ones((2, 3, 2)),
        "noise_W": [0.25, 0.75],
        "next_slow": np.zeros((2, 1, 1, 2), int),
        "next_fast": np.zeros((1, 3, 2, 1), int),
        "gamma": 0.5,
    } | changes


def with_entry(shape, index, value, fill=0):
    table = np.full(shape, fill)
    table[index] = value
    return table


BAD = [
    ({"gamma": 1.0}, ["gamma", "0 ≤ γ < 1"]),
    ({"gamma": -0.1}, ["gamma"]),
    ({"gamma": float("nan")}, ["gamma"]),
    ({"reward_XYA": np.ones((2, 3))}, ["reward_XYA", "(X, Y, A)"]),
    ({"reward_XYA": np.ones((0, 3, 2))}, ["reward_XYA"]),
    ({"reward_XYA": "much"}, ["reward_XYA", "real numbers"]),
    ({"reward_XYA": [[1.0], [1.0, 2.0]]}, ["reward_XYA", "real numbers"]),
    ({"reward_XYA": np.full((2, 3, 2), 1e200)}, ["reward_XYA", "units"]),
    ({"gamma": "a"}, ["gamma"]),
    ({"gamma": None}, ["gamma"]),
    ({"slow": [1, 2]}, ["slow", "Axis(names, values)"]),
    (
        {"reward_XYA": with_entry((2, 3, 2), (1, 2, 0), np.nan, 0.0)},
        ["reward_XYA[1, 2, 0]", "finite"],
    ),
    ({"reward_XYA": with_entry((2, 3, 2), (0, 0, 1), np.inf, 0.0)}, ["[0, 0, 1]", "-inf"]),
    ({"feasible_XYA": np.ones((2, 3, 1), bool)}, ["feasible_XYA", "(2, 3, 2)"]),
    ({"reward_XYA": np.full((2, 3, 2), -np.inf)}, ["(0, 0)", "no feasible action"]),
    ({"sense": "maximise"}, ["sense", "max, min"]),
    ({"noise_W": [0.5, 0.6]}, ["noise_W", "1.1", "divide"]),
    ({"noise_W": [1.5, -0.5]}, ["noise_W[1]", "-0.5"]),
    ({"noise_W": [[1.0]]}, ["noise_W", "shape"]),
    ({"noise_W": []}, ["noise_W"]),
    ({"next_slow": np.zeros((2, 1, 1, 3), int)}, ["next_slow", "(2, 3, 2, 2)"]),
    ({"next_slow": np.zeros((2, 1, 2), int)}, ["next_slow", "four axes"]),
    ({"next_slow": np.zeros((2, 1, 1, 2))}, ["next_slow", "float64", "integers"]),
    (
        {"next_slow": with_entry((2, 1, 1, 2), (1, 0, 0, 1), 2)},
        ["next_slow[1, 0, 0, 1] = 2", "0 to 1"],
    ),
    ({"next_fast": with_entry((1, 3, 2, 1), (0, 2, 1, 0), -1)}, ["next_fast[0, 2, 1, 0] = -1"]),
    (
        {"frozen_next_fast": with_entry((1, 3, 2, 1), (0, 0, 0, 0), 3)},
        ["frozen_next_fast", "0 to 2"],
    ),
    ({"initial_XY": np.full((2, 3), 1 / 5)}, ["initial_XY", "1.2"]),
    ({"initial_XY": np.full((3, 2), 1 / 6)}, ["initial_XY", "(2, 3)"]),
    ({"slow": Axis(("d",), np.arange(3))}, ["slow", "3 points", "2"]),
]


@pytest.mark.parametrize("changes, words", BAD, ids=[next(iter(changes)) for changes, _ in BAD])
def test_errors_name_the_bad_field_and_the_remedy(changes, words):
    with pytest.raises(InputError) as caught:
        FastSlowMDP(**parts(**changes))
    for word in words:
        assert word in str(caught.value)


def test_a_valid_model_fills_in_defaults_and_copies_its_arrays():
    reward = np.ones((2, 3, 2))
    model = FastSlowMDP(**parts(reward_XYA=reward))
    reward[:] = 7
    assert (model.reward_XYA == 1).all()
    assert (model.n_slow, model.n_fast, model.n_actions, model.n_states) == (2, 3, 2, 6)
    assert model.initial_XY.sum() == pytest.approx(1)
    assert model.frozen_next_fast is model.next_fast
    assert model.next_slow.dtype == np.uint32
    with pytest.raises(ValueError, match="read-only"):
        model.reward_XYA[0, 0, 0] = 2


def test_shapes_determine_the_structure():
    model = FastSlowMDP(**parts())
    assert model.true.exogenous_slow and model.true.noise_free_fast and model.true.separable
    assert model.frozen.next_slow[:, 0, 0, 0].tolist() == [0, 1]
    assert model.frozen.noise_W.tolist() == [1.0]
    noisy = FastSlowMDP(**parts(next_fast=np.arange(24).reshape(2, 3, 2, 2) % 3))
    assert not noisy.true.separable and noisy.true.exogenous_slow
    assert noisy.frozen.noise_W.tolist() == [0.25, 0.75]


@given(seeds, shapes)
def test_axes_along_which_a_table_does_not_change_are_compressed(seed, shape):
    """A table given in full is the same model as the table with axes of length 1."""
    small = random_model(seed, shape=shape, frozen=shape[1])
    full = {
        name: np.broadcast_to(getattr(small, name), (*small.reward_XYA.shape, 3))
        for name in ("next_slow", "next_fast", "frozen_next_fast")
    }
    large = replace(small, **full)
    for name in full:
        assert np.array_equal(getattr(large, name), getattr(small, name))
    # One entry that differs is enough to keep its axes.
    table = np.zeros((3, 4, 2, 3), int)
    table[1, 2, 1, 1] = 1
    assert replace(small, next_slow=table).next_slow.shape == (3, 4, 2, 3)


def test_a_broadcast_inventory_behaves_like_the_original():
    small = make("inventory").build()
    full = (*small.reward_XYA.shape, len(small.noise_W))
    large = replace(small, next_slow=np.broadcast_to(small.next_slow, full))
    assert large.true.exogenous_slow and large.nbytes == small.nbytes
    policy = run_until(rolling(small, 24), iterations=24).policy_PXY
    assert certify(large, policy).max_regret == certify(small, policy).max_regret
    thawed = [next(e_thaw(model, np.random.default_rng(0))) for model in (small, large)]
    assert np.array_equal(thawed[0].policy_PXY, thawed[1].policy_PXY)


def test_axis_labels_and_bad_coordinates():
    axis = Axis(("price", "memory"), [(1.5, 0.4), (2, 0.5)])
    assert axis.label(0) == "price=1.5, memory=0.4"
    assert len(axis) == 2
    words = {"regime": Coordinate(words={1.0: "busy"})}
    regimes = Axis(("regime", "level"), [(0, 0.4), (1, 0.5)], words)
    assert [regimes.label(i) for i in (0, 1)] == ["regime=0, level=0.4", "regime=busy, level=0.5"]
    with pytest.raises(InputError, match="one column per name"):
        Axis(("price",), [(1.5, 0.4)])
    with pytest.raises(InputError, match="point 1 is not finite"):
        Axis(("price",), [1.0, np.inf])
