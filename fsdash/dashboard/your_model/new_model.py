"""From a file to a saved model: five steps, each drawn when the one before it is complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.service import as_sentence, visitor_id
from fsdash.dashboard.your_model import state, text
from fsdash.dashboard.your_model.state import LARGEST_GAMMA, Choices, Drafts, Upload
from fsdash.dashboard.your_model.url import DEFAULTS, NO_NAMES, URL, open_new, remember_default
from fsdash.errors import InputError
from fsdash.formatting import escape_markdown, file_size, frame_csv
from fsdash.models.assemble import resplit
from fsdash.models.columns import guess_columns, named
from fsdash.models.discount import PERIODS, discount_factor
from fsdash.models.faults import count_errors
from fsdash.models.files import Contents
from fsdash.models.slow import suggest_slow
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.queries import MAX_NAME, MAX_NOTE

HELPER = "gamma-helper"


def draw_slow(
    evidence: pd.DataFrame, own: Sequence[str] | None = None
) -> tuple[tuple[str, ...] | None, float | None]:
    """The slow variables, None if no variable is fast, and γ, None until it is given.

    At first the slow variables are the model's own, if it has been divided, or the suggested ones.
    """
    variables = evidence["variable"].tolist()
    suggested = evidence.loc[evidence["suggestion"] == "slow", "variable"].tolist()
    if len(suggested) == len(variables):
        suggested = []
    suggested = suggested if own is None else list(own)
    asked = URL.get("slow")
    if asked is None or not set(asked) <= set(variables):
        URL.put("slow", suggested)
    remember_default("slow", suggested)
    with st.container(border=True, key="step-slow"):
        head = st.empty()
        left, right = st.columns([4, 7], gap="medium")
        with left:
            slow = st.pills(
                "Slow variables",
                variables,
                selection_mode="multi",
                wrap=True,
                format_func=escape_markdown,
                key=URL.key("slow"),
                help=text.SLOW_HELP,
            )
            fast = [name for name in variables if name not in slow]
            st.caption(text.fast_variables(fast))
            gamma = _draw_gamma()
        with right:
            _draw_evidence(evidence)
            st.markdown(text.reasons(evidence))
        mark = text.DONE if fast and gamma is not None else text.OPEN_STEP
        head.markdown(f"{mark} **4. Slow and fast** {text.DASH} {text.SUGGESTED}")
        if not fast:
            st.warning(text.NO_FAST)
        if gamma is None:
            st.warning(text.NO_GAMMA)
    return (tuple(slow) if fast else None), gamma


def _draw_gamma() -> float | None:
    """γ, which the visitor gives, with a helper that computes it from a yearly rate."""
    gamma = st.number_input(
        "Discount factor γ",
        0.0,
        LARGEST_GAMMA,
        None,
        0.01,
        "%.6g",
        key=URL.key("gamma"),
        help=text.GAMMA_HELP,
        placeholder="such as 0.97",
    )
    with st.popover("From a yearly rate", icon=":material/percent:", key=HELPER, on_change="rerun"):
        period = st.selectbox("Length of a period", tuple(PERIODS), key="gamma-period")
        percent = st.number_input(
            "Yearly interest rate, %", 0.01, 1000.0, None, 1.0, "%.4g", key="gamma-rate"
        )
        if percent is not None:
            computed = min(discount_factor(percent / 100, period), LARGEST_GAMMA)
            st.button(
                text.use_gamma(computed),
                key="use-gamma",
                type="primary",
                on_click=_use_gamma,
                args=(round(computed, 6),),
            )
    return gamma


def _use_gamma(gamma: float) -> None:
    URL.put("gamma", gamma)
    st.session_state[HELPER] = False  # closes it


def _draw_evidence(evidence: pd.DataFrame) -> None:
    shown = evidence[list(text.EVIDENCE_COLUMNS)].copy()
    shown["exogenous"] = evidence["exogenous"].map({True: "yes", False: "no"})
    config = {
        name: st.column_config.Column(label, help=help)
        for name, (label, help) in text.EVIDENCE_COLUMNS.items()
    }
    for name in ("moves", "drift"):
        label, help = text.EVIDENCE_COLUMNS[name]
        config[name] = st.column_config.ProgressColumn(
            label, help=help, format="percent", min_value=0.0, max_value=1.0
        )
    st.dataframe(shown, hide_index=True, key="model-evidence", column_config=config)


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


SAVE_ERROR, UPLOADS = "your-model-save-error", "your-model-uploads"
PREVIEW_ROWS = 5


def draw_new_model(store: Store) -> None:
    """The steps, as far as they can be drawn."""
    st.session_state[DEFAULTS] = {}
    upload = _upload()
    if upload is None:
        _draw_start()
        return
    try:
        contents = _read(upload.key, upload)
    except InputError as problem:
        _draw_file(f"**{escape_markdown(upload.name)}**")
        _show_error(problem)
        return
    model = (
        _draw_whole_model(upload, contents.model)
        if contents.model is not None
        else _draw_table(upload, contents)
    )
    if model is not None:
        _draw_save(store, upload, model)


# ------------------------------------------------------------------------------------------- file


@st.cache_resource(show_spinner=False)
def drafts() -> Drafts:
    """The files that visitors have not saved."""
    return Drafts()


def _upload() -> Upload | None:
    """The file in the URL; a notice if it is no longer there."""
    if (example := URL.get("example")) is not None:
        return state.example_upload(example)
    if (key := URL.get("file")) is None:
        return None
    upload = drafts().get(key)
    if upload is None:
        st.warning(text.LOST_FILE)
        URL.put("file", None)
    return upload


def _draw_start() -> None:
    with st.container(border=True, key="step-file"):
        st.header(text.FILE_STEP, anchor=False)
        count = st.session_state.setdefault(UPLOADS, 0)
        st.file_uploader(
            text.UPLOAD,
            state.FILE_TYPES,
            key=f"model-upload-{count}",
            on_change=_take_upload,
            args=(f"model-upload-{count}",),
            max_upload_size=state.MAX_MEGABYTES,
            help=text.UPLOAD_HELP,
        )
        with st.container(horizontal=True, vertical_alignment="center", key="model-examples"):
            st.caption("No file at hand? Try an example:", width="content")
            for name, example in state.EXAMPLES.items():
                st.button(
                    text.example_label(name),
                    key=f"example-{name}",
                    on_click=open_new,
                    kwargs={"example": name},
                    help=example.title,
                )
    with st.expander("What the table looks like", icon=":material/table:", key="model-format"):
        st.markdown(text.FORMAT)


def _take_upload(key: str) -> None:
    file = st.session_state[key]
    if file is not None:
        st.session_state[UPLOADS] += 1  # the next uploader is a new, empty one
        open_new(file=drafts().add(Upload(file.name, file.getvalue())))


def _draw_file(summary: str, frame: pd.DataFrame | None = None) -> None:
    step = st.container(border=True, key="step-file")
    with step.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{text.DONE} **{text.FILE_STEP}** {text.DASH} {summary}", width="stretch")
        if frame is not None:
            with st.popover("First rows", type="tertiary", icon=":material/table_rows:"):
                st.dataframe(frame.head(PREVIEW_ROWS), hide_index=True, key="model-first-rows")
        st.button(
            "Other file",
            icon=":material/close:",
            type="tertiary",
            key="other-file",
            on_click=open_new,
        )


def _show_error(problem: object) -> None:
    """What is wrong; names in the file may look like links or images."""
    st.error(escape_markdown(as_sentence(problem)), icon=":material/error:")


@st.cache_resource(max_entries=8, show_spinner="Reading the file …")
def _read(key: str, _upload: Upload) -> Contents:
    return _upload.read()


# ------------------------------------------------------------------------------------------- table


def _draw_table(upload: Upload, contents: Contents) -> FastSlowMDP | None:
    """Columns, check, slow variables; the model if all of them are complete."""
    frame = contents.frame
    assert frame is not None
    name = escape_markdown(upload.name)
    size = file_size(len(upload.content))
    _draw_file(text.table_summary(name, len(frame), frame.shape[1], size), frame)
    options = contents.options
    guess = Choices.of(guess_columns(frame), options, [str(name) for name in frame.columns])
    choices = draw_columns(frame, guess)
    if choices.missing:
        return None
    choices = draw_check(upload, frame, choices)
    if choices is None:
        return None
    evidence = _evidence(upload.key, choices, frame)
    if "gamma" in options:
        _settle_gamma(options["gamma"])
    slow, gamma = draw_slow(evidence, named(options.get("slow")))
    if slow is None or gamma is None:
        return None
    try:
        return _build(upload.key, choices, slow, gamma, frame, upload.stem)
    except InputError as problem:
        _show_error(problem)
        return None


@st.cache_resource(max_entries=16, show_spinner=text.CHECKING)
def _evidence(key: str, choices: Choices, _frame: pd.DataFrame) -> pd.DataFrame:
    return suggest_slow(_frame, **choices.options())


@st.cache_resource(max_entries=8, show_spinner="Building the model …")
def _build(
    key: str,
    choices: Choices,
    slow: tuple[str, ...],
    gamma: float,
    _frame: pd.DataFrame,
    _name: str,
) -> FastSlowMDP:
    return state.build(_frame, choices, slow, gamma, _name)


# ------------------------------------------------------------------------------------ whole model


def _draw_whole_model(upload: Upload, model: FastSlowMDP) -> FastSlowMDP | None:
    """A file that holds a whole model: only the slow variables and γ can be changed."""
    name = escape_markdown(upload.name)
    _draw_file(text.model_summary(name, file_size(len(upload.content))))
    evidence = _model_evidence(upload.key, model)
    _settle_gamma(model.gamma)
    variables = evidence["variable"].tolist()
    own = [name for name in model.slow.names if name in variables]
    slow, gamma = draw_slow(evidence, own)
    if slow is None or gamma is None:
        return None
    if set(slow) == set(model.slow.names) and gamma == model.gamma:
        return model
    try:
        return resplit(model, slow=list(slow), gamma=gamma)
    except InputError as problem:
        _show_error(problem)
        return None


def _settle_gamma(own: float) -> None:
    """The discount factor that the file gives, until it is changed."""
    if URL.get("gamma") is None:
        URL.put("gamma", own)
    remember_default("gamma", own)


@st.cache_resource(max_entries=8, show_spinner=text.CHECKING)
def _model_evidence(key: str, _model: FastSlowMDP) -> pd.DataFrame:
    return suggest_slow(_model)


# -------------------------------------------------------------------------------------------- save


def _draw_save(store: Store, upload: Upload, model: FastSlowMDP) -> None:
    """Sizes, memory and time; the name; and the button."""
    with st.container(border=True, key="step-save"):
        st.markdown("**5. Save**")
        st.markdown(text.sizes(model))
        left, right = st.columns([4, 7], gap="medium", vertical_alignment="bottom")
        name = left.text_input(
            text.NAME,
            text.model_name(upload.stem)[:MAX_NAME],
            MAX_NAME,
            key=f"name-{upload.key}",
            help="What the model is called on the other pages.",
        )
        note = right.text_input(
            text.NOTE,
            max_chars=MAX_NOTE,
            key=f"note-{upload.key}",
            placeholder="where the data come from, for example",
        )
        st.button(
            "Save and solve",
            icon=":material/save:",
            type="primary",
            key="save-model",
            on_click=_save,
            args=(store, name, note, model),
        )
        if problem := st.session_state.pop(SAVE_ERROR, None):
            _show_error(problem)


def _save(store: Store, name: str, note: str, model: FastSlowMDP) -> None:
    """Save the model and show it, or keep the error for the next run of the page."""
    try:
        saved = store.models.add(visitor_id(), name, model, note)
    except (InputError, StoreError) as problem:
        st.session_state[SAVE_ERROR] = str(problem)
        return
    open_new(model=saved.domain)
