"""Runs: a specification, the engine that carries it out, and what becomes of the rows.

methods     every algorithm by the name that a user gives it, with its parameters
spec        RunSpec: one algorithm on one domain, with seed, replications and budget
engine      one replication: snapshots in, evaluated rows out
pool        several runs at once, in this process or in workers
frames      rows as a tidy frame, in files
command     `fsdash run`

store       experiments that are kept, in a database
manager     experiments in worker processes, fairly between their owners
ledger      who computes what: queue, claims and leases, in the same database
worker      a worker process; recorder: what it writes; executor: who starts and replaces it
schema      the tables and their versions; database: transactions and their troubles
"""
