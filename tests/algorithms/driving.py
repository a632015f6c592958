"""Short words for what the tests of sampled algorithms do again and again."""

from itertools import islice

import numpy as np

from fsdash.algorithms import run_until


def seed(n):
    return np.random.default_rng(n)


def take(snapshots, n):
    return list(islice(snapshots, n))


def at(snapshots, k):
    return run_until(snapshots, iterations=k)


def reach(model, k, rate):
    """How far k sweeps may be off when each is off by 1 and passes on `rate` of what came in."""
    return sum(rate**i for i in range(k))
