"""The one place that turns numbers and records into text, for pages, figures and the command line.

- numbers: `number`, `number_tex`, `factor`, `setting`, `number_text`, `round_significant`
- sizes and times: `file_size`, `duration`, `time_ago`
- axes: `log_ticks`, `whole_ticks`
- whole numbers: `whole_range` reads `1:32`; `compact_ranges` writes `0–2, 5`
- records (dicts with numbers, strings or booleans): `format_records`, `as_table`, `as_json`,
  `as_csv`; a table as records: `frame_records`, for a spreadsheet: `frame_csv`
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any

from fsdash.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "json", "csv")
LINK_STARTS = re.compile(r"(https?|www|@)", re.IGNORECASE)
"""What the browser's Markdown makes a link of, escaped or not."""
STRING_OR_INFINITY = re.compile(r'("(?:[^"\\]|\\.)*")|Infinity')
"""In JSON: a string, or an infinite number outside of strings."""
MAX_WHOLE_NUMBERS = 1_000_000
"""The most values that a `whole_range` may list, unless its reader allows fewer."""


# ----------------------------------------------------------------------------------------- numbers


def number(value: float) -> str:
    """Three significant digits; a power of ten below 0.001 and from a million on.

    >>> [number(value) for value in (0.12345, 12345.6, 1234567, 0.0001, float("inf"))]
    ['0.123', '12,346', '1.23e6', '1e-4', '∞']
    """
    if not isfinite(value):
        return "-∞" if value < 0 else "∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    # From 999.5 on, three significant digits would be written as 1e+03.
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def number_tex(value: float) -> str:
    r"""`number` as LaTeX.

    >>> number_tex(1234567)
    '1.23\\cdot 10^{6}'
    """
    mantissa, e, exponent = number(value).partition("e")
    tex = mantissa.replace(",", r"\,").replace("∞", r"\infty")
    return rf"{tex}\cdot 10^{{{exponent}}}" if e else tex


def factor(value: float) -> str:
    """A number that readers compare with 1: enough digits to show whether it is above or below.

    >>> factor(0.99999), factor(1.5)
    ('0.99999', '1.5')
    """
    digits = next((n for n in range(4, 17) if float(f"{value:.{n}g}") != 1), 4)
    return f"{value:.{digits}g}" if value < 1000 else number(value)


def setting(value: object) -> str:
    """The exact value of a parameter; whole numbers with thousands separators.

    >>> setting(4320000), setting(0.1), setting(True)
    ('4,320,000', '0.1', 'True')
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if whole else str(value)


def number_text(value: object) -> str:
    """The shortest text that reads back as the same value; whole numbers without a point.

    >>> number_text(3.0), number_text(0.1), number_text("zero")
    ('3', '0.1', 'zero')
    """
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def round_up(value: float, digits: int) -> float:
    """The smallest number with this many significant digits that is not below the value.

    >>> round_up(1 / 3, 3), round_up(4.0, 3)
    (0.334, 4.0)
    """
    rounded = round_significant(value, digits)
    unit = 10.0 ** (floor(log10(value)) + 1 - digits) if value > 0 else 0.0
    return rounded if rounded >= value else round_significant(rounded + unit, digits)


def round_significant(value: float, digits: int) -> float:
    """The value rounded to a number of significant digits.

    >>> round_significant(0.1267, 2)
    0.13
    """
    return float(f"{value:.{digits}g}")


def escape_markdown(text: str) -> str:
    """The text with Markdown's special characters escaped, for names that visitors type.

    Addresses do not become links: an invisible character (a word joiner) separates their parts.

    >>> print(escape_markdown("*T* = 6"))
    \\*T\\* = 6
    """
    apart = LINK_STARTS.sub("\\1\u2060", text)
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-!|<>~$:" else c for c in apart)


def as_sentence(message: object) -> str:
    """A message with a capital and a full stop; a leading `name =` or `name:` stays as it is.

    >>> as_sentence("the disk is full"), as_sentence("T = 0: use a larger one")
    ('The disk is full.', 'T = 0: use a larger one.')
    """
    text = str(message).strip().rstrip(".")
    starts_with_name = re.match(r"\S+( =|:)", text)
    return f"{text if starts_with_name else text[:1].upper() + text[1:]}."


def shorten(text: str, longest: int = 40) -> str:
    """The text, cut to at most `longest` characters with an ellipsis at the end."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


# ------------------------------------------------------------------------------------ sizes, times


def file_size(n_bytes: int) -> str:
    """Kilobytes, or megabytes from 0.1 MB on."""
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:,.0f} kB"


def duration(seconds: float) -> str:
    """A rounded duration in the unit that suits it, from seconds to years.

    >>> [duration(seconds) for seconds in (0.4, 75, 300, 9000, 400_000)]
    ['under 1 s', '75 s', '5 min', '2.5 h', '5 days']
    """
    if seconds < 1:
        return "under 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    if seconds < 72 * 3600:
        return f"{seconds / 3600:.3g} h"
    years = seconds / (365 * 86400)
    return f"{seconds / 86400:,.0f} days" if years < 3 else f"{number(years)} years"


def time_ago(then: float, now: float) -> str:
    """How long before `now` something happened; both in seconds since the epoch."""
    seconds = max(0.0, now - then)
    if seconds < 90:
        return "a moment ago"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes ago"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.0f} hours ago"
    return f"{seconds / 86400:.0f} days ago"


# -------------------------------------------------------------------------------------------- axes


