"""The sampled algorithms against the exact ones, each other and counts calculated by hand.

Seeds are fixed. Bounds are in standard errors σ/√M with σ from the exact law; a maximum over
actions adds a bias of at most √(2 ln A)·σ/√M for normal errors, which the factor 6 holds too.
"""

from dataclasses import replace

import numpy as np
import pytest

from fsdash.algorithms import fsvi, vi
from fsdash.algorithms.e_fsvi import e_fsvi
from fsdash.algorithms.e_qi import e_qi
from fsdash.algorithms.e_vi import e_vi
from fsdash.algorithms.optimum import optimum
from fsdash.algorithms.slow_agnostic import slow_agnostic
from fsdash.core.evaluation import policy_values
from fsdash.core.operators import bellman, expect, q_values
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.sampling import Sampling
from tests.algorithms.driving import at, reach, seed, take
from tests.models import SHAPES, random_model
from tests.operators import F

ALGORITHMS = {
    "e_vi": e_vi,
    "e_qi": e_qi,
    "slow_agnostic": slow_agnostic,
    "e_fsvi": lambda model, rng, **options: e_fsvi(model, rng, T=3, **options),
}


def spread(model, U_XY):
    """The largest standard deviation of γU(s') over (s, a)."""
    variance = expect(model, model.true, U_XY**2) - expect(model, model.true, U_XY) ** 2
    return model.gamma * np.sqrt(max(float(variance.max()), 0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("algorithm", [e_vi, e_qi])
@pytest.mark.parametrize("M", [100, 10_000])
def test_evi_and_eqi_approach_vi_as_the_samples_grow(algorithm, shape, M):
    model, k = random_model(1, shape=shape), 4
    exact = at(vi(model), k).values_XY
    sampled = at(algorithm(model, seed(2), sampling=Sampling(M=M)), k).values_XY
    sigma = max(spread(model, s.values_XY) for s in take(vi(model), k))
    # Half as much again for σ of sampled instead of exact values.
    bound = 6 * 1.5 * sigma / np.sqrt(M) * reach(model, k, model.gamma)
    assert np.abs(sampled - exact).max() <= bound + 1e-12


def test_the_error_decreases_like_one_over_root_M():
    model, k = random_model(3, sizes=(4, 5, 1, 4)), 3
    exact = at(vi(model), k).values_XY
    error = [
        np.sqrt(
            np.mean(
                [
                    (at(e_vi(model, seed(r), sampling=Sampling(M=M)), k).values_XY - exact) ** 2
                    for r in range(30)
                ]
            )
        )
        for M in (16, 256)
    ]
    assert error[0] / error[1] == pytest.approx(4, rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [None, False])
@pytest.mark.parametrize("M", [100, 10_000])
@pytest.mark.parametrize("common", [False, True])
def test_efsvi_approaches_fsvi_as_the_samples_grow(sparse, M, common):
    """The lower level is deterministic, so that both have the same J₁ and π."""
    model, T, k = random_model(4, frozen="XYA."), 3, 3
    run = take(
        e_fsvi(
            model,
            seed(5),
            T=T,
            sampling=Sampling(
                M_l=1,
                M_u=M,
                snapshots_per_sweep=1,
                ties="first",
                common_random_numbers=common,
                sparse=sparse,
            ),
        ),
        2 * T - 1 + k,
    )
    exact = take(fsvi(model, T), T + k)
    for ours, theirs in zip(run[: 2 * T - 2 : 2], exact[: T - 1], strict=True):
        assert np.array_equal(ours.values_XY, theirs.values_XY)
        assert np.array_equal(ours.policy_PXY, theirs.policy_PXY)
    J1_XY = exact[T - 2].values_XY
    worth = np.ptp(J1_XY) + max(np.ptp(s.values_XY) for s in exact[T - 1 :])
    # A value between two bounds has a standard deviation of at most half their distance.
    bound = 6 * model.gamma * worth / 2 / np.sqrt(M) * reach(model, k, model.gamma**T)
    assert run[-1].iteration == exact[-1].iteration == k
    assert np.abs(run[-1].values_XY - exact[-1].values_XY).max() <= bound


def test_the_lower_level_approaches_the_frozen_optimum_as_M_l_grows():
    model, T = random_model(6, frozen="XYAW"), 4
    exact = take(fsvi(model, T), T - 1)[-1].values_XY
    for M_l in (100, 10_000):
        *_, cyclic, _ = take(e_fsvi(model, seed(7), T=T, sampling=Sampling(M_l=M_l)), 2 * T - 2)
        sigma = model.gamma * np.ptp(exact) / 2
        bound = 6 * sigma / np.sqrt(M_l) * reach(model, T - 1, model.gamma)
        assert 0 < np.abs(cyclic.values_XY - exact).max() <= bound


@pytest.mark.slow
def test_eqi_values_have_the_distribution_of_evi_values():
    model, k, n = random_model(8, sizes=(3, 3, 3, 3)), 3, 400
    runs = {
        algorithm: np.array(
            [
                at(
                    algorithm(model, seed([s, r]), sampling=Sampling(M=4, snapshots_per_sweep=1)), k
                ).values_XY
                for r in range(n)
            ]
        )
        for s, algorithm in enumerate((e_vi, e_qi))
    }
    a, b = runs.values()
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / n)
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 6 * error + 1e-12).all()
    # Standard deviations: their relative standard error is about 1/√(2n) for near-normal values.
    noisy = a.std(axis=0) > 1e-9
    ratio = a.std(axis=0)[noisy] / b.std(axis=0)[noisy]
    assert (np.abs(np.log(ratio)) <= 6 * np.sqrt(2 / n)).all()
    # The same seed gives the same values, because first-index ties draw no numbers.
    same = [
        at(algorithm(model, seed(9), sampling=Sampling(M=4)), k).values_XY
        for algorithm in (e_vi, e_qi)
    ]
    np.testing.assert_array_equal(*same)


