"""Exercises on a page: a question, an answer that is checked, a hint and a solution.

`draw_exercises` is for the page that the exercises are about, `draw_folded` for other pages.
`fsdash.teaching.exercises` has the exercises.
"""

import streamlit as st

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.widgets.progress import add_solved, read_progress
from fsdash.dashboard.widgets.url_state import Reader, UrlState, report_unusable
from fsdash.teaching.exercises import EXERCISES, LEVELS, Exercise, by_id, by_page
from fsdash.teaching.exercises.base import ChoiceAnswer, NumberAnswer, StateAnswer

PARAMETER = "exercise"
"""In the URL: the exercise for which a page was opened. The page shows its question at the top."""
CHECK, CHECK_PAGE = "Check", "Check this page"
CHECK_ON_PAGE = "The answer is a state of the page: open it, and check it there."
YOUR_ANSWER = "Your answer"
HINT, SOLUTION = "Hint", "Solution"
SOLVED = "solved"


def number_of(exercise: Exercise) -> int:
    """The number of an exercise, the same on its page, on the Teach page and on the sheet."""
    return EXERCISES.index(exercise) + 1


def open_label(exercise: Exercise) -> str:
    return f"Open {PAGES[exercise.page].title} for this exercise"


def title_of(exercise: Exercise, solved: bool) -> str:
    """Number, title and level, and whether it is solved."""
    mark = f" · {SOLVED}" if solved else ""
    return f"**{number_of(exercise)}.** {exercise.title} · {LEVELS[exercise.level]}{mark}"


@st.fragment
def draw_asked(url: UrlState) -> None:
    """The exercise for which a page was opened, at its top."""
    asked, problems = Reader(by_id).usable(PARAMETER, st.query_params[PARAMETER])
    report_unusable(problems)
    for exercise in asked:
        with st.container(border=True, key="asked"):
            st.markdown(title_of(exercise, exercise.id in read_progress("-asked")))
            draw_exercise(exercise, url, asked=True)


def draw_exercises(page: str, url: UrlState) -> None:
    """The exercises of a page or of its open tab, but for the one at the page's top.

    `url` has the values by which a state is checked.
    """
    solved, asked = read_progress(), st.query_params.get(PARAMETER)
    for exercise in by_page(page):
        if exercise.id != asked and _is_on_open_tab(exercise, url):
            with st.container(border=True):
                st.markdown(title_of(exercise, exercise.id in solved))
                draw_exercise(exercise, url)


def _is_on_open_tab(exercise: Exercise, url: UrlState) -> bool:
    if (tab := url.parameters.get("tab")) is None:
        return True
    name = exercise.state.get("tab")
    return url.get("tab") == (tab.default if name is None else tab.read(name))


def draw_folded(exercise: Exercise, solved: bool) -> None:
    """An exercise on another page than its own; its content is drawn when it is opened."""
    icon = ":material/check_circle:" if solved else ":material/help:"
    section = st.expander(
        title_of(exercise, solved), icon=icon, key=f"exercise-{exercise.id}", on_change="rerun"
    )
    if section.open:
        with section:
            draw_exercise(exercise)


def draw_exercise(exercise: Exercise, url: UrlState | None = None, asked: bool = False) -> None:
    """Question, answer, hint and solution.

    Without `url` the exercise is not on its own page, and a state cannot be checked. The page of
    an exercise that was `asked` is open in its state already.
    """
    key = f"exercise-{exercise.id}"
    st.markdown(exercise.question)
    if not asked and (exercise.state or url is None):
        st.page_link(
            PAGES[exercise.page].script,
            label=open_label(exercise),
            icon=":material/open_in_browser:",
            query_params={**exercise.state, PARAMETER: exercise.id},
        )
    _draw_answer(exercise, key, url)
    with st.container(horizontal=True, gap="medium"):
        hint = st.toggle(HINT, key=f"{key}-hint")
        solution = st.toggle(SOLUTION, key=f"{key}-solution")
    if hint:
        st.info(exercise.hint, icon=":material/lightbulb:")
    if solution:
        st.markdown(exercise.solution_text())


def _draw_answer(exercise: Exercise, key: str, url: UrlState | None) -> None:
    """The input, the button and what the check found."""
    answer = exercise.answer
    if isinstance(answer, NumberAnswer):
        unit = f" ({answer.unit})" if answer.unit else ""
        label = f"{YOUR_ANSWER}{unit}"
        st.number_input(label, value=None, format="%.8g", key=f"{key}-answer", width=260)
    elif isinstance(answer, ChoiceAnswer):
        st.radio(
            YOUR_ANSWER,
            tuple(answer.options),
            index=None,
            format_func=answer.options.get,
            key=f"{key}-answer",
        )
    elif url is None:
        st.caption(CHECK_ON_PAGE)
        return
    label = CHECK_PAGE if isinstance(answer, StateAnswer) else CHECK
    arguments = exercise, key, url
    st.button(label, key=f"{key}-check", type="primary", on_click=_check, args=arguments)
    checked, verdict = st.session_state.get(f"{key}-verdict", (None, None))
    if verdict is not None and checked == _answer(exercise, key, url):
        (st.success if verdict.right else st.warning)(verdict.message)


def _answer(exercise: Exercise, key: str, url: UrlState | None) -> object:
    """The visitor's answer: what was typed or chosen, or the values of the page."""
    if isinstance(exercise.answer, StateAnswer):
        return {} if url is None else {name: url.get(name) for name in url.parameters}
    return st.session_state.get(f"{key}-answer")


def _check(exercise: Exercise, key: str, url: UrlState | None) -> None:
    answer = _answer(exercise, key, url)
    verdict = exercise.check(answer)
    st.session_state[f"{key}-verdict"] = answer, verdict
    if verdict.right:
        add_solved(exercise.id)
        if url is None:
            st.session_state[key] = True  # a section whose label changes would fold
