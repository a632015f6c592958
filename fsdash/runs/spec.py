"""What to run: one algorithm on one domain, with budget, replications and seed.

A `RunSpec` is at the same time the command line, the state of a form, a cache key and a row of the
database. It is complete: parameters that are not given are filled in with their defaults, so a
stored specification means the same after a default has changed. Equal specifications have the same
`hash` and give the same numbers in any process (except for seconds): replication i draws from child
i of `SeedSequence(seed)`. An exact algorithm draws nothing, so it has one replication.

The budget is one of: value-function evaluations, iterations of the main level (upper or base), or
seconds of the algorithm's own time.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from fsdash.algorithms.fsvi import MAX_DECISIONS
from fsdash.algorithms.registry import ALGORITHMS, Algorithm, get_algorithm
from fsdash.algorithms.snapshot import MAX_ITERATIONS
from fsdash.core.display import Lines, Summary
from fsdash.core.model import FastSlowMDP
from fsdash.domains import Domain, make
from fsdash.domains.saved import remember
from fsdash.errors import InputError
from fsdash.fields import Value

MAX_REPLICATIONS = 1_000
MAX_SEED = 2**63 - 1
MAX_EVALUATIONS = 10**15
MAX_SECONDS = 7 * 24 * 3600
MAX_NOTED_ENTRIES = 2_000_000
"""Entries of a model that is built for a note about its run."""
BUDGETS = ("evaluations", "iterations", "seconds")

Pairs = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, repr=False)
class RunSpec(Summary):
    """One algorithm on one domain, with its budget.

    Parameters
    ----------
    domain, algorithm : str
        Names of a domain and a registered algorithm. A `FastSlowMDP` is also accepted as the
        domain; it becomes the name of that model (`fsdash.domains.saved`).
    T : int, optional
        Periods for which the slow state is frozen; required by algorithms that freeze it.
    domain_parameters, parameters : mapping
        Parameters of the domain and of the algorithm; defaults are filled in. They are stored as
        sorted pairs.
    replications : int
        Number of independent replications; always 1 for an exact algorithm.
    seed : int
        Seed of the random numbers.
    evaluations, iterations, seconds : number
        The budget of each replication; give exactly one.

    Examples
    --------
    >>> from fsdash.runs.spec import RunSpec
    >>> spec = RunSpec("inventory", "e-fsvi", T=6, parameters={"M_u": 20}, iterations=5)
    >>> spec.label, spec.budget
    ('E-FSVI, T=6', ('iterations', 5))
    >>> spec == RunSpec.from_json(spec.to_json())
    True
    >>> exact = RunSpec("inventory", "fsvi", T=6, iterations=5)
    >>> exact
    RunSpec('inventory', 'fsvi', T=6, seed=0, iterations=5)
    >>> print(exact.to_command())
    fsdash run inventory --algorithm fsvi --seed 0 --iterations 5 -T 6
    """

    domain: str
    algorithm: str
    _: KW_ONLY
    T: int | None = None
    domain_parameters: Pairs | Mapping[str, Value] = ()
    parameters: Pairs | Mapping[str, Value] = ()
    replications: int = 5
    seed: int = 0
    evaluations: int | None = None
    iterations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.domain, FastSlowMDP):
            self._set("domain", remember(self.domain))
        if isinstance(self.domain, Domain):
            raise InputError(
                "domain: give its name, such as 'inventory', and its parameters as "
                "domain_parameters; or call .build() and give the model"
            )
        self._set("domain_parameters", self._all_domain_parameters())
        self._set("parameters", self._all_parameters())
        self._set("T", self._checked_T())
        replications = _whole("replications", self.replications, 1, MAX_REPLICATIONS)
        self._set("replications", replications if self.method.sampled else 1)
        self._set("seed", _whole("seed", self.seed, 0, MAX_SEED))
        self._set(*self._checked_budget())
        # The JSON text is the identity of the specification: made here, once, and only read later.
        self._set("_json", json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":")))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _all_domain_parameters(self) -> Pairs:
        parameters = _mapping("domain_parameters", self.domain_parameters)
        return _pairs(asdict(make(self.domain, "default", **parameters)))

    def _all_parameters(self) -> Pairs:
        parameters = self.method.all_parameters
        values = {name: parameter.default for name, parameter in parameters.items()}
        for name, value in _mapping("parameters", self.parameters).items():
            if name not in parameters:
                raise InputError(
                    f"parameters: {self.algorithm} has no parameter {name!r}; it has "
                    f"{', '.join(parameters)}"
                )
            values[name] = parameters[name].parse(value)
        X, Y = self.build_domain().shape[:2]
        N = values.get("N")
        if isinstance(N, int) and N > X * Y:
            raise InputError(f"N = {N}: {self.domain} has only {X * Y:,} states; use fewer")
        return _pairs(values)

    def _checked_T(self) -> int | None:
        if not self.method.freezes:
            if self.T is not None:
                raise InputError(f"T = {self.T}: {self.algorithm} does not freeze; leave T out")
            return None
        if self.T is None:
            raise InputError(
                f"T: {self.algorithm} freezes the slow state; give the number of periods T"
            )
        X, Y = self.build_domain().shape[:2]
        return _whole("T", self.T, 1, MAX_DECISIONS // (X * Y))

    def _checked_budget(self) -> tuple[str, int | float]:
        budgets = [name for name in BUDGETS if getattr(self, name) is not None]
        if len(budgets) != 1:
            raise InputError(
                f"budget: give exactly one of {', '.join(BUDGETS)}, not "
                f"{' and '.join(budgets) if budgets else 'none'}"
            )
        [name] = budgets
        if name == "seconds":
            seconds = _number(name, self.seconds)
            if not 0 < seconds <= MAX_SECONDS:
                raise InputError(
                    f"seconds = {self.seconds}: use more than 0, up to {MAX_SECONDS:,}"
                )
            return name, seconds
        most = MAX_EVALUATIONS if name == "evaluations" else MAX_ITERATIONS
        return name, _whole(name, getattr(self, name), 1, most)

    def __repr__(self) -> str:
        return self.to_python()

    def _summary(self) -> tuple[str, Lines]:
        unit, size = self.budget
        rows: list[tuple[str, object]] = [
            ("domain", self.domain),
            ("budget", f"{size:,} {unit}"),
            ("replications", self.replications),
            ("seed", self.seed),
        ]
        changed = ", ".join(f"{name}={value}" for name, value in self.changed().items())
        return f"RunSpec: {self.label}", [*rows, ("changed parameters", changed or "none")]

    @property
    def method(self) -> Algorithm:
        return get_algorithm(self.algorithm)

    def build_domain(self) -> Domain:
        """The domain with its parameters."""
        return make(self.domain, "default", **dict(self.domain_parameters))

    @property
    def budget(self) -> tuple[str, int | float]:
        """The unit of the budget and its size."""
        [name] = [name for name in BUDGETS if getattr(self, name) is not None]
        return name, getattr(self, name)

    @property
    def label(self) -> str:
        """The name of the run in a legend."""
        return self.method.label(self.T if self.method.freezes else None)

    def changed(self) -> dict[str, Value]:
        """The parameters of domain and algorithm that differ from their defaults."""
        return self._changed_domain_parameters() | self._changed_parameters()

    def _changed_domain_parameters(self) -> dict[str, Value]:
        defaults = asdict(make(self.domain))
        return {n: v for n, v in dict(self.domain_parameters).items() if v != defaults[n]}

    def _changed_parameters(self) -> dict[str, Value]:
        defaults = self.method.all_parameters
        return {n: v for n, v in dict(self.parameters).items() if v != defaults[n].default}

    def to_python(self) -> str:
        """The expression `RunSpec(…)` that creates this specification, on one line.

        Parameters that have their default values are left out.
        """
        unit, size = self.budget
        arguments: dict[str, object] = {
            "T": self.T,
            "domain_parameters": self._changed_domain_parameters() or None,
            "parameters": self._changed_parameters() or None,
            "replications": self.replications if self.method.sampled else None,
            "seed": self.seed,
            unit: size,
        }
        written = [f"{name}={value!r}" for name, value in arguments.items() if value is not None]
        return f"RunSpec({', '.join([repr(self.domain), repr(self.algorithm), *written])})"

    def to_command(self, T_values: Sequence[int] | None = None) -> str:
        """The `fsdash run` command of this specification, quoted for a shell.

        `T_values` replaces T: one command then starts a run for each of its values. Parameters that
        have their default values are left out.
        """
        unit, size = self.budget
        T_values = ([] if self.T is None else [self.T]) if T_values is None else T_values
        words = ["fsdash", "run", self.domain, "--algorithm", self.algorithm]
        for option, parameters in (
            ("--set", self._changed_domain_parameters()),
            ("--with", self._changed_parameters()),
        ):
            for name, value in parameters.items():
                words += [option, f"{name}={value}"]
        if self.method.sampled:
            words += ["--replications", str(self.replications)]
        words += ["--seed", str(self.seed), f"--{unit}", str(size)]
        if T_values:
            words += ["-T", ",".join(map(str, T_values))]
        return shlex.join(words)

    def to_dict(self) -> dict[str, Any]:
        """The specification as data for JSON, without what is None."""
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        values |= {n: dict(values[n]) for n in ("domain_parameters", "parameters")}
        return {name: value for name, value in values.items() if value is not None}

    def to_json(self) -> str:
        """The specification as JSON; equal specifications have equal text."""
        return self._json  # type: ignore[attr-defined]

    @classmethod
    def from_dict(cls, values: object) -> RunSpec:
        """The specification of `to_dict`, or an error that names the unusable part."""
        if not isinstance(values, Mapping):
            raise InputError("specification: give an object with names and values")
        names = [f.name for f in fields(cls)]
        for name in values:
            if name not in names:
                raise InputError(f"{name}: not part of a specification; it has {', '.join(names)}")
        for name in ("domain", "algorithm"):
            if not isinstance(values.get(name), str):
                raise InputError(f"{name}: is missing; give its name")
        return cls(**values)

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        """The specification of `to_json`, or an error that names the unusable part."""
        try:
            values = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"specification: is not JSON ({error}); give an object") from None
        return cls.from_dict(values)

    @cached_property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that identify the specification in any process."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def generator(self, replication: int) -> np.random.Generator:
        """The random number generator of one replication, the same in any process."""
        _whole("replication", replication, 0, self.replications - 1)
        child = np.random.SeedSequence(self.seed).spawn(replication + 1)[replication]
        return np.random.default_rng(child)


def run_notes(specs: Iterable[RunSpec]) -> dict[str, str]:
    """What the algorithms say about their runs, by the label of the run; most say nothing.

    FSAVI, for example, reports κ of its features. Models with more than `MAX_NOTED_ENTRIES`
    entries get no note, because it would be computed where the page is served.

    Raises `InputError` if an algorithm cannot be run with its parameters on its domain.

    Examples
    --------
    >>> run_notes([RunSpec("inventory", "fsavi", T=6, iterations=1)])
    {'FSAVI, T=6': 'aggregation, 40 features for 561 states, κ = 1, κγ = 0.995'}
    """
    noted = (
        spec
        for spec in specs
        if ALGORITHMS[spec.algorithm].note is not None
        and spec.build_domain().entries <= MAX_NOTED_ENTRIES
    )
    return {
        spec.label: _note(
            spec.domain, tuple(spec.domain_parameters), spec.algorithm, tuple(spec.parameters)
        )
        for spec in noted
    }


@lru_cache(maxsize=64)
def _note(domain: str, domain_parameters: Pairs, algorithm: str, parameters: Pairs) -> str:
    note = ALGORITHMS[algorithm].note
    assert note is not None  # the caller has checked it
    return note(make(domain, "default", **dict(domain_parameters)).build(), **dict(parameters))


def share_spent(unit: str, size: float, row: Mapping[str, Any]) -> float:
    """The share of a budget that is spent at a row. Lower-level iterations do not count."""
    if unit == "iterations" and row["phase"] == "lower":
        return 0.0
    spent: float = row["iteration" if unit == "iterations" else unit]
    return min(1.0, spent / size)


def _mapping(name: str, pairs: Any) -> dict[str, Value]:
    try:
        values: dict[str, Value] = dict(pairs)
    except (TypeError, ValueError):
        raise InputError(f"{name}: give names with values, such as {{'M': 50}}") from None
    for key in values:
        if not isinstance(key, str):
            raise InputError(f"{name}: {key!r} is not a name")
    return values


def _pairs(values: Mapping[str, Value]) -> Pairs:
    return tuple(sorted(values.items()))


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{name} = {value!r}: give a number")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name}: the number is too large") from None


def _whole(name: str, value: object, least: int, most: int) -> int:
    number = value if isinstance(value, int) else _number(name, value)
    if isinstance(value, bool) or not (least <= number <= most and int(number) == number):
        raise InputError(f"{name} = {value}: use a whole number, {least:,} to {most:,}")
    return int(number)