@pytest.mark.parametrize("M", [1, 50])
@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("shape", [("X...", "XYA."), ("XYA.", "XYA.")], ids=str)
def test_sampled_algorithms_equal_the_exact_ones_without_noise(M, common, shape):
    model = random_model(10, shape=shape)
    options = {"snapshots_per_sweep": 1, "common_random_numbers": common, "ties": "first"}
    for ours, exact in zip(
        take(e_vi(model, seed(11), sampling=Sampling(M=M, **options)), 6),
        take(vi(model), 6),
        strict=True,
    ):
        assert np.array_equal(ours.values_XY, exact.values_XY)
        assert np.array_equal(ours.policy_PXY, exact.policy_PXY)
        assert (ours.phase, ours.iteration, ours.backups) == (
            "base",
            exact.iteration,
            exact.backups,
        )
    for ours, exact in zip(
        take(e_qi(model, seed(11), sampling=Sampling(M=M, **options)), 6),
        take(vi(model), 6),
        strict=True,
    ):
        assert np.array_equal(ours.values_XY, exact.values_XY)
    for T in (1, 2, 5):
        run = take(
            e_fsvi(model, seed(12), T=T, sampling=Sampling(M_l=2, M_u=M, **options)), 2 * T + 4
        )
        run = [s for s in run if (s.phase, s.policy_kind) != ("lower", "stationary")]
        for ours, exact in zip(run, take(fsvi(model, T), len(run)), strict=True):
            assert np.array_equal(ours.values_XY, exact.values_XY)
            assert np.array_equal(ours.policy_PXY, exact.policy_PXY)
            assert (ours.phase, ours.iteration) == (exact.phase, exact.iteration)


