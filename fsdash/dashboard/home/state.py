"""What the home page shows, without its widgets: the film of the shop, and three pictures.

The film plays the shop of the story with rolling freeze: every week the shop plans n weeks ahead as
if the season stayed, and orders what the plan says. Both planners of the film learn from a
simulator. The frozen one needs one draw for each state, order and week, because the stock has no
noise while the season is frozen. The other one is Base E-VI after the sweep that loses least.
"""

from functools import cache

import numpy as np

from fsdash.algorithms import e_vi
from fsdash.algorithms.rolling import rolling
from fsdash.core.simulate import simulate
from fsdash.figures import levels
from fsdash.figures.timescales import describe_period, describe_timescales, timescales_svg
from fsdash.sampling import Sampling
from fsdash.teaching.shop import SHOP, shop, solved_shop

LARGEST_N, START_N = 12, 6
WEEKS = 40
SEED = 9
DRAWS, REPLICATIONS, SWEEPS = 50, 20, 8
"""Of Base E-VI: draws for each state and order in a sweep (the paper's M), and how long it runs."""

LARGEST_T, START_T = 12, 4
WIDE, NARROW = 700, 360
"""Widths of a drawing, in pixels."""


# ----------------------------------------------------------------------------------------- the film


@cache
def film() -> dict:
    """The scenes of the film for n = 1, …, LARGEST_N, as plain data for the browser."""
    model, solved = shop(), solved_shop()
    optimum = model.mean(solved.best.U_XY)
    policies = [snapshot.policy_PXY[0] for snapshot in rolling(model, LARGEST_N)]
    draws, loss = unfrozen()
    scenes = []
    for n, policy_XY in enumerate(policies, 1):
        path = simulate(
            model, policy_XY, rng=np.random.default_rng(SEED), steps=WEEKS, start=(1, 0)
        )
        plans = [plan(x, y, policies[:n]) for x, y in zip(path.x_N, path.y_N, strict=True)]
        lost = solved.regret(policy_XY).mean_regret / optimum
        scenes.append(
            {
                "season": path.x_N.tolist(),
                "stock": model.fast.values[path.y_N, 0].tolist(),
                "order": model.actions.values[path.action_N, 0].tolist(),
                "plans": plans,
                "work": f"1/{round(draws / n)}",
                "lost": percent(lost),
                "sentence": sentence(n, draws, lost, bool((policy_XY > 0).any())),
                "draws": f"Frozen: {n} {'draw' if n == 1 else 'draws'} for each state and order. "
                f"Not frozen, at best: {draws} draws and {percent(loss)} lost.",
            }
        )
    return {
        "scenes": scenes,
        "demand": model.slow.values[:, 0].tolist(),
        "capacity": SHOP.y_max,
    }


def plan(x: int, y: int, policies: list[np.ndarray]) -> list[list[float]]:
    """Stock and order in each week of the plan from a state, with the season frozen at x."""
    model, weeks = shop(), []
    for policy_XY in reversed(policies):
        a = int(policy_XY[x, y])
        weeks.append([float(model.fast.values[y, 0]), float(model.actions.values[a, 0])])
        demand = model.slow.values[x, 0]
        stock, order = weeks[-1]
        y = int(min(stock + order - min(stock, demand), SHOP.y_max))
    return [*weeks, [float(y), 0.0]]


@cache
def unfrozen() -> tuple[int, float]:
    """Base E-VI after its best sweep: draws for each state and order, and the share lost."""
    model, solved = shop(), solved_shop()
    losses_RK = np.empty((REPLICATIONS, SWEEPS))
    for r, losses_K in enumerate(losses_RK):
        run = e_vi(
            model, np.random.default_rng(r), sampling=Sampling(M=DRAWS, snapshots_per_sweep=1)
        )
        next(run)  # before the first sweep
        for k in range(SWEEPS):
            losses_K[k] = solved.regret(next(run).policy_PXY).mean_regret
    mean_K = losses_RK.mean(axis=0)
    best = int(mean_K.argmin())
    return (best + 1) * DRAWS, float(mean_K[best] / model.mean(solved.best.U_XY))


def sentence(n: int, draws: int, lost: float, orders: bool) -> str:
    """What freezing n weeks saves and costs, in words."""
    weeks = "week" if n == 1 else "weeks"
    words = f"Freeze {n} {weeks}: 1/{round(draws / n)} of the work, {percent(lost)} lost."
    if not orders:
        words += " The plan ends before an order has paid for itself, so the shop never orders."
    return words


def percent(share: float) -> str:
    """A share, such as 13% or 0.03%."""
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1g}%"


# ------------------------------------------------------------------------------- the three pictures


def step_count(picture: str, T: int) -> int:
    """The number of steps of a picture before it starts again."""
    if picture == "policy":
        return 2 * T
    return levels.lower_level_steps(T) if picture == "lower" else levels.BLOCKS


def drawing(picture: str, T: int, step: int, width: int) -> str:
    """A picture at one of its steps, as SVG."""
    if picture == "policy":
        return timescales_svg(T, width, 12 if width <= NARROW else 24, now=step)
    if picture == "lower":
        return levels.lower_level_svg(T, step, width)
    return levels.upper_level_svg(T, step, width=width)


def caption(picture: str, T: int, step: int) -> str:
    """The step in words, for the line below the picture."""
    if picture == "policy":
        return describe_period(T, step)
    if picture == "lower":
        return levels.describe_lower_level(T, step)
    return levels.describe_upper_level(T, step)


def alt_text(picture: str, T: int, step: int) -> str:
    """The picture in words, for screen readers."""
    if picture == "policy":
        return describe_timescales(T, step)
    return caption(picture, T, step)
