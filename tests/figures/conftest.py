"""Figures are validated by Plotly here; the pages skip the validation to save time."""

import plotly.graph_objects as go
import pytest


@pytest.fixture(autouse=True)
def validated(monkeypatch):
    """Every figure that is made with `_validate=False` is validated nevertheless."""
    make = go.Figure.__init__

    def make_validated(self, *values, _validate=True, **more):
        make(self, *values, **more)

    monkeypatch.setattr(go.Figure, "__init__", make_validated)
