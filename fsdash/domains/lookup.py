"""How a stored model is found. The store knows domains, and domains do not know the store.

`fsdash` itself, which is imported before any of its parts, registers the search with `look_with`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsdash.domains.saved import SavedContent

Find = Callable[[str], "SavedContent | None"]

_find: Find = lambda name: None  # noqa: E731


def look_with(find: Find) -> None:
    """Find the content of a stored model, by its name as a domain, with this function."""
    global _find
    _find = find


def find_stored(name: str) -> SavedContent | None:
    """The content of a stored model; None if it is not found."""
    return _find(name)
