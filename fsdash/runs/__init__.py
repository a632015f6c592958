"""Runs: what a run is, how it is stored and how it is served.

    spec        RunSpec: one algorithm on one domain, with budget, replications and seed
    columns     the recorded columns, each declared once
    engine      computes one replication: snapshots in, evaluated rows out
    runner      several runs at once, in this process, in worker processes or on a cluster
    progress    a progress bar for the terminal
    frames      rows as a tidy frame, and as files
    summary     means with intervals over replications, work to reach a level
    estimate    about how long a run will take
    records     experiments, runs and replications as the store returns them, and their progress
    limits      what a visitor, a network address and everybody may have
    errors      errors of the store and of the queue
    retry       pauses between attempts, and waiting for the store

    workers/    worker processes, and a Dask cluster in their place
    store/      experiments in a database; what workers write to it
    server/     the queue of a server, and how its workers are shared

`runner` and `server` use `workers`, and `server` uses `store`; imports never go the other way.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
