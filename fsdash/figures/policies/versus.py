"""Policy A against policy B: where they act differently, what B gains, and both on the same noise.

A is blue and B is vermillion in all figures of this module. A is in a phase p of its cycle, and B
in the phase that it has after as many periods, p mod its number of phases, unless one is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from fsdash.core.compare import Disagreement, PairedPaths, disagreement, simulate_pair
from fsdash.core.model import FastSlowMDP
from fsdash.figures.domains import figure_function
from fsdash.figures.palette import (
    DIVERGING,
    FIRST_POLICY,
    GREEN,
    GREY,
    INK,
    PANEL,
    SECOND_POLICY,
    with_opacity,
)
from fsdash.figures.policies.inspected import (
    SEEDS,
    InspectedPolicy,
    PolicyFigure,
    Selector,
    path_selectors,
    phase_selector,
)
from fsdash.figures.policies.labels import action_labels, axis_title, coordinate_label, state_axis
from fsdash.figures.policies.maps import MAX_TEXTS, heat_map, hover_text, word_map
from fsdash.figures.policies.marks import add_texts, label_sizes
from fsdash.figures.policies.paths import add_series, value_ticks
from fsdash.figures.policies.plane import Plane
from fsdash.figures.policies.slices import Slices
from fsdash.figures.policies.state_path import action_series, coordinate_series, varied_names
from fsdash.figures.policies.tables import KINDS, disagreement_table, pair_table
from fsdash.figures.template import template

SHOWN = {
    "kind": "which action is better",
    "weighted": "weighted by A's visits",
    "advantage": "by how much",
}
KEY = ("same action", "tie", "A better", "B better")
JUDGES = {"optimal": "the optimal values", "first": "the values of A"}


@dataclass(frozen=True, eq=False)
class Versus:
    """The policies A and B of one model. `second_phase` fixes the phase of B."""

    first: InspectedPolicy
    second: InspectedPolicy
    second_phase: int | None = None
    _found: dict = field(default_factory=dict, repr=False)

    @property
    def model(self) -> FastSlowMDP:
        return self.first.model

    def phases(self, phase: int) -> tuple[int, int]:
        """The phases of A and B at the same time."""
        given = self.second_phase
        return phase, phase % len(self.second.phases) if given is None else given

    def actions(self, phase: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The actions of A and B, shape (X, Y) each."""
        p, q = self.phases(phase)
        return self.first.policy_PXY[p], self.second.policy_PXY[q]

    def gain_XY(self, phase: int = 0) -> np.ndarray:
        """U^B − U^A from a phase on; 0 where it is within the certified errors."""
        p, q = self.phases(phase)
        gain_XY = self.second.values_PXY[q] - self.first.values_PXY[p]
        error = self.first.evaluated.error + self.second.evaluated.error
        return np.where(np.abs(gain_XY) <= error, 0.0, gain_XY)

    def disagreement(self, phase: int = 0, judge: str = "optimal") -> Disagreement:
        """Where the actions differ, judged by the optimal values or by those of A; kept."""
        if (phase, judge) not in self._found:
            after = self.first.optimum if judge == "optimal" else self.first.values_from(phase + 1)
            weight_XY = self.first.visits.share_PXY[phase]
            self._found[phase, judge] = disagreement(
                self.model, self.actions(phase), values=after, weight_XY=weight_XY
            )
        return self._found[phase, judge]

    def pair(self, seed: int, steps: int) -> PairedPaths:
        """Both policies from the same state on the same noise."""
        rng, policies = np.random.default_rng(seed), (self.first.policy_PXY, self.second.policy_PXY)
        return simulate_pair(self.model, policies, rng=rng, steps=steps)


def versus_figures(versus: Versus, axes: tuple[str, str] | None) -> tuple[PolicyFigure, ...]:
    """The figures of a comparison; `axes` names the coordinates of the maps."""
    slices = Slices(versus.model, axes)
    maps = (_difference_map(versus, slices), _gain_map(versus, slices))
    # Two phases of one policy follow each other; they are not alternatives to simulate.
    return maps if versus.second_phase is not None else (*maps, _same_noise(versus))


# ------------------------------------------------------------------------------------------- maps


def difference_map(versus: Versus, cells: Plane, phase: int, judge: str, show: str) -> go.Figure:
    """Which action each policy takes, and which one is better, in the states of a plane."""
    found = versus.disagreement(phase, judge)
    if show == "kind":
        figure = _kind_map(versus, found, cells, phase)
    else:
        weighted = show == "weighted"
        name = _advantage_name(versus.model)
        if weighted:
            name += " × share of A's time"
        figure = diverging_map(cells, found.weighted_XY if weighted else found.advantage_XY, name)
    if cells.x_RC.size <= MAX_TEXTS:
        _add_hover(figure, versus, found, cells, phase)
    return figure


