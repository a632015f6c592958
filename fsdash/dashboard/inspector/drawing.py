"""Drawing the figure of one policy, of a comparison, or of two policies side by side."""

from dataclasses import dataclass

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
from fsdash.dashboard.inspector.selectors import put_selector
from fsdash.dashboard.inspector.style import badge
from fsdash.dashboard.inspector.url import URL
from fsdash.dashboard.shell import is_dark
from fsdash.dashboard.widgets.chart import Event, chart
from fsdash.figures.palette import FIRST_POLICY, SECOND_POLICY
from fsdash.figures.policies import InspectedPolicy, PolicyFigure, Versus, policy_figures


@dataclass(frozen=True)
class ShownState:
    """The state whose details are shown, and why it was chosen."""

    x: int
    y: int
    heading: str


def shown_state(
    inspected: InspectedPolicy,
    figure: go.Figure,
    phase: int,
    versus: Versus | None,
    judge: str,
) -> ShownState:
    """The clicked state, the largest disagreement with B, or the largest regret in the figure."""
    clicked, real_XY = URL.get("state"), inspected.model.real_XY
    X, Y = real_XY.shape
    if clicked is not None and clicked[0] < X and clicked[1] < Y and real_XY[clicked]:
        return ShownState(*clicked, text.SELECTED_STATE)
    URL.put("state", None)
    drawn_K2 = states_drawn(figure)
    if versus is not None:
        sizes_XY = abs(versus.disagreement(phase, judge).weighted_XY)
        if sizes_XY.any():
            return ShownState(*worst_state(sizes_XY, drawn_K2, real_XY), text.LARGEST_DISAGREEMENT)
    regret_XY = inspected.regret_XY(phase)
    return ShownState(*worst_state(regret_XY, drawn_K2, real_XY), text.WORST_STATE)


def draw_figure(figure: go.Figure, policy_figure: PolicyFigure, state: ShownState) -> None:
    """One figure, with the state marked."""
    if policy_figure.clickable:
        mark_state(figure, (state.x, state.y), is_dark())
    height = figure_height(policy_figure.name, figure)
    _chart(figure, f"policy-{policy_figure.name}", policy_figure, height, policy_figure.caption)


def draw_side_by_side(
    figure: go.Figure,
    versus: Versus,
    policy_figure: PolicyFigure,
    selected: dict,
    titles: tuple[str, str],
    state: ShownState,
) -> None:
    """The same figure of A and of B, on the same colour scale."""
    other = {f.name: f for f in policy_figures(versus.second)}[policy_figure.name]
    phases = versus.phases(int(selected.get("phase", 0)))
    other_figure = other.figure(
        is_dark(), **supported_selection(other, selected | {"phase": phases[1]})
    )
    share_scale(figure, other_figure)
    height = figure_height(policy_figure.name, figure, compared=True)
    policies = (versus.first, versus.second)
    with st.container(key="two-figures"):
        columns = st.columns(2, gap="small")
    sides = zip(
        columns, policies, (figure, other_figure), phases, ("left", "right"), titles, strict=True
    )
    for column, policy, one, phase, side, title in sides:
        with column:
            phase_name = f" · {policy.phases[phase]}" if len(policy.phases) > 1 else ""
            mark = badge(
                *(("A", FIRST_POLICY) if side == "left" else ("B", SECOND_POLICY)), is_dark()
            )
            st.markdown(f"{mark} **{title}{phase_name}**", unsafe_allow_html=True)
            if policy_figure.clickable:
                mark_state(one, (state.x, state.y), is_dark())
            alt_text = f"{title}. {policy_figure.caption}"
            _chart(one, f"{side}-{policy_figure.name}", policy_figure, height, alt_text)


def _chart(
    figure: go.Figure, key: str, policy_figure: PolicyFigure, height: int, alt_text: str
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

    chart(
        figure,
        key,
        alt_text=alt_text,
        height=height,
        clickable=policy_figure.clickable,
        on_event=select,
    )
