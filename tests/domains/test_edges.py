"""Every parameter is accepted up to the ends of its range and refused beyond them."""

from math import inf, isfinite, nextafter

import numpy as np
import pytest

import fsdash
from fsdash.domains import DOMAINS, Inventory, Pricing, make
from fsdash.errors import InputError

OPEN_ENDS = {("gamma", 1), ("price_max", 0)}
"""Ends of a declared range that are not permitted themselves."""
RANGES = {
    "inventory": {
        **dict.fromkeys(("y_max", "d_step", "order_step"), (1, inf)),
        **dict.fromkeys(("order_max", "p", "c", "K", "h"), (0, inf)),
        "move": (0, 0.5),
        "gamma": (0, 1),
    },
    "gridworld": {"size": (6, inf), "switch": (0, 1), "gamma": (0, 1)},
    "pricing": {"n_prices": (2, inf), "price_max": (0, inf), "move": (0, 0.5), "gamma": (0, 1)},
}
ENDS = [
    (name, own, end, sign)
    for name, domain in DOMAINS.items()
    for own in domain.parameters().values()
    for end, sign in ((own.low, -1), (own.high, 1))
    if isfinite(end)
]


def beyond(own, end, sign):
    """The next value outside the range."""
    return int(end) + sign if own.kind == "int" else nextafter(end, sign * inf)


def assert_is_a_model(domain):
    model = domain.build()
    assert domain.shape == (*model.reward_XYA.shape, len(model.noise_W))
    assert np.isfinite(model.reward_XYA).all()
    assert model.noise_W.min() >= 0 and model.noise_W.sum() == pytest.approx(1)
    return model


def test_the_declared_ranges():
    found = {
        (name, own.name): (own.low, own.high)
        for name, domain in DOMAINS.items()
        for own in domain.parameters().values()
        if isfinite(own.low) or isfinite(own.high)
    }
    assert {key: ends for key, ends in found.items() if key[0] in RANGES} == {
        (name, own): ends for name, ranges in RANGES.items() for own, ends in ranges.items()
    }


@pytest.mark.parametrize(
    ("name", "own", "end", "sign"), ENDS, ids=[f"{n}-{own.name}-{end}" for n, own, end, _ in ENDS]
)
def test_a_range_includes_its_ends_and_nothing_beyond(name, own, end, sign):
    with pytest.raises(InputError, match=f"{own.name} = "):
        make(name, **{own.name: beyond(own, end, sign)})
    if (own.name, end) in OPEN_ENDS:
        with pytest.raises(InputError, match=f"{own.name} = "):
            make(name, **{own.name: end})
        end = nextafter(end, -sign * inf)
    assert_is_a_model(make(name, **{own.name: end}))


# Conditions on two parameters at once.
PERMITTED = [
    ("inventory", {"d_min": 0, "d_max": 0}),
    ("inventory", {"d_min": 7, "d_max": 7}),
    ("inventory", {"d_min": 10, "d_max": 10}),
    ("inventory", {"d_min": 7, "d_max": 7, "d_step": 9}),
    ("inventory", {"d_step": 10}),
    ("inventory", {"order_max": 4}),
    ("pricing", {"alpha_min": 0}),
    ("pricing", {"alpha_max": 1}),
    ("pricing", {"alpha_min": 0.9}),
    ("pricing", {"alpha_max": 0.4}),
    ("pricing", {"eta_plus_min": 0, "eta_minus_min": 0, "n_reference": 21}),
    ("pricing", {"eta_plus_min": 7, "eta_minus_min": 12}),
    ("pricing", {"eta_plus_max": 3, "eta_minus_max": 8}),
    ("pricing", {"n_reference": 21}),
    ("pricing", {"n_reference": 2, "n_prices": 2}),
    ("gridworld", {"size": 6, "pickup": -1.0}),
]
REFUSED = [
    ("inventory", {"d_min": -1}, "d_min = -1"),
    ("inventory", {"d_min": 11}, "d_min = 11"),
    ("inventory", {"d_max": -1}, "d_min"),
    ("inventory", {"d_step": 11}, "d_step = 11"),
    ("pricing", {"alpha_min": -0.1}, "alpha_min = -0.1"),
    ("pricing", {"alpha_min": 1.0}, "alpha_min = 1.0"),
    ("pricing", {"alpha_max": 1.1}, "alpha_min"),
    ("pricing", {"alpha_max": 0.75}, "alpha_max = 0.75"),
    ("pricing", {"eta_plus_min": -1}, "eta_plus_min = -1"),
    ("pricing", {"eta_minus_min": -1}, "eta_minus_min = -1"),
    ("pricing", {"eta_minus_min": 13}, "eta_minus_min = 13"),
    ("pricing", {"n_reference": 1}, "n_reference = 1"),
    ("pricing", {"n_reference": 22}, "n_reference = 22"),
]


