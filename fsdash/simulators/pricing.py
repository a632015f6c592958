"""The paper's dynamic pricing with reference effects, with continuous states.

Slow state   memory α of the market, .4 to .9; effect of a gain η⁺, 3 to 7; of a loss η⁻, 8 to 12
Fast state   reference price, 0 to 10 (controlled)
Action       price, 0 to 10 in steps of .5
Noise        one uniform for each slow coordinate
Dynamics     the slow coordinates are random walks with the same variance as the paper's, clipped;
             reference' = α·reference + (1 − α)·price, without noise
Reward       price · demand, demand = 100 − 5·price + η⁺·max(reference − price, 0)
                                                     + η⁻·min(reference − price, 0)
Rule         a price that is linear in the reference price and in α
"""

import numpy as np
from scipy.special import ndtri

from fsdash.simulators.simulator import Simulator

LOW, HIGH, STEP = np.array([0.4, 3, 8]), np.array([0.9, 7, 12]), np.array([0.0316, 0.316, 0.316])


class ContinuousPricing(Simulator):
    gamma, noise = 0.995, 3
    actions = tuple(np.arange(21) / 2)
    slow = {"alpha": (0.4, 0.9), "eta+": (3, 7), "eta-": (8, 12)}
    fast = {"reference": (0, 10, 201)}
    theta = {"price": (5, 11), "follow": (-0.2, 0.8), "memory": (-1, 1)}

    def initial(self, rng, n):
        return rng.uniform(LOW, HIGH, (n, 3)), rng.uniform(0, 10, (n, 1))

    def move(self, x, u):
        return np.clip(x + STEP * ndtri(np.clip(u, 1e-9, 1 - 1e-9)), LOW, HIGH)

    def play(self, x, x_next, y, a, u):
        price, reference = np.take(self.actions, a), y[:, 0]
        gain, loss = np.maximum(reference - price, 0), np.minimum(reference - price, 0)
        demand = 100 - 5 * price + x[:, 1] * gain + x[:, 2] * loss
        return (x[:, 0] * reference + (1 - x[:, 0]) * price)[:, None], price * demand

    def rule(self, theta, x, y):
        level, follow, memory = theta
        price = level + follow * (y[:, 0] - 7) + memory * 10 * (x[:, 0] - 0.65)
        return np.clip(np.round(2 * price), 0, 20).astype(int)
