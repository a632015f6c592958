"""Errors for input that cannot be used, and for optional packages that are not installed."""

import re
from importlib.util import find_spec

NUMPY_SCALAR = re.compile(r"\bnp\.(?:\w+\(([^()]*)\)|(True|False)_)")


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

    def __init__(self, message: object = "") -> None:
        super().__init__(plain_text(message))


def plain_text(message: object) -> str:
    """A message in which the numbers and words of NumPy look like those of Python.

    >>> plain_text("T = (np.int64(0), np.float64(2.5), np.True_)")
    'T = (0, 2.5, True)'
    """
    return NUMPY_SCALAR.sub(r"\1\2", str(message))


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
