"""The algorithms, each a generator of snapshots in a file of its own.

Exact: `vi`, `fsvi`, `mpi`, `fsavi`. Sampled, with an explicit random generator: `evi`, `efsvi`,
`eqi`, `slow_agnostic`. To add one, write a generator that takes the model and its parameters and
yields `Snapshot`s; a driver such as `run_until` decides when to stop.
"""

from fsdash.algorithms.efsvi import efsvi
from fsdash.algorithms.eqi import eqi
from fsdash.algorithms.evi import evi
from fsdash.algorithms.fsavi import LinearArchitecture, fsavi
from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.slow_agnostic import slow_agnostic
from fsdash.algorithms.snapshot import Snapshot, run_until
from fsdash.algorithms.vi import vi

__all__ = [
    "LinearArchitecture",
    "Snapshot",
    "efsvi",
    "eqi",
    "evi",
    "fsavi",
    "fsvi",
    "mpi",
    "run_until",
    "slow_agnostic",
    "vi",
]
