"""Where replications are computed: `Workers` have a few methods, and two implementations.

executor     `Workers`, and worker processes on this computer
program      the program that a worker process runs
cluster      a Dask cluster in place of the worker processes
processes    existence, start time, state and memory of other processes
"""
