"""The left side of the Runs page: filters, and the kept experiments to choose from."""

from __future__ import annotations

import time

import streamlit as st

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import X_LABELS, Y_LABELS
from fsdash.dashboard.run_lab.form import escape_markdown
from fsdash.dashboard.run_lab.text import BADGES
from fsdash.dashboard.runs.files import MAX_MEGABYTES, read_export
from fsdash.dashboard.service import Service, as_sentence
from fsdash.dashboard.widgets.address import (
    Address,
    Part,
    experiment_id,
    listed,
    several,
    short_text,
    switch,
    whole,
)
from fsdash.dashboard.widgets.url_state import one_of
from fsdash.domains import DOMAINS
from fsdash.errors import InputError
from fsdash.formatting import file_size, time_ago
from fsdash.runs.errors import StoreError
from fsdash.runs.records import STATUSES, Experiment
from fsdash.runs.summary import method_title

LAB_PAGE = "pages/4_Run_lab.py"
ANY = "any"
EVERYONE, MINE = "everyone's", "mine"
PAGE = 12
SAID, PROBLEM, UPLOADS = "runs-said", "runs-problem", "runs-uploads"

RUNS = Address(
    "runs",
    {
        "text": Part("", short_text),
        "domain": Part(ANY, one_of([ANY, *DOMAINS])),
        "algorithm": Part(ANY, one_of([ANY, *ALGORITHMS])),
        "status": Part(ANY, one_of([ANY, *STATUSES])),
        "whose": Part(EVERYONE, one_of([EVERYONE, MINE])),
        "shown": Part(PAGE, whole(1, 10_000)),
        "selected": Part([], several(experiment_id), listed),
        "x": Part("sweeps", one_of(X_LABELS)),
        "y": Part("fraction_of_optimal", one_of(Y_LABELS)),
        "log": switch(True),
    },
)


def draw_filters() -> None:
    """What is looked for; the text and whose first, the rest folded."""
    st.text_input(
        "Find", key=RUNS.key("text"), placeholder="a word in a name or a note", max_chars=100
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.segmented_control(
            "Whose",
            [EVERYONE, MINE],
            default=EVERYONE,
            required=True,
            key=RUNS.key("whose"),
            format_func=str.capitalize,
        )
        with st.popover("More filters", icon=":material/filter_alt:"):
            _choice("Domain", "domain", {name: name.capitalize() for name in DOMAINS})
            titles = {name: method.title for name, method in ALGORITHMS.items()}
            _choice("Algorithm", "algorithm", titles)
            _choice("Status", "status", {name: BADGES[name][0] for name in STATUSES})


def _choice(label: str, name: str, titles: dict[str, str]) -> None:
    st.selectbox(
        label, [ANY, *titles], format_func=lambda o: titles.get(o, ANY), key=RUNS.key(name)
    )


def found(service: Service, me: str) -> list[Experiment]:
    """The experiments that pass the filters, one more than is shown."""
    chosen = {n: RUNS.get(n) for n in ("domain", "algorithm", "status")}
    filters = {name: value for name, value in chosen.items() if value != ANY}
    return service.store.experiments(
        owner=me if RUNS.get("whose") == MINE else None,
        text=RUNS.get("text").strip(),
        limit=RUNS.get("shown") + 1,
        **filters,
    )


def draw_list(experiments: list[Experiment]) -> None:
    """One entry each: a box to compare it, its state, and a link that opens it."""
    if not experiments:
        st.info("Nothing is kept that fits. Start something in the Run lab, or loosen the filters.")
        st.page_link(LAB_PAGE, label="To the Run lab", icon=":material/experiment:")
        return
    shown = RUNS.get("shown")
    for experiment in experiments[:shown]:
        _draw_entry(experiment)
    if len(experiments) > shown:
        st.button(
            "Show more",
            key="show-more",
            width="stretch",
            on_click=RUNS.put,
            args=("shown", shown + PAGE),
        )


def _draw_entry(experiment: Experiment) -> None:
    word, colour, sign = BADGES[experiment.status]
    st.session_state[f"pick-{experiment.id}"] = experiment.id in RUNS.get("selected")
    with st.container(border=True, gap=None, key=f"entry-{experiment.id}"):
        pin = ":material/keep: " if experiment.pinned else ""
        st.checkbox(
            f"{pin}**{escape_markdown(experiment.name) or 'unnamed'}**",
            key=f"pick-{experiment.id}",
            on_change=pick,
            args=(experiment.id,),
        )
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.badge(word, color=colour, icon=sign)
            st.caption(time_ago(experiment.created, time.time()), width="content")
            st.page_link(
                LAB_PAGE,
                label="Open",
                icon=":material/open_in_new:",
                query_params={"experiment": experiment.id},
            )
        st.caption(_told(experiment))


def _told(experiment: Experiment) -> str:
    """Domain and methods, and the note."""
    titles = list(dict.fromkeys(method_title(run.algorithm, run.T) for run in experiment.runs))
    shown = ", ".join(titles[:4]) + (f" and {len(titles) - 4} more" if len(titles) > 4 else "")
    domains = ", ".join(dict.fromkeys(run.domain.capitalize() for run in experiment.runs))
    note = f"  \n{escape_markdown(experiment.note)}" if experiment.note else ""
    return f"{domains}: {shown}{note}"


def pick(id: str) -> None:
    """A box was ticked or cleared."""
    chosen = [other for other in RUNS.get("selected") if other != id]
    RUNS.put("selected", [*chosen, id] if st.session_state[f"pick-{id}"] else chosen)


# ------------------------------------------------------------------------------------------ import


def draw_store(service: Service, me: str) -> None:
    """How much is kept, and a way in for files."""
    size = service.store.size()
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        with st.popover("Import", icon=":material/upload:"):
            st.markdown(
                "A file that was exported here or elsewhere as *Everything, JSON*, of at most "
                f"{MAX_MEGABYTES} MB."
            )
            count = st.session_state.setdefault(UPLOADS, 0)
            st.file_uploader(
                "Exported experiment",
                "json",
                key=f"upload-{count}",
                on_change=_import,
                args=(service, me, f"upload-{count}"),
                max_upload_size=MAX_MEGABYTES,
                label_visibility="collapsed",
            )
        bytes_told = "" if size.bytes is None else f", {file_size(size.bytes)}"
        st.caption(
            f"{size.experiments:,} experiments with {size.rows:,} rows are kept{bytes_told}.",
            width="content",
        )


def draw_messages() -> None:
    """What came of the last thing that was done."""
    if said := st.session_state.pop(SAID, None):
        st.success(said)
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(problem)


def _import(service: Service, me: str, key: str) -> None:
    file = st.session_state[key]
    if file is None:
        return
    try:
        ids = [service.store.import_(data, me) for data in read_export(file.getvalue())]
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = f"{file.name} was not imported. {as_sentence(problem)}"
        return
    st.session_state[UPLOADS] += 1  # a fresh uploader, without the file
    st.session_state[SAID] = f"Imported {len(ids)} experiment{'s' * (len(ids) != 1)}."
    RUNS.put("selected", [*RUNS.get("selected"), *ids])