def diverging_map(cells: Plane, values_XY: np.ndarray, name: str) -> go.Figure:
    """A map of numbers below and above zero: A's colour and B's colour."""
    z_RC = cells.take(values_XY)
    largest = float(np.nanmax(np.abs(z_RC), initial=0.0)) or 1.0
    return heat_map(cells, z_RC, DIVERGING, name, zmin=-largest, zmax=largest)


def _kind_map(versus: Versus, found: Disagreement, cells: Plane, phase: int) -> go.Figure:
    """Plain colours; paler ones behind the labels of the actions, where those can be read."""
    label = figure_function(versus.first.domain, "cell_labels")
    a_RC, b_RC = (label(versus.model, cells, policy_XY) for policy_XY in versus.actions(phase))
    strength = 1.0 if a_RC is None else 0.3
    shades = [
        PANEL,
        with_opacity(GREY, 0.45),
        with_opacity(FIRST_POLICY, strength),
        with_opacity(SECOND_POLICY, strength),
    ]
    figure = word_map(cells, found.kind_XY, KEY, shades, "")
    if a_RC is not None:
        colours = (FIRST_POLICY, SECOND_POLICY)
        first_RC, second_RC = (
            f'<span style="color:{colour}">' + text_RC + "</span>"
            for colour, text_RC in zip(colours, (a_RC, b_RC), strict=True)
        )
        both_RC = np.where(a_RC == b_RC, "", first_RC + "<br>" + second_RC)
        size_RC = np.minimum(label_sizes(a_RC, 11), label_sizes(b_RC, 11))
        add_texts(figure, cells, both_RC, INK, size_RC)
    return figure


def _add_hover(
    figure: go.Figure, versus: Versus, found: Disagreement, cells: Plane, phase: int
) -> None:
    """Both actions, which one is better and by how much, and how often A is there."""
    labels = action_labels(versus.model)
    a_RC, b_RC = (
        cells.write([f"{who}: {label}<br>" for label in labels], XY)
        for who, XY in zip("AB", versus.actions(phase), strict=True)
    )
    kind_RC = cells.write(KINDS, found.kind_XY)
    size_RC, time_RC = (
        np.vectorize(form.format, otypes=[object])(cells.take(values))
        for form, values in (
            (" by {:.4g}", np.abs(found.advantage_XY)),
            ("</b><br>A is here {:.2%} of the time<b>", found.weight_XY),
        )
    )
    size_RC[~(cells.take(found.kind_XY) > 1)] = ""
    figure.update_traces(
        text=a_RC + b_RC + kind_RC + size_RC + time_RC,
        hovertemplate=hover_text(cells, "actions", "<br>%{text}"),
        selector={"type": "heatmap"},
    )


def _advantage_name(model: FastSlowMDP) -> str:
    if model.sense == "min":
        return "cost saved by B's action"
    return "advantage of B's action, Q(s, b) − Q(s, a)"


def _difference_map(versus: Versus, slices: Slices) -> PolicyFigure:
    def draw(show, judge, phase=0, **chosen):
        return difference_map(versus, slices.plane(chosen), phase, judge, show)

    def tabulate(judge, phase=0, **_):
        found = versus.disagreement(phase, judge)
        return disagreement_table(versus.model, versus.actions(phase), found, versus.gain_XY(phase))

    return PolicyFigure(
        "disagreement",
        "Difference map",
        "Where A and B act differently, and whose action is better. In a tie both actions have the "
        "same Q-value within the certified error.",
        draw,
        (
            Selector("show", "show", tuple(SHOWN), tuple(SHOWN.values()), "kind", ordered=False),
            Selector(
                "judge",
                "judged by",
                tuple(JUDGES),
                tuple(JUDGES.values()),
                "optimal",
                ordered=False,
            ),
            *phase_selector(versus.first),
            *slices.selectors,
        ),
        clickable=True,
        tabulate=tabulate,
    )


def _gain_map(versus: Versus, slices: Slices) -> PolicyFigure:
    costs = versus.model.sense == "min"
    name = "cost saved by B" if costs else "gain of B, U<sup>B</sup> − U<sup>A</sup>"

    def draw(phase=0, **chosen):
        return diverging_map(slices.plane(chosen), versus.gain_XY(phase), name)

    def tabulate(phase=0, **_):
        found = versus.disagreement(phase)
        return disagreement_table(versus.model, versus.actions(phase), found, versus.gain_XY(phase))

    return PolicyFigure(
        "gain",
        "Gain of B",
        "How much more B is worth than A from each state on, computed exactly. It includes all "
        "later actions.",
        draw,
        (*phase_selector(versus.first), *slices.selectors),
        clickable=True,
        tabulate=tabulate,
    )


