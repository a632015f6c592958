"""What the Runs page compares: letters for experiments and the settings that differ. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fsdash.dashboard.curves.state import facts_of
from fsdash.formatting import setting
from fsdash.runs.records import Experiment, Run, differing_settings, run_settings

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_CURVES = 24
"""Curves in one chart: more cannot be distinguished."""
MAX_IN_LEGEND = 8
"""More entries would leave no room for the curves."""
MAX_COMPARED = 100
"""Runs that can be selected: more would make a link too long for a browser."""
MAX_FILE_NAME = 60


def experiment_letters(experiments: Sequence[Experiment]) -> dict[str, str]:
    """A letter for each experiment by its id, if there are several."""
    if len(experiments) < 2:
        return {}
    letters = (
        first + second for first in ("", *LETTERS) for second in LETTERS
    )  # A, …, Z, AA, AB, …
    return dict(zip((e.id for e in experiments), letters, strict=False))


def settings_table(
    runs: Sequence[Run], labels: Mapping[int, str]
) -> tuple[list[str], list[list[str]]]:
    """The names of the settings that differ, and a row of label and values for each run."""
    names = differing_settings(runs)
    settings = {run.id: run_settings(run) for run in runs}
    rows = [
        [labels[run.id], *(setting(settings[run.id].get(name, "–")) for name in names)]
        for run in runs
    ]
    return names, rows


def numeric_settings(runs: Sequence[Run]) -> dict[str, list[float | None]]:
    """By name: the values of the settings that are numbers and differ, None where a run has none.

    Evaluations are given in sweeps. The seed is left out: it is a name, not an amount.
    """
    settings = [run_settings(run) for run in runs]
    found = {}
    for name in differing_settings(runs):
        values = [own.get(name) for own in settings]
        known = [value for value in values if value is not None]
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in known)
        if not numbers or name == "seed" or len(set(known)) < 2:
            continue
        if name == "evaluations":
            name, units = "sweeps", [facts_of(run).sweep for run in runs]
            values = [v and v / unit for v, unit in zip(values, units, strict=True)]
        title = name.rpartition(".")[2].replace("_", " ")
        found[title] = [None if value is None else float(value) for value in values]
    return found


def file_stem(experiments: Sequence[Experiment]) -> str:
    """The name of an exported file: that of the first experiment, and how many more there are."""
    words = re.findall(r"\w+", experiments[0].name.lower())
    stem = "-".join(words)[:MAX_FILE_NAME].rstrip("-") or experiments[0].id
    more = len(experiments) - 1
    return f"{stem}-and-{more}-more" if more else stem
