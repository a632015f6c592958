"""A room of visitors on one server: everybody runs quick looks and moves controls meanwhile.

    python -m benchmarks.room --sessions 30 --minutes 2

Visitors come in one a second. Each has two tabs, two connections that speak Streamlit's protocol as
a browser does. One starts the lab's quick look on inventory again and again; the other moves a
control of a theory page every five seconds. Counted are errors, the seconds from a click
to the first numbers, the runs that each visitor got done (nobody may starve), the seconds until a
control is answered while the workers are busy, and the server's memory. The visitors need processor
time too: they share the machine with the server and its workers, so the numbers are on the careful
side.
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

from benchmarks.report import markdown, number, save
from fsdash.dashboard.shell import NOTICE_TITLE

ROOT = Path(__file__).parents[1]
ARRIVALS = 1.0
"""Seconds between two visitors who come in."""
THINKING = 5.0
"""Seconds between two moves of a slider."""
REPLY_TIMEOUT = 120
MOVES = {
    "Reward_error": ("T", "double_array_value", lambda i: [float(i % 140 + 1)]),
    "Choose_T": ("budget", "double_value", lambda i: float(i % 60 + 1)),
    "Linear_architecture": ("T", "double_array_value", lambda i: [float(i % 40 + 1)]),
}
"""By page: a control, the kind of its value, and the value of the i-th move."""
NUMBERS = re.compile(r"\d\.\d( ± [\d.]+)? %(</td>|<small>)")
OVER = NOTICE_TITLE  # shown when an experiment has ended


@dataclass
class Tab:
    """One connection: what is on its page, and what it is told."""

    socket: object
    page: str
    query: str = ""
    page_hash: str = ""
    widgets: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By key: the widget's id and the fragment that it belongs to."""
    texts: list[str] = field(default_factory=list)
    errors: int = 0
    pace: dict[str, float] = field(default_factory=dict)
    """By fragment: seconds until it wants to run again."""

    async def rerun(self, key: str = "", fragment: str = "", auto: bool = False, **value) -> float:
        """Run the page, or the part that a widget belongs to; the seconds until it is done."""
        message = BackMsg()
        state = message.rerun_script
        # As a browser: by its name until the server has said what it calls the page.
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
            self.pace.clear()
        began = time.monotonic()
        self.texts.clear()
        await self.socket.send(message.SerializeToString())
        while not await self._receive():
            pass
        return time.monotonic() - began

    async def _receive(self) -> bool:
        """Take one message in; whether it was the end of a run."""
        message = ForwardMsg()
        message.ParseFromString(await asyncio.wait_for(self.socket.recv(), REPLY_TIMEOUT))
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self.pace[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "delta":
            self._element(message.delta)
        if kind != "script_finished":
            return False
        again = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if again:  # the whole page runs once more, with paces of its own
            self.pace.clear()
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
            self.widgets[content.id.rpartition("-")[2]] = content.id, delta.fragment_id

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@dataclass
class Visitor:
    """What one visitor lived through."""

    first: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    answers: dict[str, list[float]] = field(default_factory=dict)
    """By page: seconds until a control was answered."""
    errors: list[str] = field(default_factory=list)


async def run_quick_looks(url: str, cookie: str, until: float, seen: Visitor) -> None:
    async with _connected(url, cookie) as socket:
        tab = Tab(socket, "Run_lab")
        await tab.rerun()
        while time.monotonic() < until:
            began = time.monotonic()
            await tab.rerun("start", trigger_value=True)
            numbers = False
            while OVER not in tab.text:
                if not numbers and NUMBERS.search(tab.text):
                    numbers = True
                    seen.first.append(time.monotonic() - began)
                if tab.errors or not tab.pace:
                    await asyncio.sleep(1)
                    await tab.rerun()
                    continue
                fragment, pace = next(iter(tab.pace.items()))
                await asyncio.sleep(pace)
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
        ping_interval=None,  # as a browser, which waits
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
    for _ in range(600):
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
    await visit(url, time.monotonic())  # the first visitor starts the workers
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
        "runs finished": f"{sum(finished):,}, each visitor {min(finished)} to {max(finished)}",
        "click to first numbers, s": _spread(first),
        "click to end of run, s": _spread(done),
        "control answered, s": f"{_spread(every)} ({len(every):,} moves)",
        **{f"control answered, {page}, s": _spread(times) for page, times in answers.items()},
        "server memory, MB": f"{number(memory[0][1])} at the start, {number(half[0])} half way, "
        f"{number(memory[-1][1])} at the end",
    }
    return [{"measure": name, "value": value} for name, value in rows.items()]


def _spread(values: np.ndarray) -> str:
    if not len(values):
        return "—"
    p50, p95 = np.percentile(values, [50, 95])
    return f"p50 {number(p50)}, p95 {number(p95)}, max {number(values.max())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=2.0)
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
    rows.append({"measure": "load of the machine at the end", "value": f"{os.getloadavg()[0]:.1f}"})
    print(markdown(rows))
    for error in sorted({error for visitor in visitors for error in visitor.errors}):
        print(error, file=sys.stderr)
    save("room", rows)


if __name__ == "__main__":
    main()
