"""Drawings on a page. Streamlit strips <svg> from HTML, so a drawing travels as an image."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

import streamlit as st

# Streamlit stacks columns below this width; the narrow drawing takes over at the same point.
STYLE = """<style>
.fs-picture {width: 100%; display: block}
.fs-narrow {display: none}
.fs-told {display: grid; font-weight: 600}
.fs-told > * {grid-area: 1 / 1}
.fs-told > [aria-hidden] {visibility: hidden}
@media (max-width: 640px) {.fs-narrow {display: block} .fs-wide {display: none}}
</style>"""


def draw_svg(wide: str, narrow: str, told: str) -> None:
    """Show `wide`, or `narrow` on a narrow screen; `told` says it to who cannot see it."""
    st.html(STYLE + _image(wide, "fs-wide", told) + _image(narrow, "fs-narrow", told))


def draw_told(steps: Sequence[str], now: int) -> None:
    """The words of one step, in a place that has room for those of any: nothing below it moves."""
    spacers = "".join(f'<span aria-hidden="true">{escape(text)}</span>' for text in steps)
    st.html(f'{STYLE}<div class="fs-told"><span>{escape(steps[now])}</span>{spacers}</div>')


def _image(svg: str, name: str, told: str) -> str:
    code = b64encode(svg.encode()).decode()
    return f'<img class="fs-picture {name}" alt="{told}" src="data:image/svg+xml;base64,{code}">'
