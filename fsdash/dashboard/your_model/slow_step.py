"""Which variables are slow, with the evidence, and the discount factor."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from fsdash.dashboard.your_model import text
from fsdash.dashboard.your_model.state import LARGEST_GAMMA
from fsdash.dashboard.your_model.url import URL, remember_default
from fsdash.formatting import escape_markdown
from fsdash.models.discount import PERIODS, discount_factor

HELPER = "gamma-helper"


def draw_slow(
    evidence: pd.DataFrame, own: Sequence[str] | None = None
) -> tuple[tuple[str, ...] | None, float | None]:
    """The slow variables, None if no variable is fast, and γ, None until it is given.

    At first the slow variables are the model's own, if it has been divided, or the suggested ones.
    """
    variables = evidence["variable"].tolist()
    suggested = evidence.loc[evidence["suggestion"] == "slow", "variable"].tolist()
    if len(suggested) == len(variables):
        suggested = []
    suggested = suggested if own is None else list(own)
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
            st.caption(text.fast_variables(fast))
            gamma = _draw_gamma()
        with right:
            _draw_evidence(evidence)
            st.markdown(text.reasons(evidence))
        mark = text.DONE if fast and gamma is not None else text.OPEN_STEP
        head.markdown(f"{mark} **4. Slow and fast** {text.DASH} {text.SUGGESTED}")
        if not fast:
            st.warning(text.NO_FAST)
        if gamma is None:
            st.warning(text.NO_GAMMA)
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
        help=text.GAMMA_HELP,
        placeholder="such as 0.97",
    )
    with st.popover("From a yearly rate", icon=":material/percent:", key=HELPER, on_change="rerun"):
        period = st.selectbox("Length of a period", tuple(PERIODS), key="gamma-period")
        percent = st.number_input(
            "Yearly interest rate, %", 0.01, 1000.0, None, 1.0, "%.4g", key="gamma-rate"
        )
        if percent is not None:
            computed = min(discount_factor(percent / 100, period), LARGEST_GAMMA)
            st.button(
                text.use_gamma(computed),
                key="use-gamma",
                type="primary",
                on_click=_use_gamma,
                args=(round(computed, 6),),
            )
    return gamma


def _use_gamma(gamma: float) -> None:
    URL.put("gamma", gamma)
    st.session_state[HELPER] = False  # closes it


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
