"""The course pack: its notebook runs, its links open what they say, its sheets are up to date."""

import json
import re
from itertools import accumulate
from pathlib import Path

import pytest

from fsdash.dashboard.bounds import view as bounds_view
from fsdash.dashboard.choose_t import state as measured
from fsdash.dashboard.choose_t import text as measured_text
from fsdash.dashboard.choose_t import view as choose_t_view
from fsdash.dashboard.home import view as home_view
from fsdash.dashboard.inspector import url as inspector_url
from fsdash.dashboard.story import presenter
from fsdash.dashboard.story import sections as story_sections
from fsdash.dashboard.story import state as story_state
from fsdash.dashboard.story.section_texts import SECTIONS
from fsdash.dashboard.teach import view as teach_view
from fsdash.dashboard.teach.state import parse_link
from fsdash.dashboard.widgets.url_state import usable_values
from fsdash.dashboard.your_model import url as your_model_url
from fsdash.teaching.exercises import EXERCISES, by_page
from tools import exercise_sheet

FOLDER = Path(__file__).parents[2] / "docs" / "teaching"
PAGES = sorted(FOLDER.glob("*.md"))
DASHBOARD = "http://127.0.0.1:8501/"
URLS = {
    "home": home_view.URL,
    "story": story_sections.URL,
    "bounds": bounds_view.URL,
    "choose_t": choose_t_view.URL,
    "your_model": your_model_url.URL,
    "inspector": inspector_url.URL,
    "teach": teach_view.URL,
}
LINKS = sorted(
    {
        link
        for page in PAGES
        for link in re.findall(rf"\(({re.escape(DASHBOARD)}[^)]*)\)", page.read_text("utf-8"))
    }
)


def test_the_notebook_runs_from_the_first_to_the_last_cell(capsys):
    notebook = json.loads((FOLDER / "freezing.ipynb").read_text("utf-8"))
    names: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), names)
    # What the text between the cells says.
    assert list(names["sweeps"]) == sorted(names["sweeps"])
    first, *later = names["by_phase"]
    assert len(later) == 2 and sum(later) == 0 < first
    assert names["true"] <= names["certificate"] <= names["possible"] < names["bound"]
    assert "the bound is vacuous" in capsys.readouterr().out
    replanning = names["replanning"]
    assert replanning["rolling freeze"].min() < 0.1 * replanning["FSVI"].min()
    assert names["slow"].suits and not names["fast"].suits


def test_the_notebook_has_the_ten_sections_of_the_story():
    cells = json.loads((FOLDER / "freezing.ipynb").read_text("utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    assert [int(n) for n in re.findall(r"^## (\d+)\. ", text, re.MULTILINE)] == [*range(1, 11)]


@pytest.mark.parametrize("link", LINKS)
def test_every_link_opens_a_page_in_a_usable_state(link):
    if link == f"{DASHBOARD}Teach?tab=class":  # a link that no task can have
        return
    page, query = parse_link(link)
    values, problems = usable_values(query, URLS[page].parameters)
    assert not problems and set(values) == set(query)


@pytest.mark.parametrize("name", ["exercises.md", "solutions.md"])
def test_the_sheets_are_up_to_date(name):
    written = (FOLDER / name).read_text("utf-8")
    assert written == exercise_sheet.pages()[name], "run python -m tools.exercise_sheet"


def test_the_lesson_of_50_minutes_has_the_times_of_the_speaker_notes():
    plan = (FOLDER / "lesson-50.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+)–(\d+) \| (\*\*|(\d+)\. )", plan, re.MULTILINE)
    spans = [(int(start), int(end), number) for start, end, _, number in rows]
    assert [start for start, _, _ in spans] == [0, *(end for _, end, _ in spans[:-1])]
    assert spans[-1][1] == 50
    minutes = [end - start for start, end, number in spans if number]
    assert minutes == [section.minutes for section in SECTIONS]
    assert [end for _, end, number in spans if number] == presenter.until(50)


def test_the_questions_to_the_class_have_the_answers_that_the_plan_says():
    # The first: with blocks of three weeks all orders fall on the first week, section 5 shows it.
    assert story_sections.URL.parameters["pathT"].default == 3
    assert list(story_state.order_shares(3)) == [1, 0, 0]
    assert (story_state.lower_level()[1].policy_PXY == 0).all()
    # The second: replanning beats blocks of five weeks, which beat blocks of six.
    assert story_sections.URL.parameters["frozen"].default == 6
    (six, _), (five, _) = story_state.fsvi_losses(6), story_state.fsvi_losses(5)
    assert story_state.rolling_loss(6) < five < six


def test_the_lesson_of_90_minutes_has_no_gap():
    plan = (FOLDER / "lesson-90.md").read_text("utf-8")
    spans = [tuple(map(int, row)) for row in re.findall(r"^\| (\d+)–(\d+) \|", plan, re.MULTILINE)]
    lengths = [end - start for start, end in spans]
    assert [end for _, end in spans] == list(accumulate(lengths)) and spans[-1][1] == 90


def test_the_lesson_of_90_minutes_has_the_times_of_its_clock():
    plan = (FOLDER / "lesson-90.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+)–(\d+) \| Sections? (\d+)(?: and (\d+))?", plan, re.MULTILINE)
    assert [n for *_, first, last in rows for n in (first, last) if n] == [*map(str, range(1, 11))]
    ends = dict(enumerate(presenter.until(90), 1))
    for start, end, first, last in rows:
        assert int(end) == ends[int(last or first)]
        assert int(start) == ends[int(first)] - SECTIONS[int(first) - 1].minutes


def test_choose_t_shows_what_the_second_work_in_pairs_asks_for():
    plan = (FOLDER / "lesson-90.md").read_text("utf-8")
    [budgets] = re.findall(r"for budgets of (\d+), (\d+) and (\d+) sweeps", plan)
    for model in ("inventory", "gridworld"):
        solved = measured.measure_model(measured.model_of(model), lambda *_: None)
        for budget in map(float, budgets):
            state = measured.MeasuredState(model, solved, budget, measured.DRAWN_T, "mean_regret")
            shown = f"{measured_text.headline(state)}. {measured_text.reasons(state)}"
            assert re.search(r", [nkT]=\d+\. ", shown)
            assert shown.startswith("FSVI") or re.search(r"FSVI\D+T ?=.* would lose", shown)


def test_the_exercises_that_the_plans_name_have_these_numbers():
    homework = (FOLDER / "lesson-50.md").read_text("utf-8").partition("**Homework**")[2]
    named = re.findall(r"(\d+) \*([^*]+)\*", homework)
    assert len(named) == 6
    for number, title in named:
        assert EXERCISES[int(number) - 1].title == " ".join(title.split())
    pairs = (FOLDER / "lesson-90.md").read_text("utf-8")
    [(first, last)] = re.findall(r"exercises (\d+) to (\d+) on the page Bounds", pairs)
    assert EXERCISES[int(first) - 1 : int(last)] == by_page("bounds")[:4]


def test_every_text_gives_the_number_of_exercises():
    root = FOLDER.parents[1]
    files = [root / "README.md", root / "docs" / "guide" / "dashboard.md", FOLDER / "index.md"]
    for file in files:
        assert re.findall(r"(\d+) exercises", file.read_text("utf-8")) == [str(len(EXERCISES))]
