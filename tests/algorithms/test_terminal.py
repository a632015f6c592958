"""Terminal values of the lower level: meaning, counts by hand, agreement between algorithms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsdash.algorithms import e_fsvi, fsfvi, fsvi, run_until
from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.terminal import TERMINALS
from fsdash.core.evaluation import policy_values
from fsdash.core.operators import H_frozen_policy, policy_reward
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.regression import Linear, Tabular
from fsdash.runs.spec import RunSpec
from fsdash.sampling import Sampler, Sampling
from tests.algorithms.driving import seed, take
from tests.models import random_model, seeds, shapes
from tests.operators import F


def counts(snapshots, n):
    return [(s.evaluations, s.backups) for s in take(snapshots, n)]


def value_without_terminal(model, lower):
    """J₁ of the lower policy in the objective of the lower level."""
    J_XY = np.zeros((model.n_slow, model.n_fast))
    for pi_XY in lower[::-1]:
        J_XY = H_frozen_policy(model, pi_XY, J_XY)
    return J_XY


@given(seeds, shapes, st.integers(1, 5), st.sampled_from(TERMINALS))
def test_the_upper_level_uses_the_value_of_the_lower_policy_without_the_terminal_value(
    seed, shape, T, terminal
):
    model = random_model(seed, shape=shape, frozen="XYAW")
    *_, start, first = take(fsvi(model, T, terminal=terminal), T + 1)
    lower = start.policy_PXY[1:]
    J1_XY = value_without_terminal(model, lower)
    np.testing.assert_allclose(first.values_XY, F(model, J1_XY, lower, start.values_XY), atol=1e-9)


@given(seeds, shapes, st.integers(2, 5))
def test_the_named_terminal_values_mean_what_the_documentation_says(seed, shape, T):
    model = random_model(seed, shape=shape, frozen="XYAW")
    zero = take(fsvi(model, T), T)
    best_reward_XY = model.reward_XYA.max(axis=2) / (1 - model.gamma)
    for terminal, J_T in (("reward", best_reward_XY), ("last", zero[T - 2].values_XY)):
        named = take(fsvi(model, T, terminal=terminal), T + 2)
        given = take(fsvi(model, T, terminal_XY=J_T), T + 2)
        first_level = (T - 1) * model.n_states * model.n_actions * (terminal == "last")
        for a, b in zip(named, given, strict=True):
            np.testing.assert_allclose(a.values_XY, b.values_XY, atol=1e-12)
            assert np.array_equal(a.policy_PXY, b.policy_PXY)
            assert a.backups - b.backups == first_level


def test_evaluations_of_fsvi_match_a_calculation_by_hand():
    """12 states, 2 actions, 3 outcomes of the noise, T = 4.

    A lower sweep has 24 backups, the evaluation of the lower policy 3·12 = 36, an upper iteration
    24 + 36 = 60; three evaluations each.
    """
    model = random_model(1)
    lower = [(72, 24), (144, 48), (216, 72)]
    assert counts(fsvi(model, 4), 5) == [*lower, (216, 72), (396, 132)]
    for options in ({"terminal": "reward"}, {"terminal_XY": np.ones((3, 4))}):
        assert counts(fsvi(model, 4, **options), 5) == [*lower, (324, 108), (504, 168)]
    # The first backward induction has 3·24 = 72 backups.
    last = [(288, 96), (360, 120), (432, 144), (540, 180), (720, 240)]
    assert counts(fsvi(model, 4, terminal="last"), 5) == last
    # With T = 1 there is no lower level and nothing to evaluate.
    for terminal in TERMINALS:
        assert counts(fsvi(model, 1, terminal=terminal), 2) == [(0, 0), (72, 24)]


def test_evaluations_of_efsvi_match_a_calculation_by_hand():
    """12 states, 2 actions, T = 3, M_l = 2, M_u = 5.

    A lower sweep has 24·2 = 48 evaluations, the evaluation of the lower policy 2·12·2 = 48, an
    upper sweep 2·24·5 = 240. Each lower sweep yields two snapshots.
    """
    model = random_model(1)

    def evaluations(**options):
        run = e_fsvi(
            model, seed(0), T=3, sampling=Sampling(M_l=2, M_u=5, snapshots_per_sweep=1), **options
        )
        return [s.evaluations for s in take(run, 6)]

    assert evaluations() == [48, 48, 96, 96, 96, 336]
    assert evaluations(terminal="reward") == [48, 48, 96, 96, 144, 384]
    assert evaluations(terminal_XY=np.ones((3, 4))) == [48, 48, 96, 96, 144, 384]
    assert evaluations(terminal="last") == [144, 144, 192, 192, 240, 480]


@pytest.mark.parametrize("lower_policy", ["full", "frozen"])
def test_evaluations_of_fsfvi_match_a_calculation_by_hand(lower_policy):
    """5 sampled states, 2 actions, T = 3, M_l = 2, M_u = 7.

    A lower step has 10·2 = 20 evaluations, the evaluation of the lower policy 2·5·2 = 20, an upper
    iteration 2·10·7 = 140.
    """
    model = random_model(1)

    def evaluations(**options):
        run = fsfvi(
            model,
            seed(0),
            T=3,
            regress=Linear(),
            sampling=Sampling(N=5, M_l=2, M_u=7),
            lower_policy=lower_policy,
            **options,
        )
        return [s.evaluations for s in take(run, 6)]

    assert evaluations() == [20, 20, 40, 40, 40, 180]
    assert evaluations(terminal="reward") == [20, 20, 40, 40, 60, 200]
    assert evaluations(terminal="last") == [60, 60, 80, 80, 100, 240]


@pytest.mark.parametrize("terminal", TERMINALS)
def test_efsvi_is_fsvi_if_the_model_has_no_noise(terminal):
    model = random_model(2, shape=("XYA.", "XYA."))
    exact = take(fsvi(model, 4, terminal=terminal), 6)
    run = e_fsvi(
        model,
        seed(3),
        T=4,
        sampling=Sampling(ties="first", snapshots_per_sweep=1),
        terminal=terminal,
    )
    ours = [s for s in take(run, 9) if s.policy_kind != "stationary"]
    for a, b in zip(ours, exact, strict=True):
        np.testing.assert_allclose(a.values_XY, b.values_XY, atol=1e-9)
        assert np.array_equal(a.policy_PXY, b.policy_PXY)


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("ties", ["first", "random"])
def test_fsfvi_with_a_table_and_all_states_is_efsvi(terminal, ties):
    model = random_model(4, frozen="XYAW")
    model = replace(model, reward_XYA=np.round(model.reward_XYA))
    sampling, options = Sampling(M_l=2, M_u=5, ties=ties), {"T": 4, "terminal": terminal}
    table = {"regress": Tabular(), "sampling": replace(sampling, N=model.n_states)}
    ours = fsfvi(model, seed(5), lower_policy="frozen", **table, **options)
    theirs = e_fsvi(model, seed(5), sampling=replace(sampling, snapshots_per_sweep=1), **options)
    for a, b in zip(take(ours, 9), take(theirs, 9), strict=True):
        assert np.array_equal(a.values_XY, b.values_XY)
        assert np.array_equal(a.policy_PXY, b.policy_PXY)
        assert (a.evaluations, a.backups) == (b.evaluations, b.backups)


def test_a_sampled_step_of_a_policy_has_the_right_mean():
    model, M = random_model(6), 400
    policy_XY = seed(7).integers(2, size=(3, 4))
    U_XY = seed(8).normal(size=(3, 4))
    sampler, rng = Sampler(model, model.frozen, M), seed(9)
    drawn = np.mean([sampler.policy_values(policy_XY, U_XY, rng) for _ in range(50)], axis=0)
    exact_XY = H_frozen_policy(model, policy_XY, U_XY)
    six_sigma = 6 * model.gamma * np.ptp(U_XY) / 2 / np.sqrt(50 * M)
    assert 0 < np.abs(drawn - exact_XY.reshape(-1)).max() <= six_sigma
    # Some states only; without a future, the reward of the policy's action.
    some = sampler.policy_values(policy_XY, np.zeros((3, 4)), rng, np.array([7, 2]))
    np.testing.assert_allclose(some, policy_reward(model, policy_XY).reshape(-1)[[7, 2]])


def test_a_good_terminal_value_removes_the_end_of_horizon_error():
    """Only y moves. With J_T = U* the lower policy is optimal; with zero or one block it is not."""
    model = random_model(6, sizes=(3, 5, 3, 1), shape=("X...", "XYA."), gamma=0.95)
    still = replace(model, next_slow=np.arange(3)[:, None, None, None])
    best = optimum(still, tolerance=1e-10)
    loss = {
        name: regret(
            still, run_until(fsvi(still, 3, **options), iterations=60).policy_PXY, best=best
        ).max_regret
        for name, options in {
            "zero": {},
            "last": {"terminal": "last"},
            "optimal": {"terminal_XY": best.U_XY},
        }.items()
    }
    assert loss["optimal"] < 1e-6 < loss["last"] < loss["zero"]


@pytest.mark.parametrize("name", ["fsvi", "e-fsvi", "lin-fsfvi", "deep-fsfvi"])
def test_zero_is_the_default_of_a_run(name):
    spec = RunSpec("inventory", name, T=3, iterations=2)
    assert dict(spec.parameters)["terminal"] == "zero"
    other = RunSpec("inventory", name, T=3, iterations=2, parameters={"terminal": "last"})
    assert other.to_dict()["parameters"]["terminal"] == "last"
    assert other.hash != spec.hash and RunSpec.from_json(other.to_json()) == other


@pytest.mark.parametrize(
    "options, words",
    [
        ({"terminal": "none"}, "terminal = 'none': choose from zero, last, reward"),
        ({"terminal_XY": np.zeros(3)}, "terminal_XY: shape"),
        ({"terminal": "last", "terminal_XY": np.zeros((3, 4))}, "leave it out if terminal_XY"),
    ],
)
def test_errors_name_the_bad_argument(options, words):
    model = random_model(1)
    for run in (
        fsvi(model, 2, **options),
        e_fsvi(model, seed(0), T=2, **options),
        fsfvi(model, seed(0), T=2, regress=Linear(), **options),
    ):
        with pytest.raises(InputError, match=words):
            next(run)


def test_a_second_block_helps_on_the_gridworld():
    """The guide states these shares of the optimum for T = 6: 0.72 with zero, 0.94 with last."""
    model = make("gridworld").build()
    best = model.mean(optimum(model).U_XY)

    def share(terminal):
        last = run_until(fsvi(model, 6, terminal=terminal), iterations=60)
        return model.mean(policy_values(model, last.policy_PXY, tolerance=0.01).U_XY) / best

    assert share("zero") == pytest.approx(0.72, abs=0.005)
    assert share("last") == pytest.approx(0.94, abs=0.005)
