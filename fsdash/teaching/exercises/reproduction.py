"""Exercises of the page Reproduction: counting verdicts, and the rule behind them."""

from __future__ import annotations

from fsdash.reproduce import archive
from fsdash.reproduce.claims import BEYOND
from fsdash.reproduce.judging import (
    HALF,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    ClaimPart,
    verdict,
)
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
)

DIFFERENCES = (-0.01056, 0.00472, 0.02, 0.03528, 0.05056)
"""Of two methods in five replications: mean 0.02, 95% interval −0.01 to 0.05."""


def _counts() -> Facts:
    claims = archive.archived_claims()
    here = claims["name"].str.startswith("gridworld-") & (claims["where"] != BEYOND)
    counts = claims[here]["verdict"].value_counts()
    return {
        "answer": int(counts.get(PARTLY, 0)),
        "completely": int(counts.get(REPRODUCED, 0)),
        "not_reproduced": int(counts.get(NOT_REPRODUCED, 0)),
        "all": int(counts.sum()),
    }


def _work_ratio() -> Facts:
    findings = archive.archived_findings()
    own = findings[findings["name"] == "inventory-less-work"]
    (ratio,) = own[own["part"] == "work to 75%, E-FSVI, T=6 ÷ Base E-VI"]["mean"]
    return {"answer": 1 / ratio, "ratio": float(ratio), "limit": HALF}


def _small_difference() -> Facts:
    part = ClaimPart("difference of the two methods", ">", 0.0, lambda _evidence: DIFFERENCES)
    found = part.judged({})
    return {"answer": verdict([found]), "text": found.text}


EXERCISES = (
    Exercise(
        id="gridworld-claims",
        page="reproduction",
        level=READ,
        title="How much of the gridworld reproduces?",
        question="How many of the paper's claims about the gridworld are reproduced in part?",
        answer=NumberAnswer(unit="claims"),
        hint="Choose *Gridworld* under *Part* and count. Findings beyond the paper do not count.",
        solution="{answer} of {all} claims. {completely} are reproduced completely and "
        "{not_reproduced} not.",
        facts=_counts,
    ),
    Exercise(
        id="work-ratio",
        page="reproduction",
        level=COMPUTE,
        title="How much work does freezing save?",
        question="On the inventory, how many times the work of E-FSVI with T = 6 does Base E-VI "
        "need to reach 75% of the optimum? An answer within 5% counts.",
        answer=NumberAnswer(tolerance=0.05),
        hint="Open the claim that E-FSVI finds good policies with fewer evaluations. Its evidence "
        "contains the work of E-FSVI divided by that of Base E-VI.",
        solution="1 / {ratio} = {answer} times. The rule asks for a quotient below {limit}, so "
        "this part of the claim is clear. It is about a good policy, not about the best one: there "
        "Base E-VI ends higher.",
        facts=_work_ratio,
        state={"part": "Inventory control"},
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
        hint="Open *How a claim is judged* and compare the mean and the interval with 0.",
        solution="{answer}. The mean is on the required side, a part of the interval is not "
        "({text}). A correction for the number of tests would only widen it. Five replications "
        "are too few to decide.",
        facts=_small_difference,
    ),
)
