"""The stored constants and regrets equal a new computation."""

import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.domains import DOMAINS, make
from fsdash.theory import Sizes, fsvi_bound, trivial_bound
from fsdash.theory.measured_domains import HORIZONS, measured_domains
from fsdash.theory.measured_domains.__main__ import constants_row, regret_rows


def test_every_domain_is_stored_with_its_sizes():
    stored = measured_domains()
    assert list(stored) == list(DOMAINS)
    for name, domain in stored.items():
        assert tuple(make(name).shape[:3]) == (
            domain.sizes.n_slow,
            domain.sizes.n_fast,
            domain.sizes.n_actions,
        )
        assert domain.constants.gamma == make(name).gamma
        assert tuple(domain.regret) == HORIZONS


def test_every_bound_is_vacuous_and_every_true_regret_is_below_the_trivial_bound():
    for domain in measured_domains().values():
        trivial = trivial_bound(domain.constants)
        assert fsvi_bound(domain.constants, HORIZONS, k=0).floor.min() > trivial
        assert max(largest for largest, _ in domain.regret.values()) < trivial


def test_recomputed_inventory_equals_the_stored_one():
    model = make("inventory").build()
    best = optimum(model)
    stored = measured_domains()["inventory"]
    recomputed = constants_row("inventory", model, best)
    assert recomputed.pop("domain") == "inventory"
    sizes = Sizes(**{name: recomputed.pop(name) for name in Sizes.__annotations__})
    assert sizes == stored.sizes
    assert recomputed.pop("coupling") == stored.constants.coupling
    for name, value in recomputed.items():
        assert getattr(stored.constants, name) == pytest.approx(value, rel=1e-6), name
    for row in regret_rows("inventory", model, best):
        found = row["max_regret"], row["mean_regret"]
        assert stored.regret[row["T"]] == pytest.approx(found, abs=2e-3)