def with_millions(value: float) -> str:
    """A number for readers of a text: from a million on in millions.

    >>> with_millions(5216.4), with_millions(3_880_000)
    ('5,216', '3.88 million')
    """
    return f"{number(value / 1e6)} million" if value >= 1e6 else number(value)


def log_ticks(low: float, high: float, unit: float = 1.0) -> dict:
    """Plotly's settings for the ticks of a logarithmic axis from `low` to `high`.

    The ticks are at 1, 2, 5, 10, …; on a long axis at whole decades, on a very long one at every
    second decade or fewer. A tick up to 2% outside is included, because axes have a margin. The
    axis itself counts in units of 1/`unit`: the tick that reads 5 is at 5·unit.

    >>> log_ticks(0.5, 20)["ticktext"]
    ['0.5', '1', '2', '5', '10', '20']
    """
    decades = log10(high / low)
    step, mantissas = max(1, round(decades / 8)), (1, 2, 5) if decades <= 3.2 else (1,)
    exponents = [n for n in range(floor(log10(low)), ceil(log10(high)) + 1) if n % step == 0]
    ticks = [float(f"{m}e{n}") for n in exponents for m in mantissas]
    ticks = [tick for tick in ticks if 0.98 * low <= tick <= 1.02 * high]
    return {
        "tickmode": "array",
        "tickvals": [tick * unit for tick in ticks],
        "ticktext": [number(tick) for tick in ticks],
    }


def whole_ticks(values: Sequence[float], widest: int = 5) -> dict:
    """Plotly's settings for ticks at whole numbers only, if the values are a few whole numbers.

    Otherwise, or if the values span more than `widest`, Plotly chooses the ticks.

    >>> whole_ticks([0, 1, 2])
    {'tickmode': 'linear', 'dtick': 1, 'tick0': 0}
    """
    if not values:
        return {}
    few = max(values) - min(values) <= widest and all(value == round(value) for value in values)
    return {"tickmode": "linear", "dtick": 1, "tick0": 0} if few else {}


# ----------------------------------------------------------------------------------- whole numbers


def whole_range(text: str, most: int = MAX_WHOLE_NUMBERS) -> tuple[int, ...]:
    """The whole numbers that a text lists: `6`, `1:32` (both ends included) or `3,6,12`.

    They are counted before they are listed: a text with more than `most` is an `InputError`.

    >>> whole_range("1:3,8")
    (1, 2, 3, 8)
    """
    too_many = InputError(f"{shorten(text)!r} lists more than {most:,} values; list fewer")
    if text.count(",") >= most:
        raise too_many
    parts = [_part_of_range(part, text) for part in text.split(",")]
    if sum(part.stop - part.start for part in parts) > most:
        raise too_many
    return tuple(chain.from_iterable(parts))


def _part_of_range(part: str, text: str) -> range:
    try:
        first, _, last = part.partition(":")
        numbers = range(int(first), int(last if ":" in part else first) + 1)
    except ValueError:
        raise InputError(
            f"{shorten(text)!r}: use whole numbers, such as 6, 1:32 or 3,6,12"
        ) from None
    if not numbers:
        forwards = shorten(f"{last.strip()}:{first.strip()}")
        raise InputError(f"{shorten(part.strip())!r} runs backwards; write {forwards}")
    return numbers


def compact_ranges(numbers: Iterable[int]) -> str:
    """Whole numbers in order, with consecutive ones joined.

    >>> compact_ranges([5, 0, 1, 2])
    '0–2, 5'
    """
    ranges: list[list[int]] = []
    for n in sorted(numbers):
        if ranges and ranges[-1][-1] == n - 1:
            ranges[-1].append(n)
        else:
            ranges.append([n])
    return ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in ranges)


# ----------------------------------------------------------------------------------------- records


def format_records(records: Sequence[Mapping], fmt: str, whole: object = None) -> str:
    """The records as "table", "json" or "csv"; JSON shows `whole` instead where it is given."""
    if fmt == "json":
        return as_json(list(records) if whole is None else whole)
    return as_csv(records) if fmt == "csv" else as_table(records)


def frame_records(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The rows of a table as records, with None where there is no value."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def as_json(value: object) -> str:
    """Indented JSON. Infinity becomes 1e999, which JSON readers parse as a number.

    >>> print(as_json({"Infinity": float("inf")}))
    {
      "Infinity": 1e999
    }
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return STRING_OR_INFINITY.sub(lambda found: found[1] or "1e999", text)


def as_csv(records: Sequence[Mapping]) -> str:
    """CSV with a header row. Infinity is written as `inf`."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().rstrip("\n")


def frame_csv(frame: pd.DataFrame) -> str:
    """CSV for a spreadsheet, in which no text and no name of a column is a formula."""
    safe = frame.copy(deep=False)
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        safe[name] = [without_formula(v) if isinstance(v, str) else v for v in frame[name]]
    return safe.to_csv(index=False, header=[without_formula(str(name)) for name in frame])


def without_formula(text: str) -> str:
    """A text that spreadsheets do not compute: an apostrophe comes before a formula.

    >>> without_formula("=HYPERLINK(1)"), without_formula("T=6")
    ("'=HYPERLINK(1)", 'T=6')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text


def as_table(records: Sequence[Mapping]) -> str:
    """An aligned table with numbers flush right; a single record as one line per field."""
    if len(records) == 1:
        [record] = records
        width = max(map(len, record))
        return "\n".join(f"{key:<{width}}  {_cell(value)}" for key, value in record.items())
    rows = [list(records[0])] + [[_cell(value) for value in record.values()] for record in records]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    right = [not isinstance(value, str) for value in records[0].values()]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    )


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else setting(value)
