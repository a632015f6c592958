"""The link of the tab Regret and budget of the Bounds page, and input that it cannot use."""

import pytest

from fsdash.formatting import number
from fsdash.theory import Constants, Sizes
from tests.dashboard.bounds.kit import (
    CANNOT_CHOOSE,
    EVERY,
    PAGE,
    SENSITIVITY,
    THREE,
    TRUST,
    advised,
    expected,
    headline,
    view,
)
from tests.dashboard.kit import figures, opened, words


def test_a_link_restores_the_view():
    link = {
        "budget": "12.5",
        "gamma": "0.95",
        "alpha": "0.02",
        "dY": "2.0",
        "Lr": "0.4",
        "Lf": "1.1",
        "LU": "0.1",
        "rmax": "20.0",
        "nx": "30",
        "ny": "40",
        "na": "6",
    }
    page = opened(PAGE, tab="regret", **link)
    constants = Constants(gamma=0.95, alpha=0.02, d_y=2, l_r=0.4, l_f=1.1, l_u=0.1, r_max=20)
    assert advised(page) == expected(
        view(12.5, constants, Sizes(n_slow=30, n_fast=40, n_actions=6))
    )
    assert not page.warning


def test_the_plotted_values_of_T_are_in_the_link():
    page = opened(PAGE, tab="regret", drawn=["3", "6"])
    assert page.multiselect(key="bounds.drawn").value == [3, 6]
    assert advised(page) == expected(view(T=(3, 6)))


@pytest.mark.parametrize("junk", ["", "x", "-5", "1e999", "nan", "1;2", "<b>", "9" * 300])
def test_unusable_values_in_the_link_are_reported(junk):
    names = (
        "budget",
        "gamma",
        "alpha",
        "Lf",
        "dY",
        "Lr",
        "LU",
        "rmax",
        "nx",
        "ny",
        "na",
        "drawn",
        "LUby",
        "over",
        "bound",
        "Lfrozen",
        "vary",
        "detail",
        "domain",
        "unknown",
    )
    page = opened(PAGE, tab="regret", **dict.fromkeys(names, junk))
    assert advised(page) == expected(view())
    (notice,) = page.warning
    assert "unknown=" in notice.value and "budget=" in notice.value


@pytest.mark.parametrize(
    ("query", "shown", "said"),
    [
        ({"drawn": ["4", "abc"]}, (4,), "`drawn=abc`: give a whole number from 2 to 100"),
        ({"drawn": ["abc", "4"]}, (4,), "`drawn=abc`"),
        (
            {"drawn": [*map(str, range(2, 12))]},
            tuple(range(2, 10)),
            "`drawn=10`, `drawn=11`: give at most",
        ),
        ({"nx": "1.5"}, THREE.T, "`nx=1.5`: give a whole number from 1 to 1000000000"),
    ],
)
def test_the_usable_part_of_a_link_is_shown(query, shown, said):
    page = opened(PAGE, tab="regret", **query)
    (notice,) = page.warning
    assert said in notice.value
    assert advised(page) == expected(view(T=shown))


def test_no_discounting_is_explained():
    page = opened(PAGE, tab="regret", gamma="1.0")
    (error,) = page.error
    assert "γ = 1 means no discounting" in error.value
    assert page.multiselect(key="bounds.drawn").value == list(THREE.T), "the controls are all there"


def test_no_discounting_leaves_the_controls():
    page = opened(PAGE, tab="regret", gamma="1.0", LUby="derived", Lf="0.9")
    assert len(page.error) == 1 and not page.warning
    assert page.number_input(key="bounds.nx").value == 100


def test_a_field_shows_all_digits_of_its_value():
    page = opened(PAGE, tab="regret", gamma="0.99995", budget="12345.6", alpha="0.012345")
    for key in ("gamma", "budget", "alpha"):
        field = page.number_input(key=f"bounds.{key}")
        assert float(f"{field.value:{field.proto.format[1:]}}") == field.value


@pytest.mark.parametrize("budget", ["0.0", "0.99"])
def test_a_budget_below_the_cheapest_run(budget):
    page = opened(PAGE, tab="regret", budget=budget)
    assert headline(page) == "This budget is too small"
    (error,) = page.error
    assert f"A budget of {number(float(budget))} sweeps" in error.value
    assert f"{number(THREE.sizes.sweep)} operations" in error.value
    assert "regret-cost" in figures(page)


def test_L_U_is_not_derived_where_gamma_L_f_is_at_least_1():
    page = opened(PAGE, tab="regret", LUby="derived")
    (warning,) = page.warning
    assert "γL_f = 1.08" in warning.value and number(THREE.constants.l_u) in warning.value
    assert advised(page) == expected(view())


def test_infinite_bounds_are_shown():
    page = opened(PAGE, tab="regret", Lf="1000000.0", Lr="1000000.0", drawn="100")
    assert "∞" in words(page)
    assert headline(page) == CANNOT_CHOOSE


@pytest.mark.slow
@pytest.mark.parametrize("detail", [None, SENSITIVITY, TRUST])
@pytest.mark.parametrize(
    "extreme",
    [
        {"alpha": "0.0", "LU": "0.0"},
        {"gamma": "0.0"},
        {"rmax": "0.0"},
        {"gamma": "0.9999", "over": EVERY},
        {"budget": "1000000000.0", "nx": "1000000000.0", "ny": "1000000000.0"},
        {"budget": "0.0", "over": EVERY},
        {"nx": "1.0", "ny": "1.0", "na": "1.0"},
    ],
)
def test_extremes_never_raise(detail, extreme):
    page = opened(PAGE, tab="regret", **extreme, **({"detail": detail} if detail else {}))
    assert "regret-cost" in figures(page)


def test_without_any_T_the_defaults_are_shown():
    page = opened(PAGE, tab="regret")
    page.multiselect(key="bounds.drawn").set_value([]).run()
    assert advised(page) == expected(view())
    assert any(", ".join(map(str, THREE.T)) in info.value for info in page.info)
