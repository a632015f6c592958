"""Plotly figures that keep their place on the page.

`st.plotly_chart` makes a new node for every change of the data: it flashes and forgets the zoom.
`chart` is a component around `Plotly.react`: the node, the zoom and the hidden series stay. It also
reports clicks and a vertical line that is dragged.

Plotly's JavaScript is the one that the Python package brings along. It is served from there by our
own server, under an address with its version; nothing is copied and no other host is asked.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import plotly
import plotly.graph_objects as go
import streamlit as st
from plotly.utils import PlotlyJSONEncoder
from streamlit.components.v1 import declare_component

from fsdash.figures.marks import HANDLE as HANDLE

_FOLDER = Path(plotly.__file__).parent / "package_data"
# The toolbar stands at the lower right, beside the axis title: above, it would cover the legend.
# Where nothing hovers it is always there, on a line of its own.
_STYLE = """
.fs-chart {width: 100%; position: relative;}
.fs-chart .modebar-container {top: calc(100% - 28px) !important;}
[data-testid="stElementContainer"]:has(.fs-square) {height: auto; flex-basis: auto;}
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
    """A click, or the end of a drag, in the figure's own units.

    On a point: its x, y, `customdata` and the name of its trace. On the empty plot area: the place
    itself, with no trace. After a drag of the handle: its x, and `HANDLE` as the trace.
    """

    x: float | str
    y: float | str | None = None
    customdata: object = None
    trace: str | None = None


def chart(
    figure: go.Figure,
    key: str,
    *,
    alt_text: str,
    height: int = 420,
    clickable: bool = False,
    draggable: bool = False,
    on_event: Callable[[Event], None] | None = None,
) -> Event | None:
    """Draw the figure; return what the visitor did in it, once, or None.

    `alt_text` describes the figure to screen readers. `on_event` is called before the page runs
    again, the only time at which the value of a widget may be set. With `draggable`, a vertical
    line shape named `HANDLE` can be moved. Series keep their state by name, so give each its own.
    """
    data = payload(figure, key, alt_text=alt_text, height=height)
    data |= {"clickable": clickable, "draggable": draggable, "plotly": _plotly_address()}

    def report() -> None:
        event = _event(st.session_state[key].event)
        if on_event is not None and event is not None:
            on_event(event)

    result = _component(key=key, data=data, height=height, on_event_change=report)
    return _event(result.event)


def payload(figure: go.Figure, key: str, *, alt_text: str = "", height: int = 420) -> dict:
    """What the browser gets: the figure as JSON with a name for each of its series."""
    content = figure.to_dict()
    layout = content["layout"]
    layout.setdefault("uirevision", key)
    layout.pop("height", None)
    names = [trace.get("name") for trace in content["data"]]
    for index, (trace, name) in enumerate(zip(content["data"], names, strict=True)):
        own = name if names.count(name) == 1 else f"{name}/{index}"
        # Plotly makes a class of it, so it must be a plain word.
        trace["uid"] = f"s{crc32(str(own).encode()):08x}"
    return {
        "key": key,
        "figure": json.dumps(content, cls=PlotlyJSONEncoder, separators=(",", ":")),
        "alt_text": alt_text,
        "height": height,
        "file": f"fsdash-{key}",
    }


def _event(value: dict | None) -> Event | None:
    return None if value is None else Event(**value)


def _plotly_address() -> str:
    name = _serve_plotly()
    base = st.get_option("server.baseUrlPath").strip("/")
    prefix = f"/{base}" if base else ""
    return f"{prefix}/component/{name}/plotly.min.js?v={plotly.__version__}"


@st.cache_resource(show_spinner=False)
def _serve_plotly() -> str:
    # The older kind of component is a name for a folder that the server may hand out.
    return declare_component("plotly", path=_FOLDER).name
