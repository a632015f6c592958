"""The sentences on the tab Regret and budget of the Bounds page fit the values shown."""

from dataclasses import replace

import pytest

from fsdash.dashboard.bounds import text
from fsdash.theory import PRESETS, fsvi_bound
from fsdash.theory.measured_domains import measured_domains
from tests.dashboard.kit import opened, words

PAGE = "2_Bounds.py"
THREE = PRESETS["three-regimes"]
GROWS = "the bound grows without limit with T"
NO_FREEZE_ERROR = "There is no freeze error, so nothing rules out a large T"


@pytest.mark.parametrize("still", [{"alpha": "0"}, {"dY": "0", "Lf": "9"}, {"Lr": "0", "LU": "0"}])
def test_without_a_freeze_error_a_long_T_is_not_ruled_out(still):
    shown = words(opened(PAGE, tab="regret", **still))
    assert NO_FREEZE_ERROR in shown and GROWS not in shown


def test_a_frozen_map_of_its_own_has_a_freeze_error_although_x_never_moves():
    own = replace(THREE.constants, alpha=0, eta=1.0, d_y_frozen=1.0, l_frozen=1.05)
    assert NO_FREEZE_ERROR in text.describe_growth(own, None)
    assert text.describe_growth(own, 1.05).startswith("γL_f = 1.08 ≥ 1")


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_the_truth_says_where_the_theorem_does_not_treat_the_frozen_map(name):
    shown = text.truth(name, measured_domains()[name], 1e6)
    assert shown.endswith("is proven for this model.") == (name == "inventory")


@pytest.mark.parametrize("free", [{"alpha": "0", "LU": "0"}, {"dY": "0"}])
def test_without_floors_none_is_named(free):
    shown = words(opened(PAGE, tab="regret", **free))
    assert "No curve has a floor here" in shown and "has the lowest floor" not in shown


def test_the_lowest_floor_is_that_of_all_competitors():
    page = opened(
        PAGE, tab="regret", gamma="0.95", Lr="0.7", Lf="0.9", LUby="derived", over="every"
    )
    assert page.header[0].value.startswith("Smallest bound: FSVI with T\u00a0=\u00a0100")
    assert "T = 100 has the lowest floor" in words(page)
    assert "All floors are in the grey area" not in words(page)


def test_the_lowest_start_is_among_the_plotted_curves():
    first = {T: fsvi_bound(THREE.constants, T, k=1).total for T in (1, *THREE.T)}
    assert min(first, key=first.get) == 16
    assert "T = 16 starts lowest." in words(opened(PAGE, tab="regret"))
    assert "**lower but later**" in words(opened(PAGE, tab="regret", drawn=["2", "4"]))


def test_sensitive_frozen_dynamics_let_the_repaired_bound_grow():
    shown = words(opened(PAGE, tab="regret", bound="repaired", Lfrozen="2", Lf="0.9"))
    assert "γL̃ = 1.8 ≥ 1" in shown
    shown = words(opened(PAGE, tab="regret", bound="repaired", Lfrozen="1.05", Lf="0.9"))
    assert "γL̃ = 0.945 < 1" in shown
    assert "γL_f = 0.81 < 1" in words(opened(PAGE, tab="regret", Lf="0.9"))
