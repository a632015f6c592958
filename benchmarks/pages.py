"""Times of the dashboard's pages: `python -m benchmarks.pages` (`--no-browser`: the server only).

    server        from a changed control to the new figures as they are sent to the browser: the
                  pages' own functions with random settings, dark and light; also the processor
                  time, which other work on the machine does not change
    key press     in a real Chromium, from the key to the redrawn figure
    opening       from opening a page on a warm server to the first paint, to the page's title and
                  to the first figure; the last as a multiple of the title's time as well
    first point   in the Run lab, from the click on Start to the first point of a learning curve

Targets: 95% of the server times within 100 ms, first paint within 2 s, the first figure within 1.6
times the time of the title, the first point on inventory within 1 s. Nothing fails on a slow
machine: targets are printed as met or not. The multiple hardly depends on the machine's speed.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from playwright.sync_api import BrowserContext, Page, sync_playwright

from benchmarks import report
from fsdash.dashboard.bounds import state as bounds
from fsdash.dashboard.run_lab.text import START
from fsdash.dashboard.shell import NOTICE_TITLE
from fsdash.dashboard.widgets.chart import payload
from fsdash.dashboard.widgets.controls import ITERATIONS
from fsdash.figures import levels
from fsdash.figures.linear_architecture import fsavi_figure, fsavi_terms_figure
from fsdash.figures.reward_error import ceiling_figure, reward_error_figure
from fsdash.figures.timescales import timescales_svg
from fsdash.theory import Constants, Sizes
from fsdash.theory.sensitivity import VARIABLE
from tools.browser import REMEDY, find_browser

ROOT = Path(__file__).parents[1]
SETTINGS, PRESSES, VISITS, STARTS = 200, 20, 5, 5
SERVER_TARGET, PAINT_TARGET, POINT_TARGET = 100.0, 2000.0, 1000.0
FIGURE_TARGET = 1.6  # times of the title
PAGE_TIMEOUT_MS = 120_000

# Records the times of the key press and of the change that follows.
WATCH_FIGURE = """node => {
  document.addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
  node.on("plotly_afterplot", () => { window.changed = performance.now(); });
}"""
WATCH_PICTURE = """node => {
  document.addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
  new MutationObserver(() => { window.changed = performance.now(); })
    .observe(document.body, {subtree: true, childList: true, attributeFilter: ["src"]});
}"""
LAB_PLANS = ("quick-look", "paper-inventory")
FIRST_POINT = """() => document.querySelector(
  ".st-key-curves .scatterlayer path.js-line, .st-key-curves .scatterlayer path.point")"""
# Runs before the page's own scripts and records when the title and the first figure appear.
MARK_TIMES = """{
  const seen = {title: "[data-testid=stMain] h1", figure: "FIGURE"};
  window.times = {};
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(seen))
      if (document.querySelector(selector)) window.times[name] ??= performance.now();
  }).observe(document, {subtree: true, childList: true});
}"""
OPENING_TIMES = """() => [
  performance.getEntriesByName("first-contentful-paint")[0].startTime,
  window.times.title, window.times.figure]"""


@dataclass(frozen=True)
class Visit:
    """A page: its computation, its address, the control to press and the element that changes."""

    name: str
    path: str
    compute: Callable[[np.random.Generator], None]
    control: str
    keys: tuple[str, str]
    drawn: str = ".js-plotly-plot:has(.main-svg)"
    watch: str = WATCH_FIGURE


# -------------------------------------------------------------------- the pages' computations


def random_constants(rng: np.random.Generator) -> Constants:
    return Constants(
        gamma=rng.uniform(0.5, 0.999),
        alpha=rng.uniform(0, 1),
        d_y=rng.uniform(0, 5),
        l_r=rng.uniform(0, 2),
        l_f=rng.uniform(0.5, 1.5),
        l_u=rng.uniform(0, 2),
        r_max=rng.uniform(0.1, 20),
    )


def home(rng: np.random.Generator) -> None:
    T = int(rng.integers(1, 13))
    for width in (700, 360):  # one for wide screens, one for narrow ones
        timescales_svg(T, width)
        levels.lower_level_svg(T, 0, width)
        levels.upper_level_svg(T, 0, width=width)


def reward_error_page(rng: np.random.Generator) -> None:
    constants = random_constants(rng)
    last = int(rng.choice((10, 50, 150, 500)))
    T = int(rng.integers(1, 151))
    payload(reward_error_figure(constants, np.arange(1, last + 1), T), "error")
    payload(ceiling_figure(constants, T), "ceiling")


def regret_page(rng: np.random.Generator) -> None:
    sizes = Sizes(**{n: int(rng.integers(2, 200)) for n in Sizes.__annotations__})
    T = tuple(sorted({int(t) for t in rng.integers(2, 101, size=rng.integers(1, 9))}))
    sweeps = float(10 ** rng.uniform(-0.2, 4))
    every, repaired = bool(rng.integers(2)), bool(rng.integers(2))
    constants = replace(random_constants(rng), l_frozen=rng.uniform(1, 1.5) if repaired else None)
    view = bounds.RegretState(constants, sizes, sweeps, T, every, repaired)
    payload(bounds.main_figure(view), "regret-cost")
    # One tab of two is open, and only that one is computed.
    if rng.integers(2):
        payload(bounds.terms_figure(view), "terms")
    else:
        payload(bounds.heat_map(view, str(rng.choice(list(VARIABLE))))[0], "best-T")


def linear_page(rng: np.random.Generator) -> None:
    constants = random_constants(rng)
    T, k = int(rng.integers(1, 41)), int(rng.choice(ITERATIONS))
    kappa = rng.uniform(1, min(1.1, 0.999 / constants.gamma))
    fit = {"kappa": kappa, "eps_low": rng.uniform(0, 5), "eps_up": rng.uniform(0, 5)}
    payload(fsavi_figure(constants, np.arange(1, 41), T, k, fit), "bound")
    payload(fsavi_terms_figure(constants, T, k, fit), "terms")


ARROWS = ("ArrowRight", "ArrowLeft")
PAGES = (
    Visit("Home", "/", home, "slider", ARROWS, "img.fs-picture:visible", WATCH_PICTURE),
    Visit("Reward error", "/Bounds", reward_error_page, "slider", ARROWS),
    Visit("Regret", "/Bounds?tab=regret", regret_page, "spinbutton", ("ArrowUp", "ArrowDown")),
    Visit("Linear architecture", "/Bounds?tab=linear", linear_page, "slider", ARROWS),
)


# ------------------------------------------------------------------------------------- measuring


def server_times(visit: Visit) -> tuple[np.ndarray, np.ndarray]:
    """Elapsed and processor milliseconds, for many random settings."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        visit.compute(rng)
    times = np.empty((SETTINGS, 2))
    for i in range(SETTINGS):
        start = time.perf_counter(), time.process_time()
        visit.compute(rng)
        times[i] = time.perf_counter() - start[0], time.process_time() - start[1]
    return 1e3 * times[:, 0], 1e3 * times[:, 1]


