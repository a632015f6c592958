"""Which variables are slow: closed forms of the evidence, and splits judged by true regret."""

import io
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fsdash
from fsdash.choice.splits import candidate_splits
from fsdash.models import size
from fsdash.models import slow as slow_module
from fsdash.models.size import Size
from fsdash.models.table import Table
from fsdash.models.tables import write_csv
from tests.models import SHAPES, in_rows, random_model, random_rows, seeds, transition_matrix
from tests.own_models import Walk, random_arrays, shared_chain


def weekdays(change=0.1):
    """A shop: the weekday is a clock, the season an exogenous chain, the stock is controlled.

    Stock 0 to 4; an action adds 0 or 1; a unit is sold for 5 on day 2 and for 1 otherwise, in the
    high season twice that.
    """

    def transition(s, add):
        left = min(s.stock + add, 4) - (s.stock > 0)
        other = "low" if s.season == "high" else "high"
        return {
            ((s.day + 1) % 3, s.season, left): 1 - change,
            ((s.day + 1) % 3, other, left): change,
        }

    return fsdash.from_functions(
        {"day": range(3), "season": ["high", "low"], "stock": range(5)},
        ["keep", "add"],
        lambda s, a: transition(s, int(a == "add")),
        lambda s, a: (
            (s.stock > 0) * (5 if s.day == 2 else 1) * (2 if s.season == "high" else 1)
            - 2 * (a == "add")
        ),
        slow="season",
        gamma=0.9,
    )


def test_movements_in_closed_form():
    variables = fsdash.models.suggest_slow(weekdays(change=0.1)).set_index("variable")
    assert variables.loc["day", "moves"] == pytest.approx(1)
    assert variables.loc["season", "moves"] == pytest.approx(0.1)
    # Stock 0 stays or rises, stock 1 to 3 falls or stays, stock 4 falls in both cases.
    assert variables.loc["stock", "moves"] == pytest.approx((4 * 0.5 + 1) / 5)
    assert variables.loc["stock", "drift"] == pytest.approx((4 * 0.5 + 1) / 5 / 4)
    assert variables["exogenous"].to_dict() == {"season": True, "day": True, "stock": False}
    assert variables["clock"].to_dict() == {"season": False, "day": True, "stock": False}
    assert variables["suggestion"].to_dict() == {"season": "slow", "day": "either", "stock": "fast"}


@given(seeds, st.sampled_from(SHAPES), st.booleans())
def test_movements_agree_with_their_definition(seed, shape, rows):
    """On random models, from the dense transition matrix; as rows, pairs share what is equal."""
    model = random_model(seed, shape=shape)
    P_SAS = transition_matrix(model, model.true)
    x_S, y_S = np.indices((3, 4)).reshape(2, -1)
    movements = fsdash.models.suggest_slow(in_rows(model) if rows else model).set_index("variable")
    for name, v_S in (("slow", x_S), ("fast", y_S)):
        law_SAV = np.stack([P_SAS[:, :, v_S == v].sum(axis=2) for v in range(4)], axis=2)
        distance_SV = np.abs(v_S[:, None] - np.arange(4))
        moves = (law_SAV * (distance_SV > 0)[:, None]).sum(axis=2).mean()
        drift = (law_SAV * distance_SV[:, None]).sum(axis=2).mean() / np.ptp(v_S)
        gaps = [np.ptp(law_SAV[v_S == v].reshape(-1, 4), axis=0).max() for v in np.unique(v_S)]
        assert movements.loc[name, "moves"] == pytest.approx(moves)
        assert movements.loc[name, "drift"] == pytest.approx(drift)
        assert movements.loc[name, "exogenous"] == (max(gaps) < 1e-9)


def test_movements_do_not_depend_on_how_many_transitions_are_looked_at_together(monkeypatch):
    model = shared_chain(5, 6, 7)
    together = fsdash.models.suggest_slow(model)
    monkeypatch.setattr(slow_module, "TRANSITIONS_AT_A_TIME", 10)
    pd.testing.assert_frame_equal(fsdash.models.suggest_slow(model), together)


