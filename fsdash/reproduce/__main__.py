"""Recompute the archive: `python -m fsdash.reproduce [DOMAIN ...] [WORKERS]` (minutes).

If domains are named, the rows of the others stay as they are. All claims are judged again.
"""

import sys

from fsdash.cli.reproduce import compute
from fsdash.reproduce.archive import FOLDER, archived_domains, archived_rows
from fsdash.reproduce.experiments import DOMAINS, experiment
from fsdash.reproduce.report import verdicts, write_data
from fsdash.reproduce.timings import recorded_timings
from fsdash.runs.estimate import write_timings


def main(arguments: list[str]) -> None:
    """Recompute the rows of the domains, then all tables of the archive."""
    workers = next((int(text) for text in arguments if text.isdigit()), 1)
    chosen = [name for name in arguments if not name.isdigit()] or list(DOMAINS)
    computed, endings = compute(chosen, quick=False, seed=0, workers=workers)
    if len(computed) < len(chosen):
        sys.exit(130)
    archived = {name: (experiment(name), archived_rows(name)) for name in archived_domains()}
    results = {name: (archived | computed)[name] for name in DOMAINS if name in archived | computed}
    write_data(FOLDER, results, True, verdicts(results, True), endings)
    write_timings(recorded_timings(results))


if __name__ == "__main__":
    main(sys.argv[1:])
