"""Helpers for the tests of Choose T: a state, what the page shows, and what the library says."""

from dataclasses import replace

from fsdash.dashboard.bounds.state import RegretState, example
from fsdash.formatting import number
from fsdash.theory import PRESETS, advise, fsvi_bound, trivial_bound
from fsdash.theory.repaired import repaired_bound
from tests.dashboard.kit import metrics

PAGE = "2_Bounds.py"
THREE = PRESETS["three-regimes"]
EVERY, CANNOT_CHOOSE = "every", "The bound cannot choose T here"
SENSITIVITY, TRUST = "sensitivity", "trust"


def view(
    sweeps=4.0, constants=THREE.constants, sizes=THREE.sizes, T=THREE.T, l_frozen=None, **rest
) -> RegretState:
    constants = replace(constants, l_frozen=l_frozen or constants.l_frozen)
    return RegretState(constants, sizes, sweeps, T, **rest)


def example_view(name: str) -> RegretState:
    """What the page shows after a click on an example."""
    constants, sizes, T = example(name)
    return RegretState(constants, sizes, 4.0, T)


def advised(page) -> tuple[str, dict[str, str]]:
    return headline(page), metrics(page)


def headline(page) -> str:
    return page.header[0].value.replace("\u00a0", " ")


def expected(shown: RegretState) -> tuple[str, dict[str, str]]:
    """The headline and the numbers, from the library alone."""
    bound = repaired_bound if shown.repaired else fsvi_bound
    T = shown.T if not shown.every else range(2, 101)
    advice = advise(
        shown.constants, shown.sizes, budget=shown.sweeps * shown.sizes.sweep, T=T, bound=bound
    )
    run, share = advice.choice, advice.choice.regret / trivial_bound(shown.constants)
    name = (
        f"FSVI with T = {run.T}, k = {run.k:,}" if run.T > 1 else f"Base VI: k = {run.k:,} sweeps"
    )
    vacuous = share >= 1 and trivial_bound(shown.constants) > 0
    return CANNOT_CHOOSE if vacuous else f"Smallest bound: {name}", {
        "Regret bound": number(run.regret),
        "Bound ÷ largest possible loss": f"{number(100 * share)}%"
        if share < 10
        else f"{number(share)}×",
    }


def ran(snippet: str) -> dict:
    names: dict = {}
    exec(snippet, names)
    return names
