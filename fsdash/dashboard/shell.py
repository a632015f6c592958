"""What all pages share: the frame around a page, its tabs, and the row of buttons at its end.

Each page can be opened directly by a link, so each one begins with `open_page`. It ends with
`tools`: exports, exercises and the table of its symbols. `what_to_notice` explains a figure.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard import tour
from fsdash.dashboard.navigation import available_pages
from fsdash.dashboard.widgets import browser_storage
from fsdash.dashboard.widgets.exercise import PARAMETER, draw_asked, draw_exercises
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.theme import themed
from fsdash.dashboard.widgets.url_state import SHARED, UrlState, page_switch
from fsdash.figures.palette import BACKGROUND, INK
from fsdash.formatting import escape_markdown
from fsdash.version import __version__

AUTHORS = (
    "Y. Wang and D. R. Jiang, “Frozen-State Value Iteration: Faster Reinforcement Learning by "
    "Freezing Slow States”, Management Science"
)
PAPER = "doi:10.1287/mnsc.2023.00012"
PAPER_URL = "https://doi.org/10.1287/mnsc.2023.00012"

# The width keeps lines readable. The padding at the top leaves room for the toolbar. A formula that
# is wider than its column has a shadow at the right edge (the first gradient scrolls with it and
# hides the shadow at the end); its padding holds what KaTeX draws beyond its box. Captions, and
# words on the primary colour, have a contrast of at least 4.5 to 1. Whatever has the keyboard's
# focus has an outline; the focus of a slider or a switch is in an invisible element inside it. On a
# narrow screen a figure comes before its controls and before its text, titles and formulas are
# smaller, lines of code are wrapped, and the footer is below the page, because the sidebar is
# closed. On a tablet a figure in `wide-figure` has the whole width: its labels would be cut beside
# its notes. A recommendation and the sections of the story have larger headings than the parts of
# other pages.
STYLE = """<style>
[data-testid="stElementContainer"]:has([data-testid="stMarkdownContainer"] > style) {display: none;}
PAGE_TOP
STORAGE
:is(a, button, summary, [role="tab"], [tabindex]:not([data-testid="stMain"])):focus-visible,
  label:has(input:is([type="checkbox"], [type="radio"]):focus-visible),
  [data-testid="stSlider"] [data-rac]:has(> div > input:focus-visible)
  {outline: 2px solid INK !important; outline-offset: 2px; border-radius: 0.3rem;}
[data-testid="stMainBlockContainer"] {max-width: 1240px; padding-top: 3rem;}
:is(.st-key-tour, .st-key-asked) {margin-top: 1rem;}
[data-testid="stMarkdownContainer"] p, [data-testid="stMarkdownContainer"] li {max-width: 44rem;}
[data-testid="stPageLink-NavLink"] {height: auto;}
[data-testid="stPageLink-NavLink"] * {white-space: normal; overflow: visible;}
[data-testid="stCaptionContainer"] {opacity: 0.78;}
.st-key-tools, .st-key-tools > * > [data-testid="stVerticalBlock"] {flex-wrap: wrap;}
.st-key-tools > *, .st-key-tools > * > [data-testid="stVerticalBlock"] > *
  {flex: none; width: auto;}
.st-key-tools p {white-space: nowrap;}
:is([data-testid^="stBaseButton-primary"]:not(:disabled), [data-tag]) :is(p, span, button)
  {color: PAGE;}
h2:is(.st-key-recommendation *, [id^="section-"]) {font-size: 1.6rem;}
.katex-display {overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0.3rem; background:
  linear-gradient(to left, PAGE 60%, transparent) right -2px top / 3rem 100% no-repeat local,
  linear-gradient(to left, rgba(128, 128, 128, 0.6), transparent) right / 1rem 100% no-repeat;}
