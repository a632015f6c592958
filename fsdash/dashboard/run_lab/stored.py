"""The stored runs: find, sort, compare, rename, pin, export, import and delete experiments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd
import streamlit as st

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves import state as curves
from fsdash.dashboard.curves.observations import why_agnostic_wins
from fsdash.dashboard.curves.state import CurveOptions, readable_runs
from fsdash.dashboard.curves.text import FINAL_NOTE, REGRET_SHOWN, STATUS_BADGES
from fsdash.dashboard.curves.view import read_curve_options, show_method_table, show_text_table
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.run_lab import files, text
from fsdash.dashboard.run_lab.files import MAX_MEGABYTES, existing_copy, read_export
from fsdash.dashboard.run_lab.table import (
    BEST,
    MAX_CURVES,
    MAX_IN_LEGEND,
    Filters,
    RunRow,
    RunScore,
    Search,
    best_rows,
    experiment_letters,
    file_stem,
    leader,
    next_order,
    numeric_settings,
    read_search,
    reference,
    run_rows,
    run_score,
    run_version,
    selected_references,
    settings_table,
    shortest_selection,
    sorted_rows,
    table_columns,
    table_rows,
)
from fsdash.dashboard.run_lab.url import ALL, ANY, PAGE_SIZE, TABS, lab_url
from fsdash.dashboard.service import Service, domain_labels, show_store_error
from fsdash.dashboard.shell import add_style, popover, segments
from fsdash.dashboard.visitors import is_single_user, may_change
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.data_table import TableEvent, data_table
from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.figures.parallel import parallel_figure
from fsdash.formatting import as_sentence, escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.records import STATUSES, Experiment, Run, method_title, run_labels
from fsdash.runs.store.queries import MAX_NAME, MAX_NOTE

SUCCESS, PROBLEM, EXISTING = "runs-success", "runs-problem", "runs-existing"
UPLOADS = "runs-uploads"


def draw_import(service: Service, visitor: str) -> None:
    """An upload for exported experiments."""
    with st.popover("Import", icon=":material/upload:"):
        st.markdown(text.import_help(MAX_MEGABYTES))
        count = st.session_state.setdefault(UPLOADS, 0)
        st.file_uploader(
            "Exported experiment",
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
    lab_url().put("selected", list(dict.fromkeys([*lab_url().get("selected"), *ids])))


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
        st.button("Show it in the table", key="show-existing", type="primary", on_click=show)
        st.button("Import a copy", key="import-copy", on_click=copy)


MOST_LEADERS = 6
"""Models whose best run is named above the table."""
ROWS_AT_ONCE = 100_000
"""Stored rows that are read together to compute scores: about 50 MB."""


def draw_filters(service: Service, visitor: str) -> None:
    """The most used filters in one line, the others in a popover; and the import."""
    url = lab_url()
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="filters"):
        st.text_input(
            "Find",
            key=url.key("text"),
            placeholder="name, note, method or T=3,6",
            max_chars=100,
            width=240,
        )
        chosen = url.get("on")
        domains = domain_labels(service.store, None if chosen == ANY else chosen)
        _choice("Domain", "on", domains)
        st.selectbox(
            "Show",
            list(text.BEST_LABELS),
            format_func=text.BEST_LABELS.get,
            key=url.key("best"),
            help="The best run of each group at equal work: after the work that all runs of the "
            "group have spent. Only runs on the same domain with the same parameters are "
            "compared.",
            width=190,
        )
        keys = map(url.key, ("method", "status", "owner"))
        more = popover(keys, "More filters", icon=":material/filter_alt:")
        if more.open:
            with more:
                _draw_more_filters()
        draw_import(service, visitor)


def _draw_more_filters() -> None:
    titles = {name: algorithm.title for name, algorithm in ALGORITHMS.items()}
    _choice("Algorithm", "method", titles)
    _choice("Status", "status", {name: STATUS_BADGES[name].word for name in STATUSES})
    segments(lab_url(), "owner", "Owner", text.OWNER_LABELS)


def _choice(label: str, name: str, titles: dict[str, str]) -> None:
    st.selectbox(
        label,
        [ANY, *titles],
        format_func=lambda option: titles.get(option, "any"),
        key=lab_url().key(name),
        width=160,
    )


def search(service: Service) -> Search:
    """What the visitor's words ask for."""
    return read_search(lab_url().get("text"), domain_labels(service.store))


