"""The table of methods as HTML: a bar for the progress, numbers in columns. Pure text.

Streamlit's own table is drawn on a canvas, which neither a screen reader nor a narrow screen likes;
this one is a plain table that scrolls inside itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fsdash.dashboard.curves.state import MethodRow
from fsdash.runs.summary import LEVELS

STYLE = """<style>
.fs-table {overflow-x: auto;}
.fs-table table {width: 100%; border-collapse: collapse; font-size: 0.88rem;
  font-variant-numeric: tabular-nums;}
.fs-table th {font-weight: 600; opacity: 0.75; text-align: right; padding: 0.3rem 0.45rem;
  vertical-align: bottom; border-bottom: 1px solid rgba(128,140,150,0.45);}
.fs-table td {text-align: right; padding: 0.42rem 0.45rem; white-space: nowrap;
  border-bottom: 1px solid rgba(128,140,150,0.22);}
.fs-table th:first-child, .fs-table td:first-child {text-align: left; padding-left: 0;
  font-weight: 600;}
.fs-table td.words, .fs-table th.words {text-align: left;}
.fs-methods td:first-child {white-space: normal;}
.fs-word {white-space: nowrap;}
.fs-table small {display: block; opacity: 0.75;}
.fs-line {display: inline-block; vertical-align: middle; margin-right: 0.5em; width: 24px;
  height: 3px;}
.fs-bar {display: inline-block; vertical-align: middle; width: 4rem; height: 0.5rem;
  border-radius: 0.25rem; background: rgba(128,140,150,0.25); overflow: hidden;
  margin-right: 0.5rem;}
.fs-bar > div {height: 100%; border-radius: 0.25rem; transition: width 0.4s;}
@media (max-width: 640px) {
  .fs-methods thead {position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden;}
  .fs-methods tr {display: grid; grid-template-columns: repeat(4, auto);
    border-bottom: 1px solid rgba(128,140,150,0.45); padding: 0.4rem 0;}
  .fs-methods td {display: block; border: 0; padding: 0.15rem 0.8rem 0.15rem 0;
    text-align: left;}
  .fs-methods td:first-child, .fs-methods td.words {grid-column: 1 / -1; white-space: normal;}
  .fs-methods td[data-head]::before {content: attr(data-head); display: block; opacity: 0.75;
    font-size: 0.8rem;}
}
@media (prefers-reduced-motion: reduce) {.fs-bar > div {transition: none;}}
</style>"""
DASHES = {
    "solid": (24,),
    "dash": (7, 3),
    "dot": (3, 3),
    "dashdot": (8, 3, 3, 3),
    "longdash": (11, 3),
}
"""Plotly's strokes: pixels drawn and left out, in turn."""


def methods_html(rows: Sequence[MethodRow], unit: str, progress: bool = True) -> str:
    """One line a method; `unit` says what the work is counted in."""
    heads = [f"to {100 * level:g}%" for level in LEVELS] + ["Final"]
    told = [f"{unit} until {100 * level:g}% of the optimum" for level in LEVELS]
    told.append("share of the optimum at the end, 95% interval")
    cells = ['<th scope="col">Method</th>']
    if progress:
        cells.append('<th scope="col" class="words">Progress</th>')
    cells += [
        f'<th scope="col" title="{escape(words)}">{escape(_with_unit(head, unit))}</th>'
        for head, words in zip(heads, told, strict=True)
    ]
    body = "".join(f"<tr>{_cells(row, heads, progress)}</tr>" for row in rows)
    return (
        f'{STYLE}<div class="fs-table fs-methods" tabindex="0" '
        f'aria-label="Methods and what they reached">'
        f"<table><thead><tr>{''.join(cells)}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def plain_html(columns: Sequence[str], rows: Sequence[Sequence[str]], told: str) -> str:
    """A table of texts, the first column in bold."""
    heads = "".join(f'<th scope="col" class="words">{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td class="words">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f'{STYLE}<div class="fs-table" tabindex="0" aria-label="{escape(told)}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(row: MethodRow, heads: Sequence[str], progress: bool) -> str:
    cells = [f"<td>{_line(row)}{_unbroken(row.label)}</td>"]
    if progress:
        share = f"{100 * row.share:.0f}"
        cells.append(
            f'<td class="words"><span class="fs-bar" role="progressbar" aria-valuemin="0" '
            f'aria-valuemax="100" aria-valuenow="{share}" aria-label="{escape(row.label)}">'
            f'<div style="width:{share}%;background:{row.colour}"></div></span>'
            f"{escape(row.told)}</td>"
        )
    cells += [
        f'<td data-head="{escape(head)}">{_number(text)}</td>'
        for head, text in zip(heads, (*row.reached, row.final), strict=True)
    ]
    return "".join(cells)


def _unbroken(text: str) -> str:
    """Lines break between words, not at the hyphen of a short one such as E-VI."""
    return " ".join(
        f'<span class="fs-word">{escape(word)}</span>' if len(word) < 12 else escape(word)
        for word in text.split(" ")
    )


def _number(text: str) -> str:
    """What stands in brackets behind a number goes below it."""
    number, bracket, rest = text.partition(" (")
    return escape(number) + (f"<small>({escape(rest)}</small>" if bracket else "")


def _with_unit(head: str, unit: str) -> str:
    return f"{unit} {head}" if head.startswith("to ") else head


def _line(row: MethodRow) -> str:
    """A piece of the method's line, as the figure draws it; Streamlit lets no drawing through."""
    stops, at = [], 0
    for i, length in enumerate(DASHES[row.dash]):
        stops.append(f"{row.colour if i % 2 == 0 else 'transparent'} {at}px {at + length}px")
        at += length
    pattern = f"repeating-linear-gradient(to right,{','.join(stops)})"
    return f'<span class="fs-line" style="background:{pattern}"></span>'
