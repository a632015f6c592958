"""The numbers of the figures that compare policies or plans, as tables with named columns."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsdash.core.axis import Axis
from fsdash.core.blocks import Blocks
from fsdash.core.compare import Disagreement, PairedPaths
from fsdash.core.model import FastSlowMDP
from fsdash.core.simulate import Path
from fsdash.figures.policies.inspected import InspectedPolicy
from fsdash.figures.policies.labels import action_labels, own_values, value_sign

KINDS = ("same action", "tie", "A's action is better", "B's action is better")
"""Names of the kinds of states of `fsdash.core.compare`."""


def disagreement_table(
    model: FastSlowMDP,
    policies: tuple[np.ndarray, np.ndarray],
    found: Disagreement,
    gain_XY: np.ndarray,
) -> pd.DataFrame:
    """One row per state: both actions, which one is better, and the gain of B; largest first.

    Advantages and gains are in rewards: for a model of costs, the cost that B saves.
    """
    x_S, y_S = np.nonzero(model.real_XY)
    order = np.lexsort([-np.abs(values[x_S, y_S]) for values in (gain_XY, found.weighted_XY)])
    x_S, y_S = x_S[order], y_S[order]
    labels = np.array(action_labels(model), dtype=object)
    return pd.DataFrame(
        _state_columns(model, x_S, y_S)
        | {
            f"action of {who}": labels[policy[x_S, y_S]]
            for who, policy in zip("AB", policies, strict=True)
        }
        | {
            "comparison": np.array(KINDS, dtype=object)[found.kind_XY[x_S, y_S]],
            "advantage of B's action": found.advantage_XY[x_S, y_S],
            "share of A's time": found.weight_XY[x_S, y_S],
            "gain of B": gain_XY[x_S, y_S],
        }
    )


def pair_table(model: FastSlowMDP, pair: PairedPaths) -> pd.DataFrame:
    """One row per period: states, actions and rewards of A and B, and the running difference."""
    columns: dict[str, object] = {"period": np.arange(len(pair.first))}
    for who, path in (("A", pair.first), ("B", pair.second)):
        columns |= _path_columns(model, path, slice(None), f"{who}: ")
    return pd.DataFrame(columns | {"discounted gain of B so far": pair.gain_N})


def block_table(
    model: FastSlowMDP, blocks: Blocks, block: int, phases: tuple[str, ...], loss_N: np.ndarray
) -> pd.DataFrame:
    """The periods of one block: what was planned, what happened, the gap, and the action's loss."""
    here = blocks.periods(block)
    columns: dict[str, object] = {
        "period": np.arange(len(blocks.path))[here],
        "phase": np.array(phases, dtype=object)[blocks.path.phase_N[here]],
    }
    for what, path in (("planned", blocks.plan), ("happened", blocks.path)):
        columns |= _path_columns(model, path, here, f"{what}: ")
    return pd.DataFrame(columns | {"gap": blocks.gap_N[here], "loss of the action": loss_N[here]})


def _path_columns(model: FastSlowMDP, path: Path, here: slice, prefix: str) -> dict[str, object]:
    sign, word = (-1, "cost") if model.sense == "min" else (1, "reward")
    states = _state_columns(model, path.x_N[here], path.y_N[here])
    labels = np.array(action_labels(model), dtype=object)
    columns = states | {"action": labels[path.action_N[here]], word: sign * path.reward_N[here]}
    return {f"{prefix}{name}": values for name, values in columns.items()}


def _state_columns(model: FastSlowMDP, x_S: np.ndarray, y_S: np.ndarray) -> dict[str, object]:
    def named(axis: Axis, index_S: np.ndarray) -> dict[str, object]:
        return {name: own_values(axis, name)[index_S] for name in axis.names}

    slow, fast = named(model.slow, x_S), named(model.fast, y_S)
    return slow | {f"{name} (fast)" if name in slow else name: v for name, v in fast.items()}


def policy_table(inspected: InspectedPolicy) -> pd.DataFrame:
    """The whole policy: one row per phase and state, with named coordinates, values and regret.

    Categories are words, and a model of costs has costs.
    """
    model, P, real_XY = inspected.model, len(inspected.phases), inspected.model.real_XY
    x_S, y_S = np.nonzero(real_XY)
    best_S = inspected.optimum.policy_PXY[0][real_XY]
    columns: dict[str, object] = {"phase": np.repeat(inspected.phases, len(x_S))}
    for axis, index_S in ((model.slow, x_S), (model.fast, y_S)):
        for name in axis.names:
            columns[name] = np.tile(own_values(axis, name)[index_S], P)
    action_PS = inspected.policy_PXY[:, real_XY]
    for name in model.actions.names:
        # The prefix is needed: a coordinate of the action may share its name with one of the state.
        values_A = own_values(model.actions, name)
        columns[f"action: {name}"] = values_A[action_PS.ravel()]
        columns[f"optimal action: {name}"] = np.tile(values_A[best_S], P)
    word, sign = "cost" if model.sense == "min" else "value", value_sign(model)
    columns[word] = sign * inspected.values_PXY[:, real_XY].ravel()
    columns[f"optimal {word}"] = np.tile(sign * inspected.optimum.U_XY[real_XY], P)
    columns["regret"] = np.concatenate([inspected.regret_XY(p)[real_XY] for p in range(P)])
    return pd.DataFrame(columns)
