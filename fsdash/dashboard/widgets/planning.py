"""Plan a policy for a model within a time limit: value and bound live, stop at any time.

The plan runs in a thread (`waiting`). A fragment draws its log twice a second; what was reached
when the visitor stops is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import streamlit as st

from fsdash.choice.plan import Plan, PlanStep, describe, plan_of, plan_steps
from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.waiting import INTERVAL, Stopped, Work
from fsdash.figures.gap import gap_figure
from fsdash.formatting import number

GAPS = {0.01: "1%", 0.001: "0.1%", 1e-6: "0.0001%"}
BLINK = 1.0
"""Seconds below which a solution counts as immediate."""


@dataclass
class Planning:
    """A plan under way. Of the policies only the newest is kept."""

    build: Callable[[], FastSlowMDP]
    seconds: float
    gap: float
    steps: list[PlanStep] = field(default_factory=list)
    model: FastSlowMDP | None = None

    def __post_init__(self) -> None:
        self.work: Work[None] = Work(self._run)

    def _run(self, advance: Callable[[float], None]) -> None:
        self.model = self.build()
        steps = plan_steps(self.model, seconds=self.seconds, gap=self.gap, progress=advance)
        try:
            for step in steps:
                if self.steps:
                    self.steps[-1] = replace(self.steps[-1], policy_PXY=np.empty(0, np.int32))
                self.steps.append(step)
        except Stopped:
            pass  # what was reached stays

    def plan(self) -> Plan | None:
        """What was reached so far."""
        if self.model is None or not self.steps:
            return None
        return plan_of(self.model, list(self.steps), gap=self.gap)


def draw_planning(name: str, build: Callable[[], FastSlowMDP], file: str) -> None:
    """The form, then the plan live; `name` tells models apart, `file` names the download."""
    key = f"planning-{name}"
    st.markdown(
        "How good a policy in this time, and how far from the best? Cheap frozen sweeps come first "
        "where they pay, then exact ones. The gap is certified: no policy is better by more."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seconds = st.number_input("Seconds", 0.1, 600.0, 10.0, 1.0, width=140, key=f"{key}-seconds")
        gap = st.selectbox("Stop at a gap of", GAPS, format_func=GAPS.get, width=180)
        if st.button("Plan", type="primary", icon=":material/play_arrow:"):
            st.session_state[key] = Planning(build, seconds, gap)
    planning: Planning | None = st.session_state.get(key)
    if planning is None:
        return
    if planning.work.future.done():
        planning.work.future.result()  # raises what went wrong
        _draw_log(planning, key, file)
    else:
        st.fragment(_watch, run_every=INTERVAL)(planning, key, file)


def _watch(planning: Planning, key: str, file: str) -> None:
    planning.work.seen = time.monotonic()
    if planning.work.future.done():
        st.rerun()
    if st.button("Stop", icon=":material/stop:"):
        planning.work.stopped = True
    _draw_log(planning, key, file)


def _draw_log(planning: Planning, key: str, file: str) -> None:
    plan = planning.plan()
    if plan is None:
        st.caption("The model is being built …")
        return
    log, ended = plan.log, planning.work.future.done()
    sign = -1 if plan.model.sense == "min" else 1
    with st.container(horizontal=True, gap="large"):
        certified = not np.isnan(plan.gap)
        st.metric("Gap at most", f"{100 * plan.gap:.2g}%" if certified else "not known yet")
        if certified:
            cost = plan.model.sense == "min"
            words = ("Cost", "cheaper") if cost else ("Value", "better")
            st.metric(f"{words[0]} of the policy", number(sign * plan.value))
            st.metric(f"No policy is {words[1]} than", number(sign * plan.bound))
        st.metric("Method", describe(plan.method, plan.T))
    if ended:
        if log["seconds"].iloc[-1] < BLINK:
            st.info(
                "This model is solved in a blink, so no budget is needed. What is interesting then "
                "is its policy, and what freezing would cost."
            )
        st.markdown(plan.why)
        st.download_button(
            "Policy, CSV",
            plan.policy.to_csv,
            f"{file}-plan.csv",
            "text/csv",
            icon=":material/download:",
            key=f"{key}-download",
            on_click="ignore",
        )
    words = f"Value and bound after each of {len(log)} improvements; the gap is {plan.gap:.2g}."
    chart(gap_figure(log, plan.model.sense), f"{key}-chart", alt_text=words, height=320)
    shown = log.assign(
        method=[describe(m, None) for m in log["method"]],
        value=sign * log["value"],
        bound=sign * log["bound"],
    ).rename(columns={"T": "n"} | ({"value": "cost"} if sign < 0 else {}))
    st.dataframe(
        shown.drop(columns="evaluations"),
        hide_index=True,
        key=f"{key}-log",
        height=240,
        column_config={
            "gap": st.column_config.NumberColumn(format="percent"),
            "seconds": st.column_config.NumberColumn(format="%.3f"),
        },
    )
