"""A user's own model as a domain: `model-3f2a9c01b4d5e6f7`.

The name is made from the content of the model. The same model therefore has the same name on every
computer, and a specification that names it always means the same numbers. `DOMAINS[name]` is a
class like that of any other domain; its only parameter is γ.

    name = remember(model, "company")          for this process and the workers of `run_all`
    store.models.add("me", "company", model)   for every process that can open the database

The content is looked for in this process, then with `fsdash.domains.lookup.find_stored`: in the
databases that are open, then in the user's own database.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from fsdash.core.model import FastSlowMDP
from fsdash.domains import lookup
from fsdash.domains.base import Domain, discount

PREFIX = "model-"
MAX_BUILT = 4
"""Models that stay in memory after they were read."""

Contents = dict[str, tuple[str, str]]
"""By name: the title of a model, and its archive as text (base64), to be sent to a worker."""


@dataclass(frozen=True, eq=False)
class SavedContent:
    """What is known about a model before it is built, and how it is read."""

    name: str
    title: str
    shape: tuple[int, int, int, int]
    """|X|, |Y|, |A|, and the outcomes per exact backup."""
    gamma: float
    sense: str
    variables: Mapping[str, Sequence[str]]
    """Names of the `slow`, `fast` and `actions` variables."""
    read: Callable[[], FastSlowMDP]


@dataclass(frozen=True)
class SavedModel(Domain):
    """The base of the classes that `saved_domain` returns, one for each model."""

    presets: ClassVar[dict[str, dict[str, Any]]] = {"default": {}}
    figures: ClassVar[str | None] = "fsdash.figures.domains.saved"
    content: ClassVar[SavedContent]

    @property
    def name(self) -> str:
        return self.content.name

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return self.content.shape

    def build(self) -> FastSlowMDP:
        model = _built(self.content)
        return model if self.gamma == model.gamma else replace(model, gamma=self.gamma)


_remembered: dict[str, SavedContent] = {}
_domains: dict[str, type[SavedModel]] = {}


def domain_name(model: FastSlowMDP) -> str:
    """The name of a model as a domain."""
    from fsdash.models.content import content_hash

    return f"{PREFIX}{content_hash(model)[:16]}"


def variable_names(model: FastSlowMDP) -> dict[str, list[str]]:
    """The names of the slow, fast and action variables."""
    return {axis: list(getattr(model, axis).names) for axis in ("slow", "fast", "actions")}


def remember(model: FastSlowMDP, title: str = "") -> str:
    """Make a model known to this process and to the workers of `run_all`; returns its name."""
    name = domain_name(model)
    shape = (model.n_slow, model.n_fast, model.n_actions, model.true.outcomes)
    _remembered[name] = SavedContent(
        name,
        title or model.name,
        shape,
        model.gamma,
        model.sense,
        variable_names(model),
        lambda: model,
    )
    forget_class(name)
    return name


def contents_of(name: str) -> Contents:
    """Title and content of a user's own model, wherever it is stored; empty for other domains."""
    from fsdash.models.archive import to_bytes

    domain = saved_domain(name) if name.startswith(PREFIX) else None
    if domain is None:
        return {}
    archive = base64.b64encode(to_bytes(domain.content.read())).decode()
    return {name: (domain.title, archive)}


def remember_contents(contents: Contents) -> None:
    """In a worker: make known what `contents_of` returned."""
    from fsdash.models.archive import from_bytes

    for name, (title, archive) in contents.items():
        if name not in _remembered:
            remember(from_bytes(base64.b64decode(archive)), title)


def saved_domain(name: str) -> type[SavedModel] | None:
    """The class of a user's own model; None if it is not found."""
    if name not in _domains:
        content = _remembered.get(name) or lookup.find_stored(name)
        if content is None:
            return None
        _domains[name] = _domain_class(content)
    return _domains[name]


def forget_class(name: str) -> None:
    """Look the model up again when it is next asked for, because its title has changed."""
    _domains.pop(name, None)


def _domain_class(saved: SavedContent) -> type[SavedModel]:
    @dataclass(frozen=True)
    class Saved(SavedModel):
        title: ClassVar[str] = saved.title
        content: ClassVar[SavedContent] = saved

        gamma: float = discount(saved.gamma)

    return Saved


@lru_cache(maxsize=MAX_BUILT)
def _built(content: SavedContent) -> FastSlowMDP:
    return content.read()
