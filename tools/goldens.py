"""What fsdash prints and draws, as files: take it before and after a change that must not show.

    python -m tools.goldens FOLDER       # write one text file for each golden
    git diff --no-index OLD NEW          # what a change has changed

Everything goes through the command line and through the pages, never through a module's own names,
so a golden survives any change inside the package. There are four kinds:

    rows       seeded rows of every algorithm on every domain
    commands   the output of commands
    pages      the figures, texts, tables and the address of pages in some states
    files      models that were written and read again, and solved

Times are replaced by a mark, because they differ from run to run.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from fsdash.models import content_hash

SMALL = {
    "inventory": ["--set", "y_max=20", "--set", "order_max=20"],
    "gridworld": ["--set", "size=6"],
    "pricing": ["--set", "n_reference=21", "--set", "n_prices=6"],
}
EXACT = ("vi", "fsvi", "rolling", "fsavi", "mpi")
FITTED = ("lin-fvi", "lin-fsfvi", "lin-rolling", "lin-fqi", "deep-fvi", "deep-rolling")
SAMPLED = ("e-vi", "e-fsvi", "e-rolling", "e-qi", "slow-agnostic", "e-thaw")
TIMES = re.compile(r"\b[\d.]+(e-?\d+)? ?(ms|s|seconds|minutes)\b|(?<=seconds)[\W]*[\d.]+(e-?\d+)?")
COMMANDS = (
    "domains",
    "algorithms",
    "bounds -T 2,16 -k 1:3",
    "bounds -T 2,16 -k 1:3 --bound repaired",
    "advise --sweeps 4 -T 2,4,9,16,25 --format json",
    "solve inventory --method fsvi -T 6 --iterations 5",
    "solve gridworld --method vi --iterations 5 --format json",
    "solve pricing",
    "frontier inventory -T 2,6,12 --format csv",
    "inspect-model EXAMPLES/maintenance.csv --gamma .95 --seconds 0",
    "solve EXAMPLES/maintenance.csv --gamma .95",
    "solve nowhere",
)
PAGES = {
    "home": (None, {}),
    "reward-error": ("2_Bounds.py", {}),
    "regret": ("2_Bounds.py", {"tab": "regret"}),
    "choose-t": ("3_Choose_T.py", {}),
    "linear": ("2_Bounds.py", {"tab": "linear"}),
    "run-lab": ("5_Run_lab.py", {}),
    "inspector": ("7_Policy_inspector.py", {}),
    "inspector-fsvi": ("7_Policy_inspector.py", {"domain": "gridworld", "a": "fsvi", "a_T": "4"}),
    "runs": ("5_Run_lab.py", {"tab": "stored"}),
    "reproduction": ("8_Reproduction.py", {}),
    "your-model": ("4_Your_model.py", {}),
    "live": ("6_Live_gridworld.py", {}),
    "exercises": ("9_Teach.py", {}),
    "class": ("9_Teach.py", {"tab": "class"}),
    "story": ("1_Story.py", {}),
}


def command(line: str | list[str]) -> str:
    """What a command prints, with its exit code."""
    from fsdash.cli.main import main

    words = line.split() if isinstance(line, str) else line
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    return f"{out.getvalue()}{err.getvalue()}exit code {code}\n"


def rows(domain: str, algorithm: str, folder: Path) -> str:
    """The seeded rows of one algorithm on a small domain, without times."""
    import pandas as pd

    file = folder / f"{domain}-{algorithm}.csv"
    budget = [] if "rolling" in algorithm else ["--iterations", "3"]
    arguments = ["--algorithm", algorithm, *budget, "--replications", "2", "--out", str(file)]
    said = command(["run", domain, *SMALL[domain], "-T", "4", "--seed", "7", *arguments])
    if not file.exists():
        return said
    frame = pd.read_csv(file)
    return frame.drop(columns=[c for c in frame if "second" in c]).to_csv(index=False)


def page(script: str | None, query: dict[str, str]) -> str:
    """The figures, texts and the address of a page, as indented JSON."""
    from tests.dashboard import kit

    test = kit.opened(script, **query)
    shown = {
        "address": kit.address(test),
        "figures": {
            data["key"]: json.loads(data["figure"])
            for data in kit.component_data(test)
            if "figure" in data
        },
        "metrics": kit.metrics(test),
        "words": kit.words(test).split("\n"),
    }
    return json.dumps(shown, indent=1, sort_keys=True, ensure_ascii=False)


def files(folder: Path) -> str:
    """Models that were saved and loaded: their hash and their optimal value."""
    import fsdash

    lines = []
    for name in ("inventory.npz", "gridworld.npz", "pricing.npz"):
        model = fsdash.make(Path(name).stem).build()
        fsdash.save(model, folder / name)
        again = fsdash.load(folder / name)
        value = again.mean(fsdash.optimum(again).U_XY)
        lines.append(f"{name} {content_hash(again) == content_hash(model)} {value!r}")
    return "\n".join(lines)


def write(folder: Path) -> None:
    """Write every golden into the folder."""
    import fsdash.models.examples as examples

    folder.mkdir(parents=True, exist_ok=True)
    place = str(Path(examples.__file__).parent)

    def keep(name: str, text: str) -> None:
        text = TIMES.sub("‹time›", text.replace(place, "EXAMPLES"))
        (folder / name).write_text(text, encoding="utf-8")

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        scratch = Path(temporary)
        os.environ["FSDASH_DATA"] = str(scratch / "data")
        for domain in SMALL:
            for algorithm in (*EXACT, *SAMPLED, *FITTED):
                keep(f"rows-{domain}-{algorithm}.csv", rows(domain, algorithm, scratch))
        for number, line in enumerate(COMMANDS):
            text = command(line.replace("EXAMPLES", place))
            keep(f"command-{number:02}.txt", f"$ fsdash {line}\n{text}")
        for name, (script, query) in PAGES.items():
            keep(f"page-{name}.json", page(script, query))
        keep("files.txt", files(scratch))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
