"""The claims of the paper, each with the rule that decides it.

    theory         what the paper reads off its theory figures
    inventory, gridworld, pricing   the numerical section, one module per domain
    own_findings   findings that the paper does not have
    at_budgets     findings about methods beyond the paper, read at fixed budgets
    parts          the building blocks of the numerical claims

A claim quotes the paper's sentence word for word; … marks an omission. Its rule reads the words as
`judging` says. Most rules were written before the first full run, but not blindly: a pilot run with
two replications and another seed was known for the inventory and the gridworld. A rule that was
changed after results were known keeps the first one too (`Claim.first_rule`).
"""

from fsdash.reproduce.claims.at_budgets import budget_claims
from fsdash.reproduce.claims.gridworld import gridworld_claims
from fsdash.reproduce.claims.inventory import inventory_claims
from fsdash.reproduce.claims.own_findings import BEYOND, own_findings
from fsdash.reproduce.claims.pricing import pricing_claims
from fsdash.reproduce.claims.theory import theory_claims
from fsdash.reproduce.judging import Claim

__all__ = ["BEYOND", "numerical_claims", "theory_claims"]


def numerical_claims() -> tuple[Claim, ...]:
    """The claims of the numerical section and this project's own findings."""
    return (
        *inventory_claims(),
        *gridworld_claims(),
        *pricing_claims(),
        *own_findings(),
        *budget_claims(),
    )
