"""Taking a view along: its data, its figure, and the lines of Python that recompute it."""

from collections.abc import Callable, Mapping

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.shell import is_dark
from fsdash.figures.palette import BACKGROUND
from fsdash.formatting import as_csv, as_json

Table = pd.DataFrame | Callable[[], pd.DataFrame]


def export(name: str, figure: go.Figure, table: Table, snippet: str) -> None:
    """One quiet line that unfolds; `snippet` leaves the same table in the variable `frame`.

    The files are made when they are asked for: a stand-alone figure holds all of Plotly. So is the
    table, if it is given as a function: few of those who move a slider want it.
    """
    dark = is_dark()
    with st.expander("Take it with you", icon=":material/download:", key=f"export-{name}"):
        with st.container(horizontal=True):
            _button("Data, CSV", f"{name}.csv", "text/csv", lambda: as_csv(_records(table)))
            _button("Data, JSON", f"{name}.json", "application/json", lambda: table_json(table))
            _button("Figure, HTML", f"{name}.html", "text/html", lambda: alone(figure, dark))
        st.caption("PNG and SVG: the buttons that appear at the lower right of the figure.")
        st.markdown("**In Python**")
        st.code(snippet, language="python")


def table_json(table: Table) -> str:
    """The rows as JSON; infinity is 1e999, a missing number null."""
    return as_json(_records(table))


def alone(figure: go.Figure, dark: bool) -> str:
    """The figure as a page of its own that needs no other file."""
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


def _button(label: str, file: str, kind: str, make) -> None:
    st.download_button(label, make, file, kind, key=f"download-{file}", on_click="ignore")
