"""What the address of the lab holds: the plan, the experiment on view, how it is looked at."""

from __future__ import annotations

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import X_LABELS, Y_LABELS
from fsdash.dashboard.run_lab.state import BY_HAND, PLANS, SWEEP_UNIT, UNITS, USUAL_T, periods_text
from fsdash.dashboard.widgets.address import (
    Address,
    Part,
    experiment_id,
    listed,
    several,
    switch,
    whole,
)
from fsdash.dashboard.widgets.url_state import Reader, number_in, one_of
from fsdash.domains import DOMAINS, make
from fsdash.errors import InputError
from fsdash.runs.spec import MAX_EVALUATIONS, MAX_REPLICATIONS

MOST = 2**53 - 1
"""Beyond this a browser's numbers are not whole."""


def _in_words(read) -> Reader:
    """A reader from a check of our own."""

    def checked_text(text: str) -> object:
        try:
            return read(text)
        except InputError as error:
            raise ValueError(str(error)) from None

    return checked_text


def _parameters() -> dict[str, Part]:
    """Of every domain and every algorithm, as `inventory.K` and `e-vi.M`."""
    found = {}
    for name, domain in DOMAINS.items():
        usual = make(name)
        for own in domain.parameters():
            found[f"{name}.{own.name}"] = Part(getattr(usual, own.name), _in_words(own.parse))
    for name, method in ALGORITHMS.items():
        for key, parameter in method.all_parameters.items():
            read = lambda text, k=key, p=parameter: p.parse(k, text)  # noqa: E731
            found[f"{name}.{key}"] = Part(parameter.default, _in_words(read))
    return found


LAB = Address(
    "lab",
    {
        "preset": Part("quick-look", one_of([*PLANS, BY_HAND])),
        "from": Part(None, experiment_id),
        "domain": Part("inventory", one_of(DOMAINS)),
        "algorithms": Part(["e-fsvi", "e-vi"], several(one_of(ALGORITHMS)), listed),
        "T": Part(USUAL_T, _in_words(periods_text), lambda text: text.replace(" ", "")),
        "unit": Part(SWEEP_UNIT, one_of(UNITS)),
        "budget": Part(6.0, number_in(0, MAX_EVALUATIONS)),
        "replications": Part(None, whole(1, MAX_REPLICATIONS)),
        "seed": Part(0, whole(0, MOST)),
        **_parameters(),
        "experiment": Part(None, experiment_id),
        "x": Part("sweeps", one_of(X_LABELS)),
        "y": Part("fraction_of_optimal", one_of(Y_LABELS)),
        "log": switch(True),
        "singles": switch(False),
        "J": switch(False),
    },
)
