"""Policies in the user's own words: look-ups, tables and files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fsdash
from tests.models import random_rows, seeds
from tests.own_models import Walk, random_arrays


@pytest.fixture
def model():
    return fsdash.from_transitions(random_arrays(1).table(), slow="season", gamma=0.9)


@pytest.fixture
def policy(model):
    return fsdash.Policy(model, fsdash.run_until(fsdash.fsvi(model, T=3), tolerance=1e-3))


def test_the_action_of_every_state_and_period(model, policy):
    snapshot = fsdash.run_until(fsdash.fsvi(model, T=3), tolerance=1e-3)
    words = model.slow.coordinates["season"].words
    for period in range(7):
        for x, y in np.ndindex(model.n_slow, model.n_fast):
            state = {"season": words[x], "level": model.fast.values[y, 0]}
            a = snapshot.policy_PXY[period % 3, x, y]
            assert policy(state, period) == model.actions.labels[a]
            assert policy(tuple(state.values()), period) == model.actions.labels[a]


def test_the_actions_of_many_states_at_once(model, policy):
    """As one call per state, whatever the order, the index and further columns of the frame."""
    states = policy.to_frame()[list(policy.variables)].drop_duplicates()
    states = states.sample(frac=1, random_state=0)
    for period in (0, 1, 7):
        found = policy(states.assign(note="x"), period)
        assert found.index.equals(states.index) and found.name == policy.action
        one_by_one = [policy(tuple(state), period) for state in states.itertuples(index=False)]
        assert found.tolist() == one_by_one
    with pytest.raises(fsdash.InputError, match=f"column {policy.variables[0]} is missing"):
        policy(states.drop(columns=policy.variables[0]))
    wrong = states.astype(object)
    wrong.iloc[2, 0] = "no such value"
    with pytest.raises(fsdash.InputError, match="no such value"):
        policy(wrong)


def test_a_policy_says_what_it_is(policy):
    assert policy.kind == "periodic" and policy.period == 3 and len(policy) == 12
    assert "12 (season, level)" in repr(policy)
    frame = policy.to_frame()
    assert list(frame) == ["phase", "season", "level", "action"] and len(frame) == 36


def test_a_saved_policy_needs_no_model(policy, tmp_path):
    policy.save(tmp_path / "policy.csv")
    again = fsdash.load_policy(tmp_path / "policy.csv")
    assert again.kind == "periodic" and again.variables == policy.variables
    for phase, season, level, action in policy.to_frame().itertuples(index=False):
        assert again((season, level), phase) == action


def test_the_column_of_actions_keeps_its_name(tmp_path):
    table = random_arrays(1).table().rename(columns={"action": "pump"})
    model = fsdash.from_transitions(table, slow="season", gamma=0.9, action="pump")
    policy = fsdash.Policy(model, fsdash.optimum(model))
    assert list(policy.to_frame()) == ["season", "level", "pump"]
    policy.save(tmp_path / "policy.csv")
    again = fsdash.load_policy(tmp_path / "policy.csv")
    pd.testing.assert_frame_equal(again.to_frame(), policy.to_frame(), check_categorical=False)


@given(seeds, st.booleans())
def test_any_policy_survives_a_file(tmp_path_factory, seed, padded):
    model = random_rows(seed, padded=padded)
    policy = fsdash.Policy(model, fsdash.optimum(model))
    path = tmp_path_factory.mktemp("policy") / "p.csv"
    policy.save(path)
    again = fsdash.load_policy(path)
    for x, y, action in policy.to_frame().itertuples(index=False):
        assert again({"slow": x, "fast": y}) == action
    assert again.kind == "stationary"


def test_a_model_without_slow_variables_has_no_column_for_them():
    model = fsdash.from_gymnasium(Walk(), gamma=0.9, slow=[])
    policy = fsdash.Policy(model, fsdash.optimum(model))
    assert policy.variables == ("goal", "cell", "done")
    assert policy({"goal": 1, "cell": 3, "done": "no"}) == 1


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"season": "dry"}, "lacks level"),
        ({"season": "dry", "level": 0, "wind": 1}, "has wind"),
        ({"season": "stormy", "level": 0}, "its values are 'dry', 'mild', 'wet'"),
        ({"season": "dry", "level": 5}, "its values are 0, 10, 20, 30"),
        (("dry",), "give a mapping or a tuple"),
        ("dry", "give a mapping or a tuple"),
        ({"season": ["dry"], "level": 0}, "not a value"),
    ],
)
def test_states_that_do_not_exist(policy, state, message):
    with pytest.raises(fsdash.InputError, match=message):
        policy(state)


@pytest.mark.parametrize("value", [0.30000000000000004, 0.3, "0.3", np.float32(-2), -2.0, "-2"])
def test_numbers_are_found_up_to_rounding(value):
    states = pd.DataFrame({"x": [-2.0, -1.0, 0.3]})
    model = fsdash.from_arrays(np.eye(3)[:, None], np.ones((3, 1)), gamma=0.5, states=states)
    assert fsdash.Policy(model, fsdash.optimum(model))(value) == 0
    with pytest.raises(fsdash.InputError, match=r"x = 0\.31 is not a value"):
        fsdash.Policy(model, fsdash.optimum(model))(0.31)


def test_messages_write_numbers_of_numpy_as_numbers(model, policy):
    with pytest.raises(fsdash.InputError, match=r"level = 5\.0 is not a value"):
        policy(("dry", np.float64(5)))
    with pytest.raises(fsdash.InputError, match=r"^gamma = 1\.0;"):
        fsdash.from_transitions(random_arrays(1).table(), slow="season", gamma=np.float64(1))
    with pytest.raises(fsdash.InputError, match=r"T = \(0, 2\)"):
        fsdash.choice.rank_splits(model, T=np.array([0, 2]))


@pytest.mark.parametrize("period", [-1, 0.5, "1"])
def test_periods_are_whole_numbers(policy, period):
    with pytest.raises(fsdash.InputError, match="whole number"):
        policy(("dry", 0), period)


def test_a_policy_of_another_model_is_refused(model):
    with pytest.raises(fsdash.InputError, match="not \\(P, X, Y\\)"):
        fsdash.Policy(model, np.zeros((2, 2), int))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.csv", "phase,x,action\n0,1,a\n1,2,a\n", "one row for each state in each phase"),
        ("p.csv", "x,action\n1,a\n1,b\n", "one row for each state"),
        ("p.csv", "phase,x,action\n-1,1,a\n", "whole numbers"),
        ("p.csv", "y\n2\n", "a last one with the action"),
        ("p.csv", "x,phase\n2,0\n", "a last one with the action"),
        ("p.csv", "x,action\n1,\n", "row 1 has no action"),
        ("p.csv", "", "cannot be read"),
        ("p.txt", "", ".csv or .npz"),
    ],
)
def test_damaged_policies(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.load_policy(tmp_path / name)
