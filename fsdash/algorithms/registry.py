"""The algorithms by name, each with the parameters that a run may set.

The command line, the run lab, the time estimate and the colours of curves follow from the entries
here. To add an algorithm, write its generator in a file of its own and add one `Algorithm` to
`TABULAR` or `FITTED`. A parameter is declared once, with its default, range, label, unit and help.
The defaults are the paper's, or this project's where the paper does not give one.

An algorithm that lives outside this package is added with `register`. Worker processes and the
dashboard import the modules named in the environment variable FSDASH_ALGORITHMS (separated by
commas) when this module loads, so `FSDASH_ALGORITHMS=mymodule` makes the algorithms known there
that `mymodule` registers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from fsdash.algorithms import (
    Snapshot,
    e_fsvi,
    e_qi,
    e_rolling,
    e_thaw,
    e_vi,
    fqi,
    frolling,
    fsavi,
    fsfvi,
    fsvi,
    fvi,
    mpi,
    rolling,
    slow_agnostic,
    vi,
)
from fsdash.algorithms.e_thaw import describe_thaw
from fsdash.algorithms.entry import Algorithm, Fields
from fsdash.algorithms.fsavi import describe_features
from fsdash.algorithms.parameters import (
    ARCHITECTURE,
    CENTRE,
    COMMON,
    COUNT_ACTIONS,
    DEEP,
    EXTRACTION,
    LOWER,
    M_L,
    M_U,
    MPI,
    PER_SWEEP,
    TERMINAL,
    THAW,
    TIES,
    M,
    N,
)
from fsdash.algorithms.snapshot import POLICY_KINDS
from fsdash.errors import InputError
from fsdash.fields import Field
from fsdash.regression import Deep, Linear

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Field",
    "get_algorithm",
    "register",
]

BASE = {
    "M": M,
    "snapshots_per_sweep": PER_SWEEP,
    "ties": TIES,
    "common_random_numbers": COMMON,
}
CENTRED = {**BASE, "centre": CENTRE}
FROZEN = {
    "M_l": M_L,
    "M_u": M_U,
    "snapshots_per_sweep": PER_SWEEP,
    "ties": TIES,
    "common_random_numbers": COMMON,
    "centre": CENTRE,
    "terminal": TERMINAL,
}

TABULAR = (
    Algorithm(
        "vi",
        "Base VI",
        "Exact value iteration on the base model.",
        vi,
        initial="U0_XY",
        sampled=False,
    ),
    Algorithm(
        "fsvi",
        "FSVI",
        "Exact frozen-state value iteration.",
        fsvi,
        {"terminal": TERMINAL},
        initial="V0_XY",
        family="FSVI",
        freezes=True,
        sampled=False,
        policy_kinds=("cyclic", "rolling", "periodic"),
    ),
    Algorithm(
        "rolling",
        "Rolling freeze",
        "Rolling freeze: in every period the newest policy of exact frozen sweeps acts.",
        rolling,
        initial="J0_XY",
        family="rolling",
        freezes=True,
        sampled=False,
        policy_kinds=("rolling",),
        ends_at_T=True,
    ),
    Algorithm(
        "fsavi",
        "FSAVI",
        "Frozen-state approximate value iteration with a linear architecture, exact expectations.",
        fsavi,
        ARCHITECTURE,
        family="FSVI",
        freezes=True,
        sampled=False,
        policy_kinds=("cyclic", "rolling", "periodic"),
        note=describe_features,
    ),
    Algorithm(
        "mpi",
        "MPI",
        "Modified policy iteration, the standard choice when the model is known.",
        mpi,
        MPI,
        initial="U0_XY",
        family="MPI",
        sampled=False,
    ),
    Algorithm(
        "e-vi",
        "Base E-VI",
        "Value iteration with sampled expectations.",
        e_vi,
        CENTRED,
        initial="U0_XY",
    ),
    Algorithm(
        "e-fsvi",
        "E-FSVI",
        "Frozen-state value iteration with sampled expectations.",
        e_fsvi,
        FROZEN,
        initial="V0_XY",
        family="FSVI",
        freezes=True,
        policy_kinds=POLICY_KINDS,
    ),
    Algorithm(
        "e-rolling",
        "E-Rolling",
        "Rolling freeze with expectations sampled from the frozen model only.",
        e_rolling,
        {"M_l": M_L, "ties": TIES, "common_random_numbers": COMMON},
        initial="J0_XY",
        family="rolling",
        freezes=True,
        policy_kinds=("rolling",),
        ends_at_T=True,
    ),
    Algorithm(
        "e-thaw",
        "E-Thaw",
        "Thawed defect correction: frozen sweeps whose error is corrected by samples.",
        e_thaw,
        {**THAW, "ties": TIES},
        family="thaw",
        note=describe_thaw,
    ),
    Algorithm(
        "e-qi",
        "Base E-QI",
        "Q-iteration with sampled expectations.",
        e_qi,
        {**CENTRED, "count_actions": COUNT_ACTIONS},
        initial="Q0_XYA",
        family="QI",
    ),
    Algorithm(
        "slow-agnostic",
        "Slow-agnostic E-VI",
        "Sampled value iteration that observes the fast state only.",
        slow_agnostic,
        BASE,
        initial="U0_Y",
        family="slow-agnostic",
        whole_sweeps=True,
    ),
)


def fitted(
    prefix: str, approximator: str, regression: Callable[..., Any], own: Fields
) -> tuple[Algorithm, ...]:
    """FVI, FSFVI, rolling freeze and FQI with one regression strategy."""
    base = {"N": N, "M": M, "ties": TIES, "common_random_numbers": COMMON}
    frozen = {
        "N": N,
        "M_l": M_L,
        "M_u": M_U,
        "ties": TIES,
        "common_random_numbers": COMMON,
        "extract": EXTRACTION,
        "lower_policy": LOWER,
        "terminal": TERMINAL,
    }
    return (
        Algorithm(
            f"{prefix.lower()}-fvi",
            f"{prefix}-FVI",
            f"Value iteration fitted by {approximator}.",
            fvi,
            base,
            initial="U0_XY",
            regression=regression,
            regression_parameters=own,
        ),
        Algorithm(
            f"{prefix.lower()}-fsfvi",
            f"{prefix}-FSFVI",
            f"Frozen-state value iteration fitted by {approximator}.",
            fsfvi,
            frozen,
            initial="V0_XY",
            family="FSVI",
            freezes=True,
            policy_kinds=POLICY_KINDS,
            regression=regression,
            regression_parameters=own,
        ),
        Algorithm(
            f"{prefix.lower()}-rolling",
            f"{prefix}-Rolling",
            f"Rolling freeze fitted by {approximator}.",
            frolling,
            {"N": N, "M_l": M_L, "ties": TIES, "common_random_numbers": COMMON},
            initial="J0_XY",
            family="rolling",
            freezes=True,
            policy_kinds=("rolling",),
            regression=regression,
            regression_parameters=own,
            ends_at_T=True,
        ),
        Algorithm(
            f"{prefix.lower()}-fqi",
            f"{prefix}-FQI",
            f"Q-iteration fitted by {approximator}.",
            fqi,
            {**base, "count_actions": COUNT_ACTIONS},
            initial="Q0_XYA",
            family="QI",
            regression=regression,
            regression_parameters=own,
        ),
    )


FITTED = (
    *fitted("Lin", "a linear function of the state", Linear, {}),
    *fitted("Deep", "a small neural network", Deep, DEEP),
)

ALGORITHMS: dict[str, Algorithm] = {entry.name: entry for entry in (*TABULAR, *FITTED)}
"""Every known algorithm by name, in the order in which forms list them."""


def get_algorithm(name: str) -> Algorithm:
    """Return the algorithm of this name, or raise an error that lists the known ones."""
    if name not in ALGORITHMS:
        raise InputError(f"algorithm {name!r} is not known; choose from {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]


def register(
    name: str,
    generator: Callable[..., Iterator[Snapshot]],
    *,
    title: str = "",
    description: str = "",
    parameters: Fields | None = None,
    initial: str = "",
    family: str = "",
    freezes: bool = False,
    sampled: bool = True,
    policy_kinds: tuple[str, ...] | None = None,
    replace: bool = False,
) -> Algorithm:
    """Add an algorithm that lives outside this package.

    The command line, the run lab, the time estimate and the colours of curves then know it. Worker
    processes know it if the environment variable FSDASH_ALGORITHMS names the module that calls
    `register`.

    Parameters
    ----------
    name : str
        The name in specifications and commands: lower-case letters, digits and hyphens.
    generator : callable
        Takes the model, then by name `rng` if sampled, `T` if it freezes, the initial values if
        `initial` names an argument for them, and the parameters. Yields `Snapshot`s without end.
    title, description : str
        The name in legends (the name in capitals by default) and one sentence of explanation.
    parameters : mapping of str to Field, optional
        The arguments that a run may set.
    initial : str
        The argument for initial values, such as "U0_XY"; the letters after _ are its axes.
    family : str
        Algorithms of one family share a colour; the title by default.
    freezes, sampled : bool
        Whether it freezes the slow state for T periods, and whether it draws random numbers.
    policy_kinds : tuple of str, optional
        The kinds of policies it yields; by default stationary, or all kinds if it freezes.
    replace : bool
        Whether an algorithm of the same name may be replaced.

    Returns
    -------
    Algorithm
        The new entry of `ALGORITHMS`.

    Examples
    --------
    >>> from fsdash.algorithms import vi
    >>> def zero_start(model, rng):
    ...     yield from vi(model)
    >>> register("zero-start", zero_start, description="VI from zero.").title
    'ZERO-START'
    >>> del ALGORITHMS["zero-start"]
    """
    if not name or any(not (c.isdigit() or c == "-" or "a" <= c <= "z") for c in name):
        raise InputError(f"name = {name!r}: use lower-case letters, digits and hyphens")
    if name in ALGORITHMS and not replace:
        raise InputError(f"algorithm {name!r} exists already; choose another name or replace it")
    kinds = policy_kinds or (POLICY_KINDS if freezes else ("stationary",))
    for kind in kinds:
        if kind not in POLICY_KINDS:
            raise InputError(f"policy_kinds: {kind!r} is not one of {', '.join(POLICY_KINDS)}")
    title = title or name.upper()
    ALGORITHMS[name] = Algorithm(
        name,
        title,
        description,
        generator,
        dict(parameters or {}),
        initial,
        family or title,
        freezes,
        sampled,
        kinds,
    )
    return ALGORITHMS[name]


def load(modules: str) -> None:
    """Import the modules of a list such as `mymodule,other`, which call `register`."""
    for module in filter(None, (part.strip() for part in modules.split(","))):
        try:
            import_module(module)
        except Exception as error:  # a user's module may raise anything
            raise InputError(f"FSDASH_ALGORITHMS: {module} was not loaded ({error})") from None


load(os.environ.get("FSDASH_ALGORITHMS", ""))
