"""The block microscope: one path cut into blocks, and in each period the frozen plan next to it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fsdash.core.blocks import Blocks, frozen_blocks
from fsdash.core.model import FastSlowMDP
from fsdash.figures.palette import GREEN, GREY, INK, VERMILLION, with_opacity
from fsdash.figures.policies.inspected import SEEDS, InspectedPolicy, PolicyFigure, Selector
from fsdash.figures.policies.labels import axis_title, coordinate_label
from fsdash.figures.policies.paths import PathSeries, add_series, value_ticks
from fsdash.figures.policies.state_path import coordinate_series, varied_names
from fsdash.figures.policies.tables import block_table
from fsdash.figures.template import template

BLOCKS = 20
LENGTHS = (2, 3, 6, 12, 24)
"""Block lengths offered for a stationary policy."""
PLANNED, HAPPENED = "planned (x stays)", "happened"


def microscope_figure(
    model: FastSlowMDP,
    blocks: Blocks,
    block: int,
    phases: tuple[str, ...],
    names: tuple[str, str],
) -> go.Figure:
    """Top: the gap of each block. Below: one block, its slow state, fast state and rewards.

    `names` are the coordinates shown of the slow and of the fast state.
    """
    figure = make_subplots(rows=4, vertical_spacing=0.085, row_heights=[0.8, 0.6, 1, 1])
    _add_overview(figure, blocks, block)
    here, sign = blocks.periods(block), -1 if model.sense == "min" else 1
    slow, fast = names
    for path, name, colour, dash in (
        (blocks.path, HAPPENED, INK, "solid"),
        (blocks.plan, PLANNED, GREEN, "dash"),
    ):
        look = {"colour": colour, "dash": dash, "kind": "line"}
        panels = (
            coordinate_series(model.slow, slow, path.x_N[here], **look),
            coordinate_series(model.fast, fast, path.y_N[here], **look),
            PathSeries("", sign * path.reward_N[here], **look),
        )
        for row, series in enumerate(panels, start=2):
            more = {"name": name, "legendgroup": name, "showlegend": row == 2}
            add_series(figure, series, path, phases, row, first=here.start, **more)
            figure.update_yaxes(row=row, **value_ticks([series]))
    word = "cost" if sign < 0 else "reward"
    titles = (coordinate_label(model.slow, slow), coordinate_label(model.fast, fast), word)
    for row, title in enumerate(titles, start=2):
        figure.update_yaxes(title_text=title, row=row)
    figure.update_layout(template=template(), hovermode="x unified", bargap=0.25)
    figure.update_xaxes(showgrid=False)
    periods = {"range": [here.start - 0.5, here.stop - 0.5], **_period_ticks(here)}
    for row in (2, 3, 4):
        figure.update_xaxes(row=row, showticklabels=row == 4, **periods)
    ticks = [1, *range(5, len(blocks) + 1, 5)]
    figure.update_xaxes(row=1, title_text="", range=[0.3, len(blocks) + 0.7], tickvals=ticks)
    figure.update_xaxes(row=4, title_text=f"period t of block {block + 1}")
    return figure


def _add_overview(figure: go.Figure, blocks: Blocks, block: int) -> None:
    """The gap of each block as a bar; the expected gap as a mark. A click selects the block."""
    number_K = np.arange(1, len(blocks) + 1)
    start_K = slice(None, None, blocks.T)
    x_K, y_K = blocks.path.x_N[start_K].tolist(), blocks.path.y_N[start_K].tolist()
    colour = VERMILLION
    block_K = [[x, y, "block", k] for x, y, k in zip(x_K, y_K, number_K.tolist(), strict=True)]
    figure.add_bar(
        x=number_K,
        y=blocks.gap_K,
        name="gap of a block",
        customdata=block_K,
        marker={
            "color": [colour if k == block else with_opacity(colour, 0.4) for k in range(len(x_K))]
        },
        hovertemplate="%{y:.4g}",
        row=1,
        col=1,
    )
    figure.add_scatter(
        x=number_K,
        y=blocks.expected_gap_K,
        mode="markers",
        name="mean over noise",
        customdata=block_K,
        marker={"symbol": "line-ew", "size": 14, "line": {"width": 2.5, "color": INK}},
        hovertemplate="%{y:.4g}",
        row=1,
        col=1,
    )
    figure.update_yaxes(title_text="gap", row=1, zeroline=True, zerolinecolor=GREY)


def _period_ticks(here: slice) -> dict:
    """A tick at each period of a short block, at some of a long one."""
    n = here.stop - here.start
    return {"tick0": here.start, "dtick": 1 if n <= 12 else 2 if n <= 24 else 5 * -(-n // 60)}


def microscope(inspected: InspectedPolicy) -> PolicyFigure:
    """The block microscope of a policy."""
    model, P = inspected.model, len(inspected.phases)
    lengths = (P,) if P > 1 else LENGTHS

    def draw(block, seed, T=P, slow=None, fast=None):
        names = slow or varied_names(model.slow)[0], fast or varied_names(model.fast)[0]
        blocks = simulated_blocks(inspected, T, seed)
        return microscope_figure(model, blocks, block - 1, inspected.phases, names)

    def tabulate(block, seed, T=P, **_):
        blocks = simulated_blocks(inspected, T, seed)
        loss_N = path_losses(inspected, blocks)
        return block_table(model, blocks, block - 1, inspected.phases, loss_N)

    return PolicyFigure(
        "blocks",
        "Block microscope",
        "One path, cut into blocks of T periods. After its first period the plan assumes that the "
        "slow state x stays. The gap is the planned reward minus the reward earned, on the same "
        "noise.",
        draw,
        (
            _numbers("block", "block", tuple(range(1, BLOCKS + 1)), 1),
            *([_numbers("T", "block length T", lengths, 6)] if P == 1 else []),
            *_coordinates(model),
            _numbers("seed", "random seed", SEEDS, SEEDS[0]),
        ),
        clickable=True,
        tabulate=tabulate,
    )


@lru_cache(maxsize=16)
def simulated_blocks(inspected: InspectedPolicy, T: int, seed: int) -> Blocks:
    """The blocks of a path; kept, because the figure, its table and its numbers need them."""
    rng = np.random.default_rng(seed)
    return frozen_blocks(inspected.model, inspected.policy_PXY, rng=rng, blocks=BLOCKS, T=T)


def path_losses(inspected: InspectedPolicy, blocks: Blocks) -> np.ndarray:
    """What each action on the path loses if all later actions are optimal."""
    loss_PXY = np.stack([inspected.loss_XY(p) for p in range(len(inspected.phases))])
    path = blocks.path
    return loss_PXY[path.phase_N, path.x_N, path.y_N]


def _numbers(name: str, title: str, options: tuple[int, ...], default: int) -> Selector:
    return Selector(name, title, options, tuple(map(str, options)), default)


def _coordinates(model: FastSlowMDP) -> list[Selector]:
    """A choice of the coordinate shown, where the slow or the fast state has several."""
    found = []
    for name, axis in (("slow", model.slow), ("fast", model.fast)):
        names = tuple(varied_names(axis))
        titles = tuple(axis_title(axis, one) for one in names)
        if len(names) > 1:
            title = f"{name} state shown"
            found.append(Selector(name, title, names, titles, names[0], ordered=False))
    return found
