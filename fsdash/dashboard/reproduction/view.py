"""The Reproduction page: the paper's figures computed again, and each claim with its verdict."""

import pandas as pd
import streamlit as st

from fsdash.dashboard.reproduction import state as reproduction
from fsdash.dashboard.reproduction.show import (
    draw_claims,
    draw_downloads,
    draw_guarded,
    figure_and_rows,
)
from fsdash.dashboard.reproduction.state import MARKS, PARTS, STATES, THEORY, labels
from fsdash.dashboard.shell import is_dark, open_page
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.lesson import exercises, what_to_notice
from fsdash.dashboard.widgets.url_state import BIND, one_of
from fsdash.reproduce.archive import kept_domains
from fsdash.reproduce.judging import CLEAR, NO, UNCLEAR

EVERYTHING = "Everything"
WORDS = {mark.word: verdict for verdict, mark in MARKS.items()}
BEYOND = {
    "stationary": "**Throw the periods away.** The lower level alone, at a fraction of a "
    "sweep, gives a value $J_1$. The *stationary* policy that is greedy for it needs no upper "
    "level at all (dotted). How far that goes depends on the domain: see the verdicts.",
    "exact": "**With a known model there is a better way.** Modified policy iteration "
    "with $m = T-1$ costs the same per iteration as FSVI and converges to the true optimum. "
    "FSVI's advantage is in *sampling*: its lower level needs one sample where E-VI needs fifty.",
}
RULES = f"""
Every rule was written before the runs it judges. A claim has parts; each is one number, measured in
every replication, that must lie on one side of a limit.

- **{STATES[CLEAR]}**: the mean and its whole 95% interval lie on the right side.
- **{STATES[UNCLEAR]}**: the mean does, a part of the interval does not.
- **{STATES[NO]}**: the mean lies on the wrong side.

A claim is *reproduced* if every part is clear, *not reproduced* if no part holds, else *partly*.
The paper's words are read the same way everywhere: “good” is 75% of the optimum, “near-optimal”
95%, “optimal” 99%, “significantly less work” at most one half.
"""
EXERCISES = [
    (
        "Base E-VI is said to reach the optimum in the end. On the gridworld it does not here. Is "
        "the paper wrong?",
        "Not necessarily. The paper takes its optimum from a long run of Base E-VI, so that run "
        "reaches it by definition. Here the optimum is exact. With M = 50 samples drawn anew for "
        "each action, the maximum over actions is biased upwards, and the policy stays below.",
    ),
    (
        "Two methods differ by a mean of 0.02, and the interval of the difference goes from −0.01 "
        "to 0.05. What is the verdict on “the first is better”?",
        "The part holds, but not clearly, so a claim made of it alone is *partly* reproduced: five "
        "replications cannot tell.",
    ),
]


def read_filters() -> tuple[list[str], list[str]]:
    """Which parts of the paper, and which verdicts."""
    with st.container(horizontal=True, gap="large", key="filters"):
        part = st.pills(
            "Part",
            (EVERYTHING, *PARTS.values()),
            default=EVERYTHING,
            required=True,
            key="part",
            bind=BIND,
            wrap=True,
        )
        words = st.pills(
            "Verdict",
            list(WORDS),
            selection_mode="multi",
            default=list(WORDS),
            key="verdict",
            bind=BIND,
            wrap=True,
        )
    names = [name for name, title in PARTS.items() if part in (EVERYTHING, None, title)]
    return names, [WORDS[word] for word in words or WORDS]


def draw_counts(claims: pd.DataFrame) -> None:
    """How many claims hold up."""
    with st.container(horizontal=True, gap="medium", key="counts"):
        for verdict, n in reproduction.counts(claims).items():
            mark = MARKS[verdict]
            st.metric(f":{mark.colour}[{mark.icon}] {mark.word}", n, width="content")


def draw_beyond(claims: pd.DataFrame, findings: pd.DataFrame, domains: list[str]) -> None:
    """Two findings that the paper does not have, with a figure of the first domain that has it."""
    st.subheader("Two findings beyond the paper", anchor=False, divider="gray")
    for column, (kind, text) in zip(st.columns(2, gap="large"), BEYOND.items(), strict=True):
        with column:
            st.markdown(text)
            for domain in [d for d in domains if f"{d}-{kind}" in labels(d).values()][:1]:
                figure, _ = figure_and_rows(domain, f"{domain}-{kind}", is_dark())
                st.caption(PARTS[domain])
                chart(figure, f"beyond-{kind}", alt_text=f"{PARTS[domain]}. {text}", height=460)
            about = "greedy" if kind == "stationary" else "mpi"
            draw_claims(claims[claims["name"].str.contains(about)], findings)


PARAMETERS = {
    "part": one_of((EVERYTHING, *PARTS.values())),
    "verdict": one_of(WORDS),
    **{f"figure-{part}": one_of(labels(part)) for part in PARTS},
}


def show() -> None:
    """Draw the page."""
    open_page("Reproduction", parameters=PARAMETERS)
    st.title("Does it hold up?", anchor=False)
    st.markdown(
        "The paper's figures, computed again, beside what the paper says about them. Each claim has a "
        "rule, fixed beforehand, and a verdict. Unfold it to see what was measured."
    )
    claims, findings = reproduction.claims(), reproduction.findings()
    draw_counts(claims[~claims["beyond"]])
    parts, verdicts = read_filters()
    for domain in reproduction.missing():
        if domain in parts:
            st.info(reproduction.missing_told(domain), icon=":material/info:")
    shown = claims[claims["part"].isin(parts) & claims["verdict"].isin(verdicts)]
    for part in parts:
        if part == THEORY or part in kept_domains():
            about_it = shown[(shown["part"] == part) & ~shown["beyond"]]
            draw_guarded(part, about_it, findings)
    if own := [part for part in parts if part in kept_domains()]:
        draw_beyond(shown[shown["beyond"]], findings, own)
    st.space("small")
    left, right = st.columns([5, 4], gap="large")
    with left:
        exercises(EXERCISES)
    with right:
        what_to_notice(
            (
                "A verdict is about *these* runs: constants that the paper leaves open were chosen by "
                "this project. The lab runs any others.",
                "Where a claim is *partly* reproduced, the parts say which half holds.",
            )
        )
        with st.expander("How a claim is judged", icon=":material/gavel:", key="rules"):
            st.markdown(RULES)
    draw_downloads(claims, findings)
