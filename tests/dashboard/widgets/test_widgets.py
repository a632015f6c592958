"""The widgets that all pages share."""

import json
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from fsdash.dashboard.navigation import PAGES, available_pages
from fsdash.dashboard.widgets.chart import payload, standalone_html, table_json
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.reward_error_formula import reward_error_filled
from fsdash.theory import Constants, reward_error
from fsdash.theory.parameters import SHORT_NAMES
from tests.dashboard.kit import ROOT, decoded


def test_the_id_of_a_series_depends_on_its_name_and_not_on_its_position():
    def uids(names):
        figure = go.Figure([go.Scatter(y=[1, 2], name=name) for name in names])
        data = json.loads(payload(figure, "key")["figure"])["data"]
        return [trace["uid"] for trace in data]

    first, second, *_ = uids(["total at T = 12", "freeze"])
    assert uids(["freeze", "total at T = 12"]) == [second, first]
    assert re.fullmatch(r"s[0-9a-f]+", first)
    assert len(set(uids([None, None, "a", "a"]))) == 4


def test_the_browser_gets_the_figures_numbers():
    y = np.array([1.0, np.inf, np.nan, 3.0])
    data = payload(go.Figure(go.Scatter(x=[1, 2, 3, 4], y=y)), "key", alt_text="four numbers")
    sent = decoded(json.loads(data["figure"]))
    np.testing.assert_array_equal(sent["data"][0]["y"], y)
    assert sent["layout"]["uirevision"] == "key" and data["alt_text"] == "four numbers"


def test_downloaded_json_has_infinity_as_1e999_and_gaps_as_null():
    frame = pd.DataFrame({"T": [1, 2], "bound": [np.inf, np.nan]})
    assert "1e999" in table_json(frame)
    assert json.loads(table_json(frame)) == [{"T": 1, "bound": np.inf}, {"T": 2, "bound": None}]


def test_a_standalone_figure_loads_nothing_from_another_host():
    page = standalone_html(go.Figure(go.Scatter(y=[1, 2])))
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=", page)
    assert len(page) > 1_000_000


def test_labels_contain_no_latex():
    for symbol in SYMBOLS.values():
        assert "$" not in symbol.label and "\\" not in symbol.label
    assert set(SHORT_NAMES) <= set(SYMBOLS)


def test_only_pages_that_exist_are_linked():
    shown = available_pages()
    assert shown == [page for page in PAGES.values() if (ROOT / page.script).exists()]


@pytest.mark.parametrize("T", [1, 2, 12, 150])
def test_the_filled_formula_multiplies_out(T):
    constants = Constants(gamma=0.953, alpha=0.01, d_y=2, l_r=0.5, l_f=1.05, l_u=3, r_max=1)
    freeze, end, _ = (
        re.sub(r"\\textcolor\{#\w+\}", "", tex) for tex in reward_error_filled(constants, T)
    )
    error = reward_error(constants, T)
    factors, result = freeze.strip("{}").split("=")
    product = np.prod([float(f.replace(r"\,", "")) for f in factors.split(r"\cdot")])
    assert product == pytest.approx(error.freeze, rel=0.02)
    assert float(result.replace(r"\,", "")) == pytest.approx(error.freeze, rel=0.01)
    assert float(end.split("=")[1].strip(" {}")) == pytest.approx(error.end_of_horizon, rel=0.01)
