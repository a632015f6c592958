"""Samples from sparse rows have the distribution of plain sampling."""

from collections import Counter

import numpy as np
import pytest

from fsdash.algorithms.slow_agnostic import slow_agnostic
from fsdash.core.operators import follow_all, lower_kernel, q_values
from fsdash.sampling import Sampler, Sampling, UpperSampler
from tests.models import in_rows, random_model, random_rows
from tests.sampling.cases import fits, upper_case, within

N = 20_000


@pytest.mark.parametrize("common", [False, True])
def test_counts_of_one_row_are_multinomial(common):
    """With M = 2 and a value function that tells states apart, Q shows which two were drawn."""
    model = random_rows(3)
    rows, s = model.rows, 5
    a = int(np.argmax(np.diff(rows.start_R)[rows.row_XYA.reshape(-1, 3)[s]]))
    row = rows.row_XYA.reshape(-1, 3)[s, a]
    U_XY = 3.0 ** np.arange(model.n_states).reshape(3, 4)
    sampler = Sampler(model, model.true, 2, Sampling(common_random_numbers=common, ties="first"))
    rng, seen = np.random.default_rng(1), Counter()
    for _ in range(N):
        Q_A = sampler.q_values(U_XY, rng, [s])[0][0]
        seen[round(2 * (Q_A[a] - model.reward_XYA.reshape(-1, 3)[s, a]) / model.gamma)] += 1
    expected: dict = {}
    targets, p = rows.targets(row).tolist(), rows.probabilities(row)
    for i, first in enumerate(targets):
        for j, second in enumerate(targets):
            total = 3**first + 3**second
            expected[total] = expected.get(total, 0) + p[i] * p[j]
    assert len(expected) > 3 and fits(seen, expected) > 1e-4


@pytest.mark.parametrize(
    "how", [{"sparse": True}, {"sparse": False}, {"common_random_numbers": True}], ids=str
)
def test_upper_samples_of_both_forms_have_the_same_mean_and_variance(how):
    model, lower, J1_XY, V_XY, rng = upper_case(3)
    exact = q_values(
        model,
        model.true,
        J1_XY + model.gamma**2 * lower_kernel(model, follow_all(model, lower), V_XY),
    ).reshape(6, 2)
    variances = []
    for form in (model, in_rows(model)):
        sampler = UpperSampler(form, J1_XY, lower, Sampling(M_u=4, ties="first", **how))
        Q = np.array([sampler.q_values(V_XY, rng)[0] for _ in range(N // 2)])
        within(Q.mean(axis=0), exact, Q.var(axis=0) / len(Q))
        variances.append(Q.var(axis=0))
        fourth = ((Q - Q.mean(axis=0)) ** 4).mean(axis=0)
    error = np.sqrt(2 * fourth / len(Q))
    assert (np.abs(variances[0] - variances[1]) <= 6 * error + 1e-12).all()


def test_common_random_numbers_are_shared_by_the_actions_of_a_state():
    """Two actions with the same row get the same draws; independent samples differ."""
    model = in_rows(random_model(4, shape=("X..W", "...W")))
    U_XY = np.random.default_rng(0).normal(size=(3, 4))
    futures = {}
    for common in (True, False):
        sampler = Sampler(
            model, model.true, 3, Sampling(common_random_numbers=common, ties="first")
        )
        Q_SA = sampler.q_values(U_XY, np.random.default_rng(1))[0]
        futures[common] = Q_SA - model.reward_XYA.reshape(Q_SA.shape)
    np.testing.assert_allclose(futures[True][:, 0], futures[True][:, 1], atol=1e-12)
    assert np.abs(futures[False][:, 0] - futures[False][:, 1]).max() > 1e-3


def test_one_step_of_a_policy_has_the_exact_mean():
    model, rng = random_rows(6), np.random.default_rng(2)
    policy_XY, U_XY = model.feasible_XYA.argmax(axis=2), rng.normal(size=(3, 4))
    sampler = Sampler(model, model.frozen, 2)
    found = np.array([sampler.policy_values(policy_XY, U_XY, rng) for _ in range(N // 4)])
    exact = np.take_along_axis(
        q_values(model, model.frozen, U_XY), policy_XY[:, :, None], axis=2
    ).reshape(-1)
    within(found.mean(axis=0), exact, found.var(axis=0) / len(found))


@pytest.mark.parametrize("common", [False, True])
def test_both_forms_ignore_the_slow_state_alike(common):
    """The first sweep from U⁰ estimates the mean over x of r + γ E[U⁰(y')]."""
    model, rng = random_model(8, shape=("XYAW", "XYAW")), np.random.default_rng(3)
    U0_Y = rng.normal(size=4)
    means = []
    for form in (model, in_rows(model)):
        values = []
        for seed in range(600):
            run = slow_agnostic(
                form,
                np.random.default_rng(seed),
                sampling=Sampling(M=20, snapshots_per_sweep=1, common_random_numbers=common),
                U0_Y=U0_Y,
            )
            next(run)
            values.append(next(run).values_XY[0])
        means.append((np.mean(values, axis=0), np.var(values, axis=0) / 600))
    (a, va), (b, vb) = means
    within(a - b, 0, va + vb, errors=5)
