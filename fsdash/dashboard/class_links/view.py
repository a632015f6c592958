"""The page Class: a lecturer creates a task, a class answers it, and the answers appear as bars."""

import secrets
from statistics import fmean, median

import streamlit as st

from fsdash.dashboard.class_links import state, text
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.service import open_store, show_store_error
from fsdash.dashboard.shell import add_style, open_page
from fsdash.dashboard.visitors import network_address, visitor_id
from fsdash.dashboard.widgets.browser_storage import browser_value
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.exercise import number_of
from fsdash.dashboard.widgets.url_state import Reader, UrlParameter, UrlState
from fsdash.errors import InputError
from fsdash.figures.class_answers import answers_figure
from fsdash.formatting import as_sentence, escape_markdown
from fsdash.runs.errors import StoreError
from fsdash.runs.store.class_tasks import MAX_TOKEN, ClassTask
from fsdash.runs.store.experiments import Store
from fsdash.teaching.exercises.base import ChoiceAnswer

REFRESH_SECONDS = 2.0
ROW_HEIGHT, AXIS_HEIGHT = 52, 90
"""Pixels of a bar with its gap, and of the axis below."""
PROBLEM, MESSAGE, TOKEN = "class-problem", "class-message", "class-token"
"""Session keys: what went wrong, by field; what was done; the browser's token for the task."""
SHOWN = "class-shown"
"""Session key: whether the lecturer sees the answers, not only their number."""
STYLE = "<style>.st-key-question h1 {font-size: clamp(1.4rem, 4vw, 2.2rem);}</style>"
"""A question is longer than other titles."""
FIELDS = {"link": "class-link", "question": "class-question", "options": "class-options"}


def word(longest: int) -> Reader:
    """Reads letters, digits, - and _, as ids and keys have them."""

    def parse(value: str) -> str:
        if len(value) > longest or not value.replace("-", "").replace("_", "").isalnum():
            raise ValueError(value)
        return value

    return Reader(parse, "copy the link again")


URL = UrlState(
    "class", {"task": UrlParameter(None, word(16)), "key": UrlParameter(None, word(MAX_TOKEN))}
)


def show() -> None:
    """Draw the page."""
    open_page(text.PAGE, URL)
    store = open_store()
    try:
        draw(store)
    except StoreError as trouble:
        show_store_error(trouble)
    URL.write()


def draw(store: Store) -> None:
    """The task in the URL for its lecturer or for the class, or a form for a new one."""
    task = None
    if (id := URL.get("task")) is not None:
        try:
            task = store.class_tasks.get(id)
        except InputError as problem:
            st.warning(as_sentence(problem))
            URL.put("task", None)
            URL.put("key", None)
    if message := st.session_state.pop(MESSAGE, None):
        st.success(message)
    if task is None:
        draw_form(store)
    elif (key := URL.get("key")) is None:
        draw_student(store, task)
    elif store.class_tasks.is_lecturer(task.id, key):
        draw_lecturer(store, task, key)
    else:
        st.warning(text.WRONG_KEY)
        draw_student(store, task)


# ----------------------------------------------------------------------------------- the new task


def draw_form(store: Store) -> None:
    """The form for a new task, which an exercise can fill in."""
    st.title(text.TITLE, anchor=False)
    st.markdown(text.INTRODUCTION)
    exercises = state.usable_exercises()
    st.selectbox(
        text.FROM_EXERCISE,
        (None, *exercises),
        format_func=lambda id: (
            f"{number_of(exercises[id])}. {exercises[id].title}" if id else text.NO_EXERCISE
        ),
        key="class-exercise",
        on_change=fill_from_exercise,
    )
    with st.form("new-task"):
        st.text_input(
            text.LINK, key=FIELDS["link"], help=text.LINK_HELP, placeholder=text.LINK_EXAMPLE
        )
        show_problem("link")
        st.text_area(text.QUESTION, key=FIELDS["question"], height=90)
        show_problem("question")
        st.text_area(text.OPTIONS, key=FIELDS["options"], help=text.OPTIONS_HELP, height=140)
        show_problem("options")
        st.segmented_control(
            text.DAYS,
            tuple(text.DAY_LABELS),
            default=1,
            required=True,
            format_func=text.DAY_LABELS.get,
            key="class-days",
        )
        st.form_submit_button(text.CREATE, type="primary", on_click=create, args=(store,))
        show_problem()


def fill_from_exercise() -> None:
    """Fill the form with an exercise."""
    id = st.session_state["class-exercise"]
    if id is None:
        return
    exercise = state.usable_exercises()[id]
    answer = exercise.answer
    options = answer.options.values() if isinstance(answer, ChoiceAnswer) else ()
    st.session_state[FIELDS["link"]] = state.page_address(exercise.page, dict(exercise.state))
    st.session_state[FIELDS["question"]] = exercise.question
    st.session_state[FIELDS["options"]] = "\n".join(options)


def create(store: Store) -> None:
    """Create the task of the form, and show it to its lecturer."""
    values, problems = state.read_form({name: st.session_state[FIELDS[name]] for name in FIELDS})
    if problems:
        st.session_state[PROBLEM] = problems
        return
    (page, query), question, options = values["link"], values["question"], values["options"]
    try:
        days = st.session_state["class-days"]
        task, secret = store.class_tasks.add(
            page, query, question, options, days, owner=visitor_id(), address=network_address()
        )
    except (InputError, StoreError) as problem:
        report(problem)
        return
    URL.put("task", task.id)
    URL.put("key", secret)


