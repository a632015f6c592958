"""Tours: every stop opens its page in the state that its text describes."""

import numpy as np
import pytest

from fsdash.algorithms import fsvi, rolling, run_until
from fsdash.choice.solved import solved_domain
from fsdash.core.simulate import simulate
from fsdash.dashboard import tour as bar
from fsdash.dashboard.bounds import text as bounds_text
from fsdash.dashboard.bounds import view as bounds_view
from fsdash.dashboard.choose_t import view as choose_t_view
from fsdash.dashboard.home import view as home_view
from fsdash.dashboard.inspector import url as inspector_url
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.reproduction import view as reproduction_view
from fsdash.dashboard.run_lab.url import lab_url
from fsdash.dashboard.story import sections as story_sections
from fsdash.dashboard.your_model import url as your_model_url
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.teaching.tours import TOURS, Position, parse_position
from fsdash.theory import PRESETS, fsavi_bound
from tests.dashboard.kit import address, follow_link, opened, words

pytestmark = pytest.mark.slow  # together they take several seconds

POSITIONS = [
    Position(name, n) for name, tour in TOURS.items() for n in range(1, len(tour.stops) + 1)
]


URLS = {
    "home": lambda: home_view.URL,
    "story": lambda: story_sections.URL,
    "bounds": lambda: bounds_view.URL,
    "choose_t": lambda: choose_t_view.URL,
    "your_model": lambda: your_model_url.URL,
    "run_lab": lab_url,
    "inspector": lambda: inspector_url.URL,
    "reproduction": lambda: reproduction_view.URL,
}
"""The parameters of each page that a tour visits."""


def at(position: str | Position):
    """The page of a stop, as the link of the tour opens it."""
    stop = parse_position(str(position)).stop
    script = PAGES[stop.page].script
    page = None if script == "app.py" else script.removeprefix("pages/")
    return opened(page, **stop.state, tour=str(position))


def in_session(page, key: str, default: object) -> object:
    """A value in the page's session; a parameter that the page did not store has its default."""
    found = page.session_state[key] if key in page.session_state else None  # noqa: SIM401
    return default if found is None else found


@pytest.mark.parametrize("position", POSITIONS, ids=str)
def test_a_stop_opens_its_page_in_its_state(position):
    page, stop = at(position), position.stop
    assert not page.warning and address(page)["tour"] == str(position)
    url = URLS[stop.page]()
    for name, text in stop.state.items():
        value = url.parameters[name].read(text)
        assert value == in_session(page, url.key(name), url.parameters[name].default)
    shown = words(page)
    assert f"**{stop.title}**" in shown and stop.do in shown and stop.look_for in shown
    assert bar.place(position) in [one.proto.text for one in page.get("progress")]
    assert (bar.LAST in shown) == (position.moved(1) is None)


@pytest.mark.parametrize("position", POSITIONS, ids=str)
def test_a_stop_that_compares_names_every_value_that_has_changed(position):
    before = position.moved(-1)
    if before is None or "Compare with the stop before" not in position.stop.do:
        return
    assert position.stop.page == before.stop.page
    old, new = before.stop.state, position.stop.state
    for name in {*old, *new}:
        if old.get(name) != new.get(name):
            assert new[name] in position.stop.do


def test_tours_end_in_the_inspector_or_in_choose_t():
    assert {tour.stops[-1].page for tour in TOURS.values()} == {"inspector", "choose_t"}


def test_positions_move_within_the_tour():
    first = Position("lecturer", 1)
    assert first.moved(-1) is None and str(first.moved(1)) == "lecturer.2"
    assert Position("lecturer", len(TOURS["lecturer"].stops)).moved(1) is None


@pytest.mark.parametrize("junk", ["", "lecturer", "lecturer.0", "lecturer.99", "x.1", "a.1.2"])
def test_an_unusable_position_is_reported(junk):
    with pytest.raises(InputError, match=r"start with one of lecturer\.1"):
        parse_position(junk)
    page = opened("2_Bounds.py", T="23", tour=junk)
    (warning,) = page.warning
    assert "`tour=" in warning.value
    assert page.slider(key="bounds.T").value == 23


