"""The link of the Choose T page, and input that it cannot use."""

import pytest

from fsdash.dashboard.choose_t import text
from fsdash.formatting import number
from fsdash.theory import Constants, Sizes
from tests.dashboard.choose_t.kit import (
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
    page = opened(PAGE, by="theory", **link)
    constants = Constants(gamma=0.95, alpha=0.02, d_y=2, l_r=0.4, l_f=1.1, l_u=0.1, r_max=20)
    assert advised(page) == expected(
        view(12.5, constants, Sizes(n_slow=30, n_fast=40, n_actions=6))
    )
    assert not page.warning


def test_the_plotted_values_of_T_are_in_the_link():
    page = opened(PAGE, by="theory", T=["3", "6"])
    assert page.multiselect(key="choose-t.T").value == [3, 6]
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
        "T",
        "LUby",
        "over",
        "bound",
        "Lfrozen",
        "vary",
        "tab",
        "domain",
        "unknown",
    )
    page = opened(PAGE, by="theory", **dict.fromkeys(names, junk))
    assert advised(page) == expected(view())
    (notice,) = page.warning
    assert "unknown=" in notice.value and "budget=" in notice.value


@pytest.mark.parametrize(
    ("query", "shown", "said"),
    [
        ({"T": ["4", "abc"]}, (4,), "`T=abc`: give a whole number from 2 to 100"),
        ({"T": ["abc", "4"]}, (4,), "`T=abc`"),
        ({"T": [*map(str, range(2, 12))]}, tuple(range(2, 10)), "`T=10`, `T=11`: give at most"),
        ({"nx": "1.5"}, THREE.T, "`nx=1.5`: give a whole number from 1 to 1000000000"),
    ],
)
def test_the_usable_part_of_a_link_is_shown(query, shown, said):
    page = opened(PAGE, by="theory", **query)
    (notice,) = page.warning
    assert said in notice.value
    assert advised(page) == expected(view(T=shown))


def test_no_discounting_is_explained():
    page = opened(PAGE, by="theory", gamma="1.0")
    (error,) = page.error
    assert "γ = 1 means no discounting" in error.value
    assert page.multiselect(key="choose-t.T").value == list(THREE.T), "the controls are all there"


def test_no_discounting_leaves_the_controls():
    page = opened(PAGE, by="theory", gamma="1.0", LUby="derived", Lf="0.9")
    assert len(page.error) == 1 and not page.warning
    assert page.number_input(key="choose-t.nx").value == 100


def test_a_field_shows_all_digits_of_its_value():
    page = opened(PAGE, by="theory", gamma="0.99995", budget="12345.6", alpha="0.012345")
    for key in ("gamma", "budget", "alpha"):
        field = page.number_input(key=f"choose-t.{key}")
        assert float(f"{field.value:{field.proto.format[1:]}}") == field.value


@pytest.mark.parametrize("budget", ["0.0", "0.99"])
def test_a_budget_below_the_cheapest_run(budget):
    page = opened(PAGE, by="theory", budget=budget)
    assert headline(page) == text.TOO_SMALL
    (error,) = page.error
    cost = {"sweeps": number(float(budget)), "operations": number(THREE.sizes.sweep)}
    assert error.value == text.RAISE_BUDGET.format(**cost)
    assert "regret-cost" in figures(page)


def test_L_U_is_not_derived_where_gamma_L_f_is_at_least_1():
    page = opened(PAGE, by="theory", LUby="derived")
    (warning,) = page.warning
    value = number(THREE.constants.l_u)
    assert warning.value == text.NO_L_U.format(product="1.08", value=value)
    assert advised(page) == expected(view())


def test_infinite_bounds_are_shown():
    page = opened(PAGE, by="theory", Lf="1000000.0", Lr="1000000.0", T="100")
    assert "∞" in words(page)
    assert headline(page) == text.CANNOT_CHOOSE


@pytest.mark.slow
@pytest.mark.parametrize("tab", [None, SENSITIVITY, TRUST])
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
def test_extremes_never_raise(tab, extreme):
    page = opened(PAGE, by="theory", **extreme, **({"tab": tab} if tab else {}))
    assert "regret-cost" in figures(page)


def test_without_any_T_the_defaults_are_shown():
    page = opened(PAGE, by="theory")
    page.multiselect(key="choose-t.T").set_value([]).run()
    assert advised(page) == expected(view())
    defaults = ", ".join(map(str, THREE.T))
    assert text.NO_T.format(T=defaults) in [info.value for info in page.info]
