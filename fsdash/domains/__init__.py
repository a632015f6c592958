"""The paper's three domains, by name, and those of the user.

`make("inventory", d_max=50)` gives the frozen configuration, `.build()` its model. To add a domain,
subclass `Domain` in a file of its own and list it in `DOMAINS`; the conformance tests run over it.

A domain of one's own needs no change here: the environment variable FSDASH_DOMAINS names its class
as `module:Class` (several with commas), and the command line, the workers and the pages know it.
"""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from inspect import isabstract

from fsdash.domains.base import Domain
from fsdash.domains.gridworld import Gridworld
from fsdash.domains.inventory import Inventory
from fsdash.domains.pricing import Pricing
from fsdash.errors import InputError

DOMAINS: dict[str, type[Domain]] = {
    "inventory": Inventory,
    "gridworld": Gridworld,
    "pricing": Pricing,
}


def load(text: str) -> dict[str, type[Domain]]:
    """The domains that a text such as `shop:Shop,farm:Farm` names."""
    found = {}
    for place in filter(None, (part.strip() for part in text.split(","))):
        module, colon, name = place.partition(":")
        try:
            domain = getattr(import_module(module), name) if colon else None
        except Exception as error:  # whatever a module of the user's may raise
            raise InputError(f"FSDASH_DOMAINS: {place} was not loaded ({error})") from None
        if not _is_domain(domain):
            raise InputError(
                f"FSDASH_DOMAINS: {place} is no Domain with a title and a preset named default; "
                "name one as module:Class"
            )
        if domain.__name__.lower() in DOMAINS | found:
            raise InputError(f"FSDASH_DOMAINS: there is a domain {domain.__name__.lower()} already")
        found[domain.__name__.lower()] = domain
    return found


def _is_domain(domain: object) -> bool:
    return (
        isinstance(domain, type)
        and issubclass(domain, Domain)
        and is_dataclass(domain)
        and not isabstract(domain)
        and isinstance(getattr(domain, "title", None), str)
        and "default" in getattr(domain, "presets", ())
    )


DOMAINS |= load(os.environ.get("FSDASH_DOMAINS", ""))


def make(name: str, preset: str = "default", /, **parameters) -> Domain:
    """The configuration of a domain: a preset, with single parameters changed."""
    if name not in DOMAINS:
        raise InputError(f"domain {name!r} is not known; choose from {', '.join(DOMAINS)}")
    domain = DOMAINS[name]
    if preset not in domain.presets:
        raise InputError(f"{name} has no preset {preset!r}; it has {', '.join(domain.presets)}")
    known = [f.name for f in fields(domain)]
    for parameter in parameters:
        if parameter not in known:
            raise InputError(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}")
    return replace(domain(**domain.presets[preset]), **parameters)


__all__ = ["DOMAINS", "Domain", "Gridworld", "Inventory", "Pricing", "make"]
