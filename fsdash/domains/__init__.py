"""Domains: frozen configurations that build the models of the paper, and those of the user.

`make("inventory", d_max=50)` returns a configuration, and `.build()` its model. See
`fsdash.domains.registry` for how to add a domain.

The names are loaded on first use, so that a user's module, which imports `fsdash.domains.base`,
can be imported before or by the registry.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsdash.domains.base import Domain, parameter
    from fsdash.domains.gridworld import Gridworld
    from fsdash.domains.inventory import Inventory
    from fsdash.domains.pricing import Pricing
    from fsdash.domains.registry import DOMAINS, domain_label, is_saved_name, load, make, register

MODULES = {
    "DOMAINS": "registry",
    "Domain": "base",
    "Gridworld": "gridworld",
    "Inventory": "inventory",
    "Pricing": "pricing",
    "domain_label": "registry",
    "is_saved_name": "registry",
    "load": "registry",
    "make": "registry",
    "parameter": "base",
    "register": "registry",
}
__all__ = [
    "DOMAINS",
    "Domain",
    "Gridworld",
    "Inventory",
    "Pricing",
    "domain_label",
    "is_saved_name",
    "load",
    "make",
    "parameter",
    "register",
]


def __getattr__(name: str) -> object:
    if name not in MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
