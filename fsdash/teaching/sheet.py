"""Exercises as a sheet in Markdown, with or without solutions."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from fsdash.teaching.exercises import EXERCISES, LEVELS, Exercise
from fsdash.teaching.exercises.base import ChoiceAnswer

PAGE_TITLES = {
    "home": "Home",
    "reward_error": "Reward error",
    "choose_t": "Choose T",
    "linear_architecture": "Linear architecture",
    "your_model": "Your model",
    "run_lab": "Run lab",
    "inspector": "Policy inspector",
    "reproduction": "Reproduction",
}
"""By the page of an exercise: its title; a test compares it with the navigation."""


def exercise_sheet(exercises: Sequence[Exercise] = EXERCISES, solutions: bool = False) -> str:
    """The questions by page, numbered as on the pages; with their solutions if wanted."""
    lines, page = [], None
    for exercise in exercises:
        if exercise.page != page:
            page = exercise.page
            lines += [f"## {PAGE_TITLES[page]}", ""]
        lines += _exercise(exercise, solutions)
    return "\n".join(lines)


def _address(exercise: Exercise) -> str:
    """The page in the state of the exercise, below the address of the dashboard."""
    page = "" if exercise.page == "home" else PAGE_TITLES[exercise.page].replace(" ", "_")
    return f"/{page}?{urlencode(exercise.state)}"


def _exercise(exercise: Exercise, solution: bool) -> list[str]:
    number = EXERCISES.index(exercise) + 1
    lines = [
        f"**{number}. {exercise.title}** ({LEVELS[exercise.level].lower()})",
        "",
        exercise.question,
        "",
    ]
    if exercise.state:
        lines += [f"Page: `{_address(exercise)}`", ""]
    if isinstance(exercise.answer, ChoiceAnswer):
        lines += [*(f"- {option}" for option in exercise.answer.options.values()), ""]
    if solution:
        lines += [f"*Solution.* {exercise.solution_text()}", ""]
    return lines