def _filters(asked: Search) -> dict[str, str]:
    """The chosen filters; where there is none, what the words of the search name."""
    found = {}
    for name, parameter in {"domain": "on", "algorithm": "method", "status": "status"}.items():
        chosen = lab_url().get(parameter)
        value = getattr(asked, name, None) if chosen == ANY else chosen
        if value is not None:
            found[name] = value
    return found


def find_experiments(service: Service, visitor: str, asked: Search) -> list[Experiment]:
    """The experiments with a run that passes the filters, one more than is shown."""
    url = lab_url()
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
    url = lab_url()
    shown = url.get("shown")
    listed = found[:shown]
    with st.spinner("Reading results …", show_time=False):
        scores = load_scores(service, [run for e in listed for run in e.runs])
    rows = run_rows(listed, scores, Filters(**_filters(asked), T=asked.T))
    if leaders := [row for row in rows if row.rank == BEST][:MOST_LEADERS]:
        st.markdown(text.leaders_line([leader(row) for row in leaders]))
    if url.get("best") != ALL:
        rows = best_rows(rows, url.get("best"))
    if not rows:
        st.info(
            "No run matches the search and the filters. Change them, or start a run."
            if service.store.size().experiments
            else "No run is stored yet. Start one in the Run lab, or import some."
        )
        st.button(
            "New experiment",
            icon=":material/experiment:",
            on_click=url.put,
            args=("tab", TABS["new"]),
        )
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
        label="Runs",
        select_all="Select all runs in the table",
        selected=[ref for ref in chosen if ref in ids],
        sort=url.get("sort"),
        on_event=change,
    )
    if len(found) > shown:
        st.button(
            "Show older experiments",
            key="show-more",
            on_click=url.put,
            args=("shown", shown + PAGE_SIZE),
        )
    return [row.run for row in rows]


def _links(row: RunRow) -> list[dict]:
    """One click to the run's policies, to its experiment, and to a sweep based on it."""
    lab, inspector, run = PAGES["run_lab"], PAGES["inspector"], row.run
    found = {"Lab": lab.address(experiment=run.experiment)}
    if run.rows:
        policy = inspector.address(experiment=run.experiment, run=run.id)
        found = {"Policy": policy} | found
    if row.sweep:
        found["Sweep"] = lab.address(base=row.id)
    return [{"text": label, "href": address} for label, address in found.items()]


INSPECTOR_PAGE = PAGES["inspector"].script


def draw_selection_bar(
    service: Service,
    experiments: Sequence[Experiment],
    runs: Sequence[Run],
    listed: Sequence[Run],
    visitor: str,
) -> None:
    """How many runs are selected, with buttons and links; `listed` are the runs in the table."""
    changeable = all(may_change(experiment, visitor) for experiment in experiments)
    hidden = len({run.id for run in runs} - {run.id for run in listed})
    with st.container(
        horizontal=True, gap="small", vertical_alignment="center", key="runs-actions"
    ):
        st.markdown(text.selection(len(runs), hidden), width="content")
        _draw_compare_policies(runs)
        if changeable:
            if len(experiments) == 1:
                _draw_edit(service, experiments[0])
            _draw_pin(service, experiments)
            _draw_delete(service, experiments)
        with st.popover("Export", icon=":material/download:"):
            _draw_export(service, experiments)
        if len(experiments) == 1:
            st.page_link(
                PAGES["run_lab"].script,
                label="Run again",
                icon=":material/replay:",
                query_params={"from": experiments[0].id},
            )
        st.button(
            "Clear the selection",
            icon=":material/close:",
            type="tertiary",
            key="clear",
            on_click=lab_url().put,
            args=("selected", []),
        )


def _draw_compare_policies(runs: Sequence[Run]) -> None:
    """A link to the inspector with the policies of two runs on the same model."""
    if len(runs) != 2 or not all(run.rows for run in runs):
        return
    one, other = runs
    parameters = (run.spec_data.get("domain_parameters") for run in runs)
    if one.domain == other.domain and next(parameters) == next(parameters):
        query = {"experiment": one.experiment, "run": str(one.id)}
        st.page_link(
            INSPECTOR_PAGE,
            label="Compare their policies",
            icon=":material/compare_arrows:",
            query_params=query | {"compare": "run", "other": str(other.id)},
        )


def _draw_edit(service: Service, experiment: Experiment) -> None:
    id, store = experiment.id, service.store
    with st.popover("Name and note", icon=":material/edit:"), st.form(f"edit-{id}", border=False):
        name = st.text_input("Name", experiment.name, max_chars=MAX_NAME)
        note = st.text_area("Note", experiment.note, max_chars=MAX_NOTE)
        if st.form_submit_button("Save", type="primary"):
            _try(lambda: (store.rename(id, name), store.note(id, note)), "Saved.")
            st.rerun()


