"""Which variables are slow, with the evidence, and the discount factor."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from fsdash.dashboard.your_model import text
from fsdash.dashboard.your_model.state import DEFAULT_GAMMA, LARGEST_GAMMA
from fsdash.dashboard.your_model.url import URL, remember_default
from fsdash.formatting import escape_markdown


def draw_slow(
    evidence: pd.DataFrame, own: Sequence[str] | None = None, note: str = ""
) -> tuple[tuple[str, ...] | None, float]:
    """The slow variables and γ; None if no variable is fast.

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
                text.SLOW,
                variables,
                selection_mode="multi",
                wrap=True,
                format_func=escape_markdown,
                key=URL.key("slow"),
                help=text.SLOW_HELP,
            )
            fast = [name for name in variables if name not in slow]
            st.caption(text.fast_variables(fast))
            gamma = st.number_input(
                text.GAMMA,
                0.0,
                LARGEST_GAMMA,
                DEFAULT_GAMMA,
                0.01,
                "%.6g",
                key=URL.key("gamma"),
                help=text.GAMMA_HELP,
            )
            st.caption(note)
        with right:
            _draw_evidence(evidence)
            st.markdown(text.reasons(evidence))
        mark = text.DONE if fast else text.OPEN_STEP
        head.markdown(f"{mark} **{text.SLOW_STEP}** {text.DASH} {text.SUGGESTED}")
        if not fast:
            st.warning(text.NO_FAST)
    return (tuple(slow) if fast else None), gamma


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
