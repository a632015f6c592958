"""The teaching parts of a page: what to notice, exercises with hidden answers, symbols."""

from collections.abc import Iterable, Sequence

import streamlit as st

from fsdash.dashboard.widgets.glossary import SYMBOLS

NOTICE_TITLE, EXERCISES_TITLE, ANSWER = "What to notice", "Try it", "Answer"
SYMBOLS_TITLE = "Symbols on this page"
FROZEN_DYNAMICS_CONDITION = (
    "**A condition that the paper does not state:** the proof compares with a lower level that is "
    "optimal under the true dynamics, but the policy uses the one that is optimal under the frozen "
    "dynamics. The theorem holds if the frozen dynamics are no more sensitive than the true ones, "
    "$\\tilde L \\le L_f$, as in all three domains here."
)
"""Of the regret bounds of FSVI and FSAVI; shown by every page that draws one of them."""


def what_to_notice(points: Iterable[str], key: str = "notice") -> None:
    """Two or three sentences about a figure; each box of a page needs its own key."""
    with st.container(border=True, key=key):
        st.markdown(f"**{NOTICE_TITLE}**")
        st.markdown("\n".join(f"- {point}" for point in points))


def exercises(pairs: Sequence[tuple[str, str]]) -> None:
    """Questions that the page can answer, each with a folded answer."""
    st.subheader(EXERCISES_TITLE, anchor=False)
    for index, (question, answer) in enumerate(pairs, 1):
        st.markdown(f"**{index}.** {question}")
        with st.expander(ANSWER, key=f"answer-{index}"):
            st.markdown(answer)


def glossary(symbols: Iterable[str]) -> None:
    """A folded table with the symbols of a page and their meaning."""
    with st.expander(SYMBOLS_TITLE, icon=":material/menu_book:", key="symbols"):
        rows = [f"| ${SYMBOLS[key].latex}$ | {SYMBOLS[key].meaning} |" for key in symbols]
        st.markdown("\n".join(["| | |", "|---|---|", *rows]))
