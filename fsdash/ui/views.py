"""What a page shows, as a table and as the lines of Python that recompute it.

Every snippet leaves the table in the variable `frame`; tests run them and compare. Pure, no
Streamlit.
"""

from dataclasses import asdict
from functools import cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.theory import reward_error_figure
from fsdash.theory import PRESETS, Constants, fsavi_regret, fsvi_regret, reward_error

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
