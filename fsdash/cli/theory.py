"""`fsdash bounds`, `fsdash advise` and `fsdash constants`."""

from __future__ import annotations

import argparse
from dataclasses import asdict, fields, replace
from functools import partial
from typing import TYPE_CHECKING

from fsdash.cli.arguments import add_command, add_domain, read_domain, whole_range
from fsdash.errors import InputError
from fsdash.formatting import as_table, format_records
from fsdash.theory import (
    DEFAULT_PRESET,
    PRESETS,
    Advice,
    Constants,
    Sizes,
    advise,
    bounds_table,
    fsvi_bound,
    preset,
    repaired_bound,
    value_lipschitz_bound,
)
from fsdash.theory.budget import Bound
from fsdash.theory.parameters import COUPLINGS, frozen_lipschitz

if TYPE_CHECKING:
    from fsdash.theory.measured import MeasuredConstants

STATED, REPAIRED = "stated", "repaired"
MAX_RECORDS = 100_000
"""Of `bounds`: they take about 3 s and 0.6 GB."""
MAX_TABLE_ROWS = 16
"""How many candidates and regimes the table of `advise` shows."""
INFEASIBLE = (
    "Some actions are infeasible in some states. The regret bounds of frozen-state methods assume "
    "that every action is feasible in every state; the true regret (fsdash solve) does not."
)
SYMBOLS = {
    "gamma": "discount factor γ, 0 ≤ γ < 1",
    "alpha": "α: the slow state moves at most α·d_Y per period",
    "d_y": "d_Y: the fast state moves at most this far per period",
    "l_r": "L_r, Lipschitz constant of the reward",
    "l_f": "L_f, Lipschitz constant of the transition function",
    "l_u": "L_U, Lipschitz constant of U*, or 'auto' for L_r/(1 − γ·L_f)",
    "r_max": "largest reward; rewards are in [0, r_max]",
    "n_slow": "number of slow states |X|",
    "n_fast": "number of fast states |Y|",
    "n_actions": "number of actions |A|",
}
FROZEN_SYMBOLS = {
    "l_frozen": "L̃ of the repaired bound and of rolling freeze, Lipschitz constant of the frozen "
    "dynamics (default: √(1 + L_f²))",
    "eta": "η of these bounds, largest distance between the next state and the frozen one (default:"
    " α·d_Y, which is right if freezing x does not change how y moves)",
    "d_y_frozen": "d̃_Y of the repaired bound: the fast state moves at most this far per period "
    "while x is frozen (default: d_Y)",
}


def add_commands(commands) -> None:
    """Add `bounds`, `advise` and `constants`."""
    p = add_command(
        commands,
        "bounds",
        run_bounds,
        "compute regret bounds and costs of FSVI, Base VI and rolling freeze (with n = T)",
    )
    add_constants(p)
    p.add_argument(
        "-T",
        type=partial(whole_range, most=MAX_RECORDS),
        metavar="RANGE",
        help="periods to freeze: 6, 1:32 or 3,6,12 (default: those of the preset)",
    )
    p.add_argument(
        "-k",
        type=partial(whole_range, most=MAX_RECORDS),
        default=(1,),
        metavar="RANGE",
        help="numbers of iterations (default: 1)",
    )

    p = add_command(
        commands, "advise", run_advise, "find the algorithm, T and k with the smallest regret bound"
    )
    add_constants(p)
    p.add_argument(
        "-T",
        type=whole_range,
        default=tuple(range(2, 101)),
        metavar="RANGE",
        help="periods to freeze, to choose from: 6, 1:32 or 3,6,12 (default: 2:100)",
    )
    budget = p.add_mutually_exclusive_group(required=True)
    budget.add_argument(
        "--budget", type=float, metavar="B", help="largest cost in operations, cost ≤ B"
    )
    budget.add_argument(
        "--sweeps",
        type=float,
        metavar="N",
        help="the budget in sweeps of Base VI, |S|²|A| operations each",
    )

    p = add_command(commands, "constants", run_constants, "measure the constants of a domain")
    add_domain(p)
    p.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="time limit; after it, proven lower and upper values are printed (default: 60)",
    )
    p.add_argument(
        "--coupling",
        choices=COUPLINGS,
        help="how next states are compared in L_f and L̃: with the same noise, or by their "
        "Wasserstein distance (default: noise if the model has a common noise)",
    )


