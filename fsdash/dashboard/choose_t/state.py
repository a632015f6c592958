"""The Choose T page without its widgets: a model, its frontier, and what follows.

The snippet leaves its table in the variable `frame`; tests run it and compare.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import pandas as pd
import plotly.graph_objects as go

from fsdash.algorithms.optimum import Regret
from fsdash.choice.frontier import Frontier, frontier
from fsdash.choice.pareto import competitor, last_on_budget, pareto, without
from fsdash.choice.plan import Plan, plan
from fsdash.choice.solved import Suitability, solved_domain
from fsdash.domains import DOMAINS, Domain, make
from fsdash.figures.frontier import BOUND_NAME, FrontierFigure
from fsdash.formatting import round_significant
from fsdash.theory.measured_domains import measured_domains

COMPARED_T = tuple(range(2, 25))
"""The values of T that compete."""
DRAWN_T = (2, 4, 6, 12, 24)
MAX_PAIRS = 2_000_000
"""State-action pairs of a model that the page measures; `fsdash frontier` has no limit."""
CONSTANTS_SECONDS = 1.0
"""Seconds for the constants of the bound; then proven upper values are used, which still bound."""
SLOW_PAIRS = 400_000
"""Pairs above which a visitor starts the measurement, instead of waiting unasked."""


@dataclass(frozen=True, eq=False)
class MeasuredModel:
    """The frontier of a model, and what it says whatever the budget is."""

    frontier: Frontier
    """Without its policies, which may be large."""
    suits: Suitability
    """Whether freezing suits the model."""

    @cached_property
    def positive(self) -> pd.DataFrame:
        """The points that cost something."""
        return self.frontier.with_work().points

    @cached_property
    def bound_factor(self) -> float | None:
        """The smallest ratio of the regret bound to the true largest regret; None if unknown."""
        rows = self.positive
        known = rows[(rows["method"] == "fsvi") & rows["bound"].notna() & (rows["max_regret"] > 0)]
        return None if known.empty else float((known["bound"] / known["max_regret"]).min())


@lru_cache(maxsize=512)
def front(
    measured: MeasuredModel, measure: str, but: tuple[str, int | None] | None = None
) -> pd.DataFrame:
    """The Pareto front, without one competitor if the runner-up is wanted."""
    paid = measured.frontier.with_work()
    return pareto(paid if but is None else without(paid, *but), measure)


@lru_cache(maxsize=64)
def figure_without_budget(
    measured: MeasuredModel,
    T: tuple[int, ...],
    measure: str,
) -> FrontierFigure:
    """The figure of a frontier, made once for all budgets and visitors."""
    return FrontierFigure(measured.frontier, T, measure)


@dataclass(frozen=True, eq=False)
class MeasuredState:
    """A model with its frontier, and a budget in sweeps."""

    model: str
    """The model as the URL names it: a domain, with a preset after a dot."""
    measured: MeasuredModel
    sweeps: float
    T: tuple[int, ...] = DRAWN_T
    measure: str = "mean_regret"

    @cached_property
    def best(self) -> pd.Series | None:
        """The best point within the budget; None if there is none."""
        return last_on_budget(front(self.measured, self.measure), self.sweeps)

    @cached_property
    def second(self) -> pd.Series | None:
        """The best point within the budget of another method, or of FSVI with another T."""
        if self.best is None:
            return None
        others = front(self.measured, self.measure, competitor(self.best))
        return last_on_budget(others, self.sweeps)

    @cached_property
    def best_fsvi(self) -> pd.Series | None:
        """The best point of FSVI within the budget; None if there is none."""
        rows = self.fsvi_on_budget
        return None if rows.empty else rows.loc[rows[self.measure].idxmin()]

    @cached_property
    def fsvi_on_budget(self) -> pd.DataFrame:
        """The points of FSVI within the budget."""
        rows = self.measured.positive
        return rows[(rows["method"] == "fsvi") & (rows["sweeps"] <= self.sweeps)]

    @property
    def optimal(self) -> float:
        """The optimal mean value."""
        return self.measured.frontier.optimal_return


@lru_cache(maxsize=16)
def model_keys(names: tuple[str, ...]) -> list[str]:
    """Every preset of these domains that is not too large, as the URL names it.

    The default preset is the domain's name alone, any other one such as inventory.wide-demand.
    """
    keys = [
        name if preset == "default" else f"{name}.{preset}"
        for name in names
        for preset in DOMAINS[name].presets
    ]
    return [key for key in keys if pairs(model_of(key)) <= MAX_PAIRS]


def domain_and_preset(key: str) -> tuple[str, str]:
    """The domain and the preset of a model as the URL names it.

    >>> domain_and_preset("inventory"), domain_and_preset("inventory.wide-demand")
    (('inventory', 'default'), ('inventory', 'wide-demand'))
    """
    name, _, preset = key.partition(".")
    return name, preset or "default"


@lru_cache(maxsize=64)
def model_of(key: str) -> Domain:
    """The domain with its preset; an `InputError` if there is none."""
    return make(*domain_and_preset(key))


def pairs(domain: Domain) -> int:
    """The number of state-action pairs."""
    X, Y, A, _ = domain.shape
    return X * Y * A


def measure_model(domain: Domain, progress: Callable[[float], object]) -> MeasuredModel:
    """The frontier of a model for all T that compete; constants are reused where they are known."""
    progress(0.0)
    solved, constants = solved_domain(domain), None
    if domain == make(domain.name) and domain.name in measured_domains():
        constants = measured_domains()[domain.name].constants
    verdict = solved.freezing
    measured = frontier(
        solved,
        COMPARED_T,
        constants=constants,
        constants_seconds=CONSTANTS_SECONDS,
        progress=progress,
    )
    return MeasuredModel(replace(measured, policies=()), verdict)


def plan_from_samples(
    domain: Domain, sweeps: float, seed: int, progress: Callable[[float], object]
) -> tuple[Plan, Regret]:
    """The plan from samples alone, which all count against the budget, and its true regret."""
    solved = solved_domain(domain)
    chosen = plan(solved.model, sweeps=sweeps, sampled=True, seed=seed, progress=progress)
    return chosen, solved.regret(chosen.policy_PXY)


def figure(state: MeasuredState) -> go.Figure:
    """True regret against work, with the budget."""
    known = figure_without_budget(state.measured, state.T, state.measure)
    return known.at(state.sweeps)


def choices_of_T(state: MeasuredState) -> pd.DataFrame:
    """T of FSVI within the budget, chosen by the regret bound, the certificate and hindsight.

    Empty if FSVI exceeds the budget. Hindsight knows the true regret.
    """
    paid, found = state.fsvi_on_budget, []
    for by, column in (
        ("the regret bound", "bound"),
        ("the certificate", "certificate"),
        ("hindsight", state.measure),
    ):
        if paid[column].notna().any():
            row = paid.loc[paid[column].idxmin()]
            found.append({"chosen by": by, "T": int(row["T"]), "k": int(row["k"]), **_regrets(row)})
    return pd.DataFrame(found)


def _regrets(row: pd.Series) -> dict[str, float]:
    names = ("mean_regret", "max_regret", "certificate", "bound")
    return {name.replace("_", " "): float(row[name]) for name in names}


def bound_is_drawn(shown: go.Figure) -> bool:
    """Whether the regret bound fits into the figure."""
    return any(trace.name == BOUND_NAME for trace in shown.data)


def clicked_sweeps(x: float) -> float:
    """The budget at a place in the figure, with three digits."""
    return round_significant(max(float(x), 0.0), 3)


def inspector_query(state: MeasuredState, row: pd.Series) -> dict[str, str]:
    """The parameters of the Policy inspector that show the policy of a row.

    The inspector counts the records of a run: FSVI has two in each lower step, before its upper
    iterations; the other methods have one in each iteration.
    """
    method = row["method"]
    name, preset = domain_and_preset(state.model)
    query = {"domain": name, "method": method}
    if preset != "default":
        query["preset"] = preset
    if method == "fsvi":
        return query | {"T": str(row["T"]), "step": str(2 * (int(row["T"]) - 1) + int(row["k"]))}
    if method == "rolling":
        return query | {"T": str(row["T"]), "step": str(int(row["T"]) - 1)}
    return query | {"step": str(row["k"])}


_SNIPPET = """\
import fsdash

model = fsdash.make({arguments}).build()
frame = fsdash.frontier(model, T=range({first}, {last})).points
print(frame[frame["sweeps"] <= {sweeps!r}].nsmallest(1, "mean_regret"))"""


def snippet(state: MeasuredState) -> str:
    """Python code that recomputes the frontier and the best point within the budget."""
    name, preset = domain_and_preset(state.model)
    return _SNIPPET.format(
        arguments=repr(name) if preset == "default" else f"{name!r}, {preset!r}",
        first=COMPARED_T[0],
        last=COMPARED_T[-1] + 1,
        sweeps=state.sweeps,
    )
