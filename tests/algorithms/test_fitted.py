"""The fitted algorithms against the tabular and exact ones, and counts calculated by hand."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from fsdash.algorithms import Diverged, e_fsvi, e_qi, e_vi, fqi, fsfvi, fsvi, fvi, run_until, vi
from fsdash.algorithms.optimum import optimum
from fsdash.algorithms.slow_agnostic import slow_agnostic
from fsdash.core.evaluation import policy_values
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.core.operators import bellman, follow_all, upper_bellman
from fsdash.domains import make
from fsdash.errors import InputError
from fsdash.regression import Deep, Fit, Linear, Tabular
from fsdash.sampling import Sampling
from tests.algorithms.driving import seed, take
from tests.models import SHAPES, random_model

ALGORITHMS = {
    "fvi": fvi,
    "fqi": fqi,
    "fsfvi": lambda model, rng, **options: fsfvi(model, rng, T=3, **options),
}


def coarse(n, **options):
    """A random model with rounded rewards, so that ties are frequent."""
    model = random_model(n, **options)
    return replace(model, reward_XYA=np.round(model.reward_XYA))


def assert_same_run(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a.values_XY, b.values_XY)
        assert np.array_equal(a.policy_PXY, b.policy_PXY)
        described = [
            (s.phase, s.iteration, s.backups, s.evaluations, s.policy_kind) for s in (a, b)
        ]
        assert described[0] == described[1]


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_fitted_algorithms_with_a_table_and_all_states_equal_the_tabular_ones(shape, common, ties):
    """Values, policies, counts and kinds are identical for the same seed."""
    model = coarse(1, shape=shape, frozen="XYAW")
    options = {"ties": ties, "common_random_numbers": common}
    table, N = {"regress": Tabular()}, model.n_states
    assert_same_run(
        take(fvi(model, seed(2), sampling=Sampling(M=5, N=N, **options), **table), 5),
        take(e_vi(model, seed(2), sampling=Sampling(M=5, snapshots_per_sweep=1, **options)), 5),
    )
    assert_same_run(
        take(fqi(model, seed(3), sampling=Sampling(M=5, N=N, **options), **table), 5),
        take(e_qi(model, seed(3), sampling=Sampling(M=5, snapshots_per_sweep=1, **options)), 5),
    )
    for T, M_l in ((1, 1), (4, 2)):
        assert_same_run(
            take(
                fsfvi(
                    model,
                    seed(4),
                    T=T,
                    sampling=Sampling(M_l=M_l, M_u=5, N=N, **options),
                    lower_policy="frozen",
                    **table,
                ),
                2 * T + 3,
            ),
            take(
                e_fsvi(
                    model,
                    seed(4),
                    T=T,
                    sampling=Sampling(M_l=M_l, M_u=5, snapshots_per_sweep=1, **options),
                ),
                2 * T + 3,
            ),
        )


def test_fsfvi_equals_efsvi_with_simulated_paths():
    model = coarse(5, frozen="XYAW")
    frozen = {"lower_policy": "frozen"}
    ours = fsfvi(
        model,
        seed(6),
        T=3,
        regress=Tabular(),
        sampling=Sampling(N=model.n_states, M_u=5, sparse=False),
        **frozen,
    )
    assert_same_run(
        take(ours, 9),
        take(
            e_fsvi(
                model,
                seed(6),
                T=3,
                sampling=Sampling(M_l=1, M_u=5, snapshots_per_sweep=1, sparse=False),
            ),
            9,
        ),
    )


@pytest.mark.parametrize("M_l", [1, 3])
def test_the_lower_policy_is_greedy_at_full_next_states_as_the_paper_writes(M_l):
    """Without noise every sample is exact: π_t maximises r + γ J_{t+1}(f(s, a)), the targets
    r + γ J_{t+1}(x, f_Y(s, a)) with x frozen."""
    model, T = random_model(40, shape=("XYA.", "XYA.")), 4
    run = take(
        fsfvi(
            model, seed(41), T=T, regress=Tabular(), sampling=Sampling(N=model.n_states, M_l=M_l)
        ),
        2 * T - 2,
    )
    J_XY = np.zeros((3, 4))
    for s in run[::2]:
        exact_XY = bellman(model, model.true, J_XY)[1]
        J_XY, frozen_XY = bellman(model, model.frozen, J_XY)
        np.testing.assert_allclose(s.values_XY, J_XY, atol=1e-12)
        assert np.array_equal(s.policy_PXY[0], exact_XY)
        assert s.iteration == 1 or not np.array_equal(s.policy_PXY[0], frozen_XY)


def test_the_samples_of_the_lower_policy_are_separate_and_change_neither_values_nor_counts():
    model = random_model(42, frozen="XYA.")
    options = {"T": 4, "regress": Linear(), "sampling": Sampling(N=6, M_l=2, ties="first")}
    full, frozen = (
        take(fsfvi(model, seed(43), lower_policy=reading, **options), 6)
        for reading in ("full", "frozen")
    )
    for a, b in zip(full, frozen, strict=True):
        # Targets have no noise here, so both readings fit the same values.
        np.testing.assert_allclose(a.values_XY, b.values_XY, atol=1e-12)
        assert (a.evaluations, a.backups) == (b.evaluations, b.backups)
    assert not np.array_equal(full[-2].policy_PXY, frozen[-2].policy_PXY)


def test_many_full_samples_find_the_exact_greedy_lower_policy():
    model = random_model(44)
    sampling = Sampling(M_l=200_000, N=model.n_states, ties="first")
    run = fsfvi(model, seed(45), T=3, regress=Tabular(), sampling=sampling)
    one, two = take(run, 4)[::2]
    assert np.array_equal(two.policy_PXY[0], bellman(model, model.true, one.values_XY)[1])


def line_world(gamma=0.9):
    """Slow p in 0..3 and fast y in 0..4 with r = 2p + y + a, moves that do not depend on a.

    p and y are drawn anew in each step, so E[U(s')] is a constant and U^k(s) = r(s, 1) + const:
    linear in (p, y), whatever k. So is Q^k in (p, y, one-hot a).
    """
    p, y, a = np.ogrid[0:4, 0:5, 0:2]
    noise = np.indices((4, 5)).reshape(2, 1, 1, 1, 20)
    return FastSlowMDP(
        2.0 * p + y + a,
        np.full(20, 1 / 20),
        noise[0],
        noise[1],
        gamma=gamma,
        frozen_next_fast=np.arange(5)[None, :, None, None],
        slow=Axis(("p",), np.arange(4)),
        fast=Axis(("y",), np.arange(5)),
    )


@pytest.mark.parametrize("M", [100, 100_000])
@pytest.mark.parametrize("algorithm", [fvi, fqi])
def test_linear_fits_recover_vi_if_the_values_are_linear(algorithm, M):
    model, k = line_world(), 4
    exact = run_until(vi(model), iterations=k)
    ours = run_until(
        algorithm(model, seed(7), regress=Linear(), sampling=Sampling(N=10, M=M)), iterations=k
    )
    # The spread of r under the uniform law of s', and one such error a sweep; maxima and fits
    # of ten noisy targets stay within the factor 6.
    sigma = model.gamma * np.sqrt(4 * 15 / 12 + 24 / 12)
    bound = 6 * sigma / np.sqrt(M) * sum(model.gamma**i for i in range(k))
    assert 0 < np.abs(ours.values_XY - exact.values_XY).max() <= bound
    assert np.array_equal(ours.policy_PXY, exact.policy_PXY) or M == 100


@pytest.mark.parametrize("reading, common", [("frozen", False), ("full", True)])
def test_linear_fsfvi_recovers_fsvi_if_the_values_are_linear(reading, common):
    """J_t is a multiple of r(s, 1) when nothing moves; V^k is linear too.

    Full next states do not depend on the action here, so with common random numbers one sample
    finds the best action.
    """
    model, T, M = line_world(), 4, 100_000
    exact = take(fsvi(model, T), T + 3)
    sampling = Sampling(N=10, M_u=M, ties="first", common_random_numbers=common)
    options = {"sampling": sampling, "lower_policy": reading}
    run = take(
        fsfvi(model, seed(8), T=T, regress=Linear(), **options),
        2 * T + 2,
    )
    cyclic = [s for s in run if s.policy_kind == "cyclic"]
    for ours, theirs in zip(cyclic, exact[: T - 1], strict=True):
        np.testing.assert_allclose(ours.values_XY, theirs.values_XY, atol=1e-9)
        assert np.array_equal(ours.policy_PXY, theirs.policy_PXY)
    worth = np.ptp(exact[T - 2].values_XY) + max(np.ptp(s.values_XY) for s in exact[T - 1 :])
    bound = 6 * model.gamma * worth / 2 / np.sqrt(M) * sum(model.gamma ** (T * i) for i in range(3))
    assert run[-1].iteration == exact[-1].iteration == 3
    assert 0 < np.abs(run[-1].values_XY - exact[-1].values_XY).max() <= bound


def test_evaluation_counts_match_a_calculation_by_hand():
    """12 states and 2 actions. N = 5: 10 pairs per iteration; M = 3, M_l = 2, M_u = 7."""
    model = random_model(9)

    def counts(snapshots, n):
        return [(s.evaluations, s.backups) for s in take(snapshots, n)]

    sweeps = [(0, 0), (30, 10), (60, 20)]
    assert counts(fvi(model, seed(0), regress=Linear(), sampling=Sampling(N=5, M=3)), 3) == sweeps
    assert counts(fqi(model, seed(0), regress=Linear(), sampling=Sampling(N=5, M=3)), 3) == sweeps
    actions = fqi(model, seed(0), regress=Linear(), sampling=Sampling(N=5, M=3), count_actions=True)
    assert counts(actions, 3) == [(0, 0), (60, 10), (120, 20)]
    # A lower step 10·2 = 20, two snapshots each; an upper iteration 10·7·2 = 140.
    frozen = fsfvi(model, seed(0), T=3, regress=Linear(), sampling=Sampling(N=5, M_l=2, M_u=7))
    assert counts(frozen, 7) == [
        (20, 10),
        (20, 10),
        (40, 20),
        (40, 20),
        (40, 20),
        (180, 30),
        (320, 40),
    ]
    # A tenth of the states by default, rounded, and one at least.
    assert counts(fvi(model, seed(0), regress=Linear(), sampling=Sampling(M=1)), 2)[1] == (2, 2)
    pricing = make("pricing").build()
    assert take(fvi(pricing, seed(0), regress=Linear()), 2)[1].evaluations == 1515 * 21 * 50


def test_snapshots_have_the_right_phase_kind_and_iteration():
    model = random_model(10)
    run = take(fsfvi(model, seed(11), T=4, regress=Linear(), sampling=Sampling(N=6)), 9)
    assert [s.policy_kind for s in run] == ["cyclic", "stationary"] * 3 + ["periodic"] * 3
    assert [s.phase for s in run] == ["lower"] * 6 + ["upper"] * 3
    assert [s.iteration for s in run] == [1, 1, 2, 2, 3, 3, 0, 1, 2]
    assert [len(s.policy_PXY) for s in run] == [1, 1, 2, 1, 3, 1, 4, 4, 4]
    assert np.array_equal(run[-1].policy_PXY[1:], run[4].policy_PXY)
    for algorithm in (fvi, fqi):
        run = take(algorithm(model, seed(11), regress=Linear(), sampling=Sampling(N=6)), 3)
        assert [(s.phase, s.policy_kind) for s in run] == [("base", "stationary")] * 3
        assert [s.iteration for s in run] == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("regress", [Linear(), Tabular(), Deep(epochs=2)], ids=repr)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_seed_gives_the_same_run_and_snapshots_do_not_change(name, regress):
    model = coarse(12)

    def run(n):
        return (
            ALGORITHMS[name](model, seed(n), regress=regress, sampling=Sampling(N=6, M_u=5))
            if name == "fsfvi"
            else ALGORITHMS[name](model, seed(n), regress=regress, sampling=Sampling(N=6, M=5))
        )

    first = run(13)
    copies = [(s, s.values_XY.copy(), s.policy_PXY.copy()) for s in take(first, 8)]
    take(first, 2)
    for s, values_XY, policy_PXY in copies:
        assert np.array_equal(s.values_XY, values_XY)
        assert np.array_equal(s.policy_PXY, policy_PXY)
    assert_same_run(take(run(13), 8), [s for s, *_ in copies])
    assert not np.array_equal(take(run(14), 8)[-1].values_XY, copies[-1][1])


def test_policy_extraction_does_not_change_the_values():
    """Random ties draw one number per tie, but from separate generators."""
    model = random_model(15, frozen="XYA.")
    for algorithm in (fvi, fqi):
        first, random = (
            take(algorithm(model, seed(16), regress=Linear(), sampling=Sampling(N=6, ties=ties)), 6)
            for ties in ("first", "random")
        )
        for a, b in zip(first, random, strict=True):
            assert np.array_equal(a.values_XY, b.values_XY)


@dataclass
class Recording:
    """A table that records the rows it was given."""

    rows: list

    def fit(self, features_PF, rows_N, targets_N, rng, previous):
        self.rows.append(rows_N.tolist())
        return Tabular().fit(features_PF, rows_N, targets_N, rng, previous)


def test_states_are_drawn_anew_in_each_iteration():
    model = random_model(17)
    for name, pairs in (("fvi", 1), ("fqi", 2), ("fsfvi", 1)):
        recording = Recording([])
        take(ALGORITHMS[name](model, seed(18), regress=recording, sampling=Sampling(N=4)), 9)
        assert len({tuple(rows) for rows in recording.rows}) > 1
        for rows in recording.rows:
            assert len(set(rows)) == 4 * pairs
        # Every action of a sampled state, and none of another.
        if name == "fqi":
            assert all(rows[0::2] == [row - 1 for row in rows[1::2]] for rows in recording.rows)


def test_exact_extraction_is_greedy_for_the_exact_expectation_of_the_same_values():
    model = random_model(31)
    sampled, exact = (
        take(
            fsfvi(
                model,
                seed(32),
                T=3,
                regress=Linear(),
                sampling=Sampling(N=6, M_u=3),
                extract=extract,
            ),
            8,
        )
        for extract in ("fresh", "exact")
    )
    for a, b in zip(sampled, exact, strict=True):
        assert np.array_equal(a.values_XY, b.values_XY) and a.evaluations == b.evaluations
    J1_XY, lower = exact[2].values_XY, exact[2].policy_PXY
    for s in exact[4:]:
        mu_XY = upper_bellman(model, J1_XY, follow_all(model, lower), s.values_XY)[1]
        assert np.array_equal(s.policy_PXY, [mu_XY, *lower])
    for s in exact[1:4:2]:
        assert np.array_equal(s.policy_PXY[0], bellman(model, model.true, s.values_XY)[1])
    assert any(
        not np.array_equal(a.policy_PXY, b.policy_PXY) for a, b in zip(sampled, exact, strict=True)
    )


@pytest.mark.parametrize("sparse", [None, False])
def test_stored_paths_change_neither_values_nor_counts(sparse):
    model = random_model(33)
    fresh, stored = (
        take(
            fsfvi(
                model,
                seed(34),
                T=3,
                regress=Linear(),
                sampling=Sampling(N=6, M_u=3, sparse=sparse),
                extract=extract,
            ),
            9,
        )
        for extract in ("fresh", "kept")
    )
    for a, b in zip(fresh, stored, strict=True):
        assert np.array_equal(a.values_XY, b.values_XY) and a.evaluations == b.evaluations
        assert np.array_equal(a.policy_PXY[1:], b.policy_PXY[1:])


def test_states_are_drawn_from_rho():
    model = random_model(19)
    rho_XY = np.zeros((3, 4))
    rho_XY[1, 2], rho_XY[2, 0] = 0.5, 0.5
    *_, last = take(
        fvi(model, seed(20), regress=Tabular(), sampling=Sampling(N=20, rho_XY=rho_XY)), 4
    )
    assert np.array_equal(last.values_XY != 0, rho_XY > 0)


def test_initial_values_are_used_and_not_changed():
    model, U_XY = random_model(21), seed(0).normal(size=(3, 4))
    Q_XYA = np.stack([U_XY, U_XY - 1], axis=2)
    before = U_XY.copy()
    runs = (
        fvi(model, seed(0), regress=Tabular(), sampling=Sampling(N=3), U0_XY=U_XY),
        fqi(model, seed(0), regress=Tabular(), sampling=Sampling(N=3), Q0_XYA=Q_XYA),
        fsfvi(model, seed(0), T=1, regress=Tabular(), sampling=Sampling(N=3), V0_XY=U_XY),
    )
    for run in runs:
        zeroth, *_, last = take(run, 3)
        assert np.array_equal(zeroth.values_XY, before)
        assert not np.array_equal(last.values_XY, before)
    assert np.array_equal(U_XY, before) and np.array_equal(Q_XYA[..., 0], before)


def far_away(reward=1.0):
    """States 0, 1, 2 at coordinates 0, 1 and 10. State 0 stays; 1 and 2 lead to 2. γ = 0.9."""
    return FastSlowMDP(
        np.array([0.0, reward, 0.0]).reshape(1, 3, 1),
        np.ones(1),
        np.zeros((1, 1, 1, 1), int),
        np.array([0, 2, 2]).reshape(1, 3, 1, 1),
        gamma=0.9,
        fast=Axis(("place",), [0, 1, 10]),
    )


@pytest.mark.parametrize("algorithm", [fvi, fqi])
def test_a_diverging_linear_fit_ends_with_a_clear_error(algorithm):
    """A line through the values of 0 and 1 is ten times as high at 10, and 1 takes its value from
    there: θ ← 1 + 9θ (the classic example of Tsitsiklis and Van Roy)."""
    rho_XY = np.array([[0.5, 0.5, 0.0]])
    sampling, seen = Sampling(N=60, rho_XY=rho_XY), []
    run = algorithm(far_away(), seed(22), regress=Linear(), sampling=sampling)
    with pytest.raises(Diverged, match=r"base iteration 3\d\d: the values are no longer finite"):
        for snapshot in run:
            seen.append(snapshot)
    assert 300 <= len(seen) < 400 and seen[-1].iteration == len(seen) - 1
    assert all(np.isfinite(s.values_XY).all() for s in seen)
    growth = seen[11].values_XY[0, 1] / seen[10].values_XY[0, 1]
    assert growth == pytest.approx(9, rel=1e-6)


@dataclass
class Breaking:
    """A table whose n-th fit is NaN."""

    n: int

    def fit(self, features_PF, rows_N, targets_N, rng, previous):
        self.n -= 1
        if self.n == 0:
            return Fit(np.full(len(features_PF), np.nan))
        return Tabular().fit(features_PF, rows_N, targets_N, rng, previous)


@pytest.mark.parametrize(
    "n, snapshots, words",
    [(1, 0, "lower iteration 1"), (2, 3, "lower iteration 2"), (5, 9, "upper iteration 3")],
)
def test_the_error_of_fsfvi_names_the_diverged_iteration(n, snapshots, words):
    seen = []
    with pytest.raises(Diverged, match=words):
        for snapshot in fsfvi(random_model(23), seed(24), T=3, regress=Breaking(n)):
            seen.append(snapshot)
    assert len(seen) == snapshots


def test_a_network_with_a_huge_learning_rate_ends_with_a_clear_error():
    unstable = Deep(learning_rate=1e200, epochs=30)
    with pytest.raises(Diverged, match="base iteration 1"):
        take(fvi(random_model(25), seed(26), regress=unstable, sampling=Sampling(N=12)), 2)


def test_tabular_algorithms_refuse_values_that_are_not_finite():
    model, bad = random_model(27), np.full((3, 4), np.inf)
    for run in (
        e_vi(model, seed(0), U0_XY=bad),
        e_fsvi(model, seed(0), T=1, V0_XY=bad),
        e_qi(model, seed(0), Q0_XYA=np.full((3, 4, 2), np.nan)),
        slow_agnostic(model, seed(0), U0_Y=bad[0]),
        fvi(model, seed(0), regress=Linear(), U0_XY=bad),
    ):
        with pytest.raises(Diverged, match="iteration 0"):
            next(run)


@pytest.mark.slow
def test_linear_fits_on_pricing_agree_with_the_paper():
    """The frozen level is at FVI's first level with a small part of its work, and larger T is
    better early on."""
    model = make("pricing").build()
    best = model.mean(optimum(model).U_XY)

    def fraction(snapshot):
        return model.mean(policy_values(model, snapshot.policy_PXY, tolerance=1.0).U_XY) / best

    zeroth, one, two = (fraction(s) for s in take(fvi(model, seed(28), regress=Linear()), 3))
    ends = {
        T: take(fsfvi(model, seed(29), T=T, regress=Linear()), 2 * T - 2)[-2] for T in (3, 6, 12)
    }
    level = {T: fraction(s) for T, s in ends.items()}
    assert zeroth < level[3] < level[6] < level[12]
    assert one < level[6] and two < level[12]
    unit = 1515 * 21 * 50
    assert [ends[T].evaluations / unit for T in (3, 6, 12)] == pytest.approx([0.04, 0.1, 0.22])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, g: fvi(m, g, regress=Linear(), sampling=Sampling(N=0)), "N = 0"),
        (lambda m, g: fvi(m, g, regress=Linear(), sampling=Sampling(N=13)), "N = 13: .* 1 to 12"),
        (lambda m, g: fvi(m, g, regress=Linear(), sampling=Sampling(N=2.5)), "N = 2.5"),
        (lambda m, g: fvi(m, g, regress=Linear(), sampling=Sampling(M=0)), "M = 0"),
        (lambda m, g: fvi(m, 7, regress=Linear()), "rng = 7"),
        (lambda m, g: fvi(m, g, regress=Linear(), sampling=Sampling(ties="none")), "ties = 'none'"),
        (lambda m, g: fvi(m, g, regress=Linear(), U0_XY=np.zeros(3)), "U0_XY: shape"),
        (
            lambda m, g: fvi(m, g, regress=Linear(), sampling=Sampling(rho_XY=np.ones((3, 4)))),
            "rho_XY: ",
        ),
        (lambda m, g: fqi(m, g, regress=Linear(), sampling=Sampling(N=-1)), "N = -1"),
        (lambda m, g: fqi(m, g, regress=Linear(), sampling=Sampling(ties="none")), "ties = 'none'"),
        (lambda m, g: fqi(m, g, regress=Linear(), Q0_XYA=np.zeros((3, 4))), "Q0_XYA: shape"),
        (lambda m, g: fsfvi(m, g, T=0, regress=Linear()), "T = 0"),
        (lambda m, g: fsfvi(m, g, T=2, regress=Linear(), sampling=Sampling(N=0)), "N = 0"),
        (lambda m, g: fsfvi(m, g, T=2, regress=Linear(), sampling=Sampling(M_l=0)), "M_l = 0"),
        (lambda m, g: fsfvi(m, g, T=2, regress=Linear(), sampling=Sampling(M_u=0)), "M_u = 0"),
        (
            lambda m, g: fsfvi(m, g, T=2, regress=Linear(), sampling=Sampling(ties="none")),
            "ties = 'none'",
        ),
        (lambda m, g: fsfvi(m, g, T=2, regress=Linear(), extract="best"), "extract = 'best'"),
        (lambda m, g: fsfvi(m, g, T=2, regress=Linear(), lower_policy="x"), "lower_policy = 'x'"),
        (lambda m, g: fsfvi(m, g, T=2, regress=Linear(), V0_XY=np.zeros((4, 3))), "V0_XY: shape"),
    ],
)
def test_errors_name_the_bad_argument(call, words):
    with pytest.raises(InputError, match=words):
        next(call(random_model(30), seed(0)))
