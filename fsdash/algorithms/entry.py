"""What the registry declares about an algorithm: its parameters and how to start it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any

import numpy as np

from fsdash.algorithms.snapshot import Resume, Snapshot
from fsdash.core.model import FastSlowMDP
from fsdash.fields import Field
from fsdash.sampling import Sampling

LARGEST_VALUE = 1e12

INITIAL = Field(
    0.0,
    "The value in every state that the algorithm starts from.",
    -LARGEST_VALUE,
    LARGEST_VALUE,
    label="Initial value",
)

Fields = Mapping[str, Field]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that can be run by name.

    Attributes
    ----------
    name, title, description : str
        The name in specifications and commands, the name in legends, one sentence of explanation.
    generator : callable
        Takes the model and the parameters below by name, and yields snapshots. If these can be
        continued, it takes `resume` too. If it takes `sampling`, the parameters that are options of
        `Sampling` come as one object.
    parameters : mapping of str to Field
        The generator's arguments that a run may set.
    initial : str
        The generator's argument for initial values, such as "U0_XY"; the letters after the
        underscore are its axes. Empty if it has none.
    family : str
        Algorithms of one family share a colour. An unknown family gets a colour of its own.
    freezes : bool
        Whether it freezes the slow state, and so takes the argument `T`.
    sampled : bool
        Whether it draws random numbers, and so takes the argument `rng`. If not, one replication
        is enough.
    policy_kinds : tuple of str
        The kinds of policies it yields: stationary, rolling, cyclic, periodic.
    regression : callable, optional
        Builds the regression strategy, the argument `regress`, from `regression_parameters`.
    regression_parameters : mapping of str to Field
        Parameters of the regression strategy.
    whole_sweeps : bool
        Whether learning curves show its policies at whole sweeps only. A policy inside a sweep is
        greedy for values of two iterations, which can change it much.
    ends_at_T : bool
        Whether it ends after T iterations, which is then its default budget.
    note : callable, optional
        Takes the model and the parameters by name, and returns a sentence about this choice that
        the command line and the run lab show. Raises `InputError` if the choice cannot be run.
    """

    name: str
    title: str
    description: str
    generator: Callable[..., Iterator[Snapshot]]
    parameters: Fields = field(default_factory=dict)
    initial: str = ""
    family: str = "VI"
    freezes: bool = False
    sampled: bool = True
    policy_kinds: tuple[str, ...] = ("stationary",)
    regression: Callable[..., Any] | None = None
    regression_parameters: Fields = field(default_factory=dict)
    whole_sweeps: bool = False
    ends_at_T: bool = False
    note: Callable[..., str] | None = None

    @property
    def can_resume(self) -> bool:
        """Whether the generator takes `resume`."""
        return "resume" in signature(self.generator).parameters

    @property
    def own_policy_kind(self) -> str:
        """The kind of its finished policies; others belong to an unfinished lower level."""
        return "periodic" if "periodic" in self.policy_kinds else self.policy_kinds[0]

    @property
    def horizon(self) -> str:
        """The symbol of its periods: n of a rolling method, T of one that plays whole blocks."""
        return "n" if self.ends_at_T else "T"

    def label(self, T: int | None) -> str:
        """Its name in legends and tables, such as "FSVI, T=6" or "Rolling freeze, n=24"."""
        return self.title if T is None else f"{self.title}, {self.horizon}={T}"

    @property
    def all_parameters(self) -> dict[str, Field]:
        """Every parameter that a run may set, by name."""
        initial = {"initial_value": INITIAL} if self.initial else {}
        declared = {**self.parameters, **self.regression_parameters, **initial}
        return {name: replace(field, name=name) for name, field in declared.items()}

    def start(
        self,
        model: FastSlowMDP,
        rng: np.random.Generator,
        T: int | None,
        parameters: Mapping[str, Any],
        resume: Resume | None = None,
    ) -> Iterator[Snapshot]:
        """Return the generator of snapshots for a model, with a value for every parameter.

        With `resume`, it continues after the snapshot that has it; `rng` must be in the state of
        that moment.
        """
        arguments = {name: parameters[name] for name in self.parameters}
        if "sampling" in signature(self.generator).parameters:
            options = {f.name for f in fields(Sampling)} & arguments.keys()
            arguments["sampling"] = Sampling(**{name: arguments.pop(name) for name in options})
        if self.initial:
            sizes = {"X": model.n_slow, "Y": model.n_fast, "A": model.n_actions}
            shape = [sizes[axis] for axis in self.initial.rpartition("_")[2]]
            arguments[self.initial] = np.full(shape, parameters["initial_value"], float)
        if self.sampled:
            arguments["rng"] = rng
        if self.freezes:
            arguments["T"] = T
        if self.regression is not None:
            names = self.regression_parameters
            arguments["regress"] = self.regression(**{name: parameters[name] for name in names})
        if resume is not None:
            arguments["resume"] = resume
        return self.generator(model, **arguments)