def key_times(page: Page, visit: Visit) -> np.ndarray:
    """Milliseconds from a key to the redrawn figure."""
    page.locator(visit.drawn).first.evaluate(visit.watch)
    control = page.locator("[data-testid=stMain]").get_by_role(visit.control).first
    times = np.empty(PRESSES)
    for i in range(PRESSES):
        control.press(visit.keys[i % 2])
        page.wait_for_function("() => window.changed > window.pressed", timeout=PAGE_TIMEOUT_MS)
        times[i] = page.evaluate("() => window.changed - window.pressed")
        # Later changes caused by this key must not be taken for the response to the next one.
        page.wait_for_timeout(500)
    return times


def opening_times(context: BrowserContext, url: str, visit: Visit) -> tuple[Page, np.ndarray]:
    """First paint, title and first figure in milliseconds by visit; the last page stays open.

    The first visit fills the server's and the browser's caches and is left out.
    """
    times = []
    context.add_init_script(MARK_TIMES.replace("FIGURE", visit.drawn.removesuffix(":visible")))
    for i in range(VISITS + 1):
        page = context.new_page()
        page.goto(url + visit.path)
        page.locator(visit.drawn).first.wait_for(timeout=PAGE_TIMEOUT_MS)
        times.append(page.evaluate(OPENING_TIMES))
        if i < VISITS:
            page.close()
    return page, np.array(times[1:])


