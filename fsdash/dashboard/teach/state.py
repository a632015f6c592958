"""The Teach page without its widgets: progress, links for a class, and its answers as bars."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.widgets.url_state import SHARED
from fsdash.errors import InputError
from fsdash.formatting import number
from fsdash.runs.store.class_tasks import checked_options, checked_query, checked_question
from fsdash.teaching.exercises import EXERCISES, LEVELS, Exercise
from fsdash.teaching.exercises.base import ChoiceAnswer, NumberAnswer

ALL = "all"
MAX_BARS = 12
"""Bars of a histogram."""


def shown(level: str) -> dict[str, list[Exercise]]:
    """The exercises of a level, or all of them, by page."""
    groups: dict[str, list[Exercise]] = {}
    for exercise in EXERCISES:
        if level in (ALL, exercise.level):
            groups.setdefault(exercise.page, []).append(exercise)
    return groups


def teach_address(base: str | None, **query: str) -> str:
    """A link to the page; `base` is its address in the browser, if known."""
    page = (base or PAGES["teach"].address()).partition("?")[0]
    return f"{page}?{urlencode(query, safe=',')}"


def results_address(base: str | None, solved: Collection[str]) -> str:
    """The link that holds the solved exercises."""
    ids = [exercise.id for exercise in EXERCISES if exercise.id in solved]
    return teach_address(base, results=",".join(ids))


def solved_by_level(solved: Collection[str]) -> dict[str, tuple[int, int]]:
    """By level: how many exercises are solved, and how many there are."""
    counts = {}
    for level in LEVELS:
        ids = [exercise.id for exercise in EXERCISES if exercise.level == level]
        counts[level] = sum(id in solved for id in ids), len(ids)
    return counts


def parse_link(text: str) -> tuple[str, dict[str, str]]:
    """The page and the state in a link; the host is left out, so no link leads elsewhere.

    >>> parse_link("http://127.0.0.1:8501/Choose_T?budget=4")
    ('choose_t', {'budget': '4'})
    """
    try:
        parts = urlsplit(text.strip())
        query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        raise InputError("this link cannot be read; copy the address of the page again") from None
    name = parts.path.rstrip("/").rpartition("/")[2]
    pages = {page.address(): key for key, page in PAGES.items()} | {"": "home", ".": "home"}
    if name not in pages or (pages[name] == "teach" and query.get("tab") == "class"):
        titles = ", ".join(page.title for page in PAGES.values())
        raise InputError(
            "this link leads to no page that a class can open; copy the address of one of these "
            f"pages: {titles}"
        )
    return pages[name], {name: value for name, value in query.items() if name not in SHARED}


def page_address(page: str, query: dict[str, str]) -> str:
    """The address of a page in a state, relative to the Teach page."""
    address = "./" if page == "home" else PAGES[page].address()
    return f"{address}?{urlencode(query)}" if query else address


def is_local(base: str | None) -> bool:
    """Whether an address reaches this computer only.

    >>> is_local("http://127.0.0.1:8501/Teach"), is_local("http://192.168.0.7:8501/Teach")
    (True, False)
    """
    host = urlsplit(base or "").hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def options_in(text: str) -> list[str]:
    """The answers in a text with one per line."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_form(texts: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of the fields of a new task, and what is wrong with each of the other fields."""
    values, problems = dict[str, Any](), dict[str, str]()
    for name, read in READERS.items():
        try:
            values[name] = read(texts[name])
        except InputError as problem:
            problems[name] = str(problem)
    return values, problems


def _read_link(text: str) -> tuple[str, dict[str, str]]:
    page, query = parse_link(text)
    checked_query(query)
    return page, query


READERS: dict[str, Callable[[str], Any]] = {
    "link": _read_link,
    "question": checked_question,
    "options": lambda text: checked_options(options_in(text)),
}
"""By field of a new task: how its text is read."""


def usable_exercises() -> dict[str, Exercise]:
    """The exercises that a class can answer: a choice or a number, by id."""
    kinds = ChoiceAnswer | NumberAnswer
    return {one.id: one for one in EXERCISES if isinstance(one.answer, kinds)}


def bars(options: Sequence[str], values: Sequence[float]) -> tuple[list[str], list[int]]:
    """The labels and counts of the bars: of each option, or of each number or range of numbers."""
    if options:
        return list(options), [list(values).count(place) for place in range(len(options))]
    distinct = sorted(set(values))
    if len(distinct) <= MAX_BARS:
        return [number(value) for value in distinct], [list(values).count(v) for v in distinct]
    counts, edges = np.histogram(values, bins=MAX_BARS)
    labels = [f"{number(a)} to {number(b)}" for a, b in pairwise(edges)]
    return labels, counts.tolist()
