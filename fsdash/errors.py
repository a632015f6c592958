"""The one exception that bad input raises anywhere in the project."""

from importlib.util import find_spec


class InputError(ValueError):
    """Input that cannot be used.

    Its message is one sentence or two for a person: the field, what is wrong with it (with the
    offending value or index), and what to do instead. The command line prints it on one line and
    exits with 2; a page shows it in a box.
    """


def encodable(field: str, text: str) -> str:
    """The text, if it can be written anywhere: half of a pair of surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{field}: has a character that cannot be written; leave it out") from None
    return text


def require(module: str, extra: str) -> None:
    """Raise an InputError with the remedy if an optional package is not installed.

    `extra` is the part of the installation that has it: `dashboard` or `deep`.
    """
    if find_spec(module) is None:
        raise InputError(
            f"the Python package {module} is not installed; install it with: "
            f'pip install "fsdash[{extra}]"'
        )
