"""Everything that the story solves on its running example, the shop, without Streamlit.

Each function is cached; none takes a second.
"""

from functools import cache

import numpy as np

from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.snapshot import Snapshot, run_until
from fsdash.choice.certify import certify
from fsdash.choice.frontier import Frontier, frontier
from fsdash.choice.solved import SolvedModel, Suitability
from fsdash.core.blocks import Blocks, frozen_blocks
from fsdash.core.operators import H, H_frozen, H_policy, bellman, expect
from fsdash.core.simulate import Path, simulate, visits
from fsdash.dashboard.story.maze import CELLS, maze
from fsdash.teaching.shop import SHOP, best, shop, solved_shop
from fsdash.theory import Constants, RewardError
from fsdash.theory.measured import measure

SEASONS = ("low", "middle", "high")
"""Names of the three demands."""
YEAR = 52
"""Weeks of the path in the first section."""
PATH = 24
"""Weeks of the path that is cut into blocks, at least."""
PRECISION = 0.01
"""Values are good enough within this share of the largest value."""
CONVERGED = 1e-6

GAMMAS = (0.8, 0.9, 0.95, 0.98, 0.99)
SWEEPS = 500
"""Most sweeps on the slider; the figure shows more."""
MOST_SWEEPS = 1_200
LOWER_STEPS = 12
LONGEST_T = 16
MOST_K = 10
BUDGETS = (0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0)
MOVES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
MAZE_T = (4, 8, 16, 24, 32, 40)
SEEDS = 8


# ------------------------------------------------------------------------------ the running example


@cache
def year(seed: int) -> Path:
    """A year under the optimal policy; it begins in the middle season with no stock."""
    return simulate(shop(), best().policy_PXY, rng=generator(seed), steps=YEAR, start=(1, 0))


def generator(seed: int) -> np.random.Generator:
    """The random numbers of a path."""
    return np.random.default_rng(seed)


# ----------------------------------------------------------------------------------- the algorithms


@cache
def value_errors(gamma: float) -> np.ndarray:
    """‖U^k − U*‖ ÷ ‖U*‖ of value iteration from zero, for k = 0, 1, …, until it is below 0.1%."""
    model, U_XY = shop(gamma), best(gamma).U_XY
    scale, V_XY, errors = np.abs(U_XY).max(), np.zeros_like(U_XY), [1.0]
    while errors[-1] > PRECISION / 10 and len(errors) <= MOST_SWEEPS:
        V_XY = H(model, V_XY)
        errors.append(float(np.abs(V_XY - U_XY).max() / scale))
    return np.array(errors)


def first_below(errors: np.ndarray, share: float = PRECISION) -> int:
    """The first k after which the error stays at or below a share."""
    return int(np.flatnonzero(errors > share)[-1]) + 1


@cache
def optimal_after(gamma: float) -> int:
    """The sweeps after which the greedy policy of value iteration is optimal."""
    model, U_XY = shop(gamma), best(gamma).U_XY
    V_XY, last = np.zeros_like(U_XY), 0
    for k in range(SWEEPS):
        V_XY, greedy_XY = bellman(model, model.true, V_XY)
        if np.abs(H_policy(model, greedy_XY, U_XY) - U_XY).max() > CONVERGED * np.abs(U_XY).max():
            last = k + 1
    return last


@cache
def lower_level() -> tuple[Snapshot, ...]:
    """J and the policy with n = 1, 2, … frozen weeks to go."""
    return tuple(rolling(shop(), LONGEST_T))


@cache
def upper_level(T: int, k: int) -> Snapshot:
    """V^k and the T-periodic policy after k iterations."""
    return run_until(fsvi(shop(), T), iterations=k)


@cache
def converged(T: int) -> Snapshot:
    """FSVI after as many iterations as it takes."""
    return run_until(fsvi(shop(), T), tolerance=CONVERGED)


@cache
def upper_errors(T: int) -> np.ndarray:
    """‖V^k − V*‖ ÷ ‖V*‖ of the upper level, for k = 0, 1, …, until it is below 0.1%."""
    V_XY, errors = converged(T).values_XY, []
    for snapshot in fsvi(shop(), T):
        if snapshot.phase == "upper":
            error = np.abs(snapshot.values_XY - V_XY).max() / np.abs(V_XY).max()
            errors.append(float(error))
            if error <= PRECISION / 10:
                break
    return np.array(errors)


