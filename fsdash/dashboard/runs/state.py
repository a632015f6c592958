"""What the Runs page compares: letters for experiments and the settings that differ. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fsdash.dashboard.curves.state import differing_settings, run_settings
from fsdash.formatting import setting
from fsdash.runs.records import Experiment, Run

LETTERS = "ABCDEFGH"
MAX_COMPARED = len(LETTERS)
MAX_CURVES = 24
MAX_IN_LEGEND = 8
"""More entries would leave no room for the curves."""


def experiment_letters(experiments: Sequence[Experiment]) -> dict[str, str]:
    """A letter for each experiment by its id, if there are several."""
    if len(experiments) < 2:
        return {}
    return dict(zip((e.id for e in experiments), LETTERS, strict=False))


def settings_table(
    runs: Sequence[Run], labels: Mapping[int, str]
) -> tuple[list[str], list[list[str]]]:
    """The names of the settings that differ, and a row of label and values for each run.

    The method itself is left out: the label names it.
    """
    names = [name for name in differing_settings(runs) if name not in ("algorithm", "T")]
    rows = [
        [labels[run.id], *(setting(run_settings(run).get(name, "–")) for name in names)]
        for run in runs
    ]
    return names, rows
