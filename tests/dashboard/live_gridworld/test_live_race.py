"""The race of the Live gridworld without its page: work, changes of the map, recovery."""

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsdash.algorithms.fsvi import fsvi
from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.rolling import rolling
from fsdash.algorithms.snapshot import run_until
from fsdash.algorithms.vi import vi
from fsdash.dashboard.live_gridworld import text
from fsdash.dashboard.live_gridworld.edits import (
    DOMAIN,
    Edits,
    flip_ring,
    move_delivery,
    read_edits,
    task_delivered_at,
    toggle_wall,
    write_edits,
)
from fsdash.dashboard.live_gridworld.state import (
    Race,
    first_to_reach,
    idle_cells,
    python_code,
    race_table,
    world_of,
)
from fsdash.errors import InputError
from fsdash.figures.domains.gridworld_race import LETTER, change_labels, race_map

pytestmark = pytest.mark.slow  # together they take several seconds

T = 4
CHANGED = move_delivery(flip_ring(toggle_wall(Edits(), (5, 5))), 7, (8, 8))
TABLES = ("reward_XYA", "noise_W", "next_slow", "next_fast", "initial_XY", "feasible_XYA")


def share(model, policy_PXY) -> float:
    result = regret(model, policy_PXY)
    return result.mean_value / result.optimal_mean_value


def test_each_method_shows_what_it_has_after_the_same_work():
    race, model = Race.start(T), DOMAIN.build()
    for _ in range(9):
        race.advance(0.5)
    own = {"fsvi": fsvi(model, T), "rolling": rolling(model, 99), "vi": vi(model)}
    for method, snapshots in own.items():
        paid = None
        for snapshot in snapshots:
            if snapshot.evaluations > race.clock:
                break
            if not (method == "fsvi" and snapshot.policy_kind == "rolling"):
                paid = snapshot
        shown = race.racers[method].shown
        assert (shown.phase, shown.iteration) == (paid.phase, paid.iteration)
        assert (shown.backups, shown.evaluations) == (paid.backups, paid.evaluations)
        np.testing.assert_array_equal(shown.policy_PXY, paid.policy_PXY)
        assert race.racers[method].share == pytest.approx(share(model, paid.policy_PXY), abs=1e-9)


def test_the_size_of_the_steps_does_not_change_the_race():
    small, large = Race.start(T), Race.start(T)
    for _ in range(12):
        small.advance(0.5)
    large.advance(6.0)
    pd.testing.assert_frame_equal(race_table(small), race_table(large))


def test_after_a_change_each_method_goes_on_from_its_values_with_its_policy():
    race = Race.start(T)
    race.advance(8.0)
    before = {m: (r.shown, r.values_XY) for m, r in race.racers.items()}
    race.change(CHANGED, "changed")
    model = DOMAIN.build_on(CHANGED.grid)
    for method, racer in race.racers.items():
        assert racer.shown is before[method][0]
        assert racer.share == pytest.approx(share(model, racer.shown.policy_PXY), abs=1e-9)
        assert racer.points[-1][0] == race.sweeps == 8.0
    race.advance(1.0)  # one sweep of Base VI: it has paid for U^1
    expected = run_until(vi(model, U0_XY=before["vi"][1]), iterations=1)
    np.testing.assert_array_equal(race.racers["vi"].shown.values_XY, expected.values_XY)


def test_the_policies_converge_after_a_change_as_if_they_had_started_there():
    race = Race.start(T)
    race.advance(10.0)
    race.change(CHANGED, "changed")
    race.advance(300.0)
    model = DOMAIN.build_on(CHANGED.grid)
    fresh = run_until(fsvi(model, T), tolerance=1e-8)
    assert race.racers["vi"].share == pytest.approx(1.0, abs=1e-7)  # γ^300 = 2e-7
    assert race.racers["fsvi"].share == pytest.approx(share(model, fresh.policy_PXY), abs=1e-6)
    longest = run_until(rolling(model, 600), iterations=600)
    assert race.racers["rolling"].share == pytest.approx(share(model, longest.policy_PXY), abs=1e-6)
    assert race.settled
    race.resume()
    assert not race.settled


