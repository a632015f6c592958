"""The Choose T page without its widgets: its state, and the figures, tables and code made from it.

Each snippet leaves its table in the variable `frame`; tests run the snippets and compare.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.domains import DOMAINS
from fsdash.figures.budget import budget_figure
from fsdash.figures.budget_detail import (
    decomposition_figure,
    sensitivity_figure,
)
from fsdash.formatting import round_significant
from fsdash.theory import (
    PRESETS,
    Advice,
    Constants,
    Regime,
    Sizes,
    advise,
    fsvi_bound,
    regimes,
    value_lipschitz_bound,
)
from fsdash.theory.budget import Bound, decomposition
from fsdash.theory.measured_domains import HORIZONS, measured_domains
from fsdash.theory.parameters import frozen_lipschitz
from fsdash.theory.repaired import repaired_bound
from fsdash.theory.sensitivity import best_T_rows, sensitivity_table, values_around, vary
from fsdash.theory.staircase import RollingCurve, budget_range, rolling_curve, staircases_table

LONGEST_T = 100
TRUSTED_T = 12
"""The T whose bound is compared with the true regret in words."""
CELLS = 40
"""The number of budgets, and of values of the varied constant, in the heat map."""


@dataclass(frozen=True)
class ChooseTState:
    """The state of the page.

    `sweeps` is the budget and `T` what is plotted; with `every`, all T up to `LONGEST_T` compete.
    `repaired` selects the repaired bound instead of the paper's as stated. If the constants have no
    L̃, it is the library's default, which depends on L_f and on the number of slow states.
    """

    constants: Constants
    sizes: Sizes
    sweeps: float
    T: tuple[int, ...]
    every: bool = False
    repaired: bool = False

    @property
    def budget(self) -> float:
        """The budget in operations."""
        return self.sweeps * self.sizes.sweep

    @property
    def competing(self) -> tuple[int, ...]:
        """The values of T that compete: the plotted ones, or every one."""
        return tuple(sorted({*self.T, *range(2, LONGEST_T + 1)})) if self.every else self.T

    @property
    def bound(self) -> Bound:
        """The bound of FSVI on regret: a function of constants, T and k."""
        if not self.repaired:
            return fsvi_bound
        return partial(repaired_bound, n_slow=self.sizes.n_slow)

    @property
    def frozen_sensitivity(self) -> float | None:
        """L̃ of the repaired bound; None for the bound as stated."""
        if not self.repaired:
            return None
        return frozen_lipschitz(self.constants, None, self.sizes.n_slow)

    @cached_property
    def advice(self) -> Advice | None:
        """The best choice within the budget; None below one sweep, which is the cheapest run."""
        if self.sweeps < 1:
            return None
        return advise(
            self.constants, self.sizes, budget=self.budget, T=self.competing, bound=self.bound
        )

    @cached_property
    def regimes(self) -> tuple[Regime, ...]:
        """The best choice for each range of budgets."""
        if self.advice is not None:
            return self.advice.regimes
        return regimes(self.constants, self.sizes, T=self.competing, bound=self.bound)

    @cached_property
    def rolling(self) -> RollingCurve:
        """The bound of rolling freeze for each budget in the main figure."""
        budget = {"budget": self.budget, "regimes": self.regimes}
        _, high = budget_range(self.constants, self.sizes, **budget)
        return rolling_curve(self.constants, self.sizes, max_budget=high)

    @property
    def compared(self) -> list:
        """The candidates to compare term by term; with `every`, only T up to twice the best."""
        if self.advice is None:
            return []
        last = max(24, 2 * self.advice.choice.T) if self.every else max(self.competing)
        return [run for run in self.advice.candidates if last >= run.T]


START = PRESETS["three-regimes"]
DEFAULT_SWEEPS = 4.0


EXAMPLE_PRESETS = ("three-regimes", "long-horizon")


def example_names() -> tuple[str, ...]:
    """The ready-made states: two presets and every domain."""
    return (*EXAMPLE_PRESETS, *DOMAINS)


def example(name: str) -> ChooseTState:
    """A ready-made state."""
    if name in EXAMPLE_PRESETS:
        chosen = PRESETS[name]
        return ChooseTState(chosen.constants, chosen.sizes, DEFAULT_SWEEPS, chosen.T)
    domain = measured_domains()[name]
    return ChooseTState(domain.constants, domain.sizes, DEFAULT_SWEEPS, HORIZONS)


def derived_l_u(gamma: float, l_r: float, l_f: float) -> float | None:
    """L_r/(1 − γL_f), or None where it does not exist."""
    l_u = value_lipschitz_bound(gamma, l_r, l_f=l_f)
    return float(l_u) if np.isfinite(l_u) else None


# ---------------------------------------------------------------------------------------- figures


def main_figure(state: ChooseTState) -> go.Figure:
    """The regret bounds against cost, with the budget."""
    candidates = state.advice.candidates if state.advice else ()
    return budget_figure(
        state.constants,
        state.sizes,
        state.T,
        state.budget,
        state.regimes,
        candidates,
        state.bound,
        rolling=True,
    )


def terms_figure(state: ChooseTState) -> go.Figure:
    """The terms of each candidate's bound within the budget."""
    return decomposition_figure(state.constants, state.compared, state.bound)


def heat_map(state: ChooseTState, name: str) -> tuple[go.Figure, Callable[[], pd.DataFrame]]:
    """The best T over budgets and values of one constant, and a function that makes its table."""
    now = getattr(state.constants, name)
    values, budgets = values_around(name, now, n=CELLS), heat_budgets(state)
    rows = vary(state.constants, name, values=values)
    best = best_T_rows(rows, state.sizes, budgets=budgets, T=state.competing, bound=state.bound)
    here = state.budget, now
    figure = sensitivity_figure(name, values, state.sizes, budgets, best, here)
    return figure, lambda: pd.DataFrame(sensitivity_table(name, values, budgets, best))


