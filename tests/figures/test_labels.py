"""A domain owns the words of its axes: a name alone has no meaning in figures."""

import numpy as np
import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.core.axis import Axis, Coordinate
from fsdash.core.model import FastSlowMDP
from fsdash.dashboard.inspector.state import state_coordinates
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.figures.policies import InspectedPolicy, policy_figures, q_figure
from fsdash.figures.policies.labels import (
    action_labels,
    actions_title,
    axis_symbol,
    axis_title,
    value_label,
)
from fsdash.figures.policies.plane import index_plane, plane
from fsdash.figures.policies.slices import coordinate_selector

OURS = ("units per period", "demand d", "stock y", "units", "memory", "idle", "task i")


def model(**texts) -> FastSlowMDP:
    """A user's model whose coordinates have names that the paper's domains use as well."""
    return FastSlowMDP(
        name="mine",
        reward_XYA=np.arange(12.0).reshape(2, 2, 3),
        noise_W=[1.0],
        next_slow=np.arange(2).reshape(2, 1, 1, 1),
        next_fast=np.arange(2).reshape(1, 2, 1, 1),
        gamma=0.5,
        slow=Axis(("demand",), [0, 1], **texts.get("slow", {})),
        fast=Axis(("task",), [0, 1], **texts.get("fast", {})),
        actions=Axis(("task", "right", "up"), np.eye(3), **texts.get("actions", {})),
    )


def texts_of(mine: FastSlowMDP) -> str:
    """Everything that figures of an optimal policy of this model say."""
    best = optimum(mine)
    inspected = InspectedPolicy(mine, best.policy_PXY, None, best, ("policy",))
    figures = [q_figure(mine, best.U_XY, 0, 0, 0).to_json()]
    for figure in policy_figures(inspected):
        selected = {selector.name: selector.default for selector in figure.selectors}
        labels = [(s.title, s.labels) for s in figure.selectors]
        figures += [figure.figure(**selected).to_json(), str(labels)]
    return " ".join([*figures, str(state_coordinates(mine, 0, 0))])


def test_a_name_that_the_inventory_uses_does_not_bring_its_title():
    mine = model()
    said = texts_of(mine)
    assert not [words for words in OURS if words in said]
    assert state_coordinates(mine, 1, 0) == [("demand", "1"), ("task", "0")]
    assert action_labels(mine)[0] == "task=1, right=0, up=0"  # not an arrow of the gridworld
    assert actions_title(mine) == "action"
    assert plane(mine, "task", "demand", {}).up.title == "demand"


def test_a_domain_gives_its_own_words():
    mine = model(
        slow={"coordinates": {"demand": Coordinate("power drawn", "P", "kW", {0: "off"})}},
        actions={"labels": ("wait", "buy", "sell"), "title": "trade"},
    )
    assert axis_title(mine.slow, "demand") == "power drawn, kW"
    assert axis_symbol(mine.slow, "demand") == "P"
    assert [value_label(mine.slow, "demand", v) for v in (0, 1)] == ["off", "1"]
    assert state_coordinates(mine, 0, 1)[0] == ("power drawn", "off")
    assert action_labels(mine) == ["wait", "buy", "sell"] and actions_title(mine) == "trade"
    assert index_plane(mine).up.title == "slow state: power drawn, kW"
    selector = coordinate_selector(mine.slow, "demand", np.array([0.0, 1.0]))
    assert (selector.title, selector.labels, selector.default) == (
        "power drawn, kW",
        ("off", "1"),
        0,
    )
    assert "power drawn" in texts_of(mine)


@pytest.mark.parametrize(
    ("name", "title", "label"),
    [
        ("inventory", "order, units", "5"),
        ("gridworld", "action: task and move", "1 →"),
        ("pricing", "price", "0.5"),
    ],
)
def test_the_paper_s_domains_describe_their_actions(name, title, label):
    domain = make(name, size=6) if name == "gridworld" else make(name)
    built = domain.build()
    assert actions_title(built) == title and action_labels(built)[1] == label


def test_the_inventory_keeps_its_titles():
    built = make("inventory").build()
    assert axis_title(built.slow, "demand") == "demand d, units per period"
    assert axis_title(built.fast, "stock") == "stock y, units"
    assert axis_symbol(built.slow, "demand") == "d"


def test_words_for_other_coordinates_or_points_are_refused():
    with pytest.raises(InputError, match="no coordinate 'price'"):
        Axis(("demand",), [0, 1], {"price": Coordinate("p")})
    with pytest.raises(InputError, match="1 labels for 2 points"):
        Axis(("demand",), [0, 1], labels=("low",))
