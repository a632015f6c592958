"""Exercises as a sheet in Markdown, with or without solutions."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from fsdash.teaching.exercises import EXERCISES, LEVELS, Exercise
from fsdash.teaching.exercises.base import ChoiceAnswer

PAGES = {
    "home": ("Home", ""),
    "story": ("The story", "Story"),
    "bounds": ("Bounds", "Bounds"),
    "choose_t": ("Choose T", "Choose_T"),
    "your_model": ("Your model", "Your_model"),
    "run_lab": ("Run lab", "Run_lab"),
    "live_gridworld": ("Live gridworld", "Live_gridworld"),
    "inspector": ("Policy inspector", "Policy_inspector"),
    "reproduction": ("Reproduction", "Reproduction"),
}
"""By the page of an exercise: its title and its address; a test compares both with the navigation.
"""


def exercise_sheet(exercises: Sequence[Exercise] = EXERCISES, solutions: bool = False) -> str:
    """The questions by page, numbered as on the pages; with their solutions if wanted."""
    lines, page = [], None
    for exercise in exercises:
        if exercise.page != page:
            page = exercise.page
            lines += [f"## {PAGES[page][0]}", ""]
        lines += _exercise(exercise, solutions)
    return "\n".join(lines)


def _address(exercise: Exercise) -> str:
    """The page in the state of the exercise, below the address of the dashboard."""
    return f"/{PAGES[exercise.page][1]}?{urlencode(exercise.state)}"


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
