"""Whole numbers as people write them: on the command line, in a field of a form, in a link."""

from fsdash.errors import InputError

MOST = 1_000_000


def whole_range(text: str) -> tuple[int, ...]:
    """`6`, `1:32` (both ends in) or `3,6,12`."""
    values: list[int] = []
    for part in text.split(","):
        ends = part.split(":")
        try:
            first, last = int(ends[0]), int(ends[-1])
        except ValueError:
            raise InputError(f"{text!r} is not 6, 1:32 or 3,6,12") from None
        if len(ends) > 2:
            raise InputError(f"{text!r} is not 6, 1:32 or 3,6,12")
        if last < first:
            raise InputError(f"{part.strip()!r} runs backwards; write {last}:{first}")
        if last - first >= MOST:
            raise InputError(f"{part.strip()!r} has more than {MOST:,} values")
        values += range(first, last + 1)
    return tuple(values)
