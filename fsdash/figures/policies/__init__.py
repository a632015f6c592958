"""Figures of policies: what a page can show of any policy, domain by domain.

    subject = InspectedPolicy(model, policy_PXY, domain)
    for view in views(subject):
        figure = view.figure(dark=True, phase=2)

Two policies side by side are the same view of two subjects. To give a domain views of its own,
write a module with `views(subject)` and list it here; a model without a domain gets heat maps of
fast × slow states.
"""

from __future__ import annotations

from fsdash.figures.domains import gridworld, inventory, pricing
from fsdash.figures.policies import generic
from fsdash.figures.policies.generic import q_figure
from fsdash.figures.policies.inspected import InspectedPolicy, PolicyFigure, Selector, phase_names

OF_DOMAIN = {
    "inventory": inventory.views,
    "gridworld": gridworld.views,
    "pricing": pricing.views,
}


def views(subject: InspectedPolicy) -> tuple[PolicyFigure, ...]:
    """Every view of a subject, the telling ones first."""
    name = subject.domain.name if subject.domain is not None else ""
    if name in OF_DOMAIN:
        return OF_DOMAIN[name](subject)
    return (*generic.views(subject), generic.path_view(subject))


__all__ = ["InspectedPolicy", "PolicyFigure", "Selector", "phase_names", "q_figure", "views"]
