"""Which column of a table is which, and what is wrong with its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from fsdash.dashboard.your_model import state, text
from fsdash.dashboard.your_model.state import Choices, Upload
from fsdash.dashboard.your_model.url import NO_NAMES, URL, remember_default
from fsdash.formatting import escape_markdown, frame_csv
from fsdash.models.faults import count_errors

MAX_SHOWN = 20
"""Faults on the page; the file has all of them."""


def draw_columns(frame: pd.DataFrame, guess: Choices) -> Choices:
    """Which column is which: folded if it was recognised."""
    columns = [str(name) for name in frame.columns]
    with st.container(border=True, key="step-columns"):
        head = st.container()
        with st.expander("Change", expanded=bool(guess.missing), key="model-columns"):
            top = st.columns(3, gap="small")
            with top[0]:
                action = _column("Action", "action", columns, guess.action, text.ACTION_HELP)
            with top[1]:
                probability = _column(
                    "Probability",
                    "p",
                    columns,
                    guess.probability,
                    text.PROBABILITY_HELP,
                    "none: all transitions are certain",
                )
            with top[2]:
                reward = _column(
                    "Reward or cost", "reward", columns, guess.reward, text.REWARD_HELP
                )
            states = _state_columns(columns, guess)
            bottom = st.columns(3, gap="small", vertical_alignment="bottom")
            with bottom[0]:
                initial = _column(
                    "Initial probability", "initial", columns, guess.initial, text.INITIAL_HELP
                )
            with bottom[1]:
                end = _column("End of the process", "end", columns, guess.end_column, text.END_HELP)
            with bottom[2]:
                _settle("sense", tuple(text.SENSES), guess.sense)
                sense = st.segmented_control(
                    "The numbers are",
                    tuple(text.SENSES),
                    required=True,
                    format_func=text.SENSES.get,
                    key=URL.key("sense"),
                )
        choices = Choices(
            states,
            action,
            probability,
            reward,
            initial,
            sense,
            rescale=guess.rescale,
            end_column=end,
            terminal=guess.terminal,
        )
        with head:
            if choices.missing:
                missing = ", ".join(choices.missing)
                st.markdown(f"{text.OPEN_STEP} **{text.COLUMNS_STEP}**")
                st.warning(text.COLUMNS_MISSING.format(missing=missing))
            else:
                summary = text.columns_summary(choices)
                st.markdown(f"{text.DONE} **{text.COLUMNS_STEP}** {text.DASH} {summary}")
    return choices


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


def _state_columns(columns: Sequence[str], guess: Choices) -> tuple[tuple[str, str], ...]:
    """The state variables, and the column of the next value of each."""
    asked = dict(URL.get("states") or guess.states)
    key = "your-model-states"
    if key not in st.session_state or URL.just_read:
        st.session_state[key] = [name for name in asked if name in columns]
    st.session_state[key] = [name for name in st.session_state[key] if name in columns]
    variables = st.multiselect("State variables", columns, key=key, help=text.STATES_HELP)
    places = st.columns(min(3, max(1, len(variables))), gap="small")
    found = []
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
            found.append((variable, next_name))
    URL.put("states", found)
    remember_default("states", list(guess.states))
    return tuple(found)


def draw_check(upload: Upload, frame: pd.DataFrame, choices: Choices) -> Choices | None:
    """The faults of the table with their remedies; None if there are errors."""
    given = choices.rescale  # the file asks for it
    choices = replace(choices, rescale=given or URL.get("rescale"), ends=URL.get("ends"))
    faults = _faults(upload.key, choices, frame)
    errors = count_errors(faults)
    rescale, ends = state.offers(faults)
    with st.container(border=True, key="step-check"):
        mark = text.OPEN_STEP if errors else text.DONE
        result = (
            text.failed(errors) if errors else text.passed(len(frame), int(faults["count"].sum()))
        )
        st.markdown(f"{mark} **3. Check** {text.DASH} {result}")
        with st.container(horizontal=True, gap="medium"):
            if (rescale or choices.rescale) and not given:
                st.checkbox(text.RESCALE, key=URL.key("rescale"), help=text.RESCALE_HELP)
            if ends or choices.ends:
                st.checkbox(text.ENDS, key=URL.key("ends"), help=text.ENDS_HELP)
        if len(faults):
            _draw_faults(upload, faults, expanded=errors > 0)
    return None if errors else choices


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
def _faults(key: str, choices: Choices, _frame: pd.DataFrame) -> pd.DataFrame:
    return state.check(_frame, choices)
