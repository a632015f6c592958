"""Load test: a class of visitors on one server, who run quick looks and move controls.

    python -m benchmarks.room --sessions 100 --minutes 10

One visitor arrives per second. Each has two tabs, which speak Streamlit's protocol as a browser
does. The first tab starts the lab's quick look on inventory again and again. The second moves a
control of a theory page about every five seconds. The benchmark reports errors, the seconds from
the click to the first numbers, the experiments that each visitor finished (no visitor may starve),
the seconds until a control responds while the workers are busy, and the server's memory. The
simulated visitors use the same machine as the server and its workers, so a real class is served
somewhat faster.

Targets, printed as met or not: 95% of the controls are answered within 2 s and 95% of the first
numbers arrive within 10 s, there are no errors, and from the middle of the time, when everybody has
arrived, to its end the server's memory grows by at most 5%. The memory over time is in
results/room_memory.csv.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from benchmarks.report import Row, markdown, number, save, target
from fsdash.dashboard.shell import NOTICE_TITLE

ROOT = Path(__file__).parents[1]
ARRIVALS = 1.0
"""Seconds between two arrivals."""
THINKING = 5.0
"""Mean seconds between two moves of a control."""
REPLY_TIMEOUT = 120
CONTROL_TARGET, NUMBERS_TARGET, MEMORY_TARGET = 2.0, 10.0, 0.05
"""Seconds at the 95th percentile, twice, and the share by which memory may grow."""
MOVES = {
    "Bounds": ("bounds.T", "double_array_value", lambda i: [float(i % 140 + 1)]),
    "Choose_T": ("choose-t.budget", "double_value", lambda i: float(i % 60 + 1)),
}
"""By page: a control, the type of its value in the protocol, and the value of move i."""
NUMBERS = re.compile(r'data-head="Final">[−\d]')
"""A final value in the table of methods."""


@dataclass
class Tab:
    """One connection and the state of its page."""

    socket: object
    page: str
    query: str = ""
    page_hash: str = ""
    widgets: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By key: the widget's id and its fragment."""
    texts: list[str] = field(default_factory=list)
    errors: int = 0
    intervals: dict[str, float] = field(default_factory=dict)
    """By fragment: seconds until its next refresh."""

    async def rerun(self, key: str = "", fragment: str = "", auto: bool = False, **value) -> float:
        """Run the page, or the fragment of a widget; return the seconds that it took."""
        message = BackMsg()
        state = message.rerun_script
        # Like a browser: by name until the server has sent the hash of the page.
        state.page_name = "" if self.page_hash else self.page
        state.page_script_hash, state.query_string = self.page_hash, self.query
        state.fragment_id, state.is_auto_rerun = fragment, auto
        if key:
            widget = state.widget_states.widgets.add()
            widget.id, state.fragment_id = self.widgets[key]
            for name, content in value.items():
                if isinstance(content, list):
                    getattr(widget, name).data.extend(content)
                else:
                    setattr(widget, name, content)
        if not state.fragment_id:
            self.intervals.clear()
        began = time.monotonic()
        self.texts.clear()
        await self.socket.send(message.SerializeToString())
        while not await self._receive():
            pass
        return time.monotonic() - began

    async def _receive(self) -> bool:
        """Process one message; return whether it ended a run."""
        message = ForwardMsg()
        message.ParseFromString(await asyncio.wait_for(self.socket.recv(), REPLY_TIMEOUT))
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self.intervals[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "delta":
            self._element(message.delta)
        if kind != "script_finished":
            return False
        again = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if again:  # the whole page runs once more and sends new intervals
            self.intervals.clear()
        return not again

    def _element(self, delta) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        content = getattr(element, kind) if kind else None
        if kind == "exception":
            self.errors += 1
        elif kind in ("html", "markdown"):
            self.texts.append(content.body)
        elif kind in ("button", "slider", "number_input"):
            self.widgets[content.id.split("-", 2)[2]] = content.id, delta.fragment_id

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@dataclass
class Visitor:
    """The measurements of one visitor."""

    first: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    answers: dict[str, list[float]] = field(default_factory=dict)
    """By page: seconds until a control responded."""
    errors: list[str] = field(default_factory=list)


async def run_quick_looks(url: str, cookie: str, until: float, seen: Visitor) -> None:
    async with _connected(url, cookie) as socket:
        tab = Tab(socket, "Run_lab")
        await tab.rerun()
        while time.monotonic() < until:
            began = time.monotonic()
            await tab.rerun("start", trigger_value=True)
            numbers = False
            while NOTICE_TITLE not in tab.text:
                if not numbers and NUMBERS.search(tab.text):
                    numbers = True
                    seen.first.append(time.monotonic() - began)
                if tab.errors or not tab.intervals:
                    await asyncio.sleep(1)
                    await tab.rerun()
                    continue
                fragment, interval = next(iter(tab.intervals.items()))
                await asyncio.sleep(interval)
                await tab.rerun(fragment=fragment, auto=True)
            if not numbers:
                seen.first.append(time.monotonic() - began)
            seen.done.append(time.monotonic() - began)
            if tab.errors:
                seen.errors.append(f"{tab.errors} exceptions in the lab")
                tab.errors = 0


async def move_controls(url: str, cookie: str, until: float, seen: Visitor) -> None:
    page = secrets.choice(list(MOVES))
    control, kind, value = MOVES[page]
    async with _connected(url, cookie) as socket:
        tab = Tab(socket, page)
        await tab.rerun()
        i = secrets.randbelow(100)
        while time.monotonic() < until:
            await asyncio.sleep(THINKING * (0.5 + secrets.randbelow(1000) / 1000))
            i += 1
            seen.answers.setdefault(page, []).append(await tab.rerun(control, **{kind: value(i)}))
        if tab.errors:
            seen.errors.append(f"{tab.errors} exceptions on {page}")


def _connected(url: str, cookie: str):
    return connect(
        url.replace("http", "ws") + "/_stcore/stream",
        subprotocols=["streamlit"],
        origin=url,
        additional_headers={"Cookie": f"fsdash_visitor={cookie}"},
        max_size=None,
        ping_interval=None,  # like a browser, which waits
    )


async def visit(url: str, until: float, after: float = 0.0) -> Visitor:
    await asyncio.sleep(after)
    seen, cookie = Visitor(), secrets.token_hex(10)
    tabs = (run_quick_looks, move_controls)
    ended = await asyncio.gather(
        *(tab(url, cookie, until, seen) for tab in tabs), return_exceptions=True
    )
    seen.errors += [f"{type(e).__name__}: {e}" for e in ended if isinstance(e, BaseException)]
    return seen


# ------------------------------------------------------------------------------------------ server


def serve(folder: str) -> tuple[subprocess.Popen, str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "FSDASH_DATA": folder, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "fsdash", "dashboard", "--port", str(port)]
    with (Path(folder) / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    for _ in range(3000):  # the first start compiles the numerical kernels
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).close()
            return process, url
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


async def room(url: str, pid: int, sessions: int, minutes: float) -> tuple[list[Visitor], list]:
    await visit(url, time.monotonic())  # starts the workers
    memory = [(0.0, megabytes(pid))]
    began = time.monotonic()
    until = began + ARRIVALS * sessions + 60 * minutes
    visitors = [asyncio.create_task(visit(url, until, i * ARRIVALS)) for i in range(sessions)]
    while not all(task.done() for task in visitors):
        await asyncio.wait(visitors, timeout=10)
        memory.append((time.monotonic() - began, megabytes(pid)))
    return [task.result() for task in visitors], memory


def summary(visitors: list[Visitor], memory: list[tuple[float, float]]) -> list[dict[str, str]]:
    first, done = (
        np.array([x for v in visitors for x in getattr(v, name)]) for name in ("first", "done")
    )
    answers = {
        page: np.array([x for v in visitors for x in v.answers.get(page, [])]) for page in MOVES
    }
    every = np.concatenate(list(answers.values()))
    finished = [len(v.done) for v in visitors]
    half = [m for t, m in memory if t >= memory[-1][0] / 2]
    rows = {
        "sessions": str(len(visitors)),
        "errors": str(sum(len(v.errors) for v in visitors)),
        "experiments finished": f"{sum(finished):,}, "
        f"each visitor {min(finished)} to {max(finished)}",
        "click to first numbers, s": _spread(first),
        "click to end of run, s": _spread(done),
        "control responds, s": f"{_spread(every)} ({len(every):,} moves)",
        **{f"control responds, {page}, s": _spread(times) for page, times in answers.items()},
        "server memory, MB": f"{number(memory[0][1])} at the start, {number(half[0])} half way, "
        f"{number(memory[-1][1])} at the end",
    }
    return [{"measure": name, "value": value} for name, value in rows.items()]


def targets(visitors: list[Visitor], memory: list[tuple[float, float]]) -> list[Row]:
    """What was promised, what was measured, and whether it was met."""
    answers = [x for v in visitors for times in v.answers.values() for x in times]
    first = [x for v in visitors for x in v.first]
    errors = sum(len(v.errors) for v in visitors)
    half = next(m for t, m in memory if t >= memory[-1][0] / 2)
    growth = memory[-1][1] / half - 1
    return [
        target("control responds, 95th percentile, s", _p95(answers), "≤ 2", CONTROL_TARGET),
        target("click to first numbers, 95th percentile, s", _p95(first), "≤ 10", NUMBERS_TARGET),
        target("errors", errors, "≤ 0", 0),
        target("growth of memory in the second half", growth, "≤ 0.05", MEMORY_TARGET),
    ]


def _p95(values: list[float]) -> float:
    """The 95th percentile; infinity if nothing was measured."""
    return float(np.percentile(values, 95)) if values else np.inf


def _spread(values: np.ndarray) -> str:
    if not len(values):
        return "—"
    p50, p95 = np.percentile(values, [50, 95])
    return f"p50 {number(p50)}, p95 {number(p95)}, max {number(values.max())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server, url = serve(folder)
        try:
            visitors, memory = asyncio.run(room(url, server.pid, options.sessions, options.minutes))
        finally:
            server.terminate()
            server.wait(timeout=30)
    rows = summary(visitors, memory)
    rows.append({"measure": "minutes", "value": f"{options.minutes:g}"})
    rows.append({"measure": "load average at the end", "value": f"{os.getloadavg()[0]:.1f}"})
    print(markdown(rows))
    print(f"\n{markdown(targets(visitors, memory))}")
    for error in sorted({error for visitor in visitors for error in visitor.errors}):
        print(error, file=sys.stderr)
    save("room", rows)
    save("room_memory", [{"seconds": f"{t:.0f}", "MB": f"{m:.1f}"} for t, m in memory])


if __name__ == "__main__":
    main()
