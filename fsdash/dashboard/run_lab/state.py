"""What the lab can run: plans of one click, and what a form makes. Pure, no Streamlit.

A plan is a list of run specifications on one domain. Work is counted in sweeps of Base E-VI,
|S||A|M evaluations with the paper's M = 50, so that a budget means the same for every method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from fsdash.algorithms.registry import ALGORITHMS, Value
from fsdash.domains import Domain, make
from fsdash.errors import InputError
from fsdash.formatting import number, whole_range
from fsdash.reproduce.experiments import AGNOSTIC_SWEEPS, SAMPLES, experiment
from fsdash.runs.spec import RunSpec

SWEEP_UNIT = "sweeps"
UNITS = {
    SWEEP_UNIT: "sweeps",
    "evaluations": "evaluations",
    "iterations": "own iterations",
    "seconds": "seconds",
}
BY_HAND = "by-hand"
USUAL_T = "3, 6, 12"
MOST_T = 24
"""More curves cannot be told apart."""
LARGEST_T = 10**6
"""In a link; how large it may be depends on the domain."""
Parameters = Mapping[str, Value]
Build = Callable[[str, Parameters, int, int], list[RunSpec]]
"""Domain, its parameters, replications, seed."""


def sweep_size(domain: Domain, samples: int = SAMPLES) -> int:
    """Evaluations in one sweep of Base E-VI: |S||A|M."""
    n_slow, n_fast, n_actions, _ = domain.shape
    return n_slow * n_fast * n_actions * samples


# ------------------------------------------------------------------------------------------- plans


@dataclass(frozen=True)
class Plan:
    """Something to run with one click; `domain` is None where any will do."""

    title: str
    told: str
    build: Build
    replications: int = 5
    domain: str | None = None


def _against_base(T: Sequence[int], sweeps: Mapping[str, float], agnostic: bool) -> Build:
    """E-FSVI with each T beside Base E-VI, and the method that ignores the slow state."""

    def build(domain: str, parameters: Parameters, replications: int, seed: int) -> list[RunSpec]:
        common = {"domain_parameters": parameters, "replications": replications, "seed": seed}
        budget = sweeps.get(domain, sweeps["other"]) * sweep_size(make(domain, **parameters))
        specs = [RunSpec(domain, "e-fsvi", t, evaluations=int(budget), **common) for t in T]
        specs.append(RunSpec(domain, "e-vi", evaluations=int(budget), **common))
        if agnostic:
            specs.append(RunSpec(domain, "slow-agnostic", iterations=AGNOSTIC_SWEEPS, **common))
        return specs

    return build


def _known(domain: str, parameters: Parameters, replications: int, seed: int) -> list[RunSpec]:
    common = {"domain_parameters": parameters, "iterations": 100}
    return [
        RunSpec(domain, "fsvi", 6, **common),
        RunSpec(domain, "vi", **common),
        RunSpec(domain, "mpi", parameters={"m": 5, "enough": 0.0}, **common),
    ]


def _paper(name: str) -> Build:
    def build(_domain: str, _given: Parameters, replications: int, seed: int) -> list[RunSpec]:
        runs = (run.spec for run in experiment(name, seed=seed).runs)
        return [replace(s, replications=replications) for s in runs if s.method.sampled]

    return build


PLANS = {
    "quick-look": Plan(
        "Quick look",
        "E-FSVI with T = 6 beside Base E-VI and the method that ignores the slow state.",
        _against_base((6,), {"gridworld": 12, "other": 6}, agnostic=True),
        replications=3,
    ),
    "t6-against-base": Plan(
        "T = 6 against Base E-VI",
        "The comparison of the paper with enough work for Base E-VI to overtake.",
        _against_base((6,), {"gridworld": 40, "other": 12}, agnostic=False),
    ),
    "how-long": Plan(
        "How long to freeze",
        "E-FSVI with T = 2, 3, 6 and 12: which starts fastest, and which gets furthest?",
        _against_base((2, 3, 6, 12), {"gridworld": 30, "other": 10}, agnostic=True),
    ),
    "known-model": Plan(
        "The model is known",
        "Exact FSVI, VI and modified policy iteration: nothing is sampled.",
        _known,
    ),
    "paper-inventory": Plan(
        "The paper's inventory experiment",
        "All methods of the paper's figure, at its size.",
        _paper("inventory"),
        domain="inventory",
    ),
    "paper-gridworld": Plan(
        "The paper's gridworld experiment",
        "All methods of the paper's figure, at its size.",
        _paper("gridworld"),
        domain="gridworld",
    ),
    "paper-pricing": Plan(
        "The paper's pricing experiment",
        "Linear regression and networks, at the paper's size.",
        _paper("pricing"),
        domain="pricing",
    ),
}


# -------------------------------------------------------------------------------------- by hand


def periods(text: str) -> tuple[int, ...]:
    """The values of T in a field of the form, in order; each once."""
    if not text.strip():
        return ()
    try:
        T = sorted(set(whole_range(text)))
    except InputError as error:
        raise InputError(f"T: {error}") from None
    if len(T) > MOST_T:
        raise InputError(f"T: {len(T):,} values, and a run for each; give at most {MOST_T}")
    return tuple(T)


def periods_text(text: str) -> str:
    """The text, if it can stand in the form."""
    T = periods(text)
    if not T or T[0] < 1 or T[-1] > LARGEST_T:
        raise InputError(f"T = {text}: give whole numbers from 1 on, such as {USUAL_T}")
    return text.replace(" ", "").replace(",", ", ")


@dataclass(frozen=True)
class Form:
    """What a visitor put together by hand: every algorithm, and every T where it freezes."""

    domain: str
    algorithms: Sequence[str]
    T: str = ""
    """As `periods` reads it."""
    unit: str = SWEEP_UNIT
    size: float = 6.0
    replications: int = 3
    seed: int = 0
    domain_parameters: Parameters = field(default_factory=dict)
    parameters: Mapping[str, Parameters] = field(default_factory=dict)
    """By algorithm."""

    def specs(self) -> list[RunSpec]:
        if not self.algorithms:
            raise InputError("algorithms: none is chosen; choose at least one")
        frozen = [name for name in self.algorithms if ALGORITHMS[name].freezes]
        horizons = periods(self.T) if frozen else ()
        if frozen and not horizons:
            titles = " and ".join(ALGORITHMS[name].title for name in frozen)
            raise InputError(f"T: choose for how many periods {titles} should freeze, such as 6")
        budget = self._budget()
        return [
            RunSpec(
                self.domain,
                name,
                T,
                self.domain_parameters,
                self.parameters.get(name, {}),
                self.replications,
                self.seed,
                **budget,
            )
            for name in self.algorithms
            for T in (horizons if ALGORITHMS[name].freezes else (None,))
        ]

    def _budget(self) -> dict[str, float]:
        if self.unit == SWEEP_UNIT:
            if not self.size > 0:
                raise InputError(f"budget = {self.size:g}: give more than 0 sweeps")
            domain = make(self.domain, **self.domain_parameters)
            return {"evaluations": max(1, round(self.size * sweep_size(domain)))}
        return {self.unit: self.size}


def default_name(specs: Sequence[RunSpec]) -> str:
    """A name for an experiment that was not given one."""
    labels = [spec.label for spec in specs]
    shown = ", ".join(labels[:3]) + (" …" if len(labels) > 3 else "")
    return f"{specs[0].domain.capitalize()}: {shown}"


# ------------------------------------------------------------------------------- words and commands


def budget_told(spec: RunSpec) -> str:
    """The budget of a run in words, in sweeps where it counts evaluations."""
    unit, size = spec.budget
    if unit == "evaluations":
        return f"{number(size / sweep_size(spec.build_domain()))} sweeps"
    return f"{number(size)} {'s' if unit == 'seconds' else unit}"


def plan_told(specs: Sequence[RunSpec]) -> list[str]:
    """One line for each run."""
    return [
        f"**{spec.label}**, {budget_told(spec)}, "
        + (f"{spec.replications} replications" if spec.replications > 1 else "once")
        for spec in specs
    ]


def commands(specs: Sequence[RunSpec]) -> str:
    """The same runs from the command line, one command for all T of an algorithm."""
    lines = []
    for _, group in groupby(specs, lambda spec: spec.to_command(T_values=())):
        alike = list(group)
        T_values = [spec.T for spec in alike if spec.T is not None]
        lines.append(alike[0].to_command(T_values))
    return "\n".join(lines)


def snippet(specs: Sequence[RunSpec]) -> str:
    """Lines of Python that carry out the same runs and leave their rows in `frame`."""
    return "\n".join(
        [
            "from fsdash.runs.local import run_all",
            "from fsdash.runs.spec import RunSpec",
            "",
            "specs = [",
            *(f"    {spec.to_python()}," for spec in specs),
            "]",
            "frame, endings = run_all(specs, workers=2)",
        ]
    )
