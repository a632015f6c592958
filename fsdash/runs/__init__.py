"""Runs: what a run is, how it is stored and how it is served.

    spec        RunSpec: one algorithm on one domain, with budget, replications and seed
    columns     the recorded columns, each declared once
    engine      computes one replication: snapshots in, evaluated rows out
    local       several runs at once, in this process or in worker processes
    frames      rows as a tidy frame, and as files
    summary     means with intervals over replications, work to reach a level
    estimate    about how long a run will take
    records     experiments, runs and replications as the store returns them, and their progress
    errors      errors of the store and of the queue

    store/      experiments in a database; what workers write to it
    server/     worker processes, their queue and their limits

`server` uses `store`, and both use the modules above; imports never go the other way.
"""
