"""Every algorithm by the name that a user gives it, with the parameters that a run may set.

A `Method` turns plain parameters (numbers, words, switches) into a generator of snapshots. What a
command line, a form or a file needs to know about a parameter stands in its `Parameter`; the
defaults are the paper's, or this project's where the paper is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from fsdash.algorithms import (
    Snapshot,
    efsvi,
    eqi,
    evi,
    fqi,
    fsfvi,
    fsvi,
    fvi,
    mpi,
    slow_agnostic,
    vi,
)
from fsdash.algorithms.fsfvi import EXTRACT
from fsdash.core.model import FastSlowMDP
from fsdash.domains.base import parse_number
from fsdash.errors import InputError
from fsdash.regression import Deep, Linear
from fsdash.sampling import TIES
from fsdash.sampling.checks import MAX_SAMPLES

MAX_SNAPSHOTS = 100
MAX_STATES = 100_000_000
LARGEST_VALUE = 1e12

Value = int | float | bool | str | None


@dataclass(frozen=True)
class Parameter:
    """One parameter of an algorithm: its default, its range or its choices, and what it means."""

    default: Value
    told: str
    least: float = 0
    most: float = float("inf")
    choices: tuple[str, ...] = ()
    kind: str = ""
    optional: bool = False
    """Whether None is allowed; it lets the algorithm decide."""

    def __post_init__(self) -> None:
        kind = "choice" if self.choices else type(self.default).__name__
        object.__setattr__(self, "kind", self.kind or kind)

    def checked(self, name: str, value: object) -> Value:
        """The value as this parameter's kind, from a number or a text; else an error naming it."""
        if self.optional and (value is None or str(value).strip().lower() in ("", "none", "auto")):
            return None
        if self.choices:
            if value not in self.choices:
                raise InputError(f"{name} = {value}: choose from {', '.join(self.choices)}")
            return value
        number = parse_number(name, self.kind, value)
        if not self.least <= number <= self.most:
            raise InputError(f"{name} = {value}: use a value from {self.least:g} to {self.most:g}")
        return number


Parameters = Mapping[str, Parameter]


@dataclass(frozen=True)
class Method:
    """An algorithm that can be run by name."""

    name: str
    title: str
    told: str
    generator: Callable[..., Iterator[Snapshot]]
    initial: str
    """The generator's argument for initial values; the letters after _ are its axes."""
    parameters: Parameters
    family: str = "VI"
    freezes: bool = False
    """Whether it freezes the slow state for T periods."""
    sampled: bool = True
    """Whether it draws random numbers; if not, one replication says it all."""
    regression: Callable | None = None
    regression_parameters: Parameters = field(default_factory=dict)

    @property
    def all_parameters(self) -> dict[str, Parameter]:
        return {**self.parameters, **self.regression_parameters, "initial_value": INITIAL}

    def start(
        self,
        model: FastSlowMDP,
        rng: np.random.Generator,
        T: int | None,
        parameters: Mapping[str, Value],
    ) -> Iterator[Snapshot]:
        """The algorithm, ready to go."""
        sizes = {"X": model.n_slow, "Y": model.n_fast, "A": model.n_actions}
        shape = [sizes[axis] for axis in self.initial.rpartition("_")[2]]
        arguments = {name: parameters[name] for name in self.parameters}
        arguments[self.initial] = np.full(shape, parameters["initial_value"], float)
        if self.sampled:
            arguments["rng"] = rng
        if self.freezes:
            arguments["T"] = T
        if self.regression is not None:
            names = self.regression_parameters
            arguments["regress"] = self.regression(**{name: parameters[name] for name in names})
        return self.generator(model, **arguments)


INITIAL = Parameter(0.0, "initial value of every state", -LARGEST_VALUE, LARGEST_VALUE)


def samples(default: int, told: str) -> Parameter:
    return Parameter(default, told, 1, MAX_SAMPLES)


M = samples(50, "M: samples of the next state for each state and action")
M_L = samples(1, "M_l: samples in the lower level; 1 is exact without noise in the frozen y")
M_U = samples(50, "M_u: paths of T periods for each state and action")
PER_SWEEP = Parameter(3, "looks at the policy in each sweep", 1, MAX_SNAPSHOTS)
COMMON = Parameter(False, "the same random numbers for all actions of a state")
COUNT_ACTIONS = Parameter(False, "count the maximum over next actions |A| times instead of once")


def ties(default: str) -> Parameter:
    return Parameter(default, "which of several equally good actions is taken", choices=TIES)


