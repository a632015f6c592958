"""The page Your model without its widgets: a file, what was chosen about it, and the model."""

from __future__ import annotations

import hashlib
import io
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from fsdash.algorithms.optimum import Regret
from fsdash.choice.solved import Suitability, solved_domain
from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.your_model import text
from fsdash.domains import make
from fsdash.models import examples
from fsdash.models.columns import Columns
from fsdash.models.files import Contents, read
from fsdash.models.policy import Policy
from fsdash.models.transitions import check_transitions, from_transitions

MAX_MEGABYTES = 50
FILE_TYPES = ("csv", "parquet", "npz", "json")
LARGEST_GAMMA = 0.999999
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


@dataclass(frozen=True)
class Choices:
    """What was chosen about a table: its columns, the remedies, the slow variables and γ."""

    states: tuple[tuple[str, str], ...]
    """State variables, each with the column of its next value."""
    action: str | None
    probability: str | None
    reward: str | None
    initial: str | None = None
    sense: str = "max"
    rescale: bool = False
    ends: bool = False
    """Whether next states without rows are terminal."""
    end_column: str | None = None
    """The column that is true where the next state is terminal."""
    terminal: Any = None
    """The terminal states that a JSON file names."""

    @classmethod
    def of(cls, columns: Columns, options: Mapping[str, Any], names: Sequence[str] = ()) -> Choices:
        """The choices that follow from recognised columns and the options of the file.

        `names` are the names of all columns.
        """
        given = options.get("next_prefix", columns.next)
        if isinstance(given, str):
            given = {name: given + name for name in names if given + name in names}
        named_ends = options.get("terminal")
        return cls(
            tuple(given.items()),
            options.get("action", columns.action),
            options.get("probability", columns.probability),
            options.get("reward", columns.reward),
            options.get("initial", columns.initial),
            options.get("sense", columns.sense),
            rescale=bool(options.get("normalize", False)),
            end_column=columns.terminal if named_ends is None else None,
            terminal=named_ends,
        )

    @property
    def missing(self) -> list[str]:
        """The roles that no column has yet."""
        found = {"action": self.action, "reward or cost": self.reward}
        none = [] if self.states else ["state variables with their next values"]
        return none + [role for role, column in found.items() if column is None]

    def options(self) -> dict[str, Any]:
        """The arguments of `from_transitions`, without the slow variables and γ."""
        options = {
            "next_prefix": dict(self.states),
            "action": self.action,
            "probability": self.probability,
            "reward": self.reward,
            "sense": self.sense,
            "normalize": self.rescale,
        }
        if self.initial is not None:
            options["initial"] = self.initial
        ends = self.terminal if isinstance(self.terminal, list) else [self.terminal]
        ends = [*ends, self.end_column, "missing" if self.ends else None]
        if ends := [end for end in ends if end is not None]:
            options["terminal"] = ends
        return options


def next_column(name: str, columns: Sequence[str]) -> str | None:
    """The column that probably holds the next value of a variable."""
    usual = (f"next_{name}", f"new_{name}", f"{name}_next", f"{name}'", f"{name}′")
    return next((column for column in usual if column in columns), None)


def check(frame: pd.DataFrame, choices: Choices) -> pd.DataFrame:
    """Errors and warnings of the table; notes are left out."""
    faults = check_transitions(frame, **choices.options())
    faults = faults[faults["severity"] != "note"].reset_index(drop=True)
    for in_python, on_page in text.REMEDIES.items():
        faults["remedy"] = faults["remedy"].str.replace(in_python, on_page, regex=False)
    return faults


def offers(faults: pd.DataFrame) -> tuple[bool, ...]:
    """Whether rescaling, and whether terminal states, would remove errors."""
    remedies = faults.loc[faults["severity"] == "error", "remedy"]
    return tuple(
        bool(remedies.str.contains(on_page, regex=False).any())
        for on_page in text.REMEDIES.values()
    )


def build(
    frame: pd.DataFrame, choices: Choices, slow: Sequence[str], gamma: float, name: str
) -> FastSlowMDP:
    """The model of a table."""
    return from_transitions(frame, slow=list(slow), gamma=gamma, name=name, **choices.options())


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
    worth = solved.fsvi_bound(T)
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
    regret = solved.fsvi_bound(T)
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


MAX_BYTES = 256 * 2**20
"""Of all files together."""


class Drafts:
    """Uploaded files by their keys."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._uploads: OrderedDict[str, Upload] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, upload: Upload) -> str:
        """Keep a file and return its key."""
        with self._lock:
            self._uploads[upload.key] = upload
            self._uploads.move_to_end(upload.key)
            while self._size() > self._max_bytes and len(self._uploads) > 1:
                self._uploads.popitem(last=False)
        return upload.key

    def get(self, key: str) -> Upload | None:
        with self._lock:
            if key in self._uploads:
                self._uploads.move_to_end(key)
            return self._uploads.get(key)

    def _size(self) -> int:
        return sum(len(upload.content) for upload in self._uploads.values())
