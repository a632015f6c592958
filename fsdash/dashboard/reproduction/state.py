"""What the Reproduction page shows: claims with verdicts and evidence. Pure, no Streamlit."""

from __future__ import annotations

from functools import cache, lru_cache
from math import isnan, nan

import pandas as pd

from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.reproduction import text
from fsdash.dashboard.reproduction.text import THEORY
from fsdash.errors import InputError
from fsdash.reproduce import archive, theory_figures
from fsdash.reproduce.claims import BEYOND, numerical_claims, theory_claims
from fsdash.reproduce.experiments import DOMAINS, FigureSpec, experiment
from fsdash.reproduce.judging import Verdict, claims_table, findings_table
from fsdash.reproduce.report import verdicts, work_table
from fsdash.reproduce.robustness import TOGETHER
from fsdash.reproduce.samples import COLUMNS
from fsdash.reproduce.settings import COUNTS, SHARES, TIES_ORDER, Setting
from fsdash.theory import preset

ARCHIVED = Setting()
"""The setting of the archived verdicts."""


def claim_names() -> tuple[str, ...]:
    """The names of all claims, which links use."""
    return tuple(claim.name for claim in (*theory_claims(), *numerical_claims()))


def claims(setting: Setting = ARCHIVED) -> pd.DataFrame:
    """The claims with their `part` of the page and whether they go `beyond` the paper.

    They are judged from the archived rows, read as the setting says; without an archive, only those
    about the theory.
    """
    stored = setting == ARCHIVED and _is_archived()
    frame = archive.archived_claims() if stored else claims_table(_judged(setting))
    return frame.assign(part=frame["name"].str.partition("-")[0], beyond=frame["where"] == BEYOND)


def findings(setting: Setting = ARCHIVED) -> pd.DataFrame:
    """What was measured for each part of each claim."""
    stored = setting == ARCHIVED and _is_archived()
    return archive.archived_findings() if stored else findings_table(_judged(setting))


def work(domain: str, setting: Setting = ARCHIVED) -> pd.DataFrame:
    """The work of each method to reach 75%, 90% and 95% of the optimum."""
    if setting == ARCHIVED:
        return archive.archived_work(domain)
    return work_table(experiment(domain), archive.archived_rows(domain), setting)


def sensitivity() -> pd.DataFrame:
    """The verdict on each claim in every setting; empty without an archive."""
    if not (archive.FOLDER / "sensitivity.csv").exists():
        return pd.DataFrame(columns=["name", "count", "ties", "share", "verdict"])
    return archive.archived_sensitivity()


def seeds() -> pd.DataFrame:
    """The verdict on each claim for every seed; empty without an archive."""
    if not (archive.FOLDER / "seeds.csv").exists():
        return pd.DataFrame(columns=["name", "seed", "verdict", "clear_parts", "parts"])
    return archive.archived_seeds()


def constants() -> pd.DataFrame:
    """The verdicts on the inventory for other costs; empty without an archive."""
    if not (archive.FOLDER / "constants.csv").exists():
        return pd.DataFrame(columns=["name", "verdict"])
    return archive.archived_constants()


def samples() -> pd.DataFrame:
    """Where Base E-VI ends, by domain and number of samples; empty without an archive."""
    if not (archive.FOLDER / "samples.csv").exists():
        return pd.DataFrame(columns=COLUMNS)
    return archive.archived_samples()


def samples_results(samples: pd.DataFrame) -> list[str]:
    """For each domain, what the final shares of Base E-VI show."""
    return [
        text.samples_result(
            str(domain), rows.set_index(["M", "common_random_numbers"])["final"].to_dict()
        )
        for domain, rows in samples.groupby("domain", sort=False)
    ]


def _judged(setting: Setting) -> list[Verdict]:
    return _judged_in(str(archive.FOLDER), setting)


@lru_cache(maxsize=16)
def _judged_in(folder: str, setting: Setting) -> list[Verdict]:
    results = {
        name: (experiment(name), archive.archived_rows(name)) for name in archive.archived_domains()
    }
    return verdicts(results, True, setting, archive.archived_budgets())


def _is_archived() -> bool:
    return all((archive.FOLDER / f"{name}.csv").exists() for name in ("claims", "findings"))


def missing_domains() -> list[str]:
    """The domains without archived results."""
    return [domain for domain in DOMAINS if domain not in archive.archived_domains()]


def verdict_counts(claims: pd.DataFrame) -> dict[str, int]:
    """The number of claims with each verdict."""
    return {verdict: int((claims["verdict"] == verdict).sum()) for verdict in text.VERDICTS}


def findings_markdown(findings: pd.DataFrame, claim: str) -> str:
    """The measured values of one claim, with their limits, as a list in Markdown."""
    lines, sweeps = [], nan
    for one in findings[findings["name"] == claim].to_dict("records"):
        if one["sweeps"] != sweeps and not isnan(one["sweeps"]):
            sweeps = one["sweeps"]
            lines.append(f"\n{text.after_sweeps(sweeps)}\n")
        lines.append(f"- {text.finding(one)}")
    return "\n".join(lines)


