"""The home page: one film with one slider that shows what freezing saves and costs.

Below it, the two levels of the paper's method in three pictures, for those who scroll.
"""

from pathlib import Path

import streamlit as st

from fsdash.dashboard.home import state
from fsdash.dashboard.home.state import LARGEST_N, LARGEST_T, NARROW, WIDE
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.shell import open_page, tools, two_columns
from fsdash.dashboard.tour import link_to_stop
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.picture import draw_step_caption, draw_svg
from fsdash.dashboard.widgets.theme import themed
from fsdash.dashboard.widgets.url_state import UrlParameter, UrlState, one_of, whole_number
from fsdash.figures.palette import BLUE, INK, VERMILLION
from fsdash.teaching.tours import TOURS, Position

STEP = "home-step"
"""Session key: the step of the picture."""
SECONDS_PER_STEP = 1.5
PICTURES = {"policy": "The policy", "lower": "The lower level", "upper": "The upper level"}
"""The pictures by their names in the URL."""
CAPTIONS = {
    "policy": "Solid: the true slow state. Dashed: the slow state in the plan, frozen in each "
    "block. This is a sketch; each state has its own scale.",
    "lower": "The lower level is solved once, by backward induction from the end of a block. The "
    "frozen x does not change, so each x is a separate problem. The value after the block is set "
    "to 0.",
    "upper": "The upper level uses the true dynamics, but decides only every T periods. Its "
    "discount is γ to the power T, so it needs far fewer iterations.",
}
LINKS = {
    "teach": "Teach with it",
    "your_model": "Solve my own model",
    "reproduction": "Check the paper",
}
URL = UrlState(
    "home",
    {
        "freeze": UrlParameter(state.START_N, whole_number(1, LARGEST_N)),
        "periods": UrlParameter(state.START_T, whole_number(1, LARGEST_T)),
        "view": UrlParameter("policy", one_of(PICTURES)),
    },
)
FILM = "film"
_film = st.components.v2.component(
    "fsdash_film",
    css="""
.fs-film {display: flex; gap: 2rem; align-items: center; color: var(--st-text-color);}
.fs-figure {flex: 3; min-width: 0;}
.fs-figure svg {display: block; width: 100%;}
.fs-beside {flex: 2; min-width: 0;}
.fs-row {display: flex; gap: 1rem; align-items: end; margin-top: 0.6rem;}
.fs-slider {flex: 1;}
.fs-slider input {display: block; width: 100%; height: 44px; margin: 0;
  accent-color: var(--st-primary-color); cursor: pointer;}
.fs-play {min-width: 5.5rem; min-height: 44px; font: inherit; border-radius: 0.5rem;
  cursor: pointer; color: var(--st-text-color); background: var(--st-secondary-background-color);
  border: 1px solid rgba(128, 140, 150, 0.8);}
.fs-numbers {display: flex; gap: 2rem; flex-wrap: wrap;}
.fs-number strong {display: block; font-size: 3.2rem; line-height: 1.1;
  font-variant-numeric: tabular-nums;}
.fs-sentence {font-size: 1.15rem; margin: 1rem 0 0.4rem; min-height: 3.2em;}
.fs-draws {margin: 0; opacity: 0.78;}
@media (max-width: 900px) {
  .fs-film {flex-direction: column; align-items: stretch; gap: 0.8rem;}
  .fs-number strong {font-size: 2.2rem;}
  .fs-sentence {font-size: 1.05rem; margin: 0.5rem 0 0.3rem; min-height: 4.5em;}
}
""",
    js=Path(__file__).with_name("film.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def show() -> None:
    """Draw the page."""
    open_page(
        "Home",
        URL,
        "Must a plan know how the season will move?",
        "A shop's stock changes every week, its season only over months. Freeze the season while "
        "planning, and planning gets cheap: move the slider.",
    )
    draw_film()
    draw_links()
    st.header("The two levels in three pictures", anchor=False)
    playing = st.toggle("Play", key="play", help="Moves one step every 1.5 seconds.")
    st.fragment(draw_pictures, run_every=SECONDS_PER_STEP if playing else None)(playing)
    tools("home", URL, ("T", "n", "gamma", "alpha", "k"))
    URL.write()


def draw_film() -> None:
    """The film, with the slider for n in the browser."""
    colours = {"slow": themed(BLUE), "fast": themed(VERMILLION), "ink": themed(INK)}
    data = {**state.film(), "n": URL.get("freeze"), "colours": colours}
    _film(key=FILM, data=data, on_n_change=take_n)


def take_n() -> None:
    """Keep the n that the visitor chose, for the address."""
    n = st.session_state[FILM].n
    if n in range(1, LARGEST_N + 1):
        URL.put("freeze", n)


def draw_links() -> None:
    """The story, and three ways on for those who come with a purpose."""
    with st.container(horizontal=True, vertical_alignment="center", key="start"):
        if st.button("Read the story", type="primary", icon=PAGES["story"].icon):
            st.switch_page(PAGES["story"].script)
        for name, label in LINKS.items():
            st.page_link(PAGES[name].script, label=label, icon=PAGES[name].icon, width="content")
    with st.container(horizontal=True, key="tours"):
        st.caption("Guided tours:", width="content")
        for name, tour in TOURS.items():
            label = f"{tour.audience}, {tour.minutes} minutes"
            link_to_stop(Position(name, 1), label, ":material/play_arrow:")


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
        st.caption(CAPTIONS[picture])
    URL.write()


def read_controls() -> tuple[str, int]:
    """The picture and T, with the buttons that step through the picture."""
    picture = st.radio(
        "Picture",
        tuple(PICTURES),
        format_func=PICTURES.get,
        key=URL.key("view"),
        on_change=restart,
    )
    T = controls.whole_slider(URL, "periods", 1, LARGEST_T)
    with st.container(horizontal=True, gap="small", key="steps"):
        back, onward = ":material/chevron_left:", ":material/chevron_right:"
        st.button("Back", icon=back, key="back", on_click=move, args=(-1,))
        st.button("Next step", icon=onward, key="next", on_click=move, args=(1,))
    return picture, T


def move(steps: int) -> None:
    """Move the picture forward, or back if negative."""
    st.session_state[STEP] = st.session_state.get(STEP, 0) + steps


def restart() -> None:
    """Go back to the first step."""
    st.session_state[STEP] = 0
