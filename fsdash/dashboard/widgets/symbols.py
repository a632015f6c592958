"""The symbols of a formula in a line below it: a meaning appears on hover or focus.

KaTeX, which draws the formulas, has no tooltips. A symbol here can be reached with the Tab key, and
a screen reader reads its meaning.
"""

from collections.abc import Iterable
from html import escape
from re import sub

import streamlit as st

from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.theme import themed
from fsdash.figures.palette import BACKGROUND, INK

STYLE = """<style>
.fs-symbols {position: relative; font-size: 0.9rem; line-height: 2.2;}
.fs-symbols abbr {margin: 0 0.15rem; padding: 0.15rem 0.45rem; border-radius: 0.3rem;
  background: rgba(128, 140, 150, 0.16); text-decoration: none; white-space: nowrap; cursor: help;}
.fs-symbols abbr > span {position: absolute; left: 0; top: 100%; z-index: 9; max-width: 100%;
  padding: 0.4rem 0.6rem; border-radius: 0.3rem; line-height: 1.35; color: PAGE; background: INK;
  white-space: normal; clip-path: inset(50%);}
.fs-symbols abbr:is(:hover, :focus) > span {clip-path: none;}
</style>"""


TITLE = "Symbols"


def symbol_line(names: Iterable[str]) -> None:
    """Show the symbols by their names in the glossary."""
    style = themed(STYLE.replace("PAGE", BACKGROUND).replace("INK", INK))
    st.html(style + symbols_html(names))


def symbols_html(names: Iterable[str]) -> str:
    """The line as HTML."""
    signs = (
        f'<abbr tabindex="0">{_sign(SYMBOLS[name].sign)}'
        f'<span role="tooltip">{escape(SYMBOLS[name].meaning)}</span></abbr>'
        for name in names
    )
    return f'<div class="fs-symbols">{TITLE}: {" ".join(signs)}</div>'


def _sign(text: str) -> str:
    """The symbol with its index below and its power above the line."""
    below = sub(r"_(\w+)", r"<sub>\1</sub>", escape(text))
    return sub(r"\^(\w+)|(\*)$", lambda match: f"<sup>{match[1] or match[2]}</sup>", below)
