"""The one exception that bad input raises anywhere in the project."""


class InputError(ValueError):
    """Input that cannot be used.

    Its message is one sentence or two for a person: the field, what is wrong with it (with the
    offending value or index), and what to do instead. The command line prints it on one line and
    exits with 2; a page shows it in a box.
    """
