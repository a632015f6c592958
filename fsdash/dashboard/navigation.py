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
    """A page: its script, its title, its icon, and the question that it answers."""

    script: str
    title: str
    icon: str
    question: str = ""

    def address(self, **query: object) -> str:
        """The page's address with a query, relative to another page's."""
        path = Path(self.script).stem.partition("_")[2]
        return f"{path}?{urlencode(query)}" if query else path


PAGES = {
    "home": PageLink("app.py", "Home", ":material/ac_unit:"),
    "story": PageLink(
        "pages/1_Story.py",
        "The story",
        ":material/auto_stories:",
        "How does freezing work? The whole idea, explained on one small example.",
    ),
    "bounds": PageLink(
        "pages/2_Bounds.py",
        "Bounds",
        ":material/show_chart:",
        "How wrong is a plan made with the slow state frozen, and what can it cost at most?",
    ),
    "choose_t": PageLink(
        "pages/3_Choose_T.py",
        "Choose T",
        ":material/target:",
        "I have a computing budget. Should I freeze? Which method and which T?",
    ),
    "your_model": PageLink(
        "pages/4_Your_model.py",
        "Your model",
        ":material/upload_file:",
        "I have my own model. What is its optimal policy, and does freezing suit it?",
    ),
    "run_lab": PageLink(
        "pages/5_Run_lab.py",
        "Run lab",
        ":material/experiment:",
        "What happens on a real problem? Run algorithms, watch them learn, compare what was run.",
    ),
    "live_gridworld": PageLink(
        "pages/6_Live_gridworld.py",
        "Live gridworld",
        ":material/sprint:",
        "Three exact methods plan side by side. Which recovers first when the map changes?",
    ),
    "inspector": PageLink(
        "pages/7_Policy_inspector.py",
        "Policy inspector",
        ":material/grid_view:",
        "What does a policy do in each state, and where does it differ from the optimal one?",
    ),
    "reproduction": PageLink(
        "pages/8_Reproduction.py",
        "Reproduction",
        ":material/fact_check:",
        "Which claims of the paper hold, and what is the evidence?",
    ),
    "teach": PageLink(
        "pages/9_Teach.py",
        "Teach",
        ":material/school:",
        "Have I understood it, and what does my class think? Exercises and anonymous answers.",
    ),
}


def is_available(page: PageLink) -> bool:
    """Whether the page's script exists."""
    return (app_folder() / page.script).exists()


@cache
def available_pages() -> list[PageLink]:
    """The pages whose script exists when the first page is drawn, in order."""
    return [page for page in PAGES.values() if is_available(page)]
