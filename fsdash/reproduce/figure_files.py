"""Figures as files: always HTML; PNG and SVG if Playwright and a Chromium are installed.

If one of them is missing, `Renderer.missing` says so in one line.
"""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from urllib.parse import unquote

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = (1100, 640)
TOP = 130
"""Margin above a figure, in pixels, for its title and a legend of up to three lines."""


def titled(figure: go.Figure, title: str) -> go.Figure:
    """Add a title and a white background, so that the figure can be shown on its own."""
    figure.update_layout(
        title={"text": f"<b>{title}</b>", "x": 0.01, "y": 0.98, "yanchor": "top"},
        margin={"t": TOP, "l": 20, "r": 24, "b": 20},
        paper_bgcolor="white",
        plot_bgcolor="white",
    )
    return figure


class Renderer:
    """Renders figures in one browser; use it in a `with` statement."""

    def __init__(self) -> None:
        self.missing = ""
        self._page = None

    def __enter__(self) -> Renderer:
        try:
            from playwright.sync_api import Error, sync_playwright
        except ImportError:
            self.missing = "no PNG and SVG: Playwright is not installed (pip install playwright)"
            return self
        self._playwright = sync_playwright().start()
        try:
            self._browser = self._playwright.chromium.launch(
                executable_path=_browser(), args=["--no-sandbox"]
            )
        except Error:
            self._playwright.stop()
            self.missing = "no PNG and SVG: no Chromium was found (name one in FSDASH_BROWSER)"
            return self
        self._page = self._browser.new_page()
        self._page.set_content("<div id=figure></div>")
        self._page.add_script_tag(content=get_plotlyjs())
        return self

    def __exit__(self, *_: object) -> None:
        if self._page is not None:
            self._browser.close()
            self._playwright.stop()

    def save(self, figure: go.Figure, folder: Path, name: str) -> list[str]:
        """Write the figure in every available format and return the names of the files."""
        width, height = SIZE
        figure.write_html(folder / f"{name}.html", include_plotlyjs=True, full_html=True)
        files = [f"{name}.html"]
        if self._page is None:
            return files
        for form, scale in (("svg", 1), ("png", 2)):
            url = self._page.evaluate(
                "([figure, options]) => Plotly.toImage(JSON.parse(figure), options)",
                [
                    figure.to_json(),
                    {"format": form, "width": width, "height": height, "scale": scale},
                ],
            )
            kind, _, data = url.partition(",")
            content = base64.b64decode(data) if "base64" in kind else unquote(data).encode()
            (folder / f"{name}.{form}").write_bytes(content)
            files.append(f"{name}.{form}")
        return files


def _browser() -> str | None:
    """The path of an installed Chromium; None for the one that Playwright installs."""
    named = os.environ.get("FSDASH_BROWSER")
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)
