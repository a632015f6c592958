"""Named sets of constants that reproduce the figures of Section "Interpreting the Regret Analysis".

The paper does not give all constants of these figures. The ones here were chosen by this project,
so that the figures show what the paper says about them.

In "three-regimes" the winners are, in sweeps of Base VI: FSVI with T = 16 on [1.48, 5.27), T = 9 on
[5.27, 53), and Base VI from 53 on. Below 1.48 the budget does not yet pay for a long lower level,
and the most recently affordable candidate wins: Base VI on [1, 1.06), T = 2 to 1.12, T = 4 to 1.27,
T = 9 to 1.48.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from fsdash.errors import InputError
from fsdash.theory.parameters import Constants, Sizes


@dataclass(frozen=True)
class Preset:
    """Constants, sizes and the horizons T to compare. The name is usable in a URL."""

    name: str
    title: str
    constants: Constants
    sizes: Sizes
    T: tuple[int, ...]


DEFAULT_PRESET = "three-regimes"

_SIZES = Sizes(n_slow=100, n_fast=100, n_actions=50)
_HORIZONS = (2, 4, 9, 16, 25)
_REWARD_ERROR = Constants(gamma=0.953, alpha=0.01, d_y=1, l_r=0.5, l_f=0.99, l_u=1, r_max=1)
_THREE_REGIMES = Constants(gamma=0.9, alpha=0.05, d_y=1, l_r=0.5, l_f=1.2, l_u=0.05, r_max=10)

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            Preset(
                "three-regimes",
                "Three budgets, three winners (γ = 0.9)",
                _THREE_REGIMES,
                _SIZES,
                _HORIZONS,
            ),
            Preset(
                "long-horizon",
                "A long horizon (γ = 0.99)",
                replace(_THREE_REGIMES, gamma=0.99, r_max=1),
                _SIZES,
                _HORIZONS,
            ),
            Preset(
                "reward-error-small",
                "Reward error, small L_f = 0.99",
                _REWARD_ERROR,
                _SIZES,
                tuple(range(1, 151)),
            ),
            Preset(
                "reward-error-large",
                "Reward error, large L_f = 1.05",
                replace(_REWARD_ERROR, l_f=1.05),
                _SIZES,
                tuple(range(1, 151)),
            ),
        )
    }
)


def preset(name: str) -> Preset:
    """The preset of that name.

    Examples
    --------
    >>> from fsdash.theory import preset
    >>> preset("three-regimes").T
    (2, 4, 9, 16, 25)
    """
    try:
        return PRESETS[name]
    except (KeyError, TypeError):
        known = ", ".join(PRESETS)
        raise InputError(f"preset = {name!r} is unknown; choose one of {known}.") from None
