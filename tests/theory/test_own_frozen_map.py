"""Models whose frozen map differs from f_Y: the bounds need η and d̃_Y, and `measure` gives them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsdash
from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.errors import InputError
from fsdash.theory import Constants, preset, repaired_bound, rolling_bound, trivial_bound
from fsdash.theory.measured import measure
from fsdash.theory.measured_domains import measured_domains
from fsdash.theory.parameters import COUPLINGS
from tests.models import random_model, seeds, shapes

SLACK = 2e-6
THREE = preset("three-regimes").constants


def reversed_model():
    """Two slow states that never move; a = 1 swaps y, but the frozen map swaps it for a = 0."""
    next_fast = np.array([[0, 1], [1, 0]])[None, :, :, None]
    return FastSlowMDP(
        reward_XYA=np.broadcast_to(np.array([0.0, 1.0])[None, :, None], (2, 2, 2)),
        noise_W=[1.0],
        next_slow=np.arange(2)[:, None, None, None],
        next_fast=next_fast,
        frozen_next_fast=1 - next_fast,
        gamma=0.9,
    )


def test_the_bound_of_a_reversed_frozen_map_is_above_its_regret():
    model = reversed_model()
    best = optimum(model)
    measured = measure(model, best.U_XY)
    assert (measured.alpha, measured.eta, measured.d_y_frozen) == (0, 1, 1)
    policy_PXY = run_until(fsvi(model, 200), tolerance=1e-8).policy_PXY
    true = regret(model, policy_PXY, best=best).max_regret
    constants = measured.constants(0.9)
    assert true == pytest.approx(8.1, abs=1e-6)
    assert repaired_bound(constants, 200, k=10**6).total >= true
    # With α·d_Y = 0 in the place of η the formula is far below the regret.
    without = replace(constants, eta=None, d_y_frozen=None)
    assert repaired_bound(without, 200, k=10**6).total == pytest.approx(5.6e-7, abs=1e-8)


def test_the_bounds_of_a_frontier_are_never_below_the_truth():
    found = fsdash.frontier(reversed_model(), T=[1, 2, 5, 60]).points
    bounded = found[found["method"] != "mpi"]
    assert set(bounded["method"]) == {"fsvi", "rolling", "vi"}
    assert (bounded["bound"] >= bounded["max_regret"]).all()
    assert found["bound"].isna().sum() == (found["method"] == "mpi").sum() > 0


def test_a_frontier_refuses_constants_without_the_frozen_map():
    with pytest.raises(InputError, match=r"L̃ or η is missing.*fsdash\.theory\.measure"):
        fsdash.frontier(reversed_model(), T=[2], constants=THREE)


def model_with_its_own_frozen_map(seed, shape, frozen, gamma):
    """A random model; its slow states are so close that freezing them alone costs little."""
    rng = np.random.default_rng(seed)
    model = random_model(seed, (int(rng.integers(1, 4)), 3, 2, 2), shape, gamma, frozen=frozen)
    step = rng.choice([1e-3, 0.1, 1])
    x = np.arange(model.n_slow)
    return replace(
        model,
        reward_XYA=model.reward_XYA[:1] + 0.1 * step * x[:, None, None],
        slow=Axis(("x",), x * step),
        fast=Axis(("y",), np.sort(rng.uniform(0, 1, 3))),
    )


@settings(max_examples=60)
@given(
    seeds,
    shapes,
    st.sampled_from(["XYAW", "XYA.", ".YA.", "...."]),
    st.sampled_from([0.5, 0.9]),
    st.sampled_from(COUPLINGS),
)
def test_the_bounds_of_random_models_with_their_own_frozen_map_hold(
    seed, shape, frozen, gamma, coupling
):
    model = model_with_its_own_frozen_map(seed, shape, frozen, gamma)
    measured = measure(model, optimum(model, tolerance=1e-9).U_XY, coupling=coupling)
    if not np.isfinite(measured.alpha):  # y never moves, but x does
        return
    constants = measured.constants(gamma)
    found = fsdash.frontier(model, T=[1, 2, 4, 30], constants=constants, tolerance=1e-8).points
    bounded = found[found["method"] != "mpi"]
    assert (bounded["bound"] >= bounded["max_regret"] - SLACK).all()


def test_measured_constants_keep_what_the_bounds_need():
    measured = measure(reversed_model(), coupling="wasserstein")
    constants = measured.constants(0.9)
    for name in ("l_frozen", "eta", "d_y_frozen", "coupling"):
        assert getattr(constants, name) == getattr(measured, name), name
    by_constants = repaired_bound(constants, 9, k=3).total
    assert by_constants == repaired_bound(constants, 9, k=3, l_frozen=measured.l_frozen).total


def test_the_frozen_map_is_f_y_unless_the_constants_say_otherwise():
    same = replace(THREE, eta=THREE.alpha * THREE.d_y, d_y_frozen=THREE.d_y, l_frozen=1.3)
    for T in (1, 2, 9):
        by_default = repaired_bound(THREE, T, k=2, l_frozen=1.3).total
        assert repaired_bound(same, T, k=2).total == pytest.approx(by_default, rel=1e-14)
    for name in ("eta", "d_y_frozen"):
        larger = replace(same, **{name: 2 * getattr(same, name)})
        assert repaired_bound(larger, 9, k=2).total > repaired_bound(same, 9, k=2).total


def test_the_default_of_the_frozen_constant_is_used_only_where_it_holds():
    common, wasserstein = THREE, replace(THREE, coupling="wasserstein")
    for bound in (
        lambda c, **o: repaired_bound(c, 9, k=2, **o),
        lambda c, **o: rolling_bound(c, 9, **o),
    ):
        assert bound(common).total == bound(common, l_frozen=np.hypot(1, 1.2)).total
        assert bound(wasserstein).total == bound(common, l_frozen=2.2).total
        for own in ({"eta": 1.0}, {"d_y_frozen": 1.0}):
            with pytest.raises(InputError, match=r"^l_frozen is missing.*fsdash\.theory\.measure"):
                bound(replace(THREE, **own))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eta": -1}, r"^eta = -1.0 is negative"),
        ({"d_y_frozen": np.inf}, r"^d_y_frozen = inf is not finite"),
        ({"l_frozen": "a"}, r"^l_frozen = 'a' is not a number"),
        ({"coupling": "best"}, r"^coupling = 'best': choose from noise, wasserstein"),
        ({"l_u": None}, r"^l_u = None is not a number"),
    ],
)
def test_bad_constants_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(THREE, **change)


def test_the_stored_domains_have_the_constants_of_their_frozen_map():
    """The inventory freezes the demand that moves the stock: η is √2 times α·d_Y."""
    constants = {name: domain.constants for name, domain in measured_domains().items()}
    ratio = {name: c.eta / (c.alpha * c.d_y) for name, c in constants.items()}
    assert ratio == pytest.approx({"inventory": np.sqrt(2), "gridworld": 1, "pricing": 1})
    for c in constants.values():
        assert isinstance(c, Constants) and c.coupling == "noise"
        assert (c.l_frozen, c.d_y_frozen) == (c.l_f, c.d_y)
        assert repaired_bound(c, 6, k=10).total > trivial_bound(c)
