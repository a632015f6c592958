"""The Linear architecture page without its widgets: defaults, tables and code for them.

Each snippet leaves its table in the variable `frame`; tests run the snippets and compare.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fsdash.theory import PRESETS, Constants, fsavi_regret, fsvi_regret

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
    """The state of the page. `fit` holds kappa, eps_low and eps_up."""

    constants: Constants
    T: int
    k: int
    fit: dict[str, float]

    def regret(self, T: int | np.ndarray, *, corrected: bool = True):
        """The bound of FSAVI on regret."""
        return fsavi_regret(self.constants, T, k=self.k, **self.fit, corrected=corrected)


_BOUND = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, fsavi_regret, fsvi_regret

constants = {constants!r}
T, k = np.arange(1, {last} + 1), {k}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
corrected = fsavi_regret(constants, T, k=k, **fit)
stated = fsavi_regret(constants, T, k=k, **fit, corrected=False)
frame = pd.DataFrame({{
    "T": T,
    "corrected": corrected.total,
    "as_stated": stated.total,
    "without_features": fsvi_regret(constants, T, k=k).total,
}})
print(frame[frame["T"] == {T}])"""

_TERMS = """\
import pandas as pd
from fsdash.theory import Constants, fsavi_regret

constants = {constants!r}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
rows = []
for corrected in (False, True):
    bound = fsavi_regret(constants, {T}, k={k}, **fit, corrected=corrected)
    rows.append({{"corrected": corrected, **vars(bound), "total": bound.total}})
frame = pd.DataFrame(rows)"""


def bound_frame(state: LinearState) -> pd.DataFrame:
    """The bound against T: corrected, as stated, and of FSVI without features."""
    return pd.DataFrame(
        {
            "T": T_VALUES,
            "corrected": state.regret(T_VALUES).total,
            "as_stated": state.regret(T_VALUES, corrected=False).total,
            "without_features": fsvi_regret(state.constants, T_VALUES, k=state.k).total,
        }
    )


def bound_snippet(state: LinearState) -> str:
    """Python code that recomputes `bound_frame`."""
    return _format(_BOUND, state, last=LARGEST_T)


def terms_frame(state: LinearState) -> pd.DataFrame:
    """The terms of the bound at the chosen T: a row for each version."""
    bounds = {corrected: state.regret(state.T, corrected=corrected) for corrected in (False, True)}
    return pd.DataFrame(
        [
            {"corrected": corrected, **vars(bound), "total": bound.total}
            for corrected, bound in bounds.items()
        ]
    )


def terms_snippet(state: LinearState) -> str:
    """Python code that recomputes `terms_frame`."""
    return _format(_TERMS, state)


def _format(template: str, state: LinearState, **more: int) -> str:
    given = {"constants": state.constants, "T": state.T, "k": state.k}
    return template.format(**given, **state.fit, **more)
