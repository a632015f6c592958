"""Clicks in the figure, and the Python code that recomputes the tables."""

import pandas as pd
import pytest

from fsdash.dashboard.bounds import state as bounds
from tests.dashboard.bounds.kit import PAGE, THREE, example_view, ran, view
from tests.dashboard.kit import opened, unfold


@pytest.mark.parametrize(
    ("x", "sweeps"), [(2e10, 4), (5.27 * 5e9, 5.27), (12.3456 * 5e9, 12.4), (0, 0), (-1, 0)]
)
def test_a_click_sets_a_budget_that_pays_for_the_clicked_step(x, sweeps):
    assert bounds.clicked_sweeps(x, THREE.sizes) == pytest.approx(sweeps)


VIEWS = [
    view(),
    view(20.0, every=True, repaired=True, l_frozen=1.3),
    view(20.0, repaired=True),
    view(0.5),
    example_view("pricing"),
]


@pytest.mark.parametrize("shown", VIEWS)
def test_the_snippets_recompute_the_tables(shown):
    names = ran(bounds.curves_snippet(shown))
    pd.testing.assert_frame_equal(names["frame"], bounds.curves_frame(shown))
    if shown.advice:
        assert names["advice"].choice == shown.advice.choice
        terms = ran(bounds.terms_snippet(shown))["frame"]
        pd.testing.assert_frame_equal(terms, bounds.terms_frame(shown))
    heat = ran(bounds.heat_snippet(shown, "l_f"))["frame"]
    pd.testing.assert_frame_equal(heat, bounds.heat_map(shown, "l_f")[1]())


def test_the_page_shows_the_snippet_of_its_view():
    page = opened(PAGE, tab="regret", budget="12.5")
    codes = [block.value for block in unfold(page).code]
    assert codes == [bounds.curves_snippet(view(12.5)), bounds.terms_snippet(view(12.5))]
