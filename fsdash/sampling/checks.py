"""Checks of the arguments of samplers and sampled algorithms."""

from __future__ import annotations

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError

TIES = ("first", "random")
MAX_SAMPLES = 10_000_000


def check_run(rng: np.random.Generator, snapshots_per_sweep: int = 1) -> None:
    """Raise an error unless the generator and the number of snapshots are usable."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng = {rng!r}: give a generator, np.random.default_rng(seed)")
    if int(snapshots_per_sweep) != snapshots_per_sweep or snapshots_per_sweep < 1:
        raise InputError(
            f"snapshots_per_sweep = {snapshots_per_sweep}: use a whole number, at least 1"
        )


def check_samples(name: str, M: int) -> None:
    """Raise an error unless M is a whole number of samples in the permitted range."""
    if not (1 <= M <= MAX_SAMPLES and int(M) == M):
        raise InputError(f"{name} = {M}: draw a whole number of samples, 1 to {MAX_SAMPLES:,}")


def check_ties(ties: str) -> None:
    """Raise an error unless the tie-breaking rule is known."""
    if ties not in TIES:
        raise InputError(f"ties = {ties!r}: choose from {', '.join(TIES)}")


def check_centre(model: FastSlowMDP, centre: bool) -> None:
    """Raise an error if values are to be centred although the slow state is endogenous."""
    if centre and not model.true.exogenous_slow:
        raise InputError(
            "centre = True: the slow state is endogenous, so the mean of a slow state matters for "
            "the choice of an action; use centre = False"
        )
