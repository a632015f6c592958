"""Figures: pure functions from data to a Plotly figure or an SVG text. None imports Streamlit."""

from fsdash.errors import require

require("plotly", extra="dashboard")
