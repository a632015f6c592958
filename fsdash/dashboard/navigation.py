"""What each page answers, and three ways through them: links that open a page in a given state.

Pure data; pages that are not there (yet) are left out when it is drawn.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stop:
    """One step of a tour: a page, the state it opens in, and what to look at there."""

    page: str
    title: str
    why: str
    state: dict[str, str] = field(default_factory=dict)


REWARD = "pages/1_Reward_error.py"
CHOOSE = "pages/2_Choose_T.py"
LINEAR = "pages/3_Linear_architecture.py"
LAB = "pages/4_Run_lab.py"
INSPECTOR = "pages/5_Policy_inspector.py"
RUNS = "pages/6_Runs.py"
REPRODUCTION = "pages/7_Reproduction.py"

ANSWERS = {
    REWARD: "How far off can a plan be that froze the slow state, and which error is to blame?",
    CHOOSE: "I have a budget of computation. Freeze at all? With which T, for how many iterations?",
    LINEAR: "And if values are fitted by features instead of stored in tables?",
    LAB: "What happens on a real problem? Run the algorithms side by side and watch them learn.",
    INSPECTOR: "What does the policy do, state by state, and where does it differ from the best?",
    RUNS: "What have I run so far? Compare, repeat, export.",
    REPRODUCTION: "Which of the paper's claims hold up, with what evidence?",
}

TOURS = {
    "The lecturer": (
        Stop(REWARD, "An error that comes and goes", "the total peaks at T = 23", {"T": "23"}),
        Stop(REWARD, "One that never ends", "γL_f is just above 1", {"T": "90", "Lf": "1.05"}),
        Stop(CHOOSE, "Three budgets, three winners", "the paper's regret against cost"),
        Stop(LAB, "The race", "the same algorithms on a real problem"),
    ),
    "The practitioner": (
        Stop(CHOOSE, "A tight budget", "4 sweeps of value iteration", {"budget": "4"}),
        Stop(CHOOSE, "A generous one", "60 sweeps: no freezing", {"budget": "60"}),
        Stop(LAB, "The real thing", "run it on a domain"),
    ),
    "The researcher": (
        Stop(
            REWARD,
            "A ceiling far away",
            "1 < L_f < 1/γ; the second figure has it",
            {"T": "60", "Lf": "1.03"},
        ),
        Stop(LINEAR, "Stated or corrected", "at a small T the two differ most", {"T": "2"}),
        Stop(REPRODUCTION, "The claims", "each with its evidence"),
    ),
}
