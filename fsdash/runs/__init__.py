"""Runs: a specification, the engine that carries it out, and what becomes of the rows.

    methods.py   every algorithm by the name that a user gives it, with its parameters
    spec.py      RunSpec: one algorithm on one domain, with seed, replications and budget
    engine.py    one replication: snapshots in, evaluated rows out
    frames.py    rows as a tidy frame, in files
"""

from fsdash.runs.engine import COLUMNS, Outcome, Record, execute
from fsdash.runs.methods import METHODS, Method, Parameter
from fsdash.runs.spec import RunSpec

__all__ = ["COLUMNS", "METHODS", "Method", "Outcome", "Parameter", "Record", "RunSpec", "execute"]
