"""Figures: pure functions from data to a Plotly figure or an SVG text. None imports Streamlit.

Most figures are made from plain dicts with `go.Figure(..., _validate=False)`. Plotly would validate
every name and value of a `go.Scatter` or an `add_shape`, which takes ten times as long as computing
the bounds, and a page draws its figures on every move of a slider. The tests of the figures switch
the validation on again (tests/figures/conftest.py), so every figure is checked in full there.
"""

import lazy_loader

from fsdash.errors import require

require("plotly", extra="dashboard")
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
