"""Certified errors include the rounding of double precision, checked with exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from fsdash.core.certificate import rounding
from fsdash.core.evaluation import policy_values
from fsdash.core.model import FastSlowMDP
from fsdash.core.policy_chain import Chain
from tests.models import random_model, seeds


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
    assert Chain.of(model, policy_XY[None]).core()[0].tolist() == [0]
    values = policy_values(model, policy_XY, tolerance=1e-15)
    exact = exact_line(reward_Y, gamma)
    wrong = max(abs(Fraction(u) - e) for u, e in zip(values.U_XY[0].tolist(), exact, strict=True))
    assert 0 < wrong <= values.error
    # Once for the values of the core, once for the sweep from there to the other states.
    assert values.error >= 2 * rounding(model)


@given(seeds)
def test_the_certified_error_is_within_the_tolerance_outside_the_core_too(seed):
    # y = 8 is entered by no transition, so it is outside the core.
    drawn = random_model(seed, (2, 9, 1, 2), ("X..W", "XYAW"), gamma=0.9999)
    model = FastSlowMDP(
        drawn.reward_XYA, drawn.noise_W, drawn.next_slow, drawn.next_fast % 8, gamma=0.9999
    )
    policy_XY = np.zeros((2, 9), int)
    assert 8 in Chain.of(model, policy_XY[None]).core()[1]
    # The error after the first check of the certificate; a little less needs another one.
    first = policy_values(model, policy_XY, tolerance=1e9).error
    tolerance = first - rounding(model) / 2
    assert policy_values(model, policy_XY, tolerance=tolerance).error <= max(
        tolerance, 3 * rounding(model)
    )
