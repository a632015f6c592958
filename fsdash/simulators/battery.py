"""A battery that buys and sells electricity every hour.

Slow state   price level, 5 to 95 per MWh, and volatility regime, 0 calm or 1 volatile
Fast state   charge 0 to 6 MWh (controlled), hour, deviation of the price from its daily pattern
Action       power, −1 (sell) to 1 (buy) MW
Noise        one uniform each for level, regime and deviation
Dynamics     level and deviation are AR(1), the regime switches now and then (.5% and 1.2%);
             90% of what is bought reaches the battery, and 90% of what leaves it is sold
Reward       revenue minus cost of electricity minus 1 per MWh for wear
Rule         buy below a threshold, sell above another; both shift with the price level
"""

import numpy as np
from scipy.special import ndtri

from fsdash.simulators.simulator import Simulator, clock


class Battery(Simulator):
    gamma, noise = 0.99, 3
    actions = (-1.0, -0.5, 0.0, 0.5, 1.0)
    slow = {"level": (5, 95), "regime": [0, 1]}
    fast = {"charge": (0, 6, 41), "hour": clock(24), "deviation": (-3, 3, 9)}
    controlled = ("charge",)
    units = {"level": "per MWh", "charge": "MWh", "hour": "h"}
    theta = {"buy below": (-30, 5), "sell above": (-5, 30), "tilt": (-0.3, 0.3)}

    def initial(self, rng, n):
        level, regime = np.clip(rng.normal(50, 15, n), 5, 95), rng.random(n) < 0.3
        deviation = np.clip(rng.normal(0, 1, n), -3, 3)
        y = np.column_stack([6 * rng.random(n), rng.integers(0, 24, n), deviation])
        return np.column_stack([level, regime]), y

    def move(self, x, u):
        level = np.clip(50 + 0.998 * (x[:, 0] - 50) + 0.95 * normal(u[:, 0]), 5, 95)
        switches = u[:, 1] < np.where(x[:, 1] > 0.5, 0.012, 0.005)
        return np.column_stack([level, np.where(switches, 1 - x[:, 1], x[:, 1])])

    def price(self, x, y):
        daily = 12 * np.sin(2 * np.pi * (y[:, 1] - 8) / 24)
        return x[:, 0] + daily + np.where(x[:, 1] > 0.5, 22, 7) * y[:, 2]

    def play(self, x, x_next, y, a, u):
        power, price, charge = np.take(self.actions, a), self.price(x, y), y[:, 0]
        bought = np.minimum(np.maximum(power, 0), (6 - charge) / 0.9)
        taken = np.minimum(np.maximum(-power, 0), charge)
        reward = price * (0.9 * taken - bought) - (bought + taken)
        charge = np.clip(charge + 0.9 * bought - taken, 0, 6)
        deviation = np.clip(0.85 * y[:, 2] + 0.5268 * normal(u[:, 2]), -3, 3)
        return np.column_stack([charge, (y[:, 1] + 1) % 24, deviation]), reward

    def rule(self, theta, x, y):
        below, above, tilt = theta
        excess = self.price(x, y) - x[:, 0] - tilt * (x[:, 0] - 50)
        return np.where(excess < below, 4, np.where(excess > above, 0, 2))


def normal(u):
    """Standard normal numbers from uniform ones."""
    return ndtri(np.clip(u, 1e-9, 1 - 1e-9))
