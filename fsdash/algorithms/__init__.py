"""The exact algorithms, each a generator of snapshots in a file of its own.

To add one, write a generator that takes the model and its parameters and yields `Snapshot`s; a
driver such as `run_until` decides when to stop.
"""

from fsdash.algorithms.fsavi import LinearArchitecture, fsavi
from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.snapshot import Snapshot, run_until
from fsdash.algorithms.vi import vi

__all__ = ["LinearArchitecture", "Snapshot", "fsavi", "fsvi", "mpi", "run_until", "vi"]
