"""Helpers shared by the tests of sampled algorithms."""

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
    """The error after k sweeps if each sweep adds 1 and multiplies the earlier error by `rate`."""
    return sum(rate**i for i in range(k))
