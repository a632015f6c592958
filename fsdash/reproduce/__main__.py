"""Recompute the archive: `python -m fsdash.reproduce [NAME ...] [WORKERS]` (minutes).

    inventory, gridworld, pricing   the paper's runs on a domain
    beyond           all methods at fixed budgets, and certificates
    recommendation   of these only the recommendation and E-Thaw
    seeds            the paper's runs with four other seeds
    constants        the claims about the inventory with other costs

`beyond:pricing` and so on names one domain. What is not named stays as it is. All claims are judged
again. `python -m tools.reproduction_tables` then writes the tables of README and guide.
"""

import sys

import pandas as pd

from fsdash.reproduce.archive import (
    FOLDER,
    archived_budgets,
    archived_domains,
    archived_rows,
    archived_seed_rows,
)
from fsdash.reproduce.budgets import METHODS, RECOMMENDED, THAWED, compute_beyond, renewed
from fsdash.reproduce.experiments import DOMAINS, compute_experiments, experiment
from fsdash.reproduce.report import verdicts, write_budgets, write_data, write_seeds
from fsdash.reproduce.robustness import CONSTANTS, compute_constants, compute_seeds
from fsdash.reproduce.timings import recorded_timings
from fsdash.runs.estimate import write_timings

BEYOND, RECOMMENDATION, SEEDS, CONSTANT = "beyond", "recommendation", "seeds", "constants"
BY_DOMAIN = (BEYOND, RECOMMENDATION, SEEDS)
NAMES = (*DOMAINS, *BY_DOMAIN, CONSTANT)


def main(arguments: list[str]) -> None:
    """Recompute the rows of the domains, then all tables of the archive."""
    workers = next((int(text) for text in arguments if text.isdigit()), 1)
    named = [name for name in arguments if not name.isdigit()] or [
        name for name in NAMES if name != RECOMMENDATION
    ]
    possible = (*NAMES, *(f"{name}:{domain}" for name in BY_DOMAIN for domain in DOMAINS))
    if unknown := [name for name in named if name not in possible]:
        sys.exit(f"{unknown[0]}: choose from {', '.join(NAMES)}")
    chosen = [name for name in named if name in DOMAINS]
    computed, endings = compute_experiments(chosen, workers=workers, report=print)
    if len(computed) < len(chosen):
        sys.exit(130)
    archived = {name: (experiment(name), archived_rows(name)) for name in archived_domains()}
    results = {name: (archived | computed)[name] for name in DOMAINS if name in archived | computed}
    budgets = archived_budgets()
    for name, methods in ((BEYOND, METHODS), (RECOMMENDATION, (RECOMMENDED, THAWED))):
        if domains := _domains(name, named):
            budgets = renewed(budgets, compute_beyond(False, 0, print, domains, methods))
    seed_rows = archived_seed_rows()
    if domains := _domains(SEEDS, named):
        kept = seed_rows[~seed_rows["domain"].isin(domains)]
        seed_rows = pd.concat([kept, compute_seeds(domains, print, workers)])
    if CONSTANT in named:
        constants = compute_constants(CONSTANTS, print, workers)
        constants.to_csv(FOLDER / "constants.csv", index=False, float_format="%.4g")
    write_data(FOLDER, results, True, verdicts(results, True, budgets=budgets), endings)
    write_seeds(FOLDER, results, seed_rows)
    if budgets is not None:
        write_budgets(FOLDER, budgets)
    write_timings(recorded_timings(results))


def _domains(name: str, named: list[str]) -> tuple[str, ...]:
    """The domains on which `name` is to be recomputed."""
    return tuple(d for d in DOMAINS if name in named or f"{name}:{d}" in named)


if __name__ == "__main__":
    main(sys.argv[1:])