# ------------------------------------------------------------------------------------- same noise


def same_noise_figure(versus: Versus, seed: int, steps: int, coordinate: str) -> go.Figure:
    """Top: one coordinate of the state. Middle: the actions. Bottom: the running difference.

    Thin lines are the running differences of the other seeds. The dashed line is the exact gain of
    B from the first state: the mean over all noise, without an end.
    """
    pair = versus.pair(seed, steps)
    figure = make_subplots(
        rows=3, shared_xaxes=True, vertical_spacing=0.07, row_heights=[1, 0.7, 1]
    )
    axis = state_axis(versus.model, coordinate)
    sides = (
        ("A", pair.first, versus.first.phases, FIRST_POLICY, "solid"),
        ("B", pair.second, versus.second.phases, SECOND_POLICY, "dot"),
    )
    states, actions = [], []
    for who, path, phases, colour, dash in sides:
        index_N = path.x_N if axis is versus.model.slow else path.y_N
        states.append(coordinate_series(axis, coordinate, index_N, colour, dash=dash))
        kind = {"kind": "step", "dash": dash}
        actions.append(action_series(versus.model, path.action_N, colour, **kind))
        for row, series in ((1, states[-1]), (2, actions[-1])):
            more = {"name": who, "legendgroup": who, "showlegend": row == 1}
            add_series(figure, series, path, phases, row, **more)
    titles = coordinate_label(axis, coordinate), "action"
    for row, (panel, title) in enumerate(zip((states, actions), titles, strict=True), start=1):
        figure.update_yaxes(title_text=title, row=row, **value_ticks(panel))
    _add_running_difference(figure, versus, pair, seed)
    figure.update_layout(template=template(), hovermode="x unified")
    figure.update_xaxes(range=[-0.5, steps - 0.5], showgrid=False)
    figure.update_xaxes(title_text="period t", row=3)
    return figure


def _add_running_difference(
    figure: go.Figure,
    versus: Versus,
    pair: PairedPaths,
    seed: int,
) -> None:
    steps = len(pair.first)
    period_N = np.arange(steps)
    others = [versus.pair(other, steps).gain_N for other in SEEDS if other != seed]
    figure.add_scatter(
        x=np.concatenate([[*period_N, None]] * len(others)),
        y=np.concatenate([[*gain_N, None] for gain_N in others]),
        mode="lines",
        name="other seeds",
        hoverinfo="skip",
        line={"width": 1, "color": with_opacity(GREY, 0.35)},
        row=3,
        col=1,
    )
    figure.add_scatter(
        x=period_N,
        y=pair.gain_N,
        mode="lines",
        name="gain of B so far",
        line={"width": 2.5, "color": INK},
        hovertemplate="%{y:.4g}",
        row=3,
        col=1,
    )
    start = pair.first.x_N[0], pair.first.y_N[0]
    exact = float(versus.gain_XY()[start])
    figure.add_scatter(
        x=[-0.5, steps - 0.5],
        y=[exact, exact],
        mode="lines",
        name=f"mean in the long run: {exact:.4g}",
        hoverinfo="skip",
        line={"width": 2, "dash": "dash", "color": GREEN},
        row=3,
        col=1,
    )
    word = "saved by B" if versus.model.sense == "min" else "gain of B"
    figure.update_yaxes(title_text=word, row=3, zeroline=True, zerolinecolor=GREY)


def _same_noise(versus: Versus) -> PolicyFigure:
    model = versus.model

    def draw(coordinate, steps, seed):
        return same_noise_figure(versus, seed, steps, coordinate)

    def tabulate(steps, seed, **_):
        return pair_table(model, versus.pair(seed, steps))

    names = (*varied_names(model.fast), *varied_names(model.slow))
    titles = tuple(axis_title(state_axis(model, name), name) for name in names)
    return PolicyFigure(
        "pair",
        "Same noise",
        "A and B from the same state on the same noise. The gain is the discounted sum of B's "
        "rewards minus A's; thin lines are 19 other seeds.",
        draw,
        (
            Selector("coordinate", "upper panel", names, titles, names[0], ordered=False),
            *path_selectors(),
        ),
        clickable=True,
        tabulate=tabulate,
    )
