"""What turns a figure into a lesson: what to notice, exercises with hidden answers, symbols."""

from collections.abc import Iterable, Sequence

import streamlit as st

from fsdash.dashboard.widgets.glossary import SYMBOLS


def what_to_notice(points: Iterable[str], key: str = "notice") -> None:
    """Two or three sentences with a figure; on a page with several of them, each has its key."""
    with st.container(border=True, key=key):
        st.markdown("**What to notice**")
        st.markdown("\n".join(f"- {point}" for point in points))


def exercises(pairs: Sequence[tuple[str, str]]) -> None:
    """Questions that the page can answer, each with its answer folded away."""
    st.subheader("Try it", anchor=False)
    for index, (question, answer) in enumerate(pairs, 1):
        st.markdown(f"**{index}.** {question}")
        with st.expander("Answer", key=f"answer-{index}"):
            st.markdown(answer)


def glossary(symbols: Iterable[str]) -> None:
    """The symbols of a page and their meaning, folded away."""
    with st.expander("Symbols on this page", icon=":material/menu_book:", key="symbols"):
        rows = [f"| ${SYMBOLS[key].latex}$ | {SYMBOLS[key].meaning} |" for key in symbols]
        st.markdown("\n".join(["| | |", "|---|---|", *rows]))
