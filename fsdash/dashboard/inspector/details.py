"""One state in detail: where it is, what each policy does there, and the value of every action."""

import numpy as np
import pandas as pd
import streamlit as st

from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.drawing import ShownState
from fsdash.dashboard.inspector.selectors import show_slice_of
from fsdash.dashboard.inspector.url import URL
from fsdash.dashboard.shell import is_dark
from fsdash.dashboard.widgets.chart import chart
from fsdash.figures.policies import InspectedPolicy, PolicyFigure, Versus, q_figure
from fsdash.figures.policies.labels import action_labels
from fsdash.figures.policies.q_values import LookAhead, q_pair_figure, q_table
from fsdash.figures.policies.slices import Slices
from fsdash.formatting import number

HEIGHTS = {1: 250, 2: 270}
"""Pixels of the figure of Q-values, by the number of policies."""


def draw_facts(
    inspected: InspectedPolicy,
    versus: Versus | None,
    shown: ShownState,
    phase: int,
    estimate_XY: np.ndarray | None,
) -> None:
    """Coordinates of the state; action, value and regret of each policy there."""
    model, x, y = inspected.model, shown.x, shown.y
    coordinates = state.state_coordinates(model, x, y)
    place = " · ".join(f"{name} **{value}**" for name, value in coordinates)
    st.markdown(f"##### {shown.heading}\n{place}")
    columns = {text.POLICY_COLUMN: state.state_table(inspected, x, y).iloc[phase]}
    if versus is not None:
        p, q = versus.phases(phase)
        tables = (state.state_table(policy, x, y) for policy in (versus.first, versus.second))
        columns = {who: one.iloc[i] for who, one, i in zip("AB", tables, (p, q), strict=True)}
    best, sign = inspected.optimum, state.value_sign(model)
    optimal = {
        "action": action_labels(model)[best.policy_PXY[0, x, y]],
        "value": sign * float(best.U_XY[x, y]),
        "regret": 0.0,
    }
    rows = [
        [label, *(_cell(here[name]) for here in [*columns.values(), optimal])]
        for name, label in text.fact_rows(model.sense).items()
    ]
    if estimate_XY is not None and versus is None:
        rows.append([text.ESTIMATE, number(sign * float(estimate_XY[x, y])), ""])
    header = ["", *columns, text.OPTIMAL_COLUMN]
    st.markdown(_markdown_table([header, ["---"] * len(header), *rows]))


def draw_q_values(
    inspected: InspectedPolicy, versus: Versus | None, shown: ShownState, phase: int
) -> None:
    """The value of every action in the state, for one policy or for both."""
    own = st.segmented_control(
        text.Q_LABEL,
        (text.OPTIMAL_AFTERWARDS, text.OWN_AFTERWARDS),
        default=text.OPTIMAL_AFTERWARDS if versus is None else text.OWN_AFTERWARDS,
        required=True,
        key=f"after-{'one' if versus is None else 'two'}",
        help=text.Q_HELP,
        wrap=True,
    )
    looks = _looks(inspected, versus, shown, phase, own == text.OWN_AFTERWARDS)
    model, x, y, dark = inspected.model, shown.x, shown.y, is_dark()
    if versus is None:
        [look] = looks.values()
        figure = q_figure(model, look.U_XY, x, y, look.action, dark)
    else:
        figure = q_pair_figure(model, (looks["A"], looks["B"]), x, y, dark)
    taken = {who: action_labels(model)[look.action] for who, look in looks.items()}
    chart(figure, "q-values", alt_text=text.q_alt_text(taken), height=HEIGHTS[len(looks)])


def draw_tables(
    inspected: InspectedPolicy, versus: Versus | None, shown: ShownState, phase: int
) -> None:
    """The Q-values as a table, and the state in every phase of a periodic policy."""
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"**{text.Q_TABLE}**")
        looks = _looks(inspected, versus, shown, phase, own=True)
        _draw_table(q_table(inspected.model, looks, shown.x, shown.y), "q-table")
    policies = {text.POLICY_COLUMN: inspected}
    if versus is not None:
        policies = {"A": versus.first, "B": versus.second}
    with right:
        for who, policy in policies.items():
            if len(policy.phases) > 1 and (who != "B" or policy is not inspected):
                st.markdown(text.every_phase(None if versus is None else who))
                table = state.state_table(policy, shown.x, shown.y)
                names = text.phase_columns(policy.model.sense)
                _draw_table(table.rename(columns=names), f"phases-{who}")


def draw_next_disagreement(
    versus: Versus,
    slices: Slices,
    policy_figure: PolicyFigure,
    shown: ShownState,
    phase: int,
    judge: str,
) -> None:
    """A button that selects the state with the next largest disagreement."""
    states_K2 = versus.disagreement(phase, judge).largest()
    if not len(states_K2):
        st.caption(text.no_disagreement(judge))
        return
    here = np.flatnonzero((states_K2 == (shown.x, shown.y)).all(axis=1))
    rank = int(here[0]) if len(here) else None
    later = 0 if rank is None else (rank + 1) % len(states_K2)
    x, y = states_K2[later].tolist()

    def select() -> None:
        URL.put("state", (x, y))
        show_slice_of(policy_figure, slices, (x, y))

    st.button(
        text.NEXT_DISAGREEMENT,
        icon=":material/skip_next:",
        key="next-disagreement",
        help=text.NEXT_HELP,
        on_click=select,
        width="stretch",
    )
    if rank is not None:
        st.caption(text.rank_of(rank + 1, len(states_K2)))


def _looks(
    inspected: InspectedPolicy, versus: Versus | None, shown: ShownState, phase: int, own: bool
) -> dict[str, LookAhead]:
    """Each policy's action in the state, and the values of the next states: its own or U*."""
    sides = {text.POLICY_COLUMN: (inspected, phase)}
    if versus is not None:
        p, q = versus.phases(phase)
        sides = {"A": (versus.first, p), "B": (versus.second, q)}
    return {
        who: LookAhead(
            int(policy.policy_PXY[p, shown.x, shown.y]),
            policy.values_from(p + 1).U_XY if own else policy.optimum.U_XY,
        )
        for who, (policy, p) in sides.items()
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


def draw_block(policy_figure: PolicyFigure, selected: dict) -> None:
    """The periods of the selected block: planned, happened, gap and loss."""
    st.markdown(f"**{text.BLOCK_TABLE}**")
    _draw_table(policy_figure.table(**selected), "block-table")
