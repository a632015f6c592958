"""QuantEcon's `DiscreteDP` in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scipy import sparse

from fsdash.core.model import FastSlowMDP
from fsdash.errors import InputError
from fsdash.models.arrays import from_arrays
from fsdash.models.columns import Names
from fsdash.models.size import Size
from fsdash.models.table import Table

if TYPE_CHECKING:
    from quantecon.markov import DiscreteDP


def from_quantecon(
    ddp: DiscreteDP,
    *,
    states: Any = None,
    slow: Names = None,
    actions: Sequence[Any] | None = None,
) -> FastSlowMDP:
    """Build a model from a `quantecon.markov.DiscreteDP`.

    Parameters
    ----------
    ddp : DiscreteDP
        The model, in product form or in state-action-pair form, dense or sparse.
    states : pd.DataFrame, optional
        One row per state and one column per state variable; the number of the state by default.
    slow : str or sequence of str, optional
        The slow variables; `suggest_slow` chooses by default.
    actions : sequence, optional
        Names or values of the actions; their numbers by default.

    Returns
    -------
    FastSlowMDP
        The model with the same discount factor, rewards and transitions.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> from quantecon.markov import DiscreteDP
    >>> ddp = DiscreteDP(np.array([[1.0, 0.0], [0.0, 2.0]]), np.full((2, 2, 2), 0.5), 0.9)
    >>> model = fsdash.from_quantecon(ddp)
    >>> fsdash.optimum(model).policy_PXY.tolist()
    [[[0, 1]]]
    """
    missing = [name for name in ("R", "Q", "beta") if not hasattr(ddp, name)]
    if missing:
        raise InputError(f"{type(ddp).__name__}: is not a DiscreteDP (it has no {missing[0]})")
    in_pairs = getattr(ddp, "s_indices", None) is not None
    return from_arrays(
        ddp.Q,
        ddp.R,
        gamma=ddp.beta,
        states=states,
        slow=slow,
        s_indices=ddp.s_indices if in_pairs else None,
        a_indices=ddp.a_indices if in_pairs else None,
        actions=actions,
        name="DiscreteDP",
    )


def to_quantecon(model: FastSlowMDP) -> DiscreteDP:
    """Convert a model to a sparse `DiscreteDP` in state-action-pair form.

    State i of the result is the i-th state of the model without padding, so values agree as
    `ddp.solve().v` and `optimum(model).U_XY[model.real_XY]`. Costs become negative rewards.

    Parameters
    ----------
    model : FastSlowMDP
        Any model. Needs the package quantecon.

    Returns
    -------
    DiscreteDP
        The same model under its true dynamics.

    Examples
    --------
    >>> import numpy as np
    >>> import fsdash
    >>> model = fsdash.make("inventory", y_max=10, gamma=0.9).build()
    >>> theirs = fsdash.models.to_quantecon(model).solve(method="policy_iteration")
    >>> bool(np.abs(theirs.v - fsdash.optimum(model).U_XY[model.real_XY]).max() < 1e-6)
    True
    """
    if find_spec("quantecon") is None:
        raise InputError(
            "the Python package quantecon is not installed; install it with: pip install quantecon"
        )
    from quantecon.markov import DiscreteDP

    table = Table.of(model)
    law = table.law
    Size(table.n_states, 1, table.n_actions, law.n_transitions).refuse_too_large()
    pair_N, take_N = law.transitions_in(law.row_P)
    Q = sparse.csr_matrix(
        (law.probability_N[take_N], (pair_N, law.next_N[take_N])),
        shape=(len(law.state_P), table.n_states),
    )
    return DiscreteDP(law.reward_P, Q, model.gamma, law.state_P, law.action_P)
