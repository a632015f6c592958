"""The pages of the dashboard and the question each of them answers.

A new page needs one entry in `PAGES`; the sidebar and the home page follow. A page without its
script is left out.
"""

from dataclasses import dataclass
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


PAGES = {
    "home": PageLink("app.py", "Home", ":material/ac_unit:"),
    "story": PageLink(
        "pages/12_Story.py",
        "The story",
        ":material/auto_stories:",
        question="How does freezing work? The whole idea, explained on one small example.",
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
        "I have a computing budget. Should I freeze? Which method and which T?",
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
        "I have my own model. What is its optimal policy, and does freezing suit it?",
    ),
    "run_lab": PageLink(
        "pages/4_Run_lab.py",
        "Run lab",
        ":material/experiment:",
        "Practice",
        "What happens on a real problem? Run several algorithms and watch them learn.",
    ),
    "live_gridworld": PageLink(
        "pages/9_Live_gridworld.py",
        "Live gridworld",
        ":material/sprint:",
        "Practice",
        "Three exact methods plan side by side. Which recovers first when the map changes?",
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
    "exercises": PageLink(
        "pages/10_Exercises.py",
        "Exercises",
        ":material/school:",
        "Teaching",
        "Have I understood it? Exercises that check my answers, and a printable sheet.",
    ),
    "class_links": PageLink(
        "pages/11_Class.py",
        "Class",
        ":material/groups:",
        "Teaching",
        "What does my class think? Share a page with a question and watch the answers arrive.",
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
