"""The discount factor of a yearly interest rate and the length of a period."""

from __future__ import annotations

import math

from fsdash.errors import InputError

PERIODS = {"day": 1 / 365, "week": 1 / 52, "month": 1 / 12, "quarter": 1 / 4, "year": 1.0}
"""Lengths of a period in years."""


def discount_factor(yearly_rate: float, period: str | float) -> float:
    """Return γ = (1 + yearly rate)^(−length of a period in years).

    Parameters
    ----------
    yearly_rate : float
        Interest rate per year, above 0: 0.08 for 8%.
    period : str or float
        "day", "week", "month", "quarter" or "year", or the length of a period in years.

    Returns
    -------
    float
        The weight of a reward one period later.

    Examples
    --------
    >>> from fsdash.models import discount_factor
    >>> round(discount_factor(0.08, "week"), 6), discount_factor(0.25, 1)
    (0.998521, 0.8)
    """
    years = PERIODS.get(period) if isinstance(period, str) else period
    if not isinstance(years, int | float) or not 0 < years < math.inf:
        names = ", ".join(PERIODS)
        raise InputError(f"period = {period!r}: use {names}, or a length in years above 0")
    if not isinstance(yearly_rate, int | float) or not 0 < yearly_rate < math.inf:
        raise InputError(f"yearly_rate = {yearly_rate!r}: use a rate above 0, such as 0.08 for 8%")
    gamma = math.exp(-years * math.log1p(yearly_rate))
    if gamma == 1:
        raise InputError(
            f"yearly_rate = {yearly_rate!r}: γ is 1 up to rounding; use a higher rate or a longer "
            "period"
        )
    return gamma