def test_evaluation_counts_match_a_calculation_by_hand():
    """3·4 = 12 states, 2 actions: 24 pairs; 4 fast states: 8 pairs. M = 5, M_l = 2, M_u = 7."""
    model = random_model(18)

    def counts(snapshots, n):
        return [s.evaluations for s in take(snapshots, n)]

    thirds = [0, 40, 80, 120, 160, 200, 240]  # 24·5 = 120 a sweep, a third is 4 states
    assert counts(e_vi(model, seed(0), sampling=Sampling(M=5)), 7) == thirds
    assert counts(e_qi(model, seed(0), sampling=Sampling(M=5)), 7) == thirds
    assert counts(e_qi(model, seed(0), sampling=Sampling(M=5), count_actions=True), 4) == [
        0,
        80,
        160,
        240,
    ]
    agnostic = slow_agnostic(model, seed(0), sampling=Sampling(M=5, snapshots_per_sweep=2))
    assert counts(agnostic, 5) == [0, 20, 40, 60, 80]
    # Lower sweeps 24·2 = 48, two snapshots each; an upper sweep 24·7·2 = 336.
    frozen = e_fsvi(model, seed(0), T=3, sampling=Sampling(M_l=2, M_u=7))
    assert counts(frozen, 9) == [48, 48, 96, 96, 96, 208, 320, 432, 544]
    assert counts(e_fsvi(model, seed(0), T=1, sampling=Sampling(M_u=7)), 2) == [0, 112]
    # Backups are the updated pairs (s, a).
    assert [s.backups for s in take(e_vi(model, seed(0)), 4)] == [0, 8, 16, 24]
    assert [s.backups for s in take(e_fsvi(model, seed(0), T=2), 6)] == [24, 24, 24, 32, 40, 48]


def test_snapshots_have_the_right_phase_kind_and_iteration():
    model = random_model(19)
    run = take(e_fsvi(model, seed(20), T=4), 6 + 7)
    assert [s.policy_kind for s in run] == ["cyclic", "stationary"] * 3 + ["periodic"] * 7
    assert [s.phase for s in run] == ["lower"] * 6 + ["upper"] * 7
    assert [s.iteration for s in run] == [1, 1, 2, 2, 3, 3, 0, 0, 0, 1, 1, 1, 2]
    assert [len(s.policy_PXY) for s in run] == [1, 1, 2, 1, 3, 1] + [4] * 7
    assert np.array_equal(run[-1].policy_PXY[1:], run[4].policy_PXY)
    assert all(np.isnan(s.error) for s in run)
    for name in ("e_vi", "e_qi", "slow_agnostic"):
        run = take(ALGORITHMS[name](model, seed(20)), 4)
        assert [(s.phase, s.policy_kind) for s in run] == [("base", "stationary")] * 4
        assert [s.iteration for s in run] == [0, 0, 0, 1]


def test_the_stationary_policy_of_the_lower_level_is_greedy_for_J():
    """Without noise, policy extraction is exact."""
    model = random_model(21, shape=("XYA.", "XYA."))
    run = take(e_fsvi(model, seed(22), T=4, sampling=Sampling(ties="first")), 6)
    for stationary in run[1::2]:
        greedy_XY = bellman(model, model.true, stationary.values_XY)[1]
        assert np.array_equal(stationary.policy_PXY, greedy_XY[None])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_snapshot_within_a_sweep_has_its_first_states_updated(name):
    """Without noise, the policy is exactly greedy for these values."""
    model = random_model(23, sizes=(4, 6, 3, 2), shape=("XYA.", "XYA."))
    run = (
        ALGORITHMS[name](model, seed(24), sampling=Sampling(M=1))
        if name != "e_fsvi"
        else e_fsvi(model, seed(24), T=3, sampling=Sampling(M_u=1, ties="first"))
    )
    run = [s for s in take(run, 20) if s.phase != "lower"]
    before, first, second, after = (s.values_XY.reshape(-1) for s in run[3:7])
    if name == "slow_agnostic":
        before, first, second, after = (U[:6] for U in (before, first, second, after))
    third = len(before) // 3
    for stop, values in ((third, first), (2 * third, second)):
        assert np.array_equal(values[:stop], after[:stop])
        assert np.array_equal(values[stop:], before[stop:])
    assert not np.array_equal(before, after)
    if name == "e_vi":
        for s in run:
            assert np.array_equal(s.policy_PXY[0], bellman(model, model.true, s.values_XY)[1])
    if name == "e_fsvi":
        J1_XY = take(fsvi(model, 3), 2)[-1].values_XY
        np.testing.assert_array_equal(
            after.reshape(4, 6), F(model, J1_XY, run[3].policy_PXY[1:], run[3].values_XY)
        )