def heat_budgets(state: ChooseTState) -> np.ndarray:
    """The budgets of the heat map: those of the main figure, from one sweep on."""
    _, high = budget_range(state.constants, state.sizes, budget=state.budget, regimes=state.regimes)
    return np.geomspace(state.sizes.sweep, high, CELLS)


def curves_frame(state: ChooseTState) -> pd.DataFrame:
    """The curves of the main figure."""
    _, high = budget_range(state.constants, state.sizes, budget=state.budget, regimes=state.regimes)
    return pd.DataFrame(
        staircases_table(
            state.constants, state.sizes, T=state.T, max_budget=high, bound=state.bound
        )
    )


def terms_frame(state: ChooseTState) -> pd.DataFrame:
    """The bars of the figure of the terms."""
    return pd.DataFrame(decomposition(state.constants, state.compared, state.bound))


def clicked_sweeps(x: float, sizes: Sizes) -> float:
    """The budget at a place in the figure, rounded up to three digits to pay for a step."""
    sweeps = max(float(x) / sizes.sweep, 0.0)
    if sweeps == 0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(sweeps)) - 2)
    # A rounding error must not lift a round number to the next one.
    return round_significant(np.ceil(sweeps / unit - 1e-9) * unit, 3)


# --------------------------------------------------------------------------------------- snippets


def _setup(state: ChooseTState, *imports: str) -> list[str]:
    every = f"sorted({{*T, *range(2, {LONGEST_T + 1})}})"
    lines = [
        "import pandas as pd",
        *imports,
        "from fsdash.theory import Constants, Sizes, advise, fsvi_bound, regimes",
        "",
        f"constants = {state.constants!r}",
        f"sizes = {state.sizes!r}",
        f"budget = {state.sweeps!r} * sizes.sweep",
        f"T = {tuple(state.T)!r}",
        f"competing = {every if state.every else 'T'}",
    ]
    if not state.repaired:
        return [*lines, "bound = fsvi_bound"]
    lines[1:1] = ["from functools import partial"]
    lines.insert(3, "from fsdash.theory import repaired_bound")
    return [*lines, "bound = partial(repaired_bound, n_slow=sizes.n_slow)"]


def curves_snippet(state: ChooseTState) -> str:
    """Python code that recomputes `curves_frame`, and the advice in `advice`."""
    advice = (
        [
            "advice = advise(constants, sizes, budget=budget, T=competing, bound=bound)",
            "print(advice.choice)",
        ]
        if state.advice
        else []
    )
    return "\n".join(
        [
            *_setup(state, "from fsdash.theory import budget_range, staircases_table"),
            "",
            *advice,
            "won = regimes(constants, sizes, T=competing, bound=bound)",
            "low, high = budget_range(constants, sizes, budget=budget, regimes=won)",
            "table = staircases_table(constants, sizes, T=T, max_budget=high, bound=bound)",
            "frame = pd.DataFrame(table)",
        ]
    )


def terms_snippet(state: ChooseTState) -> str:
    """Python code that recomputes `terms_frame`."""
    last = max((run.T for run in state.compared), default=1)
    return "\n".join(
        [
            *_setup(state, "from fsdash.theory import decomposition"),
            "",
            "advice = advise(constants, sizes, budget=budget, T=competing, bound=bound)",
            f"runs = [run for run in advice.candidates if run.T <= {last}]",
            "frame = pd.DataFrame(decomposition(constants, runs, bound))",
        ]
    )


def heat_snippet(state: ChooseTState, name: str) -> str:
    """Python code that recomputes the table of `heat_map`."""
    return "\n".join(
        [
            *_setup(
                state,
                "import numpy as np",
                "from fsdash.theory import best_T_rows, budget_range, sensitivity_table",
                "from fsdash.theory import values_around, vary",
            ),
            "",
            "won = regimes(constants, sizes, T=competing, bound=bound)",
            "low, high = budget_range(constants, sizes, budget=budget, regimes=won)",
            f"budgets = np.geomspace(sizes.sweep, high, {CELLS})",
            f"values = values_around({name!r}, constants.{name}, n={CELLS})",
            f"rows = vary(constants, {name!r}, values=values)",
            "best = best_T_rows(rows, sizes, budgets=budgets, T=competing, bound=bound)",
            f"frame = pd.DataFrame(sensitivity_table({name!r}, values, budgets, best))",
        ]
    )


# ------------------------------------------------------------------------------- measured domains

_TRUTH = """\
import pandas as pd
from fsdash.theory import fsvi_bound, measured_domains

domain = measured_domains()[{name!r}]
T = sorted(domain.regret)
frame = pd.DataFrame({{
    "T": T,
    "bound": fsvi_bound(domain.constants, T, k=0).floor,
    "largest_regret": [domain.regret[t][0] for t in T],
    "mean_regret": [domain.regret[t][1] for t in T],
}})"""


def truth_frame(name: str) -> pd.DataFrame:
    """The bound (k → ∞) and the true regret of FSVI on a measured domain, by T."""
    domain = measured_domains()[name]
    T = sorted(domain.regret)
    largest, mean = zip(*(domain.regret[t] for t in T), strict=True)
    bound = fsvi_bound(domain.constants, T, k=0).floor
    return pd.DataFrame({"T": T, "bound": bound, "largest_regret": largest, "mean_regret": mean})


def truth_snippet(name: str) -> str:
    """Python code that recomputes `truth_frame`."""
    return _TRUTH.format(name=name)
