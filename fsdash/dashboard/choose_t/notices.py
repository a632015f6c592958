"""What to notice on the page "Choose T": sentences that hold for the values on screen."""

from math import isinf

import numpy as np

from fsdash.dashboard.choose_t.state import ChooseTState
from fsdash.figures.budget import competitor
from fsdash.formatting import factor, number
from fsdash.theory import trivial_bound
from fsdash.theory.landmarks import freeze_ceiling, long_run


def notices(view: ChooseTState) -> list[str]:
    """On the floors, on where the curves start, and on long freezes."""
    return [floors(view), starts(view), growth(view)]


def floors(view: ChooseTState) -> str:
    """Where the curves of all that compete end."""
    found = np.ravel(view.bound(view.constants, list(view.competing), 0).floor)
    lowest = int(np.argmin(found))
    if found.max() == 0:
        return (
            "No curve ends in a floor here: with these constants freezing breaks nothing, and "
            "every bound falls to 0, like that of Base VI."
        )
    text = (
        "FSVI's curves end in a **floor**: iterating longer cannot repair what freezing broke. Of "
        f"those that compete, T = {view.competing[lowest]} has the lowest, "
        f"{number(found[lowest])}. Base VI has none."
    )
    if found[lowest] >= trivial_bound(view.constants) > 0:
        text += " All floors are in the grey: more budget never makes FSVI's bound informative."
    return text


def starts(view: ChooseTState) -> str:
    """How the first step of a curve depends on T."""
    winner = {view.advice.choice.T} if view.advice else set()
    drawn = sorted({1, *view.T, *winner})
    first = np.ravel(view.bound(view.constants, drawn, 1).total)
    if (first[1:] < first[:-1]).all():
        return (
            "A longer T starts **lower but later**: each iteration looks T periods ahead, and the "
            "lower level must be paid first."
        )
    return (
        "A longer T starts **later**: the lower level must be paid first. Each iteration looks T "
        "periods ahead, but what freezing breaks depends on T as well: of those drawn, "
        f"{competitor(drawn[int(np.argmin(first))])} starts lowest."
    )


def growth(view: ChooseTState) -> str:
    """Whether the terms of long freezes explode."""
    c = view.constants
    frozen = c.l_f if view.l_frozen is None else view.l_frozen
    if isinf(freeze_ceiling(c, frozen)) or isinf(long_run(c)):
        name, worst = ("L̃", frozen) if frozen > c.l_f else ("L_f", c.l_f)
        return (
            f"γ{name} = {factor(c.gamma * worst)} ≥ 1: differences outgrow the discount, and the "
            "bound explodes as T grows. Long freezes are out, however large the budget."
        )
    if c.alpha * c.d_y * c.l_r == 0:
        return (
            "Here the slow state never moves or never matters to the reward: there is no freeze "
            "error, so a long T is not ruled out, however large γL_f is."
        )
    return (
        f"γL_f = {factor(c.gamma * c.l_f)} < 1: the freeze error stays bounded, so a long T is not "
        "ruled out."
    )
