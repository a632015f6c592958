"""Every page opens at its top.

Streamlit keeps the scroll position of the page before, so that a link at the bottom of one page
opens the next one in its middle. The browser scrolls up whenever the page changes, and only then.
"""

import streamlit as st

_KEY = "page-top"
_SCRIPT = """
export default function ({ data }) {
  const before = window.fsdashPage;
  window.fsdashPage = data.page;
  if (before && before !== data.page) document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
}
"""
_component = st.components.v2.component("fsdash_page_top", js=_SCRIPT)
STYLE = f".st-key-{_KEY} {{display: none;}}"
"""CSS rule that keeps the component, which shows nothing, from taking space."""


def open_at_top(page: str) -> None:
    """Scroll to the top if the browser showed another page before; `page` is this one's name."""
    _component(key=_KEY, data={"page": page})
