"""The Linear architecture page without its widgets: defaults, tables and code for them.

Each snippet leaves its table in the variable `frame`; tests run the snippets and compare.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from fsdash.theory import PRESETS, Constants, fsavi_bound, repaired_bound

LARGEST_T = 40
T_VALUES = np.arange(1, LARGEST_T + 1)
MISFITS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
START = PRESETS["three-regimes"].constants
START_T, START_K = 6, 20
EXAMPLES = {
    "good": {"kappa": 1.02, "eps_low": 0.05, "eps_up": 0.2},
    "perfect": {"kappa": 1.0, "eps_low": 0.0, "eps_up": 0.0},
    "poor": {"kappa": 1.08, "eps_low": 0.5, "eps_up": 2.0},
}
"""Features by name: the amplification κ and the two misfits."""
START_FIT = EXAMPLES["good"]


@dataclass(frozen=True)
class LinearState:
    """The state of the page.

    `fit` holds kappa, eps_low and eps_up. `l_frozen` is L̃ of the proven bounds; None selects
    √(1 + L_f²).
    """

    constants: Constants
    T: int
    k: int
    fit: dict[str, float]
    l_frozen: float | None = None

    def regret(self, T: int | np.ndarray, *, bound: Literal["proven", "stated"] = "proven"):
        """The bound of FSAVI on regret."""
        return fsavi_bound(
            self.constants, T, k=self.k, **self.fit, bound=bound, l_frozen=self.l_frozen
        )


_BOUND = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, fsavi_bound, repaired_bound

constants = {constants!r}
T, k = np.arange(1, {last} + 1), {k}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
l_frozen = {l_frozen!r}  # None: the square root of 1 + l_f**2
proven = fsavi_bound(constants, T, k=k, **fit, l_frozen=l_frozen)
stated = fsavi_bound(constants, T, k=k, **fit, bound="stated")  # does not hold in general
frame = pd.DataFrame({{
    "T": T,
    "proven": proven.total,
    "as_stated": stated.total,
    "without_features": repaired_bound(constants, T, k=k, l_frozen=l_frozen).total,
}})
print(frame[frame["T"] == {T}])"""

_TERMS = """\
import pandas as pd
from fsdash.theory import Constants, fsavi_bound

constants = {constants!r}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
rows = []
for name in ("stated", "proven"):  # the stated one does not hold in general
    bound = fsavi_bound(constants, {T}, k={k}, **fit, bound=name, l_frozen={l_frozen!r})
    rows.append({{"bound": name, **vars(bound), "total": bound.total}})
frame = pd.DataFrame(rows)"""


def bound_frame(state: LinearState) -> pd.DataFrame:
    """The bound against T: proven, as stated, and the repaired one of FSVI without features."""
    exact = repaired_bound(state.constants, T_VALUES, k=state.k, l_frozen=state.l_frozen)
    return pd.DataFrame(
        {
            "T": T_VALUES,
            "proven": state.regret(T_VALUES).total,
            "as_stated": state.regret(T_VALUES, bound="stated").total,
            "without_features": exact.total,
        }
    )


def bound_snippet(state: LinearState) -> str:
    """Python code that recomputes `bound_frame`."""
    return _format(_BOUND, state, last=LARGEST_T)


def terms_frame(state: LinearState) -> pd.DataFrame:
    """The terms of the bound at the chosen T: a row for each version."""
    bounds = {"stated": state.regret(state.T, bound="stated"), "proven": state.regret(state.T)}
    return pd.DataFrame(
        [{"bound": name, **vars(bound), "total": bound.total} for name, bound in bounds.items()]
    )


def terms_snippet(state: LinearState) -> str:
    """Python code that recomputes `terms_frame`."""
    return _format(_TERMS, state)


def _format(template: str, state: LinearState, **more: int) -> str:
    given = {
        "constants": state.constants,
        "T": state.T,
        "k": state.k,
        "l_frozen": state.l_frozen,
    }
    return template.format(**given, **state.fit, **more)
