"""From a file to a saved model: five steps, each drawn when the one before it is complete."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.service import as_sentence, visitor_id
from fsdash.dashboard.your_model import state, text
from fsdash.dashboard.your_model.drafts import drafts
from fsdash.dashboard.your_model.slow_step import draw_slow
from fsdash.dashboard.your_model.state import Choices, Upload
from fsdash.dashboard.your_model.table_steps import draw_check, draw_columns
from fsdash.dashboard.your_model.url import DEFAULTS, URL, open_new, remember_default
from fsdash.errors import InputError
from fsdash.formatting import escape_markdown, file_size
from fsdash.models.assemble import resplit
from fsdash.models.columns import guess_columns, named
from fsdash.models.files import Contents
from fsdash.models.slow import suggest_slow
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.queries import MAX_NAME, MAX_NOTE

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
