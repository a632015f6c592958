"""The story: one scrolling article on one example, with live figures; also as a presentation."""

import streamlit as st

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.shell import add_style, open_page, tools
from fsdash.dashboard.story import presenter, text
from fsdash.dashboard.story.drawing import draw_figure, draw_formula
from fsdash.dashboard.story.section_texts import SECTIONS
from fsdash.dashboard.story.sections import PARTS, URL
from fsdash.dashboard.story.text import Section, fill

HEIGHT = 380
# On a narrow screen the figure of a section follows its first sentence, with the controls below it;
# on a phone the list of sections follows the first section.
_SECTION = '[class*="st-key-section-"] > [data-testid="stLayoutWrapper"]'
_ROW = f'{_SECTION} > [data-testid="stHorizontalBlock"]'
_COLUMN = f'{_ROW} > [data-testid="stColumn"]'
STYLE = f"""<style>
@media (max-width: 640px) {{.st-key-opening {{flex-direction: column-reverse;}}}}
@media (max-width: 900px) {{
  {_ROW} {{flex-direction: column; gap: 1rem;}}
  {_COLUMN}, {_COLUMN} > [data-testid="stVerticalBlock"] {{display: contents;}}
  {_COLUMN} [data-testid="stLayoutWrapper"]:has(> [class*="st-key-lead-"]) {{order: -3;}}
  {_COLUMN} [data-testid="stElementContainer"]:has(.fs-chart) {{order: -2;}}
  {_COLUMN} [data-testid="stLayoutWrapper"]:has(> [class*="st-key-controls-"]) {{order: -1;}}
}}
</style>"""
# A link with a section opens there. The headings exist when this component, the last one, is drawn.
_SCRIPT = """
export default function ({ data }) {
  if (window.fsdashSection === data.section) return;
  window.fsdashSection = data.section;
  if (data.section > 1) document.getElementById(`section-${data.section}`)?.scrollIntoView();
}
"""
_open_at_section = st.components.v2.component("fsdash_story_section", js=_SCRIPT)


def show() -> None:
    """Draw the page: the article, or one section of it for a lecture, or its speaker notes."""
    open_page("The story", URL)
    if URL.get("present") or URL.get("notes"):
        presenter.show()
        return
    add_style(STYLE)
    st.title(text.TITLE, anchor=False)
    st.markdown(text.INTRODUCTION)
    with st.container(key="opening"):
        with st.container():
            draw_start()
        draw_part(1)
    for place in range(2, len(SECTIONS) + 1):
        draw_part(place)
    draw_end()
    tools("story", URL)
    _open_at_section(key="open-at-section", data={"section": URL.get("section")})


def draw_start() -> None:
    """The sections as links, and the ways into presenter mode."""
    links = [f"{n}. [{s.title}](#section-{n})" for n, s in enumerate(SECTIONS, 1)]
    half = -(-len(links) // 2)
    with st.container(border=True):
        for column, part in zip(st.columns(2), (links[:half], links[half:]), strict=True):
            column.markdown("\n".join(part))
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Present",
            icon=":material/slideshow:",
            key="present",
            help=text.PRESENT_HELP,
            on_click=URL.put,
            args=("present", True),
        )
        st.link_button(
            "Speaker notes",
            PAGES["story"].address(notes=1, lecture=URL.get("lecture")),
            icon=":material/speaker_notes:",
            help=text.NOTES_HELP,
        )


def draw_part(place: int) -> None:
    """A section in a place of its own."""
    with st.container():
        st.fragment(draw_section)(place, SECTIONS[place - 1])


def draw_section(place: int, section: Section) -> None:
    """One section: text and controls, formula and figure, question and answer."""
    part = PARTS[section.name]
    st.header(f"{place}. {section.title}", anchor=f"section-{place}")
    with st.container(key=f"section-{place}"):
        left, right = st.columns([5, 7], gap="large")
    with left:
        lead, more = st.container(key=f"lead-{place}"), st.container()
        with st.container(key=f"controls-{place}"):
            values = part.read()
    numbers = part.numbers(*values)
    lead.markdown(fill(section.sentences[0], numbers))
    more.markdown(fill(" ".join(section.sentences[1:]), numbers))
    with right:
        draw_formula(section, values)
        draw_figure(section, values, numbers, HEIGHT)
    st.markdown(f"**{text.QUESTION}.** {fill(section.question, numbers)}")
    with st.popover(text.ANSWER, key=f"answer-{section.name}"):
        st.markdown(fill(section.answer, numbers))
    URL.write()


def draw_end() -> None:
    """What was learned, and links to the pages that continue it."""
    st.header("Where to go from here", anchor=False)
    st.markdown(text.LEARNED)
    for name, what in text.LINKS.items():
        page = PAGES[name]
        st.page_link(page.script, label=f"**{page.title}**: {what}", icon=page.icon)
