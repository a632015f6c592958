"""The wording of the story around its sections, the form of a section, and formulas with numbers.

The ten sections are in `section_texts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fsdash.formatting import number_tex, with_millions
from fsdash.theory import Constants, fsvi_bound, reward_error, transition_distance

TITLE = "Freezing slow states: the story of one small shop"
INTRODUCTION = (
    "Ten short sections, each with a figure that you can change and a question, follow one shop "
    "from value iteration, all you need to know, to the limits of freezing."
)
PRESENT_HELP = "One section per screen. Arrow keys or space: next and back. Esc: leave."
NOTES_HELP = "Opens in a new tab. It follows the presentation if both are open in the same browser."
QUESTION, ANSWER = "Question", "Answer"
NOTES_NUMBERS = "The numbers here are for the initial values of the controls."
TIMING = "{minutes} minutes; this section ends {until} minutes after the start."
PAIR_TIMING = "Before it, {minutes} minutes of work in pairs."
CLASS_TIMING = "Before it, {minutes} minutes for a question to the class."
BAR = {
    "bar": "Presentation",
    "back": "Back",
    "next": "Next",
    "place": "# of #",
    "clock": "Time since the start, and when this section should end",
    "restart": "Restart the clock",
    "leave": "Leave",
}
"""The words of the bar in presenter mode; each # becomes a number."""
LINKS = {
    "inspector": "look at every decision of a policy, block by block",
    "choose_t": "choose a method and T for a budget, by measurement",
    "your_model": "find out whether freezing suits a model of your own",
}


@dataclass(frozen=True)
class Section:
    """One section; `alt` is its figure in words, `symbols` are keys of the glossary.

    `live` is a line with the numbers of the figure for presenter mode. `class_minutes` is the time
    for a question to the class before the section, and `pair_minutes` the time for work in pairs
    before that, in the lecture of 90 minutes only.
    """

    name: str
    title: str
    sentences: tuple[str, ...]
    question: str
    answer: str
    alt: str
    symbols: tuple[str, ...]
    minutes: int
    say: tuple[str, ...]
    do: tuple[str, ...]
    formula: tuple[str, ...] = ()
    live: str = ""
    class_minutes: int = 0
    pair_minutes: int = 0


def fill(template: str, numbers: Mapping[str, object]) -> str:
    """The template with its numbers: three digits, whole numbers with separators."""
    return template.format(**{name: display(value) for name, value in numbers.items()})


def display(value: object) -> str:
    """A number as text; a text as it is."""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "almost 0" if 0 < value < 5e-3 else with_millions(value)
    return str(value)


LEARNED = (
    "You have seen the whole method: freeze, solve the block backwards, plan block by block, and "
    "know what it costs."
)

# ----------------------------------------------------------------- who orders, in the fifth section

WAIT_FOR_THE_BLOCK = (
    "With blocks this short {share} of all orders wait for the next block to begin, whatever the "
    "stock is."
)
LOWER_LEVEL_ORDERS = (
    "With blocks this long the lower level orders in the first weeks as well, and {share} of the "
    "orders are those of $\\mu$. It can leave an order to the lower level, because the stock is "
    "used up at the end of the block either way."
)

# ---------------------------------------------------------------------- the two failures of the end

CASES = {"maze": "Maze", "season": "Fast season"}
MAZE = (
    "The corridor of this maze has {cells} cells. The slow state $x$ is the end with the prize; it "
    "changes with probability {switch} per step. From the middle the prize is {half} steps away, "
    "and with {T} frozen periods the plan sees it from {seen} cells only. Elsewhere all actions "
    "look the same to the lower level, and $\\mu$ acts in one period of {T}: FSVI reaches {share} "
    "of the optimal value, on average over all states."
)
MAZE_LIVE = "$T$ = {T}: the plan sees the prize from {seen} of {cells} cells; FSVI reaches {share}."
MAZE_ADVICE = (
    "In the maze, use a longer plan (with $T$ = {long} FSVI reaches {long_share}), or a better "
    "terminal value than zero: solve the maze by FSVI with short blocks, use its values as the "
    "terminal values of the next plan, and repeat. After a few passes {repeated} of the regret is "
    "left. In the shop with the fast season, do not freeze: value iteration solves it directly."
)
MAZE_ALT = (
    "A winding corridor of {cells} cells with a prize at its end. The plan sees the prize from "
    "{seen} cells."
)
SEASON = (
    "In this shop the season rises with probability {move} per week and falls with the same "
    "probability. The best $T$ of FSVI then leaves {fsvi} of the regret of a policy that looks at "
    "this week only, and rolling freeze {rolling}. We say that freezing suits a model if at most "
    "{limit} is left; it {suits} this shop."
)
SEASON_LIVE = "Probability {move}: FSVI leaves {fsvi} of the regret, rolling freeze {rolling}."
SEASON_ALT = (
    "The share of the initial regret that freezing leaves, against the probability of a move. At "
    "{move}: FSVI {fsvi}, rolling freeze {rolling}."
)

# ----------------------------------------------------------------------------------------- formulas


def bound_tex(constants: Constants, T: int) -> tuple[str, str]:
    """The bound on the regret for k → ∞, and the same with the numbers for this T."""
    c, n = constants, number_tex
    found = fsvi_bound(c, T, k=0)
    error, distance = reward_error(c, T).total, transition_distance(c, T)
    general = (
        r"\mathcal R \le \frac{2}{(1-\gamma^T)^2} \bigl[\,\varepsilon_r + \gamma^T L_U\, d\,\bigr]"
        r" \qquad (k \to \infty)"
    )
    filled = (
        rf"{n(2 / (1 - c.gamma**T) ** 2)}\,\bigl[\,{n(float(error))} + {n(c.gamma**T)} \cdot "
        rf"{n(c.l_u)} \cdot {n(float(distance))}\,\bigr] = {n(float(found.floor))}"
    )
    return general, filled


def maximum_labels() -> tuple[str, str, str, str]:
    """The bars of the figure of the bound, from the truth to the bound."""
    return ("true regret", "certificate", "most that can be lost", "the paper's bound")
