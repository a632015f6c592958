"""The Policy inspector: what a policy does, state by state, and how it differs from another one."""

from __future__ import annotations

from math import ceil

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.choice import (
    KEYS,
    PolicyChoice,
    choose_comparison,
    choose_policy,
    history_of,
    is_running,
    policy_at,
)
from fsdash.dashboard.inspector.figures import (
    figure_height,
    mark_state,
    share_scale,
    states_drawn,
    supported_selection,
    worst_state,
)
from fsdash.dashboard.inspector.state import Inspection, PolicyHistory, ShownState
from fsdash.dashboard.inspector.url import (
    PREFIX,
    URL,
    changed_selectors,
    choose_figure,
    choose_selectors,
    put_selector,
    show_slice_of,
    start_from_url,
)
from fsdash.dashboard.service import open_store, show_store_error
from fsdash.dashboard.shell import add_style, open_page, popover, tools, what_to_notice
from fsdash.dashboard.widgets.chart import (
    EXPORT,
    HTML,
    IMAGES,
    IN_PYTHON,
    Event,
    chart,
    standalone_html,
)
from fsdash.dashboard.widgets.theme import themed
from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.figures import policy_table
from fsdash.figures.palette import BACKGROUND, FIRST_POLICY, SECOND_POLICY, Colour
from fsdash.figures.policies import (
    InspectedPolicy,
    PolicyFigure,
    Versus,
    comparison_figures,
    policy_figures,
    q_figure,
)
from fsdash.figures.policies.labels import action_labels
from fsdash.figures.policies.q_values import LookAhead, q_pair_figure, q_table
from fsdash.formatting import escape_markdown, frame_csv, number
from fsdash.runs.columns import BY_NAME
from fsdash.runs.errors import StoreError
from fsdash.runs.measures import RELATIVE, SHARE, shown_measures
from fsdash.runs.store.experiments import Store

_ROW = '[data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] .st-key-rail)'
_COLUMN = '> [data-testid="stColumn"]'
STYLE = f"""<style>
[data-testid="stMainBlockContainer"] {{padding: 3.9rem 2.5rem 4rem;}}
.st-key-head h1 {{font-size: 1.7rem; line-height: 1.3; padding: 0;}}
.st-key-policy-a p {{max-width: none;}}
.st-key-views button {{font-size: 0.92rem; padding: 0.15rem 0.7rem; min-height: 2.1rem;}}
.st-key-below-figure p {{font-size: 0.9rem;}}
.st-key-numbers {{row-gap: 0.2rem; column-gap: 0.9rem;}}
.st-key-numbers [data-testid="stMetricValue"],
.st-key-numbers [data-testid="stMetricValue"] p {{font-size: 1.2rem; line-height: 1.3;}}
.st-key-numbers [data-testid="stMetricLabel"] p {{font-size: 0.76rem;}}
.st-key-aside h5 {{font-size: 1.05rem; padding: 0 0 0.2rem;}}
.st-key-aside p {{font-size: 0.92rem;}}
.st-key-aside table {{font-size: 0.9rem; width: 100%; margin-bottom: 0.3rem;}}
.st-key-aside th, .st-key-aside td {{padding: 0.2rem 0.4rem;}}
{_ROW} {{flex-wrap: wrap; gap: 1.25rem;}}
{_ROW} {_COLUMN}:has(.st-key-stage) {{flex: 1 1 20rem; min-width: 0; width: auto;}}
{_ROW} {_COLUMN}:has(.st-key-rail) {{flex: 0 0 12.5rem; min-width: 0; width: auto; order: -1;}}
{_ROW} {_COLUMN}:has(.st-key-aside) {{flex: 0 0 16.5rem; min-width: 0; width: auto;}}
{_ROW}:has(.st-key-two-figures) {_COLUMN}:has(.st-key-aside) {{flex: 1 1 100%;}}
@media (max-width: 1180px) {{
  .st-key-head h1 {{font-size: 1.4rem;}}
  {_ROW} {_COLUMN}:has(.st-key-aside) {{flex: 1 1 100%;}}
}}
@media (max-width: 900px) {{
  [data-testid="stMainBlockContainer"] {{padding-left: 1rem; padding-right: 1rem;}}
  {_ROW} {_COLUMN}:is(:has(.st-key-stage), :has(.st-key-rail)) {{flex: 1 1 100%; order: 0;}}
}}
@media (max-width: 640px) {{
  .st-key-views [role="radiogroup"] {{flex-wrap: nowrap; overflow-x: auto;}}
  .st-key-views [role="radiogroup"] > * {{flex-shrink: 0;}}
}}
</style>"""