def _draw_pin(service: Service, experiments: Sequence[Experiment]) -> None:
    pinned = all(experiment.pinned for experiment in experiments)

    def change() -> None:
        message = "Unpinned." if pinned else "Pinned."
        _try(lambda: [service.store.pin(e.id, not pinned) for e in experiments], message)

    st.button(
        "Unpin" if pinned else "Pin",
        icon=":material/keep:",
        key="pin",
        on_click=change,
        help="A pinned experiment cannot be deleted.",
    )


def _draw_delete(service: Service, experiments: Sequence[Experiment]) -> None:
    def delete() -> None:
        _try(lambda: [service.store.delete(e.id) for e in experiments], "Deleted.")
        deleted = {e.id for e in experiments}
        if PROBLEM not in st.session_state:
            selected = lab_url().get("selected")
            left = [ref for ref in selected if ref.partition(".")[0] not in deleted]
            lab_url().put("selected", left)

    if any(experiment.pinned for experiment in experiments):
        st.button(
            text.DELETE,
            icon=":material/delete:",
            disabled=True,
            help="Pinned experiments cannot be deleted. Unpin them first.",
        )
        return
    with st.popover(text.DELETE, icon=":material/delete:"):
        st.markdown(text.delete_question(len(experiments)))
        st.button("Delete permanently", key="delete", type="primary", on_click=delete)


def _draw_export(service: Service, experiments: Sequence[Experiment]) -> None:
    name, store = file_stem(experiments), service.store
    frame = lambda: files.rows_frame(store, experiments)  # noqa: E731
    json, parquet = "application/json", "application/vnd.apache.parquet"
    downloads: tuple[tuple[str, str, str, Callable[[], bytes]], ...] = (
        ("Rows, CSV", f"{name}.csv", "text/csv", lambda: files.as_csv(frame())),
        ("Rows, Parquet", f"{name}.parquet", parquet, lambda: files.as_parquet(frame())),
        ("Specifications, JSON", f"{name}-specs.json", json, lambda: files.specs_json(experiments)),
        (
            text.EXPORT_EVERYTHING,
            f"{name}-full.json",
            json,
            lambda: files.full_json(store, experiments),
        ),
    )
    for label, file, kind, content in downloads:
        st.download_button(
            label, content, file, kind, key=f"export-{label}", on_click="ignore", width="stretch"
        )
    st.caption(text.EXPORT_CAPTION)


def _try(action: Callable[[], object], message: str) -> None:
    """Carry out the action; the next run of the page shows the message or the error."""
    try:
        action()
    except (InputError, StoreError) as problem:
        st.session_state[PROBLEM] = as_sentence(problem)
        return
    st.session_state[SUCCESS] = message


MAX_BESIDE = 3
"""Charts in one row."""


def selected_experiments(service: Service) -> list[Experiment]:
    """The experiments with selected runs; runs that no longer exist are reported and deselected."""
    selected = lab_url().get("selected")
    found, missing = [], []
    for id in dict.fromkeys(ref.partition(".")[0] for ref in selected):
        try:
            found.append(service.store.experiment(id))
        except InputError:
            missing.append(id)
    refs = selected_references(selected, found)
    known = {*refs, *(e.id for e in found)}
    if lost := [ref for ref in selected if ref not in known]:
        st.warning(text.missing(missing or lost))
        lab_url().put("selected", shortest_selection(refs, found))
    return found


def selected_runs(experiments: Sequence[Experiment]) -> list[Run]:
    """The selected runs of the experiments."""
    chosen = set(selected_references(lab_url().get("selected"), experiments))
    return [run for e in experiments for run in e.runs if reference(run) in chosen]


def draw_comparison(
    service: Service, experiments: Sequence[Experiment], runs: Sequence[Run], caption: str = ""
) -> None:
    """The runs in the view of the visitor's choice.

    Letters name the experiments. With a caption, only if two runs would have the same name.
    """
    own = {run.experiment for run in runs}
    experiments = [e for e in experiments if e.id in own]
    letters = {} if caption and not _share_labels(runs) else experiment_letters(experiments)
    _draw_heading(experiments, letters)
    if caption:
        st.caption(caption)
    readable = curves.readable_runs(runs)
    if len(readable) < len(runs):
        st.warning(
            "Some selected runs were recorded with parameters or domains that this version "
            "does not have. They are left out."
        )
    options = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with options:
        view = segments(
            lab_url(),
            "view",
            "View of the selected runs",
            text.VIEWS,
            label_visibility="collapsed",
        )
    if view == "curves":
        frame = pd.concat([service.rows(e).frame for e in experiments], ignore_index=True)
        frame = frame[frame["run"].isin([run.id for run in readable])]
        with options:
            chosen = read_curve_options(lab_url(), frame, single_runs=False)
        _draw_curves(frame, readable, letters, chosen)
    elif view == "settings":
        _draw_settings(runs, run_labels(runs, letters))
    else:
        _draw_parallel(service, readable, letters)


