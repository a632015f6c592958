"""Drawings on a page. Streamlit strips <svg> from HTML, so a drawing is sent as an image."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

import streamlit as st

from fsdash.dashboard.widgets.theme import themed

# Streamlit stacks columns below this width; the narrow drawing takes over at the same point.
STYLE = """<style>
.fs-picture {width: 100%; display: block}
.fs-narrow {display: none}
.fs-step-caption {display: grid; font-weight: 600}
.fs-step-caption > * {grid-area: 1 / 1}
.fs-step-caption > [aria-hidden] {visibility: hidden}
@media (max-width: 640px) {.fs-narrow {display: block} .fs-wide {display: none}}
</style>"""


def draw_svg(wide: str, narrow: str, alt_text: str) -> None:
    """Show `wide`, or `narrow` on a narrow screen; `alt_text` describes it to screen readers."""
    st.html(STYLE + _image(wide, "fs-wide", alt_text) + _image(narrow, "fs-narrow", alt_text))


def draw_step_caption(captions: Sequence[str], step: int) -> None:
    """Show the caption of one step, with room for the longest, so that nothing below it moves."""
    spacers = "".join(f'<span aria-hidden="true">{escape(text)}</span>' for text in captions)
    caption = escape(captions[step])
    st.html(f'{STYLE}<div class="fs-step-caption"><span>{caption}</span>{spacers}</div>')


def _image(svg: str, name: str, alt_text: str) -> str:
    code = b64encode(themed(svg).encode()).decode()
    source = f"data:image/svg+xml;base64,{code}"
    return f'<img class="fs-picture {name}" alt="{escape(alt_text)}" src="{source}">'
