"""The widgets for how curves are looked at, the same in the lab and on the Runs page."""

from __future__ import annotations

import streamlit as st

from fsdash.dashboard.curves.state import X_LABELS, Y_LABELS, CurveOptions
from fsdash.dashboard.shell import is_dark
from fsdash.dashboard.widgets.address import Address


def read_look(address: Address, singles: bool = True) -> CurveOptions:
    """The axis of work is at hand, what is rarely changed folded."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="look"):
        x = st.segmented_control(
            "Work in",
            list(X_LABELS),
            default="sweeps",
            required=True,
            format_func=X_LABELS.get,
            key=address.key("x"),
        )
        with st.popover("View", icon=":material/tune:"):
            y = st.radio(
                "Worth of the policy",
                list(Y_LABELS),
                format_func=Y_LABELS.get,
                key=address.key("y"),
                help="Evaluated exactly under the true model.",
            )
            log_x = st.toggle("Logarithmic work", True, key=address.key("log"))
            if not singles:
                return CurveOptions(x, y, log_x, dark=is_dark())
            alone = st.toggle("Single runs", key=address.key("singles"))
            stationary = st.toggle(
                "Greedy for J",
                key=address.key("J"),
                help="While the lower level is solved there is a second policy, stationary and "
                "greedy for the frozen values J.",
            )
    return CurveOptions(x, y, log_x, alone, stationary, is_dark())
