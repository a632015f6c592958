"""All domains by name: the three of the paper and those of the user.

To add a domain to the package, subclass `Domain` in a file of its own and list the class in
`DOMAINS`. The conformance tests then run over it, and the command line, the run lab, the inspector
and Choose T offer it.

A domain outside the package needs no change here. There are three ways to make it known:

    FSDASH_DOMAINS=shop:Shop,farm:Farm     environment variable, `module:Class`; the command line,
                                           the worker processes and the pages load these classes
    [project.entry-points."fsdash.domains"]
    shop = "shop:Shop"                     entry point of an installed package; nothing to set
    register(Shop)                         in a notebook or a script, for this process only

A user's own model needs no class at all: see `fsdash.domains.saved`.

The user's modules are imported when `DOMAINS` is first read, not when this module is imported: they
import `fsdash.domains` themselves.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Iterator, MutableMapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract
from types import ModuleType
from typing import Any, TypeGuard

from fsdash.domains.base import Domain
from fsdash.domains.gridworld import Gridworld
from fsdash.domains.inventory import Inventory
from fsdash.domains.pricing import Pricing
from fsdash.domains.saved import saved_domain
from fsdash.errors import InputError
from fsdash.fields import KINDS

GROUP = "fsdash.domains"
"""Entry points of this group are domains."""
SAVED_NAME = re.compile(r"model-[0-9a-f]{16}")
"""The names that `fsdash.domains.saved` gives to users' own models."""


class Domains(MutableMapping[str, type[Domain]]):
    """Domains by name; those outside the package are loaded when the mapping is first read.

    A user's own model can be looked up by its name (`fsdash.domains.saved`), but is not listed.
    """

    def __init__(self, *domains: type[Domain]) -> None:
        self._domains = {domain.__name__.lower(): domain for domain in domains}
        self._lock = threading.RLock()
        self._complete = self._loading = False

    def __getitem__(self, name: str) -> type[Domain]:
        self._load_outside()
        if is_saved_name(name):
            domain = saved_domain(name)
            if domain is None:
                raise KeyError(name)
            return domain
        return self._domains[name]

    def __iter__(self) -> Iterator[str]:
        self._load_outside()
        return iter(list(self._domains))

    def __len__(self) -> int:
        self._load_outside()
        return len(self._domains)

    def __setitem__(self, name: str, domain: type[Domain]) -> None:
        self._domains[name] = domain

    def __delitem__(self, name: str) -> None:
        del self._domains[name]

    def add(self, name: str, domain: type[Domain]) -> None:
        """Add a domain, which may be added again. Loads no others: a module calls this as well."""
        if self._domains.get(name, domain) is not domain:
            raise InputError(f"a domain named {name} exists already; rename the class")
        self._domains[name] = domain

    def _load_outside(self) -> None:
        """Load the domains outside the package once; a failure is reported again next time."""
        if self._complete:
            return
        with self._lock:
            # A module that reads DOMAINS while it is loaded sees those that are known so far.
            if self._complete or self._loading:
                return
            self._loading = True
            try:
                self._complete = load(os.environ.get("FSDASH_DOMAINS", ""))
                load_installed()
            finally:
                self._loading = False


DOMAINS = Domains(Inventory, Gridworld, Pricing)


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
    domain = DOMAINS.get(name)
    if domain is None and is_saved_name(name):
        raise InputError(
            f"the model {name} is not saved here; it may have been deleted, or it belongs to "
            "another database: open its file on the page Your model"
        )
    if domain is None:
        raise InputError(f"domain {name!r} is not known; choose from {', '.join(DOMAINS)}")
    if preset not in domain.presets:
        raise InputError(f"{name} has no preset {preset!r}; it has {', '.join(domain.presets)}")
    names = [f.name for f in fields(domain)]
    for parameter in parameters:
        if parameter not in names:
            raise InputError(f"{name} has no parameter {parameter!r}; it has {', '.join(names)}")
    values: dict[str, Any] = {**domain.presets[preset], **parameters}
    return domain(**values)


def domain_label(name: str) -> str:
    """What tables and pages call a domain: its name, or the title of a user's own model.

    Examples
    --------
    >>> domain_label("inventory")
    'Inventory'
    """
    saved = saved_domain(name) if is_saved_name(name) else None
    return saved.title if saved is not None else name.capitalize()


def is_saved_name(name: object) -> bool:
    """Whether a text is the name of a user's own model; the model need not exist."""
    return isinstance(name, str) and SAVED_NAME.fullmatch(name) is not None


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
    for name, field in domain.parameters().items():
        if field.kind not in KINDS:
            raise InputError(
                f"{domain.__name__}.{name} is a field of type {field.kind}; use one of "
                f"{', '.join(KINDS)}"
            )
    DOMAINS.add(domain.__name__.lower(), domain)
    return domain


def load(places: str) -> bool:
    """Register the domains that a text such as `shop:Shop,farm:Farm` names.

    Returns whether all are registered. A module that is just being imported has no class yet: its
    domain is left for later.
    """
    complete = True
    for place in filter(None, (part.strip() for part in places.split(","))):
        module, colon, name = place.partition(":")
        if not colon:
            raise InputError(f"FSDASH_DOMAINS: {place} names no class; write module:Class")
        try:
            imported = import_module(module)
            if not hasattr(imported, name) and _is_being_imported(imported):
                complete = False
                continue
            domain = getattr(imported, name)
        except Exception as error:  # a user's module may raise anything
            raise InputError(f"FSDASH_DOMAINS: {place} cannot be loaded ({error})") from None
        try:
            register(domain)
        except InputError as error:
            raise InputError(f"FSDASH_DOMAINS: {place}: {error}") from None
    return complete


def _is_being_imported(module: ModuleType) -> bool:
    return bool(getattr(module.__spec__, "_initializing", False))


def load_installed() -> None:
    """Register the domains of installed packages.

    A domain that cannot be used gets a warning, not an error: the person who runs fsdash may
    not be able to repair the package.
    """
    for entry in entry_points(group=GROUP):
        try:
            register(entry.load())
        except Exception as error:  # another package may raise anything
            warnings.warn(
                f"the domain {entry.value} of {_package(entry)} cannot be used ({error}); update "
                "or uninstall the package",
                stacklevel=2,
            )


def _package(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name}" if entry.dist else "an installed package"


def _is_domain(domain: object) -> TypeGuard[type[Domain]]:
    return (
        isinstance(domain, type)
        and issubclass(domain, Domain)
        and is_dataclass(domain)
        and not isabstract(domain)
        and isinstance(getattr(domain, "title", None), str)
        and getattr(domain, "presets", {}).get("default") == {}
    )