@media (max-width: 640px) {
  [data-testid="stHorizontalBlock"] {row-gap: 1rem;}
  .st-key-examples {flex-wrap: nowrap; overflow-x: auto;}
  .st-key-examples > * {flex: none;}
  .st-key-text-and-figure,
    .st-key-two-columns > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    {flex-direction: column-reverse;}
  .st-key-two-columns > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    > [data-testid="stColumn"] {width: 100%; min-width: 100%; flex: none;}
  [data-testid="stMainBlockContainer"] {padding-top: 4.2rem;}
  [data-testid="stMainBlockContainer"] h1 {font-size: 1.9rem; padding: 0.5rem 0;}
  .katex-display {font-size: 0.7em;}
  pre, pre code {white-space: pre-wrap !important; overflow-wrap: anywhere;}
}
@media (max-width: 900px) {
  .st-key-wide-figure [data-testid="stColumn"]:has(.fs-chart) {min-width: 100%;}
}
@media (max-width: 768px) {
  [data-testid="stMainBlockContainer"]::after
    {content: "FOOTER"; display: block; padding-top: 2rem; font-size: 0.8rem; opacity: 0.7;}
}
</style>"""

# Streamlit keeps the scroll position of the page before, so that a link at the bottom of one page
# would open the next one in its middle. It may also keep that page's parameters in the URL
# (`page_switch`). This element shows nothing. When the page changes it scrolls up and, as soon as
# the browser shows the path of the new page, corrects the parameters. The server cannot: until
# then, what it writes would go into the history entry of the page before.
PAGE_TOP = "page-top"
_arrive = st.components.v2.component(
    "fsdash_page_top",
    js="""
export default function ({ data }) {
  const before = window.fsdashPage ?? {};
  window.fsdashPage = { name: data.page, path: location.pathname };
  if (!before.name || before.name === data.page) return;
  document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
  const text = (parameters) => {
    const own = Object.entries(parameters).filter(([name]) => !data.shared.includes(name));
    return JSON.stringify(own.sort());
  };
  const end = performance.now() + 5000;
  const correct = () => {
    if (location.pathname === before.path) {
      if (performance.now() < end) requestAnimationFrame(correct);
      return;
    }
    window.fsdashPage.path = location.pathname;
    const shown = text(Object.fromEntries(new URLSearchParams(location.search)));
    if (!data.opened || shown !== text(data.left) || shown === text(data.opened)) return;
    const query = new URLSearchParams(data.opened).toString();
    history.replaceState(history.state, "", location.pathname + (query && `?${query}`));
  };
  correct();
}
""",
)


def open_page(title: str, url: UrlState, heading: str = "", sentence: str = "") -> bool:
    """Set up the page: its title and width, the sidebar, and the heading with its one sentence.

    `url` declares the parameters of the page's URL: they are read here, and a warning reports what
    a link holds that the page cannot use. Returns whether the visitor opened this URL or went back
    to it. The icon is an emoji, because the browser would load any other from another host.
    """
    st.set_page_config(page_title=f"{title} · fsdash", page_icon="❄️", layout="wide")
    footer = f"fsdash {__version__}, based on {AUTHORS}, {PAPER}."
    words = {
        "FOOTER": footer,
        "PAGE_TOP": f".st-key-{PAGE_TOP} {{display: none;}}",
        "STORAGE": browser_storage.STYLE,
        "PAGE": themed(BACKGROUND),
        "INK": themed(INK),
    }
    style = STYLE
    for word, value in words.items():
        style = style.replace(word, value)
    add_style(style)
    with st.sidebar:
        st.markdown("### ❄️ fsdash")
        _draw_links()
        st.divider()
        st.caption(f"fsdash {__version__}, based on {AUTHORS}, [{PAPER}]({PAPER_URL}).")
    on_tour = tour.PARAMETER in st.query_params or tour.POSITION in st.session_state
    was_read = url.read(opened=on_tour and tour.read_position())
    _arrive(key=PAGE_TOP, data={"page": url.page, "shared": SHARED, **page_switch()})
    url.report_unusable()
    if on_tour:
        tour.draw_bar()
    if PARAMETER in st.query_params:
        draw_asked(url)
    if heading:
        st.title(heading, anchor=False)
    if sentence:
        st.markdown(sentence)
    return was_read


def add_style(style: str) -> None:
    """Add CSS rules, given in <style>, without a visible element.

    Markdown is used because the browser loads its code with the first text. The code for `st.html`
    arrives later, and the page would jump.
    """
    st.markdown(style, unsafe_allow_html=True)


def two_columns(controls: int, figures: int) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two columns with these shares of the width: controls on the left, figures on the right."""
    with st.container(key="two-columns"):
        left, right = st.columns([controls, figures], gap="large")
    return left, right


