"""How long the server takes to refuse what is too large: a table of processor times.

    python -m tools.rejections

Each case is one that exhausted a server once, or could: long ranges and links, many records, large
models, hostile uploads. Processor time is measured, the smallest of three: a busy machine does not
change it, and a server has loaded the modules that a first call loads. Exits with 1 if a case takes
longer than `LIMIT`.
"""

import base64
import contextlib
import io
import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from fsdash.cli.main import main as command_line
from fsdash.dashboard.inspector.state import check_size
from fsdash.dashboard.run_lab.files import MAX_MEGABYTES, read_export
from fsdash.dashboard.run_lab.url import lab_url
from fsdash.dashboard.widgets.url_state import MAX_LINK, usable_values
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.models.archive import MEMBERS
from fsdash.models.files import load
from fsdash.models.size import MAX_JSON_BYTES
from fsdash.models.transitions import from_transitions
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.arrays import pack_policy
from fsdash.runs.store.experiments import Store
from tests.runs.work import base, finished_experiment

LIMIT = 0.05
"""Seconds."""
MILLION = "1:1000000,"
LARGE = {"d_max": 20, "y_max": 3000, "order_max": 1000, "order_step": 5}


def link(**texts: str) -> list[str]:
    """The values of a link to the run lab that cannot be used."""
    return usable_values(texts, lab_url().parameters)[1]


def command(line: str) -> str:
    """What a command line prints when it refuses its arguments."""
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown):
        try:
            code = command_line(line.split())
        except SystemExit as end:
            code = end.code
    return shown.getvalue().strip() if code == 2 else ""


def sparse_model() -> pd.DataFrame:
    """8,000 slow × 8,000 fast states with one transition each."""
    i = np.arange(8000)
    return pd.DataFrame(
        {"x": i, "y": i, "action": 0, "next_x": i, "next_y": i, "p": 1.0, "reward": 0}
    )


def upload(content: bytes, name: str) -> io.BytesIO:
    """A file as a visitor's browser sends it."""
    file = io.BytesIO(content)
    file.name = name
    return file


def archive_of_32_terabytes() -> bytes:
    """A model file whose array claims this size."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4398046511104,), }\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{MEMBERS[-1]}.npy", array)
    return file.getvalue()


class Imports:
    """Imports an exported experiment with some changes into a store in a folder."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "runs.db")
        self.exported = json.dumps(self.store.export(finished_experiment(self.store, base()).id))

    def changed(self, **changes: object) -> None:
        self.store.import_(json.loads(self.exported) | changes, "me")

    def with_policy(self, megabytes: int) -> Callable[[], object]:
        """With a policy of zeros that is small only while it is packed."""
        data = json.loads(self.exported)
        packed = pack_policy(np.zeros((megabytes * 10**6, 1, 1), np.uint8))
        replication = data["runs"][0]["replications"][0]
        replication["policies"][0]["policy"] = base64.b64encode(packed).decode()
        return lambda: self.store.import_(data, "me")


def large_file(path: Path, size: int) -> Path:
    """A file of zeros, which takes no space on the disk."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def cases(folder: Path) -> dict[str, Callable[[], object]]:
    """What is refused, by its name; files are written into the folder."""
    frame, archive, imports = sparse_model(), archive_of_32_terabytes(), Imports(folder)
    nested, long = b"[" * 10**6, b" " * (MAX_MEGABYTES * 10**6 + 1)
    wide = ",".join(f"c{i}" for i in range(1000)).encode()
    many = {f"p{i}": "1" for i in range(100_000)}
    large_json = large_file(folder / "model.json", MAX_JSON_BYTES + 1)
    inspected = [
        RunSpec("inventory", "vi", domain_parameters=LARGE, iterations=1),
        RunSpec("inventory", "fsvi", T=20_000, iterations=1),
    ]
    return {
        "link: 40 ranges of a million": lambda: link(T=MILLION * 40),
        "link: 400 ranges of a million": lambda: link(T=MILLION * 400),
        "link: as long as allowed, unknown": lambda: link(other="x" * (MAX_LINK - 10)),
        "link: a million characters": lambda: link(T="1," * 500_000),
        "link: 100,000 parameters": lambda: link(**many),
        "bounds: a million records": lambda: command("bounds -k 1:1000000 --format json"),
        "bounds: 1,000 × 1,000 records": lambda: command("bounds -k 1:1000 -T 1:1000"),
        "run: ranges of T": lambda: command(f"run inventory --algorithm e-fsvi -T {MILLION * 40}1"),
        "advise: range of T": lambda: command("advise --sweeps 4 -T 1:1000000000000"),
        "model: domain with large tables": lambda: make("inventory", y_max=10**6, order_max=10**6),
        "model: table with many cells": lambda: from_transitions(frame, gamma=0.9, slow=["x"]),
        "inspector: large model": lambda: check_size(inspected[0]),
        "inspector: large T": lambda: check_size(inspected[1]),
        "upload: JSON model above the limit": lambda: load(large_json),
        "upload: archive that claims 32 TB": lambda: load(upload(archive, "model.npz")),
        "upload: table with 1,000 columns": lambda: load(upload(wide, "model.csv"), gamma=0.9),
        "upload: export above the limit": lambda: read_export(long),
        "upload: export nested a million times": lambda: read_export(nested),
        "upload: experiment of 1,000 runs": lambda: imports.changed(runs=[{}] * 1000),
        "upload: policy that unpacks to 70 MB": imports.with_policy(70),
        "upload: policy that unpacks to 200 MB": imports.with_policy(200),
    }


def refusal(case: Callable[[], object]) -> tuple[float, str]:
    """Processor time of a refusal, the smallest of three, and its message; empty if accepted."""
    times, message = [], ""
    for _ in range(3):
        began = time.process_time()
        try:
            found = case()
            message = "; ".join([found] if isinstance(found, str) else found or [])
        except InputError as error:
            message = str(error)
        times.append(time.process_time() - began)
    return min(times), message


def main() -> None:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases(Path(folder)).items():
            taken, message = refusal(case)
            failed += taken > LIMIT or not message
            shown = " ".join(message.split())[:70] or "ACCEPTED"
            print(f"{name:38} {1000 * taken:6.2f} ms   {shown}")
    print(f"{failed} accepted or above {1000 * LIMIT:g} ms")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
