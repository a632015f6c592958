"""Exercises of the page Reproduction: counting verdicts, and the rule behind them."""

from __future__ import annotations

from fsdash.reproduce import archive
from fsdash.reproduce.claims import BEYOND
from fsdash.reproduce.judging import (
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    ClaimPart,
    finding,
    verdict,
)
from fsdash.teaching.exercises.base import (
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
)


def _counts() -> Facts:
    claims = archive.archived_claims()
    counts = claims[claims["where"] != BEYOND]["verdict"].value_counts()
    return {
        "answer": int(counts[REPRODUCED]),
        "partly": int(counts.get(PARTLY, 0)),
        "not_reproduced": int(counts.get(NOT_REPRODUCED, 0)),
        "all": int(counts.sum()),
    }


def _small_difference() -> Facts:
    part = ClaimPart("difference of the two methods", ">", 0.0, lambda _evidence: [])
    found = finding(part, (0.02, -0.01, 0.05, 5))
    return {"answer": verdict([found.state]), "text": found.text}


EXERCISES = (
    Exercise(
        id="claims-reproduced",
        page="reproduction",
        level=READ,
        title="How much of the paper reproduces?",
        question="How many of the paper's claims are reproduced completely?",
        answer=NumberAnswer(unit="claims"),
        hint="The counts are at the top of the page. Findings beyond the paper do not count.",
        solution="{answer} of {all} claims. {partly} are reproduced partly and {not_reproduced} "
        "not.",
        facts=_counts,
    ),
    Exercise(
        id="small-difference",
        page="reproduction",
        level=EXPLAIN,
        title="A difference that is not clear",
        question="Two methods differ by 0.02 on average over five replications, and the 95% "
        "interval of the difference is −0.01 to 0.05. What is the verdict on “the first is "
        "better”?",
        answer=ChoiceAnswer(
            {REPRODUCED: "Reproduced", PARTLY: "Partly", NOT_REPRODUCED: "Not reproduced"}
        ),
        hint="Open *How verdicts are reached* and compare the mean and the interval with 0.",
        solution="{answer}. The mean is on the required side, a part of the interval is not "
        "({text}). Five replications are too few to decide.",
        facts=_small_difference,
    ),
)
