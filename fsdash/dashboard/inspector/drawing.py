"""Drawing the figure of one policy, of a comparison, or of two policies side by side."""

import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.inspector import text
from fsdash.dashboard.inspector.figures import (
    figure_height,
    mark_state,
    share_scale,
    states_drawn,
    supported_selection,
    worst_state,
)
from fsdash.dashboard.inspector.inspection import Inspection, ShownState
from fsdash.dashboard.inspector.selectors import put_selector
from fsdash.dashboard.inspector.style import badge
from fsdash.dashboard.inspector.url import URL
from fsdash.dashboard.widgets.chart import Event, chart
from fsdash.figures.palette import FIRST_POLICY, SECOND_POLICY
from fsdash.figures.policies import PolicyFigure, policy_figures
from fsdash.formatting import escape_markdown


def shown_state(now: Inspection) -> ShownState:
    """The selected state, the largest disagreement with B, or the largest regret in the figure."""
    asked, real_XY = URL.get("state"), now.inspected.model.real_XY
    X, Y = real_XY.shape
    if asked is not None and asked[0] < X and asked[1] < Y and real_XY[asked]:
        return ShownState(*asked, "The selected state")
    URL.put("state", None)
    drawn_K2 = states_drawn(now.figure)
    if now.versus is not None:
        sizes_XY = abs(now.versus.disagreement(now.phase, now.judge).weighted_XY)
        if sizes_XY.any():
            return ShownState(
                *worst_state(sizes_XY, drawn_K2, real_XY), "Largest disagreement here"
            )
    regret_XY = now.inspected.regret_XY(now.phase)
    return ShownState(*worst_state(regret_XY, drawn_K2, real_XY), "Largest loss in this view")


def draw_figure(now: Inspection, state: ShownState) -> None:
    """The figure with the state marked; for two policies side by side if it shows only one."""
    if not now.together:
        _draw_side_by_side(now, state)
        return
    name, caption = now.policy_figure.name, now.policy_figure.caption
    height = figure_height(name, now.figure)
    _draw(now.figure, f"policy-{name}", now.policy_figure, state, height, caption)


def _draw_side_by_side(now: Inspection, state: ShownState) -> None:
    """The same figure of A and of B, on the same colour scale."""
    assert now.versus is not None and now.compared is not None
    name, caption = now.policy_figure.name, now.policy_figure.caption
    other = {f.name: f for f in policy_figures(now.versus.second)}[name]
    (first, p), (second, q) = now.policies.values()
    chosen = supported_selection(other, now.selected | {"phase": q})
    other_figure = other.figure(**chosen)
    share_scale(now.figure, other_figure)
    height = figure_height(name, now.figure, compared=True)
    with st.container(key="two-figures"):
        columns = st.columns(2, gap="small")
    title = text.policy_title(now.history.label, now.step)
    sides = (
        ("A", FIRST_POLICY, "left", title, first, p, now.figure),
        ("B", SECOND_POLICY, "right", now.compared.title, second, q, other_figure),
    )
    for column, (who, colour, side, title, policy, phase, figure) in zip(
        columns, sides, strict=True
    ):
        with column:
            phase_name = f" · {policy.phases[phase]}" if len(policy.phases) > 1 else ""
            mark = badge(who, colour)
            st.markdown(f"{mark} **{escape_markdown(title + phase_name)}**", unsafe_allow_html=True)
            alt_text = f"{title}. {caption}"
            _draw(figure, f"{side}-{name}", now.policy_figure, state, height, alt_text)


def _draw(
    figure: go.Figure,
    key: str,
    policy_figure: PolicyFigure,
    state: ShownState,
    height: int,
    alt_text: str,
) -> None:
    def select(event: Event) -> None:
        """Select the state under a click, and set the selector that the point names."""
        data = event.customdata
        if not isinstance(data, list | tuple) or len(data) < 2 or None in data[:2]:
            return
        if len(data) == 4:
            put_selector(policy_figure, data[2], data[3])
        if min(data[:2]) >= 0:
            URL.put("state", (int(data[0]), int(data[1])))

    if policy_figure.clickable:
        mark_state(figure, (state.x, state.y))
    chart(
        figure,
        key,
        alt_text=alt_text,
        height=height,
        clickable=policy_figure.clickable,
        on_event=select,
    )