def badge(letter: str, colour: Colour) -> str:
    """The letter of a policy on its colour, as HTML."""
    look = (
        f"background:{colour};color:{BACKGROUND};border-radius:0.3rem;"
        "padding:0.05rem 0.45rem;font-weight:700;"
    )
    return themed(f'<span style="{look}">{letter}</span>')


_PLAYING, _AT_END, _SHOWN, _RESTART = (
    PREFIX + name for name in ("playing", "at-end", "shown", "restart")
)
MAX_FRAMES = 30
"""Policies shown when a run is played from its first to its last step."""


def is_playing() -> bool:
    return st.session_state.get(_PLAYING, False)


def stop_at_end() -> None:
    """Stop playing when the last step is shown; call it after everything is drawn."""
    if st.session_state.pop(_AT_END, False):
        st.session_state[_PLAYING] = False
        st.rerun()


def choose_step(history: PolicyHistory) -> int:
    """Draw the Play button, the slider and a description of the step; return the step."""
    step = _next_step(history)
    if len(history.steps) > 1:
        with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="playback"):
            playing = is_playing()
            label, icon = ("Pause", "pause") if playing else ("Play", "play_arrow")
            pressed = st.button(label, icon=f":material/{icon}:", key="play", width=104)
            URL.put("step", step)
            step = st.select_slider(
                "Step of the run", history.steps, key=URL.key("step"), label_visibility="collapsed"
            )
        if pressed:
            st.session_state[_PLAYING] = not playing
            if step == history.steps[-1]:
                st.session_state[_RESTART] = True
            st.rerun()
    st.session_state[_SHOWN] = (history.name, step, history.steps[-1])
    st.markdown(text.describe_step(history.row(step), history.spec.T))
    return step


def _next_step(history: PolicyHistory) -> int:
    """The step to show: the selected one, or the next one while playing.

    A visitor at the last step stays at the last step when the run grows or another is chosen.
    """
    name, step, last = st.session_state.get(_SHOWN, ("", None, None))
    asked = URL.get("step")
    wanted = history.steps[-1] if asked is None else asked
    if st.session_state.pop(_RESTART, False):
        return history.steps[0]
    if step == wanted == last:
        wanted = history.steps[-1]
    elif is_playing() and (name, step) == (history.name, wanted):
        stride = ceil(len(history.steps) / MAX_FRAMES)
        later = [available for available in history.steps if available > step]
        wanted = later[stride - 1] if len(later) >= stride else history.steps[-1]
    if is_playing() and wanted == history.steps[-1]:
        st.session_state[_AT_END] = True
    return history.nearest(wanted)


Numbers = list[tuple[str, str, str]]
"""Label, value and help of each number."""


def draw_numbers(now: Inspection) -> None:
    """A row of numbers, which wraps on a narrow screen."""
    with st.container(horizontal=True, gap="medium", key="numbers"):
        for label, value, help in _numbers(now):
            st.metric(label, value, help=help, width="content")


def _numbers(now: Inspection) -> Numbers:
    if now.policy_figure.name == "blocks":
        return _of_block(now.inspected, now.selected)
    if now.versus is not None:
        return _of_comparison(now.versus, now.phase, now.judge)
    return _of_policy(now.inspected, now.history.row(now.step), now.phase)


def _of_policy(inspected: InspectedPolicy, row: pd.Series, phase: int) -> Numbers:
    """The recorded measures of a policy, and the share of its actions that are suboptimal."""
    found = []
    for name in shown_measures(pd.DataFrame([row])):
        label, value = BY_NAME[name].label, row[name]
        if name == "mean_return" and inspected.model.sense == "min":
            label, value = "Mean cost", -value
        shown = f"{value:.1%}" if name in (SHARE, RELATIVE) else number(value)
        found.append((label, shown, BY_NAME[name].help))
    phase_name = inspected.phases[phase] if len(inspected.phases) > 1 else None
    share = state.suboptimal_share(inspected, phase)
    return [*found, (text.suboptimal_label(phase_name), f"{share:.0%}", text.SUBOPTIMAL_HELP)]


