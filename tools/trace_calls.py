"""Count the project files that one action of a visitor passes through.

    python -m tools.trace_calls

Three actions are traced in the server's process, through Streamlit's own test runner:

    start       Run lab: from the click on Start until the first learning curve is drawn
    choose      Choose T: one number is changed
    inspector   Policy inspector: a recorded run is opened

A file counts when one of its functions is called from another project file. Few files mean that a
newcomer can follow the path.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]
PREFIXES = tuple(str(ROOT / part) for part in ("fsdash", "pages", "app.py"))


class CallCounter:
    """Calls between project files, as (caller's file, callee's file)."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame, event: str, argument: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(PREFIXES):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(PREFIXES):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != frame.f_code.co_filename:
            self.calls[caller.f_code.co_filename, frame.f_code.co_filename] += 1

    @property
    def files(self) -> list[str]:
        found = {name for pair in self.calls for name in pair}
        return sorted(str(Path(name).relative_to(ROOT)) for name in found)


@contextmanager
def traced() -> Iterator[CallCounter]:
    """Count calls in this thread and in all threads that start meanwhile."""
    counter = CallCounter()
    threading.setprofile(counter)
    sys.setprofile(counter)
    try:
        yield counter
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def start_to_curve() -> CallCounter:
    from fsdash.dashboard.service import open_service
    from tests.dashboard.kit import opened

    page = opened("5_Run_lab.py")
    manager = open_service().manager
    while manager.ready_workers < manager.workers:
        time.sleep(0.05)
    with traced() as counter:
        page.button(key="start").click().run()
        _wait_for_curve(page)
    return counter


def choose_T() -> CallCounter:
    from tests.dashboard.kit import opened

    page = opened("3_Choose_T.py")
    [budget] = [field for field in page.number_input if "budget" in str(field.key)]
    with traced() as counter:
        budget.set_value(60.0).run()
    return counter


def open_inspector() -> CallCounter:
    from tests.dashboard.kit import address, opened

    page = opened("5_Run_lab.py")
    page.button(key="start").click().run()
    _wait_for_curve(page)  # Before that there is no policy to inspect.
    experiment = address(page)["experiment"]
    with traced() as counter:
        opened("7_Policy_inspector.py", experiment=experiment)
    return counter


def _wait_for_curve(page: AppTest) -> None:
    """Rerun the lab until a learning curve has two points."""
    from tests.dashboard.kit import figures

    def traces() -> list[dict]:  # none while the workers start
        return figures(page).get("curves", {"data": []})["data"]

    while not any(len(trace.get("x", ())) > 1 for trace in traces()):
        page.run()


ACTIONS: dict[str, Callable[[], CallCounter]] = {
    "start": start_to_curve,
    "choose": choose_T,
    "inspector": open_inspector,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("actions", nargs="*", metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument("--list", action="store_true", help="list the files of each action")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        os.environ["FSDASH_DATA"] = data
        for name in options.actions or ACTIONS:
            counter = ACTIONS[name]()
            calls = sum(counter.calls.values())
            print(f"{name}: {len(counter.files)} files, {calls} calls between files")
            if options.list:
                print(*(f"    {file}" for file in counter.files), sep="\n")
        sys.stdout.flush()
        os._exit(0)  # The worker processes of the lab end with this process.


if __name__ == "__main__":
    main()
