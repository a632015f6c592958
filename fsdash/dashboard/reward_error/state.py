"""The Reward error page without its widgets: defaults, tables and the code that recomputes them.

Each snippet leaves its table in the variable `frame`; tests run the snippets and compare.
"""

from functools import cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.reward_error import L_F_VALUES, reward_error_figure
from fsdash.theory import PRESETS, Constants, reward_error
from fsdash.theory.landmarks import freeze_error, freeze_error_limit

LARGEST_T = 150
RANGES = (10, 20, 50, 100, 150, 300, 500)
"""Choices for the longest T on the axis."""
START = PRESETS["reward-error-small"].constants
START_T = 12

_REWARD_ERROR = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, reward_error

constants = {constants!r}
T = np.arange(1, {last} + 1)
error = reward_error(constants, T)
frame = pd.DataFrame({{
    "T": T,
    "freeze_error": error.freeze,
    "end_of_horizon_error": error.end_of_horizon,
    "reward_error": error.total,
}})
print(frame[frame["T"] == {T}])"""

_CEILING = """\
import numpy as np
import pandas as pd
from fsdash.theory import Constants, freeze_error, freeze_error_limit

constants = {constants!r}
l_f = np.linspace({low!r}, {high!r}, {n})
frame = pd.DataFrame({{
    "l_f": l_f,
    "freeze_error": freeze_error(constants, {T}, l_f=l_f),
    "ceiling": freeze_error_limit(constants, l_f),
}})"""


def reward_error_frame(constants: Constants, last: int) -> pd.DataFrame:
    """Both errors and their sum for T = 1, …, last."""
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


def reward_error_snippet(constants: Constants, last: int, T: int) -> str:
    """Python code that recomputes `reward_error_frame`."""
    return _REWARD_ERROR.format(constants=constants, last=last, T=T)


def ceiling_frame(constants: Constants, T: int) -> pd.DataFrame:
    """The freeze error and its limit over T (infinite where there is none), by L_f."""
    return pd.DataFrame(
        {
            "l_f": L_F_VALUES,
            "freeze_error": freeze_error(constants, T, l_f=L_F_VALUES),
            "ceiling": freeze_error_limit(constants, L_F_VALUES),
        }
    )


def ceiling_snippet(constants: Constants, T: int) -> str:
    """Python code that recomputes `ceiling_frame`."""
    low, high = map(float, L_F_VALUES[[0, -1]])
    return _CEILING.format(constants=constants, low=low, high=high, n=len(L_F_VALUES), T=T)


@cache
def panel_figure(name: str) -> go.Figure:
    """A panel of the paper's figure, by the name of its preset."""
    T_values = np.arange(1, LARGEST_T + 1)
    return reward_error_figure(PRESETS[name].constants, T_values)
