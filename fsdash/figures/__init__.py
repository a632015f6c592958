"""Figures: pure functions from data to a Plotly figure or an SVG text. None imports Streamlit."""