BASE = {
    "M": M,
    "snapshots_per_sweep": PER_SWEEP,
    "ties": ties("first"),
    "common_random_numbers": COMMON,
}
FROZEN = {
    "M_l": M_L,
    "M_u": M_U,
    "snapshots_per_sweep": PER_SWEEP,
    "ties": ties("random"),
    "common_random_numbers": COMMON,
}

TABULAR = (
    Method(
        "vi",
        "VI",
        "Exact value iteration on the base model.",
        vi,
        "U0_XY",
        {},
        sampled=False,
    ),
    Method(
        "fsvi",
        "FSVI",
        "Exact frozen-state value iteration.",
        fsvi,
        "V0_XY",
        {},
        family="FSVI",
        freezes=True,
        sampled=False,
    ),
    Method(
        "mpi",
        "MPI",
        "Modified policy iteration: the expert's choice when the model is known.",
        mpi,
        "U0_XY",
        {
            "m": Parameter(400, "evaluation sweeps between two improvements, at most", 0, 1e6),
            "enough": Parameter(0.1, "stop them at this share of the greedy residual", 0, 1),
        },
        family="MPI",
        sampled=False,
    ),
    Method(
        "e-vi",
        "Base E-VI",
        "Value iteration with sampled expectations.",
        evi,
        "U0_XY",
        BASE,
    ),
    Method(
        "e-fsvi",
        "E-FSVI",
        "Frozen-state value iteration with sampled expectations.",
        efsvi,
        "V0_XY",
        FROZEN,
        family="FSVI",
        freezes=True,
    ),
    Method(
        "e-qi",
        "Base E-QI",
        "Q-iteration with sampled expectations.",
        eqi,
        "Q0_XYA",
        {**BASE, "count_actions": COUNT_ACTIONS},
        family="QI",
    ),
    Method(
        "slow-agnostic",
        "Slow-agnostic E-VI",
        "E-VI that sees the fast state alone.",
        slow_agnostic,
        "U0_Y",
        BASE,
        family="slow-agnostic",
    ),
)

N = Parameter(
    None,
    "N: states sampled in each iteration; a tenth of all unless given",
    1,
    MAX_STATES,
    kind="int",
    optional=True,
)
DEEP = {
    "learning_rate": Parameter(0.01, "step size of Adam", 1e-9, 1e3),
    "epochs": Parameter(20, "passes through the sampled states in a fit", 1, 1e6),
    "batch_size": Parameter(
        None,
        "states in a step of Adam; 1/25 of them unless given",
        1,
        MAX_STATES,
        kind="int",
        optional=True,
    ),
    "warm_start": Parameter(False, "go on from the weights of the iteration before"),
    "scale_targets": Parameter(True, "standardise the targets of a fit"),
    "scale_features": Parameter(False, "standardise the features of a fit"),
}


def fitted(word: str, title: str, told: str, regression: Callable, own: Parameters) -> tuple:
    """FVI, FSFVI and FQI with one kind of regression."""
    base = {"N": N, "M": M, "ties": ties("first"), "common_random_numbers": COMMON}
    frozen = {
        "N": N,
        "M_l": M_L,
        "M_u": M_U,
        "ties": ties("random"),
        "common_random_numbers": COMMON,
        "extract": Parameter("fresh", "how the upper policy is read off", choices=EXTRACT),
    }
    common = {"regression": regression, "regression_parameters": own}
    return (
        Method(
            f"{word}-fvi",
            f"{title}-FVI",
            f"Value iteration fitted by {told}.",
            fvi,
            "U0_XY",
            base,
            **common,
        ),
        Method(
            f"{word}-fsfvi",
            f"{title}-FSFVI",
            f"Frozen-state value iteration fitted by {told}.",
            fsfvi,
            "V0_XY",
            frozen,
            family="FSVI",
            freezes=True,
            **common,
        ),
        Method(
            f"{word}-fqi",
            f"{title}-FQI",
            f"Q-iteration fitted by {told}.",
            fqi,
            "Q0_XYA",
            {**base, "count_actions": COUNT_ACTIONS},
            family="QI",
            **common,
        ),
    )


FITTED = (
    *fitted("lin", "Lin", "a linear function of the state", Linear, {}),
    *fitted("deep", "Deep", "a small neural network", Deep, DEEP),
)
METHODS = {method.name: method for method in (*TABULAR, *FITTED)}


def method(name: str) -> Method:
    if name not in METHODS:
        raise InputError(f"algorithm {name!r} is not known; choose from {', '.join(METHODS)}")
    return METHODS[name]
