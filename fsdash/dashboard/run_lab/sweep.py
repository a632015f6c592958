"""A sweep: one algorithm on one or several domains, with one parameter at several values. Pure.

What varies is T, a parameter of the algorithm, or a parameter of the domain, named `domain.name`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.run_lab.state import (
    DEFAULT_REPLICATIONS,
    DEFAULT_SWEEPS,
    DEFAULT_T,
    MAX_T_VALUES,
    Parameters,
    parse_T_values,
    run_budget,
)
from fsdash.domains import DOMAINS, domain_label
from fsdash.errors import InputError
from fsdash.fields import Field, Value
from fsdash.formatting import whole_range
from fsdash.runs.spec import RunSpec

SWEEP = "sweep"
DEFAULT_DOMAINS, DEFAULT_ALGORITHM = ("inventory",), "e-fsvi"
T = "T"
DEFAULT_FIXED_T = "6"


@dataclass(frozen=True)
class SweepPlan:
    """The values of the sweep's form: one run per domain and value."""

    domains: Sequence[str] = DEFAULT_DOMAINS
    algorithm: str = DEFAULT_ALGORITHM
    vary: str = T
    """One of `sweepable`."""
    values: str = DEFAULT_T
    """As `parse_values` reads them."""
    T: str = ""
    """The fixed T of an algorithm that freezes, if something else varies."""
    unit: str = "sweeps"
    size: float = DEFAULT_SWEEPS
    replications: int = DEFAULT_REPLICATIONS
    seed: int = 0
    domain_parameters: Parameters = field(default_factory=dict)
    """Of the domain, if there is only one."""
    parameters: Parameters = field(default_factory=dict)
    """Of the algorithm."""

    def specs(self) -> list[RunSpec]:
        if not self.domains:
            raise InputError("domains: none is chosen; choose at least one")
        values = parse_values(self.domains, self.algorithm, self.vary, self.values)
        fixed = self._fixed_T()
        return [self._spec(domain, value, fixed) for domain in self.domains for value in values]

    def _fixed_T(self) -> int | None:
        if self.vary == T or not ALGORITHMS[self.algorithm].freezes:
            return None
        found = parse_T_values(self.T)
        if len(found) != 1:
            raise InputError(f"T = {self.T}: give one value; {self.vary} varies")
        return found[0]

    def _spec(self, domain: str, value: Value, fixed: int | None) -> RunSpec:
        of_domain, own = dict(self.domain_parameters), dict(self.parameters)
        name = self.vary.rpartition(".")[2]
        if "." in self.vary:
            of_domain[name] = value
        elif self.vary != T:
            own[name] = value
        return RunSpec(
            domain,
            self.algorithm,
            T=value if self.vary == T else fixed,  # type: ignore[arg-type]
            domain_parameters=of_domain,
            parameters=own,
            replications=self.replications,
            seed=self.seed,
            **run_budget(self.unit, self.size, domain, of_domain),
        )

    def name(self) -> str:
        """A name for the experiment."""
        where = ", ".join(domain_label(domain) for domain in self.domains)
        what = self.vary.rpartition(".")[2]
        listed = parse_values(self.domains, self.algorithm, self.vary, self.values)
        values = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in listed)
        return f"{where}: {ALGORITHMS[self.algorithm].title}, {what} = {values}"


def sweepable(domains: Sequence[str], algorithm: str) -> dict[str, str]:
    """What can vary, with its label: T, parameters of the algorithm, parameters of one domain."""
    entry = ALGORITHMS[algorithm]
    found = {T: "T"} if entry.freezes else {}
    found |= {name: p.label or name for name, p in entry.all_parameters.items()}
    if len(domains) == 1:
        for name, field in DOMAINS[domains[0]].parameters().items():
            found[f"{domains[0]}.{name}"] = f"{field.label or name} (of the domain)"
    return found


def _field(domains: Sequence[str], algorithm: str, vary: str) -> Field:
    """The declaration of what varies: a parameter of the domain, or of the algorithm."""
    if "." in vary:
        return DOMAINS[domains[0]].parameters()[vary.rpartition(".")[2]]
    return ALGORITHMS[algorithm].all_parameters[vary]


def parse_values(domains: Sequence[str], algorithm: str, vary: str, text: str) -> tuple:
    """The different values that a text such as `3, 6, 12`, `2:6` or `zero, last` lists."""
    if vary == T and ALGORITHMS[algorithm].freezes:
        found = parse_T_values(text)
    elif vary not in sweepable(domains, algorithm):
        raise InputError(f"{vary}: cannot vary here; choose another parameter")
    else:
        found = tuple(dict.fromkeys(map(_field(domains, algorithm, vary).parse, _parts(text))))
    if not found:
        raise InputError("values: none are given; write a list such as 3, 6, 12")
    if len(found) > MAX_T_VALUES:
        raise InputError(f"values: {len(found)} mean as many runs; give at most {MAX_T_VALUES}")
    return found


def _parts(text: str) -> list[str]:
    """The parts of a list; a range of whole numbers, such as 2:6, counts as its numbers."""
    parts: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        parts += map(str, whole_range(part)) if ":" in part else [part]
    return parts


def suggested_values(
    domains: Sequence[str], algorithm: str, vary: str, now: Mapping[str, object] | None = None
) -> str:
    """Values to begin with: half, once and twice the present value, or all options.

    `now` holds present values that are not the defaults.
    """
    value = (now or {}).get(vary)
    if vary == T:
        return DEFAULT_T if value is None else _around(value, int, 1)
    field = _field(domains, algorithm, vary)
    if field.kind == "bool":
        return "false, true"
    if field.choices or field.kind == "str":
        return ", ".join(field.choices) or str(field.default)
    value = field.default if value is None else value
    return _around(value if value else 1, int if field.kind == "int" else float, field.low)


def _around(value: object, kind: type, low: float) -> str:
    """Half, once and twice a number; a share close to 1 varies in its distance from 1."""
    number = float(value)  # type: ignore[arg-type]
    found = [number / 2, number, 2 * number]
    if kind is float and 0.5 < number < 1:
        found = [1 - 2 * (1 - number), number, 1 - (1 - number) / 2]
    shown = [max(kind(low), kind(v)) if abs(low) < 1e15 else kind(v) for v in found]
    return ", ".join(dict.fromkeys(f"{v:g}" for v in shown))
