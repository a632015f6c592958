"""The tab Class of the Teach page: creating a task, answering it, and its results."""

import pytest

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.teach import state, view
from fsdash.errors import InputError
from fsdash.figures.class_answers import answers_figure
from fsdash.runs.store.experiments import Store
from fsdash.teaching.exercises import by_id
from tests.dashboard.kit import address, figures, metrics, opened, words

PAGE = "9_Teach.py"
TOKEN = "0123456789abcdef"
HOSTILE = "<img src=x onerror=alert(1)> ![p](http://example.invalid/p.png) [a](javascript:alert(1))"


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def token(monkeypatch):
    """A browser that answers at once: AppTest has none."""
    monkeypatch.setattr(view, "browser_value", lambda name, initial: TOKEN)


def filled(link="Choose_T?budget=4", question="Which method?", options="FSVI\nMPI"):
    page = opened(PAGE, tab="class")
    page.text_input(key="class-link").set_value(link)
    page.text_area(key="class-question").set_value(question)
    page.text_area(key="class-options").set_value(options)
    return page


def created(**given):
    page = filled(**given)
    page.button[0].click().run()
    assert not page.exception
    return page


def test_a_task_is_created_and_shown_to_its_lecturer(store):
    page = created()
    found = address(page)
    task = store.class_tasks.get(found["task"])
    assert (task.page, task.query, task.options) == ("choose_t", {"budget": "4"}, ("FSVI", "MPI"))
    assert store.class_tasks.is_lecturer(task.id, found["key"])
    assert page.title[0].value == "Which method?"
    (shared,) = [block.value for block in page.code]
    assert f"task={task.id}" in shared and found["key"] not in shared
    assert metrics(page)["Answers"] == "0 answers"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"link": "http://example.com/evil"}, "This link leads to no page"),
        ({"link": "Teach?tab=class&task=abc&key=secret"}, "Home, The story, "),
        ({"link": "http://[::1"}, "This link cannot be read"),
        ({"question": " "}, "The question is empty"),
        ({"question": "x" * 4_000}, "The question has 4,000 characters; shorten it to 500"),
        ({"options": "only one"}, "Give 2 to 8 answers to choose from"),
        ({"options": "A\n" + "x" * 121}, "Answer 2 has 121 characters; shorten it to 120"),
    ],
)
def test_what_cannot_be_used_is_reported_with_the_remedy(given, problem):
    page = created(**given)
    (shown,) = page.error
    assert problem in shown.value
    assert "task" not in address(page)


def test_each_problem_stands_below_its_field():
    page = created(link="http://example.com/evil", question=" ", options="only one")
    kinds = [element.type for element in page.main]
    place = kinds.index("text_input")
    fields = ["text_input", "error", "text_area", "error", "text_area", "error"]
    assert kinds[place : place + 6] == fields
    assert "task" not in address(page)


def test_an_exercise_fills_the_form():
    page = opened(PAGE, tab="class")
    page.selectbox(key="class-exercise").set_value("error-grows").run()
    exercise = by_id("error-grows")
    assert page.text_input(key="class-link").value.startswith("Bounds?gamma=0.953&")
    assert page.text_area(key="class-question").value == exercise.question
    assert page.text_area(key="class-options").value.splitlines() == list(
        exercise.answer.options.values()
    )


def test_a_student_answers_and_changes_the_answer(store, token):
    task, secret = store.class_tasks.add("choose_t", {}, "Which?", ("A", "B"))
    page = opened(PAGE, task=task.id)
    page.button(key="class-send").click().run()
    assert "Choose an answer" in page.error[0].value
    for choice in (1, 0):
        page.radio(key=f"answer-{task.id}").set_value(choice).run()
        page.button(key="class-send").click().run()
        assert f"Your answer has arrived: **{'AB'[choice]}**" in [box.value for box in page.success]
    assert store.class_tasks.values(task.id, secret) == [0]


def test_a_student_answers_with_a_number(store, token):
    task, secret = store.class_tasks.add("choose_t", {}, "How many?")
    page = opened(PAGE, task=task.id)
    page.number_input(key=f"answer-{task.id}").set_value(53.0).run()
    page.button(key="class-send").click().run()
    assert store.class_tasks.values(task.id, secret) == [53]


def test_a_student_sees_neither_answers_nor_the_lecturers_buttons(store, token):
    task, secret = store.class_tasks.add("choose_t", {}, "Which?", ("A", "B"))
    for key in ({}, {"key": "wrong"}):
        page = opened(PAGE, task=task.id, **key)
        assert not figures(page) and not metrics(page) and not page.toggle
        assert ["key" in box.value for box in page.warning] == [True] * len(key)
    store.class_tasks.set_open(task.id, secret, False)
    page = opened(PAGE, task=task.id)
    assert [box.value for box in page.info] == [
        "The task is closed: answers are no longer accepted."
    ]
    assert "class-send" not in [button.key for button in page.button]


