"""Limits on models and files, and the memory and time that a model will need.

Sizes are checked before memory is allocated. The limits:

==============================  =================  ==============================================
cells |X|·|Y|·|A| of a model    50 million         padding included
rows of a table or file         20 million         transitions of a law: what memory allows
file                            1 GB               JSON: 100 MB; unpacked .npz: 3.4 GB
numbers in matrices (.npz)      20 million         zeros included
columns of a table              64
predicted memory                ¾ of what is free  while the model is built, split or saved
==============================  =================  ==============================================
"""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from fsdash.core.model import FastSlowMDP
from fsdash.formatting import duration, file_size
from fsdash.models.faults import Faults

MAX_CELLS = 50_000_000
MAX_TRANSITIONS = 20_000_000
MAX_FILE_BYTES = 1_000_000_000
MAX_JSON_BYTES = 100_000_000
MAX_ARCHIVE_BYTES = 48 * MAX_CELLS + 48 * MAX_TRANSITIONS
"""The unpacked archive of the largest model: 48 bytes per pair, 24 per transition of each law."""
MAX_COLUMNS = 64
SHARE_OF_FREE_MEMORY = 0.75

BYTES_PER_CELL = 150
BYTES_PER_TRANSITION = 120
"""Peak while a model is built, split anew, saved or loaded: copies for sorting are included."""
SECONDS_PER_CELL = 30e-9
SECONDS_PER_TRANSITION = 600e-9
SECONDS_PER_SWEEP_CELL = 1e-9
SECONDS_PER_SWEEP_TRANSITION = 1.5e-9


@dataclass(frozen=True)
class Size:
    """Sizes of a model, and what they imply. Times are right to an order of magnitude.

    >>> size = Size(n_slow=5, n_fast=31, n_actions=31, transitions=90_000)
    >>> size.cells, size.text
    (4805, '11.5 MB and under 1 s to build, under 1 s per 1,000 sweeps')
    """

    n_slow: int
    n_fast: int
    n_actions: int
    transitions: int

    @classmethod
    def of(cls, model: FastSlowMDP) -> Size:
        """The sizes of a model; each pair has its mean number of next states."""
        transitions = model.n_pairs * model.true.outcomes
        return cls(model.n_slow, model.n_fast, model.n_actions, transitions)

    @property
    def cells(self) -> int:
        """|X|·|Y|·|A|, padding included."""
        return self.n_slow * self.n_fast * self.n_actions

    @property
    def peak_bytes(self) -> int:
        """Memory needed while the model is built."""
        return BYTES_PER_CELL * self.cells + BYTES_PER_TRANSITION * self.transitions

    @property
    def build_seconds(self) -> float:
        return SECONDS_PER_CELL * self.cells + SECONDS_PER_TRANSITION * self.transitions

    @property
    def sweep_seconds(self) -> float:
        """One Bellman sweep on one core."""
        return SECONDS_PER_SWEEP_CELL * self.cells + SECONDS_PER_SWEEP_TRANSITION * self.transitions

    @property
    def text(self) -> str:
        build = f"{file_size(self.peak_bytes)} and {duration(self.build_seconds)} to build"
        return f"{build}, {duration(1000 * self.sweep_seconds)} per 1,000 sweeps"

    def refuse_too_large(self) -> None:
        """Raise an error if the model is too large."""
        faults = Faults()
        self.check(faults)
        faults.raise_errors()

    def check(self, faults: Faults) -> None:
        """Add an error if the model is too large, otherwise a note with memory and time."""
        if self.cells > MAX_CELLS:
            faults.add(
                f"{self.n_slow:,} slow × {self.n_fast:,} fast states × {self.n_actions:,} actions "
                f"= {self.cells:,} cells, padding included; the limit is {MAX_CELLS:,}",
                "choose other slow variables, merge values or leave out actions",
            )
        elif check_memory(faults, self.peak_bytes):
            faults.add(f"needs about {self.text}", "none needed", severity="note")


def check_memory(faults: Faults, needed: int) -> bool:
    """Add an error if so many bytes are more than the model may take; whether they are not."""
    free = psutil.virtual_memory().available
    if needed <= SHARE_OF_FREE_MEMORY * free:
        return True
    faults.add(
        f"the model needs about {file_size(needed)}, and {file_size(free)} are free",
        "use a machine with more memory or a coarser model",
    )
    return False
