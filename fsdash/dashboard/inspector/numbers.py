"""The numbers below the figure: of one policy, of a comparison, or of a block."""

import pandas as pd
import streamlit as st

from fsdash.dashboard.inspector import state, text
from fsdash.figures.policies import InspectedPolicy, Versus
from fsdash.formatting import number
from fsdash.runs.columns import BY_NAME
from fsdash.runs.measures import RELATIVE, SHARE, shown_measures

Numbers = list[tuple[str, str, str]]
"""Label, value and help of each number."""


def draw_numbers(numbers: Numbers) -> None:
    """A row of numbers, which wraps on a narrow screen."""
    with st.container(horizontal=True, gap="medium", key="numbers"):
        for label, value, help in numbers:
            st.metric(label, value, help=help, width="content")


def policy_numbers(inspected: InspectedPolicy, row: pd.Series, phase: int) -> Numbers:
    """The recorded measures of a policy, and the share of its actions that are suboptimal."""
    found = []
    for name in shown_measures(pd.DataFrame([row])):
        label, value = BY_NAME[name].label, row[name]
        if name == "mean_return" and inspected.model.sense == "min":
            label, value = text.MEAN_COST, -value
        shown = f"{value:.1%}" if name in (SHARE, RELATIVE) else number(value)
        found.append((label, shown, BY_NAME[name].help))
    phase_name = inspected.phases[phase] if len(inspected.phases) > 1 else None
    share = state.suboptimal_share(inspected, phase)
    return [*found, (text.suboptimal_label(phase_name), f"{share:.0%}", text.SUBOPTIMAL_HELP)]


def comparison_numbers(versus: Versus, phase: int, judge: str) -> Numbers:
    """How often A and B differ, how often it matters, and the gain of B."""
    facts = state.comparison_facts(versus, phase, judge)
    gain = text.signed(facts.gain) if versus.second_phase is None else None
    shares = [
        (text.TIES, f"{facts.ties:.0%}", text.ties_help(judge)),
        (text.REAL, f"{facts.real:.0%}", text.REAL_HELP),
        (text.TIME_THERE, f"{facts.time:.1%}", text.TIME_HELP),
    ]
    label = text.GAIN[versus.model.sense]
    return shares if gain is None else [*shares, (label, gain, text.GAIN_HELP)]


def block_numbers(inspected: InspectedPolicy, selected: dict) -> Numbers:
    """The gap of the selected block, its expectation, and what its actions lose."""
    facts = state.block_facts(inspected, selected)
    return [
        (text.block_gap(selected["block"]), text.signed(facts.gap), text.BLOCK_GAP_HELP),
        (text.EXPECTED_GAP, text.signed(facts.expected), text.EXPECTED_GAP_HELP),
        (text.BLOCK_LOSS, number(facts.loss), text.BLOCK_LOSS_HELP),
        (text.MEAN_GAP, text.signed(facts.mean), text.MEAN_GAP_HELP),
    ]
