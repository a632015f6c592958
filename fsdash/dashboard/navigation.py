"""The pages of the dashboard, the question each of them answers, and three tours through them.

A new page needs one entry in `PAGES`; the sidebar and the home page follow. A page without its
script is left out.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from fsdash.dashboard.server import app_folder


@dataclass(frozen=True)
class PageLink:
    """A page: its script, its title, its icon, its group in the sidebar, and its question."""

    script: str
    title: str
    icon: str
    group: str = ""
    question: str = ""

    def address(self, **query: object) -> str:
        """The page's address with a query, relative to another page's."""
        path = Path(self.script).stem.partition("_")[2]
        return f"{path}?{urlencode(query)}" if query else path


@dataclass(frozen=True)
class TourStop:
    """One stop of a tour: a page, the state it opens in, and what to look at there."""

    page: PageLink
    title: str
    description: str
    state: dict[str, str] = field(default_factory=dict)


PAGES = {
    "home": PageLink("app.py", "Home", ":material/ac_unit:"),
    "story": PageLink(
        "pages/9_Story.py",
        "The story",
        ":material/auto_stories:",
        question="I want to learn the whole idea, from the start, on one small example.",
    ),
    "reward_error": PageLink(
        "pages/1_Reward_error.py",
        "Reward error",
        ":material/show_chart:",
        "Theory",
        "How wrong is a plan made with the slow state frozen? Where does the error come from?",
    ),
    "choose_t": PageLink(
        "pages/2_Choose_T.py",
        "Choose T",
        ":material/target:",
        "Theory",
        "I have a computing budget. Should I freeze? Which method, with which T?",
    ),
    "linear_architecture": PageLink(
        "pages/3_Linear_architecture.py",
        "Linear architecture",
        ":material/stacked_bar_chart:",
        "Theory",
        "What changes if values are fitted by features instead of stored in tables?",
    ),
    "your_model": PageLink(
        "pages/8_Your_model.py",
        "Your model",
        ":material/upload_file:",
        "Practice",
        "I have a model of my own. What is its best policy, and does freezing suit it?",
    ),
    "run_lab": PageLink(
        "pages/4_Run_lab.py",
        "Run lab",
        ":material/experiment:",
        "Practice",
        "What happens on a real problem? Run several algorithms and watch them learn.",
    ),
    "inspector": PageLink(
        "pages/5_Policy_inspector.py",
        "Policy inspector",
        ":material/grid_view:",
        "Practice",
        "What does a policy do in each state, and where does it differ from the optimal one?",
    ),
    "runs": PageLink(
        "pages/6_Runs.py",
        "Runs",
        ":material/list_alt:",
        "Practice",
        "What have I run so far? Compare, repeat and export experiments.",
    ),
    "reproduction": PageLink(
        "pages/7_Reproduction.py",
        "Reproduction",
        ":material/fact_check:",
        "Practice",
        "Which claims of the paper hold, and what is the evidence?",
    ),
}

TOURS = {
    "For lecturers": (
        TourStop(
            PAGES["reward_error"],
            "An error that peaks and falls",
            "the total is largest at T = 23",
            {"T": "23"},
        ),
        TourStop(
            PAGES["reward_error"],
            "An error that keeps growing",
            "γL_f is just above 1",
            {"T": "90", "Lf": "1.05"},
        ),
        TourStop(
            PAGES["choose_t"],
            "Three budgets, three choices",
            "the paper's figure of regret against cost",
            {"by": "theory"},
        ),
        TourStop(PAGES["run_lab"], "Compare algorithms", "learning curves on a real problem"),
    ),
    "For practitioners": (
        TourStop(
            PAGES["choose_t"],
            "A small budget",
            "4 sweeps of value iteration: freeze and replan",
            {"budget": "4"},
        ),
        TourStop(PAGES["choose_t"], "A large budget", "60 sweeps: do not freeze", {"budget": "60"}),
        TourStop(PAGES["your_model"], "Your own model", "from a file to a policy file"),
        TourStop(PAGES["run_lab"], "Try it", "run the algorithms on a domain"),
    ),
    "For researchers": (
        TourStop(
            PAGES["reward_error"],
            "A limit far away",
            "1 < L_f < 1/γ; see the second figure",
            {"T": "60", "Lf": "1.03"},
        ),
        TourStop(
            PAGES["linear_architecture"],
            "Stated or proven bound",
            "a counterexample refutes the stated one",
            {"T": "16"},
        ),
        TourStop(PAGES["reproduction"], "The paper's claims", "each with its evidence"),
    ),
}


def is_available(page: PageLink) -> bool:
    """Whether the page's script exists."""
    return (app_folder() / page.script).exists()


@cache
def available_pages() -> dict[str, list[PageLink]]:
    """The pages whose script exists when the first page is drawn, by group, in order."""
    groups: dict[str, list[PageLink]] = {}
    for page in PAGES.values():
        if is_available(page):
            groups.setdefault(page.group, []).append(page)
    return groups