def report(problem: Exception) -> None:
    """Show what went wrong with the last click, next to the button."""
    st.session_state[PROBLEM] = {"": str(problem)}


def show_problem(field: str = "") -> None:
    """What was wrong with a field at the last click, or with the click itself."""
    if problem := st.session_state.get(PROBLEM, {}).pop(field, None):
        st.error(escape_markdown(as_sentence(problem)))


# ------------------------------------------------------------------------------------ the lecturer


def draw_lecturer(store: Store, task: ClassTask, key: str) -> None:
    """The question, its link, the answers as they arrive, and what the lecturer can do."""
    draw_question(task)
    st.markdown(f"**{text.STUDENT_LINK}**")
    st.code(state.task_address(st.context.url, task.id), language=None, wrap_lines=True)
    if state.is_local(st.context.url):
        st.warning(text.LOCAL_LINK)
    draw_answers(store, task, key)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.toggle(text.SHOW, True, key=SHOWN, help=text.SHOW_HELP)
        st.session_state["class-open"] = task.is_open  # maybe changed in another tab
        st.toggle(
            text.ACCEPTING, key="class-open", on_change=change, args=(store, task, key, "open")
        )
        with st.popover(text.DELETION, icon=":material/delete:"):
            st.markdown(text.DELETION_QUESTION)
            for action, label, help in (
                ("clear", text.CLEAR, text.CLEAR_HELP),
                ("delete", text.DELETE, text.DELETE_HELP),
            ):
                st.button(
                    label,
                    key=f"class-{action}",
                    help=help,
                    on_click=change,
                    args=(store, task, key, action),
                    width="stretch",
                )
        st.button(text.NEW, key="class-new", icon=":material/add:", on_click=leave)
    show_problem()
    st.caption(text.LECTURER_LINK)


@st.fragment(run_every=REFRESH_SECONDS)
def draw_answers(store: Store, task: ClassTask, key: str) -> None:
    """The answers so far; this part refreshes by itself."""
    try:
        values = store.class_tasks.values(task.id, key)
    except (InputError, StoreError) as problem:  # deleted in another tab, or no store
        st.warning(escape_markdown(as_sentence(problem)))
        return
    st.metric(text.RESULTS, text.count(len(values)))
    if not st.session_state.get(SHOWN, True):
        return
    labels, counts = state.bars(task.options, values)
    if not task.options and values:
        st.markdown(text.mean_and_median(fmean(values), median(values)))
    if labels:
        chart(
            answers_figure(labels, counts),
            "class-answers",
            alt_text=text.alt_text(task.question, labels, counts),
            height=AXIS_HEIGHT + ROW_HEIGHT * len(labels),
        )


def change(store: Store, task: ClassTask, key: str, action: str) -> None:
    """Close or open the task, or delete its answers or all of it."""
    tasks = store.class_tasks
    try:
        if action == "open":
            tasks.set_open(task.id, key, st.session_state["class-open"])
        elif action == "clear":
            tasks.clear(task.id, key)
        else:
            tasks.delete(task.id, key)
            st.session_state[MESSAGE] = text.DELETED
            leave()
    except (InputError, StoreError) as problem:
        report(problem)


def leave() -> None:
    """Show the form for a new task."""
    URL.put("task", None)
    URL.put("key", None)


# ---------------------------------------------------------------------------------------- the class


def draw_question(task: ClassTask) -> None:
    """The question and a link to the page it is about."""
    add_style(STYLE)
    with st.container(key="question"):
        st.title(escape_markdown(task.question), anchor=False)
    address = state.page_address(task.page, task.query)
    st.link_button(text.open_page(PAGES[task.page].title), address, icon=":material/open_in_new:")


def draw_student(store: Store, task: ClassTask) -> None:
    """The question and a place for the answer."""
    draw_question(task)
    token = browser_token(task)
    given = store.class_tasks.answer_of(task.id, token) if token else None
    if not task.is_open:
        st.info(text.CLOSED)
    elif task.options:
        st.radio(
            text.YOUR_ANSWER,
            range(len(task.options)),
            index=None if given is None else int(given),
            format_func=lambda place: escape_markdown(task.options[place]),
            key=f"answer-{task.id}",
        )
    else:
        st.number_input(
            text.YOUR_ANSWER, value=given, format="%.8g", key=f"answer-{task.id}", width=260
        )
    show_problem()
    if given is not None:
        st.success(text.answered(text.answer_label(task.options, given)))
    if task.is_open:
        st.button(
            text.SEND if given is None else text.CHANGE,
            key="class-send",
            type="primary",
            disabled=token is None,
            help=text.WAITING if token is None else None,
            on_click=send,
            args=(store, task, token),
        )
        st.caption(text.ANONYMOUS)


def browser_token(task: ClassTask) -> str | None:
    """The browser's random token for this task; None until the browser has answered."""
    fresh = st.session_state.setdefault(f"{TOKEN}-{task.id}", secrets.token_hex(16))
    return browser_value(f"class-{task.id}", initial=fresh) or None


def send(store: Store, task: ClassTask, token: str) -> None:
    """Store the answer."""
    try:
        store.class_tasks.answer(task.id, token, st.session_state[f"answer-{task.id}"])
    except (InputError, StoreError) as problem:
        report(problem)
