"""From a file to a saved model: five steps, each drawn when the one before it is complete."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from cachetools import LRUCache

from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.visitors import visitor_id
from fsdash.dashboard.your_model import state, text
from fsdash.dashboard.your_model.state import Upload
from fsdash.dashboard.your_model.table_steps import draw_check, draw_columns
from fsdash.dashboard.your_model.url import DEFAULTS, URL, open_new, remember_default
from fsdash.errors import InputError
from fsdash.formatting import as_sentence, escape_markdown, file_size
from fsdash.models.assemble import resplit
from fsdash.models.columns import named
from fsdash.models.discount import PERIODS, discount_factor
from fsdash.models.files import Contents
from fsdash.models.slow import suggest_slow
from fsdash.models.transitions import from_transitions
from fsdash.runs.errors import StoreError
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.queries import MAX_NAME, MAX_NOTE

SAVE_ERROR, UPLOADS = "your-model-save-error", "your-model-uploads"
GAMMA_HELPER = "gamma-helper"
PREVIEW_ROWS = 5
MAX_DRAFT_BYTES = 256 * 2**20
"""Of all uploaded files together."""
LARGEST_GAMMA = 0.999999


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


class Drafts:
    """Files that visitors uploaded and have not saved, so that a reload finds them.

    A key is made from the content, so only somebody who has the file or the link can find it. The
    oldest files are forgotten first.
    """

    def __init__(self, max_bytes: int = MAX_DRAFT_BYTES) -> None:
        self._uploads: LRUCache[str, Upload] = LRUCache(
            max_bytes, getsizeof=lambda upload: min(len(upload.content), max_bytes)
        )
        self._lock = threading.Lock()

    def add(self, upload: Upload) -> str:
        """Keep a file and return its key."""
        with self._lock:
            self._uploads[upload.key] = upload
        return upload.key

    def get(self, key: str) -> Upload | None:
        with self._lock:
            return self._uploads.get(key)


@st.cache_resource(show_spinner=False)
def _drafts() -> Drafts:
    """The server's files."""
    return Drafts()


def _upload() -> Upload | None:
    """The file in the URL; a notice if it is no longer there."""
    if (example := URL.get("example")) is not None:
        return state.example_upload(example)
    if (key := URL.get("file")) is None:
        return None
    upload = _drafts().get(key)
    if upload is None:
        st.warning(text.LOST_FILE)
        URL.put("file", None)
    return upload


