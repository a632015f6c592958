"""What the Reproduction page shows: claims with verdicts and evidence. Pure, no Streamlit."""

from __future__ import annotations

from functools import cache

import pandas as pd

from fsdash.dashboard.reproduction import text
from fsdash.dashboard.reproduction.text import THEORY
from fsdash.errors import InputError
from fsdash.reproduce import archive, theory_figures
from fsdash.reproduce.claims import BEYOND, theory_claims
from fsdash.reproduce.experiments import DOMAINS, FigureSpec, experiment
from fsdash.reproduce.judging import claims_table, findings_table, judge
from fsdash.theory import preset


def claims() -> pd.DataFrame:
    """The archived claims with their `part` of the page and whether they go `beyond` the paper.

    Without an archive: the claims about the theory, judged now.
    """
    frame = (
        archive.archived_claims() if _is_archived() else claims_table(judge(theory_claims(), {}))
    )
    return frame.assign(
        part=frame["name"].str.partition("-")[0], beyond=frame["where"] == BEYOND
    ).fillna({"remark": ""})


def findings() -> pd.DataFrame:
    """What was measured for each part of each claim."""
    return (
        archive.archived_findings()
        if _is_archived()
        else findings_table(judge(theory_claims(), {}))
    )


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
    found = findings[findings["name"] == claim].to_dict("records")
    return "\n".join(f"- {text.finding(one)}" for one in found)


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
    label = after_colon if colon else after_comma if comma else text.PAPER_FIGURE
    return label[0].upper() + label[1:]


_SNIPPET = """\
from fsdash.reproduce.archive import archived_rows
from fsdash.reproduce.experiments import experiment
from fsdash.reproduce.report import figure_of

plan = experiment({domain!r})
frame = archived_rows(plan.domain)  # to compute them again: fsdash reproduce {domain}
[spec] = [spec for spec in plan.figures if spec.name == {name!r}]
figure = figure_of(plan, spec, frame)"""
_THEORY_SNIPPET = """\
from fsdash.reproduce import theory_figures

title, figure = theory_figures.figures()[{name!r}]
frame = theory_figures.tables()[{table!r}]"""


def snippet(part: str, name: str) -> str:
    """Python code that draws a figure again as `figure`, with its table as `frame`."""
    if part == THEORY:
        return _THEORY_SNIPPET.format(name=name, table=theory_table(name))
    return _SNIPPET.format(domain=part, name=name)


def theory_table(name: str) -> str:
    """The name of the table behind a figure of the theory."""
    return "reward-error" if name in theory_figures.PANELS else name
