"""What an exercise is, and how an answer is checked.

An exercise has one of three kinds of answers: a number with a tolerance, a choice, or a state of
its page. `facts` computes the right answer with the library, together with the other numbers of the
solution; nothing that can be computed is typed. A state of a page has no single right answer: its
rule looks at the values on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import inf, isfinite
from typing import Any

from fsdash.formatting import number

READ, COMPUTE, EXPLAIN = "read", "compute", "explain"
LEVELS = {READ: "Read off", COMPUTE: "Compute", EXPLAIN: "Explain"}
"""The levels in order, with their labels."""

RIGHT = "Correct."
TOO_SMALL, TOO_LARGE = "Not yet: the right number is larger.", "Not yet: it is smaller."
OTHER_OPTION = "Not yet. The hint may help."
OTHER_STATE = "Not yet: the page does not show what the question asks for."
NO_NUMBER, NO_OPTION = "Type a number.", "Choose one of the answers."

Facts = Mapping[str, Any]
PageValues = Mapping[str, Any]
"""The values of a page by their names in its URL."""


@dataclass(frozen=True)
class CheckedAnswer:
    """Whether an answer is right, and what to say about it."""

    right: bool
    message: str


@dataclass(frozen=True)
class NumberAnswer:
    """A number. It is right within `tolerance`, a share of the right number; 0 means exactly."""

    tolerance: float = 0.0
    unit: str = ""

    def check(self, given: object, right: float) -> CheckedAnswer:
        if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
            return CheckedAnswer(False, NO_NUMBER)
        if abs(given - right) <= self.tolerance * abs(right):
            return CheckedAnswer(True, RIGHT)
        return CheckedAnswer(False, TOO_SMALL if given < right else TOO_LARGE)


@dataclass(frozen=True)
class ChoiceAnswer:
    """One of several options: the text of each by its name."""

    options: Mapping[str, str]

    def check(self, given: object, right: str) -> CheckedAnswer:
        if given not in tuple(self.options):
            return CheckedAnswer(False, NO_OPTION)
        return CheckedAnswer(given == right, RIGHT if given == right else OTHER_OPTION)


@dataclass(frozen=True)
class StateAnswer:
    """A state of the page for which the rule holds; `example` is one of them."""

    rule: Callable[[PageValues], bool]
    example: Mapping[str, Any]

    def check(self, given: object, _right: object = None) -> CheckedAnswer:
        if not isinstance(given, Mapping):
            return CheckedAnswer(False, OTHER_STATE)
        try:
            right = bool(self.rule(given))
        except (KeyError, TypeError, ValueError):  # a value that the page does not have
            right = False
        return CheckedAnswer(right, RIGHT if right else OTHER_STATE)


def no_facts() -> Facts:
    """For a question whose solution has no numbers."""
    return {}


@dataclass(frozen=True)
class Exercise:
    """A question about a page, its answer, a hint and a solution.

    The solution is a template: `{name}` stands for a fact. `state` holds the parameters with which
    the page opens for this question.
    """

    id: str
    page: str
    level: str
    title: str
    question: str
    answer: NumberAnswer | ChoiceAnswer | StateAnswer
    hint: str
    solution: str
    facts: Callable[[], Facts] = no_facts
    state: Mapping[str, str] = field(default_factory=dict)

    def check(self, given: object) -> CheckedAnswer:
        """Check an answer: a number, the name of an option, or the values of the page."""
        if isinstance(self.answer, StateAnswer):
            return self.answer.check(given)
        return self.answer.check(given, self.right_answer())

    def right_answer(self) -> Any:
        """The right number or option; for a state of the page an example."""
        if isinstance(self.answer, StateAnswer):
            return self.answer.example
        return _computed(self.facts)["answer"]

    def solution_text(self) -> str:
        """The solution with the computed numbers."""
        shown = {name: _shown(value) for name, value in _computed(self.facts).items()}
        if isinstance(self.answer, ChoiceAnswer):
            shown["answer"] = self.answer.options[self.right_answer()]
        return self.solution.format_map(shown)


@cache
def _computed(facts: Callable[[], Facts]) -> Facts:
    return facts()


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    return "∞" if value == inf else number(float(value))  # type: ignore[arg-type]
