"""The figures of the FSAVI bound show the library's numbers."""

import numpy as np
import pytest

from fsdash.figures.budget_detail import TERM_COLOURS
from fsdash.figures.linear_architecture import (
    EXACT,
    PROVEN,
    STATED,
    TERMS,
    fsavi_figure,
    fsavi_terms_figure,
)
from fsdash.theory import Constants, fsavi_bound, repaired_bound

USUAL = Constants(gamma=0.9, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10)
NOTHING = Constants(gamma=0.5, alpha=0, d_y=0, l_r=0, l_f=0, l_u=0, r_max=0)
HUGE = Constants(gamma=0.99, alpha=1, d_y=1e6, l_r=1e6, l_f=1000, l_u=1e6, r_max=1)
T_VALUES = np.arange(1, 41)
FIT = {"kappa": 1.005, "eps_low": 0.05, "eps_up": 0.2}


def curves(figure):
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize("l_frozen", [None, 1.1])
def test_the_curves_are_the_values_of_the_library(l_frozen):
    drawn = curves(fsavi_figure(USUAL, T_VALUES, 6, 20, FIT, l_frozen))
    expected = {
        PROVEN: fsavi_bound(USUAL, T_VALUES, k=20, **FIT, l_frozen=l_frozen).total,
        STATED: fsavi_bound(USUAL, T_VALUES, k=20, **FIT, bound="stated").total,
        EXACT: repaired_bound(USUAL, T_VALUES, k=20, l_frozen=l_frozen).total,
    }
    for name, values in expected.items():
        np.testing.assert_array_equal(drawn[name].y, values)


def test_the_stated_bound_is_dashed():
    drawn = curves(fsavi_figure(USUAL, T_VALUES, 6, 20, FIT))
    assert drawn[STATED].line.dash == "dash"
    assert drawn[PROVEN].line.dash == "solid"
    assert all(
        list(bar.y) == [STATED, PROVEN] for bar in fsavi_terms_figure(USUAL, 3, 20, FIT).data
    )


def test_each_bar_shows_one_term_of_both_versions():
    drawn = curves(fsavi_terms_figure(USUAL, 3, 20, FIT, 1.1))
    proven = fsavi_bound(USUAL, 3, k=20, **FIT, l_frozen=1.1)
    stated = fsavi_bound(USUAL, 3, k=20, **FIT, bound="stated")
    for term, (name, _) in TERMS.items():
        assert drawn[name].x == (getattr(stated, term), getattr(proven, term))


def test_the_grey_area_is_labelled_vacuous():
    (label,) = fsavi_figure(USUAL, T_VALUES, 6, 20, FIT).layout.annotations
    assert "vacuous" in label.text
    assert not fsavi_figure(NOTHING, T_VALUES, 6, 20, FIT).layout.annotations


def test_a_term_has_the_same_colour_on_all_pages():
    for name, colour in TERM_COLOURS.items():
        assert TERMS[f"{name}_term"][1] == colour


@pytest.mark.parametrize("constants", [USUAL, NOTHING, HUGE])
def test_axes_are_labelled_and_finite_for_any_constants(constants):
    layout = fsavi_figure(constants, T_VALUES, 6, 20, FIT, None).layout
    low, high = layout.yaxis.range
    assert -np.inf < low < high < np.inf
    assert layout.xaxis.title.text and layout.yaxis.title.text
