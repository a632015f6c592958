"""The story without a browser: its numbers are the library's, its templates contain none."""

import re

import numpy as np
import pytest

import fsdash
from fsdash.core.operators import H, H_frozen, H_policy, bellman, expect
from fsdash.dashboard.navigation import PAGES
from fsdash.dashboard.story import numbers, presenter, state, text
from fsdash.dashboard.story.maze import CELLS, corridor, maze
from fsdash.dashboard.story.section_texts import SECTIONS
from fsdash.dashboard.story.sections import PARTS, URL
from fsdash.dashboard.widgets.glossary import SYMBOLS
from fsdash.dashboard.widgets.symbols import symbols_html
from tests.dashboard.kit import address, component_data, figures, opened, words

pytestmark = pytest.mark.slow  # together they take several seconds

PAGE = PAGES["story"].script.removeprefix("pages/")
SHOP = {
    **{"y_max": 12, "d_min": 1, "d_max": 5, "d_step": 2, "order_step": 3, "order_max": 12},
    **{"move": 0.05, "p": 10.0, "c": 1.0, "K": 30.0, "h": 2.0, "gamma": 0.98},
}
FIELDS = ("title", "sentences", "question", "answer", "alt", "say", "do", "live")


@pytest.fixture(scope="module")
def model():
    return fsdash.make("inventory", **SHOP).build()


@pytest.fixture(scope="module")
def best(model):
    return fsdash.optimum(model)


def lines_of(section: text.Section, field: str) -> tuple[str, ...]:
    value = getattr(section, field)
    return (value,) if isinstance(value, str) else value


def templates() -> dict[str, str]:
    """Every template of the story, by its place."""
    found = {}
    for section in SECTIONS:
        for field in FIELDS:
            for n, line in enumerate(lines_of(section, field)):
                found[f"{section.name}.{field}.{n}"] = line
    for name in (
        *("MAZE", "MAZE_ADVICE", "MAZE_ALT", "MAZE_LIVE", "SEASON", "SEASON_ALT", "SEASON_LIVE"),
        *("LEARNED", "TIMING", "CLASS_TIMING", "WAIT_FOR_THE_BLOCK", "LOWER_LEVEL_ORDERS"),
    ):
        found[name] = getattr(text, name)
    return found


def values_of(name: str) -> list[tuple]:
    """The values of a section's controls: the defaults, all lowest, all highest."""
    chosen = [URL.parameters[control] for control in PARTS[name].controls]
    ends = {
        "seed": (1, state.SEEDS), "gamma": (0.8, 0.99), "sweeps": (0, state.SWEEPS),
        "togo": (1, state.LOWER_STEPS), "upperT": (1, state.LONGEST_T), "k": (0, state.MOST_K),
        "pathT": (2, state.LOWER_STEPS), "path": (1, state.SEEDS), "errorT": (2, state.LONGEST_T),
        "budget": (0.7, 8.0), "workT": (2, state.LOWER_STEPS), "boundT": (2, state.LONGEST_T),
        "frozen": (2, state.LONGEST_T), "case": ("maze", "season"), "mazeT": (4, 40),
        "move": (0.0, 0.5),
    }  # fmt: skip
    defaults = tuple(parameter.default for parameter in chosen)
    lowest, highest = zip(*(ends[control] for control in PARTS[name].controls), strict=True)
    return [defaults, lowest, highest]


# ----------------------------------------------------------------------------------------- wording


@pytest.mark.parametrize("template", templates().values(), ids=templates())
def test_no_number_is_typed(template):
    without_formulas = re.sub(r"\$[^$]*\$", "", template)
    assert not re.search(r"\d", re.sub(r"\{\w+\}", "", without_formulas))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_a_section_is_short_and_its_templates_can_be_filled(section):
    assert 2 <= len(section.sentences) <= 3
    for values in values_of(section.name):
        found = PARTS[section.name].numbers(*values)
        for field in FIELDS:
            value = getattr(section, field)
            filled = [
                text.fill(line, found) for line in ((value,) if isinstance(value, str) else value)
            ]
            assert all(line and "{" not in re.sub(r"\$[^$]*\$", "", line) for line in filled)
            assert not any("nan" in line or "∞" in line for line in filled)
        figure, _ = PARTS[section.name].figure(*values)
        assert figure.data


