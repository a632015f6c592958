"""Errors of stored runs and of the queue."""

from fsdash.errors import InputError


class StoreError(Exception):
    """The store cannot be used at the moment; the message says why, and what to do.

    Rows that were stored before are safe.
    """


class CorruptStore(StoreError):
    """The file is damaged or is not a database; `database.set_aside` renames it."""


class QueueFull(InputError):
    """The work exceeds a limit; nothing was queued."""


class WorkerDied(RuntimeError):
    """A worker process ended in the middle of a task."""


class Superseded(RuntimeError):
    """The attempt is no longer the current one of its replication; its results are refused."""
