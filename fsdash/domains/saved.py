"""A user's own model as a domain: `model-3f2a9c01b4d5e6f7`.

The name is made from the content of the model. The same model therefore has the same name on every
computer, and a specification that names it always means the same numbers. `DOMAINS[name]` is a
class like that of any other domain; its only parameter is γ.

    name = remember(model, "company")          for this process and the workers of `run_all`
    store.models.add("me", "company", model)   for every process that can open the database

The content is looked for in this process, then in the databases that are open, then in the user's
own database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from fsdash.core.model import FastSlowMDP
from fsdash.domains.base import Domain, discount

PREFIX = "model-"
MAX_BUILT = 4
"""Models that stay in memory after they were read."""

Contents = dict[str, tuple[str, bytes]]
"""By name: the title and the content of a model."""


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
    return f"{PREFIX}{model.content_hash[:16]}"


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


def remembered_content(names: Iterable[str]) -> Contents:
    """Title and content of the models among these names that only this process knows."""
    return _packed(_remembered[name] for name in dict.fromkeys(names) if name in _remembered)


def all_content(names: Iterable[str]) -> Contents:
    """Title and content of all users' own models among these names, wherever they are stored."""
    found = (saved_domain(name) for name in dict.fromkeys(names) if name.startswith(PREFIX))
    return _packed(domain.content for domain in found if domain is not None)


def _packed(found: Iterable[SavedContent]) -> Contents:
    from fsdash.models.archive import to_bytes

    return {content.name: (content.title, to_bytes(content.read())) for content in found}


def remember_content(contents: Contents) -> None:
    """In a worker: make known what `remembered_content` or `all_content` returned."""
    from fsdash.models.archive import from_bytes

    for name, (title, content) in contents.items():
        if name not in _remembered:
            remember(from_bytes(content), title)


def saved_domain(name: str) -> type[SavedModel] | None:
    """The class of a user's own model; None if it is not found."""
    if name not in _domains:
        found = _remembered.get(name) or _stored(name)
        if found is None:
            return None
        _domains[name] = _domain_class(found)
    return _domains[name]


def forget_class(name: str) -> None:
    """Look the model up again when it is next asked for, because its title has changed."""
    _domains.pop(name, None)


def _stored(name: str) -> SavedContent | None:
    # Imported here: the store knows domains, and most programs that use domains need no store.
    from fsdash.runs.store.models import find_content

    return find_content(name)


def _domain_class(found: SavedContent) -> type[SavedModel]:
    @dataclass(frozen=True)
    class Saved(SavedModel):
        title: ClassVar[str] = found.title
        content: ClassVar[SavedContent] = found

        gamma: float = discount(found.gamma)

    return Saved


@lru_cache(maxsize=MAX_BUILT)
def _built(content: SavedContent) -> FastSlowMDP:
    return content.read()
