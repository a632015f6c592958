"""What the Policy inspector draws: the run's slider, the views, two policies, and one state."""

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.inspector import state as inspector
from fsdash.dashboard.inspector.address import selection_text, write_address
from fsdash.dashboard.inspector.figures import (
    fitting,
    height_of,
    mark_state,
    phase_of,
    share_scale,
    states_drawn,
    worst_state,
)
from fsdash.dashboard.inspector.pick import Pick, choose, history_of, in_rows, subject_at
from fsdash.dashboard.inspector.second import Second, pick_second
from fsdash.dashboard.inspector.state import PolicyHistory
from fsdash.dashboard.shell import is_dark
from fsdash.dashboard.widgets.chart import Event, chart
from fsdash.dashboard.widgets.export import alone
from fsdash.figures.policies import InspectedPolicy, PolicyFigure, Selector, q_figure, views
from fsdash.figures.policies.labels import action_labels
from fsdash.formatting import number
from fsdash.runs.store.experiments import Store

PLAYING, STOP, LAST, BEGIN = (f"inspector-{name}" for name in ("playing", "stop", "last", "begin"))
FRAMES = 30
"""Policies shown when a run is played from end to end."""
SEGMENTS = 5
"""Options that stand side by side; more become a slider."""
OPTIMAL, OWN = "the optimal policy", "this policy"


# ---------------------------------------------------------------------------------- the run's steps


def draw_steps(history: PolicyHistory) -> int:
    """The slider over the run, its play button, and where in the run the policy stands."""
    step = _step_before(history)
    if len(history.steps) > 1:
        button, slider = st.columns([1, 6], vertical_alignment="bottom")
        with slider:
            st.session_state["step"] = step
            step = st.select_slider(
                "Step of the run",
                history.steps,
                key="step",
                help="Each step is one look at the policy that the algorithm had by then.",
            )
        playing = st.session_state.get(PLAYING, False)
        label, icon = ("Pause", "pause") if playing else ("Play", "play_arrow")
        if button.button(label, icon=f":material/{icon}:", key="play", width="stretch"):
            st.session_state[PLAYING] = not playing
            if step == history.steps[-1]:
                st.session_state[BEGIN] = history.steps[0]
            st.rerun()
    st.session_state[LAST] = (history.name, step, history.steps[-1])
    st.markdown(inspector.told_step(history.row(step), history.spec.T))
    return step


def _step_before(history: PolicyHistory) -> int:
    """The step to show: the chosen one, or the next one while playing.

    Who is at the end of a run stays at the end, when it grows and when another run is chosen.
    """
    name, step, last = st.session_state.get(LAST, ("", None, None))
    wanted = st.session_state.get("step", history.steps[-1])
    playing, begin = st.session_state.get(PLAYING), st.session_state.pop(BEGIN, None)
    if begin is not None:
        return history.nearest(begin)
    if step == wanted == last:
        wanted = history.steps[-1]
    elif playing and (name, step) == (history.name, wanted):
        stride = ceil(len(history.steps) / FRAMES)
        wanted = next(
            iter([kept for kept in history.steps if kept > step][stride - 1 :]), history.steps[-1]
        )
    if playing and wanted == history.steps[-1]:
        st.session_state[STOP] = True
    return history.nearest(wanted)


def draw_numbers(subject: InspectedPolicy, row, phase: int) -> None:
    share = row["fraction_of_optimal"]
    worse = f"{inspector.worse_share(subject, phase):.0%}"
    of = "" if len(subject.phases) == 1 else f" of {subject.phases[phase]}"
    shown = (
        (
            "Share of the optimum",
            "–" if np.isnan(share) else f"{share:.1%}",
            "The policy's exact mean return over that of the optimal policy.",
        ),
        (
            "Mean return",
            number(row["mean_return"]),
            "Its exact value, averaged over the initial distribution of states.",
        ),
        (
            "Largest regret",
            number(row["max_regret"]),
            "In the worst state: what the optimal policy would earn more from there on.",
        ),
        (
            f"Worse actions{of}",
            worse,
            "The share of states whose action itself loses, if all later ones are optimal.",
        ),
    )
    with st.container(horizontal=True, gap="medium", key="numbers"):
        for label, value, help in shown:
            st.metric(label, value, help=help, width="content")


# ------------------------------------------------------------------------------------------- views


def pick_view(subject: InspectedPolicy) -> PolicyFigure:
    known = {view.name: view for view in views(subject)}
    name = choose(
        st.pills,
        "PolicyFigure",
        "view",
        list(known),
        next(iter(known)),
        lambda n: known[n].title,
        required=True,
        label_visibility="collapsed",
        wrap=True,
    )
    return known[name]


def pick_selectors(selectors: Sequence[Selector], slots: Iterator) -> dict:
    """A widget for each selector of a view."""
    chosen = {}
    for selector in selectors:
        with next(slots):
            chosen[selector.name] = _widget(selector)
    return chosen