def test_without_a_browsers_token_nothing_can_be_sent(store):
    task, _ = store.class_tasks.add("choose_t", {}, "Which?", ("A", "B"))
    assert opened(PAGE, task=task.id).button(key="class-send").disabled


def test_the_lecturer_sees_the_answers_and_ends_the_task(store):
    task, secret = store.class_tasks.add("choose_t", {}, "Which?", ("A", "B"))
    for n in range(3):
        store.class_tasks.answer(task.id, f"browser-{n}", n % 2)
    page = opened(PAGE, task=task.id, key=secret)
    assert metrics(page)["Answers"] == "3 answers"
    (bars,) = figures(page)["class-answers"]["data"]
    assert bars["x"] == [2, 1]
    page.toggle(key=view.SHOWN).set_value(False).run()
    assert not figures(page) and metrics(page)["Answers"] == "3 answers"
    page.toggle(key=view.SHOWN).set_value(True).run()
    assert figures(page)
    page.toggle(key="class-open").set_value(False).run()
    assert not store.class_tasks.get(task.id).is_open
    store.class_tasks.set_open(task.id, secret, True)  # as in another tab
    assert page.run().toggle(key="class-open").value is True
    page.button(key="class-clear").click().run()
    assert store.class_tasks.count(task.id) == 0
    page.button(key="class-delete").click().run()
    assert [box.value for box in page.success] == ["The task and its answers were deleted."]
    assert address(page) == {"tab": "class"}
    with pytest.raises(InputError, match="deleted"):
        store.class_tasks.get(task.id)


def test_a_task_that_is_gone_is_reported():
    page = opened(PAGE, task="abcdefgh", key="secret")
    assert "expired or been deleted" in page.warning[0].value
    assert page.text_input(key="class-link") and address(page) == {"tab": "class"}


def test_hostile_text_is_never_html_nor_an_image_nor_a_link(store, token):
    task, secret = store.class_tasks.add("choose_t", {}, HOSTILE, (HOSTILE[:100], "B"))
    store.class_tasks.answer(task.id, "browser-1", 0)
    student, lecturer = opened(PAGE, task=task.id), opened(PAGE, task=task.id, key=secret)
    for page in (student, lecturer):
        assert page.title[0].value.startswith("\\<img") and "![p](" not in page.title[0].value
        assert "<img" not in words(page).replace("\\<img", "")
    assert "<" not in student.radio[0].options[0].replace("\\<", "")
    figure = figures(lecturer)["class-answers"]
    assert "<img" not in str(figure["layout"]["yaxis"]["ticktext"])


# --------------------------------------------------------------------------------------- pure parts


@pytest.mark.parametrize("page", [key for key in PAGES if key != "home"])
def test_every_other_page_can_be_linked(page):
    link = f"https://host:1/base/{PAGES[page].address(a='1', tour='lecturer.1')}"
    assert state.parse_link(link) == (page, {"a": "1"})
    assert state.parse_link(state.page_address(page, {"a": "x y&"})) == (page, {"a": "x y&"})


@pytest.mark.parametrize("link", ["", "/", "http://127.0.0.1:8501", "./?view=lower"])
def test_home_can_be_linked(link):
    assert state.parse_link(link)[0] == "home"


def test_the_link_for_the_class_has_no_key():
    base = "http://host:8501/Teach?tab=class&task=a&key=secret"
    link = state.teach_address(base, tab="class", task="abc")
    assert link == "http://host:8501/Teach?tab=class&task=abc"


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:8501/Teach", True),
        ("http://[::1]:8501/Teach", True),
        ("https://dash.example.org/Teach?key=a", False),
        (None, False),
    ],
)
def test_a_lecturer_on_this_computer_is_told_that_phones_cannot_open_the_link(address, local):
    assert state.is_local(address) == local


def test_the_axis_has_whole_numbers():
    assert answers_figure(["A", "B"], [0, 0]).layout.xaxis.dtick == 1
    assert answers_figure(["A", "B"], [20, 7]).layout.xaxis.dtick is None


def test_bars_of_options_and_numbers():
    assert state.bars(("A", "B", "C"), [0, 2, 2]) == (["A", "B", "C"], [1, 0, 2])
    assert state.bars((), [2.0, 2.0, -1.5]) == (["-1.5", "2"], [1, 2])
    labels, counts = state.bars((), list(range(100)))
    assert len(labels) == state.MAX_BARS and sum(counts) == 100
    assert state.bars((), []) == ([], [])


def test_the_figure_has_a_bar_for_each_label_in_order():
    figure = answers_figure(["<b>x</b>", "y" * 99], [3, 0])
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;x&lt;/b&gt;", "y" * 47 + "…"]
    assert list(figure.data[0].x) == [3, 0]
