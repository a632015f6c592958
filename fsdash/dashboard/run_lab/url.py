"""The URL of the Run lab: the plan in the form, the experiment in view, the stored runs shown."""

from __future__ import annotations

from functools import cache

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.view import curve_parameters
from fsdash.dashboard.run_lab.plans import (
    BUDGET_UNITS,
    CUSTOM,
    DEFAULT_ALGORITHM,
    DEFAULT_ALGORITHMS,
    DEFAULT_DOMAINS,
    DEFAULT_FIXED_T,
    DEFAULT_SWEEPS,
    DEFAULT_T,
    PLANS,
    SWEEP,
    check_T_text,
)
from fsdash.dashboard.run_lab.table import GROUPS, MAX_COMPARED, NEWEST_FIRST, SORT_KEYS
from fsdash.dashboard.run_lab.text import OWNER_LABELS, VIEWS
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    comma_separated,
    domain_name,
    experiment_id,
    labelled,
    list_of,
    number_in,
    one_of,
    run_reference,
    short_text,
    whole_number,
)
from fsdash.domains import DOMAINS
from fsdash.runs.records import STATUSES
from fsdash.runs.spec import MAX_EVALUATIONS, MAX_REPLICATIONS

MAX_BROWSER_INTEGER = 2**53 - 1
"""JavaScript cannot represent all whole numbers above this."""
SAVED_GAMMA = "model.gamma"
"""γ of a saved model; the model's own unless it is given."""
TABS = {"new": "New experiment", "stored": "Stored runs"}
ANY, ALL = "any", "all"
PAGE_SIZE, MAX_SHOWN = 30, 600
"""Experiments in the table before more are asked for, and at most."""
STORED = ("text", "on", "method", "status", "owner", "best", "view")
"""The parameters that are widgets of the stored runs."""


def lab_url() -> UrlState:
    """The parameters for all domains and algorithms that are registered now."""
    return _lab_url(tuple(DOMAINS), tuple(ALGORITHMS))


def _any_or_domain(text: str) -> str:
    return ANY if text == ANY else domain_name(text)


@cache
def _lab_url(domains: tuple[str, ...], algorithms: tuple[str, ...]) -> UrlState:
    return UrlState(
        "lab",
        {
            "tab": labelled("new", TABS),
            "preset": UrlParameter("quick-look", one_of([*PLANS, SWEEP, CUSTOM])),
            "from": UrlParameter(None, experiment_id),
            "base": UrlParameter(None, run_reference),
            "domain": UrlParameter("inventory", domain_name),
            SAVED_GAMMA: UrlParameter(None, number_in(0, 1, hint=" (below 1)")),
            "algorithms": UrlParameter(
                list(DEFAULT_ALGORITHMS), list_of(one_of(algorithms)), comma_separated
            ),
            "T": UrlParameter(DEFAULT_T, check_T_text, lambda text: text.replace(" ", "")),
            "domains": UrlParameter(list(DEFAULT_DOMAINS), list_of(domain_name), comma_separated),
            "algorithm": UrlParameter(DEFAULT_ALGORITHM, one_of(algorithms)),
            "vary": UrlParameter("T", short_text),
            "values": UrlParameter(DEFAULT_T, short_text),
            "fixed_T": UrlParameter(
                DEFAULT_FIXED_T, check_T_text, lambda text: text.replace(" ", "")
            ),
            "unit": UrlParameter("sweeps", one_of(BUDGET_UNITS)),
            "budget": UrlParameter(DEFAULT_SWEEPS, number_in(0, MAX_EVALUATIONS)),
            "replications": UrlParameter(None, whole_number(1, MAX_REPLICATIONS)),
            "seed": UrlParameter(0, whole_number(0, MAX_BROWSER_INTEGER)),
            **_domain_parameters(domains),
            **_algorithm_parameters(algorithms),
            "experiment": UrlParameter(None, experiment_id),
            "text": UrlParameter("", short_text),
            "on": UrlParameter(ANY, _any_or_domain),
            "method": UrlParameter(ANY, one_of([ANY, *algorithms])),
            "status": UrlParameter(ANY, one_of([ANY, *STATUSES])),
            "owner": UrlParameter("everyone", one_of(OWNER_LABELS)),
            "shown": UrlParameter(PAGE_SIZE, whole_number(1, MAX_SHOWN)),
            "best": UrlParameter(ALL, one_of([ALL, *GROUPS])),
            "sort": UrlParameter(
                NEWEST_FIRST, one_of([s + n for n in SORT_KEYS for s in ("", "-")])
            ),
            "selected": UrlParameter([], list_of(run_reference, MAX_COMPARED), comma_separated),
            "view": UrlParameter("curves", one_of(VIEWS)),
            **curve_parameters(),
        },
    )


def _domain_parameters(names: tuple[str, ...]) -> dict[str, UrlParameter]:
    """The parameters of every domain, such as `inventory.K`."""
    return {
        f"{name}.{key}": UrlParameter(parameter.default, parameter.parse)
        for name in names
        for key, parameter in DOMAINS[name].parameters().items()
    }


def _algorithm_parameters(names: tuple[str, ...]) -> dict[str, UrlParameter]:
    """The parameters of every algorithm, such as `e-vi.M`."""
    return {
        f"{name}.{key}": UrlParameter(parameter.default, parameter.parse)
        for name in names
        for key, parameter in ALGORITHMS[name].all_parameters.items()
    }
