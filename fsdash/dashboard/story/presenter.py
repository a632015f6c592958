"""Presenter mode of the story: one section per screen, and speaker notes at a second address."""

from itertools import accumulate
from pathlib import Path

import streamlit as st

from fsdash.dashboard.shell import add_style
from fsdash.dashboard.story import text
from fsdash.dashboard.story.drawing import draw_figure, draw_formula
from fsdash.dashboard.story.section_texts import SECTIONS
from fsdash.dashboard.story.sections import LECTURES, PARTS, URL
from fsdash.dashboard.story.text import Section, fill

BAR = "presenter"
SMALLEST_SCREEN = 768
"""Pixels: the height of a screen that is not known yet."""
AROUND, LINE = 216, 78
"""Pixels of that height around a figure, and for each line of a formula; type grows with it."""

# No sidebar and no toolbar: a screen for an audience. Type grows with the width of the screen.
STYLE = """<style>
:is([data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"])
  {display: none;}
[data-testid="stMainBlockContainer"] {max-width: none; padding: 0.8rem 2rem 4rem;}
[data-testid="stMainBlockContainer"]::after {content: none !important;}
h1 {font-size: clamp(1.7rem, 2.9vw, 3.2rem) !important; padding: 0 0 0.3rem !important;}
.st-key-lead p
  {font-size: clamp(1.3rem, 2vw, 2.2rem) !important; line-height: 1.35; max-width: none;}
.st-key-question p {font-size: clamp(1.05rem, 1.5vw, 1.7rem) !important; line-height: 1.35;}
.st-key-notes :is(p, li) {font-size: clamp(1.05rem, 1.4vw, 1.6rem) !important;}
.katex-display {margin: 0.1rem 0; font-size: clamp(1rem, 1.35vw, 1.8rem);}
:is(.fs-symbols, [data-testid="stWidgetLabel"] p)
  {font-size: clamp(1rem, 1.2vw, 1.4rem) !important;}
[data-testid="stPopoverBody"] p {font-size: clamp(1.05rem, 1.4vw, 1.6rem) !important;}
@media (max-width: 640px) {.katex-display {font-size: 0.6rem;}}
.st-key-presenter {position: fixed; left: 0; right: 0; bottom: 0; z-index: 99; width: 100%;}
</style>"""
_BAR_STYLE = """
.fs-presenter {display: flex; align-items: center; gap: 0.8rem; padding: 0.5rem 2rem;
  font-size: 1.05rem; font-variant-numeric: tabular-nums; background: var(--st-background-color);
  border-top: 1px solid rgba(128, 140, 150, 0.5); color: var(--st-text-color);}
.fs-presenter button {font: inherit; padding: 0.3rem 0.8rem; border-radius: 0.4rem; cursor: pointer;
  color: var(--st-text-color); background: var(--st-secondary-background-color);
  border: 1px solid rgba(128, 140, 150, 0.8);}
.fs-presenter button:disabled {opacity: 0.5; cursor: default;}
.fs-presenter .fs-clock {margin-left: auto;}
.fs-presenter > * {white-space: nowrap;}
@media (max-width: 640px) {
  .fs-presenter {flex-wrap: wrap; gap: 0.4rem; padding: 0.4rem 0.8rem; font-size: 0.9rem;}
}
.fs-presenter .fs-late {font-weight: 700; text-decoration: underline;}
"""
_component = st.components.v2.component(
    "fsdash_presenter",
    css=_BAR_STYLE,
    js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def show() -> None:
    """Draw the present section, for the audience or for the speaker, with the bar below it."""
    keep_values()
    add_style(STYLE)
    place = URL.get("section")
    section = SECTIONS[place - 1]
    for_audience = not URL.get("notes")
    height = draw_bar(place, for_audience)
    st.title(f"{place}. {section.title}", anchor=False)
    if for_audience:
        st.fragment(draw_slide)(section, height)
    else:
        draw_notes(place, section)
    URL.write()


def keep_values() -> None:
    """Keep the values of the controls in other sections: Streamlit drops those it does not draw."""
    for name in URL.parameters:
        if URL.key(name) in st.session_state:
            URL.put(name, URL.get(name))


def draw_bar(place: int, fits: bool) -> int:
    """The bar with the keys and the clock; returns the height of the visitor's screen."""
    data = {
        "section": place,
        "count": len(SECTIONS),
        "until": until(URL.get("lecture")),
        "words": text.BAR,
        "fits": fits,
    }
    result = _component(
        key=BAR,
        data=data,
        default={"height": SMALLEST_SCREEN},
        on_event_change=take_event,
        on_height_change=lambda: None,
    )
    return int(result.height or SMALLEST_SCREEN)


def until(lecture: int) -> list[int]:
    """The minute at which each section ends in a lecture of 50 or 90 minutes.

    The questions to the class count, and the work in pairs of the longer lecture.
    """
    pairs = lecture == max(LECTURES)
    return list(accumulate(s.pair_minutes * pairs + s.class_minutes + s.minutes for s in SECTIONS))


def take_event() -> None:
    """Go to another section, or back to the article."""
    event = st.session_state[BAR].event or {}
    if event.get("leave"):
        URL.put("present", False)
        URL.put("notes", False)
    elif (place := event.get("section")) in range(1, len(SECTIONS) + 1):
        URL.put("section", place)


def draw_slide(section: Section, height: int) -> None:
    """One section on one screen: text, controls and numbers on the left, the figure right."""
    keep_values()
    part = PARTS[section.name]
    left, right = st.columns([4, 7], gap="large")
    with left:
        lead = st.container(key="lead")
        values = part.read()
        numbers = part.numbers(*values)
        lead.markdown(fill(section.sentences[0], numbers))
        with st.container(key="question"):
            st.markdown(fill(section.live, numbers))
            st.markdown(f"**{text.QUESTION}.** {fill(section.question, numbers)}")
        with st.popover(text.ANSWER, key="slide-answer"):
            st.markdown(fill(section.answer, numbers))
    with right:
        lines = draw_formula(section, values)
        scale = max(height / SMALLEST_SCREEN, 1.0)
        room = int(height - scale * (AROUND + lines * LINE))
        draw_figure(section, values, numbers, max(room, 260), round(17 * scale))
    URL.write()


def draw_notes(place: int, section: Section) -> None:
    """What to say and do in a section, its question and answer, and what comes next."""
    part = PARTS[section.name]
    numbers = part.numbers(*(URL.get(name) for name in part.controls))
    lecture = URL.get("lecture")
    ends = until(lecture)[place - 1]
    timing = fill(text.TIMING, {"minutes": section.minutes, "until": ends})
    if section.pair_minutes and lecture == max(LECTURES):
        timing += " " + fill(text.PAIR_TIMING, {"minutes": section.pair_minutes})
    if section.class_minutes:
        timing += " " + fill(text.CLASS_TIMING, {"minutes": section.class_minutes})
    st.caption(f"{timing} {text.NOTES_NUMBERS}")
    with st.container(key="notes"):
        left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown("\n".join(f"- {fill(line, numbers)}" for line in section.sentences))
        st.markdown("**What to say**\n\n" + _bullets(section.say, numbers))
        st.markdown("**What to do**\n\n" + _bullets(section.do, numbers))
    with right:
        st.markdown(f"**{text.QUESTION}.** {fill(section.question, numbers)}")
        st.markdown(f"**{text.ANSWER}.** {fill(section.answer, numbers)}")
        following = SECTIONS[place].title if place < len(SECTIONS) else ""
        st.caption(f"Next: {following}" if following else "This is the last section.")


def _bullets(lines: tuple[str, ...], numbers: dict) -> str:
    return "\n".join(f"- {fill(line, numbers)}" for line in lines)
