"""The home page without a browser: the film, its pictures, its links and unusable input."""

import re
from html import escape

import pytest

from fsdash.algorithms import rolling, run_until
from fsdash.dashboard.home import state
from fsdash.figures.levels import describe_lower_level, describe_upper_level
from fsdash.teaching.shop import shop, solved_shop
from tests.dashboard.kit import opened


def picture(page) -> str:
    """The picture's text for screen readers."""
    return re.search(r'alt="([^"]*)"', html(page))[1]


def html(page) -> str:
    return " ".join(element.proto.body for element in page.get("html"))


def test_the_page_opens_with_the_policy_for_T_4():
    page = opened()
    assert "T = 4:" in picture(page) and "Period 0" in picture(page)


def test_the_film_plays_rolling_freeze_and_says_what_it_loses():
    model, solved = shop(), solved_shop()
    for n, scene in enumerate(state.film()["scenes"], 1):
        policy_XY = run_until(rolling(model, n), iterations=n).policy_PXY[0]
        for season, stock, order in zip(
            scene["season"], scene["stock"], scene["order"], strict=True
        ):
            assert model.actions.values[policy_XY[season, int(stock)], 0] == order
        regret = solved.regret(policy_XY)
        lost = regret.mean_regret / regret.optimal_mean_value
        assert float(scene["lost"].strip("%")) == pytest.approx(100 * lost, rel=0.5)
        assert scene["lost"] in scene["sentence"]
        assert ("never orders" in scene["sentence"]) == (not policy_XY.any())


def test_a_plan_comes_true_while_the_season_stays():
    scene = state.film()["scenes"][5]
    weeks = len(scene["season"])
    season_stays = [t for t in range(weeks - 1) if scene["season"][t] == scene["season"][t + 1]]
    assert 0 < len(season_stays) < weeks - 1
    for t in range(weeks - 1):
        planned = scene["plans"][t][1][0]
        assert (planned == scene["stock"][t + 1]) or t not in season_stays


def test_without_freezing_more_draws_lose_more():
    draws, lost = state.unfrozen()
    frozen = solved_shop().regret(run_until(rolling(shop(), 6), iterations=6).policy_PXY)
    assert draws > 6 and lost > frozen.mean_regret / frozen.optimal_mean_value


def test_T_moves_the_picture():
    page = opened()
    page.slider(key="home.periods").set_value(7).run()
    assert "block of 7 periods" in picture(page)


def test_steps_go_forward_and_back_and_start_again():
    page = opened(periods="3")
    page.button(key="next").click().run()
    assert "Period 1" in picture(page)
    page.button(key="back").click().run()
    page.button(key="back").click().run()
    assert "Period 5" in picture(page)


@pytest.mark.parametrize(
    ("view", "said"), [("lower", describe_lower_level(5, 0)), ("upper", describe_upper_level(5, 0))]
)
def test_a_link_restores_picture_and_T(view, said):
    page = opened(view=view, periods="5")
    assert said in picture(page)
    assert f'<div class="fs-step-caption"><span>{escape(said)}' in html(page)
    page.button(key="next").click().run()
    assert said not in picture(page)
    assert not page.warning


def test_another_picture_starts_at_its_first_step():
    page = opened()
    page.button(key="next").click().run()
    page.radio(key="home.view").set_value("lower").run()
    assert describe_lower_level(4, 0) in picture(page)


@pytest.mark.parametrize("T", ["1", "12"])
@pytest.mark.parametrize("view", ["policy", "lower", "upper"])
def test_every_picture_works_for_the_shortest_and_the_longest_T(T, view):
    opened(view=view, periods=T)


def test_with_T_1_the_upper_level_mentions_no_lower_values():
    described = picture(opened(view="upper", periods="1"))
    assert described == describe_upper_level(1, 0) and "J₁" not in described


@pytest.mark.parametrize("junk", ["", "x", "-5", "4.5", "1e999", "9" * 400])
def test_unusable_values_in_the_link_are_reported(junk):
    page = opened(periods=junk, view=junk)
    assert "T = 4:" in picture(page)
    (notice,) = page.warning
    assert "`periods=" in notice.value and "`view=" in notice.value
