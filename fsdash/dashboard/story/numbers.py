"""The numbers in the text of each section, by the names of the placeholders in `text`.

Every number comes from `state`, which computes it with the library. The tests compare them.
"""

from math import ceil, log

import numpy as np

from fsdash.choice.pareto import Winner, best_on_budget, winners
from fsdash.choice.solved import REMAINING
from fsdash.dashboard.story import state
from fsdash.dashboard.story.maze import SWITCH
from fsdash.dashboard.story.state import PRECISION, SHOP
from fsdash.dashboard.story.text import LOWER_LEVEL_ORDERS, WAIT_FOR_THE_BLOCK, display
from fsdash.figures.frontier import point_label
from fsdash.theory import fsvi_bound, reward_error, trivial_bound

Numbers = dict[str, object]
MOST_ORDERS = 0.9
"""Share of orders in the first week of a block above which the text says "almost all"."""


def shop(seed: int) -> Numbers:
    """Section 1: the shop and a year in it."""
    model, path = state.shop(), state.year(seed)
    return {
        **{name: getattr(SHOP, name) for name in ("K", "c", "p", "h")},
        "n_slow": model.n_slow,
        "n_fast": model.n_fast,
        "n_actions": model.n_actions,
        "n_states": model.n_states,
        "demands": ", ".join(f"{d:g}" for d in model.slow.values[:, 0]),
        "weeks": len(path),
        "stock_moves": int((np.diff(path.y_N) != 0).sum()),
        "season_moves": int((np.diff(path.x_N) != 0).sum()),
        "move": percent(SHOP.move),
        "capacity": SHOP.y_max,
        "sizes": ", ".join(f"{a:g}" for a in model.actions.values[:, 0]),
        "optimum": model.mean(state.best().U_XY),
    }


def sweeps(gamma: float, k: int) -> Numbers:
    """Section 2: value iteration."""
    errors, closer = state.value_errors(gamma), 1 - (1 - gamma) / 2
    needed, needed_closer = (state.first_below(state.value_errors(g)) for g in (gamma, closer))
    return {
        "gamma": f"{gamma:g}",
        "half": ceil(log(0.5) / log(gamma)),
        "k": k,
        "k_sweeps": count(k, "sweep"),
        "error": percent(errors[min(k, len(errors) - 1)]),
        "precision": percent(PRECISION),
        "needed": needed,
        "closer": f"{closer:g}",
        "needed_closer": needed_closer,
        "ratio": needed_closer / needed,
        "optimal_after": state.optimal_after(gamma),
    }


def lower(n: int) -> Numbers:
    """Section 3: the lower level with n weeks to go."""
    ordering = [int((step.policy_PXY > 0).sum()) for step in state.lower_level()]
    return {
        "n_weeks": count(n, "week"),
        "ordering": ordering[n - 1],
        "n_states": state.shop().n_states,
        "n_slow": state.shop().n_slow,
        "none": sum(count == 0 for count in ordering),
        "first": int(np.flatnonzero(ordering)[0]) + 1,
        "K": SHOP.K,
        "p": SHOP.p,
    }


def upper(T: int, k: int) -> Numbers:
    """Section 4: the upper level after k iterations."""
    model, errors = state.shop(), state.upper_errors(T)
    needed, cost = state.first_below(errors), 1 + (T - 1) / model.n_actions
    return {
        "T": T,
        "k": k,
        "k_iterations": count(k, "iteration"),
        "gamma": f"{model.gamma:g}",
        "discount": model.gamma**T,
        "error": percent(errors[min(k, len(errors) - 1)]),
        "precision": percent(PRECISION),
        "needed": needed,
        "vi_needed": count(state.first_below(state.value_errors(model.gamma)), "sweep"),
        "cost": cost,
        "cost_sweeps": count(cost, "sweep"),
        "work": count(needed * cost, "sweep"),
    }


def path(T: int, seed: int) -> Numbers:
    """Section 5: one path, block by block."""
    blocks, shares = state.path_in_blocks(T, seed), state.order_shares(T)
    ordered_N = blocks.path.action_N > 0
    idle = T - 1 - int(np.flatnonzero(shares)[-1])
    at_starts = WAIT_FOR_THE_BLOCK if shares[0] > MOST_ORDERS else LOWER_LEVEL_ORDERS
    return {
        "T": T,
        "weeks": len(blocks.path),
        "blocks": len(blocks),
        "orders": int(ordered_N.sum()),
        "at_start": int(ordered_N[::T].sum()),
        "share": percent(shares[0]),
        "last": "last week" if idle == 1 else f"last {idle} weeks",
        "who": at_starts.format(share=percent(shares[0])),
        "planned": float(blocks.plan.reward_N.sum()),
        "earned": float(blocks.path.reward_N.sum()),
        "K": SHOP.K,
    }