@pytest.mark.parametrize("work", ["suggest_slow", "resplit"])
def test_shared_rows_need_no_more_memory_than_predicted(work):
    """One entry for each of the 42 million transitions of all pairs would need 5 GB."""
    model = shared_chain(slow=100, fast=65, actions=65)
    predicted = Size(100, 65, 65, model.true.to_rows_size()).peak_bytes
    tracemalloc.start()
    fsdash.models.suggest_slow(model) if work == "suggest_slow" else fsdash.models.resplit(
        model, slow="fast"
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < predicted


@pytest.mark.parametrize("work", ["suggest_slow", "resplit"])
def test_what_memory_cannot_hold_is_refused_before_it_is_allocated(work, monkeypatch):
    model = shared_chain(slow=20, fast=20, actions=20)
    monkeypatch.setattr(size, "SHARE_OF_FREE_MEMORY", 1e-6)
    with pytest.raises(fsdash.InputError, match=r"the model needs about .* are free"):
        fsdash.models.suggest_slow(model) if work == "suggest_slow" else fsdash.models.resplit(
            model, slow="fast"
        )


@given(seeds)
def test_a_split_of_shared_rows_is_the_split_of_all_transitions(seed):
    """Through a table, every pair has a row of its own."""
    model = shared_chain(3, 4, 3, seed)
    file = io.BytesIO()
    write_csv(model, file)
    file.seek(0)
    apart = fsdash.from_transitions(pd.read_csv(file), slow="fast", gamma=0.9)
    again = fsdash.models.resplit(model, slow="fast")
    assert again.rows.n_rows == apart.rows.n_rows
    assert np.array_equal(again.rows.row_XYA, apart.rows.row_XYA)
    assert np.array_equal(again.rows.target_N, apart.rows.target_N)
    assert np.allclose(again.rows.probability_N, apart.rows.probability_N, rtol=1e-14)


def test_a_clock_moves_every_period_and_must():
    variables = fsdash.models.suggest_slow(weekdays()).set_index("variable")
    assert variables.loc["day", "exogenous"] and "clock" in variables.loc["day", "reason"]


def test_a_variable_that_only_marks_the_end_is_not_slow():
    variables = fsdash.models.suggest_slow(fsdash.from_gymnasium(Walk(), gamma=0.9, slow="goal"))
    variables = variables.set_index("variable")
    assert (
        variables.loc["done", "suggestion"] == "fast"
        and variables.loc["goal", "suggestion"] == "slow"
    )
    # Entering a terminal state is no movement: the goal still changes in 2% of the periods.
    assert variables.loc["goal", "moves"] == pytest.approx(0.02)
    assert variables.loc["goal", "exogenous"]


def test_exogenous_means_that_actions_and_other_variables_do_not_matter():
    P = np.zeros((4, 2, 4))  # state 2·x + y: y' = action; x flips with 0.1, or 0.2 if y = 1
    for s, a in np.ndindex(4, 2):
        flip = 0.2 if s % 2 else 0.1
        P[s, a, [2 * (s // 2) + a, 2 * (1 - s // 2) + a]] = 1 - flip, flip
    states = pd.DataFrame({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]})
    R = np.eye(4)[:, :2]
    variables = fsdash.models.suggest_slow(
        fsdash.from_arrays(P, R, gamma=0.9, states=states, slow="x")
    )
    assert variables["exogenous"].tolist() == [False, False]
    P[[1, 3]] = P[[0, 2]]
    variables = fsdash.models.suggest_slow(
        fsdash.from_arrays(P, R, gamma=0.9, states=states, slow="x")
    )
    assert variables["exogenous"].tolist() == [True, False]


def test_the_evidence_does_not_depend_on_the_split_or_on_the_source():
    table = random_arrays(3, product=False).table()
    wanted = fsdash.models.suggest_slow(table).set_index("variable").sort_index()
    for slow in ("season", "level", ["season", "level"], []):
        model = fsdash.from_transitions(table, slow=slow, gamma=0.9)
        variables = fsdash.models.suggest_slow(model).set_index("variable").sort_index()
        pd.testing.assert_frame_equal(variables, wanted, rtol=1e-12)


def test_a_single_variable_is_never_slow():
    model = fsdash.from_arrays(np.eye(3)[:, None], np.ones((3, 1)), gamma=0.9)
    assert model.n_slow == 1 and "no slow variable found" in model.name
    assert fsdash.models.suggest_slow(model)["suggestion"].tolist() == ["fast"]


def test_other_input_is_refused():
    with pytest.raises(fsdash.InputError, match="give a FastSlowMDP or a pandas frame"):
        fsdash.models.suggest_slow([1])
    with pytest.raises(fsdash.models.DataFaults):
        fsdash.models.suggest_slow(random_arrays(1).table().drop(columns="p"))


# ------------------------------------------------------------------------------------------- splits


def test_splits_are_ranked_by_true_regret():
    model = weekdays(change=0.02)
    ranking = fsdash.choice.rank_splits(model, T=(2, 4))
    assert {"season", "none", "stock"} <= set(ranking["slow"])
    for row in ranking.itertuples():
        slow = [] if row.slow == "none" else row.slow.split(", ")
        split = fsdash.models.resplit(model, slow=slow)
        best = fsdash.optimum(split)
        last = fsdash.run_until(fsdash.fsvi(split, T=4), tolerance=1e-4)
        regret = fsdash.regret(split, last.policy_PXY, best=best).mean_regret
        first = split.reward_XYA.argmax(axis=2)
        wanted = regret / fsdash.regret(split, first, best=best).mean_regret
        assert ranking.loc[row.Index, "regret_T=4"] == pytest.approx(wanted, abs=1e-3)
    suited = ranking[ranking["suits"]]
    assert suited[["regret_T=2", "regret_T=4"]].mean(axis=1).is_monotonic_increasing
    assert ranking["suits"].is_monotonic_decreasing


def test_every_split_of_a_model_has_the_same_optimum():
    table = random_arrays(8, product=False).table()
    means = []
    for slow in ("season", "level", ["level", "season"], []):
        model = fsdash.from_transitions(table, slow=slow, gamma=0.9)
        means.append(model.mean(fsdash.optimum(model).U_XY))
    assert np.ptp(means) <= 1e-6


def test_a_goal_far_away_gets_another_method():
    """A corridor: only the last step pays, so a plan of a few periods sees nothing."""
    n = 12
    P = np.zeros((n, 2, n))
    P[np.arange(n), 0, np.maximum(np.arange(n) - 1, 0)] = 1
    P[np.arange(n), 1, np.minimum(np.arange(n) + 1, n - 1)] = 1
    R = np.zeros((n, 2))
    R[n - 2, 1] = 1
    P[n - 1, :, :] = np.eye(n)[n - 1]
    ranking = fsdash.choice.rank_splits(fsdash.from_arrays(P, R, gamma=0.95))
    [row] = ranking.to_dict("records")
    assert not row["suits"] and row["slow"] == "none"
    assert "one slow state, so nothing is frozen" in row["verdict"]


def test_candidates_are_few_and_begin_with_the_suggestion():
    table = Table.of(weekdays())
    splits = candidate_splits(table)
    assert splits[0] == ("season",) and splits[-1] == () and len(splits) == len(set(splits)) <= 8
    assert all(set(slow) < set(table.names) for slow in splits)


def test_own_candidates_and_a_table_with_options():
    table = random_arrays(3).table()
    ranking = fsdash.choice.rank_splits(table, T=[2], candidates=[["season"]], gamma=0.9)
    assert ranking["slow"].tolist() == ["season"]
    with pytest.raises(fsdash.InputError, match="gamma"):
        fsdash.choice.rank_splits(table)
    with pytest.raises(fsdash.InputError, match="whole numbers"):
        fsdash.choice.rank_splits(table, T=(0.5,), gamma=0.9)
    with pytest.raises(fsdash.InputError, match="not a state variable"):
        fsdash.choice.rank_splits(table, candidates=[["wind"]], gamma=0.9)


def test_a_padded_model_in_rows_can_be_split_anew():
    model = random_rows(5, padded=True)
    again = fsdash.models.resplit(fsdash.models.resplit(model, slow="fast"), slow="slow")
    assert again.n_real == model.n_real and again.n_pairs == model.n_pairs
    U, V = (fsdash.optimum(m).U_XY[m.real_XY] for m in (model, again))
    assert np.abs(U - V).max() <= 1e-6


def test_a_time_limit_leaves_the_other_variables_unknown():
    model = fsdash.make("inventory").build()
    found = fsdash.models.suggest_slow(model, seconds=-1)
    assert found["suggestion"].tolist() == ["unknown", "unknown"] and found["moves"].isna().all()
    shares = []
    fsdash.models.suggest_slow(model, progress=shares.append)
    assert shares == [0.0, 0.5]
