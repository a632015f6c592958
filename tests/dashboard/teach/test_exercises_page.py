"""Exercises on their pages and on the Teach page, without a browser."""

import re

import pytest

from fsdash.dashboard.live_gridworld.state import Race
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.run_lab.text import COLUMN_HELP
from fsdash.dashboard.story import numbers as story_numbers
from fsdash.dashboard.teach import state
from fsdash.dashboard.teach.state import parse_link
from fsdash.dashboard.widgets import exercise as widget
from fsdash.dashboard.widgets.progress import known_ids
from fsdash.formatting import number
from fsdash.runs.summary import Sample, difference, interval
from fsdash.teaching.exercises import EXERCISES, by_id, by_page, live_gridworld, run_lab
from fsdash.teaching.exercises.base import OTHER_STATE, RIGHT, TOO_SMALL
from fsdash.teaching.sheet import PAGES as SHEET_PAGES
from fsdash.teaching.sheet import exercise_sheet
from tests.dashboard.kit import address, figures, metrics, opened, words

pytestmark = pytest.mark.slow  # together they take several seconds

PAGE, BOUNDS = "9_Teach.py", "2_Bounds.py"


def unfolded(page, section: str = "exercises"):
    """Open the section of a page, or one exercise on the Teach page."""
    page.session_state[section] = True
    page.run()
    assert not page.exception
    return page


def check(page, id: str):
    page.button(key=f"exercise-{id}-check").click().run()
    assert not page.exception
    return [box.value for box in (*page.success, *page.warning)]


def test_a_number_is_checked_on_its_page_with_hint_and_solution():
    page, exercise = opened(BOUNDS), by_id("errors-cross")
    unfolded(page)
    assert exercise.question in words(page)
    answer = page.number_input(key="exercise-errors-cross-answer")
    answer.set_value(98.0).run()
    assert check(page, exercise.id) == [TOO_SMALL]
    answer.set_value(99.0).run()
    assert check(page, exercise.id) == [RIGHT]
    assert widget.title_of(exercise, solved=True) in words(page)
    page.toggle(key="exercise-errors-cross-hint").set_value(True).run()
    assert page.info[0].value == exercise.hint
    page.toggle(key="exercise-errors-cross-solution").set_value(True).run()
    assert exercise.solution_text() in words(page)


def test_the_verdict_disappears_when_the_answer_changes():
    page = unfolded(opened(PAGE), "exercise-frozen-in-use")
    page.radio(key="exercise-frozen-in-use-answer").set_value("no").run()
    assert check(page, "frozen-in-use") == [RIGHT]
    page.radio(key="exercise-frozen-in-use-answer").set_value("yes").run()
    assert not page.success


@pytest.mark.parametrize(
    ("id", "wrong", "right"),
    [
        ("no-freeze-error", {}, {"alpha": "0"}),
        ("fast-season", {"case": "maze"}, {"case": "season", "move": "0.5"}),
        ("fsvi-wins", {"budget": "0.4"}, {"budget": "1.5"}),
        ("best-per-method", {"best": "method"}, {"best": "method", "on": "inventory"}),
        (
            "compare-with-optimum",
            {"domain": "inventory", "method": "fsvi", "T": "6"},
            {"domain": "pricing", "method": "fsvi", "T": "6", "compare": "optimum"},
        ),
    ],
)
def test_a_state_of_the_page_is_checked(id, wrong, right):
    script = PAGES[by_id(id).page].script.removeprefix("pages/")
    for query, expected in ((wrong, OTHER_STATE), (right, RIGHT)):
        tab = {name: text for name, text in by_id(id).state.items() if name == "tab"}
        page = unfolded(opened(script, **{**tab, **query}))
        assert expected in check(page, id)


@pytest.mark.parametrize("key", [key for key in PAGES if by_page(key)])
def test_every_page_has_its_exercises_and_their_links_are_usable(key):
    script = PAGES[key].script
    name = None if script == "app.py" else script.removeprefix("pages/")
    for exercise in by_page(key):
        page = opened(name, **exercise.state)
        assert not page.warning
        assert widget.title_of(exercise, solved=False) in words(unfolded(page))


@pytest.mark.parametrize("id", ["errors-cross", "fsvi-floor", "gridworld-claims"])
def test_the_page_does_not_show_the_answer_to_what_is_to_be_read_off(id):
    exercise = by_id(id)
    page = opened(PAGES[exercise.page].script.removeprefix("pages/"), **exercise.state)
    labels = [a["text"] for f in figures(page).values() for a in f["layout"].get("annotations", [])]
    written = [*metrics(page).values(), *labels]
    if id != "gridworld-claims":  # the claims are sentences with numbers
        written.append(words(page))
    numbers = re.findall(r"[\d.,]*\d", " ".join(written))
    assert numbers and number(exercise.right_answer()) not in numbers


def test_the_page_lists_all_exercises_and_counts_the_solved_ones():
    page = opened(PAGE)
    titles = " ".join(section.label for section in page.expander)
    assert all(exercise.title in titles for exercise in EXERCISES)
    assert metrics(page)["Read off"].startswith("0 / ")
    unfolded(page, "exercise-upper-discount")
    page.number_input(key="exercise-upper-discount-answer").set_value(0.941).run()
    assert check(page, "upper-discount") == [RIGHT]
    assert metrics(page)["Compute"].startswith("1 / ")
    page.button(key="forget").click().run()
    assert metrics(page)["Compute"].startswith("0 / ")


