"""The engine: exact rows, budgets that are respected, and every way to end."""

from itertools import pairwise

import numpy as np
import pytest

from fsdash.algorithms.optimum import optimum, regret
from fsdash.algorithms.registry import ALGORITHMS, Algorithm
from fsdash.algorithms.snapshot import Diverged, Snapshot
from fsdash.choice.solved import solved_domain
from fsdash.runs import engine
from fsdash.runs.columns import NAMES
from fsdash.runs.engine import Judge, execute
from fsdash.runs.spec import RunSpec

SMALL = {"y_max": 10, "d_max": 3, "order_max": 10, "K": 5}
STATES, ACTIONS, OUTCOMES = 4 * 11, 3, 3


def spec(algorithm="e-vi", T=None, parameters=(), **budget) -> RunSpec:
    return RunSpec(
        "inventory",
        algorithm,
        T=T,
        domain_parameters=SMALL,
        parameters=parameters,
        replications=2,
        **(budget or {"iterations": 3}),
    )


def records(spec: RunSpec, replication=0, **options):
    recorded = []
    outcome = execute(spec, replication, recorded.append, **options)
    assert outcome.rows == len(recorded)
    return [record.row for record in recorded], outcome, recorded


def test_a_row_has_the_declared_columns():
    rows, _, _ = records(spec())
    assert all(set(row) == set(NAMES) for row in rows)
    assert [row["step"] for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_every_algorithm_runs_and_its_rows_are_exact(name):
    here = spec(name, 3 if ALGORITHMS[name].freezes else None, iterations=2)
    rows, outcome, recorded = records(here)
    assert outcome.status == "finished"
    model = here.build_domain().build()
    best = optimum(model)
    for record in recorded[::3]:
        exact = regret(model, record.policy_PXY, best=best)
        tolerance = solved_domain(here.build_domain()).tolerance + exact.error
        assert record.row["mean_return"] == pytest.approx(exact.mean_value, abs=tolerance)
        assert record.row["max_regret"] == pytest.approx(exact.max_regret, abs=2 * tolerance)
        assert record.row["fraction_of_optimal"] == pytest.approx(
            exact.mean_value / exact.optimal_mean_value, abs=1e-4
        )
    assert max(row["iteration"] for row in rows if row["phase"] != "lower") == 2


def test_evaluations_equal_those_counted_by_hand():
    sweep = STATES * ACTIONS
    rows, _, _ = records(spec("e-vi", parameters={"M": 7}, iterations=2))
    parts = [STATES * i // 3 * ACTIONS * 7 for i in range(1, 4)]
    assert [row["evaluations"] for row in rows] == [0, *parts, *(sweep * 7 + p for p in parts)]

    rows, _, _ = records(
        spec("e-fsvi", 3, {"M_u": 7, "M_l": 2, "snapshots_per_sweep": 1}, iterations=1)
    )
    lower, upper = 2 * sweep, 2 * sweep * 7
    assert [row["evaluations"] for row in rows] == [
        *[lower] * 3,
        *[2 * lower] * 3,
        2 * lower,
        2 * lower + upper,
    ]
    kinds = ["cyclic", "stationary", "rolling"] * 2 + ["periodic", "periodic"]
    assert [row["policy_kind"] for row in rows] == kinds

    # An exact expectation evaluates the values at each outcome; with frozen x, y has only one.
    rows, _, _ = records(spec("vi", iterations=2))
    assert [row["evaluations"] for row in rows] == [0, sweep * OUTCOMES, 2 * sweep * OUTCOMES]
    rows, _, _ = records(spec("fsvi", 3, iterations=1))
    upper = (sweep + 2 * STATES) * OUTCOMES
    assert [row["evaluations"] for row in rows] == [
        *[sweep] * 2,
        *[2 * sweep] * 2,
        2 * sweep,
        2 * sweep + upper,
    ]

    # A rolling method only makes frozen sweeps, and ends at its longest horizon.
    for name, samples in (("rolling", {}), ("e-rolling", {"M_l": 2})):
        rows, outcome, _ = records(spec(name, 3, samples, iterations=9))
        each = samples.get("M_l", 1) * sweep
        assert [row["evaluations"] for row in rows] == [each, 2 * each, 3 * each]
        assert {(row["phase"], row["policy_kind"]) for row in rows} == {("rolling", "rolling")}
        assert (outcome.status, "complete" in outcome.reason) == ("finished", True)


def test_a_budget_in_evaluations_is_never_exceeded():
    sweep = STATES * ACTIONS * 50
    exact, outcome, _ = records(spec(evaluations=2 * sweep))
    assert exact[-1]["evaluations"] == 2 * sweep
    assert "is spent" in outcome.reason
    short, _, _ = records(spec(evaluations=2 * sweep - 1))
    assert len(short) == len(exact) - 1


def test_a_budget_too_small_for_one_policy_is_reported():
    rows, outcome, _ = records(spec("e-fsvi", 3, evaluations=1))
    assert rows == []
    assert outcome.status == "finished"
    assert "use a larger one" in outcome.reason


@pytest.mark.parametrize(("name", "T"), [("vi", None), ("fsvi", 3), ("mpi", None)])
def test_an_exact_algorithm_ends_when_it_is_certified(name, T):
    rows, outcome, _ = records(spec(name, T, iterations=10**6))
    assert outcome.reason.startswith("converged")
    if name != "fsvi":
        assert rows[-1]["fraction_of_optimal"] == pytest.approx(1, abs=1e-4)


def test_the_same_specification_gives_the_same_numbers():
    def timeless(rows):
        return [{**row, "seconds": 0} for row in rows]

    noisy = spec(parameters={"M": 1}, iterations=9)
    once, again, other = (records(noisy, i)[0] for i in (1, 1, 0))
    assert timeless(once) == timeless(again)
    assert timeless(once) != [{**row, "replication": 1} for row in timeless(other)]


def test_a_cancelled_run_has_delivered_its_rows():
    whole, _, _ = records(spec())
    recorded = []
    outcome = execute(spec(), 0, recorded.append, cancelled=lambda: len(recorded) == 4)
    assert (outcome.status, len(recorded)) == ("cancelled", 4)
    assert [r.row["mean_return"] for r in recorded] == [row["mean_return"] for row in whole[:4]]


def test_a_diverged_run_has_delivered_its_rows(monkeypatch):
    def diverging(model, rng, U0_XY):
        policy = np.zeros((1, model.n_slow, model.n_fast), np.int32)
        yield Snapshot("base", 0, 0, policy, U0_XY, np.nan, 0, "stationary")
        raise Diverged("iteration 1: the values are no longer finite; use a smaller learning rate")

    method = Algorithm("e-vi", "test", "", diverging, initial="U0_XY")
    monkeypatch.setitem(ALGORITHMS, "e-vi", method)
    rows, outcome, _ = records(spec())
    assert len(rows) == 1
    assert outcome.status == "diverged"
    assert "no longer finite" in outcome.reason


def test_infinite_values_end_a_sampled_run():
    # With γ < 1 a backup of finite values is finite, so the initial values must be infinite.
    with pytest.raises(Diverged, match="finite"):
        model = spec().build_domain().build()
        rng = np.random.default_rng(0)
        list(ALGORITHMS["e-vi"].generator(model, rng, U0_XY=np.full((4, 11), np.inf)))


def test_an_unchanged_policy_is_not_evaluated_again(monkeypatch):
    calls = []
    true = engine.policy_values
    monkeypatch.setattr(engine, "policy_values", lambda *a, **k: calls.append(1) or true(*a, **k))
    here = solved_domain(spec().build_domain())
    policy = here.best.policy_PXY
    snapshot = Snapshot("base", 0, 0, policy, here.best.U_XY, np.nan, 0, "stationary")
    judge = Judge(here)
    assert judge.measures(snapshot) == judge.measures(snapshot)
    assert len(calls) == 1


def test_long_runs_are_evaluated_less_and_less_often(monkeypatch):
    monkeypatch.setattr(engine, "DENSE_ROWS", 10)
    monkeypatch.setattr(engine, "WORK_RATIO", 1.5)
    rows, _, _ = records(spec("e-vi", parameters={"M": 1}, iterations=300))
    work = [row["evaluations"] for row in rows]
    assert len(rows) < 10 + 15
    assert all(later >= 1.5 * earlier for earlier, later in pairwise(work[9:-1]))
    assert rows[-1]["iteration"] == 300


def test_the_share_of_a_negative_optimum_is_nan():
    losing = RunSpec("inventory", "vi", domain_parameters={**SMALL, "p": 0.0}, iterations=1)
    recorded = []
    execute(losing, 0, recorded.append)
    assert np.isnan(recorded[0].row["fraction_of_optimal"])
    assert recorded[0].row["max_regret"] >= 0
