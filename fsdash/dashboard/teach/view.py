"""The Teach page: exercises with the visitor's progress, and questions to a class.

A lecturer creates a task, a class answers it, and the answers appear as bars. The link of a task
shows its question alone.
"""

import secrets
from collections.abc import Collection
from statistics import fmean, median

import streamlit as st

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.service import open_store, show_store_error
from fsdash.dashboard.shell import add_style, open_page, open_tab, segments
from fsdash.dashboard.teach import state
from fsdash.dashboard.visitors import network_address, visitor_id
from fsdash.dashboard.widgets.browser_storage import browser_value
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.exercise import draw_folded, number_of
from fsdash.dashboard.widgets.progress import add_solved, forget_progress, read_progress
from fsdash.dashboard.widgets.url_state import (
    Reader,
    UrlParameter,
    UrlState,
    comma_separated,
    labelled,
    list_of,
    one_of,
    switch,
)
from fsdash.errors import InputError
from fsdash.figures.class_answers import answers_figure
from fsdash.formatting import as_sentence, escape_markdown, number
from fsdash.runs.errors import StoreError
from fsdash.runs.store.class_tasks import MAX_TOKEN, ClassTask
from fsdash.runs.store.experiments import Store
from fsdash.teaching.exercises import EXERCISES, LEVELS, by_id
from fsdash.teaching.exercises.base import ChoiceAnswer
from fsdash.teaching.sheet import exercise_sheet

TABS = {"exercises": "Exercises", "class": "Class"}
VIEWS = {"list": "Exercises and progress", "sheet": "Printable sheet"}
LEVEL_LABELS = {state.ALL: "All"} | LEVELS
DAYS = {1: "1 day", 7: "1 week", 30: "30 days"}
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
    "teach",
    {
        "tab": labelled("exercises", TABS),
        "view": UrlParameter("list", one_of(VIEWS)),
        "level": UrlParameter(state.ALL, one_of(LEVEL_LABELS)),
        "solutions": switch(False),
        "results": UrlParameter(
            [], list_of(one_of([one.id for one in EXERCISES]), len(EXERCISES)), comma_separated
        ),
        "task": UrlParameter(None, word(16)),
        "key": UrlParameter(None, word(MAX_TOKEN)),
    },
)
# On paper there is only the sheet, in black on white, over the whole width.
PAPER = """<style>
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], .st-key-choices, .st-key-paper,
    [role="tablist"], [data-testid="stHeadingWithActionElements"]:has(h1)
    {display: none !important;}
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
    """Draw the page; the link of a task shows nothing but its question."""
    open_page("Teach", URL)
    if URL.get("task") is None:
        st.title("Learn and teach", anchor=False)
        tab, box = open_tab(URL, TABS, {"exercises": ("view", "level", "solutions"), "class": ()})
        with box:
            draw_exercises() if tab == "exercises" else draw_class()
    else:
        URL.put("tab", TABS["class"])
        draw_class()
    URL.write()


# -------------------------------------------------------------------------------------- exercises


def draw_exercises() -> None:
    """The list with the visitor's progress, or the sheet."""
    add_style(PAPER)
    with st.container(horizontal=True, gap="large", key="choices"):
        view = segments(URL, "view", "View", VIEWS)
        level = segments(URL, "level", "Level", LEVEL_LABELS)
    if view == "sheet":
        draw_sheet(level)
    else:
        draw_list(level)


@st.fragment
def draw_list(level: str) -> None:
    """The progress, and the exercises by page."""
    if results := URL.get("results"):
        draw_results(results)
    solved = read_progress()
    st.markdown("Open the page of an exercise, answer it there or here, and check your answer.")
    st.progress(len(solved) / len(EXERCISES), count_solved(solved))
    draw_levels(solved)
    if solved:
        st.markdown(
            "**Link with my results**",
            help="Open this link in another browser to continue there, or send it to your "
            "lecturer. It holds the solved exercises and no name. Nothing is stored on the server.",
        )
        st.code(state.results_address(st.context.url, solved), language=None, wrap_lines=True)
    for page, exercises in state.shown(level).items():
        st.header(PAGES[page].title, anchor=False)
        for exercise in exercises:
            draw_folded(exercise, exercise.id in solved)
    st.button(
        "Delete my progress",
        key="forget",
        help="Your progress is stored in this browser only.",
        icon=":material/delete:",
        disabled=not solved,
        on_click=forget_progress,
    )


