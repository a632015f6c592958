"""What can go wrong with kept runs and the queue, in words for a person."""

from fsdash.errors import InputError


class StoreError(Exception):
    """The store cannot be used right now; the message says why, and what to do.

    What was recorded before stays recorded.
    """


class CorruptStore(StoreError):
    """The file is not a database, or is damaged: `database.set_aside` keeps it and makes room."""


class QueueFull(InputError):
    """More work than the limits allow; it was not queued."""


class WorkerDied(RuntimeError):
    """A worker process ended in the middle of a task."""


class Superseded(RuntimeError):
    """Somebody else decides about this replication now: what is still computed is not wanted."""
