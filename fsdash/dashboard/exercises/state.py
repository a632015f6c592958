"""The page Exercises without its widgets: what is shown, and how much of it is solved."""

from collections.abc import Collection
from urllib.parse import urlencode

from fsdash.dashboard.navigation import PAGES
from fsdash.teaching.exercises import EXERCISES, LEVELS, Exercise

ALL = "all"


def shown(level: str) -> dict[str, list[Exercise]]:
    """The exercises of a level, or all of them, by page."""
    groups: dict[str, list[Exercise]] = {}
    for exercise in EXERCISES:
        if level in (ALL, exercise.level):
            groups.setdefault(exercise.page, []).append(exercise)
    return groups


def results_address(base: str | None, solved: Collection[str]) -> str:
    """The link that holds the solved exercises; `base` is the address of the page, if known."""
    page = (base or PAGES["exercises"].address()).partition("?")[0]
    ids = [exercise.id for exercise in EXERCISES if exercise.id in solved]
    return f"{page}?{urlencode({'results': ','.join(ids)}, safe=',')}"


def solved_by_level(solved: Collection[str]) -> dict[str, tuple[int, int]]:
    """By level: how many exercises are solved, and how many there are."""
    counts = {}
    for level in LEVELS:
        own = [exercise.id for exercise in EXERCISES if exercise.level == level]
        counts[level] = sum(id in solved for id in own), len(own)
    return counts