def errors(T: int) -> Numbers:
    """Section 6: the two errors, measured and bounded."""
    c = state.constants()
    found, bound = state.measured_error(T), reward_error(c, T)
    shortest, longest = state.measured_error(2), state.measured_error(state.LONGEST_T)
    larger = "end-of-horizon" if found.end_of_horizon > found.freeze else "freeze"
    return {
        "T": T,
        "freeze": found.freeze,
        "end": found.end_of_horizon,
        "freeze_bound": float(bound.freeze),
        "end_bound": float(bound.end_of_horizon),
        "larger": larger,
        "ratio": float(bound.total / found.total),
        "shortest": 2,
        "longest": state.LONGEST_T,
        "freeze_first": shortest.freeze,
        "freeze_last": longest.freeze,
        "end_first": shortest.end_of_horizon,
        "end_last": longest.end_of_horizon,
        "alpha": c.alpha,
        "d_Y": c.d_y,
        "L_r": c.l_r,
        "L_f": c.l_f,
        "L_U": c.l_u,
    }


def work(budget: float, T: int) -> Numbers:
    """Section 7: regret against work."""
    frontier = state.shop_frontier()
    won = best_on_budget(frontier, budget)
    base = best_on_budget(frontier.where(frontier.points["method"] == "vi"), budget)
    assert won is not None and base is not None  # both methods have a point without work
    paid = state.shop_frontier(("fsvi", "rolling", "vi")).with_work()
    replanning = [winner for winner in winners(paid) if winner.method == "rolling"]
    return {
        "budget_sweeps": count(budget, "sweep"),
        "T": T,
        "winner": point_label(won["method"], won["T"]),
        "regret": float(won["mean_regret"]),
        "base": float(base["mean_regret"]),
        "floor": state.fsvi_losses(T)[0],
        "optimum": state.shop().mean(state.best().U_XY),
        "switch": base_vi_from().start,
        "replan_from": replanning[0].start,
        "replan_to": replanning[-1].end,
    }


def base_vi_from() -> Winner:
    """The budgets, up to the largest, for which Base VI has the smallest regret."""
    return winners(state.shop_frontier().with_work())[-1]


def bound(T: int) -> Numbers:
    """Section 8: the bound on the regret, and what is true."""
    c, gamma = state.constants(), SHOP.gamma
    limit = float(fsvi_bound(c, T, k=0).floor)
    values = range(2, state.LONGEST_T + 1)
    return {
        "T": T,
        "bound": limit,
        "trivial": trivial_bound(c),
        "regret": state.fsvi_losses(T)[1],
        "certificate": state.certificate(T),
        "times": limit / trivial_bound(c),
        "L_U": c.l_u,
        "L_r": c.l_r,
        "L_f": c.l_f,
        "factor": 2 / (1 - gamma**T) ** 2,
        "bound_T": min(values, key=lambda value: float(fsvi_bound(c, value, k=0).floor)),
        "true_T": min(values, key=lambda value: state.fsvi_losses(value)[1]),
        "K": SHOP.K,
    }


def rolling(n: int) -> Numbers:
    """Section 9: rolling freeze against FSVI."""
    losses = [state.rolling_loss(m) for m in range(2, state.LONGEST_T + 1)]
    floors = [state.fsvi_losses(m)[0] for m in range(2, state.LONGEST_T + 1)]
    model, above = state.shop(), np.array(losses) > min(floors)
    steady = int(np.flatnonzero(above)[-1]) + 1
    return {
        "n": n,
        "rolling": state.rolling_loss(n),
        "fsvi": state.fsvi_losses(n)[0],
        "best_n": int(np.argmin(losses)) + 2,
        "best": min(losses),
        "best_T": int(np.argmin(floors)) + 2,
        "best_floor": min(floors),
        "short": 2,
        "short_rolling": losses[0],
        "short_fsvi": floors[0],
        "work": count(n * model.frozen.outcomes / model.true.outcomes, "sweep"),
        "steady": steady + 2,
        "steady_low": min(losses[steady:]),
        "steady_high": max(losses[steady:]),
    }


def season(move: float) -> Numbers:
    """Section 10, with a season that moves fast."""
    found = state.season_verdict(move)
    return {
        "move": percent(move),
        "moves": percent(found.moves),
        "fsvi": percent(found.fsvi),
        "rolling": percent(found.rolling),
        "limit": percent(REMAINING),
        "suits": "suits" if found.suits else "does not suit",
    }


def labyrinth(T: int) -> Numbers:
    """Section 10, in the maze."""
    found = state.maze_verdict()
    return {
        "T": T,
        "cells": state.MAZE_CELLS,
        "switch": percent(SWITCH),
        "half": state.MAZE_CELLS // 2,
        "seen": state.cells_seen(T),
        "share": percent(state.maze_share(T)),
        "long": state.MAZE_T[-1],
        "long_share": percent(state.maze_share(state.MAZE_T[-1])),
        "repeated": percent(found.repeated),
    }


def count(amount: float, unit: str) -> str:
    """An amount with its unit, such as 1 week or 1.4 sweeps."""
    shown = display(amount)
    return f"{shown} {unit}" if shown == "1" else f"{shown} {unit}s"


def percent(share: float) -> str:
    """A share with at most two significant digits, such as 0.8%, 25% or 100%."""
    value = 100 * float(share)
    return f"{value:.0f}%" if value >= 10 or value == 0 else f"{value:.2g}%"
