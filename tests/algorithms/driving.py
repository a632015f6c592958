"""Helpers shared by the tests of sampled algorithms."""

from itertools import islice

import numpy as np

from fsdash.algorithms import run_until


def seed(n):
    return np.random.default_rng(n)


def own(snapshots):
    """The snapshots without the rolling policies that a lower level records along the way."""
    return (s for s in snapshots if (s.phase, s.policy_kind) != ("lower", "rolling"))


def take(snapshots, n):
    """The first n of a method's own snapshots."""
    return list(islice(own(snapshots), n))


def at(snapshots, k):
    return run_until(snapshots, iterations=k)


def reach(model, k, rate):
    """The error after k sweeps if each sweep adds 1 and multiplies the earlier error by `rate`."""
    return sum(rate**i for i in range(k))
