"""The export of the inspector: tables, figure, specification and Python code."""

import pandas as pd
import streamlit as st

from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.inspection import Inspection
from fsdash.dashboard.widgets.chart import EXPORT, HTML, IMAGES, IN_PYTHON, standalone_html
from fsdash.formatting import frame_csv


@st.fragment
def draw_export(now: Inspection) -> None:
    """The numbers as a table, the figure, and Python code that recomputes both, once opened."""
    spec, policy_figure, selected = now.history.spec, now.policy_figure, now.selected
    name = f"{spec.domain}-{spec.algorithm}-step{now.step}"
    own_table = policy_figure.tabulate is not None
    table_name = f"{name}-{policy_figure.name}" if own_table else name

    def table() -> pd.DataFrame:
        return policy_figure.table(**selected) if own_table else state.policy_table(now.inspected)

    def table_csv() -> str:
        return frame_csv(table())

    def table_json() -> str:
        return table().to_json(orient="records", double_precision=10)

    def figure_html() -> str:
        return standalone_html(now.figure)

    csv, json = text.table_labels(policy_figure.title if own_table else "Policy")
    files = (
        (csv, f"{table_name}.csv", "text/csv", table_csv),
        (json, f"{table_name}.json", "application/json", table_json),
        (HTML, f"{name}-{policy_figure.name}.html", "text/html", figure_html),
        ("Specification, JSON", f"{name}-spec.json", "application/json", spec.to_json),
    )
    box = st.popover(EXPORT, icon=":material/download:", key="export-policy", on_change="rerun")
    if not box.open:
        return
    with box:
        with st.container(horizontal=True):
            for label, file, mime, make in files:
                st.download_button(label, make, file, mime, key=f"get-{label}", on_click="ignore")
        st.caption(IMAGES)
        st.markdown(f"**{IN_PYTHON}**")
        both = now.compared is not None and now.together
        origin = now.compared.origin if both else None
        snippet = state.policy_snippet(now.history, now.step, policy_figure, selected, origin)
        st.code(snippet, language="python")
