"""Import of exported experiments, and the messages about the last action on the Runs page."""

from __future__ import annotations

import streamlit as st

from fsdash.dashboard.runs import text
from fsdash.dashboard.runs.files import MAX_MEGABYTES, existing_copy, read_export
from fsdash.dashboard.runs.url import runs_url
from fsdash.dashboard.service import Service
from fsdash.errors import InputError
from fsdash.formatting import as_sentence
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment

SUCCESS, PROBLEM, EXISTING = "runs-success", "runs-problem", "runs-existing"
UPLOADS = "runs-uploads"


def draw_import(service: Service, visitor: str) -> None:
    """An upload for exported experiments."""
    with st.popover(text.IMPORT, icon=":material/upload:"):
        st.markdown(text.import_help(MAX_MEGABYTES))
        count = st.session_state.setdefault(UPLOADS, 0)
        st.file_uploader(
            text.UPLOAD,
            "json",
            key=f"upload-{count}",
            on_change=_upload,
            args=(service, visitor, f"upload-{count}"),
            max_upload_size=MAX_MEGABYTES,
            label_visibility="collapsed",
        )


def _upload(service: Service, visitor: str, key: str) -> None:
    """Import the experiments of a file; those that are stored already are only named."""
    file = st.session_state[key]
    if file is None:
        return
    try:
        found = read_export(file.getvalue())
        copies = [existing_copy(service.store, data) for data in found]
        new = [data for data, copy in zip(found, copies, strict=True) if copy is None]
        ids = service.store.import_all(new, visitor)
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = text.not_imported(file.name, as_sentence(problem))
        return
    st.session_state[UPLOADS] += 1  # a new key gives an empty uploader
    if ids:
        st.session_state[SUCCESS] = text.imported(len(ids))
        _select(ids)
    stored = [(copy, data) for data, copy in zip(found, copies, strict=True) if copy is not None]
    if stored:
        st.session_state[EXISTING] = stored


def _select(ids: list[str]) -> None:
    runs_url().put("selected", list(dict.fromkeys([*runs_url().get("selected"), *ids])))


def draw_messages(service: Service, visitor: str) -> None:
    """The outcome of the last action."""
    if message := st.session_state.pop(SUCCESS, None):
        st.success(message)
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(problem)
    if stored := st.session_state.get(EXISTING):
        _draw_existing(service, visitor, stored)


def _draw_existing(service: Service, visitor: str, stored: list[tuple[Experiment, object]]) -> None:
    """What was not imported because it is stored already, with two ways on."""

    def show() -> None:
        del st.session_state[EXISTING]
        _select([experiment.id for experiment, _ in stored])

    def copy() -> None:
        del st.session_state[EXISTING]
        try:
            ids = service.store.import_all([data for _, data in stored], visitor)
        except (InputError, StoreError) as problem:
            st.session_state[PROBLEM] = as_sentence(problem)
            return
        st.session_state[SUCCESS] = text.imported(len(ids))
        _select(ids)

    st.info(text.already_stored([experiment.name for experiment, _ in stored]))
    with st.container(horizontal=True, gap="small"):
        st.button(text.OPEN_EXISTING, key="show-existing", type="primary", on_click=show)
        st.button(text.IMPORT_COPY, key="import-copy", on_click=copy)
