"""The Bounds page without its widgets: the values of each tab, its figures, tables and code.

Each snippet leaves its table in the variable `frame`; tests run the snippets and compare.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.domains import DOMAINS
from fsdash.figures.budget import budget_figure
from fsdash.figures.budget_detail import (
    decomposition_figure,
    sensitivity_figure,
)
from fsdash.figures.reward_error import L_F_VALUES
from fsdash.formatting import round_significant
from fsdash.theory import (
    PRESETS,
    Advice,
    Constants,
    Regime,
    Sizes,
    advise,
    fsavi_bound,
    fsvi_bound,
    regimes,
    repaired_bound,
    reward_error,
    value_lipschitz_bound,
)
from fsdash.theory.budget import Bound, decomposition
from fsdash.theory.landmarks import freeze_error, freeze_error_limit
from fsdash.theory.measured_domains import HORIZONS, measured_domains
from fsdash.theory.parameters import frozen_lipschitz
from fsdash.theory.sensitivity import best_T_rows, sensitivity_table, values_around, vary
from fsdash.theory.staircase import RollingCurve, budget_range, rolling_curve, staircases_table

START = PRESETS["three-regimes"]
"""The constants, sizes and T with which the page opens."""
START_T = 6
LONGEST_BLOCK = {"reward": 150, "linear": 40}
"""The largest T that can be chosen, by tab."""
RANGES = (10, 20, 50, 100, 150, 300, 500)
"""Choices for the largest T on the axis of the reward error."""
MISFITS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
FEATURES = {
    "good": {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2},
    "perfect": {"kappa": 1.0, "eps_low": 0.0, "eps_up": 0.0},
    "poor": {"kappa": 1.08, "eps_low": 0.5, "eps_up": 2.0},
}
"""Example features: the amplification κ and the two misfits."""
DEFAULT_SWEEPS, LONGEST_T = 4.0, 100
TRUSTED_T = 12
"""The T whose bound is compared with the true regret in words."""
CELLS = 40
"""The number of budgets, and of values of the varied constant, in the heat map."""
PANELS = ("reward-error-small", "reward-error-large")
"""The constants of the two panels of the paper's figure."""


def example_names() -> tuple[str, ...]:
    """The ready-made constants: presets and every domain."""
    return (*PANELS, "three-regimes", "long-horizon", *DOMAINS)


def example(name: str) -> tuple[Constants, Sizes, tuple[int, ...]]:
    """Ready-made constants and sizes, and the T to plot."""
    if name in PRESETS:
        preset = PRESETS[name]
        return preset.constants, preset.sizes, START.T if name in PANELS else preset.T
    domain = measured_domains()[name]
    return domain.constants, domain.sizes, HORIZONS


def derived_l_u(gamma: float, l_r: float, l_f: float) -> float | None:
    """L_r/(1 − γL_f), or None where it does not exist."""
    l_u = value_lipschitz_bound(gamma, l_r, l_f=l_f)
    return float(l_u) if np.isfinite(l_u) else None


# ------------------------------------------------------------------------------------ reward error

_REWARD_ERROR = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, reward_error

constants = {constants!r}
T = np.arange(1, {last} + 1)
error = reward_error(constants, T)
frame = pd.DataFrame({{
    "T": T,
    "freeze_error": error.freeze,
    "end_of_horizon_error": error.end_of_horizon,
    "reward_error": error.total,
}})
print(frame[frame["T"] == {T}])"""

_CEILING = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, freeze_error, freeze_error_limit

constants = {constants!r}
l_f = np.linspace({low!r}, {high!r}, {n})
frame = pd.DataFrame({{
    "l_f": l_f,
    "freeze_error": freeze_error(constants, {T}, l_f=l_f),
    "ceiling": freeze_error_limit(constants, l_f),
}})"""


def reward_error_frame(constants: Constants, last: int) -> pd.DataFrame:
    """Both errors and their sum for T = 1, …, last."""
    T = np.arange(1, last + 1)
    error = reward_error(constants, T)
    return pd.DataFrame(
        {
            "T": T,
            "freeze_error": error.freeze,
            "end_of_horizon_error": error.end_of_horizon,
            "reward_error": error.total,
        }
    )


def reward_error_snippet(constants: Constants, last: int, T: int) -> str:
    """Python code that recomputes `reward_error_frame`."""
    return _REWARD_ERROR.format(constants=constants, last=last, T=T)


def ceiling_frame(constants: Constants, T: int) -> pd.DataFrame:
    """The freeze error and its limit over T (infinite where there is none), by L_f."""
    return pd.DataFrame(
        {
            "l_f": L_F_VALUES,
            "freeze_error": freeze_error(constants, T, l_f=L_F_VALUES),
            "ceiling": freeze_error_limit(constants, L_F_VALUES),
        }
    )


