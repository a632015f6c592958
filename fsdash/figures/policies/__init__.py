"""Figures of policies, for the inspector.

    inspected = InspectedPolicy(model, policy_PXY, domain)
    for policy_figure in policy_figures(inspected):
        figure = policy_figure.figure(dark=True, phase=2)

To compare two policies, draw the same figure of both. A domain brings its own figures (see
`fsdash.figures.domains`); a model without a domain gets heat maps of fast × slow states.
"""

from __future__ import annotations

from fsdash.figures.domains import figure_function
from fsdash.figures.policies.inspected import InspectedPolicy, PolicyFigure, Selector, phase_names
from fsdash.figures.policies.q_values import q_figure


def policy_figures(inspected: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    """Every figure of a policy, the most informative ones first."""
    return figure_function(inspected.domain, "policy_figures")(inspected)


__all__ = [
    "InspectedPolicy",
    "PolicyFigure",
    "Selector",
    "phase_names",
    "policy_figures",
    "q_figure",
]
