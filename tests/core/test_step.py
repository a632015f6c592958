"""The law of one step, and terminal states, in both forms of the dynamics."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from fsdash.core.law import NextStateLaw
from fsdash.core.model import FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.core.step import next_states, terminal_states
from tests.models import in_rows, random_model, random_rows, seeds, shapes, sizes, transition_matrix


@given(seeds, sizes, shapes)
def test_next_states_are_the_transition_law_in_both_forms(seed, sizes, shape):
    model = random_model(seed, sizes, shape)
    P = transition_matrix(model, model.true)
    rows = in_rows(model)
    for x, y, a in np.ndindex(model.reward_XYA.shape):
        expected = P[x * model.n_fast + y, a]
        for form in (model, rows):
            law = next_states(form, x, y, a)
            found = np.bincount(law.x_K * model.n_fast + law.y_K, law.probability_K, len(expected))
            assert found == pytest.approx(expected, abs=1e-12)


def test_draws_have_the_probabilities_of_the_law_and_never_an_impossible_state():
    law = NextStateLaw(np.arange(4), np.zeros(4, int), np.array([0.0, 0.25, 0.75, 0.0]))
    rng = np.random.default_rng(0)
    counts = np.bincount([law.draw(rng)[0] for _ in range(4000)], minlength=4)
    assert counts[0] == counts[3] == 0
    assert abs(counts[1] - 1000) < 4 * np.sqrt(4000 * 0.25 * 0.75)


def test_a_draw_at_the_end_of_rounded_probabilities_is_possible():
    class Highest:
        def random(self):
            return np.nextafter(1.0, 0.0)

    third = NextStateLaw(np.arange(4), np.zeros(4, int), np.array([1 / 3, 1 / 3, 0.3333, 0.0]))
    assert third.draw(Highest()) == (2, 0)


def by_definition(model):
    """Whether every feasible action stays for certain and pays nothing."""
    found = np.zeros(model.real_XY.shape, bool)
    for x, y in np.argwhere(model.real_XY):
        found[x, y] = all(
            model.reward_XYA[x, y, a] == 0
            and all(
                (x2, y2) == (x, y)
                for p, x2, y2 in zip(law.probability_K, law.x_K, law.y_K, strict=True)
                if p > 0
            )
            for a in np.flatnonzero(model.feasible_XYA[x, y])
            for law in [next_states(model, x, y, a)]
        )
    return found


@given(seeds)
def test_terminal_states_equal_their_definition(seed):
    """Models with many states that stay or pay nothing, with infeasible actions."""
    rng = np.random.default_rng(seed)
    model = random_model(seed, (2, 3, 2, 2))
    own = np.indices((2, 3))
    stay_XYA = rng.random((2, 3, 2)) < 0.6
    feasible_XYA = rng.random((2, 3, 2)) < 0.7
    feasible_XYA[..., 0] |= ~feasible_XYA.any(axis=2)
    stays = stay_XYA[..., None]
    model = replace(
        model,
        reward_XYA=np.where(rng.random((2, 3, 2)) < 0.6, 0.0, model.reward_XYA),
        next_slow=np.where(stays, own[0][:, :, None, None], model.next_slow),
        next_fast=np.where(stays, own[1][:, :, None, None], model.next_fast),
        frozen_next_fast=None,
        feasible_XYA=feasible_XYA,
    )
    expected = by_definition(model)
    assert np.array_equal(terminal_states(model), expected)
    assert np.array_equal(terminal_states(in_rows(model)), expected)


def test_padding_is_not_terminal():
    model = random_rows(1, (3, 4, 2), padded=True)
    assert not terminal_states(model).any()
    rows = Rows.from_entries((1, 2, 1), [0], [0], [1.0])
    stopped = FastSlowMDP(reward_XYA=np.zeros((1, 2, 1)), rows=rows, gamma=0.9)
    assert terminal_states(stopped).tolist() == [[True, False]]