def test_fsvi_keeps_its_upper_values_when_the_map_changes_twice():
    race = Race.start(T)
    race.advance(10.0)
    upper_XY = race.racers["fsvi"].values_XY
    race.change(CHANGED, "changed")
    race.advance(0.5)
    assert race.racers["fsvi"].shown.phase == "lower"
    race.change(flip_ring(CHANGED), "again")
    race.advance(0.5 * (T - 1))
    shown = race.racers["fsvi"].shown
    assert (shown.phase, shown.iteration) == ("upper", 0)
    np.testing.assert_array_equal(shown.values_XY, upper_XY)


@pytest.mark.parametrize(
    "undone",
    [
        toggle_wall(toggle_wall(Edits(), (5, 5)), (5, 5)),
        flip_ring(flip_ring(Edits())),
        move_delivery(move_delivery(Edits(), 1, (0, 0)), 1, (4, 10)),
    ],
)
def test_what_is_done_and_undone_restores_the_model_exactly(undone):
    assert undone == Edits()
    built, original = DOMAIN.build_on(undone.grid), DOMAIN.build()
    for name in TABLES:
        np.testing.assert_array_equal(getattr(built, name), getattr(original, name))


def test_a_wall_stops_the_agent_and_no_episode_starts_there():
    column, row = 5, 5
    model = DOMAIN.build_on(toggle_wall(Edits(), (column, row)).grid)
    cells_RC, next_YA = idle_cells(), model.next_fast[0, :, :, 0]
    right = 1  # accept task 1, step right
    beside = cells_RC[row, column - 1]
    place = dict(zip(model.fast.names, model.fast.values[next_YA[beside, right]], strict=True))
    assert (place["column"], place["row"]) == (column - 1, row)
    inside = cells_RC[row, column]
    place = dict(zip(model.fast.names, model.fast.values[next_YA[inside, right]], strict=True))
    assert (place["column"], place["row"]) == (column + 1, row)
    at_wall = (model.fast.values[:, :2] == (column, row)).all(axis=1)
    assert not model.initial_XY[:, at_wall].any()
    assert (model.initial_XY[:, ~at_wall] == model.initial_XY.max()).all()


def test_a_flip_exchanges_the_signals():
    best, flipped = optimum(DOMAIN.build()), optimum(DOMAIN.build_on(flip_ring(Edits()).grid))
    np.testing.assert_allclose(flipped.U_XY, best.U_XY[::-1], atol=2e-6)


def test_recovery_is_counted_from_the_last_change():
    race = Race.start(T)
    race.advance(60.0)
    race.change(flip_ring(race.edits), "rings flipped")
    race.advance(40.0)
    found = first_to_reach(race, 0.9)
    assert "vi" in found and 0 < found["vi"] <= 40
    below = [s for x, s in race.racers["vi"].points if 60 <= x < 60 + found["vi"]]
    assert below[-1] < 0.9
    assert "Base VI after" in text.describe_race(race)


def test_arrows_that_lose_value_are_marked_and_walls_have_no_value():
    race = Race.start(T, toggle_wall(Edits(), (5, 5)))
    race.advance(200.0)
    world, cells_RC, racer = race.world, idle_cells(), race.racers["vi"]
    assert not world.wrong_XY(racer.policy_XY).any()
    worst_XY = world.loss_XYA.argmax(axis=2)
    wrong_RC = world.wrong_XY(worst_XY)[0][cells_RC]
    assert wrong_RC.all()
    figure = race_map(
        world.grid, 0, racer.shown.values_XY[0][cells_RC], worst_XY[0][cells_RC], wrong_RC
    )
    traces = {trace["name"]: trace for trace in figure["data"]}
    assert traces["values"]["z"][5][5] is None
    assert len(set(traces["moves"]["marker"]["color"])) == 1
    assert len(traces["moves"]["marker"]["angle"]) == DOMAIN.size**2 - 1


