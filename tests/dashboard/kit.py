"""Helpers for tests of pages without a browser: open a page, read its figures and texts."""

import base64
import json
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from fsdash.dashboard.widgets import waiting

waiting.FIRST_WAIT = 60.0  # AppTest has no timer that would run a page again

ROOT = Path(__file__).parents[2]
APP = str(ROOT / "app.py")


def opened(page: str | None = None, **query: str) -> AppTest:
    """The home page, or the page with this script, opened by a link with these parameters."""
    test = AppTest.from_file(APP, default_timeout=60)
    if page is not None:
        test.switch_page(f"pages/{page}")
    for name, value in query.items():
        test.query_params[name] = value
    test.run()
    assert not test.exception, [(e.message, *e.stack_trace[-3:]) for e in test.exception]
    return test


def follow_link(test: AppTest, page: str) -> AppTest:
    """Another page, as a link in the sidebar opens it: the browser drops the query of the URL."""
    test.query_params.clear()
    test.switch_page(f"pages/{page}").run()
    assert not test.exception
    return test


def address(test: AppTest) -> dict[str, str]:
    """The parameters in the URL."""
    found = dict(test.query_params)
    return {n: v if isinstance(v, str) else v[0] for n, v in found.items()}


def component_data(test: AppTest) -> list[dict]:
    """What each component on the page receives."""
    found = test.get("bidi_component")
    return [json.loads(element.proto.json or element.proto.mixed.json) for element in found]


def figures(test: AppTest) -> dict[str, dict]:
    """The figures on the page by key, as the browser receives them, with decoded arrays."""
    return {
        data["key"]: decoded(json.loads(data["figure"]))
        for data in component_data(test)
        if "figure" in data
    }


def table_rows(test: AppTest) -> list[dict]:
    """The rows of the page's data table in order; none if it has no table."""
    return next((data["rows"] for data in component_data(test) if "rows" in data), [])


def traces(figure: dict) -> dict[str, dict]:
    """The series of a figure by their names."""
    return {trace.get("name"): trace for trace in figure["data"]}


def words(test: AppTest) -> str:
    """All of the page's text."""
    texts = (markdown.value for markdown in test.markdown)
    return " ".join(text for text in texts if not text.startswith("<style>"))


def metrics(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def unfold(test: AppTest) -> AppTest:
    """Open every section and popover whose content is drawn only when it is open."""
    for section in [
        *(box.proto for box in test.expander),
        *(b.proto.popover for b in test.get("popover")),
    ]:
        if section.id:
            _, _, key = section.id.split("-", 2)
            test.session_state[key] = True
    test.run()
    assert not test.exception
    return test


def open_popover(test: AppTest, label: str) -> AppTest:
    """Open a popover whose widgets are drawn only while it is open."""
    test.session_state[f"popover-{label}"] = True
    test.run()
    assert not test.exception
    return test


def snippet(test: AppTest, place: int = 0) -> str:
    """One of the Python snippets on the page, the first by default."""
    blocks = unfold(test).code
    return [block.value for block in blocks if block.language == "python"][place]


def decoded(value):
    """Plotly's JSON with base64 arrays decoded to numbers."""
    if isinstance(value, dict):
        if set(value) >= {"bdata", "dtype"}:
            return np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return {key: decoded(item) for key, item in value.items()}
    return [decoded(item) for item in value] if isinstance(value, list) else value