def segments(url: UrlState, name: str, label: str, options: Mapping[str, str], **more: Any) -> str:
    """One of a few options side by side; `options` holds the label of each name in the URL."""
    return st.segmented_control(
        label,
        tuple(options),
        default=url.parameters[name].default,
        required=True,
        format_func=options.get,
        key=url.key(name),
        **more,
    )


def popover(keys: Iterable[str], label: str, **more: Any) -> DeltaGenerator:
    """A popover for the widgets with these keys; draw them only while it is `open`.

    The browser has no widgets of a closed popover. A value that the server sets there is lost, and
    the browser would send the previous one, or the default. So a closed popover has no widgets, and
    the session keeps their values.
    """
    own_key = f"popover-{label}"
    box = st.popover(label, key=own_key, on_change="rerun", **more)
    was_open = st.session_state.get(f"{own_key}-open", False)
    if not (box.open and was_open):
        keep_values(keys)
    st.session_state[f"{own_key}-open"] = box.open
    return box


def keep_values(keys: Iterable[str]) -> None:
    """Keep the values of widgets that are not drawn now."""
    for key in keys:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def _draw_links() -> None:
    for page in available_pages():
        st.page_link(page.script, label=page.title, icon=page.icon)


# ------------------------------------------------------------------- notes, tabs, and the tools row

NOTICE_TITLE, EXERCISES_TITLE, SYMBOLS_TITLE = "What to notice", "Exercises", "Symbols"


def what_to_notice(points: Iterable[str], key: str = "notice", about: str = "") -> None:
    """Two or three sentences about a figure; each list of a page needs its own key.

    `about` names the figure if there are several.
    """
    with st.container(key=key):
        st.markdown(f"**{NOTICE_TITLE}**" + (f": {escape_markdown(about)}" if about else ""))
        st.markdown("\n".join(f"- {point}" for point in points))


def open_tab(
    url: UrlState, labels: Mapping[str, str], names: Mapping[str, Iterable[str]]
) -> tuple[str, DeltaGenerator]:
    """The tabs of a page: the name of the open one, and its container; only it is drawn.

    `names` are the parameters of the widgets in each tab, whose values survive while it is closed.
    """
    boxes = st.tabs(list(labels.values()), key=url.key("tab"), on_change="rerun")
    name, box = next(pair for pair in zip(labels, boxes, strict=True) if pair[1].open)
    before = st.session_state.get(f"{url.page}-open-tab")
    for tab, own in names.items():
        if not tab == name == before:
            keep_values(map(url.key, own))
    st.session_state[f"{url.page}-open-tab"] = name
    return name, box


def tools(page: str, url: UrlState, symbols: Iterable[str] = ()) -> DeltaGenerator:
    """One row of small buttons at the end of a page: exercises and symbols, after its exports.

    Returns the container for the exports.
    """
    with st.container(horizontal=True, gap="small", key="tools"):
        exports = st.container(horizontal=True, gap="small", width="content")
        exercises(page, url)
        if symbols:
            glossary(symbols)
    return exports


@st.fragment
def exercises(page: str, url: UrlState) -> None:
    """A button for the exercises of a page or of its open tab."""
    box = st.popover(EXERCISES_TITLE, icon=":material/school:", key="exercises", on_change="rerun")
    if box.open:
        with box:
            draw_exercises(page, url)


@st.fragment
def glossary(symbols: Iterable[str]) -> None:
    """A button for the table of a page's symbols and their meaning."""
    box = st.popover(SYMBOLS_TITLE, icon=":material/menu_book:", key="symbols", on_change="rerun")
    if box.open:
        rows = [f"| ${SYMBOLS[key].latex}$ | {SYMBOLS[key].meaning} |" for key in symbols]
        box.markdown("\n".join(["| | |", "|---|---|", *rows]))
