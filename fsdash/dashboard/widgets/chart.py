"""Plotly figures on a page: `chart` draws one, `export` offers its data, itself and its code.

`st.plotly_chart` creates a new node for every change of the data: it flashes and loses the zoom.
`chart` is a component around `Plotly.react` that keeps the node, the zoom and the hidden series. It
also reports clicks and the dragging of a vertical line.

Plotly's JavaScript comes from the Python package, never from another host. `fsdash dashboard` loads
it with the page (`fsdash/dashboard/server.py`). Under `streamlit run app.py` the first chart loads
it from a component's address.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import pandas as pd
import plotly
import plotly.graph_objects as go
import streamlit as st
from plotly.utils import PlotlyJSONEncoder
from streamlit.components.v1 import declare_component

from fsdash.dashboard.widgets.theme import themed
from fsdash.figures.marks import HANDLE as HANDLE
from fsdash.figures.palette import BACKGROUND
from fsdash.formatting import as_json, escape_markdown, frame_csv

_PLOTLY_FOLDER = Path(plotly.__file__).parent / "package_data"
# The toolbar is at the lower right, next to the axis title, because at the top it would cover the
# legend. On touch screens it is always visible, in a line of its own.
_STYLE = """
.fs-chart {width: 100%; position: relative;}
.fs-chart .modebar-container {top: calc(100% - 28px) !important;}
[data-testid="stElementContainer"]:has(.fs-square, .fs-tall) {height: auto; flex-basis: auto;}
@media (hover: none) {
  .fs-chart {padding-bottom: 30px; box-sizing: content-box;}
  .fs-chart .modebar-container {top: 100% !important;}
  [data-testid="stElementContainer"]:has(.fs-chart) {height: auto; flex-basis: auto;}
}
.fs-chart.fs-grip, .fs-chart.fs-grip * {cursor: ew-resize !important;}
"""
_component = st.components.v2.component(
    "fsdash_chart",
    css=_STYLE,
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Event:
    """A click, or the end of a drag, in the units of the axes.

    A click on a point has its x, y, `customdata` and the name of its trace. A click elsewhere in
    the plot has its x and y and no trace. A drag of the handle has its x and `HANDLE` as the trace.
    """

    x: float | str
    y: float | str | None = None
    customdata: object = None
    trace: str | None = None


def chart(
    figure: go.Figure | dict,
    key: str,
    *,
    alt_text: str,
    height: int = 420,
    clickable: bool = False,
    draggable: bool = False,
    on_event: Callable[[Event], None] | None = None,
) -> Event | None:
    """Draw the figure; return the visitor's click or drag, once, or None.

    A figure that changes several times in a second may be plain data with `data` and `layout`,
    which Plotly does not check.

    `alt_text` describes the figure to screen readers. `on_event` is called before the page runs
    again, the only time at which the value of a widget may be set. With `draggable`, a vertical
    line shape named `HANDLE` can be moved. Series keep their state by name, so give each its own.
    """
    data = payload(figure, key, alt_text=alt_text, height=height)
    data |= {"clickable": clickable, "draggable": draggable, "plotly": _plotly_url()}

    def report() -> None:
        event = _event(st.session_state[key].event)
        if on_event is not None and event is not None:
            on_event(event)

    result = _component(key=key, data=data, height=height, on_event_change=report)
    return _event(result.event)


def payload(figure: go.Figure | dict, key: str, *, alt_text: str = "", height: int = 420) -> dict:
    """The data for the browser: the figure as JSON, with an id for each series."""
    content = figure.to_dict() if isinstance(figure, go.Figure) else figure
    layout = content["layout"]
    layout.setdefault("uirevision", key)
    layout.pop("height", None)
    names = [trace.get("name") for trace in content["data"]]
    for index, (trace, name) in enumerate(zip(content["data"], names, strict=True)):
        unique = name if names.count(name) == 1 else f"{name}/{index}"
        # Plotly uses it as a CSS class, so it may contain only letters and digits.
        trace["uid"] = f"s{crc32(str(unique).encode()):08x}"
    return {
        "key": key,
        "figure": themed(json.dumps(content, cls=PlotlyJSONEncoder, separators=(",", ":"))),
        "alt_text": alt_text,
        "height": height,
        "file": f"fsdash-{key}",
    }


def _event(value: dict | None) -> Event | None:
    return None if value is None else Event(**value)


def _plotly_url() -> str:
    """The address of Plotly for a page that has not loaded it."""
    name = _plotly_component()
    base = st.get_option("server.baseUrlPath").strip("/")
    prefix = f"/{base}" if base else ""
    return f"{prefix}/component/{name}/plotly.min.js?v={plotly.__version__}"


@st.cache_resource(show_spinner=False)
def _plotly_component() -> str:
    # A component of Streamlit's first kind is a name for a folder whose files the server sends.
    return declare_component("plotly", path=_PLOTLY_FOLDER).name


# ----------------------------------------------------------------------------------------- export

Table = pd.DataFrame | Callable[[], pd.DataFrame]
EXPORT, IN_PYTHON = "Export", "In Python"
CSV, JSON, HTML = "Data, CSV", "Data, JSON", "Figure, HTML"
IMAGES = "PNG and SVG: use the buttons at the lower right of the figure."


@st.fragment
def export(name: str, figure: go.Figure, table: Table, snippet: str, about: str = "") -> None:
    """A button for downloads; `snippet` leaves the same table in the variable `frame`.

    `about` names the figure if a page has several with an export.

    Its content is drawn when it is opened: on most visits it stays closed, and the first figure
    would have to wait for it. Files are made on download only, because a stand-alone figure
    contains all of Plotly. A table that is given as a function is computed on download too.
    """
    label = f"{EXPORT}: {escape_markdown(about)}" if about else EXPORT
    box = st.popover(label, icon=":material/download:", key=f"export-{name}", on_change="rerun")
    if not box.open:
        return
    with box:
        with st.container(horizontal=True):
            _button(CSV, f"{name}.csv", "text/csv", lambda: frame_csv(_frame(table)))
            _button(JSON, f"{name}.json", "application/json", lambda: table_json(table))
            _button(HTML, f"{name}.html", "text/html", lambda: standalone_html(figure))
        st.caption(IMAGES)
        st.markdown(f"**{IN_PYTHON}**")
        st.code(snippet, language="python")


def table_json(table: Table) -> str:
    """The rows as JSON; infinity is written as 1e999 and a missing number as null."""
    return as_json(_records(table))


def standalone_html(figure: go.Figure) -> str:
    """The figure as an HTML page that needs no other file."""
    copy = go.Figure(figure)
    copy.update_layout(paper_bgcolor=BACKGROUND, plot_bgcolor=BACKGROUND)
    page = copy.to_html(
        include_plotlyjs=True, full_html=True, config={"displaylogo": False}, default_height="100vh"
    )
    page = page.replace("<body>", f'<body style="background:{BACKGROUND};margin:0">', 1)
    return themed(page)


def _frame(table: Table) -> pd.DataFrame:
    return table() if callable(table) else table


def _records(table: Table) -> list[Mapping]:
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in _frame(table).to_dict("records")
    ]


def _button(label: str, file: str, mime: str, make: Callable[[], str]) -> None:
    st.download_button(label, make, file, mime, key=f"download-{file}", on_click="ignore")
