"""The formula and the figure of a section, for the article and for presenter mode."""

import streamlit as st

from fsdash.dashboard.story.sections import PARTS
from fsdash.dashboard.story.text import Section, fill
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.symbols import symbol_line


def draw_formula(section: Section, values: tuple) -> int:
    """The formula of a section, if it has one, and its symbols; returns its number of lines."""
    part = PARTS[section.name]
    lines = section.formula if part.formula is None else part.formula(*values)
    for line in lines:
        st.latex(line)
    symbol_line(section.symbols)
    return len(lines)


def draw_figure(
    section: Section, values: tuple, numbers: dict, height: int, type_size: int = 0
) -> None:
    """The live figure of a section with its description; for an audience, in larger type."""
    figure, more = PARTS[section.name].figure(*values)
    if type_size:
        figure.update_layout(font_size=type_size, legend_font_size=type_size)
        figure.update_xaxes(title_font_size=type_size)
        figure.update_yaxes(title_font_size=type_size)
    chart(
        figure,
        f"story-{section.name}",
        alt_text=f"{fill(section.alt, numbers)} {more}".strip(),
        height=height,
    )
