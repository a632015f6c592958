"""What the page "Choose T" shows, without its widgets: a view, its figures, tables and words.

A `ChooseTState` is the whole state of the page. Everything else here is a pure function of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.budget import budget_figure, competitor
from fsdash.figures.budget_detail import (
    decomposition,
    decomposition_figure,
    sensitivity_figure,
    sensitivity_table,
)
from fsdash.formatting import number, round_significant
from fsdash.theory import (
    PRESETS,
    Advice,
    Constants,
    Regime,
    Sizes,
    advise,
    fsvi_regret,
    regimes,
    value_lipschitz_bound,
)
from fsdash.theory.budget import Bound
from fsdash.theory.measured_domains import HORIZONS, measured_domains
from fsdash.theory.repaired import repaired_regret
from fsdash.theory.sensitivity import best_T_rows, values_around, vary
from fsdash.theory.staircase import budget_range, curves_table

LONGEST = 100
CELLS = 40
"""Budgets and values of the varied constant in the heat map."""


@dataclass(frozen=True)
class ChooseTState:
    """The state of the page. `l_frozen` is L̃; with None the bound is the paper's, as stated."""

    constants: Constants
    sizes: Sizes
    sweeps: float
    T: tuple[int, ...]
    every: bool = False
    l_frozen: float | None = None

    @property
    def budget(self) -> float:
        """The budget in operations."""
        return self.sweeps * self.sizes.sweep

    @property
    def competing(self) -> tuple[int, ...]:
        """The values of T that may win: the plotted ones, or every one."""
        return tuple(sorted({*self.T, *range(2, LONGEST + 1)})) if self.every else self.T

    @property
    def bound(self) -> Bound:
        if self.l_frozen is None:
            return fsvi_regret
        return partial(repaired_regret, l_frozen=self.l_frozen)

    @cached_property
    def advice(self) -> Advice | None:
        """None on a budget below one sweep, which pays for nothing."""
        if self.sweeps < 1:
            return None
        return advise(self.constants, self.sizes, self.budget, self.competing, self.bound)

    @cached_property
    def regimes(self) -> tuple[Regime, ...]:
        if self.advice is not None:
            return self.advice.regimes
        return regimes(self.constants, self.sizes, self.competing, self.bound)

    @property
    def compared(self) -> list:
        """The runs to compare term by term: all that were plotted, or T up to twice the best."""
        if self.advice is None:
            return []
        last = max(24, 2 * self.advice.choice.T) if self.every else max(self.competing)
        return [run for run in self.advice.candidates if last >= run.T]


START = PRESETS["three-regimes"]
DEFAULT_SWEEPS = 4.0


def examples() -> dict[str, ChooseTState]:
    """Ready-made views by the label of their button: two of the paper's kind, three measured."""
    shown = {"Three regimes": "three-regimes", "Long horizon": "long-horizon"}
    found = {
        label: ChooseTState(
            PRESETS[name].constants, PRESETS[name].sizes, DEFAULT_SWEEPS, PRESETS[name].T
        )
        for label, name in shown.items()
    }
    for name, domain in measured_domains().items():
        found[name.capitalize()] = ChooseTState(
            domain.constants, domain.sizes, DEFAULT_SWEEPS, HORIZONS
        )
    return found


def derived_l_u(gamma: float, l_r: float, l_f: float) -> float | None:
    """L_r/(1 − γL_f), or None where it does not exist."""
    l_u = value_lipschitz_bound(gamma, l_r, l_f)
    return float(l_u) if np.isfinite(l_u) else None


# ---------------------------------------------------------------------------------------- figures


def main_figure(view: ChooseTState, dark: bool = False) -> go.Figure:
    candidates = view.advice.candidates if view.advice else ()
    return budget_figure(
        view.constants, view.sizes, view.T, view.budget, view.regimes, candidates, view.bound, dark
    )


def terms_figure(view: ChooseTState, dark: bool = False) -> go.Figure:
    return decomposition_figure(view.constants, view.compared, view.bound, dark)


def heat_map(
    view: ChooseTState, name: str, dark: bool = False
) -> tuple[go.Figure, Callable[[], pd.DataFrame]]:
    """The best T over budgets and values of one constant, and what makes a table of the same."""
    now = getattr(view.constants, name)
    values, budgets = values_around(name, now, CELLS), heat_budgets(view)
    rows = vary(view.constants, name, values)
    best = best_T_rows(rows, view.sizes, budgets, view.competing, view.bound)
    here = view.budget, now
    figure = sensitivity_figure(name, values, view.sizes, budgets, best, here, dark)
    return figure, lambda: pd.DataFrame(sensitivity_table(name, values, budgets, best))


