"""The options of sampled and fitted algorithms, and the checks that samplers share."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError

TIES = ("first", "random")
MAX_SAMPLES = 10_000_000


@dataclass(frozen=True, eq=False)
class Sampling:
    """How a sampled or fitted algorithm draws. Each algorithm names the options that it uses.

    Parameters
    ----------
    M : int, default 50
        Samples of the next state for each state and action (10 by default in `e_thaw`).
    M_l : int, default 1
        Samples of the next state in the lower level and in rolling freeze. One is exact if y has
        no noise while x is frozen.
    M_u : int, default 50
        Sampled paths of T periods for each state and action in the upper level.
    ties : {"random", "first"}
        Which of several equally good actions is taken.
    common_random_numbers : bool
        Whether all actions of a state use the same random numbers.
    centre : bool
        Whether values are centred within each slow state before they are sampled, which removes
        noise. The slow state must be exogenous.
    sparse : bool, optional
        Whether the upper level draws counts or simulates paths (`fsdash.sampling.UpperSampler`);
        chosen by the model's structure by default.
    snapshots_per_sweep : int, default 3
        Snapshots in each sweep; in E-FSVI of the upper level.
    N : int, optional
        States that a fitted algorithm samples in each iteration; a tenth of all by default.
    rho_XY : np.ndarray, optional
        Distribution of these states, shape (X, Y); uniform by default.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model, rng = fsdash.make("inventory").build(), np.random.default_rng(0)
    >>> sampling = fsdash.Sampling(M=20, ties="first")
    >>> last = fsdash.run_until(fsdash.e_vi(model, rng, sampling=sampling), iterations=2)
    >>> last.evaluations == 2 * model.n_states * model.n_actions * 20
    True
    """

    M: int = 50
    M_l: int = 1
    M_u: int = 50
    ties: str = "random"
    common_random_numbers: bool = False
    centre: bool = False
    sparse: bool | None = None
    snapshots_per_sweep: int = 3
    N: int | None = None
    rho_XY: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("M", "M_l", "M_u"):
            check_samples(name, getattr(self, name))
        check_ties(self.ties)
        parts = self.snapshots_per_sweep
        if int(parts) != parts or parts < 1:
            raise InputError(f"snapshots_per_sweep = {parts}: use a whole number, at least 1")

    def check(self, rng: np.random.Generator, used: str) -> None:
        """Raise an error unless `rng` is a generator and no option but the used ones is set."""
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng = {rng!r}: give a generator, np.random.default_rng(seed)")
        for option in fields(self):
            is_set = np.any(getattr(self, option.name) != option.default)
            if is_set and option.name not in used.split():
                raise InputError(
                    f"sampling: this algorithm does not use {option.name}; leave it out. It uses "
                    f"{', '.join(used.split())}"
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