def add_constants(p: argparse.ArgumentParser) -> None:
    """Add one argument for each constant and size of a problem."""
    p.add_argument(
        "--preset",
        default=DEFAULT_PRESET,
        metavar="NAME",
        help=f"the source of constants that are not given: {', '.join(PRESETS)} "
        f"(default: {DEFAULT_PRESET})",
    )
    for name, text in SYMBOLS.items():
        kind = int if name.startswith("n_") else str if name == "l_u" else float
        p.add_argument("--" + name.replace("_", "-"), type=kind, metavar="N", help=text)
    p.add_argument(
        "--bound",
        choices=(STATED, REPAIRED),
        default=STATED,
        help="regret bound of FSVI: as stated in the arXiv text, which needs L̃ ≤ L_f, or the one "
        "without this condition (default: stated)",
    )
    for name, text in FROZEN_SYMBOLS.items():
        p.add_argument("--" + name.replace("_", "-"), type=float, metavar="N", help=text)


def read_constants(arguments: argparse.Namespace) -> tuple[Constants, Sizes, tuple[int, ...]]:
    """The preset with the given constants and sizes replaced, and the horizons."""
    base = preset(arguments.preset)

    def given(kind) -> dict:
        names = [field.name for field in fields(kind)]
        return {n: v for n in names if (v := getattr(arguments, n, None)) is not None}

    changes, sizes = given(Constants), replace(base.sizes, **given(Sizes))
    l_u = changes.pop("l_u", None)
    constants = replace(base.constants, **changes)
    if l_u is not None:
        constants = replace(constants, l_u=read_l_u(l_u, constants))
    return constants, sizes, arguments.T or base.T


def read_l_u(text: str, constants: Constants) -> float:
    """L_U as a number; "auto" is the bound L_r/(1 − γ·L_f)."""
    if text != "auto":
        try:
            return float(text)
        except ValueError:
            raise InputError(f"l_u = {text!r}: give a number or 'auto'") from None
    c = constants
    l_u = value_lipschitz_bound(c.gamma, c.l_r, l_f=c.l_f)
    if l_u == float("inf"):
        raise InputError(
            f"l_u = auto needs γ·L_f < 1, but it is {c.gamma * c.l_f:.4g}; give L_U as a number or "
            "a smaller L_f"
        )
    return l_u


def read_bound(arguments: argparse.Namespace, constants: Constants, sizes: Sizes) -> Bound:
    """The bound to compute."""
    if arguments.bound == STATED:
        return fsvi_bound
    l_frozen = frozen_lipschitz(constants, None, sizes.n_slow)
    return partial(repaired_bound, l_frozen=l_frozen, n_slow=sizes.n_slow)


def describe_bound(bound: Bound) -> str:
    """Which bound was computed, in a sentence."""
    if isinstance(bound, partial):
        return f"Bound: repaired, with L̃ = {bound.keywords['l_frozen']:.6g}."
    return "Bound: as stated in the arXiv text; it needs L̃ ≤ L_f (--bound repaired does not)."


def run_bounds(arguments: argparse.Namespace) -> str:
    """One record per pair of T and k."""
    constants, sizes, T = read_constants(arguments)
    if len(T) * len(arguments.k) > MAX_RECORDS:
        raise InputError(
            f"{len(T) * len(arguments.k):,} records are too many; narrow T or k to at most "
            f"{MAX_RECORDS:,} pairs"
        )
    bound = read_bound(arguments, constants, sizes)
    table = bounds_table(constants, sizes, T=T, k=arguments.k, bound=bound)
    columns = [column.ravel().tolist() for column in table.values()]
    records = [
        {**dict(zip(table, row, strict=True)), "bound": arguments.bound}
        for row in zip(*columns, strict=True)
    ]
    return format_records(records, arguments.format)


