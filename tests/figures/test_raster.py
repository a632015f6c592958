"""Figures as pixels: colours at the places of the data."""

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from fsdash.figures.raster import HEIGHT, WIDTH, rasterise

RED, GREEN = "#FF0000", "#00FF00"


def pixels_of(picture, colour):
    """Rows and columns of the pixels of a colour."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return np.argwhere((np.abs(picture.astype(int) - wanted) < 40).all(axis=2)).T


def figure(**trace):
    layout = {"xaxis": {"range": [0, 10]}, "yaxis": {"range": [0, 10]}}
    return go.Figure(go.Scatter(**trace), layout=layout)


def test_an_empty_figure_is_a_picture():
    picture = rasterise(go.Figure(go.Scatter(x=[], y=[])))
    assert picture.shape == (HEIGHT, WIDTH, 3)
    assert rasterise(go.Figure(go.Scatter()), 200, 100).shape == (100, 200, 3)


def test_a_marker_is_at_its_place():
    at = {}
    for x, y in ((0, 0), (10, 10), (5, 5)):
        shown = figure(x=[x], y=[y], mode="markers", marker={"color": RED, "size": 12})
        at[x, y] = np.mean(pixels_of(rasterise(shown), RED), axis=1)
    assert at[0, 0][0] > at[10, 10][0] and at[0, 0][1] < at[10, 10][1]  # up and to the right
    assert at[5, 5] == pytest.approx((at[0, 0] + at[10, 10]) / 2, abs=0.7)


@pytest.mark.parametrize("dash", ["solid", "dot", "dash", "dashdot"])
def test_a_step_line_has_corners_and_dashes(dash):
    line = {"color": RED, "width": 4, "shape": "hv", "dash": dash}
    shown = rasterise(figure(x=[0, 5, 10], y=[0, 10, 10], mode="lines", line=line))
    whole = rasterise(figure(x=[0, 5, 10], y=[0, 10, 10], mode="lines", line=line | {"dash": None}))
    rows, columns = pixels_of(whole, RED)
    middle = np.median(columns)
    assert np.count_nonzero(np.abs(columns - middle) < 4) > 0.4 * len(columns)  # the riser
    share = len(pixels_of(shown, RED)[0]) / len(rows)
    assert share == 1 if dash == "solid" else 0.1 < share < 0.9


def test_a_gap_splits_a_line():
    line = {"color": RED, "width": 4}
    shown = rasterise(figure(x=[0, 2, None, 8, 10], y=[5, 5, None, 5, 5], mode="lines", line=line))
    columns = np.unique(pixels_of(shown, RED)[1])
    assert np.diff(columns).max() > 200


def test_bars_stand_on_zero_and_panels_do_not_overlap():
    both = make_subplots(rows=2, shared_xaxes=True)
    both.add_bar(x=[0, 1, 2], y=[1, 2, 4], marker_color=RED, row=1, col=1)
    both.add_bar(x=[0, 1, 2], y=[3, -3, 0], marker_color=GREEN, row=2, col=1)
    picture = rasterise(both)[40:]  # without the legend
    upper, lower = (pixels_of(picture, colour) for colour in (RED, GREEN))
    assert upper[0].max() < lower[0].min()
    heights = [np.ptp(upper[0][np.abs(upper[1] - c) < 5]) for c in (160, 340, 530)]
    assert heights == pytest.approx([heights[2] / 4, heights[2] / 2, heights[2]], abs=3)


def test_square_cells_are_square():
    grid = go.Figure(go.Heatmap(z=np.zeros((4, 8)), colorscale=[[0, RED], [1, RED]]))
    grid.update_xaxes(range=[-0.5, 7.5])
    grid.update_yaxes(range=[-0.5, 3.5], scaleanchor="x")
    rows, columns = pixels_of(rasterise(grid), RED)
    assert np.ptp(columns) / np.ptp(rows) == pytest.approx(2, abs=0.03)


def test_text_is_drawn_without_markup():
    common = {"x": [5], "y": [5], "mode": "text", "textfont": {"color": RED, "size": 30}}
    plain, bold = (rasterise(figure(text=[t], **common)) for t in ("abc", "<b>abc</b>"))
    assert len(pixels_of(plain, RED)[0]) > 20 and np.array_equal(plain, bold)
