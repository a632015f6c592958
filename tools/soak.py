"""Random command lines, links and imported files: nothing may end in a traceback.

    python -m tools.soak --commands 20000 --links 1000 --imports 10000      # `make soak`

Everything runs in this process. A command line is a mutation of a valid, cheap one; a link opens a
page with some of its parameters at random, usable and unusable values mixed; an import is an
exported experiment with some values replaced, and every second one a model file with some bytes
replaced. Each has to be accepted, or refused with a message, within `MAX_SECONDS`, and no page or
output may show a NaN. Pages take most of the time: about a quarter of an hour.
"""

import argparse
import contextlib
import io
import json
import logging
import os
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping

from fsdash.cli.main import main as command_line
from fsdash.dashboard.bounds.view import URL as BOUNDS
from fsdash.dashboard.choose_t.view import URL as CHOOSE_T
from fsdash.dashboard.home.view import URL as HOME
from fsdash.dashboard.inspector.url import URL as INSPECTOR
from fsdash.dashboard.live_gridworld.view import URL as LIVE_GRIDWORLD
from fsdash.dashboard.reproduction.view import URL as REPRODUCTION
from fsdash.dashboard.run_lab.url import lab_url
from fsdash.dashboard.story.sections import URL as STORY
from fsdash.dashboard.teach.view import URL as TEACH
from fsdash.dashboard.widgets import waiting
from fsdash.dashboard.widgets.url_state import UNUSABLE, ListReader, Reader, UrlState, as_reader
from fsdash.dashboard.your_model.url import URL as YOUR_MODEL
from fsdash.errors import InputError
from fsdash.models.archive import to_bytes
from fsdash.models.files import load
from fsdash.runs.store.experiments import Store
from tests.dashboard.kit import opened, words
from tests.runs.work import base, finished_experiment, frozen
from tests.saved_models import shop_frame, shop_model

MAX_SECONDS = 30.0
COMMANDS = (
    "bounds -T 1:9 -k 1:3",
    "bounds --gamma 0.9 --alpha 0.1 --d-y 2 --l-r 1 --l-f 1 --l-u auto --format json",
    "bounds --bound repaired --l-frozen 2 --format csv",
    "advise --sweeps 4 -T 2:20",
    "advise --budget 1e12 --format json",
    "constants inventory --set y_max=10 --set order_max=10",
    "solve inventory --method fsvi -T 3 --iterations 2 --set y_max=10 --set order_max=10",
    "solve inventory --tolerance 100 --set y_max=10 --set order_max=10",
    "run inventory --algorithm e-vi,vi --iterations 1 --replications 1 --set y_max=10",
    "algorithms --format csv",
    "restore /nowhere/x",
    "backup /nowhere/x",
)
WORDS = (
    "",
    "0",
    "-1",
    "1",
    "3",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-308",
    "1:3",
    "3:1",
    "1:1000000",
    "1,2,3",
    "a\nb",
    "ä",
    "\ud800",
    "\0",
    "--",
    "-",
    "=",
    "x" * 500,
    "9" * 5000,
    "0x10",
    "1_0",
    "²",
    "--format",
    "--help",
    "json",
    "gridworld",
    "M=5",
    "K=nan",
    "gamma=0.5",
    "=HYPERLINK()",
    "<b>",
)
BYTES = [word for word in WORDS if word.isascii()]
LINKED = [word for word in WORDS if word != "\ud800"]
"""What a link can hold: the server replaces a surrogate before a page sees it."""
PAGES: Mapping[str | None, UrlState] = {
    None: HOME,
    "1_Story.py": STORY,
    "2_Bounds.py": BOUNDS,
    "3_Choose_T.py": CHOOSE_T,
    "4_Your_model.py": YOUR_MODEL,
    "5_Run_lab.py": lab_url(),
    "7_Policy_inspector.py": INSPECTOR,
    "8_Reproduction.py": REPRODUCTION,
    "9_Teach.py": TEACH,
    "6_Live_gridworld.py": LIVE_GRIDWORLD,
}
"""The pages by their scripts; the home page has none of its own."""
NAN = re.compile(r"\bnan\b", re.IGNORECASE)
RANGE = re.compile(r"from ([-+.\de]+) to ([-+.\de]+)")
EXPENSIVE = {"gridworld", "pricing", "dashboard", "reproduce", "compile"}
"""Words that make a command slow or start a server; they are not what is tested."""


