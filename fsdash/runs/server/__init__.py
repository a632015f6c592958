"""Experiments computed by worker processes.

manager      starts, pauses, resumes and cancels experiments, and watches the workers
admission    who may queue how much
sharing      how owners share the workers
work_queue   the queue of replications and the leases of servers, in the database
executor     the worker processes behind the `concurrent.futures.Executor` interface
cluster      a Dask cluster in place of the worker processes
remote       runs of the command line on a Dask cluster
worker       the program that a worker process runs
limits       limits on queued work, time and memory
processes    existence, start time, state and memory of other processes
"""
