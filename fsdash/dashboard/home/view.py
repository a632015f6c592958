"""The home page: what freezing slow states is, in pictures, and where to go from here."""

import streamlit as st

from fsdash.dashboard.navigation import ANSWERS, TOURS
from fsdash.dashboard.shell import is_dark, open_page, pages_there
from fsdash.dashboard.widgets import controls
from fsdash.dashboard.widgets.lesson import exercises, glossary
from fsdash.dashboard.widgets.picture import draw_step_caption, draw_svg
from fsdash.dashboard.widgets.url_state import Parameter, UrlState, one_of, whole_number
from fsdash.figures import levels
from fsdash.figures.timescales import describe_period, describe_timescales, timescales_svg

LARGEST_T = 12
NARROW = 360
POLICY, LOWER, UPPER = "The policy", "The lower level", "The upper level"
VIEWS = (POLICY, LOWER, UPPER)
URL = UrlState(
    "home",
    {
        "periods": Parameter(4, whole_number(1, LARGEST_T)),
        "view": Parameter(POLICY, one_of(VIEWS)),
    },
)

STORY = {
    "The problem": """Your stock changes **every day**; the season behind demand changes **over
months**. A *fast-slow* decision problem has both: a fast state $y$ that jumps, a slow state $x$
that drifts. Looking far ahead in small steps, with both in motion, is expensive.""",
    "The trick": """Only **while planning**, pretend that $x$ stands still for $T$ periods. Each
block becomes a short, simple problem, solved once. A second plan on top, which sees the true
motion, then steps from block to block: $T$ periods at a time.""",
    "The price": """The world itself is never frozen, so the plan is a little wrong: it trusts an
old $x$, and it does not look past the end of its block. **How wrong, and when it still pays,** is
what these pages are about.""",
}
CAPTIONS = {
    POLICY: "Solid: where the slow state really is. Dashed: where the plan holds it frozen. "
    "Schematic, each state on its own scale.",
    LOWER: "Solved once, backwards from the end of a block. Freezing makes x a label instead of "
    "something that moves; the 0 at the end makes it a problem of its own.",
    UPPER: "The upper level sees the true motion, but only every T periods: its discount is γ to "
    "the power T, so it needs far fewer iterations.",
}
EXERCISES = [
    (
        "Set $T = 1$. What is left of the method?",
        "Value iteration. Every block is one period long, the upper policy acts in all of them, "
        "and nothing is frozen.",
    ),
    (
        "Is the slow state frozen when the policy is *used*?",
        "Never. Freezing happens inside the algorithm. In period 5 of a block the lower policy "
        "sees the true state $(x, y)$; it was only *planned* as if $x$ would stay there.",
    ),
]
COMMANDS = """\
fsdash advise --sweeps 4                             # which T to choose for a budget of work
fsdash constants inventory                           # measure alpha and the Lipschitz constants
fsdash solve inventory --method fsvi -T 6            # solve by freezing: the true regret
fsdash run inventory --algorithm e-vi,e-fsvi -T 3,6  # learning curves, replicated
fsdash reproduce --quick                             # the paper's figures and claims
fsdash --help                                        # what else there is"""


def tell_story() -> None:
    """The idea in three short paragraphs, side by side."""
    for column, (title, text) in zip(st.columns(3, gap="medium"), STORY.items(), strict=True):
        column.subheader(title, anchor=False)
        column.markdown(text)


def steps_of(view: str, T: int) -> int:
    """How many steps a drawing has before it begins again."""
    counts = {POLICY: 2 * T, LOWER: levels.lower_level_steps(T), UPPER: levels.BLOCKS}
    return counts[view]


def drawing(view: str, T: int, step: int, width: int, dark: bool) -> str:
    """One of the three pictures at one of its steps."""
    if view == POLICY:
        return timescales_svg(T, width, 12 if width <= NARROW else 24, dark, now=step)
    if view == LOWER:
        return levels.lower_level_svg(T, step, width, dark)
    return levels.upper_level_svg(T, step, width=width, dark=dark)


def told(view: str, T: int, step: int) -> str:
    """The step in words, for the line below the picture."""
    if view == POLICY:
        return describe_period(T, step)
    tell = levels.describe_lower_level if view == LOWER else levels.describe_upper_level
    return tell(T, step)


def move(by: int) -> None:
    st.session_state["step"] = st.session_state.get("step", 0) + by


def begin() -> None:
    st.session_state["step"] = 0


def read_controls() -> tuple[str, int]:
    """Which picture, which T, and the buttons that step through it."""
    view = st.radio("Picture", VIEWS, key=URL.key("view"), on_change=begin)
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
    return view, T


def draw_pictures(playing: bool) -> None:
    """The three pictures; while playing, each tick is a step."""
    dark = is_dark()
    left, right = st.columns([3, 8], gap="large")
    with left:
        view, T = read_controls()
    if playing:
        move(1)
    step = st.session_state.get("step", 0) % steps_of(view, T)
    with right:
        whole = describe_timescales(T, step) if view == POLICY else told(view, T, step)
        wide, narrow = (drawing(view, T, step, width, dark) for width in (700, NARROW))
        draw_svg(wide, narrow, whole)
        draw_step_caption([told(view, T, one) for one in range(steps_of(view, T))], step)
        st.caption(CAPTIONS[view])
    URL.write()


def draw_answers() -> None:
    """A card for each page with the question that it answers, a row for each group of pages."""
    st.subheader("What do you want to know?", anchor=False)
    for links in pages_there().values():
        shown = [link for link in links if link[0] in ANSWERS]
        for column, (page, title, icon) in zip(st.columns(len(shown) or 1), shown, strict=False):
            with column.container(border=True, height="stretch"):
                st.page_link(page, label=f"**{title}**", icon=icon)
                st.markdown(ANSWERS[page])


def draw_tours() -> None:
    """Three ways through the pages, each stop in a state of its own."""
    st.subheader("Three tours", anchor=False)
    there = {link[0] for links in pages_there().values() for link in links}
    for column, (who, stops) in zip(st.columns(3), TOURS.items(), strict=True):
        with column.container(border=True, height="stretch", gap="xsmall"):
            st.markdown(f"**{who}**")
            shown = [stop for stop in stops if stop.page in there]
            for place, stop in enumerate(shown, 1):
                label = f"{place}. **{stop.title}**: {stop.why}"
                st.page_link(stop.page, label=label, query_params=stop.state or None)


def show() -> None:
    """Draw the page."""
    open_page("Home", URL)
    st.title("When does freezing slow states pay?", anchor=False)
    tell_story()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader("The idea in three pictures", anchor=False, width="content")
        playing = st.toggle("Play", key="play", help="Takes a step every second and a half.")
    st.fragment(draw_pictures, run_every=1.5 if playing else None)(playing)
    draw_answers()
    draw_tours()
    exercises(EXERCISES)
    glossary(("T", "gamma", "alpha", "k"))
    st.subheader("The same from the command line", anchor=False)
    st.code(COMMANDS, language="bash")