def count_solved(solved: Collection[str]) -> str:
    """Such as: 3 of 35 exercises solved."""
    return f"{len(solved)} of {len(EXERCISES)} exercises solved"


def draw_levels(solved: Collection[str]) -> None:
    """How many exercises of each level are solved."""
    with st.container(horizontal=True, gap="large"):
        for name, (n, of) in state.solved_by_level(solved).items():
            st.metric(LEVELS[name], f"{n} / {of}", width="content")


def draw_results(results: Collection[str]) -> None:
    """The results that a link holds: those of a student, or one's own in another browser."""
    with st.container(border=True, key="results"):
        st.markdown(f"**Results in this link: {count_solved(results)}**")
        draw_levels(results)
        titles = [f"{by_id(id).title} ({number_of(by_id(id))})" for id in results]
        st.caption(" · ".join(titles))
        st.button("Add them to my progress", key="add", on_click=add_results, args=(results,))


def add_results(results: Collection[str]) -> None:
    """Add the results of the link to the progress in this browser."""
    for id in results:
        add_solved(id)
    URL.put("results", [])


def draw_sheet(level: str) -> None:
    """The questions, and their solutions if wanted, as one text that can be printed."""
    with st.container(horizontal=True, vertical_alignment="center", key="paper"):
        solutions = st.toggle("With solutions", key=URL.key("solutions"))
        sheet = exercise_sheet(
            [exercise for group in state.shown(level).values() for exercise in group], solutions
        )
        _print_button(key="print", data={"label": "Print"}, width="content")
        st.download_button(
            "Download as Markdown",
            sheet,
            "fsdash-exercises.md",
            "text/markdown",
            on_click="ignore",
        )
    st.markdown(sheet)


# ------------------------------------------------------------------------------------------- class


def draw_class() -> None:
    """The task in the URL, or a form for a new one."""
    store = open_store()
    try:
        draw_task(store)
    except StoreError as trouble:
        show_store_error(trouble)


def draw_task(store: Store) -> None:
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
        st.warning("The key in this link is wrong. Open the task with your own link.")
        draw_student(store, task)


# ----------------------------------------------------------------------------------- the new task


def draw_form(store: Store) -> None:
    """The form for a new task, which an exercise can fill in."""
    st.markdown(
        "Share a page with a question as one link, and watch the answers arrive; they are "
        "anonymous: no name, no address and no time is stored."
    )
    exercises = state.usable_exercises()
    st.selectbox(
        "Start from an exercise",
        (None, *exercises),
        format_func=lambda id: (
            f"{number_of(exercises[id])}. {exercises[id].title}" if id else "none"
        ),
        key="class-exercise",
        on_change=fill_from_exercise,
    )
    with st.form("new-task"):
        st.text_input(
            "Link to the page",
            key=FIELDS["link"],
            help="Set the page up as the class should see it, then copy its address from the "
            "browser. It must be a page of this dashboard.",
            placeholder="such as Choose_T?budget=4",
        )
        show_problem("link")
        st.text_area("Question", key=FIELDS["question"], height=90)
        show_problem("question")
        st.text_area(
            "Answers to choose from, one per line",
            key=FIELDS["options"],
            help="Leave this empty to ask for a number.",
            height=140,
        )
        show_problem("options")
        st.segmented_control(
            "The task expires after",
            tuple(DAYS),
            default=1,
            required=True,
            format_func=DAYS.get,
            key="class-days",
        )
        st.form_submit_button("Create the task", type="primary", on_click=create, args=(store,))
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
    st.markdown("**Link for the class**")
    address = state.teach_address(st.context.url, tab="class", task=task.id)
    st.code(address, language=None, wrap_lines=True)
    if state.is_local(st.context.url):
        st.warning(
            "This link works on this computer only. Start the server for the network (`make run "
            "HOST=0.0.0.0`), open the dashboard at the network address of this computer, such as "
            "`http://192.168.0.7:8501`, and open your task there. The link then has that address."
        )
    draw_answers(store, task, key)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.toggle(
            "Show the answers", True, key=SHOWN, help="Hide them until everyone has answered."
        )
        st.session_state["class-open"] = task.is_open  # maybe changed in another tab
        st.toggle(
            "Accept answers", key="class-open", on_change=change, args=(store, task, key, "open")
        )
        with st.popover("Delete", icon=":material/delete:"):
            st.markdown("What do you want to delete? This cannot be undone.")
            for action, label, help in (
                ("clear", "Delete the answers", "Keeps the task, so that you can ask again."),
                ("delete", "Delete the task", "Deletes the task and its answers permanently."),
            ):
                st.button(
                    label,
                    key=f"class-{action}",
                    help=help,
                    on_click=change,
                    args=(store, task, key, action),
                    width="stretch",
                )
        st.button("New task", key="class-new", icon=":material/add:", on_click=leave)
    show_problem()
    st.caption(
        "The address of this page holds your key. Keep it to come back to the results, and do not "
        "share it: anyone who has it can close and delete the task."
    )


