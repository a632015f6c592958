"""A table whose rows a visitor can sort, select and follow to other pages.

`st.dataframe` draws on a canvas, which screen readers and touch screens handle badly, and its order
is not part of a link. Here a row is HTML. Python owns the order and the selection, so both can be
in the URL; the browser reports what the visitor asks for.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

# The heading stays in view while the rows scroll. On a narrow screen every row is a card of three
# columns, and the headings, by which rows are sorted, become a line of buttons.
_STYLE = """
.fs-data-table {max-height: 30rem; overflow: auto; font-size: 0.82rem; line-height: 1.35;
  font-variant-numeric: tabular-nums; border-bottom: 1px solid rgba(128,140,150,0.45);}
.fs-data-table table {width: 100%; border-collapse: collapse;}
.fs-data-table thead {position: sticky; top: 0; z-index: 1; background: var(--st-background-color);
  box-shadow: 0 1px rgba(128,140,150,0.6);}
.fs-data-table :is(th, td) {padding: 0.3rem 0.35rem; text-align: left; vertical-align: middle;}
.fs-data-table th {font-weight: 600; white-space: nowrap;}
.fs-data-table th button {all: unset; cursor: pointer; color: var(--st-link-color);}
.fs-data-table tbody tr {cursor: pointer; border-bottom: 1px solid rgba(128,140,150,0.25);}
.fs-data-table tbody tr:hover {background: rgba(128,140,150,0.12);}
.fs-data-table tbody tr.fs-chosen {background: rgba(60,140,210,0.18);}
.fs-data-table input {width: 1.05rem; height: 1.05rem; accent-color: var(--st-primary-color);}
.fs-data-table svg {display: block;}
.fs-data-table small {display: block; opacity: 0.75; white-space: nowrap;}
.fs-data-table a {padding: 0.2rem 0.2rem; color: var(--st-link-color);}
.fs-data-table .fs-unbroken {white-space: nowrap;}
.fs-data-table .fs-right {text-align: right; white-space: nowrap;}
.fs-swatch {display: inline-block; width: 0.7em; height: 0.7em; border-radius: 0.15em;
  margin-right: 0.4em;}
.fs-mark {margin-left: 0.35em; padding: 0 0.35em; border-radius: 0.6em; font-size: 0.72rem;
  font-weight: 600; background: var(--st-primary-color); color: var(--st-background-color);}
.fs-badge {white-space: nowrap;}
.fs-badge::before {content: "●"; margin-right: 0.35em;}
.fs-green::before {color: #3a9a4c;} .fs-blue::before {color: #3d8fd1;}
.fs-orange::before {color: #d98014;} .fs-red::before {color: #d9483b;}
.fs-gray::before {color: #8a949c;}
@media (max-width: 640px) {
  .fs-data-table {max-height: 36rem;}
  .fs-data-table thead tr {display: flex; flex-wrap: wrap; gap: 0 0.7rem; padding: 0.2rem 0;}
  .fs-data-table :is(th, thead td) {padding: 0;}
  .fs-data-table th button {padding: 0.3rem 0;}
  .fs-data-table th:not(:has(button)) {display: none;}
  .fs-data-table tbody tr {display: grid; padding: 0.4rem 0; align-items: end;
    grid-template-columns: 2rem repeat(3, minmax(0, 1fr));}
  .fs-data-table tbody :is(td, td.fs-right) {display: block; padding: 0.1rem 0.4rem 0.1rem 0;
    text-align: left; white-space: normal;}
  .fs-data-table small {white-space: normal;}
  .fs-data-table tbody td.fs-select {grid-row: 1 / span 6; align-self: start;}
  .fs-data-table tbody td[data-head]::before {content: attr(data-head); display: block;
    opacity: 0.7; font-size: 0.72rem;}
  .fs-data-table tbody td.fs-whole-line {grid-column: 2 / -1;}
  .fs-data-table tbody td.fs-whole-line::before {content: none;}
}
"""
_component = st.components.v2.component(
    "fsdash_data_table",
    css=_STYLE,
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)

Cell = dict[str, Any]
"""What a cell shows: `text` with a `note` below it, a `mark` and a `swatch` of colour, or a `badge`
(one of Streamlit's colours); or a `line` in the unit square with its `colour` and `alt_text`; or
`links`, each with `text` and `href`. `help` is shown on hover."""


@dataclass(frozen=True)
class TableColumn:
    """A column: its name in events, its heading with an explanation, and its style."""

    name: str
    title: str
    help: str = ""
    sortable: bool = True
    style: str = "left"
    """One of left, right, unbroken (one line) and whole-line (of a card on a narrow screen)."""


@dataclass(frozen=True)
class TableRow:
    """A row: its id in events, a label for screen readers, and a cell for each column."""

    id: str
    label: str
    cells: dict[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True)
class TableEvent:
    """What the visitor did: select other rows, or ask to sort by a column."""

    selected: list[str] | None = None
    sort: str | None = None


def data_table(
    key: str,
    columns: Sequence[TableColumn],
    rows: Sequence[TableRow],
    *,
    label: str,
    select_all: str,
    selected: Sequence[str],
    sort: str,
    on_event: Callable[[TableEvent], None],
) -> None:
    """Draw the table.

    `sort` is the column that orders the rows, with a leading minus if the order is descending.
    `on_event` is called before the page runs again, the only time at which values that have a
    widget may be set. `label` and `select_all` are read by screen readers.
    """
    data = {
        "columns": [asdict(column) for column in columns],
        "rows": [asdict(row) for row in rows],
        "label": label,
        "select_all": select_all,
        "selected": list(selected),
        "sort": {"name": sort.removeprefix("-"), "descending": sort.startswith("-")},
    }

    def report() -> None:
        if st.session_state[key].event is not None:
            on_event(TableEvent(**st.session_state[key].event))

    _component(key=key, data=data, on_event_change=report)
