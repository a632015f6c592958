"""The symbols, once: what a widget is called, what its help says, what a glossary lists.

A label is readable by a screen reader ("Discount γ"); the LaTeX form is for the glossary's table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    """One symbol of the paper: its label, its LaTeX form and its meaning in a sentence or two."""

    label: str
    latex: str
    meaning: str


SYMBOLS = {
    "T": Symbol(
        "Periods frozen T",
        "T",
        "For how many periods the plan pretends that the slow state stands still. The upper level "
        "then steps T periods at a time.",
    ),
    "gamma": Symbol(
        "Discount γ",
        r"\gamma",
        "How much a reward counts when it comes one period later. Close to 1 means a long look "
        "ahead.",
    ),
    "alpha": Symbol(
        "Slowness α",
        r"\alpha",
        "The largest step of the slow state, as a share of that of the fast state: it moves at "
        "most α·d_Y in a period. Small is slow.",
    ),
    "dY": Symbol(
        "Largest fast step d_Y",
        r"d_{\mathcal Y}",
        "How far the fast state can move in one period.",
    ),
    "Lr": Symbol(
        "Sensitivity of the reward L_r",
        "L_r",
        "How much the reward can differ between two states, per unit of distance (a Lipschitz "
        "constant).",
    ),
    "Lf": Symbol(
        "Sensitivity of the dynamics L_f",
        "L_f",
        "By which factor the distance between two states can grow in one period (a Lipschitz "
        "constant). Above 1, small differences grow.",
    ),
    "LU": Symbol(
        "Sensitivity of the value L_U",
        "L_U",
        "How much the optimal value can differ between two states, per unit of distance. At most "
        "L_r/(1 − γL_f) where γL_f < 1.",
    ),
    "rmax": Symbol(
        "Largest reward r_max",
        r"r_{\max}",
        "Rewards lie between 0 and r_max, so no policy can lose more than r_max/(1 − γ).",
    ),
    "k": Symbol(
        "Upper iterations k",
        "k",
        "How often the upper level is iterated. Each one multiplies what is left of the error of "
        "iteration by γ to the power T.",
    ),
    "nx": Symbol("Slow states |X|", r"\lvert\mathcal X\rvert", "The number of slow states."),
    "ny": Symbol("Fast states |Y|", r"\lvert\mathcal Y\rvert", "The number of fast states."),
    "na": Symbol("Actions |A|", r"\lvert\mathcal A\rvert", "The number of actions."),
    "kappa": Symbol(
        "Amplification κ",
        r"\kappa",
        "By which factor fitting the features can enlarge an error, at least 1. The theorem needs "
        "κγ < 1.",
    ),
    "elow": Symbol(
        "Misfit of the lower level ε_low",
        r"\varepsilon_{\mathrm{low}}",
        "How far the lower-level values are from the best that the features can represent.",
    ),
    "eup": Symbol(
        "Misfit of the upper level ε_up",
        r"\varepsilon_{\mathrm{up}}",
        "How far the upper-level values are from the best that the features can represent.",
    ),
    "er": Symbol(
        "Reward error ε_r",
        r"\varepsilon_r",
        "A bound on how far the T-period reward that the plan believes in can be off.",
    ),
}
