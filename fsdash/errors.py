"""Errors for input that cannot be used, and for optional packages that are not installed."""

from importlib.util import find_spec


class InputError(ValueError):
    """Input that cannot be used.

    The message names the field, what is wrong with it (with the offending value or index) and what
    to do instead, in one or two sentences. The command line prints it on one line and exits with
    status 2; a page shows it in a box.

    Examples
    --------
    >>> import fsdash
    >>> fsdash.make("inventory", order_step=0)
    Traceback (most recent call last):
        ...
    fsdash.errors.InputError: order_step = 0: use steps of at least 1 unit
    """


def require(module: str, extra: str) -> None:
    """Raise an InputError with the remedy if an optional package is not installed.

    `extra` is the part of the installation that includes it: `dashboard`, `deep` or
    `gymnasium`.
    """
    if find_spec(module) is None:
        raise InputError(
            f"the Python package {module} is not installed; install it with: "
            f'pip install "fsdash[{extra}]"'
        )
