"""What the Choose T page says to notice is true of what it shows."""

import pytest

from fsdash.theory import PRESETS, fsvi_regret
from tests.dashboard.kit import opened, words

PAGE = "2_Choose_T.py"
THREE = PRESETS["three-regimes"]


@pytest.mark.parametrize("still", [{"alpha": "0"}, {"dY": "0", "Lf": "9"}, {"Lr": "0", "LU": "0"}])
def test_without_a_freeze_error_long_freezes_are_not_ruled_out(still):
    said = words(opened(PAGE, **still))
    assert "a long T is not ruled out" in said and "explodes" not in said


@pytest.mark.parametrize("free", [{"alpha": "0", "LU": "0"}, {"dY": "0"}])
def test_without_floors_none_is_named(free):
    said = words(opened(PAGE, **free))
    assert "No curve ends in a floor here" in said and "has the lowest" not in said


def test_the_floors_are_those_of_all_that_compete():
    page = opened(
        PAGE, gamma="0.95", Lr="0.7", Lf="0.9", LUby="L_r/(1 − γL_f)", over="every T up to 100"
    )
    assert page.header[0].value.startswith("Run FSVI with T\u00a0=\u00a0100")
    assert "T = 100 has the lowest" in words(page) and "in the grey" not in words(page)


def test_who_starts_lowest_is_what_is_drawn():
    first = {T: fsvi_regret(THREE.constants, T, 1).total for T in (1, *THREE.T)}
    assert min(first, key=first.get) == 16
    assert "of those drawn, T = 16 starts lowest" in words(opened(PAGE))
    assert "starts **lower but later**" in words(opened(PAGE, T=["2", "4"]))


def test_a_sensitive_frozen_map_lets_the_repaired_bound_explode():
    assert "γL̃ = 1.8 ≥ 1" in words(opened(PAGE, bound="repaired", Lfrozen="2", Lf="0.9"))
