"""The lower part of the Runs page: the selected runs, as curves, settings or coordinates."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from fsdash.dashboard.curves import state as curves
from fsdash.dashboard.curves.observations import why_agnostic_wins
from fsdash.dashboard.curves.state import CurveOptions
from fsdash.dashboard.curves.text import FINAL_NOTE, REGRET_SHOWN
from fsdash.dashboard.curves.view import read_curve_options, show_method_table, show_text_table
from fsdash.dashboard.runs import text
from fsdash.dashboard.runs.list import load_scores
from fsdash.dashboard.runs.state import (
    MAX_CURVES,
    MAX_IN_LEGEND,
    experiment_letters,
    numeric_settings,
    settings_table,
)
from fsdash.dashboard.runs.table import reference, selected_references, shortest_selection
from fsdash.dashboard.runs.url import runs_url
from fsdash.dashboard.service import Service
from fsdash.dashboard.shell import segments
from fsdash.dashboard.widgets.chart import chart
from fsdash.domains import domain_label
from fsdash.errors import InputError
from fsdash.figures.parallel import parallel_figure
from fsdash.formatting import escape_markdown
from fsdash.runs.records import Experiment, Run, method_title, run_labels

MAX_BESIDE = 3
"""Charts in one row."""


def selected_experiments(service: Service) -> list[Experiment]:
    """The experiments with selected runs; runs that no longer exist are reported and deselected."""
    selected = runs_url().get("selected")
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
        runs_url().put("selected", shortest_selection(refs, found))
    return found


def selected_runs(experiments: Sequence[Experiment]) -> list[Run]:
    """The selected runs of the experiments."""
    chosen = set(selected_references(runs_url().get("selected"), experiments))
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
        st.warning(text.UNREADABLE)
    options = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with options:
        view = segments(runs_url(), "view", text.VIEW, text.VIEWS, label_visibility="collapsed")
    if view == "curves":
        frame = pd.concat([service.rows(e).frame for e in experiments], ignore_index=True)
        frame = frame[frame["run"].isin([run.id for run in readable])]
        with options:
            chosen = read_curve_options(runs_url(), frame, single_runs=False)
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
    st.header(text.COMPARISON, anchor=False)
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
        st.info(text.NO_ROWS)
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
    alt_text = text.curves_alt_text(list(labels.values()), domain)
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
        st.caption(text.SAME_SETTINGS)
        return
    st.markdown(f"**{text.DIFFERENT_SETTINGS}**")
    columns = [text.RUN, *(name.replace("_", " ") for name in names)]
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
        st.info(text.PARALLEL_NEEDS)
        return
    for domain, (own, settings) in facets.items():
        found = [scores[run.id] for run in own]
        shares = all(score.is_share for score in found)
        labels = run_labels(own, letters)
        figure = parallel_figure(
            settings,
            [score.improvement for score in found],
            [labels[run.id] for run in own],
            text.SHARE_AXIS if shares else text.IMPROVEMENT_AXIS,
            percent=True,
        )
        st.markdown(f"**{escape_markdown(domain_label(domain))}**")
        alt_text = text.parallel_alt_text(list(settings), len(own))
        chart(figure, f"parallel-{domain}", alt_text=alt_text, height=380)
    st.caption(text.PARALLEL_CAPTION)
