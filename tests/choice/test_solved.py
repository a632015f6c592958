"""A solved model: whether freezing suits it, with the evidence and the alternative."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fsdash.algorithms import fsvi, rolling, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.choice.frontier import frontier
from fsdash.choice.solved import HORIZONS, REMAINING, SolvedModel, suits
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.domains import make
from tests.models import random_model

pytestmark = pytest.mark.slow  # together they take several seconds

LAKE = [
    "SFFFFFFF",
    "FFFFFFFF",
    "FFFHFFFF",
    "FFFFFHFF",
    "FFFHFFFF",
    "FHHFFFHF",
    "FHFFHFHF",
    "FFFHFFFG",
]
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))


def frozen_lake():
    """Gymnasium's FrozenLake 8×8 with γ = 0.99; the last fast state is the end of an episode."""
    over, entries, reward_XYA = 64, [], np.zeros((1, 65, 4))
    for s in range(65):
        for a in range(4):
            for move in ((a - 1) % 4, a, (a + 1) % 4):
                row, column = s // 8 + MOVES[move][0], s % 8 + MOVES[move][1]
                to = min(max(row, 0), 7) * 8 + min(max(column, 0), 7)
                if s == over or LAKE[s // 8][s % 8] in "HG":
                    to = over
                elif LAKE[to // 8][to % 8] == "G":
                    reward_XYA[0, s, a] += 1 / 3
                entries.append((s * 4 + a, to, 1 / 3))
    rows = Rows.from_entries((1, 65, 4), *map(np.array, zip(*entries, strict=True)))
    return FastSlowMDP(reward_XYA=reward_XYA, rows=rows, gamma=0.99)


@pytest.mark.parametrize("name", ["inventory", "gridworld", "pricing"])
def test_freezing_suits_the_domains(name):
    found = suits(make(name).build())
    assert found.suits and not found.reasons and found.rolling < 0.02 < found.fsvi < 0.15
    assert found.text.startswith("Freezing suits this model.") and np.isnan(found.repeated)


def test_a_goal_without_a_slow_state_needs_another_terminal_value():
    model = frozen_lake()
    found = suits(model)
    assert not found.suits and found.moves == 0
    assert "one slow state" in found.reasons[0] and "97% of the states" in found.reasons[1]
    assert found.fsvi > 0.5 and found.repeated < 0.01
    assert found.on_freezing == "This model has one slow state, so nothing is frozen."
    assert found.on_fsvi == "FSVI loses 63% here (T = 24)." and "over 5 passes loses" in found.text
    # The same by hand: solve, pass V on as the terminal value, and solve again.
    V_XY, best = np.zeros((1, 65)), optimum(model)
    for _ in range(5):
        last = run_until(fsvi(model, 4, terminal_XY=V_XY), tolerance=1e-6)
        V_XY = last.values_XY
    assert regret(model, last.policy_PXY, best=best).mean_regret < 1e-3


def test_a_slow_state_that_moves_often_is_named():
    """The reward is for being at the place of tomorrow's x, which moves in every period."""
    X, x = 6, np.arange(6)
    model = FastSlowMDP(
        reward_XYA=np.where(x[:, None, None] == x[None, :, None], 1.0, 0.0) * np.ones((1, 1, 6)),
        noise_W=[0.5, 0.5],
        next_slow=np.stack([(x + 1) % X, (x + 3) % X], axis=1)[:, None, None, :],
        next_fast=x[None, None, :, None],
        gamma=0.9,
    )
    found = suits(model)
    assert not found.suits and found.moves == 1
    assert "moves with probability 1.00" in found.text


def test_an_endogenous_slow_state_is_named():
    """Action 1 raises x and pays in the highest x; action 0 pays a little and returns x to 0."""
    reward_XYA = np.array([[0.5, 0.0]] * 3 + [[0.5, 10.0]])[:, None, :]
    rise = np.array([[0, x + 1] for x in range(3)] + [[0, 3]])
    model = FastSlowMDP(
        reward_XYA=reward_XYA,
        noise_W=[1.0],
        next_slow=rise[:, None, :, None],
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.9,
    )
    found = suits(model)
    assert not found.suits and found.moves == 1 - 2 / 8  # x stays in (0, 0) and in (3, 1)
    assert "move its slow state" in found.on_freezing
    # A frozen plan never sees the rise, whatever its terminal value is.
    assert found.repeated > 0.5 and found.text.endswith("Use modified policy iteration.")
    assert replace(found, repeated=0.0).text.endswith("over 5 passes loses nothing.")


def test_one_method_is_enough():
    """FSVI acts by the true dynamics in the first period of a block; rolling freeze never does."""
    model = FastSlowMDP(
        reward_XYA=[[[0.5, 0.0]], [[1.0, 2.0]]],
        noise_W=[1.0],
        next_slow=np.array([[[0, 1]], [[0, 1]]])[..., None],  # action 1 leads to x = 1
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.9,
    )
    found = suits(model)
    assert found.suits and found.on_freezing == "Freezing suits this model."
    assert found.on_fsvi == "FSVI loses nothing here (T = 2)."
    assert found.on_rolling == "Rolling freeze loses 100% (n = 2)."


def test_an_initial_policy_that_is_optimal_is_said_to_be():
    model = random_model(1, gamma=0.0)
    assert suits(model).text == "The policy that maximises the immediate reward is optimal here."


def test_a_slow_state_that_moves_with_y_alone_is_measured():
    model = random_model(0, (3, 4, 2, 3), ("XY.W", "...."))
    assert 0 < suits(model).moves < 1


def test_the_verdict_follows_from_the_regrets_of_both_methods():
    """By hand: each policy's mean regret, divided by that of the best immediate reward."""
    model = random_model(3, (3, 5, 3, 3), ("X..W", "XYAW"))
    best = optimum(model)
    initial = regret(model, model.reward_XYA.argmax(axis=2), best=best).mean_regret
    shares = {
        "fsvi": {
            T: regret(model, run_until(fsvi(model, T), tolerance=1e-6).policy_PXY, best=best)
            for T in HORIZONS
        },
        "rolling": {
            n: regret(model, run_until(rolling(model, n), iterations=n).policy_PXY, best=best)
            for n in HORIZONS
        },
    }
    smallest = {
        name: min(loss.mean_regret / initial for loss in losses.values())
        for name, losses in shares.items()
    }
    found = suits(model)
    assert found.fsvi == pytest.approx(smallest["fsvi"], abs=1e-4)
    assert found.rolling == pytest.approx(smallest["rolling"], abs=1e-4)
    assert shares["fsvi"][found.T].mean_regret / initial == pytest.approx(found.fsvi, abs=1e-4)
    assert found.suits == (min(smallest.values()) <= REMAINING)


def test_the_verdict_does_not_depend_on_the_unit_or_the_origin_of_rewards():
    model = random_model(3, (3, 5, 3, 3), ("X..W", "XYAW"))
    shifted = replace(model, reward_XYA=7 * model.reward_XYA - 100)
    first, second = suits(model), suits(shifted)
    assert first.fsvi == pytest.approx(second.fsvi, abs=1e-3)
    assert first.suits == second.suits and (first.T, first.n) == (second.T, second.n)
    far = suits(replace(model, reward_XYA=model.reward_XYA + 1e7))
    assert far.fsvi == pytest.approx(first.fsvi, abs=1e-3)


def test_a_solved_model_is_solved_once(monkeypatch):
    calls = Counter()

    def counted(name, function):
        def call(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        return call

    monkeypatch.setattr("fsdash.choice.solved.optimum", counted("optimum", optimum))
    solved = SolvedModel(make("inventory").build())
    frontier(solved, [2, 3], bounds=False)
    assert suits(solved) is solved.freezing
    assert calls == {"optimum": 1}


def test_what_rests_on_an_imprecise_optimum_says_so(monkeypatch):
    monkeypatch.setattr(
        "fsdash.choice.solved.optimum",
        lambda model: replace(optimum(model), error=12_345.0, tolerance=1e-6),
    )
    solved = SolvedModel(make("inventory").build())
    notice = solved.best.notice
    assert "within ±12,345 only" in notice
    assert suits(solved).text.endswith(notice)
    assert frontier(solved, [2], bounds=False).notice == notice


def test_a_time_limit_ends_the_verdict_with_what_was_compared(monkeypatch):
    shares = []
    verdict = suits(make("inventory").build(), seconds=1e-9, progress=shares.append)
    assert (verdict.T, verdict.n) == (2, 2) and np.isfinite([verdict.fsvi, verdict.rolling]).all()
    assert "time limit of 1e-09 s ended the comparison after T = 2." in verdict.text
    assert shares == sorted(shares) and shares[0] == 0
    full = suits(make("inventory").build())
    assert full.notice == "" and full.rolling < verdict.rolling