def point_times(context: BrowserContext, url: str, plan: str) -> np.ndarray:
    """Milliseconds from the click on Start to the first point, with idle, started workers."""
    times = np.empty(STARTS)
    for i in range(STARTS):
        page = context.new_page()
        page.goto(f"{url}/Run_lab?preset={plan}")
        page.locator(".st-key-example .main-svg").first.wait_for(timeout=PAGE_TIMEOUT_MS)
        button = page.get_by_role("button", name=START, exact=True)
        button.hover()
        began = time.perf_counter()
        button.click()
        page.wait_for_function(FIRST_POINT, timeout=PAGE_TIMEOUT_MS, polling=10)
        times[i] = 1e3 * (time.perf_counter() - began)
        page.get_by_text(NOTICE_TITLE).first.wait_for(timeout=PAGE_TIMEOUT_MS)
        page.close()
    return times


@contextmanager
def serving(**environment: str) -> Iterator[str]:
    """A dashboard on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "fsdash", "dashboard", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, env=os.environ | environment
    )
    url = f"http://127.0.0.1:{port}"
    try:
        while server.poll() is None:
            try:
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)


def load() -> str:
    """The load of the last minute and the number of processors; above it, times mean little."""
    return f"{os.getloadavg()[0]:.1f} of {os.cpu_count()}"


def percentiles(times: np.ndarray) -> tuple[str, str]:
    middle, late = np.percentile(times, [50, 95])
    return report.number(middle), report.number(late)


def server_rows() -> list[report.Row]:
    rows = []
    for visit in PAGES:
        clock, processor = server_times(visit)
        p50, p95 = percentiles(clock)
        rows.append(
            {
                "page": visit.name,
                "server p50, ms": p50,
                "server p95, ms": p95,
                "target": f"≤ {SERVER_TARGET:g}",
                "met": "yes" if np.percentile(clock, 95) <= SERVER_TARGET else "no",
                "processor p95, ms": percentiles(processor)[1],
                "load": load(),
            }
        )
    return rows


def browser_rows() -> tuple[list[report.Row], list[report.Row]]:
    """Two tables: one row per theory page, and one row per plan of the Run lab."""
    path = find_browser()
    if path is None:
        sys.exit(REMEDY)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    rows, points = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(FSDASH_DATA=folder) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        for visit in PAGES:
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page, opened = opening_times(context, url, visit)
            paint, title, figure = np.median(opened, axis=0)
            multiple = np.median(opened[:, 2] / opened[:, 1])
            p50, p95 = percentiles(key_times(page, visit))
            rows.append(
                {
                    "page": visit.name,
                    "key press p50, ms": p50,
                    "key press p95, ms": p95,
                    "first paint, ms": report.number(paint),
                    "title, ms": report.number(title),
                    "first figure, ms": report.number(figure),
                    "figure ÷ title": f"{multiple:.2f}",
                    "target": f"paint < {PAINT_TARGET:g}, figure ≤ {FIGURE_TARGET:g} × title",
                    "met": "yes" if paint < PAINT_TARGET and multiple <= FIGURE_TARGET else "no",
                    "load": load(),
                }
            )
            context.close()
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        point_times(context, url, LAB_PLANS[0])  # the first visitor starts the workers
        for plan in LAB_PLANS:
            p50, p95 = percentiles(found := point_times(context, url, plan))
            points.append(
                {
                    "plan": plan,
                    "first point p50, ms": p50,
                    "first point p95, ms": p95,
                    "target": f"< {POINT_TARGET:g}",
                    "met": "yes" if np.percentile(found, 95) < POINT_TARGET else "no",
                    "load": load(),
                }
            )
        browser.close()
    return rows, points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-browser", action="store_true", help="measure the server only")
    options = parser.parse_args()
    tables = {"pages": server_rows()}
    print(report.markdown(tables["pages"]))
    if not options.no_browser:
        tables["pages_browser"], tables["first_point"] = browser_rows()
        for name in ("pages_browser", "first_point"):
            print("\n" + report.markdown(tables[name]))
    for name, rows in tables.items():
        report.save(name, rows)


if __name__ == "__main__":
    main()
