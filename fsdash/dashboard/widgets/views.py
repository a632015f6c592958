"""What a page shows, as a table and as the lines of Python that recompute it.

Every snippet leaves the table in the variable `frame`; tests run them and compare. Pure, no
Streamlit.
"""

from dataclasses import asdict
from functools import cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.reward_error import L_F_VALUES, reward_error_figure
from fsdash.theory import PRESETS, Constants, fsavi_regret, fsvi_regret, reward_error
from fsdash.theory.landmarks import freeze_ceiling, freeze_error
from fsdash.theory.measured_domains import measured_domains

_REWARD_ERROR = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, reward_error

constants = {constants}
T = np.arange(1, {last} + 1)
error = reward_error(constants, T)
frame = pd.DataFrame({{
    "T": T,
    "freeze_error": error.freeze,
    "end_of_horizon_error": error.end_of_horizon,
    "reward_error": error.total,
}})
print(frame[frame["T"] == {T}])"""

_FSAVI = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, fsavi_regret, fsvi_regret

constants = {constants}
T, k = np.arange(1, {last} + 1), {k}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
corrected = fsavi_regret(constants, T, k, **fit)
stated = fsavi_regret(constants, T, k, **fit, corrected=False)
frame = pd.DataFrame({{
    "T": T,
    "corrected": corrected.total,
    "as_stated": stated.total,
    "without_features": fsvi_regret(constants, T, k).total,
}})
print(frame[frame["T"] == {T}])"""

_CEILING = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants
from fsdash.theory.landmarks import freeze_ceiling, freeze_error

constants = {constants}
l_f = np.linspace({low!r}, {high!r}, {n})
frame = pd.DataFrame({{
    "l_f": l_f,
    "freeze_error": freeze_error(constants, {T}, l_f),
    "ceiling": freeze_ceiling(constants, l_f),
}})"""

_TERMS = """\
import pandas as pd
from fsdash.theory import Constants, fsavi_regret

constants = {constants}
fit = dict(kappa={kappa!r}, eps_low={eps_low!r}, eps_up={eps_up!r})
rows = []
for corrected in (False, True):
    bound = fsavi_regret(constants, {T}, {k}, **fit, corrected=corrected)
    rows.append({{"corrected": corrected, **vars(bound), "total": bound.total}})
frame = pd.DataFrame(rows)"""

_TRUTH = """\
import pandas as pd
from fsdash.theory.measured_domains import measured_domains
from fsdash.theory import fsvi_regret

domain = measured_domains()[{name!r}]
T = sorted(domain.regret)
frame = pd.DataFrame({{
    "T": T,
    "bound": fsvi_regret(domain.constants, T, 0).floor,
    "largest_regret": [domain.regret[t][0] for t in T],
    "mean_regret": [domain.regret[t][1] for t in T],
}})"""


def constants_code(constants: Constants) -> str:
    """The constants as the call that makes them."""
    return (
        f"Constants({', '.join(f'{name}={value!r}' for name, value in asdict(constants).items())})"
    )


def reward_error_frame(constants: Constants, last: int) -> pd.DataFrame:
    """The curves of the Reward error page."""
    T = np.arange(1, last + 1)
    error = reward_error(constants, T)
    return pd.DataFrame(
        {
            "T": T,
            "freeze_error": error.freeze,
            "end_of_horizon_error": error.end_of_horizon,
            "reward_error": error.total,
        }
    )


@cache
def panel_figure(name: str, last: int, dark: bool) -> go.Figure:
    """A panel of the paper's figure, by its preset. It never changes, so it is drawn once."""
    return reward_error_figure(PRESETS[name].constants, np.arange(1, last + 1), dark=dark)


def reward_error_snippet(constants: Constants, last: int, T: int) -> str:
    """The lines that recompute `reward_error_frame`."""
    return _REWARD_ERROR.format(constants=constants_code(constants), last=last, T=T)


def ceiling_frame(constants: Constants, T: int) -> pd.DataFrame:
    """The curves of "Where the ceiling goes"; a ceiling that is not there is infinite."""
    return pd.DataFrame(
        {
            "l_f": L_F_VALUES,
            "freeze_error": freeze_error(constants, T, L_F_VALUES),
            "ceiling": freeze_ceiling(constants, L_F_VALUES),
        }
    )


def ceiling_snippet(constants: Constants, T: int) -> str:
    """The lines that recompute `ceiling_frame`."""
    low, high = map(float, L_F_VALUES[[0, -1]])
    given = {"low": low, "high": high, "n": len(L_F_VALUES), "T": T}
    return _CEILING.format(constants=constants_code(constants), **given)


def fsavi_frame(constants: Constants, last: int, k: int, fit: dict[str, float]) -> pd.DataFrame:
    """The curves of the Linear architecture page; `fit` has kappa, eps_low and eps_up."""
    T = np.arange(1, last + 1)
    return pd.DataFrame(
        {
            "T": T,
            "corrected": fsavi_regret(constants, T, k, **fit).total,
            "as_stated": fsavi_regret(constants, T, k, **fit, corrected=False).total,
            "without_features": fsvi_regret(constants, T, k).total,
        }
    )


def fsavi_snippet(constants: Constants, last: int, k: int, fit: dict[str, float], T: int) -> str:
    """The lines that recompute `fsavi_frame`."""
    return _FSAVI.format(constants=constants_code(constants), last=last, k=k, T=T, **fit)


def terms_frame(constants: Constants, T: int, k: int, fit: dict[str, float]) -> pd.DataFrame:
    """The two bars of the Linear architecture page: a row for each version of the bound."""
    versions = {
        corrected: fsavi_regret(constants, T, k, **fit, corrected=corrected)
        for corrected in (False, True)
    }
    return pd.DataFrame(
        [
            {"corrected": corrected, **vars(bound), "total": bound.total}
            for corrected, bound in versions.items()
        ]
    )


def terms_snippet(constants: Constants, T: int, k: int, fit: dict[str, float]) -> str:
    """The lines that recompute `terms_frame`."""
    return _TERMS.format(constants=constants_code(constants), T=T, k=k, **fit)


def truth_frame(name: str) -> pd.DataFrame:
    """A measured domain's bound and its true regret, of which the page draws the largest."""
    domain = measured_domains()[name]
    T = sorted(domain.regret)
    largest, mean = zip(*(domain.regret[t] for t in T), strict=True)
    bound = fsvi_regret(domain.constants, T, 0).floor
    return pd.DataFrame({"T": T, "bound": bound, "largest_regret": largest, "mean_regret": mean})


def truth_snippet(name: str) -> str:
    """The lines that recompute `truth_frame`."""
    return _TRUTH.format(name=name)
