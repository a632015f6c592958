"""Three guided tours through the dashboard, as data.

    parse_position("lecturer.2").stop       # the second stop of the tour for lecturers

A stop names a page by its key in `fsdash.dashboard.navigation.PAGES`, the state in which the page
opens (the parameters of its URL), what to do there and what to look for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fsdash.errors import InputError
from fsdash.teaching.exercises.bounds import PAPER_STATE


@dataclass(frozen=True)
class Stop:
    """One stop: a page in a given state, what to do there, and what to look for."""

    page: str
    title: str
    do: str
    look_for: str
    state: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Tour:
    """A tour: for whom it is, what it is about, how long it takes, and its stops in order."""

    audience: str
    about: str
    minutes: int
    stops: tuple[Stop, ...]


_LECTURER = Tour(
    "For lecturers",
    "The idea and its price, in pictures that you can show to a class.",
    25,
    (
        Stop(
            "story",
            "One lecture in ten sections",
            "Scroll through the sections, and move the control of each figure once.",
            "One small shop leads from value iteration to the limits of freezing. *Present* shows "
            "one section per screen, and *Speaker notes* tell you what to say and for how long. "
            "The other stops show figures for questions from the class.",
        ),
        Stop(
            "home",
            "Plan each block backwards",
            "Scroll down to the pictures and press *Next step* until the lower level is complete.",
            "The plan starts at the last period of the block and works back. The frozen slow state "
            "stays the same in every step, so each slow state is a separate small problem.",
            {"view": "lower", "periods": "4"},
        ),
        Stop(
            "bounds",
            "An error that rises and falls",
            "Drag the vertical line to the right, from T = 23 to T = 150.",
            "The bound on the total error is largest at T = 23. A longer block makes the freeze "
            "error grow, but it moves the end of the horizon further away. In the grey area the "
            "bound is vacuous: it allows more than any policy can lose. Its shape still shows the "
            "two errors.",
            PAPER_STATE | {"T": "23"},
        ),
        Stop(
            "bounds",
            "An error that keeps growing",
            "Compare with the stop before: L_f has changed from 0.99 to 1.05, and T from 23 to 90.",
            "γ·L_f is just above 1. The freeze error now grows without limit: small differences "
            "grow faster than discounting shrinks them.",
            PAPER_STATE | {"T": "90", "Lf": "1.05"},
        ),
        Stop(
            "choose_t",
            "A small budget: freeze and replan",
            "Change the budget from 4 sweeps to 1 sweep, and then to 20 sweeps.",
            "With 1 sweep the best method is FSVI. With 4 sweeps it is rolling freeze, which "
            "replans in every period. With 20 sweeps it is MPI, modified policy iteration, which "
            "does not freeze. Each curve of FSVI ends at a floor that more work does not lower.",
            {"budget": "4"},
        ),
        Stop(
            "inspector",
            "FSVI orders at the start of a block",
            "Look at the orders on the path. Then press *Change* and choose *Rolling freeze* as "
            "the exact algorithm.",
            "With FSVI and T = 6 almost every order is placed by μ, at the start of a block, where "
            "the shading changes: the lower policies plan as if nothing came after the block. "
            "Rolling freeze replans in every period: it orders in any period with an empty stock "
            "and a demand of 5 or more. With less demand, six periods of sales do not pay for an "
            "order.",
            {"domain": "inventory", "method": "fsvi", "T": "6", "view": "path"},
        ),
    ),
)

_PRACTITIONER = Tour(
    "For practitioners",
    "From a table of transitions to a policy, a value of T and the reasons for it.",
    15,
    (
        Stop(
            "your_model",
            "Bring your own model",
            "Upload a file with transitions, or go on to see an example.",
            "The page names the columns that it needs. It reports every row that it cannot use, "
            "with the remedy.",
        ),
        Stop(
            "your_model",
            "Find the slow variable",
            "Read the table in step 4, *Slow and fast*, and the reasons below it.",
            "The regime of the demand is suggested as slow: it moves least often, and the orders "
            "do not influence it.",
            {"example": "company_inventory"},
        ),
        Stop(
            "choose_t",
            "A small budget",
            "Read the recommendation. Then open the list of models and select your own, if you "
            "saved one.",
            "With 4 sweeps of value iteration the best method freezes and replans in every period.",
            {"budget": "4"},
        ),
        Stop(
            "choose_t",
            "A large budget",
            "Compare with the stop before: only the budget has changed, from 4 to 60 sweeps.",
            "With 60 sweeps do not freeze: modified policy iteration (MPI) finds the optimum.",
            {"budget": "60"},
        ),
        Stop(
            "inspector",
            "See what the policy does",
            "Click a state to see its actions and their Q-values.",
            "The map compares rolling freeze on the inventory with the optimal policy. Where both "
            "take the same action, or an action of equal value, nothing is lost.",
            {"domain": "inventory", "method": "rolling", "T": "6", "compare": "optimum"},
        ),
        Stop(
            "choose_t",
            "Decide for the worst case",
            "Select other models, and other budgets, for the same question.",
            "The vertical axis now shows the largest regret over all states. The certificate is an "
            "upper bound on it that needs no optimal solution, so you can also compute it for a "
            "model that is too large to solve.",
            {"budget": "8", "measure": "max_regret"},
        ),
    ),
)

_RESEARCHER = Tour(
    "For researchers",
    "What the theorems say, what they need, and how to check the numbers.",
    25,
    (
        Stop(
            "bounds",
            "A limit that is far away",
            "Scroll down to the second figure, and move L_f through 1 and 1/γ.",
            "For 1 < L_f < 1/γ the freeze error has a limit, although the paper separates the "
            "cases at L_f = 1. At T = 60 the error is still far below its limit.",
            PAPER_STATE | {"T": "60", "Lf": "1.03"},
        ),
        Stop(
            "bounds",
            "The bound that was proven",
            "Open *Competitors* and switch between the bound as stated and the repaired one.",
            "The theorem of FSVI does not hold as stated in the arXiv text, but under a condition "
            "that the three domains satisfy. The repaired bound holds without it. The paper's "
            "algorithms, experiments and qualitative conclusions do not depend on it.",
            {"tab": "regret", "bound": "repaired"},
        ),
        Stop(
            "bounds",
            "A theorem that needs more terms",
            "Read the sentence about the stated bound below the figure.",
            "The theorem of FSAVI does not hold as stated in the arXiv text. At T = 16 the stated "
            "bound is below the proven one.",
            {"tab": "linear", "T": "16"},
        ),
        Stop(
            "reproduction",
            "Claims that do not reproduce completely",
            "Open one claim to see its evidence.",
            "Only claims with the verdict *Partly* or *Not reproduced* are shown, each with the "
            "rule that decides it and the measured values.",
            {"verdict": "Partly,Not reproduced"},
        ),
        Stop(
            "run_lab",
            "Repeat an experiment",
            "Start the experiment, or change its parameters first.",
            "The form holds E-FSVI with T = 6 and Base E-VI on the inventory. Base E-VI starts "
            "slowly and ends higher.",
            {"preset": "t6-against-base"},
        ),
        Stop(
            "inspector",
            "Where freezing fails",
            "Select another phase, then another T.",
            "FSVI with T = 3 on the gridworld, compared with the optimal policy. A plan of three "
            "periods rarely reaches a delivery, so most moves look alike to the lower level.",
            {"domain": "gridworld", "method": "fsvi", "T": "3", "compare": "optimum"},
        ),
    ),
)

TOURS = {"lecturer": _LECTURER, "practitioner": _PRACTITIONER, "researcher": _RESEARCHER}


@dataclass(frozen=True)
class Position:
    """A place in a tour: its name and the number of the stop, from 1 on."""

    name: str
    number: int

    @property
    def tour(self) -> Tour:
        return TOURS[self.name]

    @property
    def stop(self) -> Stop:
        return self.tour.stops[self.number - 1]

    def moved(self, steps: int) -> Position | None:
        """The position some stops further; None before the first and after the last stop."""
        number = self.number + steps
        return Position(self.name, number) if 1 <= number <= len(self.tour.stops) else None

    def __str__(self) -> str:
        return f"{self.name}.{self.number}"


def parse_position(text: str) -> Position:
    """Read a position from a URL, such as lecturer.3.

    >>> parse_position("lecturer.3").stop.page
    'bounds'
    """
    found = re.fullmatch(r"([a-z]+)\.([1-9][0-9]?)", text)
    if found is None or found[1] not in TOURS or int(found[2]) > len(TOURS[found[1]].stops):
        options = ", ".join(f"{name}.1" for name in TOURS)
        raise InputError(f"there is no such stop of a tour; start with one of {options}")
    return Position(found[1], int(found[2]))