def test_names_of_changes_do_not_overlap_and_stay_in_the_chart():
    now = 10.0
    for places in ([1, 5, 10], [6, 7, 7.5, 8, 10], [0, 0, 0.2], [9.9], []):
        changes = [(float(x), "rings flipped") for x in places]
        labels = change_labels(changes, now)
        assert [label["x"] for label in labels][:1] == places[-1:]
        width = LETTER * len("rings flipped") * now
        spans = sorted(
            (x - width, x) if label["xanchor"] == "right" else (x, x + width)
            for label in labels
            for x in (label["x"],)
        )
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        assert all(start >= 0 and end <= now for start, end in spans)
    assert len(change_labels([(1.0, "wall"), (5.0, "wall"), (10.0, "wall")], now)) == 3


def test_solved_maps_are_shared():
    assert world_of(CHANGED) is world_of(dataclasses.replace(CHANGED))


def test_the_snippet_recomputes_the_table():
    race = Race.start(T, CHANGED)
    race.advance(5.0)
    found: dict = {}
    exec(python_code(race), found)
    # The page starts from the policy for the immediate reward, which costs nothing.
    shown = race_table(race)
    shown = shown[(shown.sweeps > 0) | (shown.method == "vi")].drop_duplicates()
    frame = found["frame"].sort_values(["method", "sweeps"]).reset_index(drop=True)
    shown = shown.sort_values(["method", "sweeps"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(frame, shown, atol=1e-9)


# ------------------------------------------------------------------------------------------ the map


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda: toggle_wall(Edits(), (1, 7)), "a task starts or ends here"),
        (lambda: toggle_wall(Edits(), (11, 0)), "outside of the grid"),
        (lambda: move_delivery(Edits(), 9, (0, 0)), "choose a task from 1 to 8"),
        (lambda: move_delivery(Edits(), 1, (1, 7)), "task 1 starts here"),
        (lambda: move_delivery(toggle_wall(Edits(), (0, 0)), 1, (0, 0)), "this is a wall"),
        (lambda: read_edits("flip,wall.1"), "give parts such as"),
        (lambda: read_edits("wall.a.b"), "give parts such as"),
    ],
)
def test_impossible_changes_name_the_remedy(change, problem):
    with pytest.raises(InputError, match=problem):
        change()


cells = st.tuples(st.integers(0, 10), st.integers(0, 10))
steps = st.one_of(
    st.just(flip_ring),
    cells.map(lambda cell: lambda edits: toggle_wall(edits, cell)),
    st.tuples(st.integers(1, 8), cells).map(lambda m: lambda edits: move_delivery(edits, *m)),
)


@settings(max_examples=50)
@given(st.lists(steps, max_size=12))
def test_every_map_that_can_be_made_reads_back_from_its_link(made):
    edits = Edits()
    for step in made:
        try:
            edits = step(edits)
        except InputError:
            continue
    assert read_edits(write_edits(edits)) == edits


def test_a_delivery_is_found_where_it_was_moved_to():
    edits = move_delivery(Edits(), 7, (8, 8))
    assert task_delivered_at(edits, (8, 8)) == 7
    assert task_delivered_at(edits, (6, 6)) is None


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (Edits(), CHANGED, "rings flipped"),
        (CHANGED, toggle_wall(CHANGED, (9, 9)), "wall"),
        (CHANGED, toggle_wall(CHANGED, (5, 5)), "wall removed"),
        (CHANGED, move_delivery(CHANGED, 1, (0, 0)), "reward moved"),
        (CHANGED, Edits(), "map restored"),
    ],
)
def test_changes_have_names(before, after, name):
    assert text.name_change(before, after) == name
