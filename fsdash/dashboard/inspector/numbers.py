"""The numbers below the figure: of one policy, of a comparison, or of a block."""

import pandas as pd
import streamlit as st

from fsdash.dashboard.inspector import state, text
from fsdash.dashboard.inspector.inspection import Inspection
from fsdash.figures.policies import InspectedPolicy, Versus
from fsdash.formatting import number
from fsdash.runs.columns import BY_NAME
from fsdash.runs.measures import RELATIVE, SHARE, shown_measures

Numbers = list[tuple[str, str, str]]
"""Label, value and help of each number."""


def draw_numbers(now: Inspection) -> None:
    """A row of numbers, which wraps on a narrow screen."""
    with st.container(horizontal=True, gap="medium", key="numbers"):
        for label, value, help in _numbers(now):
            st.metric(label, value, help=help, width="content")


def _numbers(now: Inspection) -> Numbers:
    if now.policy_figure.name == "blocks":
        return _of_block(now.inspected, now.selected)
    if now.versus is not None:
        return _of_comparison(now.versus, now.phase, now.judge)
    return _of_policy(now.inspected, now.history.row(now.step), now.phase)


def _of_policy(inspected: InspectedPolicy, row: pd.Series, phase: int) -> Numbers:
    """The recorded measures of a policy, and the share of its actions that are suboptimal."""
    found = []
    for name in shown_measures(pd.DataFrame([row])):
        label, value = BY_NAME[name].label, row[name]
        if name == "mean_return" and inspected.model.sense == "min":
            label, value = "Mean cost", -value
        shown = f"{value:.1%}" if name in (SHARE, RELATIVE) else number(value)
        found.append((label, shown, BY_NAME[name].help))
    phase_name = inspected.phases[phase] if len(inspected.phases) > 1 else None
    share = state.suboptimal_share(inspected, phase)
    return [*found, (text.suboptimal_label(phase_name), f"{share:.0%}", text.SUBOPTIMAL_HELP)]


def _of_comparison(versus: Versus, phase: int, judge: str) -> Numbers:
    """How often A and B differ, how often it matters, and the gain of B."""
    facts = state.comparison_facts(versus, phase, judge)
    shares = [
        ("Ties", f"{facts.ties:.0%}", text.ties_help(judge)),
        ("Real disagreements", f"{facts.real:.0%}", text.REAL_HELP),
        ("A's time there", f"{facts.time:.1%}", text.TIME_HELP),
    ]
    if versus.second_phase is not None:  # two phases of one policy have the same mean return
        return shares
    gain = text.GAIN[versus.model.sense], text.signed(facts.gain), text.GAIN_HELP
    return [*shares, gain]


def _of_block(inspected: InspectedPolicy, selected: dict) -> Numbers:
    """The gap of the selected block, its expectation, and what its actions lose."""
    facts = state.block_facts(inspected, selected)
    return [
        (text.block_gap(selected["block"]), text.signed(facts.gap), text.BLOCK_GAP_HELP),
        ("Its mean over noise", text.signed(facts.expected), text.EXPECTED_GAP_HELP),
        ("Loss of its actions", number(facts.loss), text.BLOCK_LOSS_HELP),
        ("Mean gap", text.signed(facts.mean), "The mean gap of all blocks of this path."),
    ]
