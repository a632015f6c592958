"""The export of a figure: its data, the figure itself, and Python code that recomputes it."""

from collections.abc import Callable, Mapping

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.shell import is_dark
from fsdash.figures.palette import BACKGROUND
from fsdash.formatting import as_csv, as_json

Table = pd.DataFrame | Callable[[], pd.DataFrame]
TITLE, IN_PYTHON = "Export", "In Python"
CSV, JSON, HTML = "Data, CSV", "Data, JSON", "Figure, HTML"
IMAGES = "PNG and SVG: use the buttons at the lower right of the figure."


def export(name: str, figure: go.Figure, table: Table, snippet: str) -> None:
    """A folded section with downloads; `snippet` leaves the same table in the variable `frame`.

    Files are made on download only, because a stand-alone figure contains all of Plotly. A table
    that is given as a function is computed on download too.
    """
    dark = is_dark()
    with st.expander(TITLE, icon=":material/download:", key=f"export-{name}"):
        with st.container(horizontal=True):
            _button(CSV, f"{name}.csv", "text/csv", lambda: as_csv(_records(table)))
            _button(JSON, f"{name}.json", "application/json", lambda: table_json(table))
            _button(HTML, f"{name}.html", "text/html", lambda: standalone_html(figure, dark))
        st.caption(IMAGES)
        st.markdown(f"**{IN_PYTHON}**")
        st.code(snippet, language="python")


def table_json(table: Table) -> str:
    """The rows as JSON; infinity is written as 1e999 and a missing number as null."""
    return as_json(_records(table))


def standalone_html(figure: go.Figure, dark: bool) -> str:
    """The figure as an HTML page that needs no other file."""
    copy = go.Figure(figure)
    colour = BACKGROUND.on(dark)
    copy.update_layout(paper_bgcolor=colour, plot_bgcolor=colour)
    page = copy.to_html(
        include_plotlyjs=True, full_html=True, config={"displaylogo": False}, default_height="100vh"
    )
    return page.replace("<body>", f'<body style="background:{colour};margin:0">', 1)


def _records(table: Table) -> list[Mapping]:
    frame = table() if callable(table) else table
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def _button(label: str, file: str, mime: str, make: Callable[[], str]) -> None:
    st.download_button(label, make, file, mime, key=f"download-{file}", on_click="ignore")
