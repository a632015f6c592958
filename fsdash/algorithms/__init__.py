"""The algorithms, each a generator of snapshots in its own file.

Exact: `vi`, `fsvi`, `rolling`, `mpi`, `fsavi`. Sampled, with an explicit random generator: `e_vi`,
`e_fsvi`, `e_rolling`, `e_thaw`, `e_qi`, `slow_agnostic`. Fitted, which also take a strategy of
`fsdash.regression`: `fvi`, `fsfvi`, `frolling`, `fqi`.

To add an algorithm, write a generator that takes the model and its parameters and yields
`Snapshot`s, and declare it in `fsdash.algorithms.registry`. The caller decides when to stop.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