def _widget(selector: Selector) -> object:
    few = len(selector.options) <= SEGMENTS
    # A key belongs to one kind of widget: another kind with its key would begin without a value.
    key = f"at-{selector.name}-{'many' if selector.many else 'few' if few else 'one'}"
    at = st.session_state.setdefault("at", {})
    if key not in st.session_state or not _known(selector, st.session_state[key]):
        st.session_state[key] = _start(selector, at.get(selector.name, ()))
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
    texts = tuple(map(str, value)) if selector.many else (str(value),)
    at[selector.name] = texts
    return value


def _known(selector: Selector, value: object) -> bool:
    values = value if isinstance(value, tuple | list) else (value,)
    return all(one in selector.options for one in values)


def _start(selector: Selector, texts: Sequence[str]) -> object:
    """What the address says, or else the default."""
    found = tuple(option for option in selector.options if str(option) in texts)
    if not found:
        return selector.default
    return found if selector.many else found[0]


# ----------------------------------------------------------------------------------------- figures


def click(event: Event) -> None:
    """Keep the state under the click, if there is one."""
    if isinstance(event.customdata, list | tuple) and len(event.customdata) >= 2:
        x, y = event.customdata[:2]
        if x is not None and y is not None and min(x, y) >= 0:
            st.session_state["state"] = (int(x), int(y))


def state_shown(subject: InspectedPolicy, figure: go.Figure, phase: int) -> tuple[int, int, bool]:
    """The clicked state, or the one of those drawn that loses most; and whether it was clicked."""
    X, Y = subject.policy_PXY.shape[1:]
    state = st.session_state.get("state")
    if state is not None and state[0] < X and state[1] < Y:
        return *state, True
    st.session_state.pop("state", None)
    return *worst_state(subject.regret_XY(phase), states_drawn(figure)), False


def draw_figure(figure, key: str, view: PolicyFigure, height: int, alt_text: str) -> None:
    chart(figure, key, alt_text=alt_text, height=height, clickable=view.clickable, on_event=click)


def draw_one(
    subject: InspectedPolicy, view: PolicyFigure, chosen: dict, domain: str, own_XY: np.ndarray
):
    """One policy with the state panel beside it; returns the figure."""
    dark, phase = is_dark(), phase_of(subject, chosen)
    figure = view.figure(dark, **chosen)
    x, y, clicked = state_shown(subject, figure, phase)
    if view.clickable:
        mark_state(figure, (x, y), dark)
    left, right = st.columns([7, 4], gap="large")
    with left:
        draw_figure(figure, f"policy-{view.name}", view, height_of(domain, view), view.told)
        st.caption(view.told + (" Click a state to see it in detail." if view.clickable else ""))
        if len(subject.phases) > 1:
            st.markdown("**The same state in every phase**")
            draw_phases(subject, x, y)
    with right:
        draw_state(subject, x, y, phase, "one", clicked, own_XY)
    return figure


def draw_two(
    subject: InspectedPolicy,
    second: Second,
    view: PolicyFigure,
    chosen: dict,
    domain: str,
    name: str,
) -> go.Figure:
    """Two policies side by side, each with the same state below; returns the first figure."""
    dark = is_dark()
    other = {v.name: v for v in views(second.subject)}[view.name]
    shown = fitting(other, chosen | second.chosen)
    figures = [view.figure(dark, **chosen), other.figure(dark, **shown)]
    share_scale(*figures)
    phases = [phase_of(subject, chosen), phase_of(second.subject, shown)]
    x, y, clicked = state_shown(subject, figures[0], phases[0])
    st.markdown(told_difference(subject, second.subject, *phases))
    sides = zip(
        (subject, second.subject),
        figures,
        phases,
        ("left", "right"),
        (name, second.title),
        strict=True,
    )
    for column, (one, figure, phase, side, title) in zip(
        st.columns(2, gap="large"), sides, strict=True
    ):
        with column:
            st.markdown(f"**{_titled(title, one, phase)}**")
            if view.clickable:
                mark_state(figure, (x, y), dark)
            height = height_of(domain, view, beside=True)
            draw_figure(figure, f"{side}-{view.name}", view, height, f"{title}. {view.told}")
            draw_state(one, x, y, phase, side, clicked)
    return figures[0]


def _titled(title: str, subject: InspectedPolicy, phase: int) -> str:
    return title if len(subject.phases) == 1 else f"{title} · {subject.phases[phase]}"


def told_difference(left: InspectedPolicy, right: InspectedPolicy, p: int, q: int) -> str:
    """How often two policies differ, and what they are worth."""
    share = inspector.differ_share(left.policy_PXY[p], right.policy_PXY[q])
    a, b = (s.model.mean(s.values_PXY[0]) for s in (left, right))
    if left is right:
        return f"The two phases act differently in **{share:.0%}** of the states."
    worth = f"mean returns {number(a)} on the left, {number(b)} on the right"
    return f"They act differently in **{share:.0%}** of the states; {worth}."


# ------------------------------------------------------------------------------------------- state