def _of_comparison(versus: Versus, phase: int, judge: str) -> Numbers:
    """How often A and B differ, how often it matters, and the gain of B."""
    facts = state.comparison_facts(versus, phase, judge)
    shares = [
        ("Ties", f"{facts.ties:.0%}", text.ties_help(judge)),
        ("Real disagreements", f"{facts.real:.0%}", text.REAL_HELP),
        ("A's time there", f"{facts.time:.1%}", text.TIME_HELP),
    ]
    if versus.second_phase is not None:  # two phases of one policy have the same mean return
        return shares
    gain = text.GAIN[versus.model.sense], text.signed(facts.gain), text.GAIN_HELP
    return [*shares, gain]


def _of_block(inspected: InspectedPolicy, selected: dict) -> Numbers:
    """The gap of the selected block, its expectation, and what its actions lose."""
    facts = state.block_facts(inspected, selected)
    return [
        (text.block_gap(selected["block"]), text.signed(facts.gap), text.BLOCK_GAP_HELP),
        ("Its mean over noise", text.signed(facts.expected), text.EXPECTED_GAP_HELP),
        ("Loss of its actions", number(facts.loss), text.BLOCK_LOSS_HELP),
        ("Mean gap", text.signed(facts.mean), "The mean gap of all blocks of this path."),
    ]


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


HEIGHTS = {1: 250, 2: 270}
"""Pixels of the figure of Q-values, by the number of policies."""


def draw_facts(now: Inspection, shown: ShownState) -> None:
    """Coordinates of the state; action, value and regret of each policy there."""
    model, best, x, y = now.inspected.model, now.inspected.optimum, shown.x, shown.y
    coordinates = state.state_coordinates(model, x, y)
    place = " · ".join(f"{name} **{value}**" for name, value in coordinates)
    st.markdown(f"## {shown.heading}\n{place}")
    sign = state.value_sign(model)
    optimal = {
        "action": action_labels(model)[best.policy_PXY[0, x, y]],
        "value": sign * float(best.U_XY[x, y]),
        "regret": 0.0,
    }
    columns = {
        who: state.state_table(policy, x, y).iloc[phase]
        for who, (policy, phase) in now.policies.items()
    }
    rows = [
        [label, *(_cell(here[name]) for here in [*columns.values(), optimal])]
        for name, label in text.fact_rows(model.sense).items()
    ]
    if now.versus is None:
        rows.append([text.ESTIMATE, number(sign * float(now.estimate_XY[x, y])), ""])
    header = ["", *columns, "optimal"]
    st.markdown(_markdown_table([header, ["---"] * len(header), *rows]))


def draw_next_disagreement(now: Inspection, shown: ShownState) -> None:
    """A button that selects the state with the next largest disagreement."""
    if now.versus is None:
        return
    states_K2 = now.versus.disagreement(now.phase, now.judge).largest()
    if not len(states_K2):
        st.caption(text.no_disagreement(now.judge))
        return
    here = np.flatnonzero((states_K2 == (shown.x, shown.y)).all(axis=1))
    rank = int(here[0]) if len(here) else None
    # A state that the visitor has not chosen does not count: the first click goes to the largest.
    follows = rank is not None and (rank == 0 or URL.get("state") is not None)
    x, y = states_K2[(rank + 1) % len(states_K2) if follows else 0].tolist()

    def select() -> None:
        URL.put("state", (x, y))
        show_slice_of(now.policy_figure, now.inspected.model, (x, y))

    st.button(
        "Next largest disagreement",
        icon=":material/skip_next:",
        key="next-disagreement",
        help=text.NEXT_HELP,
        on_click=select,
        width="stretch",
    )
    if rank is not None:
        st.caption(text.rank_of(rank + 1, len(states_K2)))


