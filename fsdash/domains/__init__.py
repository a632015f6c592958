"""The paper's three domains, by name.

`make("inventory", d_max=50)` gives the frozen configuration, `.build()` its model. To add a domain,
subclass `Domain` in a file of its own and list it in `DOMAINS`; the conformance tests run over it.
"""

from __future__ import annotations

from dataclasses import fields, replace

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
