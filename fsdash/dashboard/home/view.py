"""The home page: what freezing slow states means, in pictures, and links to the other pages."""

import streamlit as st

from fsdash.dashboard.home import state, text
from fsdash.dashboard.home.state import LARGEST_T, NARROW, WIDE
from fsdash.dashboard.navigation import PAGES, available_pages
from fsdash.dashboard.shell import open_page, tools, two_columns
from fsdash.dashboard.tour import link_to_stop
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.picture import draw_step_caption, draw_svg
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, one_of, whole_number
from fsdash.teaching.tours import TOURS, Position

STEP = "home-step"
"""Session key: the step of the picture."""
SECONDS_PER_STEP = 1.5
CARDS_IN_A_ROW = 4
URL = UrlState(
    "home",
    {
        "periods": UrlParameter(state.START_T, whole_number(1, LARGEST_T)),
        "view": UrlParameter("policy", one_of(text.PICTURES)),
    },
)


def show() -> None:
    """Draw the page."""
    open_page("Home", URL, "When does freezing slow states pay off?")
    draw_start()
    with st.container(key="text-and-figure"):
        with st.container():
            draw_story()
        with st.container():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.header("The idea in three pictures", anchor=False, width="content")
                playing = st.toggle("Play", key="play", help="Moves one step every 1.5 seconds.")
            st.fragment(draw_pictures, run_every=SECONDS_PER_STEP if playing else None)(playing)
    draw_questions()
    draw_tours()
    commands = tools("home", URL, ("T", "gamma", "alpha", "k"))
    with commands.popover("The same from the command line", icon=":material/terminal:"):
        st.code(text.COMMANDS, language="bash")


def draw_start() -> None:
    """The page to begin with, above everything else."""
    page = PAGES["story"]
    with st.container(border=True, key="start"):
        st.page_link(
            page.script, label="**Start here: the story of one small shop**", icon=page.icon
        )
        st.markdown(text.START_REASON)


def draw_story() -> None:
    """The idea in three short paragraphs, side by side."""
    for column, (title, story) in zip(st.columns(3, gap="medium"), text.STORY.items(), strict=True):
        column.header(title, anchor=False)
        column.markdown(story)


def draw_pictures(playing: bool) -> None:
    """The selected picture at its current step; while playing, each run of this is one step."""
    left, right = two_columns(3, 8)
    with left:
        picture, T = read_controls()
    if playing:
        move(1)
    steps = state.step_count(picture, T)
    step = st.session_state.get(STEP, 0) % steps
    with right:
        wide, narrow = (state.drawing(picture, T, step, width) for width in (WIDE, NARROW))
        draw_svg(wide, narrow, state.alt_text(picture, T, step))
        draw_step_caption([state.caption(picture, T, n) for n in range(steps)], step)
        st.caption(text.CAPTIONS[picture])
    URL.write()


def read_controls() -> tuple[str, int]:
    """The picture and T, with the buttons that step through the picture."""
    picture = st.radio(
        "Picture",
        tuple(text.PICTURES),
        format_func=text.PICTURES.get,
        key=URL.key("view"),
        on_change=restart,
    )
    T = controls.whole_slider(URL, "periods", 1, LARGEST_T)
    with st.container(horizontal=True, gap="small", key="steps"):
        st.button("Back", icon=":material/chevron_left:", key="back", on_click=move, args=(-1,))
        st.button(
            "Next step",
            icon=":material/chevron_right:",
            key="next",
            type="primary",
            on_click=move,
            args=(1,),
        )
    return picture, T


def move(steps: int) -> None:
    """Move the picture forward, or back if negative."""
    st.session_state[STEP] = st.session_state.get(STEP, 0) + steps


def restart() -> None:
    """Go back to the first step."""
    st.session_state[STEP] = 0


def draw_questions() -> None:
    """A card for each page with the question it answers, in rows."""
    st.header("What do you want to know?", anchor=False)
    shown = [page for page in available_pages() if page.question and page != PAGES["story"]]
    for start in range(0, len(shown), CARDS_IN_A_ROW):
        row = shown[start : start + CARDS_IN_A_ROW]
        for column, page in zip(st.columns(CARDS_IN_A_ROW), row, strict=False):
            with column.container(border=True, height="stretch"):
                st.page_link(page.script, label=f"**{page.title}**", icon=page.icon)
                st.markdown(page.question)


def draw_tours() -> None:
    """Three tours through the pages; each begins with a link to its first stop."""
    st.header("Three tours", anchor=False)
    for column, (name, tour) in zip(st.columns(len(TOURS)), TOURS.items(), strict=True):
        with column.container(border=True, height="stretch", gap="xsmall"):
            st.markdown(f"**{tour.audience}**: {tour.about}")
            st.markdown("\n".join(f"{n}. {stop.title}" for n, stop in enumerate(tour.stops, 1)))
            link_to_stop(
                Position(name, 1),
                text.start_tour(tour.audience, tour.minutes),
                ":material/play_arrow:",
            )
