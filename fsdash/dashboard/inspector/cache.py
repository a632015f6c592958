"""Policies that were shown lately. All visitors share them; their total size is limited."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MAX_POLICIES = 48
MAX_TOTAL = 10_000_000
"""Entries of all models and policies together, about 45 bytes each at most."""

T = TypeVar("T")


class SizedCache(Generic[T]):
    """The values that were used last, at most `most` of them and of at most `total` size.

    A value that exceeds `total` alone is returned but not kept.
    """

    def __init__(self, most: int = MAX_POLICIES, total: int = MAX_TOTAL) -> None:
        self.most, self.total = most, total
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], tuple[T, int]]) -> T:
        """The value of a key; `make` returns it with its size if it is not here."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value, size = make()
        with self._lock:
            self._values[key] = value, size
            self._values.move_to_end(key)
            while len(self._values) > self.most or self.size > self.total:
                self._values.popitem(last=False)
        return value

    @property
    def size(self) -> int:
        """The size of all values that are kept."""
        return sum(size for _, size in self._values.values())

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._values.clear()
