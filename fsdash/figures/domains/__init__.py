"""How a domain is drawn and how its policies are shown.

A domain names a module in its class attribute `figures`. The module may define

    drawing(domain) -> str                             a small SVG drawing of the problem
    describe(domain) -> str                            the same in one or two sentences
    policy_figures(inspected) -> tuple[PolicyFigure, …]  the figures of the policy inspector
    plane_axes(model) -> tuple[str, str]               the two coordinates across and up its maps
    cell_labels(model, cells, policy_XY)               short labels of actions in the cells of a map

For a function that the module does not define, and for a domain that names no module, the generic
one is used (`fsdash.figures.domains.generic`). A domain outside the package can define these
functions in its own file and set `figures = __name__`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fsdash.domains.base import Domain
from fsdash.errors import InputError

GENERIC = "fsdash.figures.domains.generic"


def domain_svg(domain: Domain) -> str:
    """The drawing of a domain: one <svg> element that scales to its container."""
    return figure_function(domain, "drawing")(domain)


def describe_domain(domain: Domain) -> str:
    """The drawing in words, with the number of states and actions."""
    n_slow, n_fast, n_actions, _ = domain.shape
    sizes = f"{n_slow * n_fast:,} states, {n_actions} actions."
    return f"{figure_function(domain, 'describe')(domain)} {sizes}"


def figure_function(domain: Domain | None, name: str) -> Callable[..., Any]:
    """The domain's own function of this name, or the generic one."""
    place = domain.figures if domain is not None else None
    if place is not None:
        try:
            own = getattr(import_module(place), name, None)
        except ImportError as error:
            raise InputError(
                f"{type(domain).__name__}.figures = {place!r}: the module cannot be imported "
                f"({error})"
            ) from None
        if own is not None:
            return own
    return getattr(import_module(GENERIC), name)
