"""The Streamlit parts of learning curves: their options, and the table of methods below them.

Streamlit draws `st.dataframe` on a canvas, which screen readers and narrow screens handle badly.
The tables here are plain HTML that scrolls inside its own box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd
import streamlit as st

from fsdash.dashboard.curves import text
from fsdash.dashboard.curves.state import CurveOptions, MethodRow
from fsdash.dashboard.shell import popover
from fsdash.dashboard.widgets.theme import themed
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, one_of, switch
from fsdash.formatting import number
from fsdash.runs.columns import DEFAULT_MEASURE
from fsdash.runs.measures import drawable_measures
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
.fs-methods td:first-child {white-space: normal; min-width: 8.4rem;}
.fs-word {white-space: nowrap;}
.fs-table small {display: block; opacity: 0.75;}
.fs-line {display: inline-block; vertical-align: middle; margin-right: 0.5em; width: 24px;
  height: 3px;}
.fs-bar {display: inline-block; vertical-align: middle; width: 3rem; height: 0.5rem;
  border-radius: 0.25rem; background: rgba(128,140,150,0.25); overflow: hidden;
  margin-right: 0.5rem;}
.fs-bar > div {height: 100%; border-radius: 0.25rem; transition: width 0.4s;}
@media (max-width: 640px) {
  .fs-methods thead {position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden;}
  .fs-methods tr {display: grid; grid-template-columns: repeat(3, minmax(0, 1fr));
    border-bottom: 1px solid rgba(128,140,150,0.45); padding: 0.4rem 0;}
  .fs-methods td {display: block; border: 0; padding: 0.15rem 0.8rem 0.15rem 0;
    text-align: left; white-space: normal;}
  .fs-methods td:last-child {grid-column: span 2;}
  .fs-methods td:first-child, .fs-methods td.words {grid-column: 1 / -1; white-space: normal;}
  .fs-methods td[data-head]::before {content: attr(data-head); display: block; opacity: 0.75;
    font-size: 0.8rem;}
}
@media (prefers-reduced-motion: reduce) {.fs-bar > div {transition: none;}}
</style>"""
DASH_LENGTHS = {
    "solid": (24,),
    "dash": (7, 3),
    "dot": (3, 3),
    "dashdot": (8, 3, 3, 3),
    "longdash": (11, 3),
}
"""Plotly's dash styles: pixels drawn and left out, in turn."""
MAX_UNBROKEN = 16
"""Characters of a word that is not broken at its hyphen."""


# ----------------------------------------------------------------------------------------- options


def curve_parameters(single_runs: bool = True) -> dict[str, UrlParameter]:
    """The curve options in a page's URL."""
    parameters = {
        "x": UrlParameter("sweeps", one_of(text.X_LABELS)),
        "y": UrlParameter(DEFAULT_MEASURE, one_of(text.Y_LABELS)),
        "log": switch(True),
    }
    if single_runs:
        parameters |= {"singles": switch(False), "J": switch(False), "rolling": switch(False)}
    return parameters


def read_curve_options(url: UrlState, rows: pd.DataFrame, single_runs: bool = True) -> CurveOptions:
    """Widgets for the options: the unit of work in view, the rest in a popover.

    The measures are those that the rows of every domain have. The default one is mean regret on
    domains where a share of the optimum has no meaning. A link that asks for a measure without
    values gets the default.
    """
    measures = [drawable_measures(part) for _, part in rows.groupby("domain")]
    measures = measures or [drawable_measures(rows)]
    mains = dict.fromkeys(text.Y_LABELS[found[0]] for found in measures)
    others = [name for name in measures[0][1:] if all(name in found[1:] for found in measures)]
    labels = text.Y_LABELS | {DEFAULT_MEASURE: " or ".join(mains)}
    if url.get("y") not in (DEFAULT_MEASURE, *others):
        url.put("y", DEFAULT_MEASURE)
    hidden = [name for name in curve_parameters(single_runs) if name != "x"]
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="options"):
        x = st.segmented_control(
            "Work in",
            list(text.X_LABELS),
            default="sweeps",
            required=True,
            format_func=text.X_LABELS.get,
            key=url.key("x"),
        )
        options = popover(map(url.key, hidden), "Options", icon=":material/tune:")
        if options.open:
            with options:
                _draw_hidden_options(url, [DEFAULT_MEASURE, *others], labels, single_runs)
    return CurveOptions(x, *(url.get(name) for name in hidden))


