"""Exercises of the page Home: what is frozen, and when."""

from __future__ import annotations

import numpy as np

from fsdash.algorithms import fsvi, run_until
from fsdash.choice.solved import solved_domain
from fsdash.core.simulate import simulate
from fsdash.domains import make
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    ChoiceAnswer,
    Exercise,
    Facts,
    NumberAnswer,
)


def _lower_periods() -> Facts:
    T = 4
    phases = run_until(fsvi(solved_domain(make("inventory")).model, T=T), iterations=1).policy_PXY
    return {"T": T, "answer": len(phases) - 1}


def _upper_discount() -> Facts:
    gamma, T = 0.99, 6
    return {"gamma": gamma, "T": T, "answer": gamma**T}


def _moves_in_blocks() -> Facts:
    """Whether the slow state moves between block starts when the policy of FSVI is used."""
    T, steps = 6, 60
    model = solved_domain(make("inventory")).model
    policy_PXY = run_until(fsvi(model, T=T), iterations=1).policy_PXY
    x_N = simulate(model, policy_PXY, rng=np.random.default_rng(0), steps=steps).x_N[:steps]
    inside = np.arange(1, steps) % T != 0
    moves = int((np.diff(x_N)[inside[: len(x_N) - 1]] != 0).sum())
    return {"T": T, "steps": steps, "moves": moves, "answer": "no" if moves else "yes"}


EXERCISES = (
    Exercise(
        id="lower-periods",
        page="home",
        level=READ,
        title="Which policy acts when?",
        question="The picture shows blocks of T = 4 periods. In how many periods of each block "
        "does a lower policy choose the action?",
        answer=NumberAnswer(unit="periods"),
        hint="The upper policy μ acts once in each block. Step through the picture and count.",
        solution="In {answer} periods: μ acts in the first of the {T} periods, and each of the "
        "others has a lower policy of its own. With T = 1 no lower policy is left, and the method "
        "is value iteration.",
        facts=_lower_periods,
        state={"view": "policy", "periods": "4"},
    ),
    Exercise(
        id="upper-discount",
        page="home",
        level=COMPUTE,
        title="The discount of the upper level",
        question="The discount is γ = 0.99 per period. The upper level moves T = 6 periods at a "
        "time. By which factor does it discount the value of the next block? Give three digits.",
        answer=NumberAnswer(tolerance=0.001),
        hint="A reward that comes one period later counts γ times as much. The next block comes "
        "six periods later.",
        solution="γ to the power T: {gamma}^{T} = {answer}. Each iteration of the upper level "
        "multiplies the remaining error by this factor instead of {gamma}, so it needs about {T} "
        "times fewer iterations.",
        facts=_upper_discount,
        state={"view": "upper", "periods": "6"},
    ),
    Exercise(
        id="frozen-in-use",
        page="home",
        level=EXPLAIN,
        title="Is the world frozen?",
        question="A company uses the policy of FSVI with T = 6. Does the slow state stay where it "
        "is inside a block while the policy is used?",
        answer=ChoiceAnswer(
            {
                "yes": "Yes. The slow state moves only between two blocks.",
                "no": "No. It moves in any period; only the plan assumed that it stays.",
                "upper": "It stays while a lower policy acts, and moves while μ acts.",
            }
        ),
        hint="In the picture of the policy the solid line is the true slow state, and the dashed "
        "line is the slow state in the plan.",
        solution="{answer} On a simulated path of the inventory with {steps} periods the slow "
        "state moves {moves} times inside blocks. The lower policy observes the true state (x, y); "
        "it was only computed as if x stayed where it is.",
        facts=_moves_in_blocks,
        state={"view": "policy", "periods": "6"},
    ),
)