def ceiling_snippet(constants: Constants, T: int) -> str:
    """Python code that recomputes `ceiling_frame`."""
    low, high = map(float, L_F_VALUES[[0, -1]])
    return _CEILING.format(constants=constants, low=low, high=high, n=len(L_F_VALUES), T=T)


# ------------------------------------------------------------------------------- regret and budget


@dataclass(frozen=True)
class RegretState:
    """Constants, a budget, and the bounds that compete for it.

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


def main_figure(state: RegretState) -> go.Figure:
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


def terms_figure(state: RegretState) -> go.Figure:
    """The terms of each candidate's bound within the budget."""
    return decomposition_figure(state.constants, state.compared, state.bound)


def heat_map(state: RegretState, name: str) -> tuple[go.Figure, Callable[[], pd.DataFrame]]:
    """The best T over budgets and values of one constant, and a function that makes its table."""
    now = getattr(state.constants, name)
    values, budgets = values_around(name, now, n=CELLS), heat_budgets(state)
    rows = vary(state.constants, name, values=values)
    best = best_T_rows(rows, state.sizes, budgets=budgets, T=state.competing, bound=state.bound)
    here = state.budget, now
    figure = sensitivity_figure(name, values, state.sizes, budgets, best, here)
    return figure, lambda: pd.DataFrame(sensitivity_table(name, values, budgets, best))


def heat_budgets(state: RegretState) -> np.ndarray:
    """The budgets of the heat map: those of the main figure, from one sweep on."""
    _, high = budget_range(state.constants, state.sizes, budget=state.budget, regimes=state.regimes)
    return np.geomspace(state.sizes.sweep, high, CELLS)


def curves_frame(state: RegretState) -> pd.DataFrame:
    """The curves of the main figure."""
    _, high = budget_range(state.constants, state.sizes, budget=state.budget, regimes=state.regimes)
    return pd.DataFrame(
        staircases_table(
            state.constants, state.sizes, T=state.T, max_budget=high, bound=state.bound
        )
    )


def terms_frame(state: RegretState) -> pd.DataFrame:
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


def _setup(state: RegretState, *imports: str) -> list[str]:
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


def curves_snippet(state: RegretState) -> str:
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


def terms_snippet(state: RegretState) -> str:
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


def heat_snippet(state: RegretState, name: str) -> str:
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


# ------------------------------------------------------------------------------ linear architecture

_LINEAR = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, fsavi_bound, repaired_bound

constants = {constants!r}
T, k = np.arange(1, {last} + 1), {k}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
frame = pd.DataFrame({{
    "T": T,
    "proven": fsavi_bound(constants, T, k=k, **fit).total,
    "as_stated": fsavi_bound(constants, T, k=k, **fit, bound="stated").total,  # need not hold
    "without_features": repaired_bound(constants, T, k=k).total,
}})
print(frame[frame["T"] == {T}])"""

_LINEAR_TERMS = """\
import pandas as pd
from fsdash.theory import Constants, fsavi_bound

constants = {constants!r}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
rows = []
for name in ("stated", "proven"):  # the stated one does not hold in general
    bound = fsavi_bound(constants, {T}, k={k}, **fit, bound=name)
    rows.append({{"bound": name, **vars(bound), "total": bound.total}})
frame = pd.DataFrame(rows)"""


@dataclass(frozen=True)
class LinearState:
    """Constants, T, iterations, and the features: `fit` holds kappa, eps_low and eps_up."""

    constants: Constants
    T: int
    k: int
    fit: dict[str, float]

    def regret(self, T: int | np.ndarray, bound: Literal["proven", "stated"] = "proven"):
        """The bound of FSAVI on regret."""
        return fsavi_bound(self.constants, T, k=self.k, **self.fit, bound=bound)

    def frame(self) -> pd.DataFrame:
        """The bound against T: proven, as stated, and the repaired one of FSVI without features."""
        T = np.arange(1, LONGEST_BLOCK["linear"] + 1)
        return pd.DataFrame(
            {
                "T": T,
                "proven": self.regret(T).total,
                "as_stated": self.regret(T, "stated").total,
                "without_features": repaired_bound(self.constants, T, k=self.k).total,
            }
        )

    def terms_frame(self) -> pd.DataFrame:
        """The terms of the bound at the chosen T: a row for each version."""
        bounds = {"stated": self.regret(self.T, "stated"), "proven": self.regret(self.T)}
        return pd.DataFrame(
            [{"bound": name, **vars(bound), "total": bound.total} for name, bound in bounds.items()]
        )

    def snippet(self, terms: bool = False) -> str:
        """Python code that recomputes `frame` or `terms_frame`."""
        values = {"constants": self.constants, "T": self.T, "k": self.k, **self.fit}
        template = _LINEAR_TERMS if terms else _LINEAR
        return template.format(**values, last=LONGEST_BLOCK["linear"])
