"""The URL of the Runs page: filters, order, the selected runs and the curve options."""

from __future__ import annotations

from functools import cache

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.view import curve_parameters
from fsdash.dashboard.runs.state import MAX_COMPARED
from fsdash.dashboard.runs.table import GROUPS, NEWEST_FIRST, SORT_KEYS
from fsdash.dashboard.runs.text import OWNER_LABELS, VIEWS
from fsdash.dashboard.widgets.url_state import (
    UrlParameter,
    UrlState,
    comma_separated,
    domain_name,
    list_of,
    one_of,
    run_reference,
    short_text,
    whole_number,
)
from fsdash.runs.records import STATUSES

ANY = "any"
PAGE_SIZE = 30
"""Experiments in the table before more are asked for."""
MAX_SHOWN = 600
"""Entries of the table that one link can ask for."""
ALL = "all"


def runs_url() -> UrlState:
    """The parameters for all algorithms that are registered now."""
    return _runs_url(tuple(ALGORITHMS))


def _any_or_domain(text: str) -> str:
    return ANY if text == ANY else domain_name(text)


@cache
def _runs_url(algorithms: tuple[str, ...]) -> UrlState:
    return UrlState(
        "runs",
        {
            "text": UrlParameter("", short_text),
            "domain": UrlParameter(ANY, _any_or_domain),
            "algorithm": UrlParameter(ANY, one_of([ANY, *algorithms])),
            "status": UrlParameter(ANY, one_of([ANY, *STATUSES])),
            "owner": UrlParameter("everyone", one_of(OWNER_LABELS)),
            "shown": UrlParameter(PAGE_SIZE, whole_number(1, MAX_SHOWN)),
            "best": UrlParameter(ALL, one_of([ALL, *GROUPS])),
            "sort": UrlParameter(
                NEWEST_FIRST, one_of([s + n for n in SORT_KEYS for s in ("", "-")])
            ),
            "selected": UrlParameter([], list_of(run_reference, MAX_COMPARED), comma_separated),
            "view": UrlParameter("curves", one_of(VIEWS)),
            **curve_parameters(single_runs=False),
        },
    )