@cache
def path_in_blocks(T: int, seed: int) -> Blocks:
    """A path of the converged policy of FSVI, with the frozen plan of each block."""
    return frozen_blocks(
        shop(),
        converged(T).policy_PXY,
        rng=generator(seed),
        blocks=-(-PATH // T),
        start=(1, 0),
    )


@cache
def order_shares(T: int) -> np.ndarray:
    """The share of all orders, in the long run, that falls on each week of a block."""
    policy_PXY = converged(T).policy_PXY
    orders_P = (visits(shop(), policy_PXY).share_PXY * (policy_PXY > 0)).sum(axis=(1, 2))
    return orders_P / orders_P.sum()


# ---------------------------------------------------------------------------------------- its price


@cache
def measured_error(T: int) -> RewardError:
    """The largest error of the plan's T-period reward, measured, in two parts.

    With J^ν the value of the optimal policy ν* over T − 1 weeks, J the best value over T − 1 weeks,
    and J̃ the same with the season frozen: the end-of-horizon part is γ max |E[J^ν − J]|, and the
    freeze part γ max |E[J − J̃]|. Their sum bounds the reward error γ max |E[J^ν − J̃]|.
    """
    model, nu_XY = shop(), best().policy_PXY[0]
    own_XY = true_XY = frozen_XY = np.zeros((model.n_slow, model.n_fast))
    for _ in range(T - 1):
        own_XY = H_policy(model, nu_XY, own_XY)
        true_XY, frozen_XY = H(model, true_XY), H_frozen(model, frozen_XY)
    return RewardError(largest(true_XY - frozen_XY), largest(own_XY - true_XY))


def largest(gap_XY: np.ndarray) -> float:
    """γ max |E[gap(s')]| over all states and actions of the shop."""
    model = shop()
    return float(model.gamma * np.abs(expect(model, model.true, gap_XY)).max())


@cache
def constants() -> Constants:
    """The constants of the theory, measured on the shop."""
    return measure(shop(), best().U_XY).constants(SHOP.gamma)


@cache
def fsvi_losses(T: int) -> tuple[float, float]:
    """The mean and the largest regret of converged FSVI."""
    found = solved_shop().regret(converged(T).policy_PXY)
    return found.mean_regret, found.max_regret


@cache
def rolling_loss(n: int) -> float:
    """The mean regret of rolling freeze with n frozen weeks."""
    return solved_shop().regret(lower_level()[n - 1].policy_PXY).mean_regret


@cache
def certificate(T: int) -> float:
    """A bound on the largest regret of converged FSVI, computed on the model without U*."""
    return certify(shop(), converged(T).policy_PXY, tighten=2).max_regret


@cache
def shop_frontier(methods: tuple[str, ...] = ("fsvi", "vi")) -> Frontier:
    """The frontier of the shop: regret against work for FSVI with every T, and for Base VI."""
    T_values = range(2, LOWER_STEPS + 1)
    return frontier(solved_shop(), T_values, methods=methods, every_iteration=True, bounds=False)


# ----------------------------------------------------------------------------------- where it fails


@cache
def season_verdict(move: float) -> Suitability:
    """Whether freezing suits the shop if the season moves with this probability each way."""
    return solved_shop(move=move).freezing


@cache
def maze_verdict() -> Suitability:
    """Whether freezing suits the maze."""
    return solved_maze().freezing


@cache
def solved_maze() -> SolvedModel:
    return SolvedModel(maze())


@cache
def maze_level(T: int) -> Snapshot:
    """J and the policy in the maze with T frozen periods to go."""
    return run_until(rolling(maze(), T), iterations=T)


@cache
def maze_share(T: int) -> float:
    """The share of the optimal mean value that FSVI reaches in the maze."""
    policy_PXY = run_until(fsvi(maze(), T), tolerance=CONVERGED).policy_PXY
    found = solved_maze().regret(policy_PXY)
    return found.mean_value / found.optimal_mean_value


def cells_seen(T: int) -> int:
    """The cells from which a plan of T periods sees the prize, at one end of the corridor."""
    return int((maze_level(T).values_XY[0] > 0).sum())


MAZE_CELLS = CELLS
