"""What an algorithm says about a run before it starts, such as κ of FSAVI's features."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from fsdash.algorithms.registry import get_algorithm
from fsdash.domains import make
from fsdash.runs.spec import Pairs, RunSpec


def run_notes(specs: Iterable[RunSpec]) -> dict[str, str]:
    """The notes of the algorithms, by the label of the run; most algorithms have none.

    Raises `InputError` if an algorithm cannot be run with its parameters on its domain.

    Examples
    --------
    >>> run_notes([RunSpec("inventory", "fsavi", T=6, iterations=1)])
    {'FSAVI, T=6': 'aggregation, 40 features for 561 states, κ = 1, κγ = 0.995'}
    """
    noted = (spec for spec in specs if spec.method.note is not None)
    return {
        spec.label: _note(
            spec.domain, tuple(spec.domain_parameters), spec.algorithm, tuple(spec.parameters)
        )
        for spec in noted
    }


@lru_cache(maxsize=64)
def _note(domain: str, domain_parameters: Pairs, algorithm: str, parameters: Pairs) -> str:
    note = get_algorithm(algorithm).note
    assert note is not None  # the caller has checked it
    return note(make(domain, "default", **dict(domain_parameters)).build(), **dict(parameters))
