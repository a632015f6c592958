"""The left side of the Runs page: filters, the experiments found, and import."""

from __future__ import annotations

import time

import streamlit as st

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.text import STATUS_BADGES
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.runs import text
from fsdash.dashboard.runs.files import MAX_MEGABYTES, read_export
from fsdash.dashboard.runs.url import ANY, PAGE_SIZE, runs_url
from fsdash.dashboard.service import Service, as_sentence, domain_labels
from fsdash.errors import InputError
from fsdash.formatting import escape_markdown, time_ago
from fsdash.runs.errors import StoreError
from fsdash.runs.records import STATUSES, Experiment

LAB_PAGE = PAGES["run_lab"].script
SUCCESS, PROBLEM, UPLOADS = "runs-success", "runs-problem", "runs-uploads"


def draw_filters(service: Service) -> None:
    """The text and the owner in view, the other filters in a popover."""
    url = runs_url()
    st.text_input(text.FIND, key=url.key("text"), placeholder=text.FIND_PLACEHOLDER, max_chars=100)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.segmented_control(
            text.OWNER,
            list(text.OWNER_LABELS),
            default="everyone",
            required=True,
            key=url.key("owner"),
            format_func=text.OWNER_LABELS.get,
        )
        with st.popover(text.MORE_FILTERS, icon=":material/filter_alt:"):
            chosen = url.get("domain")
            domains = domain_labels(service.store, None if chosen == ANY else chosen)
            _choice(text.DOMAIN, "domain", domains)
            titles = {name: algorithm.title for name, algorithm in ALGORITHMS.items()}
            _choice(text.ALGORITHM, "algorithm", titles)
            _choice(text.STATUS, "status", {name: STATUS_BADGES[name].word for name in STATUSES})


def _choice(label: str, name: str, titles: dict[str, str]) -> None:
    st.selectbox(
        label,
        [ANY, *titles],
        format_func=lambda option: titles.get(option, text.ANY_LABEL),
        key=runs_url().key(name),
    )


def find_experiments(service: Service, visitor: str) -> list[Experiment]:
    """The experiments that pass the filters, one more than is shown."""
    url = runs_url()
    chosen = {name: url.get(name) for name in ("domain", "algorithm", "status")}
    filters = {name: value for name, value in chosen.items() if value != ANY}
    return service.store.experiments(
        owner=visitor if url.get("owner") == "mine" else None,
        text=url.get("text").strip(),
        limit=url.get("shown") + 1,
        **filters,
    )


def draw_list(experiments: list[Experiment]) -> None:
    """One entry per experiment, and a button for more."""
    if not experiments:
        st.info(text.NONE_FOUND)
        st.page_link(LAB_PAGE, label=text.GO_TO_LAB, icon=":material/experiment:")
        return
    shown = runs_url().get("shown")
    for experiment in experiments[:shown]:
        _draw_entry(experiment)
    if len(experiments) > shown:
        st.button(
            text.SHOW_MORE,
            key="show-more",
            width="stretch",
            on_click=runs_url().put,
            args=("shown", shown + PAGE_SIZE),
        )


def _draw_entry(experiment: Experiment) -> None:
    """A box that selects the experiment, its status, and a link to the Run lab."""
    badge, key = STATUS_BADGES[experiment.status], f"pick-{experiment.id}"
    st.session_state[key] = experiment.id in runs_url().get("selected")
    with st.container(border=True, gap=None, key=f"entry-{experiment.id}"):
        pin = ":material/keep: " if experiment.pinned else ""
        name = escape_markdown(experiment.name) or text.UNNAMED
        st.checkbox(f"{pin}**{name}**", key=key, on_change=_select, args=(experiment.id,))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.badge(badge.word, color=badge.colour, icon=badge.icon)
            st.caption(time_ago(experiment.created, time.time()), width="content")
            st.page_link(
                LAB_PAGE,
                label=text.OPEN,
                icon=":material/open_in_new:",
                query_params={"experiment": experiment.id},
            )
        st.caption(text.experiment_summary(experiment))


def _select(id: str) -> None:
    """Add an experiment to the selection, or remove it, as its box says."""
    others = [other for other in runs_url().get("selected") if other != id]
    runs_url().put("selected", [*others, id] if st.session_state[f"pick-{id}"] else others)


# ------------------------------------------------------------------------------------------ import


def draw_import(service: Service, visitor: str) -> None:
    """An upload for exported experiments, and the size of the store."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        with st.popover(text.IMPORT, icon=":material/upload:"):
            st.markdown(text.import_help(MAX_MEGABYTES))
            count = st.session_state.setdefault(UPLOADS, 0)
            st.file_uploader(
                text.UPLOAD,
                "json",
                key=f"upload-{count}",
                on_change=_import,
                args=(service, visitor, f"upload-{count}"),
                max_upload_size=MAX_MEGABYTES,
                label_visibility="collapsed",
            )
        st.caption(text.store_size(service.store.size()), width="content")


def _import(service: Service, visitor: str, key: str) -> None:
    file = st.session_state[key]
    if file is None:
        return
    try:
        ids = [service.store.import_(data, visitor) for data in read_export(file.getvalue())]
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = text.not_imported(file.name, as_sentence(problem))
        return
    st.session_state[UPLOADS] += 1  # a new key gives an empty uploader
    st.session_state[SUCCESS] = text.imported(len(ids))
    runs_url().put("selected", [*runs_url().get("selected"), *ids])


def draw_messages() -> None:
    """The outcome of the last action."""
    if message := st.session_state.pop(SUCCESS, None):
        st.success(message)
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(problem)
