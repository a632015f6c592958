"""The formulas of the reward error in LaTeX, with the terms in the colours of their curves."""

import numpy as np

from fsdash.dashboard.widgets.theme import themed
from fsdash.figures.palette import TERMS
from fsdash.formatting import number_tex
from fsdash.theory import Constants, reward_error

FREEZE = r"\alpha\, d_{\mathcal Y}\, L_r \sum_{i=1}^{T-2} \gamma^i \sum_{j=0}^{i-1} L_f^{\,j}"
END = (
    r"\gamma^{T-1} L_U \Bigl[\alpha\, d_{\mathcal Y} \sum_{j=0}^{T-2} L_f^{\,j}"
    r" + \gamma\, d_{\mathcal Y}\, (\alpha+2)(T-1)\Bigr]"
)


def reward_error_tex() -> tuple[str, str]:
    """The two terms of Proposition "Reward Approximation Error", freeze and end of horizon."""
    return (
        _coloured("freeze", rf"\underbrace{{{FREEZE}}}_{{\textsf{{freeze}}}}"),
        _coloured("end_of_horizon", rf"\underbrace{{{END}}}_{{\textsf{{end of horizon}}}}"),
    )


def reward_error_filled(constants: Constants, T: int) -> tuple[str, str, str]:
    """The same two terms and their sum with the numbers for this T."""
    c, error = constants, reward_error(constants, T)
    scale = c.alpha * c.d_y * c.l_r
    with np.errstate(over="ignore"):
        powers = float(np.sum(np.power(c.l_f, np.arange(max(T - 1, 0), dtype=float))))
    # The double sum is the freeze error with all factors equal to 1.
    double = reward_error(
        Constants(gamma=c.gamma, alpha=1, d_y=1, l_r=1, l_f=c.l_f, l_u=0, r_max=0), T
    ).freeze
    n = number_tex
    freeze = rf"{n(c.alpha)} \cdot {n(c.d_y)} \cdot {n(c.l_r)} \cdot {n(float(double))}"
    end = (
        rf"{n(c.gamma)}^{{{T - 1}}} \cdot {n(c.l_u)}\,\bigl[{n(c.alpha)} \cdot {n(c.d_y)} \cdot "
        rf"{n(powers)} + {n(c.gamma)} \cdot {n(c.d_y)} \cdot {n(c.alpha + 2)} \cdot {T - 1}\bigr]"
    )
    total = rf"\varepsilon_r({T}) \le "
    return (
        _coloured("freeze", rf"{freeze} = {n(float(error.freeze) if scale else 0.0)}"),
        _coloured("end_of_horizon", rf"{end} = {n(float(error.end_of_horizon))}"),
        total
        + _coloured("freeze", n(float(error.freeze)))
        + " + "
        + _coloured("end_of_horizon", n(float(error.end_of_horizon)))
        + r" \approx "
        + n(float(error.total)),
    )


def _coloured(term: str, tex: str) -> str:
    return rf"\textcolor{{{themed(TERMS[term])}}}{{{tex}}}"
