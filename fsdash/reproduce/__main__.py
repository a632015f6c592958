"""Recompute the archive: `python -m fsdash.reproduce [DOMAIN ...] [beyond] [WORKERS]` (minutes).

`beyond` recomputes the methods beyond the paper at fixed budgets. What is not named stays as it is.
All claims are judged again.
"""

import sys

from fsdash.cli.reproduce import BEYOND, compute, compute_beyond
from fsdash.reproduce.archive import FOLDER, archived_budgets, archived_domains, archived_rows
from fsdash.reproduce.experiments import DOMAINS, experiment
from fsdash.reproduce.report import verdicts, write_budgets, write_data
from fsdash.reproduce.timings import recorded_timings
from fsdash.runs.estimate import write_timings
from fsdash.runs.local import run_all


def main(arguments: list[str]) -> None:
    """Recompute the rows of the domains, then all tables of the archive."""
    workers = next((int(text) for text in arguments if text.isdigit()), 1)
    named = [name for name in arguments if not name.isdigit()] or [*DOMAINS, BEYOND]
    chosen = [name for name in named if name != BEYOND]
    computed, endings = compute(chosen, quick=False, seed=0, workers=workers, run=run_all)
    if len(computed) < len(chosen):
        sys.exit(130)
    archived = {name: (experiment(name), archived_rows(name)) for name in archived_domains()}
    results = {name: (archived | computed)[name] for name in DOMAINS if name in archived | computed}
    budgets = compute_beyond(quick=False, seed=0) if BEYOND in named else archived_budgets()
    write_data(FOLDER, results, True, verdicts(results, True, budgets=budgets), endings)
    if budgets is not None:
        write_budgets(FOLDER, budgets)
    write_timings(recorded_timings(results))


if __name__ == "__main__":
    main(sys.argv[1:])
