"""Every exercise accepts the computed answer, and neither wrong nor absurd ones."""

from math import inf, nan

import pytest

from fsdash.errors import InputError
from fsdash.teaching.exercises import EXERCISES, LEVELS, by_id, by_page
from fsdash.teaching.exercises.base import (
    NO_NUMBER,
    NO_OPTION,
    OTHER_STATE,
    TOO_LARGE,
    TOO_SMALL,
    ChoiceAnswer,
    NumberAnswer,
    StateAnswer,
)
from fsdash.teaching.sheet import exercise_sheet

pytestmark = pytest.mark.slow  # together they take several seconds

ABSURD = [None, "", "abc", nan, inf, -inf, True, [], {}, {"T": "x"}, "<script>", object()]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.id)


def of_kind(kind):
    found = [one for one in EXERCISES if isinstance(one.answer, kind)]
    return pytest.mark.parametrize("exercise", found, ids=lambda one: one.id)


@every_exercise
def test_the_computed_answer_is_right(exercise):
    assert exercise.check(exercise.right_answer()).right


@every_exercise
def test_absurd_answers_are_not_right(exercise):
    for absurd in ABSURD:
        assert not exercise.check(absurd).right


@of_kind(NumberAnswer)
def test_a_number_counts_within_its_tolerance_only(exercise):
    right, tolerance = float(exercise.right_answer()), exercise.answer.tolerance
    assert exercise.check(right * (1 + 0.9 * tolerance)).right
    below, above = (right + sign * max(1.5 * tolerance * right, 1e-3) for sign in (-1, 1))
    assert exercise.check(below).message == TOO_SMALL
    assert exercise.check(above).message == TOO_LARGE
    assert exercise.check(-right).message == TOO_SMALL
    assert exercise.check(nan).message == NO_NUMBER


@of_kind(ChoiceAnswer)
def test_exactly_one_option_is_right(exercise):
    right = [name for name in exercise.answer.options if exercise.check(name).right]
    assert right == [exercise.right_answer()]
    assert exercise.check("none of these").message == NO_OPTION


WRONG_STATES = {
    "no-freeze-error": [{"alpha": 0.01}, {"T": 2}, {"LU": 0.0, "Lr": 0.0, "rmax": 0.0}],
    "fsvi-wins": [
        {"budget": 4.0},
        {"budget": 0.0},
        {"budget": 0.4},  # FSVI has the smallest regret, and never orders
        {"budget": 1.2},
        {"model": "gridworld"},
    ],
    "fast-season": [{"case": "maze"}, {"move": 0.0}, {"move": 0.05}, {"move": None}],
    "best-per-method": [{"best": "domain"}, {"best": "all"}, {"on": "any"}],
    "compare-with-optimum": [{"T": 3}, {"compare": ""}, {"domain": "inventory"}],
}


@of_kind(StateAnswer)
def test_a_page_in_another_state_is_not_right(exercise):
    example = exercise.right_answer()
    for change in WRONG_STATES[exercise.id]:
        verdict = exercise.check({**example, **change})
        assert not verdict.right and verdict.message == OTHER_STATE


@every_exercise
def test_the_solution_states_the_answer_with_computed_numbers(exercise):
    text = exercise.solution_text()
    assert "{" not in text and "nan" not in text
    if isinstance(exercise.answer, ChoiceAnswer):
        assert exercise.answer.options[exercise.right_answer()] in text
    assert exercise.hint and exercise.question


def test_every_page_has_exercises_at_all_three_levels_with_ids_of_their_own():
    assert len(EXERCISES) == len({one.id for one in EXERCISES}) >= 25
    for page in {one.page for one in EXERCISES}:
        assert {one.level for one in by_page(page)} == set(LEVELS), page
    assert sum(len(by_page(page)) for page in {one.page for one in EXERCISES}) == len(EXERCISES)


@pytest.mark.parametrize(
    ("id", "right"),
    [
        ("lower-periods", 3),
        ("guaranteed-sweeps", 90),
        ("errors-cross", 99),
        ("base-vi-wins", 53),
        ("two-misfits", 4),
        ("idle-phases", 2),
        ("sweep-cost", 11 * 51 * 11 * 50),
        ("gridworld-claims", 5),
        ("lower-level-work", 4.5),
        ("race-leader", "rolling"),
        ("stays-below", "fsvi"),
        ("may-be-best", "a"),
        ("slow-variable", "regime"),
        ("small-difference", "partly"),
    ],
)
def test_answers_that_were_also_found_by_hand(id, right):
    assert by_id(id).right_answer() == right


def test_an_unknown_exercise_is_an_input_error():
    with pytest.raises(InputError, match="no exercise 'nothing'"):
        by_id("nothing")


def test_the_sheet_has_every_question_and_solutions_only_if_wanted():
    questions, solutions = exercise_sheet(), exercise_sheet(solutions=True)
    for exercise in EXERCISES:
        assert exercise.question in questions and exercise.question in solutions
        assert exercise.solution_text() in solutions
        assert exercise.solution_text() not in questions