@st.fragment(run_every=REFRESH_SECONDS)
def draw_answers(store: Store, task: ClassTask, key: str) -> None:
    """The answers so far; this part refreshes by itself."""
    try:
        values = store.class_tasks.values(task.id, key)
    except (InputError, StoreError) as problem:  # deleted in another tab, or no store
        st.warning(escape_markdown(as_sentence(problem)))
        return
    st.metric("Answers", f"{len(values):,} answer{'' if len(values) == 1 else 's'}")
    if not st.session_state.get(SHOWN, True):
        return
    labels, counts = state.bars(task.options, values)
    if not task.options and values:
        st.markdown(f"Mean {number(fmean(values))}, median {number(median(values))}.")
    if labels:
        parts = ", ".join(f"{label}: {n}" for label, n in zip(labels, counts, strict=True))
        chart(
            answers_figure(labels, counts),
            "class-answers",
            alt_text=f"Answers to “{task.question}”. {parts}.",
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
            st.session_state[MESSAGE] = "The task and its answers were deleted."
            leave()
    except (InputError, StoreError) as problem:
        report(problem)


def leave() -> None:
    """Show the form for a new task."""
    URL.put("tab", TABS["class"])
    URL.put("task", None)
    URL.put("key", None)


# ---------------------------------------------------------------------------------------- the class


def draw_question(task: ClassTask) -> None:
    """The question and a link to the page it is about."""
    add_style(STYLE)
    with st.container(key="question"):
        st.title(escape_markdown(task.question), anchor=False)
    address = state.page_address(task.page, task.query)
    label = f"Open {PAGES[task.page].title} in a new tab"
    st.link_button(label, address, icon=":material/open_in_new:")


def draw_student(store: Store, task: ClassTask) -> None:
    """The question and a place for the answer."""
    draw_question(task)
    token = browser_token(task)
    given = store.class_tasks.answer_of(task.id, token) if token else None
    if not task.is_open:
        st.info("The task is closed: answers are no longer accepted.")
    elif task.options:
        st.radio(
            "Your answer",
            range(len(task.options)),
            index=None if given is None else int(given),
            format_func=lambda place: escape_markdown(task.options[place]),
            key=f"answer-{task.id}",
        )
    else:
        st.number_input(
            "Your answer", value=given, format="%.8g", key=f"answer-{task.id}", width=260
        )
    show_problem()
    if given is not None:
        answer = escape_markdown(task.options[int(given)]) if task.options else number(given)
        st.success(f"Your answer has arrived: **{answer}**")
    if task.is_open:
        st.button(
            "Send" if given is None else "Change my answer",
            key="class-send",
            type="primary",
            disabled=token is None,
            help="Waiting for the browser …" if token is None else None,
            on_click=send,
            args=(store, task, token),
        )
        st.caption(
            "Your answer is anonymous. Each browser counts once; you can change your answer."
        )


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
