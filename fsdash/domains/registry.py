"""All domains by name: the three of the paper and those of the user.

To add a domain to the package, subclass `Domain` in a file of its own and list the class in
`DOMAINS`. The conformance tests then run over it, and the command line, the run lab, the inspector
and Choose T offer it.

A domain outside the package needs no change here. Name its class in the environment variable
FSDASH_DOMAINS as `module:Class` (several with commas): the command line, the worker processes and
the pages load it. In a notebook or a script, call `register` instead.
"""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from inspect import isabstract
from typing import Any, TypeGuard

from fsdash.domains.base import Domain
from fsdash.domains.gridworld import Gridworld
from fsdash.domains.inventory import Inventory
from fsdash.domains.pricing import Pricing
from fsdash.errors import InputError

DOMAINS: dict[str, type[Domain]] = {
    domain.__name__.lower(): domain for domain in (Inventory, Gridworld, Pricing)
}


def make(name: str, preset: str = "default", /, **parameters: object) -> Domain:
    """Return the configuration of a domain: a preset, with single parameters changed.

    Parameters
    ----------
    name : str
        Name of the domain, such as "inventory"; `DOMAINS` has all of them.
    preset : str, default "default"
        Name of one of the domain's presets.
    **parameters
        Parameters that differ from the preset.

    Returns
    -------
    Domain
        A frozen configuration; its `build()` returns the model.

    Examples
    --------
    >>> make("inventory", d_max=50).shape
    (51, 51, 11, 3)
    """
    if name not in DOMAINS:
        raise InputError(f"domain {name!r} is not known; choose from {', '.join(DOMAINS)}")
    domain = DOMAINS[name]
    if preset not in domain.presets:
        raise InputError(f"{name} has no preset {preset!r}; it has {', '.join(domain.presets)}")
    known = [f.name for f in fields(domain)]
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}")
    changes: dict[str, Any] = dict(parameters)
    return replace(domain(**domain.presets[preset]), **changes)


def register(domain: type[Domain]) -> type[Domain]:
    """Add a domain under its class name in lower case. Can be used as a class decorator.

    Worker processes do not see a domain that only this process has registered: name it in
    FSDASH_DOMAINS to run it on a server.
    """
    if not _is_domain(domain):
        raise InputError(
            f"{getattr(domain, '__name__', domain)} is not a Domain with a title, gamma, shape, "
            "build and an empty preset named default"
        )
    name = domain.__name__.lower()
    if name in DOMAINS:
        raise InputError(f"a domain named {name} exists already; rename the class")
    DOMAINS[name] = domain
    return domain


def load(places: str) -> None:
    """Register the domains that a text such as `shop:Shop,farm:Farm` names."""
    for place in filter(None, (part.strip() for part in places.split(","))):
        module, colon, name = place.partition(":")
        if not colon:
            raise InputError(f"FSDASH_DOMAINS: {place} names no class; write module:Class")
        try:
            domain = getattr(import_module(module), name)
        except Exception as error:  # a user's module may raise anything
            raise InputError(f"FSDASH_DOMAINS: {place} cannot be loaded ({error})") from None
        try:
            register(domain)
        except InputError as error:
            raise InputError(f"FSDASH_DOMAINS: {place}: {error}") from None


def _is_domain(domain: object) -> TypeGuard[type[Domain]]:
    return (
        isinstance(domain, type)
        and issubclass(domain, Domain)
        and is_dataclass(domain)
        and not isabstract(domain)
        and isinstance(getattr(domain, "title", None), str)
        and getattr(domain, "presets", {}).get("default") == {}
    )


load(os.environ.get("FSDASH_DOMAINS", ""))
