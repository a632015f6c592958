"""Sentences of the Choose T page about the numbers that it shows."""

from collections.abc import Mapping

import pandas as pd

from fsdash.algorithms.optimum import Regret
from fsdash.choice.frontier import Frontier
from fsdash.choice.plan import Plan, describe
from fsdash.dashboard.choose_t.state import MeasuredState, domain_and_preset
from fsdash.figures.frontier import MEASURES, point_label
from fsdash.formatting import number, round_up


def model_label(key: str, labels: Mapping[str, str]) -> str:
    """The name of a model in the list: its domain, which `labels` names, and its preset."""
    name, preset = domain_and_preset(key)
    return labels[name] + ("" if preset == "default" else f", {preset.replace('-', ' ')}")


def exact_solution(frontier: Frontier) -> str:
    """The work after which modified policy iteration has an optimal policy."""
    points = frontier.points
    optimal = points[(points["method"] == "mpi") & (points["mean_regret"] <= frontier.precision)]
    if optimal.empty:
        return "Modified policy iteration (MPI) has not solved this model within the measurement."
    return (
        f"Solving the model exactly takes {number(optimal['sweeps'].min())} sweeps: that is when "
        "modified policy iteration (MPI) has an optimal policy."
    )


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
        "Cost": f"{number(best['sweeps'])} sweeps",
        "Mean regret": regret_text(float(best["mean_regret"]), state.optimal),
        "Certificate": at_most(float(best["certificate"])),
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
        if more <= max(1e-3 * loss, state.measured.frontier.precision):
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
        "Mean regret": regret_text(loss.mean_regret, loss.optimal_mean_value),
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