def test_every_symbol_explains_itself_to_keyboard_and_screen_reader():
    for section in SECTIONS:
        line = symbols_html(section.symbols)
        assert line.count('<abbr tabindex="0">') == len(section.symbols)
        assert all(SYMBOLS[name].meaning.split("′")[0][:20] in line for name in section.symbols)


def test_the_lecture_leaves_five_of_fifty_minutes_for_questions():
    assert sum(section.minutes for section in SECTIONS) == 45
    assert presenter.until(50)[-1] == 50


def test_the_clock_of_the_long_lecture_counts_the_work_in_pairs():
    clock = component_data(opened(PAGE, present="1", section="5", lecture="90"))
    [until] = [data["until"] for data in clock if "until" in data]
    assert until == presenter.until(90) != presenter.until(50)
    section = SECTIONS[4]
    for lecture in (50, 90):
        notes = opened(PAGE, notes="1", section="5", lecture=str(lecture))
        captions = " ".join(caption.value for caption in notes.caption)
        assert f"ends {presenter.until(lecture)[4]} minutes after the start" in captions
        pairs = text.fill(text.PAIR_TIMING, {"minutes": section.pair_minutes})
        assert (pairs in captions) == (lecture == 90)


# ----------------------------------------------------------------------------------------- numbers


def test_the_shop_and_its_year(model, best):
    found = numbers.shop(3)
    path = fsdash.simulate(
        model, best.policy_PXY, rng=np.random.default_rng(3), steps=52, start=(1, 0)
    )
    assert (found["n_slow"], found["n_fast"], found["n_actions"]) == (3, 13, 5)
    assert found["n_states"] == model.n_states == 39
    assert found["stock_moves"] == np.count_nonzero(np.diff(path.y_N))
    assert found["season_moves"] == np.count_nonzero(np.diff(path.x_N))
    assert found["optimum"] == pytest.approx(model.mean(best.U_XY), abs=1e-6)


@pytest.mark.parametrize("gamma", [0.8, 0.98])
def test_the_sweeps_of_value_iteration(gamma):
    model = fsdash.make("inventory", **SHOP | {"gamma": gamma}).build()
    best = fsdash.optimum(model)
    needed, errors = numbers.sweeps(gamma, 7)["needed"], []
    for snapshot in fsdash.vi(model):
        errors.append(np.abs(snapshot.values_XY - best.U_XY).max() / np.abs(best.U_XY).max())
        if snapshot.iteration == needed:
            break
    assert errors[-1] <= 0.01 < errors[-2]
    assert numbers.sweeps(gamma, 7)["error"] == numbers.percent(errors[7])
    after = numbers.sweeps(gamma, 7)["optimal_after"]
    for k, optimal in ((after, True), (after - 1, False)):
        policy = fsdash.run_until(fsdash.vi(model), iterations=k).policy_PXY
        assert (fsdash.regret(model, policy, best=best).max_regret < 1e-3) == optimal


def test_the_lower_level_orders_from_a_number_of_weeks_on(model):
    steps = list(fsdash.rolling(model, 12))
    first = numbers.lower(4)["first"]
    assert [bool((step.policy_PXY > 0).any()) for step in steps[: first + 1]] == [
        *[False] * (first - 1), True, True
    ]  # fmt: skip
    assert numbers.lower(4)["ordering"] == np.count_nonzero(steps[3].policy_PXY)


@pytest.mark.parametrize("T", [1, 3, 8])
def test_the_upper_level(model, T):
    found, goal = numbers.upper(T, 4), fsdash.run_until(fsdash.fsvi(model, T), tolerance=1e-6)
    scale = np.abs(goal.values_XY).max()

    def error(k):
        values_XY = fsdash.run_until(fsdash.fsvi(model, T), iterations=k).values_XY
        return np.abs(values_XY - goal.values_XY).max() / scale

    assert error(found["needed"]) <= 0.01 < error(found["needed"] - 1)
    assert found["error"] == numbers.percent(error(4))
    two = fsdash.run_until(fsdash.fsvi(model, T), iterations=2)
    one = fsdash.run_until(fsdash.fsvi(model, T), iterations=1)
    sweep = model.n_pairs * model.true.outcomes
    assert found["cost"] == pytest.approx((two.evaluations - one.evaluations) / sweep)


