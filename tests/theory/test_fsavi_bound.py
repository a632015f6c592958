"""The bound of FSAVI, compared with the paper's formulas in 50 digits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from fsdash.theory import Constants, fsavi_bound, repaired_bound
from tests.theory.test_bounds import (
    constants_drawn,
    exact_distance,
    exact_lemma,
    exact_reward_error,
    horizons,
    iterations,
    same,
    thorough,
)


def exact_fsavi_inputs(c, T, k, kappa):
    """The three brackets of the theorem, with the geometric sums of the lemmas written out."""
    gamma, kappa = mpf(c.gamma), mpf(kappa)
    lower = 1 + sum(((gamma + 1) * kappa * (kappa * gamma) ** (i - 1) for i in range(1, T)), mpf(0))
    upper = (1 + kappa) / (1 - kappa * gamma**T)
    powers = sum(((kappa * gamma) ** i for i in range(T + 1)), mpf(0))
    iteration = (kappa * gamma**T) ** k * kappa**2 * powers / (1 - kappa * gamma**T)
    return lower, upper, iteration * mpf(c.r_max)


fits = st.floats(0, 10)


@st.composite
def amplified(draw):
    c = draw(constants_drawn)
    room = 1 / c.gamma if c.gamma > 1e-3 else 1e3
    kappa = 1 + draw(st.floats(0, 0.9)) * (room - 1)
    return c, kappa


@pytest.mark.slow
@thorough
@given(amplified(), horizons, iterations, fits, fits)
def test_the_stated_bound_equals_the_paper_s_formula(drawn, T, k, eps_low, eps_up):
    c, kappa = drawn
    lower, upper, iteration = exact_fsavi_inputs(c, T, k, kappa)
    error, moved = sum(exact_reward_error(c, T)), mpf(c.l_u) * exact_distance(c, T)
    with np.errstate(all="raise"):
        stated = fsavi_bound(c, T, k=k, kappa=kappa, eps_low=eps_low, eps_up=eps_up, bound="stated")
    fitted = error + lower * mpf(eps_low)
    reward_term, transition_term, _ = exact_lemma(c.gamma, T, fitted, moved, 0)
    total = reward_term + transition_term + upper * mpf(eps_up) + iteration
    assert same(stated.total, total, digits=1e-11)


@pytest.mark.slow
@thorough
@given(amplified(), horizons, iterations, fits, fits, st.one_of(st.none(), st.floats(1, 3)))
def test_the_proven_bound_equals_its_formula(drawn, T, k, eps_low, eps_up, l_frozen):
    c, kappa = drawn
    _, upper, iteration = exact_fsavi_inputs(c, T, k, kappa)
    gamma, q = mpf(c.gamma), mpf(c.gamma) ** T
    used = float(np.hypot(1, c.l_f)) if l_frozen is None else l_frozen
    error = sum(exact_reward_error(c, T)) + gamma * exact_reward_error(replace(c, l_f=used), T)[0]
    powers, sums = mpf(1), mpf(0)  # Σ_{i<m} κ^i, and the sum over m
    for m in range(1, T):
        sums += gamma**m * powers
        powers = 1 + mpf(kappa) * powers
    loss = 2 * (1 + mpf(kappa)) * sums * mpf(eps_low)
    moved = q * mpf(c.l_u) * exact_distance(c, T)
    values = 2 * q * (upper * mpf(eps_up) + iteration)
    with np.errstate(all="raise"):
        proven = fsavi_bound(
            c, T, k=k, kappa=kappa, eps_low=eps_low, eps_up=eps_up, l_frozen=l_frozen
        )
    assert same(proven.total, (error + loss + moved + values) / (1 - q), digits=1e-11)
    assert same(proven.lower_fit_term, loss / (1 - q), digits=1e-11)


@thorough
@given(st.floats(0.01, 0.95), st.floats(0, 0.9), st.integers(1, 60))
def test_fsavi_terms_equal_the_closed_forms_of_the_theorem(gamma, share, T):
    kappa = 1 + share * (1 / gamma - 1)
    c = Constants(gamma=gamma, alpha=0, d_y=0, l_r=0, l_f=0, l_u=0, r_max=1)
    stated = fsavi_bound(c, T, k=0, kappa=kappa, eps_low=1, eps_up=1, bound="stated")
    g, kp = mpf(gamma), mpf(kappa)
    lower = (1 + kp) / (1 - kp * g) - (kp * g) ** T * (1 + g) / (g - kp * g**2)
    growth = (kp**2 - kp**2 * (kp * g) ** (T + 1)) / ((1 - kp * g**T) * (1 - kp * g))
    assert same(stated.lower_fit_term, 2 * lower / (1 - g**T) ** 2)
    assert same(stated.upper_fit_term, (1 + kp) / (1 - kp * g**T))
    assert same(stated.iteration_term, growth)


@pytest.mark.slow
@thorough
@given(constants_drawn, horizons, iterations)
def test_without_fitting_errors_it_is_nearly_the_repaired_bound_of_fsvi(c, T, k):
    ours, exact = fsavi_bound(c, T, k=k, kappa=1, eps_low=0, eps_up=0), repaired_bound(c, T, k=k)
    assert ours.lower_fit_term == ours.upper_fit_term == 0
    assert ours.reward_term == exact.reward_term
    assert ours.transition_term == exact.transition_term
    gamma = mpf(c.gamma)
    slack = (1 - gamma ** (T + 1)) / (1 - gamma**T)
    assert same(ours.iteration_term, slack * mpf(exact.iteration_term), digits=1e-10)