def test_the_next_stop_on_the_same_page_is_read_although_the_page_wrote_another_url():
    page = at("lecturer.3")
    page.slider(key="bounds.T").set_value(40).run()
    assert address(page)["T"] == "40" and address(page)["tour"] == "lecturer.3"
    for position in ("lecturer.4", "lecturer.3", "lecturer.4"):
        state = parse_position(position).stop.state
        page.query_params.clear()
        for name, value in {**state, "tour": position}.items():
            page.query_params[name] = value
        page.run()
        assert page.slider(key="bounds.T").value == int(state["T"])


def test_another_page_leads_back_and_the_tour_can_be_ended():
    page = follow_link(at("lecturer.3"), "3_Choose_T.py")
    assert bar.place(Position("lecturer", 3)) in words(page)
    assert bar.RETURN in [link.proto.label for link in page.get("page_link")]
    page.button(key="tour-end").click().run()
    assert bar.RETURN not in [link.proto.label for link in page.get("page_link")]
    assert "tour" not in address(page)


# --------------------------------------------------------------- what the texts say about the pages


def test_the_lecturers_stops_about_the_error_say_what_the_page_says():
    peaks, grows = "lecturer.3", "lecturer.4"
    assert "largest at T = 23" in parse_position(peaks).stop.look_for
    assert "The total peaks at T = 23 with 15.2" in words(at(peaks))
    assert "L_f = 1.001 \\ge 1$" in words(at(grows))


@pytest.mark.parametrize(
    ("position", "method"),
    [
        ("lecturer.5", "Rolling freeze"),
        ("practitioner.3", "Rolling freeze"),
        ("practitioner.4", "MPI"),
    ],
)
def test_the_stops_about_budgets_name_the_recommended_method(position, method):
    stop = parse_position(position).stop
    assert {"Rolling freeze": "freeze", "MPI": "MPI"}[method] in stop.look_for
    assert at(position).header[0].value.startswith(method)


@pytest.mark.parametrize(("budget", "method"), [("1", "FSVI"), ("20", "MPI")])
def test_other_budgets_have_the_winners_that_the_lecturers_stop_names(budget, method):
    sweeps = "1 sweep" if budget == "1" else f"{budget} sweeps"
    assert f"With {sweeps} " in parse_position("lecturer.5").stop.look_for
    assert opened("3_Choose_T.py", budget=budget).header[0].value.startswith(method)


def test_fsvi_orders_at_the_start_of_a_block_as_the_last_stop_says():
    assert "almost every order is placed by μ" in parse_position("lecturer.6").stop.look_for
    model, steps = solved_domain(make("inventory")).model, 600
    policy_PXY = run_until(fsvi(model, T=6), tolerance=1e-3).policy_PXY
    path = simulate(model, policy_PXY, rng=np.random.default_rng(0), steps=steps)
    orders = model.actions.values[path.action_N].ravel() > 0
    assert orders[::6].sum() > 0.8 * orders.sum() > 0
    assert (
        "with an empty stock and a demand of 5 or more"
        in parse_position("lecturer.6").stop.look_for
    )
    order_X = run_until(rolling(model, 6), iterations=6).policy_PXY[0, :, 0]
    assert list(order_X > 0) == [demand >= 5 for demand in model.slow.values[:, 0]]


def test_the_practitioners_example_suggests_the_regime():
    page = at("practitioner.2")
    assert page.session_state[your_model_url.URL.key("slow")] == ["regime"]


def test_the_researchers_stop_shows_a_proven_bound_above_the_stated_one():
    page, T = at("researcher.3"), 16
    constants, fit = PRESETS["three-regimes"].constants, dict(kappa=1.02, eps_low=0.05, eps_up=0.2)
    proven = fsavi_bound(constants, T, k=20, **fit).total
    stated = fsavi_bound(constants, T, k=20, **fit, bound="stated").total
    assert proven > stated
    assert bounds_text.describe_stated(T, stated, proven) in words(page)


def test_home_starts_every_tour():
    labels = [link.proto.label for link in opened().get("page_link")]
    for tour in TOURS.values():
        assert f"{tour.audience}, {tour.minutes} minutes" in labels