@pytest.mark.parametrize("T", [3, 4, 6])
def test_the_path_and_the_orders_at_the_start_of_blocks(model, T):
    policy = fsdash.run_until(fsdash.fsvi(model, T), tolerance=1e-6).policy_PXY
    blocks = fsdash.core.frozen_blocks(
        model, policy, rng=np.random.default_rng(2), blocks=24 // T, start=(1, 0)
    )
    found = numbers.path(T, 2)
    weeks = np.flatnonzero(blocks.path.action_N)
    assert (found["orders"], found["at_start"]) == (len(weeks), np.count_nonzero(weeks % T == 0))
    assert found["planned"] == pytest.approx(blocks.plan.reward_N.sum())
    assert found["earned"] == pytest.approx(blocks.path.reward_N.sum())


def test_short_blocks_order_at_their_start_only_and_no_block_at_its_end():
    assert numbers.path(2, 1)["share"] == numbers.path(3, 1)["share"] == "100%"
    for T in range(2, state.LOWER_STEPS + 1):
        shares, last = state.order_shares(T), numbers.path(T, 1)["last"]
        idle = 1 if last == "last week" else int(last.split()[1])
        assert shares[T - idle :].sum() == 0 < shares[T - idle - 1]


def test_a_unit_follows_its_amount():
    assert [numbers.count(n, "week") for n in (0, 1, 2, 1.4, 1.0)] == [
        "0 weeks", "1 week", "2 weeks", "1.4 weeks", "1 week"
    ]  # fmt: skip


@pytest.mark.parametrize("T", [2, 4, 9])
def test_the_two_errors(model, best, T):
    own = true = frozen = np.zeros_like(best.U_XY)
    for _ in range(T - 1):
        own = H_policy(model, best.policy_PXY[0], own)
        true, frozen = H(model, true), H_frozen(model, frozen)
    found, constants = numbers.errors(T), fsdash.theory.measure(model).constants(0.98)

    def size(gap_XY):
        return 0.98 * np.abs(expect(model, model.true, gap_XY)).max()

    assert found["freeze"] == pytest.approx(size(true - frozen))
    assert found["end"] == pytest.approx(size(own - true))
    bound = fsdash.theory.reward_error(constants, T)
    assert found["freeze_bound"] == pytest.approx(bound.freeze)
    assert found["end_bound"] == pytest.approx(bound.end_of_horizon)
    # The proposition: the error of the T-period reward is at most the bound.
    assert size(own - frozen) <= found["freeze"] + found["end"] <= bound.total


@pytest.mark.parametrize("budget", [1.0, 2.5, 3.0, 8.0])
def test_regret_against_work(model, best, budget):
    frontier = fsdash.frontier(
        model, range(2, 13), methods=("fsvi", "vi"), bounds=False, every_iteration=True
    )
    points, precision = frontier.points, frontier.precision
    paid = points[points["sweeps"] <= budget]
    found = numbers.work(budget, 5)
    assert found["regret"] == pytest.approx(paid["mean_regret"].min(), abs=2 * precision)
    base = paid[paid["method"] == "vi"]["mean_regret"].min()
    assert found["base"] == pytest.approx(base, abs=2 * precision)
    policy = fsdash.run_until(fsdash.fsvi(model, 5), tolerance=1e-6).policy_PXY
    floor = fsdash.regret(model, policy, best=best).mean_regret
    assert found["floor"] == pytest.approx(floor, abs=1e-5)
    freezing = points[(points["method"] == "fsvi") & (points["sweeps"] < found["switch"])]
    assert freezing["mean_regret"].min() < points["mean_regret"][points["method"] == "vi"].loc[
        points["sweeps"] < found["switch"]
    ].min()  # fmt: skip


