"""The bound of FSAVI, compared with the paper's formulas in 50 digits."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from fsdash.theory import Constants, fsavi_regret, fsvi_regret
from tests.theory.test_bounds import (
    GOOD,
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


@thorough
@given(amplified(), horizons, iterations, fits, fits)
def test_fsavi_regret_equals_the_stated_and_the_corrected_theorem(drawn, T, k, eps_low, eps_up):
    c, kappa = drawn
    lower, upper, iteration = exact_fsavi_inputs(c, T, k, kappa)
    error, moved = sum(exact_reward_error(c, T)), mpf(c.l_u) * exact_distance(c, T)

    with np.errstate(all="raise"):
        stated = fsavi_regret(
            c, T, k=k, kappa=kappa, eps_low=eps_low, eps_up=eps_up, corrected=False
        )
    fitted = error + lower * mpf(eps_low)
    reward_term, transition_term, _ = exact_lemma(c.gamma, T, fitted, moved, 0)
    total = reward_term + transition_term + upper * mpf(eps_up) + iteration
    assert same(stated.total, total, digits=1e-11)

    # The corrected bound applies the general lemma to the errors that the other lemmas prove.
    with np.errstate(all="raise"):
        ours = fsavi_regret(c, T, k=k, kappa=kappa, eps_low=eps_low, eps_up=eps_up)
    fitted = error + mpf(c.gamma) * lower * mpf(eps_low)
    terms = exact_lemma(c.gamma, T, fitted, moved, upper * mpf(eps_up) + iteration)
    assert same(ours.total, sum(terms), digits=1e-11)
    assert same(ours.transition_term, terms[1], digits=1e-11)


@thorough
@given(st.floats(0.01, 0.95), st.floats(0, 0.9), st.integers(1, 60))
def test_fsavi_terms_equal_the_closed_forms_of_the_theorem(gamma, share, T):
    kappa = 1 + share * (1 / gamma - 1)
    c = Constants(gamma=gamma, alpha=0, d_y=0, l_r=0, l_f=0, l_u=0, r_max=1)
    stated = fsavi_regret(c, T, k=0, kappa=kappa, eps_low=1, eps_up=1, corrected=False)
    g, kp = mpf(gamma), mpf(kappa)
    lower = (1 + kp) / (1 - kp * g) - (kp * g) ** T * (1 + g) / (g - kp * g**2)
    growth = (kp**2 - kp**2 * (kp * g) ** (T + 1)) / ((1 - kp * g**T) * (1 - kp * g))
    assert same(stated.lower_fit_term, 2 * lower / (1 - g**T) ** 2)
    assert same(stated.upper_fit_term, (1 + kp) / (1 - kp * g**T))
    assert same(stated.iteration_term, growth)


@thorough
@given(constants_drawn, horizons, iterations)
def test_fsavi_without_fitting_errors_is_nearly_fsvi(c, T, k):
    ours, exact = fsavi_regret(c, T, k=k, kappa=1, eps_low=0, eps_up=0), fsvi_regret(c, T, k=k)
    assert ours.lower_fit_term == ours.upper_fit_term == 0
    assert ours.reward_term == exact.reward_term
    assert ours.transition_term == exact.transition_term
    gamma = mpf(c.gamma)
    slack = (1 - gamma ** (T + 1)) / (1 - gamma**T)
    assert same(ours.iteration_term, slack * mpf(exact.iteration_term), digits=1e-10)


def test_the_stated_fsavi_bound_is_too_small_if_gamma_to_the_T_exceeds_a_third():
    for gamma_T, stated_is_smaller in ((0.34, True), (0.33, False)):
        c = replace(GOOD, gamma=gamma_T**0.25)
        stated = fsavi_regret(c, 4, k=3, kappa=1.01, eps_low=0, eps_up=0.5, corrected=False)
        corrected = fsavi_regret(c, 4, k=3, kappa=1.01, eps_low=0, eps_up=0.5)
        assert (stated.upper_fit_term < corrected.upper_fit_term) is stated_is_smaller
        assert (stated.iteration_term < corrected.iteration_term) is stated_is_smaller