def _draw_hidden_options(
    url: UrlState, measures: Sequence[str], labels: Mapping[str, str], single_runs: bool
) -> None:
    st.radio("Measure", measures, format_func=labels.get, key=url.key("y"), help=text.Y_AXIS_HELP)
    st.toggle("Logarithmic work axis", True, key=url.key("log"))
    if single_runs:
        st.toggle("Single replications", key=url.key("singles"))
        st.toggle("Greedy for J", key=url.key("J"), help=text.GREEDY_FOR_J_HELP)
        st.toggle("Rolling", key=url.key("rolling"), help=text.ROLLING_HELP)


# ------------------------------------------------------------------------------------------ tables


def show_method_table(
    rows: Sequence[MethodRow],
    x: str,
    progress: bool = True,
    share: bool = True,
    budget: float | None = None,
) -> None:
    """One row per method; the work is in the unit of the x axis.

    `share` says whether values are shares of the optimum or mean regret; `budget` is the work at
    which the methods are compared, if they do not all end there.
    """
    st.html(method_table_html(rows, text.X_LABELS[x].lower(), progress, share, budget))


def show_text_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    """A table of texts with the first column in bold."""
    st.html(text_table_html(columns, rows, title))


def method_table_html(
    rows: Sequence[MethodRow],
    unit: str,
    progress: bool = True,
    share: bool = True,
    budget: float | None = None,
) -> str:
    words = text.table_words(share)
    work = [
        (text.work_heading(level, share), text.work_help(level, unit, share)) for level in LEVELS
    ]
    columns = [
        (words.start, words.start, words.start_help),
        *((heading, f"{unit} {heading}", help) for heading, help in work),
        (words.final, words.final, words.final_help),
    ]
    if budget is not None:
        heading = words.at_budget.format(work=f"{number(budget)} {unit}")
        columns.insert(-1, (heading, heading, words.at_budget_help.format(unit=unit)))
    headings = ['<th scope="col">Method</th>']
    if progress:
        headings.append('<th scope="col" class="words">Progress</th>')
    headings += [
        f'<th scope="col" title="{escape(help)}">{escape(heading)}</th>'
        for _, heading, help in columns
    ]
    # On a narrow screen every number stands under its own short heading.
    short = [heading for heading, _, _ in columns]
    body = "".join(f"<tr>{_method_cells(row, short, progress)}</tr>" for row in rows)
    return _table_html("fs-table fs-methods", "Methods and their results", "".join(headings), body)


def text_table_html(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> str:
    headings = "".join(f'<th scope="col" class="words">{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td class="words">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return _table_html("fs-table", title, headings, body)


def _table_html(classes: str, title: str, headings: str, body: str) -> str:
    return (
        f'{STYLE}<div class="{classes}" tabindex="0" aria-label="{escape(title)}">'
        f"<table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _method_cells(row: MethodRow, headings: Sequence[str], progress: bool) -> str:
    cells = [f"<td>{_line_sample(row)}{_unbroken_words(row.label)}</td>"]
    if progress:
        percent = f"{100 * row.progress:.0f}"
        cells.append(
            f'<td class="words"><span class="fs-bar" role="progressbar" aria-valuemin="0" '
            f'aria-valuemax="100" aria-valuenow="{percent}" aria-label="{escape(row.label)}">'
            f'<div style="width:{percent}%;background:{themed(row.colour)}"></div></span>'
            f"{escape(row.progress_text)}</td>"
        )
    at_budget = [row.at_budget] if len(headings) > len(row.work) + 2 else []
    values = [row.start, *row.work, *at_budget, row.final]
    cells += [
        f'<td data-head="{escape(heading)}">{_note_below(value)}</td>'
        for heading, value in zip(headings, values, strict=True)
    ]
    return "".join(cells)


def _unbroken_words(label: str) -> str:
    """Lines break between words, not at the hyphen of a short one such as E-VI."""
    return " ".join(
        f'<span class="fs-word">{escape(word)}</span>' if len(word) < MAX_UNBROKEN else escape(word)
        for word in label.split(" ")
    )


def _note_below(value: str) -> str:
    """The number, with each note in brackets on a line of its own."""
    number, bracket, rest = value.partition(" (")
    notes = rest.removesuffix(")").split("; ") if bracket else []
    return escape(number) + "".join(f"<small>{escape(note)}</small>" for note in notes)


def _line_sample(row: MethodRow) -> str:
    """A piece of the method's line as a gradient: Streamlit strips SVG from HTML."""
    stops, at = [], 0
    for i, length in enumerate(DASH_LENGTHS[row.dash]):
        shade = row.colour if i % 2 == 0 else "transparent"
        stops.append(f"{shade} {at}px {at + length}px")
        at += length
    pattern = f"repeating-linear-gradient(to right,{','.join(stops)})"
    return themed(f'<span class="fs-line" style="background:{pattern}"></span>')
