"""Steps 2 and 3: which column of a table is which, and what is wrong with its rows.

What is chosen is a mapping: the arguments of `from_transitions`, without the slow variables and γ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from fsdash.dashboard.your_model import state, text
from fsdash.dashboard.your_model.state import Upload
from fsdash.dashboard.your_model.url import NO_NAMES, URL, remember_default
from fsdash.formatting import escape_markdown, frame_csv
from fsdash.models.faults import count_errors, without_notes
from fsdash.models.transitions import check_transitions

MAX_SHOWN = 20
"""Faults on the page; the file has all of them."""


def draw_columns(frame: pd.DataFrame, guess: Mapping[str, Any]) -> dict[str, Any] | None:
    """Which column is which, folded if it was recognised; None if a column is missing."""
    columns = [str(name) for name in frame.columns]
    guessed_initial, initial_states = _column_or_states(guess.get("initial"), columns)
    guessed_end, end_states = _column_or_states(guess.get("terminal"), columns)
    end_states = end_states if isinstance(end_states, list) else [end_states]
    complete = guess["next_prefix"] and guess.get("action") and guess.get("reward")
    with st.container(border=True, key="step-columns"):
        head = st.container()
        with st.expander("Change", expanded=not complete, key="model-columns"):
            top = st.columns(3, gap="small")
            with top[0]:
                help = "The column with the action, a number or a word."
                action = _column("Action", "action", columns, guess.get("action"), help)
            with top[1]:
                probability = _column(
                    "Probability",
                    "p",
                    columns,
                    guess.get("probability"),
                    "The column with the probability of the transition.",
                    "none: all transitions are certain",
                )
            with top[2]:
                reward = _column(
                    "Reward or cost", "reward", columns, guess.get("reward"), text.REWARD_HELP
                )
            states = _state_columns(columns, guess["next_prefix"])
            bottom = st.columns(3, gap="small", vertical_alignment="bottom")
            with bottom[0]:
                initial = _column(
                    "Initial probability", "initial", columns, guessed_initial, text.INITIAL_HELP
                )
            with bottom[1]:
                end = _column("End of the process", "end", columns, guessed_end, text.END_HELP)
            with bottom[2]:
                _settle("sense", tuple(text.SENSES), guess["sense"])
                sense = st.segmented_control(
                    "The numbers are",
                    tuple(text.SENSES),
                    required=True,
                    format_func=text.SENSES.get,
                    key=URL.key("sense"),
                )
        needed = {
            "state variables with their next values": states,
            "action": action,
            "reward or cost": reward,
        }
        if missing := ", ".join(role for role, column in needed.items() if not column):
            head.markdown(f"{text.OPEN_STEP} **{text.COLUMNS_STEP}**")
            head.warning(f"Choose the columns that were not recognised: {missing}.")
            return None
        options = {
            "next_prefix": states,
            "action": action,
            "probability": probability,
            "reward": reward,
            "sense": sense,
            "normalize": bool(guess.get("normalize", False)),
            "initial": initial_states if initial is None else initial,
            "terminal": [part for part in (*end_states, end) if part is not None],
        }
        summary = text.columns_summary(options, initial, end)
        head.markdown(f"{text.DONE} **{text.COLUMNS_STEP}** {text.DASH} {summary}")
    return options


def _column_or_states(value: Any, columns: Sequence[str]) -> tuple[str | None, Any]:
    """What a file says about initial or terminal states: the name of a column, or the states."""
    if isinstance(value, str) and value in columns:
        return value, None
    return None, value


def _settle(name: str, options: Sequence[object], default: object) -> None:
    """Set a parameter to its default if its value is not among the options."""
    remember_default(name, default)
    if URL.get(name) not in options:
        URL.put(name, default)


def _column(
    label: str,
    name: str,
    columns: Sequence[str],
    guess: str | None,
    help: str,
    none: str = text.NO_COLUMN,
) -> str | None:
    """A list of the columns, with the guess chosen at first."""
    options = (NO_NAMES, *columns)
    _settle(name, options, guess or NO_NAMES)
    chosen = st.selectbox(
        label,
        options,
        format_func=lambda column: none if column == NO_NAMES else column,
        key=URL.key(name),
        help=help,
    )
    return None if chosen == NO_NAMES else chosen


def _state_columns(columns: Sequence[str], guess: Mapping[str, str]) -> dict[str, str]:
    """The column of the next value by state variable."""
    asked = dict(URL.get("states") or guess)
    key = "your-model-states"
    if key not in st.session_state or URL.just_read:
        st.session_state[key] = [name for name in asked if name in columns]
    st.session_state[key] = [name for name in st.session_state[key] if name in columns]
    variables = st.multiselect(
        "State variables",
        columns,
        key=key,
        help="The columns that describe the state at the beginning of a period.",
    )
    places = st.columns(min(3, max(1, len(variables))), gap="small")
    states = {}
    for i, variable in enumerate(variables):
        usual = asked.get(variable) or state.next_column(variable, columns)
        next_key, options = f"your-model-next-{variable}", ("", *columns)
        if st.session_state.get(next_key) not in options:
            st.session_state[next_key] = usual if usual in columns else ""
        next_name = places[i % len(places)].selectbox(
            f"Next value of {escape_markdown(variable)}",
            options,
            format_func=lambda column: column or text.NO_COLUMN,
            key=next_key,
        )
        if next_name:
            states[variable] = next_name
    URL.put("states", list(states.items()))
    remember_default("states", list(guess.items()))
    return states


def draw_check(
    upload: Upload, frame: pd.DataFrame, options: dict[str, Any]
) -> dict[str, Any] | None:
    """The faults of the table with their remedies; the options with those, None if errors stay."""
    asked = options["normalize"]  # by the file
    options = options | {"normalize": asked or URL.get("rescale")}
    if URL.get("ends"):
        options["terminal"] = [*options["terminal"], "missing"]
    faults = _faults(upload.key, options, frame)
    errors = count_errors(faults)
    rescale, ends = state.offers(faults)
    with st.container(border=True, key="step-check"):
        mark = text.OPEN_STEP if errors else text.DONE
        result = (
            text.failed(errors) if errors else text.passed(len(frame), int(faults["count"].sum()))
        )
        st.markdown(f"{mark} **3. Check** {text.DASH} {result}")
        with st.container(horizontal=True, gap="medium"):
            if (rescale or options["normalize"]) and not asked:
                st.checkbox(
                    text.RESCALE,
                    key=URL.key("rescale"),
                    help="Only where their sum differs from 1 by at most 0.001, for example by "
                    "rounding.",
                )
            if ends or URL.get("ends"):
                st.checkbox(
                    text.ENDS,
                    key=URL.key("ends"),
                    help="A terminal state is never left and has reward 0.",
                )
        if len(faults):
            _draw_faults(upload, faults, expanded=errors > 0)
    return None if errors else options


def _draw_faults(upload: Upload, faults: pd.DataFrame, expanded: bool) -> None:
    """The first faults as a table that wraps, and all of them as a file."""
    with st.expander(text.faults_title(faults), expanded=expanded, key="model-faults"):
        st.markdown(text.faults_table(faults.head(MAX_SHOWN)))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                "Table, CSV",
                lambda: frame_csv(faults),
                f"{upload.stem}-faults.csv",
                "text/csv",
                icon=":material/download:",
                key="model-faults-csv",
                on_click="ignore",
            )
            st.caption(text.faults_note(int(faults["count"].sum()), MAX_SHOWN), width="stretch")


@st.cache_resource(max_entries=16, show_spinner=text.CHECKING)
def _faults(key: str, options: Mapping[str, Any], _frame: pd.DataFrame) -> pd.DataFrame:
    return without_notes(check_transitions(_frame, **options), text.REMEDIES)
