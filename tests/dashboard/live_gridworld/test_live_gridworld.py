"""The Live gridworld without a browser: playback, changes by keyboard, links, export."""

import numpy as np
import pandas as pd
import pytest

from fsdash.dashboard.live_gridworld import text
from fsdash.dashboard.live_gridworld.edits import Edits, flip_ring
from fsdash.dashboard.live_gridworld.state import Race, idle_cells, race_table
from tests.dashboard.kit import (
    address,
    component_data,
    figures,
    open_popover,
    opened,
    snippet,
    traces,
    words,
)

pytestmark = pytest.mark.slow  # together they take several seconds

PAGE = "6_Live_gridworld.py"
MAPS = ("live-fsvi", "live-rolling", "live-vi")


def press(page, key: str):
    page.button(key=key).click().run()
    assert not page.exception
    return page


def change_cell(page, column: int, row: int):
    open_popover(page, "Settings")
    page.number_input(key="live-column").set_value(column)
    page.number_input(key="live-row").set_value(row)
    return press(page, "live-apply")


def reading(race: Race) -> str:
    return text.describe_race(race)


def test_steps_draw_the_values_and_shares_of_the_library():
    page, race = opened(PAGE, speed="2"), Race.start(10)
    for _ in range(3):
        press(page, "live-step")
        race.advance(2.0)
    assert reading(race) in words(page)
    drawn, cells_RC = figures(page), idle_cells()
    for key, racer in zip(MAPS, race.racers.values(), strict=True):
        values = np.array(traces(drawn[key])["values"]["z"], float)
        np.testing.assert_allclose(values, racer.shown.values_XY[0][cells_RC])
    curve = traces(drawn["shares"])["Base VI"]
    np.testing.assert_allclose(curve["y"][:-1], [share for _, share in race.racers["vi"].points])
    alt_texts = {data["key"]: data["alt_text"] for data in component_data(page) if "key" in data}
    assert all(f"{r.share:.1%}" in alt_texts[f"live-{m}"] for m, r in race.racers.items())


def test_the_race_plays_until_it_is_paused():
    page = press(opened(PAGE), "live-play")
    before = words(page)
    page.run()
    assert words(page) != before
    before = words(press(page, "live-play"))
    page.run()
    assert words(page) == before
    assert page.button(key="live-play").label == "Play"


def test_a_settled_race_stops_and_a_change_of_the_map_starts_it_again():
    page = press(opened(PAGE, speed="5", T="2"), "live-play")
    for _ in range(60):
        if page.button(key="live-play").label == "Play":
            break
        page.run()
    assert text.SETTLED in [caption.value for caption in page.caption]
    press(page, "live-flip")
    assert page.button(key="live-play").label == "Pause"


def test_walls_rewards_and_rings_change_by_keyboard_and_are_in_the_link():
    page = change_cell(opened(PAGE), 5, 5)
    assert address(page) == {"map": "wall.5.5"}
    assert len(figures(page)["live-vi"]["layout"]["shapes"]) == 1
    press(page, "live-flip")
    assert address(page) == {"map": "flip,wall.5.5"}
    page.segmented_control(key="live-gridworld.tool").set_value("move").run()
    change_cell(page, 0, 0)
    assert any(text.PICK_HINT in caption.value for caption in page.caption)
    change_cell(page, 6, 6)  # the end of task 7
    assert text.pick_hint(7) in [caption.value for caption in page.caption]
    change_cell(page, 9, 9)
    assert address(page) == {"map": "flip,move.7.9.9,wall.5.5", "tool": "move"}
    press(page, "live-restore")
    assert address(page) == {"tool": "move"}


def test_a_change_during_the_race_keeps_the_clock_and_the_curves():
    page, race = opened(PAGE, speed="5"), Race.start(10)
    press(page, "live-step")
    press(page, "live-flip")
    press(page, "live-step")
    race.advance(5.0)
    race.change(flip_ring(Edits()), "rings flipped")
    race.advance(5.0)
    assert reading(race) in words(page)
    press(page, "live-restart")
    assert reading(Race.start(10, flip_ring(Edits()))) in words(page)


def test_a_link_opens_the_map_and_reports_what_it_cannot_use():
    page = opened(PAGE, map="flip,wall.5.5", T="4")
    assert reading(Race.start(4, flip_ring(Edits()))).split(".")[0] in words(page)
    assert "FSVI, T = 4" in words(page)
    page = opened(PAGE, map="wall.1.7")
    assert "a task starts or ends here" in page.warning[0].value


def test_a_wall_is_not_built_where_a_task_starts():
    page = change_cell(opened(PAGE), 1, 7)
    assert any("a task starts or ends here" in caption.value for caption in page.caption)
    assert address(page) == {}


@pytest.mark.parametrize("edits", ["", "flip,move.7.9.9,wall.5.5"])
def test_the_snippet_runs(edits):
    page = opened(PAGE, speed="5", T="4", **({"map": edits} if edits else {}))
    press(page, "live-step")
    found: dict = {}
    exec(snippet(page), found)
    race = Race.start(4)
    race.advance(5.0)
    assert isinstance(found["frame"], pd.DataFrame)
    if not edits:
        last = race_table(race).groupby("method").share.last().to_dict()
        assert found["frame"].groupby("method").share.last().to_dict() == pytest.approx(last)