def draw_state(
    subject: InspectedPolicy,
    x: int,
    y: int,
    phase: int,
    side: str,
    clicked: bool,
    own_XY: np.ndarray | None = None,
) -> None:
    """A state's coordinates, values and regret, and what each action would be worth."""
    model, best = subject.model, subject.optimum
    place = " · ".join(
        f"{name} **{value}**" for name, value in inspector.coordinates_told(model, x, y)
    )
    title = "The state you clicked" if clicked else "Where it loses most, of the states shown"
    st.markdown(f"##### {title}\n{place}")
    here = inspector.state_frame(subject, x, y).iloc[phase]
    rows = [
        ("action", here["action"], action_labels(model)[best.policy_PXY[0, x, y]]),
        ("value", number(here["value"]), number(float(best.U_XY[x, y]))),
        ("regret", number(here["regret"]), "0"),
    ]
    if own_XY is not None:
        rows.append(("own value", number(float(own_XY[x, y])), ""))
    lines = [f"| {a} | **{b}** | {c} |" for a, b, c in rows]
    st.markdown("\n".join(["| | policy | optimal |", "|---|---|---|", *lines]))
    after_XY = _after(subject, phase, side)
    figure = q_figure(model, after_XY, x, y, int(subject.policy_PXY[phase, x, y]), is_dark())
    alt_text = f"Q-values of every action in this state; the policy takes {here['action']}."
    chart(figure, f"q-{side}", alt_text=alt_text, height=300)


def draw_phases(subject: InspectedPolicy, x: int, y: int) -> None:
    """One state in every phase: the upper policy against the lower ones."""
    st.dataframe(
        inspector.state_frame(subject, x, y),
        hide_index=True,
        height="content",
        key="phases",
        column_config={
            "value": st.column_config.NumberColumn(format="%.5g"),
            "regret": st.column_config.NumberColumn(format="%.3g"),
        },
    )


def _after(subject: InspectedPolicy, phase: int, side: str) -> np.ndarray:
    """The values that Q looks ahead to."""
    way = st.segmented_control(
        "Q-values if afterwards one follows",
        (OPTIMAL, OWN),
        default=OPTIMAL,
        required=True,
        key=f"after-{side}",
        help="The length of a bar is what an action loses.",
    )
    if way == OPTIMAL:
        return subject.optimum.U_XY
    return subject.values_PXY[(phase + 1) % len(subject.phases)]


# -------------------------------------------------------------------------------------------- whole


def draw_workbench(store: Store, picked: Pick) -> None:
    """Everything below the choice of the run; a fragment, which ticks while a run is played."""
    history = history_of(store, picked)
    step = draw_steps(history)
    subject, own_XY = subject_at(history, step)
    numbers = st.container()
    view = pick_view(subject)
    with st.container(border=True, key="choices"):
        slots = in_rows()
        chosen = pick_selectors(view.selectors, slots)
        second = pick_second(store, picked, history, step, subject, slots)
    with numbers:
        draw_numbers(subject, history.row(step), phase_of(subject, chosen))
    domain = history.spec.domain
    if second is None:
        figure = draw_one(subject, view, chosen, domain, own_XY)
    else:
        figure = draw_two(subject, second, view, chosen, domain, f"{history.label}, step {step}")
    draw_export(history, step, subject, view, chosen, figure)
    if st.session_state.pop(STOP, False):
        st.session_state[PLAYING] = False
        st.rerun()
    if not st.session_state.get(PLAYING):
        _write(picked, history, step, view, second)


def _write(
    picked: Pick, history: PolicyHistory, step: int, view: PolicyFigure, second: Second | None
) -> None:
    at = st.session_state.get("at", {})
    changed = {
        s.name: at[s.name]
        for s in view.selectors
        if at[s.name] != tuple(map(str, s.default if s.many else (s.default,)))
    }
    state = st.session_state.get("state")
    write_address(
        {
            **picked.address,
            "step": step if step != history.steps[-1] else None,
            "view": view.name,
            "at": selection_text(changed),
            "state": f"{state[0]},{state[1]}" if state else None,
            **(second.address if second else {}),
        }
    )


def draw_export(
    history: PolicyHistory,
    step: int,
    subject: InspectedPolicy,
    view: PolicyFigure,
    chosen: dict,
    figure,
) -> None:
    """The policy as a table, the figure, and the lines that compute both again."""
    dark, name = is_dark(), f"{history.spec.domain}-{history.spec.algorithm}-step{step}"
    frame = lambda: inspector.policy_frame(subject)  # noqa: E731
    files = (
        ("Policy, CSV", f"{name}.csv", "text/csv", lambda: frame().to_csv(index=False)),
        (
            "Policy, JSON",
            f"{name}.json",
            "application/json",
            lambda: frame().to_json(orient="records", double_precision=10),
        ),
        ("Figure, HTML", f"{name}-{view.name}.html", "text/html", lambda: alone(figure, dark)),
        ("Specification, JSON", f"{name}-spec.json", "application/json", history.spec.to_json),
    )
    with st.expander("Take it with you", icon=":material/download:", key="export-policy"):
        with st.container(horizontal=True):
            for label, file, kind, make in files:
                st.download_button(label, make, file, kind, key=f"get-{label}", on_click="ignore")
        st.caption("PNG and SVG: the buttons that appear at the lower right of the figure.")
        st.markdown("**In Python**")
        st.code(inspector.policy_snippet(history, step, view.name, chosen), language="python")
