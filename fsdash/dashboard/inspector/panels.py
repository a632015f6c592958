"""The parts of the Policy inspector below the step: metrics, figures, a state, and export."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.comparison import ComparedPolicy
from fsdash.dashboard.inspector.figures import (
    figure_height,
    mark_state,
    selected_phase,
    share_scale,
    states_drawn,
    supported_selection,
    worst_state,
)
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.dashboard.inspector.url import PREFIX, URL, SelectorTexts, choose
from fsdash.dashboard.shell import is_dark
from fsdash.dashboard.widgets.chart import (
    EXPORT,
    HTML,
    IMAGES,
    IN_PYTHON,
    Event,
    chart,
    standalone_html,
)
from fsdash.figures.policies import (
    InspectedPolicy,
    PolicyFigure,
    Selector,
    policy_figures,
    q_figure,
)
from fsdash.figures.policies.labels import action_labels
from fsdash.formatting import number
from fsdash.runs.columns import BY_NAME
from fsdash.runs.measures import RELATIVE, SHARE, shown_measures

MAX_SEGMENTS = 5
"""Options shown as buttons in a row; more become a slider."""


def draw_metrics(inspected: InspectedPolicy, row: pd.Series, phase: int) -> None:
    """The recorded measures of this policy, and the share of its actions that are suboptimal."""
    with st.container(horizontal=True, gap="medium", key="numbers"):
        for name in shown_measures(pd.DataFrame([row])):
            column, value, label = BY_NAME[name], row[name], BY_NAME[name].label
            if name == "mean_return" and inspected.model.sense == "min":
                label, value = text.MEAN_COST, -value
            shown = f"{value:.1%}" if name in (SHARE, RELATIVE) else number(value)
            st.metric(label, shown, help=column.help, width="content")
        phase_name = inspected.phases[phase] if len(inspected.phases) > 1 else None
        share = state.suboptimal_share(inspected, phase)
        label = text.suboptimal_label(phase_name)
        st.metric(label, f"{share:.0%}", help=text.SUBOPTIMAL_HELP, width="content")


# ---------------------------------------------------------------------------- choosing the figure


def choose_figure(inspected: InspectedPolicy) -> PolicyFigure:
    by_name = {figure.name: figure for figure in policy_figures(inspected)}
    name = choose(
        st.pills,
        text.FIGURE,
        "view",
        list(by_name),
        next(iter(by_name)),
        lambda n: by_name[n].title,
        required=True,
        label_visibility="collapsed",
        wrap=True,
    )
    return by_name[name]


def choose_selectors(selectors: Sequence[Selector], slots: Iterator) -> dict:
    """A widget for each selector of a figure; returns the selected values by name."""
    selected = {}
    for selector in selectors:
        with next(slots):
            selected[selector.name] = _choose_selector(selector)
    return selected


def changed_selectors(figure: PolicyFigure) -> SelectorTexts:
    """The selectors of a figure that are not at their default."""
    texts = URL.get("at") or {}
    return {
        s.name: texts[s.name]
        for s in figure.selectors
        if texts[s.name] != tuple(map(str, s.default if s.many else (s.default,)))
    }


def _choose_selector(selector: Selector) -> object:
    few = len(selector.options) <= MAX_SEGMENTS
    # Each kind of widget has its own key: with a key of another kind it would lose its value.
    kind = "many" if selector.many else "few" if few else "one"
    key = f"{PREFIX}{selector.name}-{kind}"
    texts = dict(URL.get("at") or {})
    if key not in st.session_state or not _is_option(selector, st.session_state[key]):
        st.session_state[key] = _initial_value(selector, texts.get(selector.name, ()))
    labels = dict(zip(selector.options, selector.labels, strict=True))
    common = {"key": key, "format_func": labels.get}
    title = selector.title[0].upper() + selector.title[1:]
    if selector.many:
        found = st.pills(title, selector.options, selection_mode="multi", wrap=True, **common)
        value = tuple(sorted(found)) or selector.default
    elif few:
        value = st.segmented_control(title, selector.options, required=True, wrap=True, **common)
    else:
        value = st.select_slider(title, selector.options, **common)
    texts[selector.name] = tuple(map(str, value)) if selector.many else (str(value),)
    URL.put("at", texts)
    return value


def _is_option(selector: Selector, value: object) -> bool:
    values = value if isinstance(value, tuple | list) else (value,)
    return all(one in selector.options for one in values)


def _initial_value(selector: Selector, texts: Sequence[str]) -> object:
    """The options that the URL names, or else the default."""
    found = tuple(option for option in selector.options if str(option) in texts)
    if not found:
        return selector.default
    return found if selector.many else found[0]


# ----------------------------------------------------------------------------------------- figures


def draw_one(
    inspected: InspectedPolicy,
    policy_figure: PolicyFigure,
    selected: dict,
    estimate_XY: np.ndarray,
) -> go.Figure:
    """One policy, with the details of a state at its right; returns the figure."""
    dark, phase = is_dark(), selected_phase(inspected, selected)
    figure = policy_figure.figure(dark, **selected)
    x, y, clicked = _state_shown(inspected, figure, phase)
    if policy_figure.clickable:
        mark_state(figure, (x, y), dark)
    left, right = st.columns([7, 4], gap="large")
    with left:
        key, height = f"policy-{policy_figure.name}", figure_height(policy_figure.name, figure)
        _draw_figure(figure, key, policy_figure, height, policy_figure.caption)
        hint = f" {text.CLICK_HINT}" if policy_figure.clickable else ""
        st.caption(policy_figure.caption + hint)
        if len(inspected.phases) > 1:
            st.markdown(text.EVERY_PHASE)
            _draw_phases(inspected, x, y)
    with right:
        heading = text.CLICKED_STATE if clicked else text.WORST_STATE
        _draw_state(inspected, x, y, phase, "one", heading, estimate_XY)
    return figure


def draw_two(
    inspected: InspectedPolicy,
    compared: ComparedPolicy,
    policy_figure: PolicyFigure,
    selected: dict,
    title: str,
) -> go.Figure:
    """Two policies side by side, each with the same state below; returns the first figure."""
    dark = is_dark()
    other_figure = {f.name: f for f in policy_figures(compared.inspected)}[policy_figure.name]
    other_selected = supported_selection(other_figure, selected | compared.selected)
    figures = [policy_figure.figure(dark, **selected), other_figure.figure(dark, **other_selected)]
    share_scale(*figures)
    policies = (inspected, compared.inspected)
    phases = [
        selected_phase(inspected, selected),
        selected_phase(compared.inspected, other_selected),
    ]
    x, y, clicked = _state_shown(inspected, figures[0], phases[0])
    st.markdown(_describe_difference(*policies, *phases))
    height = figure_height(policy_figure.name, figures[0], compared=True)
    sides = zip(
        st.columns(2, gap="large"),
        policies,
        figures,
        phases,
        ("left", "right"),
        (title, compared.title),
        strict=True,
    )
    for column, policy, figure, phase, side, name in sides:
        with column:
            phase_name = f" · {policy.phases[phase]}" if len(policy.phases) > 1 else ""
            st.markdown(f"**{name}{phase_name}**")
            if policy_figure.clickable:
                mark_state(figure, (x, y), dark)
            alt_text = f"{name}. {policy_figure.caption}"
            _draw_figure(figure, f"{side}-{policy_figure.name}", policy_figure, height, alt_text)
            unclicked = text.WORST_STATE if side == "left" else text.SAME_STATE
            _draw_state(policy, x, y, phase, side, text.CLICKED_STATE if clicked else unclicked)
    return figures[0]


def _draw_figure(
    figure: go.Figure, key: str, policy_figure: PolicyFigure, height: int, alt_text: str
) -> None:
    chart(
        figure,
        key,
        alt_text=alt_text,
        height=height,
        clickable=policy_figure.clickable,
        on_event=_select_state,
    )


def _select_state(event: Event) -> None:
    """Store the state under a click, if there is one."""
    if isinstance(event.customdata, list | tuple) and len(event.customdata) >= 2:
        x, y = event.customdata[:2]
        if x is not None and y is not None and min(x, y) >= 0:
            URL.put("state", (int(x), int(y)))


def _state_shown(
    inspected: InspectedPolicy, figure: go.Figure, phase: int
) -> tuple[int, int, bool]:
    """The clicked state, or the drawn state with the largest regret; and whether it was clicked."""
    real_XY = inspected.model.real_XY
    (X, Y), clicked = real_XY.shape, URL.get("state")
    if clicked is not None and clicked[0] < X and clicked[1] < Y and real_XY[clicked]:
        return *clicked, True
    URL.put("state", None)
    return *worst_state(inspected.regret_XY(phase), states_drawn(figure), real_XY), False


def _describe_difference(
    left: InspectedPolicy, right: InspectedPolicy, left_phase: int, right_phase: int
) -> str:
    share = state.different_share(
        left.model, left.policy_PXY[left_phase], right.policy_PXY[right_phase]
    )
    if left is right:
        return text.phases_differ(share)
    returns = (policy.model.mean(policy.values_PXY[0]) for policy in (left, right))
    return text.policies_differ(share, *returns)


# --------------------------------------------------------------------------------------- one state


def _draw_state(
    inspected: InspectedPolicy,
    x: int,
    y: int,
    phase: int,
    side: str,
    heading: str,
    estimate_XY: np.ndarray | None = None,
) -> None:
    """Coordinates, value and regret of a state, and the Q-value of each action."""
    model, best = inspected.model, inspected.optimum
    coordinates = state.state_coordinates(model, x, y)
    place = " · ".join(f"{name} **{value}**" for name, value in coordinates)
    st.markdown(f"##### {heading}\n{place}")
    here, sign = state.state_table(inspected, x, y).iloc[phase], state.value_sign(model)
    value = text.VALUE_NAMES[model.sense]
    rows = [
        (text.ACTION, here["action"], action_labels(model)[best.policy_PXY[0, x, y]]),
        (value, number(here["value"]), number(sign * float(best.U_XY[x, y]))),
        (text.REGRET, number(here["regret"]), "0"),
    ]
    if estimate_XY is not None:
        rows.append((text.ESTIMATE, number(sign * float(estimate_XY[x, y])), ""))
    header = [f"| | {text.POLICY_COLUMN} | {text.OPTIMAL_COLUMN} |", "|---|---|---|"]
    st.markdown("\n".join([*header, *(f"| {a} | **{b}** | {c} |" for a, b, c in rows)]))
    next_XY = _choose_next_values(inspected, phase, side)
    figure = q_figure(model, next_XY, x, y, int(inspected.policy_PXY[phase, x, y]), is_dark())
    chart(figure, f"q-{side}", alt_text=text.q_alt_text(here["action"]), height=300)


def _draw_phases(inspected: InspectedPolicy, x: int, y: int) -> None:
    """One state in every phase: the upper policy and the lower ones."""
    table = state.state_table(inspected, x, y)
    for name in ("value", "regret"):
        table[name] = table[name].map(number)
    st.dataframe(
        table,
        hide_index=True,
        height="content",
        key="phases",
        column_config={
            name: st.column_config.TextColumn(
                label, alignment="right" if name in ("value", "regret") else "left"
            )
            for name, label in text.phase_columns(inspected.model.sense).items()
        },
    )


def _choose_next_values(inspected: InspectedPolicy, phase: int, side: str) -> np.ndarray:
    """The values of the next states in Q(s, a)."""
    afterwards = st.segmented_control(
        text.Q_LABEL,
        (text.OPTIMAL_AFTERWARDS, text.POLICY_AFTERWARDS),
        default=text.OPTIMAL_AFTERWARDS,
        required=True,
        key=f"after-{side}",
        help=text.Q_HELP,
    )
    if afterwards == text.OPTIMAL_AFTERWARDS:
        return inspected.optimum.U_XY
    return inspected.values_PXY[(phase + 1) % len(inspected.phases)]


# ------------------------------------------------------------------------------------------ export


@st.fragment
def draw_export(
    history: PolicyHistory,
    step: int,
    inspected: InspectedPolicy,
    policy_figure: PolicyFigure,
    selected: dict,
    figure: go.Figure,
) -> None:
    """The policy as a table, the figure, and Python code that recomputes both, once opened."""
    dark, name = is_dark(), f"{history.spec.domain}-{history.spec.algorithm}-step{step}"

    def table_csv() -> str:
        return state.policy_table(inspected).to_csv(index=False)

    def table_json() -> str:
        return state.policy_table(inspected).to_json(orient="records", double_precision=10)

    def figure_html() -> str:
        return standalone_html(figure, dark)

    files = (
        (text.POLICY_CSV, f"{name}.csv", "text/csv", table_csv),
        (text.POLICY_JSON, f"{name}.json", "application/json", table_json),
        (HTML, f"{name}-{policy_figure.name}.html", "text/html", figure_html),
        (text.SPEC_JSON, f"{name}-spec.json", "application/json", history.spec.to_json),
    )
    section = st.expander(
        EXPORT, icon=":material/download:", key="export-policy", on_change="rerun"
    )
    if not section.open:
        return
    with section:
        with st.container(horizontal=True):
            for label, file, mime, make in files:
                st.download_button(label, make, file, mime, key=f"get-{label}", on_click="ignore")
        st.caption(IMAGES)
        st.markdown(f"**{IN_PYTHON}**")
        snippet = state.policy_snippet(history, step, policy_figure.name, selected)
        st.code(snippet, language="python")
