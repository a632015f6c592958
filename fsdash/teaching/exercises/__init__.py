"""The exercises of all pages, in the order of the pages.

    by_page("bounds")                   # the exercises of one page
    by_id("errors-cross").check(99).right       # True

A new exercise is one entry in the file of its page.
"""

from __future__ import annotations

from fsdash.errors import InputError
from fsdash.teaching.exercises import (
    bounds,
    choose_t,
    home,
    inspector,
    live_gridworld,
    reproduction,
    run_lab,
    story,
    your_model,
)
from fsdash.teaching.exercises.base import LEVELS, Exercise

EXERCISES: tuple[Exercise, ...] = (
    *home.EXERCISES,
    *story.EXERCISES,
    *bounds.EXERCISES,
    *choose_t.EXERCISES,
    *your_model.EXERCISES,
    *run_lab.EXERCISES,
    *live_gridworld.EXERCISES,
    *inspector.EXERCISES,
    *reproduction.EXERCISES,
)

__all__ = ["EXERCISES", "LEVELS", "Exercise", "by_id", "by_page"]


def by_page(page: str) -> tuple[Exercise, ...]:
    """The exercises of a page, by its key in `fsdash.dashboard.navigation.PAGES`."""
    return tuple(exercise for exercise in EXERCISES if exercise.page == page)


def by_id(id: str) -> Exercise:
    """An exercise by its id.

    >>> by_id("errors-cross").check(99).right
    True
    """
    for exercise in EXERCISES:
        if exercise.id == id:
            return exercise
    raise InputError(f"there is no exercise {id!r}; choose one on the page Teach")