@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_seed_gives_the_same_run_for_any_number_of_snapshots(name, common, ties):
    # Rounded rewards, so that ties occur.
    model = random_model(25)
    model = replace(model, reward_XYA=np.round(model.reward_XYA))

    def run(seeded, parts):
        options = {"ties": ties, "common_random_numbers": common, "snapshots_per_sweep": parts}
        return take(
            ALGORITHMS[name](model, seed(seeded), sampling=Sampling(**options)), 5 + 5 * parts
        )

    def ends(snapshots):
        """Those at the end of a sweep, by phase and iteration; later ones are further sweeps."""
        found = {}
        for s in snapshots:
            found.setdefault((s.phase, s.iteration, s.policy_kind), s)
        return list(found.values())[:8]

    for a, b in zip(run(26, 3), run(26, 3), strict=True):
        assert np.array_equal(a.values_XY, b.values_XY)
        assert np.array_equal(a.policy_PXY, b.policy_PXY)
    for a, b in zip(ends(run(26, 1)), ends(run(26, 4)), strict=False):
        assert (a.phase, a.iteration, a.evaluations) == (b.phase, b.iteration, b.evaluations)
        assert np.array_equal(a.values_XY, b.values_XY)
        assert np.array_equal(a.policy_PXY, b.policy_PXY)
    assert not np.array_equal(run(26, 3)[-1].values_XY, run(27, 3)[-1].values_XY)


def test_random_ties_change_the_lower_level_of_gridworld():
    model = make("gridworld").build()
    first = take(e_fsvi(model, seed(28), T=3, sampling=Sampling(ties="first")), 3)[2]
    random = take(e_fsvi(model, seed(28), T=3), 3)[2]
    # The frozen fast state has no noise: only the choice among ties differs, not the values.
    assert np.array_equal(first.values_XY, random.values_XY)
    assert not np.array_equal(first.policy_PXY, random.policy_PXY)
    Q_XYA = q_values(model, model.frozen, np.zeros_like(first.values_XY))
    last_XY = random.policy_PXY[-1][..., None]
    assert np.array_equal(np.take_along_axis(Q_XYA, last_XY, 2)[..., 0], Q_XYA.max(axis=2))


@pytest.mark.slow
def test_common_random_numbers_remove_the_bias_of_the_maximum():
    """Identical actions: with common noise the maximum has the right mean."""
    model = random_model(29, sizes=(3, 4, 1, 3), gamma=0.9)
    copies = lambda table: np.repeat(table, 8, axis=2)  # noqa: E731
    model = replace(
        model,
        reward_XYA=copies(model.reward_XYA),
        feasible_XYA=copies(model.feasible_XYA),
        next_slow=copies(model.next_slow),
        next_fast=copies(model.next_fast),
        frozen_next_fast=None,
        actions=None,
    )
    exact = model.mean(at(vi(model), 5).values_XY)
    bias = {
        common: np.mean(
            [
                model.mean(
                    at(
                        e_vi(model, seed(r), sampling=Sampling(M=10, common_random_numbers=common)),
                        5,
                    ).values_XY
                )
                for r in range(100)
            ]
        )
        - exact
        for common in (False, True)
    }
    assert abs(bias[True]) < bias[False] / 5