def _share_labels(runs: Sequence[Run]) -> bool:
    """Whether two runs on one domain are named the same without a letter for the experiment."""
    names = {(run.experiment, run.domain, method_title(run.algorithm, run.T)) for run in runs}
    return len({name[1:] for name in names}) < len(names)


def _draw_heading(experiments: Sequence[Experiment], letters: Mapping[str, str]) -> None:
    if len(experiments) == 1:
        st.header(escape_markdown(experiments[0].name), anchor=False)
        if experiments[0].note:
            st.caption(escape_markdown(experiments[0].note))
        return
    st.header("Comparison", anchor=False)
    if letters:
        now = time.time()
        lines = (text.experiment_line(letters[e.id], e, now) for e in experiments)
        st.markdown("  \n".join(lines))


# ------------------------------------------------------------------------------------------ curves


def _draw_curves(
    frame: pd.DataFrame, runs: Sequence[Run], letters: Mapping[str, str], options: CurveOptions
) -> None:
    """A chart and a table of methods for each domain: domains never share an axis."""
    if frame.empty:
        st.info("These runs have no recorded rows yet.")
        return
    facets = curves.by_domain(runs)
    drawn = {}
    columns = st.columns(min(len(facets), MAX_BESIDE), gap="medium")
    for place, (domain, own) in enumerate(facets.items()):
        with columns[place % MAX_BESIDE]:
            if len(own) > MAX_CURVES:
                st.caption(text.too_many_curves(MAX_CURVES, domain_label(domain)))
            if len(facets) > 1:
                st.markdown(f"**{escape_markdown(domain_label(domain))}**")
            height = 420 if len(facets) == 1 else 340
            drawn[domain] = _draw_facet(frame, own[:MAX_CURVES], letters, options, height)
    for domain, (own, labels, work, dashes) in drawn.items():
        if len(facets) > 1:
            st.markdown(f"**{escape_markdown(domain_label(domain))}**")
        _draw_method_table(own, labels, work, dashes, options)
    st.caption(FINAL_NOTE)


def _draw_facet(
    frame: pd.DataFrame,
    runs: Sequence[Run],
    letters: Mapping[str, str],
    options: CurveOptions,
    height: int,
) -> tuple[Sequence[Run], dict[int, str], pd.DataFrame, dict[str, str]]:
    """The chart of one domain; returns what its table needs."""
    labels = run_labels(runs, letters)
    rows = curves.curve_rows(frame[frame["run"].isin(labels)], runs, labels)
    figure = curves.curves_figure(rows, options)
    # The table below shows the line of every method, so a long legend can be left out.
    figure.update_layout(showlegend=len(runs) <= MAX_IN_LEGEND)
    domain = domain_label(runs[0].domain)
    alt_text = f"Learning curves on {domain}: {', '.join(labels.values())}."
    chart(figure, f"compared-{runs[0].domain}", alt_text=alt_text, height=height)
    work = curves.work_table(curves.finished_rows(rows, runs), options.x)
    return runs, labels, work, curves.line_dashes(figure)


def _draw_method_table(
    runs: Sequence[Run],
    labels: Mapping[int, str],
    work: pd.DataFrame,
    dashes: Mapping[str, str],
    options: CurveOptions,
) -> None:
    share = curves.is_share(work)
    if not share:
        st.caption(REGRET_SHOWN)
    table = curves.method_rows(runs, labels, work, None, dashes)
    budget = curves.common_work(work)
    show_method_table(table, options.x, progress=False, share=share, budget=budget)
    if not work.empty and (why := why_agnostic_wins(work, curves.slow_states(runs))):
        st.caption(why)


# ---------------------------------------------------------------------------------------- settings