def test_a_page_opened_for_an_exercise_shows_its_question_and_the_answer_fields():
    exercise = by_id("errors-cross")
    page = opened(BOUNDS, exercise=exercise.id, **exercise.state)
    assert exercise.question in words(page)
    page.slider(key="bounds.T").set_value(23).run()
    assert address(page)["T"] == "23" and address(page)["exercise"] == "errors-cross"
    page.number_input(key="exercise-errors-cross-answer").set_value(99.0).run()
    assert RIGHT in check(page, exercise.id)
    (warning,) = opened(BOUNDS, exercise="nothing").warning
    assert "`exercise=" in warning.value


def test_results_travel_in_a_link_and_can_be_added_to_the_progress():
    page = opened(PAGE, results="errors-cross,upper-discount")
    assert f"Results in this link: 2 of {len(EXERCISES)} exercises solved" in words(page)
    assert [one.value[:3] for one in page.metric] == ["1 /", "1 /", "0 /", "0 /", "0 /", "0 /"]
    page.button(key="add").click().run()
    assert "Results in this link" not in words(page) and address(page) == {}
    assert metrics(page)["Compute"].startswith("1 / ")
    (link,) = [block.value for block in page.code]
    assert link.endswith("?results=upper-discount,errors-cross")
    (warning,) = opened(PAGE, results="errors-cross,nothing").warning
    assert "`results=" in warning.value


def test_an_exercise_about_a_state_leads_to_its_page():
    page = unfolded(opened(PAGE), "exercise-no-freeze-error")
    assert widget.CHECK_ON_PAGE in [caption.value for caption in page.caption]
    labels = [link.proto.label for link in page.get("page_link")]
    assert widget.open_label(by_id("no-freeze-error")) in labels


def test_a_level_can_be_selected():
    page = opened(PAGE, level="compute")
    assert len(page.expander) == len([one for one in EXERCISES if one.level == "compute"])


@pytest.mark.parametrize("solutions", [False, True])
def test_the_sheet_is_shown_with_and_without_solutions(solutions):
    page = opened(PAGE, view="sheet", **({"solutions": "1"} if solutions else {}))
    assert exercise_sheet(solutions=solutions).strip() in words(page)
    assert not page.warning and page.title[0].value


def test_the_addresses_on_the_sheet_lead_to_the_pages():
    found = re.findall(r"^Page: `(.*)`$", exercise_sheet(), re.MULTILINE)
    expected = [(one.page, dict(one.state)) for one in EXERCISES if one.state]
    assert [parse_link(address) for address in found] == expected


def test_the_sheet_uses_the_titles_and_addresses_of_the_pages():
    in_navigation = {key: (PAGES[key].title, PAGES[key].address()) for key in SHEET_PAGES}
    assert {**in_navigation, "home": (PAGES["home"].title, "")} == SHEET_PAGES
    assert set(SHEET_PAGES) == {exercise.page for exercise in EXERCISES}


def test_every_page_but_those_for_teaching_has_exercises_in_the_order_of_the_navigation():
    pages = [key for key in PAGES if key != "teach"]
    assert list(dict.fromkeys(exercise.page for exercise in EXERCISES)) == pages


def test_answers_about_the_story_are_the_numbers_of_its_sections():
    assert by_id("sweeps-near-one").right_answer() == story_numbers.sweeps(0.99, 20)["needed"]
    solution = by_id("guaranteed-sweeps").solution_text()
    assert f"On the shop {story_numbers.sweeps(0.95, 20)['needed']} sweeps" in solution


def test_answers_about_the_race_are_those_of_the_page():
    race = Race.start(live_gridworld.T)
    for sweeps in (live_gridworld.EARLY, live_gridworld.LATE):
        race.advance(sweeps - race.sweeps)
        for method, racer in race.racers.items():
            assert racer.share == pytest.approx(live_gridworld.share_after(method, sweeps))


def test_two_runs_with_the_same_seed_are_compared_by_their_differences():
    """The table of runs and the exercise agree, although the intervals of the means overlap."""
    samples = [Sample(dict(enumerate(values)), seed=0) for values in run_lab.PAIRED.values()]
    (_, low, _, _), (_, _, high, _) = (interval(values) for values in run_lab.PAIRED.values())
    assert low < high
    assert not difference(*samples).contains_zero
    assert by_id("may-be-best").right_answer() == "a"
    assert "overlap" not in COLUMN_HELP["final"]


def test_stored_progress_that_is_not_an_exercise_is_ignored():
    assert known_ids("errors-cross,<script>,,nothing") == {"errors-cross"}
    assert state.solved_by_level({"errors-cross"})["read"][0] == 1


def test_an_exercise_computes_nothing_before_it_is_asked(monkeypatch):
    def fail(self):
        raise AssertionError("computed although nobody asked")

    monkeypatch.setattr("fsdash.teaching.exercises.base.Exercise.right_answer", fail)
    monkeypatch.setattr("fsdash.teaching.exercises.base.Exercise.solution_text", fail)
    unfolded(opened(BOUNDS))