def test_inventory_reaches_the_recorded_fractions_of_the_optimum():
    """E-FSVI is good long before E-VI: fractions of the optimum after given evaluations."""
    model = make("inventory").build()
    best = model.mean(optimum(model).U_XY)

    def fraction(snapshot):
        return model.mean(policy_values(model, snapshot.policy_PXY, tolerance=1e-2).U_XY) / best

    unit = model.n_states * model.n_actions * 50
    run = take(e_fsvi(model, seed(30), T=12, sampling=Sampling(snapshots_per_sweep=1)), 23)
    cyclic, stationary, periodic = run[-3:]
    assert cyclic.evaluations == stationary.evaluations == 0.22 * unit
    assert 0.83 <= fraction(cyclic) <= 0.92 and 0.83 <= fraction(periodic) <= 0.92
    assert 0.94 <= fraction(stationary) <= 0.99
    early, late = (
        at(e_vi(model, seed(31), sampling=Sampling(snapshots_per_sweep=1)), k) for k in (2, 6)
    )
    assert fraction(early) < 0.4 and fraction(late) > 0.95


def test_a_snapshot_does_not_change_while_the_algorithm_continues():
    model = random_model(32)
    for make_run in ALGORITHMS.values():
        run = make_run(model, seed(33))
        copies = [(s, s.values_XY.copy(), s.policy_PXY.copy()) for s in take(run, 9)]
        take(run, 9)
        for s, values, policy in copies:
            assert np.array_equal(s.values_XY, values)
            assert np.array_equal(s.policy_PXY, policy)


def test_initial_values_are_used_and_not_changed():
    model = random_model(34)
    U_XY = seed(0).normal(size=(3, 4))
    before = U_XY.copy()
    assert np.array_equal(next(e_vi(model, seed(0), U0_XY=U_XY)).values_XY, U_XY)
    assert np.array_equal(next(e_fsvi(model, seed(0), T=1, V0_XY=U_XY)).values_XY, U_XY)
    assert np.array_equal(next(slow_agnostic(model, seed(0), U0_Y=U_XY[0])).values_XY[2], U_XY[0])
    Q_XYA = np.stack([U_XY, U_XY - 1], axis=2)
    run = e_qi(model, seed(0), Q0_XYA=Q_XYA)
    assert np.array_equal(next(run).values_XY, U_XY)
    take(run, 4)
    assert np.array_equal(U_XY, before) and np.array_equal(Q_XYA[..., 0], before)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, g: e_vi(m, g, sampling=Sampling(M=0)), "M = 0"),
        (lambda m, g: e_vi(m, 7), "rng = 7"),
        (
            lambda m, g: e_vi(m, g, sampling=Sampling(snapshots_per_sweep=0)),
            "snapshots_per_sweep = 0",
        ),
        (lambda m, g: e_vi(m, g, sampling=Sampling(ties="none")), "ties = 'none'"),
        (lambda m, g: e_vi(m, g, U0_XY=np.zeros(3)), "U0_XY: shape"),
        (lambda m, g: e_qi(m, g, sampling=Sampling(M=1.5)), "M = 1.5"),
        (lambda m, g: e_qi(m, g, sampling=Sampling(ties="none")), "ties = 'none'"),
        (lambda m, g: e_qi(m, g, Q0_XYA=np.zeros((3, 4))), "Q0_XYA: shape"),
        (lambda m, g: slow_agnostic(m, g, sampling=Sampling(M=-1)), "M = -1"),
        (lambda m, g: slow_agnostic(m, g, sampling=Sampling(ties="")), "ties = ''"),
        (lambda m, g: slow_agnostic(m, g, U0_Y=np.zeros(3)), "U0_Y: shape"),
        (lambda m, g: e_fsvi(m, g, T=0), "T = 0"),
        (lambda m, g: e_fsvi(m, g, T=2, sampling=Sampling(M_l=0)), "M_l = 0"),
        (lambda m, g: e_fsvi(m, g, T=2, sampling=Sampling(M_u=0)), "M_u = 0"),
        (lambda m, g: e_fsvi(m, g, T=2, sampling=Sampling(ties="none")), "ties = 'none'"),
        (lambda m, g: e_fsvi(m, g, T=2, V0_XY=np.zeros((4, 3))), "V0_XY: shape"),
        (lambda m, g: e_fsvi(m, None, T=2), "rng = None"),
    ],
)
def test_errors_name_the_bad_argument(call, words):
    with pytest.raises(InputError, match=words):
        next(call(random_model(35), seed(0)))
