"""The algorithms, each a generator of snapshots in its own file.

Exact: `vi`, `fsvi`, `rolling`, `mpi`, `fsavi`. Sampled, with an explicit random generator: `e_vi`,
`e_fsvi`, `e_rolling`, `e_thaw`, `e_qi`, `slow_agnostic`. Fitted, which also take a strategy of
`fsdash.regression`: `fvi`, `fsfvi`, `frolling`, `fqi`.

To add an algorithm, write a generator that takes the model and its parameters and yields
`Snapshot`s, and declare it in `fsdash.algorithms.registry`. The caller decides when to stop.
"""

from fsdash.algorithms.architecture import Aggregation, LinearArchitecture, aggregation, polynomial
from fsdash.algorithms.e_fsvi import e_fsvi
from fsdash.algorithms.e_qi import e_qi
from fsdash.algorithms.e_rolling import e_rolling
from fsdash.algorithms.e_thaw import e_thaw
from fsdash.algorithms.e_vi import e_vi
from fsdash.algorithms.fqi import fqi
from fsdash.algorithms.frolling import frolling
from fsdash.algorithms.fsavi import fsavi
from fsdash.algorithms.fsfvi import fsfvi
from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.fvi import fvi
from fsdash.algorithms.mpi import mpi
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.slow_agnostic import slow_agnostic
from fsdash.algorithms.snapshot import Diverged, Snapshot, run_until
from fsdash.algorithms.vi import vi

__all__ = [
    "Aggregation",
    "Diverged",
    "LinearArchitecture",
    "Snapshot",
    "aggregation",
    "e_fsvi",
    "e_qi",
    "e_rolling",
    "e_thaw",
    "e_vi",
    "fqi",
    "frolling",
    "fsavi",
    "fsfvi",
    "fsvi",
    "fvi",
    "mpi",
    "polynomial",
    "rolling",
    "run_until",
    "slow_agnostic",
    "vi",
]
