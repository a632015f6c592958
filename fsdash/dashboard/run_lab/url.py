"""The URL of the Run lab: the plan in the form, the experiment in view, and the curve options."""

from __future__ import annotations

from functools import cache

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.view import curve_parameters
from fsdash.dashboard.run_lab.state import (
    BUDGET_UNITS,
    CUSTOM,
    DEFAULT_ALGORITHMS,
    DEFAULT_SWEEPS,
    DEFAULT_T,
    PLANS,
    check_T_text,
)
from fsdash.dashboard.run_lab.sweep import (
    DEFAULT_ALGORITHM,
    DEFAULT_DOMAINS,
    DEFAULT_FIXED_T,
    SWEEP,
)
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    comma_separated,
    domain_name,
    experiment_id,
    list_of,
    number_in,
    one_of,
    run_reference,
    short_text,
    whole_number,
)
from fsdash.domains import DOMAINS
from fsdash.runs.spec import MAX_EVALUATIONS, MAX_REPLICATIONS

MAX_BROWSER_INTEGER = 2**53 - 1
"""JavaScript cannot represent all whole numbers above this."""
SAVED_GAMMA = "model.gamma"
"""γ of a saved model; the model's own unless it is given."""


def lab_url() -> UrlState:
    """The parameters for all domains and algorithms that are registered now."""
    return _lab_url(tuple(DOMAINS), tuple(ALGORITHMS))


@cache
def _lab_url(domains: tuple[str, ...], algorithms: tuple[str, ...]) -> UrlState:
    return UrlState(
        "lab",
        {
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
