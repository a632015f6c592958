"""Every parameter of every page's URL: the text that it writes reads back as the same value."""

import importlib
import pkgutil
from math import inf, isfinite

import pytest

from fsdash import dashboard
from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.live_gridworld.edits import (
    Edits,
    flip_ring,
    move_delivery,
    toggle_wall,
)
from fsdash.dashboard.run_lab.url import lab_url
from fsdash.dashboard.widgets.url_state import (
    ListReader,
    UrlParameter,
    UrlState,
    labelled,
    switch,
    usable_values,
)
from fsdash.domains import DOMAINS


def page_states() -> dict[str, UrlState]:
    """The URL state of every page that declares one."""
    found = {}
    for info in pkgutil.walk_packages(dashboard.__path__, f"{dashboard.__name__}."):
        module = importlib.import_module(info.name)
        found |= {v.page: v for v in vars(module).values() if isinstance(v, UrlState)}
    return found | {lab_url().page: lab_url()}


CHANGED_MAP = move_delivery(flip_ring(toggle_wall(Edits(), (5, 5))), 7, (8, 8))
STATES = page_states()
CASES = [(page, name) for page, state in STATES.items() for name in state.parameters]
ANY_NUMBER, SIZE, INDEX = (0.0, 0.25, 1 / 3, 1e6), (1, 7, 10**9), (0, 1, 12_345)
EXAMPLES = {
    "freeze": (1, 12),
    "budget": (0.0, 0.1, 123456.789, 1e9, 1 / 3),
    "gamma": (0.5, 0.95, 1 - 1e-3),
    "alpha": (0.0, 0.001, 1.0),
    "kappa": (1.0, 1.3, 1.1234567),
    "Lf": (0.5, 1.0, 1.05, 1.5),
    **dict.fromkeys(("Lfrozen", "eta", "dYfrozen"), (0.0, 1.2, 1e6, 1e-5)),
    **dict.fromkeys(("dY", "Lr", "LU", "rmax"), ANY_NUMBER),
    **dict.fromkeys(("nx", "ny", "na"), SIZE),
    "T": (1, 2, 40),
    "live-gridworld T": (2, 24),
    "drawn": ([3], [2, 24]),
    "bounds drawn": ([2], [100, 3], [2, 3, 4, 5, 6, 7, 8, 9]),
    "on": ("any", *DOMAINS),
    "choose-t model": ("gridworld", "inventory.coarse-demand"),
    "lab T": ("2", "3, 24", "1, 2, 3"),
    "domain": tuple(DOMAINS),
    "domains": (["pricing"], ["gridworld", "inventory"]),
    "base": ("abcd", "0123456789abcdef.2"),
    "vary": ("M_u", "inventory.K"),
    "values": ("2, 3", "a b"),
    "fixed_T": ("2", "12"),
    "model.gamma": (0.0, 0.5, 1 / 3),
    "model": ("model-0123456789abcdef",),
    "file": ("0123456789abcdef",),
    "states": ([("stock", "next_stock")], [("a b", "a b'"), ("x", "y")]),
    "slow": (["stock"], ["a b", "x"]),
    **dict.fromkeys(("action", "p", "reward", "initial", "end"), ("order", "a b, c", "-")),
    "periods": (1, 12),
    **dict.fromkeys(("run", "replication", "step", "other", "otherstep"), INDEX),
    **dict.fromkeys(("experiment", "from"), ("abcd", "0123456789abcdef")),
    **dict.fromkeys(("preset", "view", "text"), ("wide-demand", "a b, c=1;ä", "x" * 100)),
    "map": (CHANGED_MAP,),
    "at": ({"phase": ("2",)}, {"phase": ("0",), "demand": ("0", "5", "10")}),
    "state": ((0, 0), (3, 17)),
    "replications": (1, 1000),
    "seed": (1, 2**53 - 1),
    "shown": (1, 24, 600),
    "selected": (["abcd"], ["abcd", "ef01"]),
    "section": (1, 10),
    "task": ("abcdefgh23",),
    "key": ("a-Z_0" * 6,),
    **dict.fromkeys(("story seed", "story path", "togo", "pathT", "workT"), (2, 8)),
    **dict.fromkeys(("upperT", "errorT", "boundT", "frozen"), (2, 16)),
    **dict.fromkeys(("sweeps", "story k"), (0, 10)),
}
"""Values of parameters whose reader does not list its options, by name or by page and name."""


def values_of(page: str, name: str) -> list:
    """The default, and all or some other values that the parameter can have."""
    parameter = STATES[page].parameters[name]
    read, owner = parameter.read, name.partition(".")[0]
    if isinstance(read, ListReader) and (options := read.item.options):
        found = [[option] for option in options] + [list(options)]
    elif options := getattr(read, "options", ()):
        found = list(options)
    elif owner in DOMAINS and page == "lab":
        found = declared_values(DOMAINS[owner].parameters()[name.partition(".")[2]])
    elif owner in ALGORITHMS and page == "lab":
        found = declared_values(ALGORITHMS[owner].all_parameters[name.partition(".")[2]])
    else:
        found = list(EXAMPLES.get(f"{page} {name}", EXAMPLES.get(name, ())))
    return [parameter.default, *found]


def declared_values(declared) -> list:
    """The values of a parameter that a domain or an algorithm declares."""
    if declared.kind == "bool":
        return [False, True]
    if declared.kind == "choice":
        return list(declared.choices)
    number = int if declared.kind == "int" else float
    ends = [number(end) for end in (declared.low, declared.high) if isfinite(end)]
    middle = number(declared.default or 0) + (1 if number is int else 1 / 3)
    return ends + [middle] * (declared.low <= middle <= declared.high)


@pytest.mark.parametrize(("page", "name"), CASES)
def test_what_a_parameter_writes_it_reads_back(page, name):
    parameter = STATES[page].parameters[name]
    values = [value for value in values_of(page, name) if value not in (None, "", [])]
    assert any(value != parameter.default for value in values), "no value but the default is tried"
    for value in values:
        text = parameter.write(value)
        again = parameter.read(text)
        assert again == value and type(again) is type(value)
        assert usable_values({name: text}, {name: parameter}) == ({name: value}, [])


def test_switches_are_read_back_in_both_positions():
    for default in (False, True):
        parameter = switch(default)
        assert [parameter.write(on) for on in (False, True)] == ["0", "1"]
        assert [parameter.read(text) for text in ("0", "1")] == [False, True]
        assert usable_values({"log": "yes"}, {"log": parameter}) == (
            {},
            ["`log=yes`: give one of 0, 1"],
        )


def test_every_switch_and_label_of_the_pages_lists_its_options():
    switches = {name for page, name in CASES if values_of(page, name)[1:] == [False, True]}
    assert {"log", "singles", "J"} <= switches
    tab = labelled("a", {"a": "First tab", "b": "Second tab"})
    assert tab.read.options == ("First tab", "Second tab")
    assert [tab.write(label) for label in tab.read.options] == ["a", "b"]


def test_numbers_keep_all_their_digits():
    parameter = UrlParameter(0.0, float)
    for value in (0.1 + 0.2, 1e-300, 5e-324, 1.7976931348623157e308, -1 / 3, 2.0**60):
        assert parameter.read(parameter.write(value)) == value
    assert parameter.write(-inf) == "-inf" and parameter.write(4.0) == "4"
