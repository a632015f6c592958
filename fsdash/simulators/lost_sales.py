"""Inventory with lost sales: an order arrives `lead_time` periods later, unmet demand is lost.

Slow state   logarithm of the demand rate, log 2 to log 10
Fast state   stock 0 to 45 and the lead_time − 1 orders on their way, oldest first (all controlled)
Action       order 0 to 12
Noise        one uniform for the rate, one for demand
Dynamics     the log rate is AR(1); demand is Poisson; stock' = min(unsold + oldest order, 45)
Cost         1 per unit left, 19 per unit of lost sales
Rule         capped base-stock: order up to base + cover · rate, but at most cap · rate
"""

import numpy as np
from scipy.special import ndtri

from fsdash.simulators.simulator import Simulator

LOG = np.log([2.0, 5.0, 10.0])
"""Logarithms of the smallest, usual and largest rate."""


class LostSales(Simulator):
    gamma, noise, sense = 0.99, 2, "min"
    actions = tuple(range(13))
    slow = {"log rate": (LOG[0], LOG[2])}
    theta = {"base": (0, 12), "cover": (2, 7), "cap": (0.8, 2.4)}

    def __init__(self, lead_time=4):
        self.lead_time = lead_time
        orders = {f"order {k}": range(13) for k in range(1, lead_time)}
        self.fast = {"stock": range(46), **orders}

    def initial(self, rng, n):
        x = np.clip(rng.normal(LOG[1], 0.35, (n, 1)), LOG[0], LOG[2])
        orders = rng.integers(3, 8, (n, self.lead_time - 1))
        return x, np.column_stack([rng.integers(5, 15, n), orders])

    def move(self, x, u):
        drawn = LOG[1] + 0.99 * (x - LOG[1]) + 0.05 * ndtri(np.clip(u[:, :1], 1e-9, 1 - 1e-9))
        return np.clip(drawn, LOG[0], LOG[2])

    def play(self, x, x_next, y, a, u):
        stock, demand = y[:, 0], poisson(u[:, 1], np.exp(x[:, 0]))
        left = np.maximum(stock - demand, 0)
        cost = left + 19 * np.maximum(demand - stock, 0)
        orders = np.column_stack([y[:, 1:], a])
        return np.column_stack([np.minimum(left + orders[:, 0], 45), orders[:, 1:]]), cost

    def rule(self, theta, x, y):
        base, cover, cap = theta
        rate = np.exp(x[:, 0])
        order = np.minimum(base + cover * rate - y.sum(axis=1), cap * rate)
        return np.clip(np.round(order), 0, 12).astype(int)


def poisson(u, rate, most=40):
    """Poisson numbers from uniform ones: the smallest k with P(demand ≤ k) ≥ u, at most `most`."""
    k, mass = np.zeros(len(u)), np.exp(-rate)
    below = mass.copy()
    for j in range(1, most + 1):
        more = u > below
        if not more.any():
            break
        k += more
        mass *= rate / j
        below += mass
    return k
