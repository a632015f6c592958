"""One state in detail: where it is, what each policy does there, and the value of every action."""

import numpy as np
import pandas as pd
import streamlit as st

from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.inspection import Inspection, ShownState
from fsdash.dashboard.inspector.selectors import show_slice_of
from fsdash.dashboard.inspector.url import URL
from fsdash.dashboard.widgets.chart import chart
from fsdash.figures.policies import q_figure
from fsdash.figures.policies.labels import action_labels
from fsdash.figures.policies.q_values import LookAhead, q_pair_figure, q_table
from fsdash.formatting import number

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