def _draw_start() -> None:
    with st.container(border=True, key="step-file"):
        st.header(text.FILE_STEP, anchor=False)
        count = st.session_state.setdefault(UPLOADS, 0)
        st.file_uploader(
            "A table of transitions (CSV, Parquet), matrices P and R (NPZ) or a whole model",
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
        open_new(file=_drafts().add(Upload(file.name, file.getvalue())))


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
    rows, columns = frame.shape
    _draw_file(f"**{name}**: {rows:,} rows, {columns} columns, {size}", frame)
    guess = state.recognised(frame, contents.options)
    options = draw_columns(frame, guess)
    if options is not None:
        options = draw_check(upload, frame, options)
    if options is None:
        return None
    evidence = _evidence(upload.key, options, frame)
    if "gamma" in guess:
        _settle_gamma(guess["gamma"])
    slow, gamma = _draw_slow(evidence, named(guess.get("slow")))
    if slow is None or gamma is None:
        return None
    try:
        return _build(upload.key, options, slow, gamma, frame, upload.stem)
    except InputError as problem:
        _show_error(problem)
        return None


@st.cache_resource(max_entries=16, show_spinner=text.CHECKING)
def _evidence(
    key: str, options: Mapping[str, Any], _table: pd.DataFrame | FastSlowMDP
) -> pd.DataFrame:
    return suggest_slow(_table, **options)


@st.cache_resource(max_entries=8, show_spinner="Building the model …")
def _build(
    key: str,
    options: Mapping[str, Any],
    slow: tuple[str, ...],
    gamma: float,
    _frame: pd.DataFrame,
    _name: str,
) -> FastSlowMDP:
    return from_transitions(_frame, slow=list(slow), gamma=gamma, name=_name, **options)


# ------------------------------------------------------------------------------------ whole model


def _draw_whole_model(upload: Upload, model: FastSlowMDP) -> FastSlowMDP | None:
    """A file that holds a whole model: only the slow variables and γ can be changed."""
    size = file_size(len(upload.content))
    _draw_file(f"**{escape_markdown(upload.name)}**: a whole model, {size}")
    evidence = _evidence(upload.key, {}, model)
    _settle_gamma(model.gamma)
    variables = evidence["variable"].tolist()
    slow, gamma = _draw_slow(evidence, [name for name in model.slow.names if name in variables])
    if slow is None or gamma is None:
        return None
    if set(slow) == set(model.slow.names) and gamma == model.gamma:
        return model
    try:
        return resplit(model, slow=list(slow), gamma=gamma)
    except InputError as problem:
        _show_error(problem)
        return None


def _settle_gamma(gamma: float) -> None:
    """The discount factor that the file gives, until it is changed."""
    if URL.get("gamma") is None:
        URL.put("gamma", gamma)
    remember_default("gamma", gamma)


# ----------------------------------------------------------------------------------- slow and fast


def _draw_slow(
    evidence: pd.DataFrame, divided: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, float | None]:
    """The slow variables, None if no variable is fast, and γ, None until it is given.

    At first the slow variables are those of the file if it names them, or the suggested ones.
    """
    variables = evidence["variable"].tolist()
    suggested = evidence.loc[evidence["suggestion"] == "slow", "variable"].tolist()
    if len(suggested) == len(variables):
        suggested = []
    suggested = suggested if divided is None else list(divided)
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
            names = ", ".join(f"**{escape_markdown(name)}**" for name in fast)
            st.caption(f"Fast: {names or 'none'}")
            gamma = _draw_gamma()
        with right:
            _draw_evidence(evidence)
            st.markdown(text.reasons(evidence))
        mark = text.DONE if fast and gamma is not None else text.OPEN_STEP
        head.markdown(
            f"{mark} **4. Slow and fast** {text.DASH} suggested from how the variables move under "
            "random actions"
        )
        if not fast:
            st.warning(
                "All variables are slow. At least one must be fast: remove it from the list."
            )
        if gamma is None:
            st.warning("Give the discount factor γ: a table does not contain it.")
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
        help="The weight of a reward that comes one period later, such as 0.97.",
        placeholder="such as 0.97",
    )
    with st.popover(
        "From a yearly rate", icon=":material/percent:", key=GAMMA_HELPER, on_change="rerun"
    ):
        period = st.selectbox("Length of a period", tuple(PERIODS), key="gamma-period")
        percent = st.number_input(
            "Yearly interest rate, %", 0.01, 1000.0, None, 1.0, "%.4g", key="gamma-rate"
        )
        if percent is not None:
            computed = min(discount_factor(percent / 100, period), LARGEST_GAMMA)
            st.button(
                f"Use γ = {computed:.6f}",
                key="use-gamma",
                type="primary",
                on_click=_use_gamma,
                args=(round(computed, 6),),
            )
    return gamma


def _use_gamma(gamma: float) -> None:
    URL.put("gamma", gamma)
    st.session_state[GAMMA_HELPER] = False  # closes it


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


# -------------------------------------------------------------------------------------------- save


def _draw_save(store: Store, upload: Upload, model: FastSlowMDP) -> None:
    """Sizes, memory and time; the name; and the button."""
    with st.container(border=True, key="step-save"):
        st.markdown("**5. Save**")
        st.markdown(text.sizes(model))
        left, right = st.columns([4, 7], gap="medium", vertical_alignment="bottom")
        name = left.text_input(
            "Name",
            upload.stem.replace("_", " ").strip()[:MAX_NAME],
            MAX_NAME,
            key=f"name-{upload.key}",
            help="What the model is called on the other pages.",
        )
        note = right.text_input(
            "Note",
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
