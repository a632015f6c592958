"""The wording of the measured half of Choose T."""

from collections.abc import Mapping

import pandas as pd

from fsdash.algorithms.optimum import Regret
from fsdash.choice.plan import Plan, describe
from fsdash.dashboard.choose_t.measured import MeasuredState
from fsdash.figures.frontier import MEASURES, point_label
from fsdash.formatting import number, round_up

INTRODUCTION = (
    "Every method is run on the model and its policies are evaluated exactly, so the regrets below "
    "are **true values**, not bounds. All points to the left of the line are within the budget."
)
MODEL, BUDGET = "Model", "Budget in sweeps of Base VI"
BUDGET_HELP = (
    "The work that a method may spend. One sweep is one evaluation for each state, action and "
    "noise outcome. You can also click in the figure or drag the line to set it."
)
MEASURE, MEASURE_LABELS = "Regret", {"mean_regret": "Mean", "max_regret": "Largest"}
MEASURE_HELP = (
    "Mean: over the initial distribution. Largest: over all states, as the paper defines regret."
)
DRAWN_T = "Curves of FSVI for T"
DRAWN_T_HELP = "All T from {first} to {last} are compared; curves are drawn for these."
NO_T = "No T is selected, so the defaults are drawn: {T}."
MEASURING, START = "Measuring {title} …", "Measure this model"
STOPPED = "The measurement was stopped. Start it again with the button."
LARGE = (
    "This model has {pairs:,} state-action pairs. Measuring it takes a while; you can stop "
    "it at any time."
)
CLICK = (
    "Click a point to open its policy in the inspector. Click elsewhere or drag the thick line to "
    "set the budget."
)
ALT_TEXT = "True regret against work on {title}. {headline}."
COST, REGRET, CERTIFICATE = "Cost", "Mean regret", "Certificate"
CERTIFICATE_HELP = "An upper bound on the largest regret, computed without solving the model."
CHOICES_OF_T = (
    "**T of FSVI for this budget, chosen by three rules.** Only *hindsight* uses the true regret."
)
NO_FSVI = "This budget is too small for FSVI."
INSPECT = "Inspect this policy"
SAMPLES = "If you can only sample"
SAMPLES_INTRODUCTION = (
    "The figure needs the model's probabilities. If you only have a simulator, samples must "
    "do. Draws test whether the model has the structure that thawed defect correction needs; "
    "policies of the methods that suit it are then compared by roll-outs, as far as the budget "
    "allows. Every sample counts against the budget. Here one sweep is a sweep of Base E-VI with "
    "50 samples for each state and action."
)
SAMPLED_BUDGET, SEED = "Budget in sweeps of Base E-VI", "Seed"
CHOOSE_FROM_SAMPLES, CHOOSING = "Plan from samples", "Working with samples …"


def model_label(key: str, labels: Mapping[str, str]) -> str:
    """The name of a model in the list: its domain, which `labels` names, and its preset."""
    name, _, preset = key.partition(".")
    words = preset.replace("-", " ")
    return f"{labels[name]}{f', {words}' if words else ''}"


def sampled_headline(chosen: Plan) -> str:
    """The method that the samples chose."""
    return describe(chosen.method, chosen.T)


def headline(state: MeasuredState) -> str:
    """The recommendation."""
    if state.best is None:
        return "This budget is too small"
    return f"{point_label(state.best['method'], state.best['T'])}{_iterations(state.best)}"


def _iterations(row: pd.Series) -> str:
    return "" if pd.isna(row["k"]) else f", k={int(row['k']):,}"


def numbers(state: MeasuredState) -> dict[str, str]:
    """The recommendation's cost, regret and certificate, by label."""
    best = state.best
    assert best is not None
    return {
        COST: f"{number(best['sweeps'])} sweeps",
        REGRET: regret_text(float(best["mean_regret"]), state.optimal),
        CERTIFICATE: at_most(float(best["certificate"])),
    }


def at_most(bound: float) -> str:
    """An upper bound, rounded up so that it remains one."""
    return f"≤ {number(round_up(bound, 3))}"


def regret_text(regret: float, optimal: float) -> str:
    """A regret, with its share of the optimal value where that is positive."""
    if optimal <= 0:
        return number(regret)
    return f"{number(regret)} ({number(100 * regret / optimal)}%)"


def reasons(state: MeasuredState) -> str:
    """Why this point is the best, and how much the runner-up would lose."""
    if state.best is None:
        cheapest = float(state.measured.positive["sweeps"].min())
        needed = number(round_up(cheapest, 3))
        return f"The cheapest policy costs {needed} sweeps. Raise the budget to that."
    name = MEASURES[state.measure]
    loss = float(state.best[state.measure])
    parts = [f"It has the smallest {name} of all points within the budget."]
    second = state.second
    if second is not None:
        other = f"{point_label(second['method'], second['T'])}{_iterations(second)}"
        more = float(second[state.measure]) - loss
        if more <= max(1e-3 * loss, state.measured.precision):
            parts.append(f"{other} is practically as good.")
        else:
            parts.append(f"The runner-up, {other}, would lose {number(more)} more.")
    named = {state.best["method"], None if second is None else second["method"]}
    if state.best_fsvi is not None and "fsvi" not in named:
        T, more = int(state.best_fsvi["T"]), float(state.best_fsvi[state.measure]) - loss
        parts.append(f"FSVI does best with T = {T} and would lose {number(more)} more.")
    return " ".join(parts)


def sampled_numbers(chosen: Plan, loss: Regret) -> dict[str, str]:
    """The work of a plan from samples, and its true regret, by label."""
    return {
        "Evaluations": f"{chosen.log['evaluations'].iloc[-1]:,}",
        REGRET: regret_text(loss.mean_regret, loss.optimal_mean_value),
        "Largest regret": number(loss.max_regret),
    }


def choices_table(choices: pd.DataFrame) -> pd.DataFrame:
    """The table of `choices_of_T` as texts, with three significant digits."""
    amounts = choices.columns.difference(["chosen by", "T", "k"])
    return choices.assign(**{name: choices[name].map(number) for name in amounts})


def bound_note(factor: float | None, drawn: bool) -> str:
    """What the regret bound of FSVI says here."""
    if factor is None:
        return "The regret bound is unknown here, because the model's constants were not measured."
    times = f"{number(factor)} times the true largest regret or more"
    if drawn:
        return f"The regret bound is {times}."
    return f"The regret bound is off the scale: {times}. It cannot choose T here."