class Soak:
    """Counts what was accepted and refused, and remembers what went wrong."""

    def __init__(self, seed: int) -> None:
        self.rng, self.counts, self.problems = random.Random(seed), Counter(), []
        self.slowest: dict[str, float] = {}

    def attempt(self, kind: str, what: object, act) -> None:
        """Carry out one attempt; `act` returns whether it was accepted."""
        began = time.perf_counter()
        try:
            accepted = act()
        except InputError:
            accepted = False
        except Exception:
            self.problems.append(f"{kind} {what!r:.300}\n{traceback.format_exc()[-1500:]}")
            return
        seconds = time.perf_counter() - began
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), seconds)
        self.counts[kind, "accepted" if accepted else "refused"] += 1
        if seconds > MAX_SECONDS:
            self.problems.append(f"{kind} {what!r:.300}: {seconds:.0f} s")

    def command(self) -> None:
        """A cheap command with some of its words changed."""
        words = self.rng.choice(COMMANDS).split()
        for _ in range(self.rng.randrange(4)):
            place, word = self.rng.randrange(len(words) + 1), self.rng.choice(WORDS)
            change = self.rng.randrange(4)
            if change == 0:
                words.insert(place, word)
            elif change == 1 and place < len(words):
                words[place] = word
            elif change == 2 and len(words) > 1:
                words.pop(place % len(words))
            elif words:
                words[place % len(words)] += f"={word}"
        if EXPENSIVE & set(words):
            return self.command()
        self.attempt("command", words, lambda: self._run(words))

    def _run(self, words: list[str]) -> bool:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = command_line(words)
            except SystemExit as end:
                code = end.code
        if code == 2 and len(err.getvalue().splitlines()) != 1:
            self.problems.append(f"command {words!r:.300}: {err.getvalue()[:500]!r}")
        echoed = any("nan" in word for word in words)
        if not echoed and NAN.search(out.getvalue()):
            self.problems.append(f"command {words!r:.300}: NaN in its output")
        return code == 0

    def link(self, script: str | None, experiment: str) -> None:
        """A page with some parameters at usable values and some at others."""
        url, found = PAGES[script], {}
        names = [*url.parameters, "unknown", "tour", "exercise"]
        for name in self.rng.sample(names, self.rng.randrange(1, min(6, len(names)))):
            if name in url.parameters and self.rng.random() < 0.8:
                found[name] = self._usable_text(as_reader(url.parameters[name].read), experiment)
            else:
                several = [self.rng.choice(LINKED) for _ in range(self.rng.randrange(1, 4))]
                found[name] = ",".join(several) * self.rng.choice((1, 1, 1, 400))
        self.attempt(f"link to {script or 'home'}", found, lambda: self._open(script, found))

    def _usable_text(self, reader: Reader, experiment: str) -> str:
        """A text that the reader probably accepts."""
        if isinstance(reader, ListReader):
            count = self.rng.randrange(1, 5)
            return ",".join(self._usable_text(reader.item, experiment) for _ in range(count))
        if reader.options:
            return str(self.rng.choice(reader.options))
        if limits := RANGE.search(reader.remedy):
            low, high = map(float, limits.groups())
            value = self.rng.choice((low, high, self.rng.uniform(low, high)))
            return f"{value:.0f}" if "whole" in reader.remedy else f"{value:.6g}"
        usual = ("1", "0.5", "2", "gridworld", "pricing", "e-vi", "fsvi", "T", "3,6", experiment)
        return self.rng.choice((*usual, f"{experiment}.1"))

    def _open(self, script: str | None, query: dict[str, str]) -> bool:
        page = opened(script, **query)
        texts = [words(page), *(m.value for m in page.metric), *(c.value for c in page.caption)]
        echoed = any("nan" in value.lower() for value in query.values())
        if not echoed and NAN.search(" ".join(map(str, texts))):
            self.problems.append(f"{script} {query!r:.300}: NaN on the page")
        return not any(UNUSABLE in warning.value for warning in page.warning)

    def imported(self, store: Store, exported: str) -> None:
        data = json.loads(exported)
        for _ in range(self.rng.randrange(1, 4)):
            self._replace_a_value(data)
        self.attempt("import", "an export with values replaced", lambda: store.import_(data, "me"))

    def model_file(self, models: Mapping[str, bytes]) -> None:
        suffix, data = self.rng.choice(list(models.items()))
        changed = bytearray(data)
        for _ in range(self.rng.randrange(1, 4)):
            at, size = self.rng.randrange(len(changed)), self.rng.randrange(20)
            word = self.rng.choice([self.rng.randbytes(size), *(w.encode() for w in BYTES)])
            changed[at : at + size] = word
        file = io.BytesIO(bytes(changed))
        file.name = f"damaged{suffix}"
        options = {} if suffix == ".npz" else {"gamma": 0.9}
        self.attempt("model file", bytes(changed), lambda: load(file, **options))

    def _replace_a_value(self, data) -> None:
        place = data
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = self.rng.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and self.rng.random() < 0.8:
                place = place[key]
                continue
            place[key] = self.rng.choice(
                [None, True, -1, 2**40, 10**5000, 1e308, float("nan"), [], {}, *WORDS]
            )
            return


def model_files() -> dict[str, bytes]:
    """A small model, complete and as tables, by the ending of the file's name."""
    frame, parquet = shop_frame(), io.BytesIO()
    frame.to_parquet(parquet)
    return {
        ".npz": to_bytes(shop_model()),
        ".csv": frame.to_csv(index=False).encode(),
        ".json": frame.to_json(orient="records").encode(),
        ".parquet": parquet.getvalue(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, count in (("commands", 20_000), ("links", 1_000), ("imports", 10_000)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    soak = Soak(arguments.seed)
    waiting.FIRST_WAIT = MAX_SECONDS / 2
    logging.disable(logging.WARNING)  # Streamlit warns that the pages run without a server
    # Some commands write files with random names, so they run in a folder that is removed.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["FSDASH_DATA"] = folder
        store = Store()
        experiment = finished_experiment(store, base(), frozen()).id
        exported = json.dumps(store.export(experiment))
        for _ in range(arguments.commands):
            soak.command()
        for script in PAGES:
            for _ in range(arguments.links):
                soak.link(script, experiment)
        models = model_files()
        for n in range(arguments.imports):
            if n % 2:
                soak.imported(store, exported)
            else:
                soak.model_file(models)
    for (kind, outcome), count in sorted(soak.counts.items()):
        print(f"{kind}: {count:,} {outcome}")
    for kind, seconds in soak.slowest.items():
        print(f"slowest {kind}: {seconds:.2f} s")
    for problem in soak.problems[:20]:
        print(problem)
    print(f"{len(soak.problems):,} problems")
    sys.exit(1 if soak.problems else 0)


if __name__ == "__main__":
    main()