def heat_budgets(view: ChooseTState) -> np.ndarray:
    """Budgets across the axis of the main figure, from one sweep on."""
    _, high = budget_range(view.constants, view.sizes, view.budget, view.regimes)
    return np.geomspace(view.sizes.sweep, high, CELLS)


def curves_frame(view: ChooseTState) -> pd.DataFrame:
    _, high = budget_range(view.constants, view.sizes, view.budget, view.regimes)
    return pd.DataFrame(curves_table(view.constants, view.sizes, view.T, high, view.bound))


def terms_frame(view: ChooseTState) -> pd.DataFrame:
    return pd.DataFrame(decomposition(view.constants, view.compared, view.bound))


def clicked_sweeps(x: float, sizes: Sizes) -> float:
    """A budget from a place on the figure: three digits, rounded up so that a step stays paid."""
    sweeps = max(float(x) / sizes.sweep, 0.0)
    if sweeps == 0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(sweeps)) - 2)
    # What is a round number already may lie a rounding above itself.
    return round_significant(np.ceil(sweeps / unit - 1e-9) * unit, 3)


# ------------------------------------------------------------------------------------------ words


def headline(view: ChooseTState) -> str:
    """The recommendation: algorithm, T and k."""
    if view.advice is None:
        return "This budget buys nothing yet"
    choice = view.advice.choice
    if choice.algorithm == "VI":
        return f"Run Base VI: k = {choice.k:,} {'sweep' if choice.k == 1 else 'sweeps'}"
    return f"Run FSVI with T = {choice.T}, k = {choice.k:,}"


def reasons(view: ChooseTState) -> str:
    """What it costs, who comes next, and on which budgets this stays so."""
    if view.advice is None:
        return (
            f"A budget of {number(view.sweeps)} sweeps is below the cheapest run there is, one "
            f"sweep of Base VI ({number(view.sizes.sweep)} operations). Raise it to 1 or more."
        )
    advice = view.advice
    used = f"It uses {sweeps_told(advice.choice.cost / view.sizes.sweep)}."
    parts = (warning(advice), used, runner_up(advice), stays(advice, view.sizes))
    return " ".join(part for part in parts if part)


def warning(advice: Advice) -> str:
    """What is to be said first where the winning bound is not below r_max/(1 − γ)."""
    regret, trivial = advice.choice.regret, advice.trivial_bound
    if trivial == 0:
        return "With r_max = 0 every policy earns the same, and there is nothing to choose."
    if regret >= trivial:
        return (
            f"**On paper only:** its bound is vacuous, {times(regret, trivial)} the most that any "
            f"policy can lose ({number(trivial)}). See *How far to trust it*."
        )
    return ""


def figures_of(advice: Advice) -> dict[str, str]:
    """The recommendation in numbers, by their labels."""
    choice, trivial = advice.choice, advice.trivial_bound
    share = choice.regret / trivial if trivial else 0.0
    return {
        "Regret bound": number(choice.regret),
        "Of what can be lost": f"{number(100 * share)}%" if share < 10 else f"{number(share)}×",
    }


def times(larger: float, smaller: float) -> str:
    """How many times larger, in words."""
    return f"{number(larger / smaller)} times"


def runner_up(advice: Advice) -> str:
    if len(advice.candidates) < 2:
        return "Nothing else is affordable yet."
    first, second = advice.candidates[:2]
    name = competitor(second.T)
    if first.regret == second.regret:
        return f"{name} has the same bound."
    close = second.regret < 1.05 * first.regret
    tail = ": as good as tied." if close else "."
    return f"Next comes {name} with {number(second.regret)}{tail}"


def stays(advice: Advice, sizes: Sizes) -> str:
    """On which budgets the winner of this one wins."""
    regime = next(regime for regime in advice.regimes if advice.budget in regime)
    name, start, end = competitor(regime.T), regime.start / sizes.sweep, regime.end / sizes.sweep
    if end == float("inf"):
        return f"{name} stays the choice from {sweeps_told(start)} on."
    return f"{name} stays the choice from {number(start)} to {sweeps_told(end)}."


def sweeps_told(sweeps: float) -> str:
    told = number(sweeps)
    return f"{told} {'sweep' if told == '1' else 'sweeps'}"


