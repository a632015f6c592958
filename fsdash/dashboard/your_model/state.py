"""The page Your model without its widgets: a file, what was chosen about it, and the model."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from fsdash.algorithms.optimum import Regret
from fsdash.choice.solved import Suitability, solved_domain
from fsdash.dashboard.your_model import text
from fsdash.domains import make
from fsdash.models import examples
from fsdash.models.columns import guess_columns
from fsdash.models.files import Contents, read
from fsdash.models.policy import Policy

MAX_MEGABYTES = 50
FILE_TYPES = ("csv", "parquet", "npz", "json")
HORIZONS = (2, 3, 4, 6, 8, 12, 16, 24)
DEFAULT_T = 6
LARGEST_T = 100
MAX_PREVIEW = 1_000
"""Rows of a policy that the page shows; the file has all of them."""


@dataclass(frozen=True)
class Upload:
    """A file that a visitor dropped, or an example."""

    name: str
    content: bytes
    options: tuple[tuple[str, Any], ...] = ()
    """Options of an example, such as its γ."""

    @cached_property
    def key(self) -> str:
        """Sixteen hexadecimal digits that identify the file."""
        digest = hashlib.sha256(self.name.encode() + b"\0" + self.content)
        return digest.hexdigest()[:16]

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    def read(self) -> Contents:
        """A whole model, or a table with the options that the file gives."""
        file = io.BytesIO(self.content)
        file.name = self.name
        contents = read(file)
        return replace(contents, options=contents.options | dict(self.options))


def recognised(frame: pd.DataFrame, file_options: Mapping[str, Any]) -> dict[str, Any]:
    """What the names of the columns and the file say: arguments of `from_transitions`, with the
    column of the next value by state variable."""
    options = {"next_prefix": {}} | guess_columns(frame) | dict(file_options)
    if isinstance(prefix := options["next_prefix"], str):
        names = [str(name) for name in frame.columns]
        options["next_prefix"] = {n: prefix + n for n in names if prefix + n in names}
    return options


def next_column(name: str, columns: Sequence[str]) -> str | None:
    """The column that probably holds the next value of a variable."""
    usual = (f"next_{name}", f"new_{name}", f"{name}_next", f"{name}'", f"{name}′")
    return next((column for column in usual if column in columns), None)


def offers(faults: pd.DataFrame) -> tuple[bool, ...]:
    """Whether rescaling, and whether terminal states, would remove errors."""
    remedies = faults.loc[faults["severity"] == "error", "remedy"]
    return tuple(
        bool(remedies.str.contains(on_page, regex=False).any())
        for on_page in text.REMEDIES.values()
    )


# ---------------------------------------------------------------------------------------- solution


@dataclass(frozen=True, eq=False)
class Solution:
    """A policy of a saved model, with what it is worth."""

    policy: Policy
    worth: Regret
    relative_regret: float
    sense: str

    @property
    def mean(self) -> float:
        """Its mean value; its mean cost if the model has costs."""
        return -self.worth.mean_value if self.sense == "min" else self.worth.mean_value


def solve(domain: str, method: str, T: int) -> Solution:
    """The optimal policy of a saved model, or FSVI's."""
    solved = solved_domain(make(domain))
    solution = solved.best if method == "optimal" else solved.fsvi(T)
    worth = solved.regret(solution.policy_PXY)
    relative = solved.relative_regret(worth.mean_regret)
    return Solution(Policy(solved.model, solution), worth, relative, solved.model.sense)


def regret_row(domain: str, T: int) -> dict[str, float]:
    """The true regret of FSVI with this T."""
    solved = solved_domain(make(domain))
    worth = solved.fsvi_regret(T)
    return {
        "T": T,
        "mean_regret": worth.mean_regret,
        "max_regret": worth.max_regret,
        "relative_regret": solved.relative_regret(worth.mean_regret),
    }


def verdict(domain: str) -> Suitability:
    """Whether freezing suits a saved model."""
    return solved_domain(make(domain)).freezing


_SNIPPET = """\
import fsdash
import pandas as pd

solved = fsdash.SolvedModel(fsdash.make({domain!r}).build())
print(solved.freezing.text)
rows = []
for T in {horizons}:
    regret = solved.fsvi_regret(T)
    relative = solved.relative_regret(regret.mean_regret)
    rows.append((T, regret.mean_regret, regret.max_regret, relative))
frame = pd.DataFrame(rows, columns=["T", "mean_regret", "max_regret", "relative_regret"])"""


def regret_snippet(domain: str) -> str:
    """Python code that recomputes the table of regrets."""
    return _SNIPPET.format(domain=domain, horizons=HORIZONS)


# ---------------------------------------------------------------------------------------- examples

EXAMPLES = {example.name: example for example in examples.EXAMPLES}


def example_upload(name: str) -> Upload:
    """One of the example files."""
    example = EXAMPLES[name]
    return Upload(example.path.name, example.path.read_bytes(), tuple(example.options.items()))
