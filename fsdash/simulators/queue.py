"""Three servers with their own queues: send each arrival to one of them, or reject it.

Slow state   logarithm of the arrival rate, log .2 to log 1.2; health of the first server, .3 to 1
Fast state   the three queue lengths, 0 to 12 (all controlled)
Action       server 1, 2 or 3 for the next arrival, or reject
Noise        one uniform for each slow coordinate, one for the event
Dynamics     uniformised at rate 2.1: an arrival joins its queue, or one server completes a job, or
             nothing happens; log rate and health are AR(1)
Cost         .07, .05 and .04 per waiting job and event; 12 per rejected arrival, in expectation
Rule         the server with the smallest weighted expected wait; reject above a threshold
"""

import numpy as np
from scipy.special import ndtri

from fsdash.simulators.simulator import Simulator

LOG = np.log([0.2, 0.6, 1.2])
SERVICE, HOLDING, TOTAL = np.array([0.5, 0.25, 0.15]), np.array([0.07, 0.05, 0.04]), 2.1
REJECTION = 12.0


class Queue(Simulator):
    gamma, noise, sense = 0.995, 3, "min"
    actions = ("server 1", "server 2", "server 3", "reject")
    slow = {"log rate": (LOG[0], LOG[2]), "health": (0.3, 1)}
    fast = {"queue 1": range(13), "queue 2": range(13), "queue 3": range(13)}
    theta = {"weight 2": (0.3, 3), "weight 3": (0.3, 3), "reject above": (1, 60)}

    def initial(self, rng, n):
        rate = np.clip(rng.normal(LOG[1], 0.4, n), LOG[0], LOG[2])
        return np.column_stack([rate, rng.uniform(0.3, 1, n)]), rng.integers(0, 4, (n, 3))

    def move(self, x, u):
        z = ndtri(np.clip(u[:, :2], 1e-9, 1 - 1e-9))
        rate = np.clip(LOG[1] + 0.997 * (x[:, 0] - LOG[1]) + 0.03 * z[:, 0], LOG[0], LOG[2])
        health = np.clip(0.7 + 0.997 * (x[:, 1] - 0.7) + 0.02 * z[:, 1], 0.3, 1)
        return np.column_stack([rate, health])

    def speeds(self, x):
        return SERVICE * np.column_stack([x[:, 1], np.ones((len(x), 2))])

    def play(self, x, x_next, y, a, u):
        rate, event, rows = np.exp(x[:, 0]), TOTAL * u[:, 2], np.arange(len(y))
        rejects = (a == 3) | (y[rows, np.minimum(a, 2)] >= 12)
        joins = (event < rate) & ~rejects
        y_next = y.copy()
        y_next[rows[joins], a[joins]] += 1
        ends = rate[:, None] + np.cumsum(self.speeds(x), axis=1)
        starts = np.column_stack([rate, ends[:, :-1]])
        y_next -= (event[:, None] >= starts) & (event[:, None] < ends) & (y > 0)
        return y_next, y @ HOLDING + np.where(rejects, REJECTION * rate / TOTAL, 0)

    def rule(self, theta, x, y):
        weights = np.array([1, theta[0], theta[1]])
        wait = (y + 1) * HOLDING * weights / self.speeds(x) / HOLDING[0]
        wait = np.where(y >= 12, np.inf, wait)
        return np.where(wait.min(axis=1) > theta[2], 3, wait.argmin(axis=1))
