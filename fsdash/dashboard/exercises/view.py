"""The page Exercises: all exercises, the visitor's progress, and a sheet to print."""

from collections.abc import Collection

import streamlit as st

from fsdash.dashboard.exercises import state, text
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.shell import add_style, open_page, segments
from fsdash.dashboard.widgets.exercise import draw_folded, number_of
from fsdash.dashboard.widgets.progress import add_solved, forget_progress, read_progress
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    comma_separated,
    list_of,
    one_of,
    switch,
)
from fsdash.teaching.exercises import EXERCISES, LEVELS, by_id
from fsdash.teaching.sheet import exercise_sheet

LEVEL_LABELS = text.ALL_LEVELS | LEVELS
URL = UrlState(
    "exercises",
    {
        "view": UrlParameter("list", one_of(text.VIEWS)),
        "level": UrlParameter(state.ALL, one_of(LEVEL_LABELS)),
        "solutions": switch(False),
        "results": UrlParameter(
            [], list_of(one_of([one.id for one in EXERCISES]), len(EXERCISES)), comma_separated
        ),
    },
)
# On paper there is only the sheet, in black on white, over the whole width.
STYLE = """<style>
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], .st-key-choices, .st-key-paper,
    [data-testid="stHeadingWithActionElements"]:has(h1) {display: none !important;}
  [data-testid="stApp"], [data-testid="stMain"], [data-testid="stAppViewContainer"]
    {position: static !important; overflow: visible !important; height: auto !important;}
  [data-testid="stMain"] * {color: #000 !important; background: transparent !important;}
  [data-testid="stMarkdownContainer"] :is(p, li) {max-width: none; break-inside: avoid;}
}
</style>"""
_PRINT = """
export default function ({ data, parentElement }) {
  let button = parentElement.querySelector("button");
  if (!button) {
    button = parentElement.appendChild(document.createElement("button"));
    button.className = "fs-print";
    button.addEventListener("click", () => window.print());
  }
  button.textContent = data.label;
}
"""
_BUTTON_STYLE = """
.fs-print {font: inherit; font-size: 0.875rem; padding: 0.25rem 0.75rem; min-height: 2.5rem;
  cursor: pointer; color: var(--st-background-color); background: var(--st-primary-color);
  border: none; border-radius: var(--st-button-radius, 0.5rem);}
"""
_print_button = st.components.v2.component("fsdash_print", js=_PRINT, css=_BUTTON_STYLE)


def show() -> None:
    """Draw the page."""
    open_page(text.PAGE, URL)
    add_style(STYLE)
    st.title(text.TITLE, anchor=False)
    with st.container(horizontal=True, gap="large", key="choices"):
        view = segments(URL, "view", text.VIEW, text.VIEWS)
        level = segments(URL, "level", text.LEVEL, LEVEL_LABELS)
    if view == "sheet":
        draw_sheet(level)
    else:
        draw_list(level)
    URL.write()


@st.fragment
def draw_list(level: str) -> None:
    """The progress, and the exercises by page."""
    if results := URL.get("results"):
        draw_results(results)
    solved = read_progress()
    st.markdown(text.INTRODUCTION)
    st.progress(len(solved) / len(EXERCISES), text.solved(len(solved), len(EXERCISES)))
    draw_levels(solved)
    if solved:
        st.markdown(f"**{text.RESULTS_LINK}**", help=text.RESULTS_HELP)
        st.code(state.results_address(st.context.url, solved), language=None, wrap_lines=True)
    for page, exercises in state.shown(level).items():
        st.header(PAGES[page].title, anchor=False)
        for exercise in exercises:
            draw_folded(exercise, exercise.id in solved)
    st.button(
        text.FORGET,
        key="forget",
        help=text.FORGET_HELP,
        icon=":material/delete:",
        disabled=not solved,
        on_click=forget_progress,
    )


def draw_levels(solved: Collection[str]) -> None:
    """How many exercises of each level are solved."""
    with st.container(horizontal=True, gap="large"):
        for name, (n, of) in state.solved_by_level(solved).items():
            st.metric(LEVELS[name], f"{n} / {of}", width="content")


def draw_results(results: Collection[str]) -> None:
    """The results that a link holds: those of a student, or one's own in another browser."""
    with st.container(border=True, key="results"):
        st.markdown(text.in_link(len(results), len(EXERCISES)))
        draw_levels(results)
        titles = [f"{by_id(id).title} ({number_of(by_id(id))})" for id in results]
        st.caption(" · ".join(titles))
        st.button(text.ADD, key="add", help=text.ADD_HELP, on_click=add_results, args=(results,))


def add_results(results: Collection[str]) -> None:
    """Add the results of the link to the progress in this browser."""
    for id in results:
        add_solved(id)
    URL.put("results", [])


def draw_sheet(level: str) -> None:
    """The questions, and their solutions if wanted, as one text that can be printed."""
    with st.container(horizontal=True, vertical_alignment="center", key="paper"):
        solutions = st.toggle(text.SOLUTIONS, key=URL.key("solutions"))
        sheet = exercise_sheet(
            [exercise for group in state.shown(level).values() for exercise in group], solutions
        )
        _print_button(key="print", data={"label": text.PRINT}, width="content")
        st.download_button(text.DOWNLOAD, sheet, text.FILE, "text/markdown", on_click="ignore")
    st.markdown(sheet)
