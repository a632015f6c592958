"""The frame of every page: title, sidebar links, width, footer.

Each page is self-sufficient (a link may lead straight to it), so each opens with `open_page`.
"""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fsdash.dashboard.server import app_folder
from fsdash.dashboard.widgets.address import report
from fsdash.dashboard.widgets.url_state import UrlState
from fsdash.figures.palette import BACKGROUND
from fsdash.version import __version__

AUTHORS = "Y. Wang and D. R. Jiang, “Faster Reinforcement Learning by Freezing Slow States”"
PAPER = "arXiv:2301.00922"
ADDRESS = "https://arxiv.org/abs/2301.00922"

ROOT = app_folder()
# Groups of pages: file, title, icon. A new page is one line here, and shown once its file exists.
LINKS = {
    "Start": (("app.py", "Home", ":material/ac_unit:"),),
    "Theory": (
        ("pages/1_Reward_error.py", "Reward error", ":material/show_chart:"),
        ("pages/2_Choose_T.py", "Choose T", ":material/target:"),
        ("pages/3_Linear_architecture.py", "Linear architecture", ":material/stacked_bar_chart:"),
    ),
    "Practice": (
        ("pages/4_Run_lab.py", "Run lab", ":material/experiment:"),
        ("pages/5_Policy_inspector.py", "Policy inspector", ":material/grid_view:"),
        ("pages/6_Runs.py", "Runs", ":material/list_alt:"),
        ("pages/7_Reproduction.py", "Reproduction", ":material/fact_check:"),
    ),
}

# Lines of text longer than this are hard to read, and figures gain nothing from more. The upper
# padding leaves room for the toolbar and no more. A long formula has a shadow where it goes on (the
# first gradient moves along and covers it at the end). On a narrow screen a figure comes before its
# controls, formulas are smaller, and the footer stands below the page, since the sidebar is shut.
STYLE = """<style>
[data-testid="stElementContainer"]:has([data-testid="stMarkdownContainer"] > style) {display: none;}
[data-testid="stMainBlockContainer"] {max-width: 1240px; padding-top: 3rem;}
[data-testid="stMarkdownContainer"] p, [data-testid="stMarkdownContainer"] li {max-width: 44rem;}
[data-testid="stPageLink-NavLink"] {height: auto;}
[data-testid="stPageLink-NavLink"] * {white-space: normal; overflow: visible;}
.katex-display {overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0; background:
  linear-gradient(to left, PAGE 60%, transparent) right -2px top / 3rem 100% no-repeat local,
  linear-gradient(to left, rgba(128, 128, 128, 0.6), transparent) right / 1rem 100% no-repeat;}
@media (max-width: 640px) {
  .st-key-two-columns > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    {flex-direction: column-reverse;}
  .st-key-two-columns > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    > [data-testid="stColumn"] {width: 100%; min-width: 100%; flex: none;}
  [data-testid="stMainBlockContainer"] {padding-top: 4.2rem;}
  .katex-display {font-size: 0.7em;}
}
@media (max-width: 768px) {
  [data-testid="stMainBlockContainer"]::after
    {content: "FOOTER"; display: block; padding-top: 2rem; font-size: 0.8rem; opacity: 0.7;}
}
</style>"""


def open_page(
    title: str,
    url: UrlState | None = None,
    *,
    icon: str = "❄️",
    parameters: UrlState | Mapping | None = None,
) -> bool:
    """Set up the page: its title and width, the sidebar's links, and the footer below them.

    `url` declares the parameters of the page's URL: they are read here, and a warning reports what
    a link holds that the page cannot use. Returns whether the visitor opened this URL or went back
    to it. `parameters` is the former name. The footer stands in the sidebar because a page draws
    its body after this call. The icon is an emoji: the browser would ask another host for any
    other.
    """
    st.set_page_config(page_title=f"{title} · fsdash", page_icon=icon, layout="wide")
    footer = f"fsdash {__version__}, after {AUTHORS}, {PAPER}."
    add_style(STYLE.replace("FOOTER", footer).replace("PAGE", BACKGROUND.on(is_dark())))
    with st.sidebar:
        st.markdown("### ❄️ fsdash")
        _draw_links()
        st.divider()
        st.caption(f"fsdash {__version__}, after {AUTHORS}, [{PAPER}]({ADDRESS}).")
    url = url or (parameters if isinstance(parameters, UrlState) else None)
    if url is not None:
        was_read = url.read()
        url.report_unusable()
        return was_read
    report(title, parameters or {})
    return False


def add_style(style: str) -> None:
    """Rules for the page's looks, in <style>, without an element to be seen.

    By way of Markdown, which the browser loads for the first text of all; it loads what `st.html`
    needs later, and the page would jump.
    """
    st.markdown(style, unsafe_allow_html=True)


def two_columns(controls: int, figures: int) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two columns with these shares of the width: controls on the left, figures on the right."""
    with st.container(key="two-columns"):
        left, right = st.columns([controls, figures], gap="large")
    return left, right


def pages_there() -> dict[str, tuple[tuple[str, str, str], ...]]:
    """The groups of links, without pages that are not there (yet)."""
    there = {
        group: tuple(link for link in links if (ROOT / link[0]).exists())
        for group, links in LINKS.items()
    }
    return {group: links for group, links in there.items() if links}


def _draw_links() -> None:
    for group, links in pages_there().items():
        if group != "Start":
            st.caption(group)
        for target, label, mark in links:
            st.page_link(target, label=label, icon=mark)


def is_dark() -> bool:
    """Whether this visitor sees the dark theme."""
    return st.context.theme.type == "dark"
