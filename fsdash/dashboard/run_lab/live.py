"""The lab's right side: one experiment, live. It looks again every so often while work goes on.

Only new rows are read, and what is drawn is made once for new rows and a way to look, whoever asks.
Streamlit fixes the pace of a part of a page when the page runs. Where another one is due (the first
rows are there, the room has filled, all is over) the whole page runs once more.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.curves import state as lab_view
from fsdash.dashboard.curves.options import read_look
from fsdash.dashboard.curves.state import X_LABELS, CurveOptions
from fsdash.dashboard.curves.table import methods_html
from fsdash.dashboard.run_lab.address import LAB
from fsdash.dashboard.run_lab.form import STARTED, escape_markdown
from fsdash.dashboard.run_lab.state import commands, plan_told, snippet
from fsdash.dashboard.run_lab.text import BADGES, EARLY, queue_told, seconds_between, story
from fsdash.dashboard.service import (
    ExperimentRows,
    Service,
    as_sentence,
    may_change,
    show_store_error,
)
from fsdash.dashboard.shell import ROOT
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.export import export
from fsdash.dashboard.widgets.lesson import what_to_notice
from fsdash.errors import InputError
from fsdash.formatting import time_ago
from fsdash.runs.errors import StoreError
from fsdash.runs.records import Experiment
from fsdash.runs.store.progress import OVER, LastRows, progress_after

INSPECTOR = "pages/5_Policy_inspector.py"


class Drawn(NamedTuple):
    """What is made anew only when there are new rows."""

    figure: go.Figure
    strokes: dict[str, str]
    work: pd.DataFrame
    frame: pd.DataFrame
    named: dict[int, str]
    last: LastRows
    told: str


def draw_experiment(service: Service, me: str) -> None:
    """The experiment that the address names, at its own pace."""
    id = LAB.get("experiment")
    new = st.session_state.pop(STARTED, None) == id
    try:
        experiment = service.wait_for_first_rows(id) if new else service.store.experiment(id)
    except InputError as problem:
        st.warning(as_sentence(problem))
        st.button("Close", on_click=LAB.put, args=("experiment", None), key="close")
        return
    except StoreError as problem:
        show_store_error(problem)
        return
    every = seconds_between(experiment, time.time(), service.refresh_rate.interval())
    st.fragment(_draw, run_every=every)(service, me, every)


def _draw(service: Service, me: str, every: float | None) -> None:
    with service.refresh_rate.refresh((me, LAB.get("experiment"))):
        _draw_now(service, me, every)


def _draw_now(service: Service, me: str, every: float | None) -> None:
    try:
        experiment = service.store.experiment(LAB.get("experiment"))
        if not _similar(
            seconds_between(experiment, time.time(), service.refresh_rate.interval()), every
        ):
            st.rerun()
        rows = service.rows(experiment)
        _draw_head(service, experiment, me)
        if experiment.status == "queued" and not rows.version:
            return  # a whole room may wait: looking must cost next to nothing
        look = read_look(LAB)
        figure, strokes, work, frame, named, last, told = _made(service, experiment, look, rows)
        _draw_curves(experiment, figure, told, rows.version)
        done = progress_after(experiment, last)
        table = lab_view.method_rows(experiment.runs, named, work, done, strokes, look.dark)
        st.html(methods_html(table, X_LABELS[look.x].lower()))
        _draw_troubles(service, experiment, named, me)
        if not experiment.active and rows.version:
            _draw_end(experiment, figure, work, frame, look)
    except (InputError, StoreError) as problem:
        st.warning(as_sentence(problem))
    LAB.write()


def _similar(one: float | None, other: float | None) -> bool:
    """Whether two intervals are so close that changing from one to the other is not worth a run."""
    if one is None or other is None:
        return one is other
    return 0.5 < one / other < 2


def _made(
    service: Service, experiment: Experiment, look: CurveOptions, rows: ExperimentRows
) -> Drawn:
    """All that depends on the rows and the way to look, once for both."""

    def make() -> Drawn:
        named = lab_view.labels(experiment.runs)
        frame = lab_view.prepared(rows.frame, experiment.runs, named)
        name = lab_view.sweeps_of(experiment.runs)[1]
        ended = lab_view.settled(frame, experiment.runs)
        work = lab_view.work_table(ended, look.x, look.stationary)
        last = lab_view.last_rows(rows.frame)
        figure = lab_view.curves(frame, look, name)
        return Drawn(figure, lab_view.strokes(figure), work, frame, named, last, _told(work))

    over = sum(r.status in OVER for run in experiment.runs for r in run.replications)
    return service.cached((experiment.id, look), (rows.version, over), make)


# -------------------------------------------------------------------------------------------- head


def _draw_head(service: Service, experiment: Experiment, me: str) -> None:
    word, colour, sign = BADGES[experiment.status]
    st.subheader(escape_markdown(experiment.name), anchor=False)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge(word, color=colour, icon=sign)
        whose = "you" if experiment.owner == me else "another visitor"
        st.caption(
            f"started {time_ago(experiment.created, time.time())} by {whose}", width="content"
        )
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lab-actions"):
        _draw_actions(service, experiment, me)
    if experiment.status == "queued":
        st.caption(queue_told(service.manager.queue(experiment.owner)))


def _draw_actions(service: Service, experiment: Experiment, me: str) -> None:
    manager, id = service.manager, experiment.id
    if may_change(experiment, me):
        stopping = any(r.stopping for run in experiment.runs for r in run.replications)
        if experiment.active:
            _act("Pause", "pause", manager.pause, id, stopping)
            _act("Stop", "stop", manager.cancel, id, stopping)
        elif any(run.resumable for run in experiment.runs):
            label = "Resume" if experiment.status in ("paused", "cancelled") else "Continue"
            _act(label, "play_arrow", manager.resume, id, False)
            if experiment.status == "paused":
                _act("Stop", "stop", manager.cancel, id, False)
    st.button(
        "Run it again",
        icon=":material/replay:",
        key="again",
        on_click=LAB.put,
        args=("from", id),
        help="Puts this specification into the form.",
    )
    if (ROOT / INSPECTOR).exists() and any(run.rows for run in experiment.runs):
        st.page_link(
            INSPECTOR,
            label="Policies",
            icon=":material/grid_view:",
            query_params={"experiment": id},
        )


def _act(label: str, sign: str, act, id: str, disabled: bool) -> None:
    def click() -> None:
        try:
            act(id)
        except (InputError, StoreError) as problem:
            st.session_state["lab-act-problem"] = str(problem)

    st.button(
        label, icon=f":material/{sign}:", key=f"act-{sign}", on_click=click, disabled=disabled
    )
    if problem := st.session_state.pop("lab-act-problem", None):
        st.error(as_sentence(problem))


# ------------------------------------------------------------------------------------------ curves


def _draw_curves(experiment: Experiment, figure: go.Figure, alt_text: str, version: int) -> None:
    if not version and not experiment.active:
        st.info("Nothing was recorded.")
        return
    chart(figure, "curves", alt_text=alt_text, height=440)


def _told(work: pd.DataFrame) -> str:
    """The curves for who cannot see them."""
    ends = [f"{row['method']} at {100 * row['final']:.0f}%" for row in work.to_dict("records")]
    return "Learning curves. " + (f"Now {', '.join(ends)}." if ends else "No point yet.")


# ------------------------------------------------------------------------------------- what is left


def _draw_troubles(
    service: Service, experiment: Experiment, named: dict[int, str], me: str
) -> None:
    found = lab_view.troubles(experiment.runs, named)
    if not found:
        return
    lines = "\n".join(
        f"- **{escape_markdown(what)}**. {escape_markdown(as_sentence(why))}" for what, why in found
    )
    on = ""
    if any(run.resumable for run in experiment.runs) and may_change(experiment, me):
        when = "When the rest has ended, " if experiment.active else ""
        on = f" {when}*Continue* takes up what can go on, with the same seed."
    st.warning(f"Not all went well; what was recorded is kept and drawn.{on}\n\n{lines}")


def _draw_end(
    experiment: Experiment,
    figure: go.Figure,
    work: pd.DataFrame,
    frame: pd.DataFrame,
    look: CurveOptions,
) -> None:
    if all(r.status in OVER for run in experiment.runs for r in run.replications):
        what_to_notice(story(work, look.x))
    else:
        st.info(EARLY)
    specs = [run.spec for run in lab_view.usable(experiment.runs)]
    export("learning-curves", figure, frame, snippet(specs))
    with st.expander("The specification", icon=":material/description:", key="lab-spec"):
        st.markdown("\n".join(f"- {line}" for line in plan_told(specs)))
        st.markdown("**From the command line**")
        st.code(commands(specs), language="bash", wrap_lines=True)