def draw_q_values(now: Inspection, shown: ShownState) -> None:
    """The value of every action in the state, for one policy or for both."""
    two = now.versus is not None
    after = st.segmented_control(
        "Q-values if later actions follow",
        (text.OPTIMAL_AFTERWARDS, text.OWN_AFTERWARDS),
        default=text.OWN_AFTERWARDS if two else text.OPTIMAL_AFTERWARDS,
        required=True,
        key=f"after-{'two' if two else 'one'}",
        help=text.Q_HELP,
        wrap=True,
    )
    looks = _looks(now, shown, own=after == text.OWN_AFTERWARDS)
    model, x, y = now.inspected.model, shown.x, shown.y
    if two:
        figure = q_pair_figure(model, (looks["A"], looks["B"]), x, y)
    else:
        [look] = looks.values()
        figure = q_figure(model, look.U_XY, x, y, look.action)
    taken = {who: action_labels(model)[look.action] for who, look in looks.items()}
    chart(figure, "q-values", alt_text=text.q_alt_text(taken), height=HEIGHTS[len(looks)])


def draw_tables(now: Inspection, shown: ShownState) -> None:
    """The periods of a block, the Q-values, and the state in every phase of a periodic policy."""
    if now.policy_figure.name == "blocks":
        st.markdown("**The periods of the block**")
        _draw_table(now.policy_figure.table(**now.selected), "block-table")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"**{text.Q_TABLE}**")
        looks = _looks(now, shown, own=True)
        _draw_table(q_table(now.inspected.model, looks, shown.x, shown.y), "q-table")
    names = text.phase_columns(now.inspected.model.sense)
    with right:
        for who, (policy, _) in now.policies.items():
            if len(policy.phases) > 1 and (who != "B" or policy is not now.inspected):
                st.markdown(text.every_phase(None if now.versus is None else who))
                table = state.state_table(policy, shown.x, shown.y)
                _draw_table(table.rename(columns=names), f"phases-{who}")


def _looks(now: Inspection, shown: ShownState, own: bool) -> dict[str, LookAhead]:
    """Each policy's action in the state, and the values of the next states: its own or U*."""
    return {
        who: LookAhead(
            int(policy.policy_PXY[phase, shown.x, shown.y]),
            policy.values_from(phase + 1).U_XY if own else policy.optimum.U_XY,
        )
        for who, (policy, phase) in now.policies.items()
    }


def _cell(value: object) -> str:
    return value if isinstance(value, str) else number(float(value))  # type: ignore[arg-type]


