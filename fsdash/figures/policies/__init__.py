"""Figures of policies, for the inspector.

    inspected = InspectedPolicy(model, policy_PXY, domain)
    for policy_figure in policy_figures(inspected):
        figure = policy_figure.figure(phase=2)

    for policy_figure in comparison_figures(Versus(inspected, another)):
        figure = policy_figure.figure()

A domain brings its own figures (see `fsdash.figures.domains`); a model without a domain gets heat
maps of two coordinates of its states.
"""

from __future__ import annotations

from fsdash.figures.domains import figure_function
from fsdash.figures.policies.inspected import (
    InspectedPolicy,
    PolicyFigure,
    Selector,
    optimal_policy,
    phase_names,
    recompute,
)
from fsdash.figures.policies.microscope import microscope
from fsdash.figures.policies.q_values import q_figure
from fsdash.figures.policies.tables import policy_table
from fsdash.figures.policies.versus import Versus, versus_figures


def policy_figures(inspected: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    """Every figure of a policy, the most informative ones first."""
    own = figure_function(inspected.domain, "policy_figures")(inspected)
    return (*own, microscope(inspected))


def comparison_figures(versus: Versus) -> tuple[PolicyFigure, ...]:
    """The figures of policy A against policy B."""
    axes = figure_function(versus.first.domain, "plane_axes")(versus.model)
    return versus_figures(versus, axes)


__all__ = [
    "InspectedPolicy",
    "PolicyFigure",
    "Selector",
    "Versus",
    "comparison_figures",
    "optimal_policy",
    "phase_names",
    "policy_figures",
    "policy_table",
    "q_figure",
    "recompute",
]
