"""Clicks in the figure, the Python code that recomputes the tables, and the exercises."""

import pandas as pd
import pytest

from fsdash.dashboard.choose_t import state as choose
from fsdash.dashboard.choose_t import text
from fsdash.theory import fsvi_regret, regimes, trivial_bound
from fsdash.theory.measured_domains import HORIZONS, measured_domains
from tests.dashboard.choose_t.kit import PAGE, THREE, ran, view
from tests.dashboard.kit import opened, unfold


@pytest.mark.parametrize(
    ("x", "sweeps"), [(2e10, 4), (5.27 * 5e9, 5.27), (12.3456 * 5e9, 12.4), (0, 0), (-1, 0)]
)
def test_a_click_sets_a_budget_that_pays_for_the_clicked_step(x, sweeps):
    assert choose.clicked_sweeps(x, THREE.sizes) == pytest.approx(sweeps)


VIEWS = [
    view(),
    view(20.0, every=True, repaired=True, l_frozen=1.3),
    view(20.0, repaired=True),
    view(0.5),
    choose.example("pricing"),
]


@pytest.mark.parametrize("shown", VIEWS)
def test_the_snippets_recompute_the_tables(shown):
    names = ran(choose.curves_snippet(shown))
    pd.testing.assert_frame_equal(names["frame"], choose.curves_frame(shown))
    if shown.advice:
        assert names["advice"].choice == shown.advice.choice
        terms = ran(choose.terms_snippet(shown))["frame"]
        pd.testing.assert_frame_equal(terms, choose.terms_frame(shown))
    heat = ran(choose.heat_snippet(shown, "l_f"))["frame"]
    pd.testing.assert_frame_equal(heat, choose.heat_map(shown, "l_f")[1]())


def test_the_page_shows_the_snippet_of_its_view():
    page = opened(PAGE, by="theory", budget="12.5")
    codes = [block.value for block in unfold(page).code]
    assert codes == [choose.curves_snippet(view(12.5)), choose.terms_snippet(view(12.5))]


def test_the_numbers_in_the_answers():
    answers = [answer for _, answer in text.EXERCISES]
    last = regimes(THREE.constants, THREE.sizes, T=THREE.T)[-1]
    floors = fsvi_regret(THREE.constants, THREE.T, k=0).floor
    assert (last.algorithm, last.start / THREE.sizes.sweep) == ("VI", 53)
    assert "**53 sweeps**" in answers[0] and f"**{floors.min():.2f}** for T = 9" in answers[0]
    *_, before, _ = regimes(THREE.constants, THREE.sizes, T=range(2, 101))
    assert before.T == 8 and "**T = 8** is the best from about 12 to 53" in answers[1]
    assert round(before.start / THREE.sizes.sweep) == 12
    eight, nine = fsvi_regret(THREE.constants, [8, 9], k=0).floor
    assert 0 < nine / eight - 1 < 0.01
    inventory = measured_domains()["inventory"]
    floor = fsvi_regret(inventory.constants, HORIZONS, k=0).floor.min()
    assert 1e4 < floor / trivial_bound(inventory.constants) < 1e5
