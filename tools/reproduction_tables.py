"""Write the tables of the archived reproduction into README.md and docs/guide/reproduction.md.

python -m tools.reproduction_tables

A table is found by its first line and ends at the next empty line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fsdash.figures.budgets import best_in_hindsight
from fsdash.reproduce.archive import archived_budgets, archived_claims, archived_seeds
from fsdash.reproduce.budgets import (
    BASE,
    BUDGETS,
    CERTAINTY,
    COMMON,
    FROZEN,
    GREEDY,
    METHODS,
    RECOMMENDED,
)
from fsdash.reproduce.claims import BEYOND
from fsdash.reproduce.robustness import TOGETHER

ROOT = Path(__file__).parents[1]
README, GUIDE = ROOT / "README.md", ROOT / "docs" / "guide" / "reproduction.md"
NAMES = {
    RECOMMENDED: "recommendation from samples",
    FROZEN: "E-FSVI, best T in hindsight",
    GREEDY: "greedy for J, best T in hindsight",
    CERTAINTY: "certainty equivalence",
}
"""What a table calls a method, where that is not its name."""
SHARES_HEAD, VERDICTS_HEAD = "| domain | method |", "| claim | verdict |"


def tables() -> dict[Path, dict[str, str]]:
    """By file: its tables by the beginning of their first line."""
    few = (RECOMMENDED, FROZEN, BASE, COMMON, CERTAINTY)
    return {
        README: {SHARES_HEAD: shares_table(few, (0.25, 1, 4, 16))},
        GUIDE: {SHARES_HEAD: shares_table(METHODS, BUDGETS), VERDICTS_HEAD: verdicts_table()},
    }


def shares_table(methods: Sequence[str], budgets: Sequence[float]) -> str:
    """The mean share of the optimum at each budget, with the smallest and the largest one."""
    rows, _ = archived_budgets() or (pd.DataFrame(), None)
    heads = [f"{budget:g}".lstrip("0") for budget in budgets]
    lines = [f"{SHARES_HEAD} {' | '.join(heads)} sweeps |", f"|---|---|{'---|' * len(heads)}"]
    for domain, of_domain in rows.groupby("domain", sort=False):
        for method in methods:
            of_method = of_domain[of_domain["method"] == method].dropna(subset=["share"])
            if of_method.empty:
                continue
            table = best_in_hindsight(of_method).set_index("sweeps").loc[list(budgets)]
            cells = [
                f"{mean:.3f} ({least:.3f} to {most:.3f})"
                for mean, least, most in table[["mean", "least", "most"]].to_numpy()
            ]
            lines.append(f"| {domain} | {NAMES.get(method, method)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def verdicts_table() -> str:
    """The verdict on each claim of the paper, by the first rule too, and for five seeds."""
    claims, seeds = archived_claims(), archived_seeds()
    icons = {"reproduced": "✔", "partly": "◐", "not reproduced": "✖"}
    lines = [
        f"{VERDICTS_HEAD} clear parts | by the first rule | five seeds | all seeds together |",
        "|---|---|---|---|---|---|",
    ]
    for claim in claims[claims["where"] != BEYOND].to_dict("records"):
        verdicts = seeds[seeds["name"] == claim["name"]].set_index("seed")["verdict"]
        together = verdicts.pop(TOGETHER) if TOGETHER in verdicts else ""
        first = claim["first_verdict"] if claim["first_verdict"] != claim["verdict"] else ""
        cells = (
            f"`{claim['name']}`: {claim['claim']}",
            claim["verdict"],
            f"{claim['clear_parts']} of {claim['parts']}",
            first,
            " ".join(icons[v] for v in verdicts),
            together,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def with_tables(text: str, replacements: dict[str, str]) -> str:
    """The text with every table replaced whose first line begins as given."""
    blocks = text.split("\n\n")
    for head, table in replacements.items():
        [place] = [i for i, block in enumerate(blocks) if block.startswith(head)]
        blocks[place] = table
    return "\n\n".join(blocks)


if __name__ == "__main__":
    for path, replacements in tables().items():
        path.write_text(with_tables(path.read_text("utf-8"), replacements), "utf-8")