def _draw_settings(runs: Sequence[Run], labels: Mapping[int, str]) -> None:
    names, rows = settings_table(runs, labels)
    if not names:
        st.caption("These runs have the same settings.")
        return
    st.markdown(f"**{text.DIFFERENT_SETTINGS}**")
    columns = ["Run", *(name.replace("_", " ") for name in names)]
    show_text_table(columns, rows, text.DIFFERENT_SETTINGS)


def _draw_parallel(service: Service, runs: Sequence[Run], letters: Mapping[str, str]) -> None:
    """A figure for each domain that has two runs with different numbers."""
    scores = load_scores(service, runs)
    scored = [run for run in runs if scores.get(run.id) is not None]
    facets = {
        domain: (own, settings)
        for domain, own in curves.by_domain(scored).items()
        if len(own) > 1 and (settings := numeric_settings(own))
    }
    if not facets:
        st.info(
            "Select at least two runs that have results and differ in a number, such as T "
            "or the budget."
        )
        return
    for domain, (own, settings) in facets.items():
        found = [scores[run.id] for run in own]
        shares = all(score.is_share for score in found)
        labels = run_labels(own, letters)
        figure = parallel_figure(
            settings,
            [score.improvement for score in found],
            [labels[run.id] for run in own],
            "share of the optimum" if shares else "part of the initial regret removed",
            percent=True,
        )
        st.markdown(f"**{escape_markdown(domain_label(domain))}**")
        alt_text = text.parallel_alt_text(list(settings), len(own))
        chart(figure, f"parallel-{domain}", alt_text=alt_text, height=380)
    st.caption(
        "One line for each run. The last axis is the result, which also colours the "
        "lines; the best run has the thickest line."
    )


# The table needs the whole width. On a narrow screen two filters share a line.
STYLE = """<style>
[data-testid="stMainBlockContainer"] {max-width: 1600px;}
.st-key-selection-bar {min-height: 2.8rem; justify-content: center;}
@media (max-width: 640px) {
  .st-key-filters > div {flex: 1 0 40% !important;}
  .st-key-filters > .st-key-lab-text {flex-basis: 100% !important;}
  .st-key-filters [data-testid="stPopoverButton"] {width: 100%;}
}
@media (min-width: 900px) {[data-testid="stMainBlockContainer"] {padding: 3rem 2.5rem;}}
</style>"""
REFRESH = 5.0
"""Seconds between two refreshes while a run in the table is active."""

MAX_FOUND = 30
"""Runs found by a search that are compared although none is selected."""


def draw_stored(service: Service, visitor: str) -> None:
    """The tab of the stored runs, refreshed while one in the table is active."""
    add_style(STYLE)
    active = _guarded(lambda: any(e.active for e in _find(service, visitor)[1]))
    st.fragment(_refresh, run_every=REFRESH if active else None)(service, visitor, bool(active))


def _refresh(service: Service, visitor: str, was_active: bool) -> None:
    _guarded(lambda: _draw_page(service, visitor, was_active))


def _guarded(draw):
    """The result of `draw`; if it fails, the page says why."""
    try:
        return draw()
    except InputError as problem:
        st.error(as_sentence(problem))
    except StoreError as problem:
        show_store_error(problem)
    return None


def _find(service: Service, visitor: str) -> tuple[Search, list[Experiment]]:
    """What the visitor searches for, and the experiments that have it."""
    asked = search(service)
    return asked, find_experiments(service, visitor, asked)


def _draw_page(service: Service, visitor: str, was_active: bool) -> None:
    draw_messages(service, visitor)
    draw_filters(service, visitor)
    asked, found = _find(service, visitor)
    if asked.problem:
        st.warning(escape_markdown(asked.problem))
    if any(e.active for e in found) != was_active:
        st.rerun()  # Streamlit fixes the interval of a fragment when the page runs
    experiments = selected_experiments(service)
    bar, above = st.container(key="selection-bar"), st.container()
    listed = draw_table(service, found, experiments, visitor, asked)
    runs = selected_runs(experiments)
    compared = not runs and asked != Search() and 1 < len(listed) <= MAX_FOUND
    with bar:
        if runs:
            draw_selection_bar(service, experiments, runs, listed, visitor)
        elif listed and not compared:
            st.markdown(
                "Select one run to see its curve, or several to **compare** them and the "
                "settings in which they differ."
            )
    # A search for several T is for comparing them. A search for a name is for finding one run.
    with above if len(asked.T) > 1 else st.container():
        if runs:
            draw_comparison(service, experiments, runs)
        elif compared:
            draw_comparison(service, found, listed, text.all_found(len(listed)))
    st.caption(text.store_size(service.store.size()))
    lab_url().write()