@pytest.mark.parametrize(("name", "values"), PERMITTED)
def test_permitted_combinations_build_a_model(name, values):
    assert_is_a_model(make(name, **values))


@pytest.mark.parametrize(("name", "values", "said"), REFUSED)
def test_combinations_outside_are_refused(name, values, said):
    with pytest.raises(InputError, match=said):
        make(name, **values)


def test_demand_that_always_moves():
    model = Inventory(move=0.5).build()
    assert model.noise_W.tolist() == [0, 0.5, 0.5]
    # d = 4, y = 20, no order: sells 5 or 3, keeps 15 or 17.
    assert model.reward_XYA[4, 20, 0] == pytest.approx(10 * 4 - 16)


def test_demand_that_never_changes():
    model = Inventory(d_min=7, d_max=7).build()
    assert model.n_slow == 1 and model.slow.values.tolist() == [[7]]
    assert model.next_slow.ravel().tolist() == [0]
    assert model.next_fast[0, 20, 0].tolist() == [13]


def test_a_market_without_memory_and_one_that_only_remembers():
    model = Pricing(alpha_min=0, alpha_max=1).build()
    alpha_X = model.slow.values[:, 0]
    assert sorted(set(alpha_X)) == pytest.approx([i / 10 for i in range(11)])
    price_A = np.arange(0, 101, 5)  # in steps of the reference grid
    forgets, remembers = (model.next_fast[alpha_X == alpha, :, :, 0] for alpha in (0, 1))
    assert (forgets == price_A).all()
    assert (remembers == np.arange(101)[:, None]).all()


def slow_law(model, x):
    """The distribution of x' as an array over the slow states."""
    return np.bincount(model.next_slow[x, 0, 0], model.noise_W, model.n_slow)


@pytest.mark.parametrize("move", [0, 0.1, 0.25, 0.5])
def test_consumers_move_independently_with_the_given_probability(move):
    # Three values of each component: the middle one can move both ways, the first only up.
    model = Pricing(
        alpha_min=0.4, alpha_max=0.6, eta_plus_max=5, eta_minus_max=10, move=move
    ).build()
    middle = np.array([move, 1 - 2 * move, move])
    first = np.array([1 - move, move, 0])
    for law, x in ((middle, 13), (first, 0)):
        expected = np.einsum("i,j,k->ijk", law, law, law).ravel()
        np.testing.assert_allclose(slow_law(model, x), expected, atol=1e-15)


@pytest.mark.parametrize(
    "use",
    [
        fsdash.optimum,
        fsdash.theory.measure,
        fsdash.suits,
        lambda domain: fsdash.regret(domain, np.zeros((51, 11), int)),
        lambda domain: fsdash.plan(domain, sweeps=1),
        lambda domain: next(fsdash.fsvi(domain, T=2)),
        lambda domain: next(fsdash.e_vi(domain, np.random.default_rng(0))),
        lambda domain: fsdash.RunSpec(domain, "vi", iterations=1),
    ],
)
def test_a_domain_in_place_of_its_model_is_refused_with_the_remedy(use):
    with pytest.raises(InputError, match=r"\.build\(\)"):
        use(make("inventory"))
    assert not hasattr(make("inventory"), "colour")
