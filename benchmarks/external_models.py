"""Models from other sources, written as single transitions from their definitions.

    Taxi, FrozenLake 8×8        Gymnasium's tables `env.unwrapped.P`
    savings                     optimal savings with a Rouwenhorst income chain
    inventory, Markov demand    orders up to 30 units; the mean demand is a Markov chain
    career choice               careers and jobs, as in the lectures of QuantEcon
    platelets                   a hospital's blood bank: Mirjalili (2022), also in mdpax
    random sparse               10⁶ state-action pairs with 8 random next states each

`random_model` makes a model like the last one of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gymnasium
import numpy as np
from scipy import sparse, stats

from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows


@dataclass(frozen=True, eq=False)
class Transitions:
    """A model before its rows are built: rewards, and one entry per possible transition."""

    reward_XYA: np.ndarray
    pair_N: np.ndarray
    target_N: np.ndarray
    probability_N: np.ndarray
    gamma: float

    def build(self) -> FastSlowMDP:
        shape = self.reward_XYA.shape
        rows = Rows.from_entries(shape, self.pair_N, self.target_N, self.probability_N)
        return FastSlowMDP(reward_XYA=self.reward_XYA, rows=rows, gamma=self.gamma)


def entries(shape: tuple[int, int, int], **parts: np.ndarray) -> dict[str, np.ndarray]:
    """Number (x, y, a) and (x', y') of arrays that broadcast to one entry per transition."""
    _, Y, A = shape
    x, y, a, new_x, new_y, p = np.broadcast_arrays(*parts.values())
    positive = p > 0
    return {
        "pair_N": ((x * Y + y) * A + a)[positive],
        "target_N": (new_x * Y + new_y)[positive],
        "probability_N": p[positive],
    }


def from_table(
    table: dict, n_slow: int, slow_of: Callable[[int], int], fast_of: Callable[[int], int]
) -> Transitions:
    """Read Gymnasium's P[state][action] = [(probability, next, reward, done), …].

    The end of an episode is a state of its own, which stays where it is and earns nothing: one more
    slow state, or one more fast state if there is a single slow state.
    """
    n_fast, A = max(fast_of(s) for s in table) + 1, len(table[0])
    shape = (n_slow + 1, n_fast, A) if n_slow > 1 else (1, n_fast + 1, A)
    Y, end = shape[1], n_slow * n_fast
    reward_SA = np.full((shape[0] * Y, A), -np.inf)
    reward_SA[end, 0] = 0.0
    found = [(end * A, end, 1.0)]
    for state, actions in table.items():
        s = slow_of(state) * Y + fast_of(state)
        for a, outcomes in actions.items():
            reward_SA[s, a] = sum(p * reward for p, _, reward, _ in outcomes)
            for p, new, _, done in outcomes:
                found.append((s * A + a, end if done else slow_of(new) * Y + fast_of(new), p))
    pair_N, target_N, probability_N = (np.array(part) for part in zip(*found, strict=True))
    return Transitions(reward_SA.reshape(shape), pair_N, target_N, probability_N, gamma=0.99)


def taxi() -> Transitions:
    """Slow: passenger and destination. Fast: the taxi's row and column."""
    table = gymnasium.make("Taxi-v4").unwrapped.P
    return from_table(table, 20, lambda s: s % 20, lambda s: s // 20)


def frozen_lake() -> Transitions:
    """A single slow state; slippery ice."""
    table = gymnasium.make("FrozenLake-v1", map_name="8x8").unwrapped.P
    return from_table(table, 1, lambda s: 0, lambda s: s)


def rouwenhorst(n: int, rho: float) -> np.ndarray:
    """Return the kernel of Rouwenhorst's chain with autocorrelation ρ.

    x counts units that are up. Each unit keeps its position with probability (1 + ρ)/2.
    """
    keeps = (1 + rho) / 2
    return np.stack(
        [
            np.convolve(
                stats.binom.pmf(np.arange(x + 1), x, keeps),
                stats.binom.pmf(np.arange(n - x), n - 1 - x, 1 - keeps),
            )
            for x in range(n)
        ]
    )


def savings(n_income: int = 7, n_assets: int = 200, beta: float = 0.96) -> Transitions:
    """Slow: income. Fast: assets. Action: next assets, infeasible if nothing is left to consume."""
    chain_XX = rouwenhorst(n_income, rho=0.9)
    width = 0.1 * np.sqrt((n_income - 1) / (1 - 0.9**2))
    income_X = np.exp(np.linspace(-width, width, n_income))
    assets_Y = np.linspace(0, 20, n_assets)
    consumption_XYA = 1.03 * assets_Y[:, None] + income_X[:, None, None] - assets_Y
    possible_XYA = consumption_XYA > 0
    utility_XYA = 1 - 1 / np.where(possible_XYA, consumption_XYA, 1.0)
    shape = (n_income, n_assets, n_assets)
    x, y, a, new_x = np.indices((*shape, n_income), sparse=True)
    p = possible_XYA[..., None] * chain_XX[:, None, None, :]
    law = entries(shape, x=x, y=y, a=a, new_x=new_x, new_y=a, p=p)
    return Transitions(np.where(possible_XYA, utility_XYA, -np.inf), **law, gamma=beta)


def inventory(n_demand: int = 5, capacity: int = 30) -> Transitions:
    """Slow: the mean demand. Fast: stock. Action: order, at most up to the capacity."""
    chain_XX, mean_X = rouwenhorst(n_demand, rho=0.8), np.linspace(4, 20, n_demand)
    demand_D = np.arange(3 * capacity)
    p_XD = stats.poisson.pmf(demand_D, mean_X[:, None])
    p_XD[:, -1] += 1 - p_XD.sum(axis=1)
    shape = (n_demand, capacity + 1, capacity + 1)
    x, y, a, d, new_x = np.indices((*shape, len(demand_D), n_demand), sparse=True)
    stock, p = y + a, p_XD[:, None, None, :, None]  # the stock after the order has arrived
    sold, left = np.minimum(stock, d), np.maximum(stock - d, 0)
    profit_XYA = ((10.0 * sold - 0.2 * left - 2.0 * (d - sold)) * p).sum(axis=(3, 4))
    order_A = np.arange(capacity + 1)
    possible = stock <= capacity
    reward_XYA = profit_XYA - 4.0 * order_A - 12.0 * (order_A > 0)
    p = possible * p * chain_XX[:, None, None, None, :]
    law = entries(shape, x=x, y=y, a=a, new_x=new_x, new_y=left, p=p)
    return Transitions(np.where(possible[..., 0, 0], reward_XYA, -np.inf), **law, gamma=0.99)


def career(n: int = 50, beta: float = 0.95) -> Transitions:
    """Slow: career θ. Fast: job ε. Actions: stay, draw a new job, draw a new career and job."""
    value_n = np.linspace(0, 5.0, n)
    p_n = stats.betabinom.pmf(np.arange(n), n - 1, 1.0, 1.0)
    mean = p_n @ value_n
    theta_XY, epsilon_XY = np.meshgrid(value_n, value_n, indexing="ij")
    reward_XYA = np.stack(
        [theta_XY + epsilon_XY, theta_XY + mean, np.full((n, n), 2 * mean)], axis=2
    )
    shape = (n, n, 3)
    x, y, new_x, new_y = np.indices((n, n, n, n), sparse=True)
    stay, old, p = x[:, :, 0, 0], y[:, :, 0, 0], np.outer(p_n, p_n)
    laws = (
        entries(shape, x=stay, y=old, a=0, new_x=stay, new_y=old, p=1.0),
        entries(shape, x=x, y=y, a=1, new_x=x, new_y=new_y, p=p_n),
        entries(shape, x=x, y=y, a=2, new_x=new_x, new_y=new_y, p=p),
    )
    law = {key: np.concatenate([part[key] for part in laws]) for key in laws[0]}
    return Transitions(reward_XYA, **law, gamma=beta)


def platelets(most: int = 20) -> Transitions:
    """Slow: weekday. Fast: stock with two days left and with one, up to 20 each. Action: order.

    The units of an order arrive with one, two or three days left (multinomial with logits 0, 1 and
    0.5). Demand is negative binomial with the weekday's parameters, cut off at 20. The oldest units
    are issued first; the others age by a day. Costs: 10 per order, 20 per unit of unmet demand, 5
    per unit that expires, and 1 per unit held at the end of a day, before units expire.
    """
    n = most + 1
    share_3 = np.exp([0.5, 1.0, 0.0])  # three, two and one days left
    # From the stock (y2, y1) and the order to the stock after delivery (z3, z2, z1).
    y2, y1, order, z3, got2 = (part.reshape(-1) for part in np.indices((n, n, n, n, n)))
    possible = z3 + got2 <= order
    y2, y1, order, z3, got2 = (part[possible] for part in (y2, y1, order, z3, got2))
    got_K3 = np.stack([z3, got2, order - z3 - got2], axis=1)
    p_K = stats.multinomial.pmf(got_K3, order, share_3 / share_3.sum())
    z2, z1 = np.minimum(y2 + got2, most), np.minimum(y1 + got_K3[:, 2], most)
    pair_K, stock_K = (y2 * n + y1) * n + order, (z3 * n + z2) * n + z1
    delivery = sparse.coo_array((p_K, (pair_K, stock_K)), (n**3, n**3)).tocsr()

    # From the stock after delivery to the next day, by demand.
    z3, z2, z1, demand = (part.reshape(-1) for part in np.indices((n, n, n, n)))
    unmet, expired = np.maximum(demand - z3 - z2 - z1, 0), np.maximum(z1 - demand, 0)
    new1 = np.maximum(z2 - np.maximum(demand - z1, 0), 0)
    new2 = np.maximum(z3 - np.maximum(demand - z1 - z2, 0), 0)
    cost = 20.0 * unmet + 5.0 * expired + (expired + new1 + new2)
    place = (z3 * n + z2) * n + z1, new2 * n + new1
    size_X = np.array([3.5, 11.0, 7.2, 11.1, 5.9, 5.5, 2.2])
    mean_X = np.array([5.7, 6.9, 6.5, 6.2, 5.8, 3.3, 3.4])
    reward_XYA, laws = np.empty((7, n * n, n)), []
    for x in range(7):
        p_D = stats.nbinom.pmf(np.arange(n), size_X[x], size_X[x] / (size_X[x] + mean_X[x]))
        p_D[-1] += 1 - p_D.sum()
        day = sparse.coo_array((p_D[demand], place), (n**3, n**2)).tocsr()
        cost_Z = np.bincount(place[0], p_D[demand] * cost)
        reward_XYA[x] = -(delivery @ cost_Z).reshape(n * n, n) - 10.0 * (np.arange(n) > 0)
        law = (delivery @ day).tocoo()
        laws.append((x * n**3 + law.row, (x + 1) % 7 * n**2 + law.col, law.data))
    pair_N, target_N, probability_N = map(np.concatenate, zip(*laws, strict=True))
    return Transitions(reward_XYA, pair_N, target_N, probability_N, gamma=0.95)


def random_model(shape: tuple[int, int, int], n_next: int, gamma: float = 0.99) -> Transitions:
    """Random next states, probabilities and rewards, without any structure."""
    rng = np.random.default_rng(0)
    X, Y, A = shape
    P = X * Y * A
    return Transitions(
        reward_XYA=rng.random(shape),
        pair_N=np.repeat(np.arange(P), n_next),
        target_N=rng.integers(X * Y, size=P * n_next),
        probability_N=rng.dirichlet(np.ones(n_next), P).reshape(-1),
        gamma=gamma,
    )


def random_sparse() -> Transitions:
    """10⁶ pairs: 100 slow states, 1,000 fast states, 10 actions."""
    return random_model((100, 1_000, 10), 8)


MODELS: dict[str, Callable[[], Transitions]] = {
    "Taxi": taxi,
    "FrozenLake 8×8": frozen_lake,
    "savings": savings,
    "inventory, Markov demand": inventory,
    "career choice": career,
    "platelets": platelets,
    "random sparse": random_sparse,
}