EXERCISES: Sequence[tuple[str, str]] = (
    (
        "Load *Three regimes* and drag the budget to the right. From how many sweeps on is nothing "
        "to be gained by freezing, by this bound, and why?",
        "From **53 sweeps** on. Base VI's bound falls to 0, while every FSVI bound stops at its "
        "floor; at 53 sweeps it gets below the lowest floor, **6.81** of T = 9.",
    ),
    (
        "Among the plotted T, T = 9 wins before Base VI does. Let *every T* compete: is 9 still "
        "best?",
        "No, **T = 8** wins from about 12 to 53 sweeps; it was just not plotted. Its floor is "
        "lower by less than 1%: near the best T the bound is flat, and nobody needs the exact one.",
    ),
    (
        "Load *Inventory*. How large must the budget be for FSVI's bound to be informative?",
        "No budget is enough: its floor is tens of thousands of times above r_max/(1 − γ). Yet the "
        "policy is good: the tab *How far to trust it* shows its true regret. A vacuous bound says "
        "nothing about the policy, neither good nor bad.",
    ),
)


# --------------------------------------------------------------------------------------- snippets


def _setup(view: ChooseTState, *imports: str) -> list[str]:
    c, s = view.constants, view.sizes
    given = ", ".join(f"{name}={getattr(c, name)!r}" for name in Constants.__annotations__)
    lines = [
        "import pandas as pd",
        *imports,
        "from fsdash.theory import Constants, Sizes, advise, fsvi_regret, regimes",
        "",
        f"constants = Constants({given})",
        f"sizes = Sizes(n_slow={s.n_slow}, n_fast={s.n_fast}, n_actions={s.n_actions})",
        f"budget = {view.sweeps!r} * sizes.sweep",
        f"T = {_horizons(view.T)}",
        f"competing = {'sorted({*T, *range(2, ' + str(LONGEST + 1) + ')})' if view.every else 'T'}",
    ]
    if view.l_frozen is None:
        return [*lines, "bound = fsvi_regret"]
    lines[1:1] = ["from functools import partial"]
    lines.insert(3, "from fsdash.theory.repaired import repaired_regret")
    return [*lines, f"bound = partial(repaired_regret, l_frozen={view.l_frozen!r})"]


def _horizons(T: Sequence[int]) -> str:
    return repr(tuple(T))


def curves_snippet(view: ChooseTState) -> str:
    """Lines that leave `curves_frame(view)` in `frame`, and the advice in `advice`."""
    advice = (
        ["advice = advise(constants, sizes, budget, competing, bound)", "print(advice.choice)"]
        if view.advice
        else []
    )
    return "\n".join(
        [
            *_setup(view, "from fsdash.theory.staircase import budget_range, curves_table"),
            "",
            *advice,
            "won = regimes(constants, sizes, competing, bound)",
            "low, high = budget_range(constants, sizes, budget, won)",
            "frame = pd.DataFrame(curves_table(constants, sizes, T, high, bound))",
        ]
    )


def terms_snippet(view: ChooseTState) -> str:
    """Lines that leave `terms_frame(view)` in `frame`."""
    last = max((run.T for run in view.compared), default=1)
    return "\n".join(
        [
            *_setup(view, "from fsdash.figures.budget_detail import decomposition"),
            "",
            "advice = advise(constants, sizes, budget, competing, bound)",
            f"runs = [run for run in advice.candidates if run.T <= {last}]",
            "frame = pd.DataFrame(decomposition(constants, runs, bound))",
        ]
    )


def heat_snippet(view: ChooseTState, name: str) -> str:
    """Lines that leave the table of `heat_map(view, name)` in `frame`."""
    return "\n".join(
        [
            *_setup(
                view,
                "import numpy as np",
                "from fsdash.figures.budget_detail import sensitivity_table",
                "from fsdash.theory.staircase import budget_range",
                "from fsdash.theory.sensitivity import best_T_rows, values_around, vary",
            ),
            "",
            "won = regimes(constants, sizes, competing, bound)",
            "low, high = budget_range(constants, sizes, budget, won)",
            f"budgets = np.geomspace(sizes.sweep, high, {CELLS})",
            f"values = values_around({name!r}, constants.{name}, {CELLS})",
            f"rows = vary(constants, {name!r}, values)",
            "best = best_T_rows(rows, sizes, budgets, competing, bound)",
            f"frame = pd.DataFrame(sensitivity_table({name!r}, values, budgets, best))",
        ]
    )