def _markdown_table(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _draw_table(table: pd.DataFrame, key: str) -> None:
    """A table with numbers flush right, in the format of the page."""
    numeric = [name for name in table if pd.api.types.is_float_dtype(table[name])]
    shown = table.assign(**{name: table[name].map(number) for name in numeric})
    columns = {name: st.column_config.TextColumn(name, alignment="right") for name in numeric}
    st.dataframe(shown, hide_index=True, height="content", key=key, column_config=columns)


@st.fragment
def draw_export(now: Inspection) -> None:
    """The numbers as a table, the figure, and Python code that recomputes both, once opened."""
    spec, policy_figure, selected = now.history.spec, now.policy_figure, now.selected
    name = f"{spec.domain}-{spec.algorithm}-step{now.step}"
    own_table = policy_figure.tabulate is not None
    table_name = f"{name}-{policy_figure.name}" if own_table else name

    def table() -> pd.DataFrame:
        return policy_figure.table(**selected) if own_table else policy_table(now.inspected)

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


PLAY_SECONDS = 1.0
"""Between two steps while playing."""
REFRESH_SECONDS = 2.0
"""Between two updates while the run is computed."""


def show() -> None:
    """Draw the page."""
    if open_page("Policy inspector", URL):
        start_from_url()
    add_style(STYLE)
    store = open_store()
    try:
        choice = _draw_head(store)
        running = is_running(store, choice)
        seconds = PLAY_SECONDS if is_playing() else REFRESH_SECONDS if running else None
        st.fragment(_draw_fragment, run_every=seconds)(store, choice, running)
    except InputError as problem:
        st.info(str(problem), icon=":material/info:")
    except StoreError as trouble:
        show_store_error(trouble)
    with tools("inspector", URL), st.popover("How to read this page", icon=":material/menu_book:"):
        st.markdown(text.READING)


def _draw_head(store: Store) -> PolicyChoice:
    """The title, and the policy A with a button that opens the widgets to change it."""
    with st.container(key="head"):
        title, policy = st.columns([4, 6], vertical_alignment="center", gap="small")
    with title:
        st.title("What does the policy do?", anchor=False)
    notices = st.container()
    with policy, st.container(horizontal=True, vertical_alignment="center", key="policy-a"):
        name = st.container(width="content")
        change = popover(KEYS, "Change", help=text.CHANGE_HELP, icon=":material/tune:")
        with change:
            choice = choose_policy(store, notices, drawn=change.open)
    with name:
        label = f"**{choice.spec.label}** · {escape_markdown(domain_label(choice.spec.domain))}"
        st.markdown(f"{badge('A', FIRST_POLICY)} {label}", unsafe_allow_html=True)
    return choice


def _draw_fragment(store: Store, choice: PolicyChoice, running: bool) -> None:
    """Draw the policy; a policy that is not stored yet is tried again at the next refresh."""
    try:
        _draw_policy(store, choice)
        finished = running and not is_running(store, choice)
    except InputError as problem:
        st.info(str(problem), icon=":material/info:")
        return
    except StoreError as trouble:
        show_store_error(trouble)
        return
    if finished:  # only a full rerun stops the fragment's timer
        st.rerun()


def _draw_policy(store: Store, choice: PolicyChoice) -> None:
    """Everything below the head: the widgets first, because they choose what is drawn."""
    views = st.container(key="views")
    stage, below, rail, aside = _bench()
    now = _inspect(store, choice, views, below, rail)
    state = shown_state(now)
    with stage:
        draw_figure(now, state)
    with below:
        if notice := now.inspected.optimum.notice:
            st.warning(notice)
        draw_numbers(now)
        hint = " Click a state to see its details." if now.policy_figure.clickable else ""
        st.caption(now.policy_figure.caption + hint)
    with aside:
        left, right = [st.container()] * 2 if now.together else st.columns(2, gap="large")
        with left:
            draw_facts(now, state)
            draw_next_disagreement(now, state)
        with right:
            draw_q_values(now, state)
    draw_tables(now, state)
    draw_export(now)
    what_to_notice(text.notices(*now.most_phases))
    stop_at_end()
    if not is_playing():
        _write_url(choice, now)


def _bench() -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """Places for the figure, what belongs below it, the rail of controls, and the state.

    They are in the order of a narrow screen; the style moves the rail to the left of a wide one.
    """
    with st.container(key="bench"):
        columns = st.columns(3)
    with columns[0], st.container(key="stage"):
        figure, below = st.container(), st.container(key="below-figure", gap="xsmall")
    with columns[1]:
        rail = st.container(key="rail", gap="xsmall")
    with columns[2]:
        aside = st.container(key="aside", gap="xsmall")
    return figure, below, rail, aside


def _inspect(
    store: Store,
    choice: PolicyChoice,
    views: DeltaGenerator,
    below: DeltaGenerator,
    rail: DeltaGenerator,
) -> Inspection:
    """Draw the widgets in their places; return what they choose."""
    history = history_of(store, choice)
    with below:
        step = choose_step(history)
    inspected, estimate_XY = policy_at(history, step)
    with rail:
        compared = choose_comparison(store, choice, history, step, inspected)
    versus = None if compared is None else Versus(inspected, compared.inspected, compared.phase)
    comparisons = () if versus is None else comparison_figures(versus)
    with views:
        policy_figure = choose_figure((*comparisons, *policy_figures(inspected)))
    with rail:
        if compared is not None:
            mark = badge("B", SECOND_POLICY)
            st.markdown(f"{mark} **{escape_markdown(compared.title)}**", unsafe_allow_html=True)
        selected = choose_selectors(policy_figure)
    return Inspection(
        history,
        step,
        inspected,
        estimate_XY,
        compared,
        versus,
        policy_figure,
        versus is None or policy_figure in comparisons,
        selected,
        policy_figure.figure(**selected),
    )


def _write_url(choice: PolicyChoice, now: Inspection) -> None:
    no_comparison = dict.fromkeys(("compare", "other", "otherstep"))
    URL.write(
        **choice.url_values,
        step=now.step if now.step != now.history.steps[-1] else None,
        view=now.policy_figure.name,
        at=changed_selectors(now.policy_figure, now.selected),
        **(no_comparison | (now.compared.url_values if now.compared else {})),
    )
