"""Certified errors include the rounding of double precision, checked with exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from fsdash.algorithms.mpi import mpi
from fsdash.core.certificate import rounding
from fsdash.core.evaluation import evaluate, policy_values, spacing
from fsdash.core.model import FastSlowMDP
from tests.models import dense_optimum, random_model, seeds


def line_model(reward_Y, gamma):
    """A line: y leads to y − 1, and 0 to itself. The core of its only policy is {0}."""
    n = len(reward_Y)
    return FastSlowMDP(
        reward_XYA=np.asarray(reward_Y, float)[None, :, None],
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.maximum(np.arange(n) - 1, 0)[None, :, None, None],
        gamma=gamma,
    )


def exact_line(reward_Y, gamma):
    """The values on a line, as fractions of the floating-point rewards and γ."""
    discount = Fraction(gamma)
    values = [Fraction(float(reward_Y[0])) / (1 - discount)]
    for reward in reward_Y[1:]:
        values.append(Fraction(float(reward)) + discount * values[-1])
    return values


@pytest.mark.parametrize("gamma", [0.9, 0.999, 0.999999])
@given(seeds)
def test_the_certified_error_covers_rounding_outside_the_core(gamma, seed):
    reward_Y = np.random.default_rng(seed).uniform(-1, 1, 60)
    model, policy_XY = line_model(reward_Y, gamma), np.zeros((1, 60), int)
    assert model.true.chain(model.reward_XYA, policy_XY[None], model.gamma).core()[0].tolist() == [
        0
    ]
    values = policy_values(model, policy_XY, tolerance=1e-15)
    exact = exact_line(reward_Y, gamma)
    wrong = max(abs(Fraction(u) - e) for u, e in zip(values.U_XY[0].tolist(), exact, strict=True))
    assert wrong <= values.error
    # Residuals of twice the precision leave little more than the rounding of the values themselves.
    assert values.within_tolerance and values.error <= 4 * spacing(values.U_XY)
    once = evaluate(model, policy_XY[None], np.zeros((1, 60)), 1e-15)
    wrong = max(abs(Fraction(u) - e) for u, e in zip(once.U_XY[0].tolist(), exact, strict=True))
    assert wrong <= once.error


@given(seeds)
def test_the_certified_error_is_within_the_tolerance_outside_the_core_too(seed):
    # y = 8 is entered by no transition, so it is outside the core.
    drawn = random_model(seed, (2, 9, 1, 2), ("X..W", "XYAW"), gamma=0.9999)
    model = FastSlowMDP(
        drawn.reward_XYA, drawn.noise_W, drawn.next_slow, drawn.next_fast % 8, gamma=0.9999
    )
    policy_XY = np.zeros((2, 9), int)
    assert 8 in model.true.chain(model.reward_XYA, policy_XY[None], model.gamma).core()[1]
    # The error after the first check of the certificate; a little less needs another one.
    first = policy_values(model, policy_XY, tolerance=1e9).error
    tolerance = first - rounding(model) / 2
    assert policy_values(model, policy_XY, tolerance=tolerance).error <= max(
        tolerance, 3 * rounding(model)
    )


@pytest.mark.parametrize("size", [1e9, 1e16, 1e18])
def test_the_certified_error_covers_the_rounding_of_a_large_start(size):
    model = random_model(0, (3, 4, 1, 2), ("XYAW", "XYAW"), gamma=0.99)
    exact_XY, start_XY = dense_optimum(model), np.full((3, 4), size)
    values = policy_values(model, np.zeros((3, 4), int), start_XY=start_XY)
    assert np.abs(values.U_XY - exact_XY).max() <= values.error <= 1e-6
    first = next(mpi(model, U0_XY=start_XY))
    assert np.abs(first.values_XY - exact_XY).max() <= first.error


def test_noise_that_sums_to_nearly_1_is_rescaled():
    """Otherwise the certified errors, for a law whose sum is 1, would be exceeded."""
    drawn = random_model(0, (3, 4, 1, 2), ("XYAW", "XYAW"))
    tables, policy_XY = (drawn.next_slow, drawn.next_fast), np.zeros((3, 4), int)
    model = FastSlowMDP(drawn.reward_XYA, [0.5, 0.5 + 9e-10], *tables, gamma=0.9999)
    exact = FastSlowMDP(drawn.reward_XYA, model.noise_W, *tables, gamma=0.9999)
    assert abs(model.noise_W.sum() - 1) < 1e-15
    assert np.array_equal(exact.noise_W, model.noise_W)
    values, exact_XY = policy_values(model, policy_XY), dense_optimum(model)
    assert np.abs(values.U_XY - exact_XY).max() <= values.error <= 1e-6
