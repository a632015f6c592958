"""The upper part of the Runs page: filters and the table of runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import streamlit as st

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import readable_runs
from fsdash.dashboard.curves.text import STATUS_BADGES
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.runs import text
from fsdash.dashboard.runs.imports import draw_import
from fsdash.dashboard.runs.scores import RunScore, run_score, run_version
from fsdash.dashboard.runs.table import (
    BEST,
    Filters,
    RunRow,
    Search,
    best_rows,
    leader,
    next_order,
    read_search,
    run_rows,
    selected_references,
    shortest_selection,
    sorted_rows,
    table_columns,
    table_rows,
)
from fsdash.dashboard.runs.url import ALL, ANY, PAGE_SIZE, runs_url
from fsdash.dashboard.service import Service, domain_labels
from fsdash.dashboard.shell import popover, segments
from fsdash.dashboard.visitors import is_single_user
from fsdash.dashboard.widgets.data_table import TableEvent, data_table
from fsdash.runs.records import STATUSES, Experiment, Run

MOST_LEADERS = 6
"""Models whose best run is named above the table."""
ROWS_AT_ONCE = 100_000
"""Stored rows that are read together to compute scores: about 50 MB."""


def draw_filters(service: Service, visitor: str) -> None:
    """The most used filters in one line, the others in a popover; and the import."""
    url = runs_url()
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="filters"):
        st.text_input(
            text.FIND,
            key=url.key("text"),
            placeholder=text.FIND_PLACEHOLDER,
            max_chars=100,
            width=240,
        )
        chosen = url.get("domain")
        domains = domain_labels(service.store, None if chosen == ANY else chosen)
        _choice(text.DOMAIN, "domain", domains)
        st.selectbox(
            text.BEST_PER,
            list(text.BEST_LABELS),
            format_func=text.BEST_LABELS.get,
            key=url.key("best"),
            help=text.BEST_PER_HELP,
            width=190,
        )
        keys = map(url.key, ("algorithm", "status", "owner"))
        more = popover(keys, text.MORE_FILTERS, icon=":material/filter_alt:")
        if more.open:
            with more:
                _draw_more_filters()
        draw_import(service, visitor)


def _draw_more_filters() -> None:
    titles = {name: algorithm.title for name, algorithm in ALGORITHMS.items()}
    _choice(text.ALGORITHM, "algorithm", titles)
    _choice(text.STATUS, "status", {name: STATUS_BADGES[name].word for name in STATUSES})
    segments(runs_url(), "owner", text.OWNER, text.OWNER_LABELS)


def _choice(label: str, name: str, titles: dict[str, str]) -> None:
    st.selectbox(
        label,
        [ANY, *titles],
        format_func=lambda option: titles.get(option, text.ANY_LABEL),
        key=runs_url().key(name),
        width=160,
    )


def search(service: Service) -> Search:
    """What the visitor's words ask for."""
    return read_search(runs_url().get("text"), domain_labels(service.store))


def _filters(asked: Search) -> dict[str, str]:
    """The chosen filters; where there is none, what the words of the search name."""
    found = {}
    for name in ("domain", "algorithm", "status"):
        chosen = runs_url().get(name)
        value = getattr(asked, name, None) if chosen == ANY else chosen
        if value is not None:
            found[name] = value
    return found


def find_experiments(service: Service, visitor: str, asked: Search) -> list[Experiment]:
    """The experiments with a run that passes the filters, one more than is shown."""
    url = runs_url()
    return service.store.experiments(
        owner=visitor if url.get("owner") == "mine" else None,
        text=asked.text,
        limit=url.get("shown") + 1,
        **_filters(asked),
    )


def load_scores(service: Service, runs: Sequence[Run]) -> dict[int, RunScore | None]:
    """The scores of runs; rows are read only for those whose score is not known."""
    known = [run for run in readable_runs(runs) if run.rows]
    new = [run for run in known if (run.id, run_version(run)) not in service.scores]
    for part in _in_parts(new):
        frame = service.store.rows([run.id for run in part])
        for run in part:
            rows = frame[frame["run"] == run.id]
            service.scores.get(run.id, run_version(run), lambda r=run, f=rows: run_score(r, f))
    return {
        run.id: service.scores.get(run.id, run_version(run), lambda: None)  # made above
        for run in known
    }


def _in_parts(runs: Sequence[Run]) -> Iterator[list[Run]]:
    part: list[Run] = []
    for run in runs:
        if part and sum(r.rows for r in part) + run.rows > ROWS_AT_ONCE:
            yield part
            part = []
        part.append(run)
    if part:
        yield part


def draw_table(
    service: Service,
    found: Sequence[Experiment],
    selected: Sequence[Experiment],
    visitor: str,
    asked: Search,
) -> list[Run]:
    """The table, and a button for more; `selected` are the experiments with selected runs.

    Returns the runs in the table.
    """
    url = runs_url()
    shown = url.get("shown")
    listed = found[:shown]
    with st.spinner(text.READING, show_time=False):
        scores = load_scores(service, [run for e in listed for run in e.runs])
    rows = run_rows(listed, scores, Filters(**_filters(asked), T=asked.T))
    if leaders := [row for row in rows if row.rank == BEST][:MOST_LEADERS]:
        st.markdown(text.leaders_line([leader(row) for row in leaders]))
    if url.get("best") != ALL:
        rows = best_rows(rows, url.get("best"))
    if not rows:
        st.info(text.NONE_FOUND if service.store.size().experiments else text.NONE_STORED)
        st.page_link(PAGES["run_lab"].script, label=text.GO_TO_LAB, icon=":material/experiment:")
        return []
    every = {e.id: e for e in (*listed, *selected)}.values()
    chosen = selected_references(url.get("selected"), list(every))
    ids = {row.id for row in rows}

    def change(event: TableEvent) -> None:
        if event.sort is not None:
            url.put("sort", next_order(url.get("sort"), event.sort))
        elif event.selected is not None:
            refs = [ref for ref in chosen if ref not in ids]
            refs += [ref for ref in event.selected if ref in ids]
            url.put("selected", shortest_selection(refs, list(every)))

    data_table(
        "runs-table",
        table_columns(with_owner=not is_single_user()),
        table_rows(sorted_rows(rows, url.get("sort")), visitor, time.time(), _links),
        label=text.TABLE,
        select_all=text.SELECT_ALL,
        selected=[ref for ref in chosen if ref in ids],
        sort=url.get("sort"),
        on_event=change,
    )
    if len(found) > shown:
        st.button(
            text.SHOW_MORE,
            key="show-more",
            on_click=url.put,
            args=("shown", shown + PAGE_SIZE),
        )
    return [row.run for row in rows]


def _links(row: RunRow) -> list[dict]:
    """One click to the run's policies, to its experiment, and to a sweep based on it."""
    lab, inspector, run = PAGES["run_lab"], PAGES["inspector"], row.run
    found = {text.TO_LAB: lab.address(experiment=run.experiment)}
    if run.rows:
        policy = inspector.address(experiment=run.experiment, run=run.id)
        found = {text.TO_POLICY: policy} | found
    if row.sweep:
        found[text.TO_SWEEP] = lab.address(base=row.id)
    return [{"text": label, "href": address} for label, address in found.items()]
