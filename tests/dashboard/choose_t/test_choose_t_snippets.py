"""Clicks in the figure, and the Python code that recomputes the tables."""

import pandas as pd
import pytest

from fsdash.dashboard.choose_t import state as choose
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