def seeds_markdown(seeds: pd.DataFrame, claim: str) -> str:
    """The verdict on a claim for every seed and for all replications together, as a table."""
    rows = seeds[seeds["name"] == claim]
    columns = zip(rows["verdict"], rows["clear_parts"], rows["parts"], strict=True)
    verdicts = dict(zip(rows["seed"], columns, strict=True))
    return text.seeds_table(verdicts) if verdicts else ""


def verdicts_table(claims: pd.DataFrame, seeds: pd.DataFrame) -> pd.DataFrame:
    """One row per claim: its verdict, by the first rule too, and for five seeds."""
    icon = {verdict: short[0] for verdict, short in text.SHORT_VERDICTS.items()}
    by_seed = {name: rows.set_index("seed")["verdict"] for name, rows in seeds.groupby("name")}
    none = pd.Series(dtype=str)
    rows = []
    for claim in claims.to_dict("records"):
        verdicts = by_seed.get(claim["name"], none)
        changed = claim["first_verdict"] != claim["verdict"]
        rows.append(
            {
                "claim": claim["claim"],
                "verdict": claim["verdict"],
                "parts": f"{claim['clear_parts']} of {claim['parts']}",
                "first": claim["first_verdict"] if changed else "",
                "seeds": " ".join(icon[v] for v in verdicts.drop(TOGETHER, errors="ignore")),
                "together": verdicts.get(TOGETHER, ""),
                "link": PAGES["reproduction"].address(claim=claim["name"]),
            }
        )
    return pd.DataFrame(rows, columns=list(text.TABLE_COLUMNS))


def constants_markdown(constants: pd.DataFrame, claim: str) -> str:
    """In how many sets of costs the claim has each verdict."""
    rows = constants[constants["name"] == claim]
    if rows.empty:
        return ""
    counts = {v: n for v in text.VERDICTS if (n := int((rows["verdict"] == v).sum()))}
    ranges = {name: (rows[name].min(), rows[name].max()) for name in ("c", "K", "h")}
    return text.constants_result(counts, ranges)


def sensitivity_markdown(sensitivity: pd.DataFrame, claim: str) -> str:
    """How the verdict on a claim depends on count, ties and budget: a sentence or a table."""
    found = sensitivity[sensitivity["name"] == claim]
    if found.empty:
        return ""
    if found["verdict"].nunique() == 1:
        return text.SAME_VERDICT
    verdict_in = found.set_index(["count", "ties", "share"])["verdict"].to_dict()
    lines = [text.sensitivity_header(SHARES)]
    for ties in TIES_ORDER:
        for count in COUNTS:
            lines.append(
                text.sensitivity_row(ties, count, [verdict_in[count, ties, s] for s in SHARES])
            )
    return "\n".join(lines)


@cache
def figure_names(part: str) -> dict[str, str]:
    """The figures of a part: label on the page → name."""
    if part == THEORY:
        presets = {name: name for name in theory_figures.PANELS} | {
            "regret-cost": theory_figures.REGIMES
        }
        return {preset(from_preset).title: name for name, from_preset in presets.items()}
    try:
        specs = experiment(part).figures
    except InputError:  # one of its algorithms is not installed
        return {}
    return {figure_label(spec): spec.name for spec in specs}


def figure_label(spec: FigureSpec) -> str:
    """The title of an experiment's figure without the name of the domain."""
    _, colon, after_colon = spec.title.partition(": ")
    _, comma, after_comma = spec.title.partition(", ")
    label = after_colon if colon else after_comma if comma else "The paper's figure"
    return label[0].upper() + label[1:]


_SNIPPET = """\
from fsdash.reproduce import Setting, archived_rows, experiment, figure_of

plan = experiment({domain!r})
frame = archived_rows(plan.domain)  # to compute them again: fsdash reproduce {domain}
[spec] = [spec for spec in plan.figures if spec.name == {name!r}]
figure = figure_of(plan, spec, frame, setting={setting})"""
_THEORY_SNIPPET = """\
from fsdash.reproduce import theory_figures

title, figure = theory_figures.figures()[{name!r}]
frame = theory_figures.tables()[{table!r}]"""


def snippet(part: str, name: str, setting: Setting = ARCHIVED) -> str:
    """Python code that draws a figure again as `figure`, with its table as `frame`."""
    if part == THEORY:
        return _THEORY_SNIPPET.format(name=name, table=theory_table(name))
    return _SNIPPET.format(domain=part, name=name, setting=setting)


def theory_table(name: str) -> str:
    """The name of the table behind a figure of the theory."""
    return "reward-error" if name in theory_figures.PANELS else name