def test_replanning_beats_both_on_the_budgets_that_the_answer_names(model):
    points = (
        fsdash.frontier(
            model,
            range(2, 13),
            methods=("fsvi", "rolling", "vi"),
            bounds=False,
            every_iteration=True,
        )
        .with_work()
        .points
    )
    found = numbers.work(2.5, 3)
    for budget in (0.7, 0.99, 1.0, 2.0, 4.0, 5.99, 6.0, 8.0):
        paid = points[points["sweeps"] <= budget]
        wins = paid.loc[paid["mean_regret"].idxmin(), "method"] == "rolling"
        assert wins == (found["replan_from"] <= budget < found["replan_to"])


def test_no_budget_misses_the_regret_of_a_number_of_sweeps(model, best):
    for k in range(2, 7):
        policy = fsdash.run_until(fsdash.vi(model), iterations=k).policy_PXY
        mean_regret = fsdash.regret(model, policy, best=best).mean_regret
        assert numbers.work(float(k), 3)["regret"] <= mean_regret + 1e-3


def test_the_bound_and_the_truth_have_their_smallest_values_at_different_T():
    found = numbers.bound(3)
    low, high = numbers.bound(found["bound_T"]), numbers.bound(found["true_T"])
    for T in range(2, state.LONGEST_T + 1):
        assert numbers.bound(T)["bound"] >= low["bound"]
        assert numbers.bound(T)["regret"] >= high["regret"]
    assert low["bound"] < high["bound"] and low["regret"] > high["regret"]


@pytest.mark.parametrize("T", [2, 3, 12])
def test_the_bound_the_certificate_and_the_truth(model, best, T):
    found, constants = numbers.bound(T), fsdash.theory.measure(model).constants(0.98)
    bound = fsdash.theory.fsvi_bound(constants, T, k=10**6).total
    assert found["bound"] == pytest.approx(bound)
    policy = fsdash.run_until(fsdash.fsvi(model, T), tolerance=1e-6).policy_PXY
    true = fsdash.regret(model, policy, best=best).max_regret
    assert found["regret"] == pytest.approx(true, abs=1e-5)
    assert true <= found["certificate"] < found["trivial"] < found["bound"]
    assert found["trivial"] == pytest.approx(constants.r_max / 0.02)
    general, filled = text.bound_tex(constants, T)
    assert "frac" in general and text.number_tex(bound) in filled


@pytest.mark.parametrize("n", [2, 6, 16])
def test_rolling_freeze_and_the_floor(model, best, n):
    found = numbers.rolling(n)
    rolling = fsdash.run_until(fsdash.rolling(model, n), iterations=n).policy_PXY
    fsvi = fsdash.run_until(fsdash.fsvi(model, n), tolerance=1e-6).policy_PXY
    for name, policy in (("rolling", rolling), ("fsvi", fsvi)):
        mean_regret = fsdash.regret(model, policy, best=best).mean_regret
        assert found[name] == pytest.approx(mean_regret, abs=1e-5)
    assert found["best"] < found["best_floor"] and found["short_rolling"] > found["short_fsvi"]
    sweep = model.n_pairs * model.true.outcomes
    evaluations = fsdash.run_until(fsdash.rolling(model, n), iterations=n).evaluations
    assert found["work"] == numbers.count(evaluations / sweep, "sweep")
    for long in range(found["steady"], 17):
        policy = fsdash.run_until(fsdash.rolling(model, long), iterations=long).policy_PXY
        loss = fsdash.regret(model, policy, best=best).mean_regret
        assert 0 < found["steady_low"] <= loss + 1e-5 <= found["steady_high"] + 2e-5
        assert loss < found["best_floor"]


@pytest.mark.parametrize("move", [0.05, 0.5])
def test_a_season_that_moves_fast(move):
    verdict = fsdash.suits(fsdash.make("inventory", **SHOP | {"move": move}).build())
    found = numbers.season(move)
    assert found["fsvi"] == numbers.percent(verdict.fsvi)
    assert found["rolling"] == numbers.percent(verdict.rolling)
    assert verdict.suits == (move < 0.1) == (found["suits"] == "suits")


