"""Exercises of the page Policy inspector: what the phases of a policy do, and what they lose."""

from __future__ import annotations

from functools import cache

import numpy as np

from fsdash.algorithms import fsvi, run_until
from fsdash.algorithms.optimum import regret
from fsdash.choice.solved import solved_domain
from fsdash.domains import make
from fsdash.teaching.exercises.base import (
    COMPUTE,
    EXPLAIN,
    READ,
    Exercise,
    Facts,
    NumberAnswer,
    PageValues,
    StateAnswer,
)


@cache
def _fsvi_policy(domain: str, T: int) -> np.ndarray:
    return run_until(fsvi(solved_domain(make(domain)).model, T=T), tolerance=1e-3).policy_PXY


def _share(domain: str, policy: np.ndarray) -> float:
    """The policy's mean return as a share of the optimum."""
    solved = solved_domain(make(domain))
    lost = regret(solved.model, policy, best=solved.best).mean_regret
    return 1 - lost / solved.optimal_return


def _no_orders() -> Facts:
    """Phases of FSVI on the inventory that order nothing in any state."""
    T, model = 12, solved_domain(make("inventory")).model
    orders_PXY = model.actions.values[_fsvi_policy("inventory", T)].reshape(T, -1)
    idle = [t for t in range(T) if not orders_PXY[t].any()]
    return {"T": T, "answer": len(idle), "idle": " and ".join(f"π_{t}" for t in idle)}


def _short_plan() -> Facts:
    T = 3
    share = _share("gridworld", _fsvi_policy("gridworld", T))
    return {"T": T, "answer": 100 * share}


def _compares_with_optimum(page: PageValues) -> bool:
    return (
        page["experiment"] is None
        and (page["domain"], page["method"], page["T"]) == ("pricing", "fsvi", 6)
        and page["compare"] == "optimum"
    )


def _pricing() -> Facts:
    return {"share": f"{_share('pricing', _fsvi_policy('pricing', 6)):.1%}"}


EXERCISES = (
    Exercise(
        id="idle-phases",
        page="inspector",
        level=READ,
        title="Phases that never order",
        question="FSVI with T = 12 on the inventory has 12 phases, μ and π_1 to π_11. How many of "
        "them order nothing, whatever the stock and the demand are?",
        answer=NumberAnswer(unit="phases"),
        hint="Move the phase to the last ones and look at the map of the orders.",
        solution="{answer}: {idle}. The lower level is planned as if the problem ended with the "
        "block, so stock that is left at the end has no value. μ takes later blocks into account.",
        facts=_no_orders,
        state={"domain": "inventory", "method": "fsvi", "T": "12"},
    ),
    Exercise(
        id="short-plan",
        page="inspector",
        level=COMPUTE,
        title="A plan that is too short",
        question="What share of the optimal mean return does FSVI with T = 3 earn on the "
        "gridworld? Give a percentage; an answer within 2% of it counts.",
        answer=NumberAnswer(tolerance=0.02, unit="%"),
        hint="The numbers below the figure show the share of the optimum at the last step.",
        solution="{answer}%. A plan of {T} periods rarely reaches a delivery, so most moves look "
        "alike to the lower level. Only μ looks further ahead, and it acts in one period of {T}.",
        facts=_short_plan,
        state={"domain": "gridworld", "method": "fsvi", "T": "3"},
    ),
    Exercise(
        id="compare-with-optimum",
        page="inspector",
        level=EXPLAIN,
        title="Where is the difference?",
        question="Show FSVI with T = 6 on pricing, compared with the optimal policy. Then press "
        "*Check this page*, and describe where the two differ.",
        answer=StateAnswer(
            _compares_with_optimum,
            {
                "experiment": None,
                "domain": "pricing",
                "method": "fsvi",
                "T": 6,
                "compare": "optimum",
            },
        ),
        hint="Choose an exact solution under *Change*, then the optimal policy under *Compare "
        "with*.",
        solution="Under *Change* choose *An exact solution*, Pricing, FSVI and T = 6; under "
        "*Compare with* choose the optimal policy. FSVI earns {share} of the optimum. The map "
        "shows where the optimal action is better than that of μ.",
        facts=_pricing,
        state={"domain": "inventory", "method": "fsvi", "T": "6"},
    ),
)
