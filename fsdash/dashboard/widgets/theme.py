"""The visitor's theme: the one place where the colours of a drawing are chosen for the page."""

import streamlit as st

from fsdash.figures.palette import in_theme


def is_dark() -> bool:
    """Whether the visitor uses the dark theme."""
    return st.context.theme.type == "dark"


def themed(drawing: str) -> str:
    """A figure, an SVG drawing, HTML, a formula or a colour in the colours of this page."""
    return in_theme(drawing, is_dark())
