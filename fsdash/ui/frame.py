"""The frame of every page: title, sidebar links, width, footer.

Each page is self-sufficient (a link may lead straight to it), so each opens with `open_page`.
"""

import streamlit as st

from fsdash.version import __version__

PAPER = (
    "Y. Wang and D. R. Jiang, “Faster Reinforcement Learning by Freezing Slow States”, "
    "[arXiv:2301.00922](https://arxiv.org/abs/2301.00922)"
)

# File, title, icon. A new page is one line here.
LINKS = (("app.py", "Home", "❄️"),)

# Lines of text longer than this are hard to read, and figures gain nothing from more. The upper
# padding leaves room for the toolbar and no more.
STYLE = """<style>
[data-testid="stMainBlockContainer"] {max-width: 1240px; padding-top: 3rem;}
[data-testid="stMarkdownContainer"] p, [data-testid="stMarkdownContainer"] li {max-width: 44rem;}
</style>"""


def open_page(title: str, icon: str) -> None:
    """Set up the page: its title and width, the sidebar's links, and the footer below them.

    The footer stands in the sidebar because a page draws its body after this call.
    """
    st.set_page_config(page_title=f"{title} · fsdash", page_icon=icon, layout="wide")
    st.html(STYLE)
    with st.sidebar:
        st.markdown("### fsdash")
        _draw_links()
        st.divider()
        st.caption(f"fsdash {__version__}, after {PAPER}.")


def _draw_links() -> None:
    # While there is no pages/ folder, Streamlit knows no page to link to, not even this one.
    if len(LINKS) == 1:
        _, label, mark = LINKS[0]
        st.markdown(f"{mark} {label}")
        return
    for target, label, mark in LINKS:
        st.page_link(target, label=label, icon=mark)


def is_dark() -> bool:
    """Whether this visitor sees the dark theme."""
    return st.context.theme.type == "dark"