def run_advise(arguments: argparse.Namespace) -> str:
    """The choice with the smallest bound in sentences and tables; as JSON or CSV, its records."""
    constants, sizes, T = read_constants(arguments)
    if arguments.sweeps is not None and arguments.sweeps < 0:
        raise InputError(f"--sweeps {arguments.sweeps:g} is negative; give a number >= 0")
    for name in FROZEN_SYMBOLS:
        if arguments.bound == STATED and getattr(arguments, name) is not None:
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} belongs to the repaired bound; add --bound repaired")
    budget = arguments.budget if arguments.sweeps is None else arguments.sweeps * sizes.sweep
    bound = read_bound(arguments, constants, sizes)
    advice = advise(constants, sizes, budget=budget, T=T, bound=bound)
    candidates = [asdict(candidate) for candidate in advice.candidates]
    regimes = [
        {"from": r.start, "to": r.end, "algorithm": r.algorithm, "T": r.T} for r in advice.regimes
    ]
    if arguments.format == "table":
        return describe_advice(advice, sizes, bound, candidates, regimes)
    whole = {
        "bound": arguments.bound,
        "budget": advice.budget,
        "choice": asdict(advice.choice),
        "candidates": candidates,
        "regimes": regimes,
        "trivial_bound": advice.trivial_bound,
    }
    named = [{**candidate, "bound": arguments.bound} for candidate in candidates]
    return format_records(named, arguments.format, whole)


def describe_advice(
    advice: Advice, sizes: Sizes, bound: Bound, candidates: list[dict], regimes: list[dict]
) -> str:
    """The choice and its bound in sentences, then candidates and regimes as tables."""
    choice = advice.choice
    name = "Base VI" if choice.algorithm == "VI" else f"FSVI with T = {choice.T}"
    regret, trivial = f"{choice.regret:.6g}", f"r_max/(1 − γ) = {advice.trivial_bound:.6g}"
    if choice.regret >= advice.trivial_bound:
        verdict = f"The regret bound {regret} is vacuous: it is not below {trivial}."
    else:
        verdict = f"The regret bound {regret} is informative: it is below {trivial}."
    in_sweeps = [
        {**r, "from": r["from"] / sizes.sweep, "to": r["to"] / sizes.sweep} for r in regimes
    ]
    return "\n".join(
        [
            f"For a budget of {advice.budget:.6g} operations "
            f"({advice.budget / sizes.sweep:.4g} sweeps of Base VI), the smallest bound is that of "
            f"{name}, k = {choice.k:,}.",
            verdict,
            describe_bound(bound),
            "",
            "Affordable choices, smallest bound first:",
            _first_rows(candidates),
            "",
            "Smallest bound by budget, in sweeps of Base VI:",
            _first_rows(in_sweeps),
        ]
    )


def _first_rows(records: list[dict]) -> str:
    more = len(records) - MAX_TABLE_ROWS
    note = f"\n… and {more} more (--format json)" if more > 0 else ""
    return as_table(records[:MAX_TABLE_ROWS]) + note


def run_constants(arguments: argparse.Namespace) -> str:
    """One record: the measured constants of the domain's model."""
    model = read_domain(arguments).build()
    from fsdash.compilation import ensure_compiled
    from fsdash.theory.measured import measure

    ensure_compiled()
    found = measure(model, seconds=arguments.seconds, coupling=arguments.coupling)
    if arguments.format == "table":
        return describe_constants(
            found, every_action=model.n_pairs == model.n_real * model.n_actions
        )
    record = asdict(found)
    return format_records([record], arguments.format, record)


def describe_constants(found: MeasuredConstants, every_action: bool) -> str:
    """The constants as a table, those that are not exact as intervals, and a note if needed."""
    record = {name: value for name, value in asdict(found).items() if not name.endswith("_lower")}
    for name, (lower, upper) in found.intervals.items():
        if lower < upper:
            record[name] = f"{lower:.6g} to {upper:.6g}"
    return as_table([record]) + ("" if every_action else f"\n\n{INFEASIBLE}")
