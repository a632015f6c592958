"""The symbols of the paper: the label and the help text of their widgets, and the glossary.

Screen readers can read a label ("Discount γ"); the LaTeX form is for the table of symbols.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    """One symbol of the paper: its label, its LaTeX form, and its meaning in a sentence or two."""

    label: str
    latex: str
    meaning: str

    @property
    def sign(self) -> str:
        """The symbol in plain text: the last word of the label."""
        return self.label.rsplit(" ", 1)[-1]


SYMBOLS = {
    "T": Symbol(
        "Periods frozen T",
        "T",
        "The number of periods for which the plan assumes that the slow state stays where it is. "
        "The upper level moves T periods at a time.",
    ),
    "gamma": Symbol(
        "Discount γ",
        r"\gamma",
        "A reward that comes one period later counts γ times as much. Near 1, rewards far in the "
        "future matter.",
    ),
    "alpha": Symbol(
        "Slowness α",
        r"\alpha",
        "The largest step of the slow state relative to that of the fast state: in one period it "
        "moves by at most α·d_Y. Smaller means slower.",
    ),
    "dY": Symbol(
        "Largest fast step d_Y",
        r"d_{\mathcal Y}",
        "The largest distance that the fast state can move in one period.",
    ),
    "Lr": Symbol(
        "Sensitivity of the reward L_r",
        "L_r",
        "The Lipschitz constant of the reward: the largest difference between the rewards of two "
        "states, per unit of distance.",
    ),
    "Lf": Symbol(
        "Sensitivity of the dynamics L_f",
        "L_f",
        "The Lipschitz constant of the dynamics: the largest factor by which the distance between "
        "two states can grow in one period. Above 1, small differences grow.",
    ),
    "Lfrozen": Symbol(
        "Sensitivity of the frozen dynamics L̃",
        r"\tilde L",
        "The Lipschitz constant of the frozen dynamics. With two or more slow states it is at "
        "least 1, because x stays where it is. If freezing x does not change how y moves, it is at "
        "most √(1 + L_f²), and L_f with one slow state.",
    ),
    "eta": Symbol(
        "Error of a frozen step η",
        r"\eta",
        "The largest distance between the next state and the next state with x frozen. If freezing "
        "x does not change how y moves, it is α·d_Y.",
    ),
    "dYfrozen": Symbol(
        "Largest frozen move of the fast state d̃_Y",
        r"\tilde d_Y",
        "The fast state moves at most this far per period while x is frozen. If freezing x does "
        "not change how y moves, it is d_Y.",
    ),
    "LU": Symbol(
        "Sensitivity of the value L_U",
        "L_U",
        "The Lipschitz constant of the optimal value. It is at most L_r/(1 − γL_f) if γL_f < 1.",
    ),
    "rmax": Symbol(
        "Largest reward r_max",
        r"r_{\max}",
        "Rewards are between 0 and r_max, so no policy can lose more than r_max/(1 − γ).",
    ),
    "k": Symbol(
        "Upper iterations k",
        "k",
        "The number of iterations of the upper level. Each multiplies the remaining iteration "
        "error by γ to the power T.",
    ),
    "sweeps": Symbol(
        "Sweeps k", "k", "The number of sweeps of value iteration. Each updates all states."
    ),
    "nx": Symbol("Slow states |X|", r"\lvert\mathcal X\rvert", "The number of slow states."),
    "ny": Symbol("Fast states |Y|", r"\lvert\mathcal Y\rvert", "The number of fast states."),
    "na": Symbol("Actions |A|", r"\lvert\mathcal A\rvert", "The number of actions."),
    "kappa": Symbol(
        "Amplification κ",
        r"\kappa",
        "The largest factor by which fitting the features can amplify an error; at least 1. The "
        "theorem requires κγ < 1.",
    ),
    "elow": Symbol(
        "Misfit of the lower level ε_low",
        r"\varepsilon_{\mathrm{low}}",
        "The distance of the lower level's values from the closest ones that the features can "
        "represent.",
    ),
    "eup": Symbol(
        "Misfit of the upper level ε_up",
        r"\varepsilon_{\mathrm{up}}",
        "The distance of the upper level's values from the closest ones that the features can "
        "represent.",
    ),
    "er": Symbol(
        "Reward error ε_r",
        r"\varepsilon_r",
        "A bound on the difference between the plan's reward over T periods and the true one.",
    ),
    "x": Symbol("Slow state x", "x", "The part of the state that changes rarely or a little."),
    "y": Symbol("Fast state y", "y", "The part of the state that changes a lot in each period."),
    "s": Symbol("State s", "s", "The slow and the fast state together, s = (x, y)."),
    "a": Symbol("Action a", "a", "What is decided in a period, such as the units ordered."),
    "r": Symbol("Reward r", "r", "The expected reward of one period, given the state and action."),
    "t": Symbol("Period t", "t", "A week in the shop; in a block, t = 0, …, T − 1."),
    "st": Symbol("State in period t s_t", "s_t", "The state in period t."),
    "nu": Symbol("Stationary policy ν", r"\nu", "The same rule for the action in every period."),
    "E": Symbol("Expectation 𝔼", r"\mathbb E", "The mean over the random moves of the state."),
    "ynext": Symbol("Next fast state y′", "y'", "The fast state one period later."),
    "norm": Symbol(
        "Largest absolute value ‖·‖",
        r"\lVert\cdot\rVert",
        "The largest absolute value over all states.",
    ),
    "H": Symbol(
        "Bellman operator H",
        "H",
        "One sweep of value iteration: the best reward of a period plus the discounted value of "
        "the next state.",
    ),
    "Hfrozen": Symbol(
        "Frozen Bellman operator H̃",
        r"\tilde H",
        "The same as H, but the slow state stays where it is.",
    ),
    "Uk": Symbol("Values of value iteration U^k", "U^k", "The values after k sweeps."),
    "Ustar": Symbol(
        "Optimal value U*", "U^*", "The largest expected discounted reward from each state."
    ),
    "J": Symbol(
        "Value of the lower level J_t",
        "J_t",
        "The best reward from period t to the end of the block, with the slow state frozen. After "
        "the block it is zero.",
    ),
    "pi": Symbol(
        "Policy of the lower level π_t",
        r"\pi_t",
        "The best action in period t of a block, with the slow state frozen.",
    ),
    "V": Symbol(
        "Values of the upper level V^k", "V^k", "The values after k iterations over whole blocks."
    ),
    "mu": Symbol(
        "Policy of the upper level μ", r"\mu", "The action in the first period of each block."
    ),
    "sT": Symbol(
        "State after a block s_T", "s_T", "The state that the true dynamics reach after a block."
    ),
    "n": Symbol("Frozen periods to go n", "n", "The length of the plan that rolling freeze makes."),
    "d": Symbol(
        "Distance between end states d",
        "d",
        "How far apart two policies of the lower level can end: 2 d_Y (α + 1)(T − 1).",
    ),
    "regret": Symbol(
        "Regret R",
        r"\mathcal R",
        "The optimal value minus the value of the policy under the true dynamics.",
    ),
}
