"""The palette: contrast, distinct colours, and the theme of the pages."""

import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fsdash.figures.palette import (
    AMOUNT,
    BACKGROUND,
    BLUE,
    CATEGORICAL,
    FAMILY_COLOURS,
    INK,
    LOSS,
    OTHER_FAMILY_COLOURS,
    PANEL,
    QUIET,
    TERMS,
    algorithm_colour,
    fsvi_colour,
    in_theme,
    with_opacity,
)
from tests.figures.kit import contrast, luminance

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_contrasts_with_the_background(dark):
    colours = [*CATEGORICAL, *TERMS.values(), *map(fsvi_colour, (1, 2, 3, 6, 12, 25, 1000))]
    for colour in (*colours, *OTHER_FAMILY_COLOURS):
        assert contrast(in_theme(colour, dark), in_theme(BACKGROUND, dark)) >= 3, colour


def test_a_finished_figure_is_drawn_for_a_dark_page():
    """Every colour is replaced by its partner, also where it is translucent or mixed."""
    shades = [BLUE, with_opacity(BLUE, 0.3), fsvi_colour(4), AMOUNT.at(0.4), "#123456"]
    light, dark = (in_theme(str(shades), on_dark) for on_dark in (False, True))
    assert light == str(shades)
    assert "'#56B4E9', 'rgba(86,180,233,0.3)'" in dark and "#123456" in dark
    assert fsvi_colour(4) not in dark and AMOUNT.at(0.4) not in dark


@pytest.mark.parametrize("dark", [False, True])
def test_the_theme_has_the_background_of_the_palette_and_no_chart_colours(dark):
    theme = tomllib.loads(CONFIG.read_text())["theme"]["dark" if dark else "light"]
    assert "chartCategoricalColors" not in theme  # they are in the palette alone
    assert theme["backgroundColor"] == in_theme(BACKGROUND, dark)
    assert theme["secondaryBackgroundColor"] == in_theme(PANEL, dark)
    assert theme["textColor"] == in_theme(INK, dark)


def test_an_unknown_family_has_a_colour_that_no_known_family_has():
    known = set(FAMILY_COLOURS.values())
    for family in ("toy", "policy gradient", "SARSA", "", "FSVI"):
        colour = algorithm_colour(family)
        assert colour not in known and colour == algorithm_colour(family)


def test_each_T_has_its_own_colour():
    assert fsvi_colour(6) == fsvi_colour(6)
    assert len({fsvi_colour(T) for T in (2, 3, 4, 6, 9, 12, 16, 25)}) == 8


def to_lab(colour: str) -> np.ndarray:
    """CIE L*a*b*, in which distances approximate perceived differences."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(to_xyz @ linear / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True])
def test_the_first_values_of_T_on_choose_t_have_clearly_different_colours(dark):
    colours = [to_lab(in_theme(fsvi_colour(T), dark)) for T in (2, 4, 9, 16, 25)]
    distances = [np.linalg.norm(a - b) for a, b in pairwise(colours)]
    assert min(distances) > 20


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("scale", [AMOUNT, LOSS, QUIET])
def test_the_brightness_of_a_scale_changes_steadily(scale, dark):
    shades = [in_theme(scale.at(share), dark) for share in np.linspace(0, 1, 30)]
    brightness = [luminance(shade) for shade in shades]
    steps = np.diff(brightness) * (1 if dark else -1)
    assert (steps > 0).all()
    stepped = scale.steps(4)
    assert stepped[0][0] == 0 and stepped[-1][0] == 1
    assert len({colour for _, colour in stepped}) == 4
