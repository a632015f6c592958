"""What the lab can run, and how often its page refreshes. Pure, without Streamlit.

A plan is a list of run specifications on one domain; a sweep has one run for each value of T, of a
parameter of the algorithm, or of one of the domain (named `domain.name`). Work is counted in sweeps
of Base E-VI, |S||A|M evaluations with the paper's M = 50, so that a budget means the same for every
method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.dashboard.curves.state import sweep_size
from fsdash.domains import DOMAINS, domain_label, make
from fsdash.errors import InputError
from fsdash.fields import Field, Value
from fsdash.formatting import escape_markdown, shorten, whole_range
from fsdash.reproduce.experiments import AGNOSTIC_SWEEPS, experiment
from fsdash.runs.records import RESUMABLE, Experiment
from fsdash.runs.spec import RunSpec, run_notes
from fsdash.runs.store.queries import MAX_NAME

CUSTOM = "custom"
BUDGET_UNITS = ("sweeps", "evaluations", "iterations", "seconds")
DEFAULT_ALGORITHMS = ("e-fsvi", "e-vi")
DEFAULT_T = "3, 6, 12"
DEFAULT_SWEEPS = 6.0
DEFAULT_REPLICATIONS = 3
LONG_T = 24
"""Longest horizon of the rolling methods in the plans."""
MAX_T_VALUES = 24
"""More curves cannot be distinguished."""
MAX_T = 10**6
"""In a link; each domain has a limit of its own."""
REPEAT_NUMBER = re.compile(r" \(\d{1,5}\)$")
Parameters = Mapping[str, Value]
Build = Callable[[str, Parameters, int, int], list[RunSpec]]
"""From the domain, its parameters, the number of replications and the seed."""


# ------------------------------------------------------------------------------------------- plans


@dataclass(frozen=True)
class RunPlan:
    """Runs that start with one click; their title and description are in `text`."""

    build: Build
    replications: int = 5
    domain: str | None = None
    """None if the plan works on any domain."""


def _sampled(
    methods: Sequence[tuple[str, int | None]], sweeps: Mapping[str, float], agnostic: bool = False
) -> Build:
    """Sampled methods, each with its T, and optionally the one that ignores the slow state.

    A method that does not suit the domain is left out.
    """

    def build(domain: str, parameters: Parameters, replications: int, seed: int) -> list[RunSpec]:
        common = {"domain_parameters": parameters, "replications": replications, "seed": seed}
        budget = run_budget("sweeps", sweeps.get(domain, sweeps["other"]), domain, parameters)
        specs = [RunSpec(domain, name, T=T, **budget, **common) for name, T in methods]
        if agnostic:
            specs.append(RunSpec(domain, "slow-agnostic", iterations=AGNOSTIC_SWEEPS, **common))
        return [spec for spec in specs if _suits(spec)]

    return build


def _suits(spec: RunSpec) -> bool:
    """Whether the algorithm can be run on the domain; E-Thaw, for example, not on every one."""
    try:
        run_notes([spec])
    except InputError:
        return False
    return True


def _exact(domain: str, parameters: Parameters, replications: int, seed: int) -> list[RunSpec]:
    common = {"domain_parameters": parameters, "iterations": 100}
    return [
        RunSpec(domain, "fsvi", T=6, **common),
        RunSpec(domain, "rolling", T=LONG_T, **common),
        RunSpec(domain, "vi", **common),
        RunSpec(domain, "mpi", parameters={"m": 5, "enough": 0.0}, **common),
    ]


def _paper(name: str) -> Build:
    def build(_domain: str, _given: Parameters, replications: int, seed: int) -> list[RunSpec]:
        specs = experiment(name, seed=seed).paper_specs()
        return [replace(spec, replications=replications) for spec in specs]

    return build


PLANS = {
    "quick-look": RunPlan(
        _sampled((("e-fsvi", 6), ("e-vi", None)), {"gridworld": 12, "other": 6}, agnostic=True),
        replications=3,
    ),
    "ways-to-freeze": RunPlan(
        _sampled(
            (("e-fsvi", 6), ("e-rolling", LONG_T), ("e-thaw", None), ("e-vi", None)),
            {"gridworld": 12, "other": 6},
        ),
        replications=3,
    ),
    "t6-against-base": RunPlan(
        _sampled((("e-fsvi", 6), ("e-vi", None)), {"gridworld": 40, "other": 12})
    ),
    "how-long": RunPlan(
        _sampled(
            (*(("e-fsvi", T) for T in (2, 3, 6, 12)), ("e-rolling", LONG_T), ("e-vi", None)),
            {"gridworld": 30, "other": 10},
            agnostic=True,
        )
    ),
    "known-model": RunPlan(_exact),
    "paper-inventory": RunPlan(_paper("inventory"), domain="inventory"),
    "paper-gridworld": RunPlan(_paper("gridworld"), domain="gridworld"),
    "paper-pricing": RunPlan(_paper("pricing"), domain="pricing"),
}


@dataclass(frozen=True)
class CustomPlan:
    """The values of the custom form: one run per algorithm, and per T where it freezes."""

    domain: str
    algorithms: Sequence[str]
    T: str = ""
    """As `parse_T_values` reads it."""
    unit: str = "sweeps"
    size: float = DEFAULT_SWEEPS
    replications: int = DEFAULT_REPLICATIONS
    seed: int = 0
    domain_parameters: Parameters = field(default_factory=dict)
    parameters: Mapping[str, Parameters] = field(default_factory=dict)
    """By algorithm."""

    def specs(self) -> list[RunSpec]:
        if not self.algorithms:
            raise InputError("algorithms: none is chosen; choose at least one")
        freezing = [name for name in self.algorithms if ALGORITHMS[name].freezes]
        T_values = parse_T_values(self.T) if freezing else ()
        if freezing and not T_values:
            titles = " and ".join(ALGORITHMS[name].title for name in freezing)
            raise InputError(f"T: choose for how many periods {titles} should freeze, such as 6")
        budget = run_budget(self.unit, self.size, self.domain, self.domain_parameters)
        return [
            RunSpec(
                self.domain,
                name,
                T=T,
                domain_parameters=self.domain_parameters,
                parameters=self.parameters.get(name, {}),
                replications=self.replications,
                seed=self.seed,
                **budget,
            )
            for name in self.algorithms
            for T in (T_values if ALGORITHMS[name].freezes else (None,))
        ]


def run_budget(unit: str, size: float, domain: str, parameters: Parameters) -> dict[str, float]:
    """The budget of a run as `RunSpec` takes it; sweeps are those of the domain."""
    if unit != "sweeps":
        return {unit: size}
    if not size > 0:
        raise InputError(f"budget = {size:g}: give more than 0 sweeps")
    return {"evaluations": max(1, round(size * sweep_size(make(domain, **parameters))))}


def parse_T_values(text: str) -> tuple[int, ...]:
    """The different values of T that a text such as `3, 6, 12` or `2:6` lists, in order."""
    if not text.strip():
        return ()
    try:
        return tuple(sorted(set(whole_range(text, MAX_T_VALUES))))
    except InputError as error:
        raise InputError(f"T: {error}") from None


def check_T_text(text: str) -> str:
    """The text with uniform spacing, if the form can use it; otherwise an `InputError`."""
    T_values = parse_T_values(text)
    if not T_values or T_values[0] < 1 or T_values[-1] > MAX_T:
        raise InputError(f"T = {text}: give whole numbers of at least 1, such as {DEFAULT_T}")
    return text.replace(" ", "").replace(",", ", ")


def plan_notes(specs: Sequence[RunSpec]) -> dict[str, str]:
    """What the algorithms say about their runs, by the label of the run.

    Raises `InputError` if an algorithm cannot be run with its parameters on its domain.
    """
    return {run_title(spec, specs): note for spec in specs for note in run_notes([spec]).values()}


def run_title(spec: RunSpec, specs: Sequence[RunSpec]) -> str:
    """The label of a run as Markdown, with its domain if the runs are on several."""
    if all(other.domain == spec.domain for other in specs):
        return spec.label
    return f"{escape_markdown(domain_label(spec.domain))}, {spec.label}"


def default_name(specs: Sequence[RunSpec]) -> str:
    """A name for an experiment from the custom form."""
    labels = [spec.label for spec in specs]
    shown = ", ".join(labels[:3]) + (" …" if len(labels) > 3 else "")
    return f"{domain_label(specs[0].domain)}: {shown}"


def name_without_number(name: str) -> str:
    """The name of an experiment without the number that `repeated_name` appends."""
    return REPEAT_NUMBER.sub("", name)


def unused_name(name: str, taken: Collection[str]) -> str:
    """The name, no longer than the store allows, with the next free number if it is taken."""
    name = shorten(name, MAX_NAME)
    return repeated_name(name, taken) if name in taken else name


def repeated_name(name: str, taken: Collection[str]) -> str:
    """A name for an experiment that is run again: the same with the next free number.

    >>> repeated_name("night run", ["night run"])
    'night run (2)'
    >>> repeated_name("night run (2)", ["night run", "night run (2)"])
    'night run (3)'
    """
    first = name_without_number(name)
    numbered = (f"{shorten(first, MAX_NAME - 8)} ({n})" for n in count(2))
    return next(new for new in numbered if new not in taken)


# ---------------------------------------------------------------------------------------- snippets


def commands(specs: Sequence[RunSpec]) -> str:
    """The same runs on the command line, one command for all T of an algorithm."""
    lines = []
    for _, group in groupby(specs, lambda spec: spec.to_command(T_values=())):
        similar = list(group)
        T_values = [spec.T for spec in similar if spec.T is not None]
        lines.append(similar[0].to_command(T_values))
    return "\n".join(lines)


def python_code(specs: Sequence[RunSpec]) -> str:
    """Python code that carries out the same runs, as a file or in a notebook.

    It leaves their rows in `frame` and prints the table of methods.
    """
    return "\n".join(
        [
            "from fsdash import RunSpec, run_all",
            "from fsdash.runs import work_to_reach",
            "",
            "specs = [",
            *(f"    {spec.to_python()}," for spec in specs),
            "]",
            "frame, endings = run_all(specs, workers=2)",
            "print(work_to_reach(frame).to_string())",
        ]
    )


# ----------------------------------------------------------------------------------------- refresh


LONGEST_WAIT = 3.0
"""Seconds between two refreshes of an experiment without numbers, on the busiest server."""


def refresh_interval(experiment: Experiment, now: float, shared: float = 1.0) -> float | None:
    """Seconds between two refreshes of an experiment; None when it cannot change any more.

    `shared` is the server's interval, which holds once there are rows. Before that the page
    refreshes often in the first seconds, for the first point, and then rarely. Running and waiting
    count the same, since they alternate on a busy server. An experiment that can be resumed from
    another tab is refreshed rarely.
    """
    if experiment.active:
        if any(run.rows for run in experiment.runs):
            return shared
        waiting = max(0.5, shared / 4) if now - experiment.created < 4 else max(2.0, shared / 2)
        return min(waiting, LONGEST_WAIT)
    resumable = any(r.status in RESUMABLE for run in experiment.runs for r in run.replications)
    return 5.0 if resumable else None


def is_similar_interval(one: float | None, other: float | None) -> bool:
    """Whether two intervals are so close that a change is not worth a run of the whole page."""
    if one is None or other is None:
        return one is other
    return 0.5 < one / other < 2


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
