"""Tables of transitions: examples worked by hand, properties, and every data error at once."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fsdash
from fsdash.models import content_hash
from fsdash.models.faults import MOST_OF_A_KIND, count_errors
from tests.models import seeds
from tests.own_models import random_arrays

COLUMNS = ["x", "y", "action", "next_x", "next_y", "p", "reward"]


def frame(*rows, columns=COLUMNS):
    return pd.DataFrame(list(rows), columns=columns)


SMALL = [
    ("low", 0, "wait", "low", 0, 0.9, 0),
    ("low", 0, "wait", "high", 0, 0.1, 0),
    ("low", 0, "order", "low", 1, 1, -2),
    ("low", 1, "wait", "low", 0, 1, 3),
    ("high", 0, "order", "high", 1, 1, -2),
    ("high", 1, "wait", "high", 0, 0.8, 5),
    ("high", 1, "wait", "low", 0, 0.2, 5),
]


def small(**changes):
    """A correct table, with some cells changed: `small(p=(1, 0.2))` changes row 1 (from 0)."""
    rows = frame(*SMALL).astype(object)
    for column, (row, value) in changes.items():
        rows.loc[row, column] = value
    return rows.infer_objects()


def build(rows, **options):
    return fsdash.from_transitions(rows, **({"slow": "x", "gamma": 0.5} | options))


def problems(rows, **options):
    """The errors of a table, as (row, column, problem)."""
    faults = fsdash.models.check_transitions(rows, **({"slow": "x", "gamma": 0.5} | options))
    errors = faults[faults["severity"] == "error"]
    return [
        (None if pd.isna(row) else int(row), column, problem)
        for row, column, problem in errors[["row", "column", "problem"]].itertuples(index=False)
    ]


# ------------------------------------------------------------------------ examples worked by hand


def test_two_states_by_hand():
    """Stay in b for 1 per period, or go there from a for free: U(b) = 2, U(a) = γ·2 = 1."""
    rows = frame(("a", 0, "go", "b", 0, 1, 0), ("b", 0, "stay", "b", 0, 1, 1))
    best = fsdash.optimum(build(rows))
    assert np.allclose(best.U_XY.ravel(), [1, 2], atol=1e-6)


def test_rewards_of_next_states_are_averaged():
    """r(s, a) = 0.25·8 + 0.75·0 = 2, earned for ever: 2 / (1 − 0.5) = 4."""
    rows = frame(("a", 0, "go", "a", 0, 0.25, 8), ("a", 0, "go", "a", 1, 0.75, 0))
    rows = pd.concat([rows, rows.assign(y=1)])
    model = build(rows)
    assert np.allclose(model.reward_XYA, 2)
    assert np.allclose(fsdash.optimum(model).U_XY, 4, atol=1e-6)


def test_costs_are_minimised():
    rows = frame(("a", 0, "dear", "a", 0, 1, 3), ("a", 0, "cheap", "a", 0, 1, 2), columns=COLUMNS)
    model = build(rows, sense="min")
    best = fsdash.optimum(model)
    assert fsdash.Policy(model, best)(("a", 0)) == "cheap"
    assert np.allclose(best.U_XY, -4, atol=1e-6)  # the negated cost 2 / (1 − 0.5)


@pytest.mark.parametrize(
    "terminal", [{"y": 1}, ("a", 1), [("a", 1)], {("a", 1)}, "missing", "end", [["a", 1], "end"]]
)
def test_a_terminal_state_stays_with_reward_0(terminal):
    """The first step pays 6 and ends the process with probability ½: U = 6 + ½·½·U = 8."""
    rows = frame(("a", 0, "go", "a", 0, 0.5, 6), ("a", 0, "go", "a", 1, 0.5, 6))
    rows["end"] = [False, True]
    model = build(rows, terminal=terminal)
    assert np.allclose(fsdash.optimum(model).U_XY, [[8, 0]], atol=1e-6)
    assert model.n_pairs == 2 and model.reward_XYA[0, 1, 0] == 0


def test_terminal_states_may_be_given_in_several_ways_at_once():
    """The first step pays 6 and ends the process in one of three states."""
    ends = [("a", 1), ("a", 2), ("a", 3)]
    rows = frame(*(("a", 0, "go", x, y, 1 / 3, 6) for x, y in ends), ("a", 1, "go", "a", 0, 1, 9))
    rows["end"] = [False, True, False, False]
    model = build(rows, terminal=["end", "missing", ["a", 1]])
    assert np.allclose(fsdash.optimum(model).U_XY, [[6, 0, 0, 0]], atol=1e-6)


def test_a_state_that_ends_the_process_only_sometimes_is_a_warning():
    rows = frame(
        ("a", 0, "go", "a", 1, 1, 6), ("a", 0, "stop", "a", 1, 1, 0), ("a", 1, "go", "a", 0, 1, 9)
    )
    rows["end"] = [False, True, False]
    faults = fsdash.models.check_transitions(rows, slow="x", gamma=0.5, terminal="end")
    marked = faults[faults["column"] == "end"]
    assert marked["row"].tolist() == [1] and marked["severity"].tolist() == ["warning"]


def test_terminal_states_may_be_a_frame_of_states():
    rows = frame(("a", 0, "go", "a", 1, 1, 6))
    model = build(rows, terminal=pd.DataFrame({"x": ["a"], "y": [1]}))
    assert np.allclose(fsdash.optimum(model).U_XY, [[6, 0]], atol=1e-6)


def test_rows_of_a_terminal_state_are_reported_and_not_used():
    rows = frame(("a", 0, "go", "a", 1, 1, 6), ("a", 1, "go", "a", 0, 1, 9))
    faults = fsdash.models.check_transitions(rows, slow="x", gamma=0.5, terminal={"y": 1})
    assert faults.loc[faults["severity"] == "warning", "row"].tolist() == [2]
    assert np.allclose(fsdash.optimum(build(rows, terminal={"y": 1})).U_XY, [[6, 0]], atol=1e-6)


def test_a_state_space_that_is_not_a_product_is_padded():
    """High has no stock 2: (high, 2) is padding, and counts nowhere."""
    rows = frame(*SMALL, ("low", 2, "wait", "low", 1, 1, 3))
    model = build(rows)
    assert model.n_real == 5 and model.n_states == 6
    padded = ~model.real_XY
    assert padded.sum() == 1 and model.initial_XY[padded] == 0
    policy = fsdash.Policy(model, fsdash.optimum(model))
    assert len(policy) == 5
    with pytest.raises(fsdash.InputError, match="no such state"):
        policy({"x": "high", "y": 2})


def test_an_infinite_cost_makes_an_action_infeasible():
    rows = frame(*SMALL, ("low", 1, "order", "low", 1, 1, -np.inf))
    assert build(rows).n_pairs == build(frame(*SMALL)).n_pairs
    assert build(rows.assign(reward=-rows["reward"]), sense="min").n_pairs == 5


def test_several_slow_variables_make_one_axis():
    model = build(frame(*SMALL), slow=["x", "y"])
    assert model.slow.names == ("x", "y") and model.n_slow == 4 and model.n_fast == 1
    assert build(frame(*SMALL), slow=[], fast=["x", "y"]).n_slow == 1


def test_suggested_slow_variables_are_noted_in_the_name():
    model = build(frame(*SMALL), slow=None, name="shop")
    assert model.slow.names == ("x",) and model.name == "shop (slow: x, suggested)"
    assert build(frame(*SMALL), slow=None, fast="y", name="shop").name == "shop"


def test_words_numbers_and_the_name_of_the_action_are_kept():
    rows = frame(*SMALL).rename(columns={"action": "decision"})
    model = build(rows, action="decision")
    assert model.slow.coordinates["x"].words == {0: "high", 1: "low"}
    assert model.fast.values.ravel().tolist() == [0, 1] and not model.fast.coordinates
    assert model.actions.names == ("decision",) and model.actions.labels == ("order", "wait")


def test_a_categorical_column_decides_the_order_of_words():
    rows = frame(*SMALL)
    rows["x"] = pd.Categorical(rows["x"], ["low", "high"])
    assert build(rows).slow.coordinates["x"].words == {0: "low", 1: "high"}


def test_words_are_ordered_as_people_count():
    names = [f"item {i}" for i in (10, 2, 1)]
    rows = frame(*((x, 0, "go", x, 0, 1, 0) for x in names))
    assert list(build(rows).slow.coordinates["x"].words.values()) == ["item 1", "item 2", "item 10"]


@pytest.mark.parametrize(
    "initial",
    [
        {("low", 0): 0.25, ("high", 1): 0.75},
        pd.DataFrame({"x": ["low", "high"], "y": [0, 1], "share": [0.25, 0.75]}),
        "start",
    ],
    ids=["mapping", "frame", "column"],
)
def test_the_initial_distribution(initial):
    rows = frame(*SMALL)
    rows["start"] = [0.25, 0.25, 0.25, 0, 0, 0.75, 0.75]
    model = build(rows, initial=initial)
    assert model.initial_XY.tolist() == [[0, 0.75], [0.25, 0]]


def test_one_initial_state():
    assert build(frame(*SMALL), initial={"x": "low", "y": 1}).initial_XY[1, 1] == 1


def test_columns_may_have_any_names():
    rows = frame(*SMALL).set_axis(["x", "y", "a", "x'", "y'", "prob", "gain"], axis=1)
    columns = fsdash.models.guess_columns(rows)
    model = fsdash.from_transitions(rows, slow="x", gamma=0.5, **columns)
    assert model.n_pairs == 5 and (columns["action"], columns["reward"]) == ("a", "gain")


@pytest.mark.parametrize(
    ("names", "next_columns", "others"),
    [
        ("s a s' p r", {"s": "s'"}, ("a", "p", "r", "max")),
        ("s a sp prob cost", {"s": "sp"}, ("a", "prob", "cost", "min")),
        ("State,Action,Next State,Probability,Reward", {"State": "Next State"}, None),
        ("from action to weight loss", {"from": "to"}, ("action", "weight", "loss", "min")),
        (
            "idstatefrom,idaction,idstateto,probability,reward",
            {"idstatefrom": "idstateto"},
            ("idaction", "probability", "reward", "max"),
        ),
        (
            "current_state,action_id,next_state,prob,cost",
            {"current_state": "next_state"},
            ("action_id", "prob", "cost", "min"),
        ),
        ("from_x,u,to_x,pr,payoff", {"from_x": "to_x"}, ("u", "pr", "payoff", "max")),
        ("x y action x_next y_next p reward", {"x": "x_next", "y": "y_next"}, None),
        ("x action next_x reward", {"x": "next_x"}, ("action", None, "reward", "max")),
        ("x saving next_x p reward", {"x": "next_x"}, ("saving", "p", "reward", "max")),
        ("x action next_x p gain", {"x": "next_x"}, ("action", "p", "gain", "max")),
        ("one two three", {}, (None, None, None, "max")),
        (
            "Stock,Decision,Next Stock,Transition Probability,Cost (EUR)",
            {"Stock": "Next Stock"},
            ("Decision", "Transition Probability", "Cost (EUR)", "min"),
        ),
        ("x,action,next_x,p,total cost", {"x": "next_x"}, ("action", "p", "total cost", "min")),
        ("x,action,next_x,p,profit after cost", {"x": "next_x"}, None),
    ],
)
def test_columns_are_guessed_from_their_names(names, next_columns, others):
    columns = names.split("," if "," in names else " ")
    guess = fsdash.models.guess_columns(pd.DataFrame([[0.5] * len(columns)], columns=columns))
    assert guess.get("next_prefix", {}) == next_columns
    if others is not None:
        assert tuple(map(guess.get, ("action", "probability", "reward", "sense"))) == others


def test_the_end_of_an_episode_is_recognised_by_its_name_and_values():
    columns = ["state", "action", "next_state", "prob", "reward", "done"]
    rows = pd.DataFrame([(0, 0, 1, 1.0, 5, True), (1, 0, 0, 1.0, 5, False)], columns=columns)
    guess = fsdash.models.guess_columns(rows)
    assert guess["terminal"] == "done"
    model = fsdash.from_transitions(rows, slow=[], gamma=0.5, **guess)
    assert np.allclose(fsdash.optimum(model).U_XY, [[5, 0]], atol=1e-6)
    assert "terminal" not in fsdash.models.guess_columns(rows.assign(done=[3, 4]))
    variable = fsdash.models.guess_columns(rows.assign(next_done=0))
    assert list(variable["next_prefix"]) == ["state", "done"] and "terminal" not in variable


def test_a_column_without_a_role_is_a_warning():
    rows = frame(*SMALL).assign(absorbing=0)
    faults = fsdash.models.check_transitions(rows, slow="x", gamma=0.5)
    [warning] = faults[faults["severity"] == "warning"].to_dict("records")
    assert (warning["column"], warning["problem"]) == ("absorbing", "the column is not used")
    assert content_hash(build(rows)) == content_hash(build(frame(*SMALL)))


def test_what_cannot_be_guessed_is_named_in_the_faults():
    rows = frame(*SMALL).set_axis(["x", "y", "a1", "next_x", "next_y", "p", "r1"], axis=1)
    options = fsdash.models.guess_columns(rows)
    assert {column for _, column, _ in problems(rows, **options)} == {"action", "reward"}


def test_certain_transitions_need_no_probability():
    rows = frame(("a", 0, "go", "b", 0, 1, 0), ("b", 0, "stay", "b", 0, 1, 1)).drop(columns="p")
    assert np.allclose(
        fsdash.optimum(build(rows, probability=None)).U_XY.ravel(), [1, 2], atol=1e-6
    )


# --------------------------------------------------------------------------------------- properties


@given(seeds, st.booleans())
def test_the_order_of_rows_does_not_matter_to_the_last_bit(seed, product):
    table = random_arrays(seed, product=product).table()
    table = pd.concat([table, table.assign(p=table["p"] * 0.5)])  # with repeats
    table["p"] /= 1.5
    shuffled = table.sample(frac=1, random_state=seed % 1000)
    assert content_hash(build(table, slow="season")) == content_hash(build(shuffled, slow="season"))


@given(seeds, st.sampled_from([1, 3]))
def test_infeasible_actions_are_never_chosen(seed, T):
    arrays = random_arrays(seed, product=False)
    # Infeasible actions would be the best ones if their rewards counted.
    model = fsdash.from_arrays(
        arrays.P,
        np.where(arrays.feasible, arrays.R, 1e6),
        gamma=0.9,
        states=arrays.states,
        slow="season",
        feasible=arrays.feasible,
    )
    snapshots = [
        fsdash.run_until(fsdash.fsvi(model, T), tolerance=1e-3),
        fsdash.run_until(fsdash.mpi(model), tolerance=1e-3),
        fsdash.run_until(
            fsdash.e_fsvi(model, np.random.default_rng(0), T=T, sampling=fsdash.Sampling(M_u=5)),
            iterations=2,
        ),
    ]
    for snapshot in snapshots:
        policy = fsdash.Policy(model, snapshot)
        for phase in range(policy.period):
            for number, state in enumerate(arrays.states.to_dict("records")):
                assert arrays.feasible[number, policy(state, phase)]


# -------------------------------------------------------------------------------------- data errors


def test_a_correct_table_has_no_errors_and_predicts_memory_and_time():
    faults = fsdash.models.check_transitions(small(), slow="x", gamma=0.5)
    assert faults["severity"].tolist() == ["note"]
    assert "needs about" in faults["problem"][0] and "sweeps" in faults["problem"][0]


@pytest.mark.parametrize(
    ("rows", "row", "column", "problem"),
    [
        (small(p=(0, 0.5)), 1, "p", "sums to 0.6 over the rows of x=low, y=0, action wait"),
        (small(p=(0, 0.9001)), 1, "p", "sums to 1.0001"),
        (small(p=(2, "often")), 3, "p", "'often' is not a number"),
        (small(p=(2, -1)), 3, "p", "-1 is not a probability"),
        (small(p=(2, 1.5)), 3, "p", "1.5 is not a probability"),
        (small(p=(2, None)), 3, "p", "empty cell"),
        (small(reward=(3, "x")), 4, "reward", "'x' is not a number"),
        (small(reward=(3, np.inf)), 4, "reward", "infinite"),
        (small(reward=(3, 10**400)), 4, "reward", "'beyond ±1.8e308' is not a number"),
        (small(reward=(3, np.nan)), 4, "reward", "empty cell"),
        (small(x=(3, None)), 4, "x", "empty cell"),
        (small(action=(3, None)), 4, "action", "empty cell"),
        (small(next_y=(3, None)), 4, "next_y", "empty cell"),
        (small(next_y=(3, 7)), 4, "next_x, next_y", "next state x=low, y=7 never occurs"),
    ],
)
def test_each_fault_has_its_row_its_column_and_a_remedy(rows, row, column, problem):
    faults = fsdash.models.check_transitions(rows, slow="x", gamma=0.5)
    fault = faults[(faults["severity"] == "error") & (faults["row"] == row)].iloc[0]
    assert fault["column"] == column and problem in fault["problem"]
    assert len(fault["remedy"]) > 10
    with pytest.raises(fsdash.models.DataFaults):
        build(rows)


def test_all_faults_come_at_once():
    rows = small(p=(0, 0.5), reward=(3, "x"), next_y=(5, 9), action=(6, None))
    assert {(row, column) for row, column, _ in problems(rows, gamma=1.0)} == {
        (None, "gamma"),
        (1, "p"),
        (4, "reward"),
        (6, "next_x, next_y"),
        (7, "action"),
    }


def test_the_exception_shows_the_first_faults_and_holds_all():
    rows = small(p=(0, 0.5), reward=(3, "x"), next_y=(5, 9), action=(6, None))
    with pytest.raises(fsdash.InputError, match=r"row \d.*and \d more errors") as raised:
        build(rows, gamma=2)
    assert len(raised.value.frame) >= 5
    names = ["row", "column", "problem", "remedy", "severity", "count"]
    assert list(raised.value.frame) == names


def test_errors_are_counted_in_full_although_a_thousand_are_listed():
    n = 3_000
    rows = pd.DataFrame({"x": range(n), "action": 0, "next_x": range(n), "p": "?", "reward": 1})
    faults = fsdash.models.check_transitions(rows, slow=[], gamma=0.5)
    assert count_errors(faults) == n and len(faults) < n
    with pytest.raises(fsdash.models.DataFaults, match="and 2,997 more errors"):
        build(rows, slow=[])


def test_a_state_whose_actions_are_all_infeasible_is_an_error():
    rows = small(reward=(3, -np.inf))
    assert problems(rows) == [(4, "reward", "x=low, y=1 has no feasible action")]
    assert build(rows, terminal=("low", 1)).n_real == 4


def test_sums_near_1_can_be_rescaled_and_others_not():
    near, far = small(p=(0, 0.9001)), small(p=(0, 0.95))
    assert (
        "normalize=True" in fsdash.models.check_transitions(near, slow="x", gamma=0.5)["remedy"][0]
    )
    model = build(near, normalize=True)
    assert model.true.probabilities(model.true.row_XYA[1, 0, 1]).sum() == pytest.approx(
        1, abs=1e-15
    )
    assert problems(far, normalize=True)


@pytest.mark.parametrize(
    ("next_x", "p"),
    [
        ([0, 1, 1], [0.5, 0.2, 0.2995]),  # two outcomes lead to the same state
        ([1, 2], [0.5, 0.499]),  # 1 − 0.001 up to rounding
        ([2], [1.0005]),
    ],
)
def test_what_can_be_rescaled_is_offered_and_rescaled(next_x, p):
    rows = pd.DataFrame({"x": 0, "action": 0, "next_x": next_x, "p": p, "reward": 1})
    ends = pd.DataFrame({"x": [1, 2], "action": 0, "next_x": [1, 2], "p": 1, "reward": 0})
    rows = pd.concat([rows, ends], ignore_index=True)
    faults = fsdash.models.check_transitions(rows, slow=[], gamma=0.5)
    errors = faults[faults["severity"] == "error"]
    assert errors["remedy"].str.contains("normalize=True").tolist() == [True]
    assert build(rows, slow=[], normalize=True).n_real == 3


def test_rescaling_is_offered_only_where_it_is_an_option():
    arrays = {"P": np.full((2, 1, 2), 0.5), "R": np.zeros((2, 1)), "gamma": 0.5}
    with pytest.raises(fsdash.models.DataFaults) as by_arrays:
        fsdash.from_arrays(**arrays, initial=[0.5, 0.4995])
    with pytest.raises(fsdash.models.DataFaults) as by_functions:
        fsdash.from_functions(
            [0, 1], [0], lambda s, a: {0: 0.5, 1: 0.4995}, lambda s, a: 0, slow=[], gamma=0.5
        )
    assert "normalize" not in str(by_arrays.value) + str(by_functions.value)


def test_a_rounding_error_below_0_is_0():
    rows = pd.concat([small(), frame(("low", 1, "wait", "high", 1, -1e-17, 3))])
    assert not problems(rows)
    assert content_hash(build(rows)) == content_hash(build(small()))


def test_repeated_rows_are_errors_only_if_they_spoil_the_sum():
    rows = small()
    spoiled = problems(pd.concat([rows, rows.iloc[[2]]]))
    assert any("same state, action and next state as row 3" in p for _, _, p in spoiled)
    halves = pd.concat([rows, rows.iloc[[2]]]).reset_index(drop=True)
    halves.loc[[2, 7], "p"] = 0.5
    faults = fsdash.models.check_transitions(halves, slow="x", gamma=0.5)
    assert faults["severity"].tolist() == ["warning", "note"]


def test_a_typing_slip_among_numbers_is_a_warning_and_a_missing_state():
    rows = small(next_y=(2, "1O"))
    faults = fsdash.models.check_transitions(rows, slow="x", gamma=0.5)
    assert "read as a category" in faults.loc[faults["severity"] == "warning", "problem"].iloc[0]
    assert any("y=1O never occurs" in problem for _, _, problem in problems(rows))


def test_a_million_faults_of_one_kind_cost_a_thousand_lines():
    rows = pd.concat([small(p=(2, "x"))] * 3000, ignore_index=True)
    faults = fsdash.models.check_transitions(rows, slow="x", gamma=0.5)
    per_kind = faults.groupby(["column", "remedy"]).size()
    assert per_kind.max() <= MOST_OF_A_KIND + 1
    assert faults["problem"].str.contains("more with the same problem").any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slow": "z"}, "not a state variable"),
        ({"slow": "xx"}, "did you mean 'x'"),
        ({"slow": "x", "fast": "x"}, "both slow and fast"),
        ({"slow": "x", "fast": []}, "neither slow nor fast"),
        ({"action": "act"}, "did you mean 'action'"),
        ({"reward": "p"}, "used twice"),
        ({"next_prefix": "new_"}, "not a state variable"),
        ({"slow": [], "next_prefix": "new_"}, "no state variable"),
        ({"gamma": 1}, "0 ≤ γ < 1"),
        ({"gamma": "0.9"}, "0 ≤ γ < 1"),
        ({"sense": "least"}, '"max" for rewards'),
        ({"slow": 3}, "names of state variables"),
        ({"normalize": "yes"}, "true or false"),
        ({"terminal": {"x": "nowhere"}}, "no state matches"),
        ({"terminal": {"z": 1}}, "'z' is not a state variable"),
        ({"terminal": "done"}, "give a mapping or a tuple"),
        ({"initial": {("low", 0): 0.5}}, "sums to 0.5"),
        ({"initial": {("low", 5): 1}}, "not a value of this variable"),
        ({"initial": {("low", 0): "x"}}, "could not convert"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(fsdash.InputError, match=message):
        build(frame(*SMALL), **options)


def test_something_else_than_a_frame():
    with pytest.raises(fsdash.InputError, match="list: is not a table; give a pandas DataFrame"):
        build([1, 2])


def test_an_empty_table_and_one_with_two_columns_of_a_name():
    with pytest.raises(fsdash.InputError, match="has no rows"):
        build(frame())
    with pytest.raises(fsdash.InputError, match="two columns have this name"):
        build(frame(*SMALL).set_axis(["x", "y", "action", "next_x", "next_y", "p", "p"], axis=1))


def test_a_model_that_would_be_too_large_is_refused_before_memory_is_taken():
    n = 8000  # 8,000 slow × 8,000 fast states: padding for 64 million cells
    i = np.arange(n)
    rows = pd.DataFrame(
        {"x": i, "y": i, "action": 0, "next_x": i, "next_y": i, "p": 1.0, "reward": 0}
    )
    with pytest.raises(
        fsdash.models.DataFaults, match=r"64,000,000 cells.*the limit is 50,000,000"
    ):
        build(rows)