@pytest.mark.parametrize("gamma", [gamma for gamma in state.GAMMAS if gamma >= 0.95])
def test_span_bounds_tell_when_to_stop_before_the_values_are_accurate(gamma):
    model, U_XY = state.shop(gamma), state.best(gamma).U_XY
    V_XY, span, k, limit = np.zeros_like(U_XY), np.inf, 0, state.PRECISION * np.abs(U_XY).max()
    while gamma / (1 - gamma) * span > limit:
        V_XY, before_XY, k = H(model, V_XY), V_XY, k + 1
        span = np.ptp(V_XY - before_XY)
    greedy_XY = bellman(model, model.true, V_XY)[1]
    assert state.solved_shop(gamma).regret(greedy_XY).max_regret <= limit
    assert k < 0.7 * numbers.sweeps(gamma, 0)["needed"]


def test_the_maze_is_one_corridor_and_freezing_does_not_suit_it():
    model, cells = maze(), corridor()
    assert len({tuple(cell) for cell in cells.tolist()}) == CELLS == model.n_fast
    assert (np.abs(np.diff(cells, axis=0)).sum(axis=1) == 1).all()
    # From the middle, the optimal policy reaches the prize without a detour.
    policy = fsdash.optimum(model).policy_PXY[0]
    y, steps = CELLS // 2, 0
    while model.reward_XYA[0, y, policy[0, y]] == 0:
        y, steps = int(model.next_fast[0, y, policy[0, y], 0]), steps + 1
    assert steps + 1 == numbers.labyrinth(8)["half"]
    verdict = fsdash.suits(model)
    assert not verdict.suits
    assert numbers.labyrinth(8)["repeated"] == numbers.percent(verdict.repeated)


@pytest.mark.parametrize("T", [4, 16])
def test_the_plan_sees_the_prize_from_the_cells_within_its_reach(T):
    found = numbers.labyrinth(T)
    assert found["seen"] == T + 1  # the T nearest cells, and the prize's own
    fsvi = fsdash.run_until(fsdash.fsvi(maze(), T), tolerance=1e-6).policy_PXY
    result = fsdash.regret(maze(), fsvi)
    assert found["share"] == numbers.percent(result.mean_value / result.optimal_mean_value)


# ---------------------------------------------------------------------------------------- the page


def test_the_page_shows_ten_sections_with_figures_and_filled_sentences():
    page = opened(PAGE)
    assert [header.value for header in page.header][:10] == [
        f"{n}. {section.title}" for n, section in enumerate(SECTIONS, 1)
    ]
    assert list(figures(page)) == [f"story-{section.name}" for section in SECTIONS]
    shown = words(page)
    for section in SECTIONS:
        found = PARTS[section.name].numbers(*values_of(section.name)[0])
        for template in (*section.sentences, section.question, section.answer):
            assert text.fill(template, found) in shown
    assert all(data["alt_text"] for data in component_data(page) if "figure" in data)


def test_a_control_changes_the_text_and_the_address():
    page = opened(PAGE)
    page.slider(key="story.frozen").set_value(9).run()
    section = next(section for section in SECTIONS if section.name == "rolling")
    assert text.fill(section.sentences[1], numbers.rolling(9)) in words(page)
    assert address(page) == {"frozen": "9"}


def test_a_section_has_at_most_two_controls():
    page = opened(PAGE)
    assert len(page.slider) + len(page.select_slider) + len(page.get("button_group")) <= 2 * 10
    for n in range(1, 11):
        slide = opened(PAGE, present="1", section=str(n))
        controls = len(slide.slider) + len(slide.select_slider) + len(slide.get("button_group"))
        assert 1 <= controls <= 2


def test_presenter_mode_shows_one_section_and_the_notes_follow_it():
    slide = opened(PAGE, present="1", section="5", pathT="6")
    assert slide.title[0].value.startswith("5.") and list(figures(slide)) == ["story-path"]
    notes = opened(PAGE, notes="1", section="5", pathT="6")
    section = SECTIONS[4]
    found = numbers.path(6, 1)
    for template in (*section.sentences, *section.say, *section.do, section.answer):
        assert text.fill(template, found) in words(notes)
    assert not figures(notes) and not notes.warning


@pytest.mark.parametrize("junk", ["0", "11", "x", "1e9"])
def test_unusable_sections_in_a_link_are_reported(junk):
    page = opened(PAGE, section=junk, present="2")
    (notice,) = page.warning
    assert "`section=" in notice.value and "`present=" in notice.value
