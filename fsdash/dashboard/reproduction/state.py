"""What the Reproduction page shows: claims with their verdicts and evidence. Pure, no Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf, isnan

import pandas as pd

from fsdash.errors import InputError
from fsdash.formatting import duration, number
from fsdash.reproduce import archive as kept
from fsdash.reproduce import theory
from fsdash.reproduce.claims import BEYOND
from fsdash.reproduce.experiments import DOMAINS, TITLES, FigureSpec, experiment
from fsdash.reproduce.judging import (
    CLEAR,
    NO,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNCLEAR,
    claims_table,
    findings_table,
    judge,
)
from fsdash.theory import preset

THEORY = "theory"
PARTS = {THEORY: "Theory", **{name: title for name, (title, _) in TITLES.items()}}


@dataclass(frozen=True)
class Mark:
    """A verdict so that it can be read without its colour: a word and an icon of its own."""

    word: str
    own: str
    """The word for a finding of our own, which has nothing to reproduce."""
    icon: str
    colour: str

    def text(self, beyond: bool = False) -> str:
        return f":{self.colour}[{self.icon} **{self.own if beyond else self.word}**]"


MARKS = {
    REPRODUCED: Mark("Reproduced", "Holds", ":material/check_circle:", "green"),
    PARTLY: Mark("Partly", "Partly", ":material/contrast:", "orange"),
    NOT_REPRODUCED: Mark("Not reproduced", "Does not hold", ":material/cancel:", "red"),
}
STATES = {CLEAR: "✔ yes", UNCLEAR: "◐ unclear", NO: "✖ no"}


def claims() -> pd.DataFrame:
    """The kept claims with `part` and `beyond`; without kept results those about the theory."""
    frame = kept.kept_claims() if _kept() else claims_table(judge(theory.claims(), {}))
    return frame.assign(
        part=frame["name"].str.partition("-")[0], beyond=frame["where"] == BEYOND
    ).fillna({"remark": ""})


def findings() -> pd.DataFrame:
    """What was measured for each part of each claim."""
    return kept.kept_findings() if _kept() else findings_table(judge(theory.claims(), {}))


def _kept() -> bool:
    return all((kept.FOLDER / f"{name}.csv").exists() for name in ("claims", "findings"))


def missing() -> list[str]:
    """The domains without kept results."""
    return [domain for domain in DOMAINS if domain not in kept.kept_domains()]


def missing_told(domain: str) -> str:
    """What to do about results that are not kept."""
    return (
        f"The results of **{PARTS[domain].lower()}** are not kept with this version, so its "
        f"figures and claims are missing here. `fsdash reproduce {domain}` computes them into a "
        f"folder of your own; `python -m fsdash.reproduce {domain}` keeps them for this page."
    )


def counts(frame: pd.DataFrame) -> dict[str, int]:
    """How many claims have each verdict."""
    return {verdict: int((frame["verdict"] == verdict).sum()) for verdict in MARKS}


def measured(all_findings: pd.DataFrame, name: str) -> str:
    """The parts of one claim as a list in Markdown: what was measured, and what was needed."""
    lines = [
        f"- {f['part']}: **{_shown(f['mean'])}**{_interval(f['low'], f['high'])}, "
        f"needed {f['sign']} {number(f['limit'])}: {STATES[f['state']]}"
        for f in all_findings[all_findings["name"] == name].to_dict("records")
    ]
    return "\n".join(lines)


def _shown(value: float) -> str:
    return "never" if value == inf else number(value)


def _interval(low: float, high: float) -> str:
    return "" if isnan(low) else f" [{number(low)}, {number(high)}]"


@cache
def labels(part: str) -> dict[str, str]:
    """The figures of a part: what the page calls each, and its name."""
    if part == THEORY:
        presets = {name: name for name in theory.PANELS} | {"regret-cost": theory.REGIMES}
        return {preset(from_preset).title: name for name, from_preset in presets.items()}
    try:
        views = experiment(part).views
    except InputError:  # an algorithm of it is not installed
        return {}
    return {figure_label(view): view.name for view in views}


def figure_label(view: FigureSpec) -> str:
    """A figure of an experiment in a few words: what its title says beyond the domain's name."""
    _, colon, rest = view.title.partition(": ")
    _, comma, kind = view.title.partition(", ")
    told = rest if colon else kind if comma else "the paper's figure"
    return told[0].upper() + told[1:]


def made_told(about: dict) -> str:
    """When and with what an experiment's results were made."""
    packages = ", ".join(f"{name} {number}" for name, number in about["packages"].items())
    seconds = about["algorithm_seconds"] + about["evaluation_seconds"]
    quick = " A quick run: not meant to judge by." if about["quick"] else ""
    return (
        f"Computed on {about['date']} with fsdash {about['fsdash']}, Python {about['python']}, "
        f"{packages} on {about['system']}; {len(about['runs'])} runs, {duration(seconds)} of "
        f"computing.{quick}"
    )


_SNIPPET = """\
from fsdash.reproduce.experiments import experiment
from fsdash.reproduce.archive import kept_rows
from fsdash.reproduce.report import figure_of

plan = experiment({domain!r})
frame = kept_rows(plan.domain)  # computed again by: fsdash reproduce {domain}
[view] = [view for view in plan.views if view.name == {view!r}]
figure = figure_of(plan, view, frame)"""
_THEORY = """\
from fsdash.errors import InputError
from fsdash.formatting import duration, number
from fsdash.reproduce import theory

title, figure = theory.figures()[{view!r}]
frame = theory.tables()[{table!r}]"""


def snippet(part: str, view: str) -> str:
    """The lines that draw a figure again; they leave `figure` and `frame`."""
    if part == THEORY:
        return _THEORY.format(view=view, table=theory_table(view))
    return _SNIPPET.format(domain=part, view=view)


def theory_table(view: str) -> str:
    """Which of the theory's tables a figure is drawn from."""
    return "reward-error" if view in theory.PANELS else view
