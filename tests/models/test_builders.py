"""Input that builders refuse, and details that the comparison with QuantEcon does not show."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import fsdash
from fsdash.core import rows
from fsdash.models import arrays, content_hash
from tests.own_models import Walk

EYE = np.eye(2)[:, None]


@pytest.mark.parametrize(
    ("P", "R", "options", "message"),
    [
        (EYE * 0.5, [[0], [0]], {}, r"P\[0, 0\]: sums to 0.5.*P\[1, 0\]"),
        (EYE * -1, [[0], [0]], {}, "-1 is not a probability"),
        (EYE, [[0], [np.nan]], {}, r"R\[1, 0\]: nan is not a reward"),
        (EYE, [[0], [-np.inf]], {}, "state 1: has no feasible action"),
        (EYE, [[0, 1], [0, 1]], {}, r"give \(S, A\) = \(2, 1\)"),
        (np.eye(2), [0, 1], {}, "is not"),
        (np.zeros((2, 3, 4)), [0], {}, "neither"),
        ("text", [0], {}, "not an array of real numbers"),
        ([np.eye(2), np.eye(3)], [[0, 0]] * 2, {}, r"P\[1\]: shape \(3, 3\)"),
        ([], [0], {}, "the list is empty"),
        (sparse.eye_array(2), [0, 0], {}, "needs s_indices and a_indices"),
        (np.eye(2), [0, 0], {"s_indices": [0, 1]}, "give both, or neither"),
        (np.eye(2), [0, 0], {"s_indices": [0, 0], "a_indices": [0, 0]}, "has two rows"),
        (np.eye(2), [0, 0], {"s_indices": [0, 5], "a_indices": [0, 0]}, "holds 5"),
        (np.eye(2), [0], {"s_indices": [0, 1], "a_indices": [0, 0]}, "one reward per row"),
        (EYE, [[0], [0]], {"feasible": [[True]]}, "feasible: shape"),
        (EYE, [[0], [0]], {"states": pd.DataFrame({"x": [1]})}, "1 rows and 1 columns"),
        (EYE, [[0], [0]], {"states": pd.DataFrame({"x": [1, 1]})}, "the same values"),
        (EYE, [[0], [0]], {"states": pd.DataFrame({"x": [1, None]})}, "row 2: x: empty"),
        (EYE, [[0], [0]], {"actions": ["a", "b"]}, "2 names for 1 actions"),
        (EYE, [[0], [0]], {"gamma": 1}, "0 ≤ γ < 1"),
        (EYE, [[0], [0]], {"slow": "x"}, "'x' is not a state variable; they are state"),
        (EYE, [[0], [0]], {"initial": [0.5, 0.6]}, "sums to 1.1"),
    ],
)
def test_arrays_that_cannot_be_used(P, R, options, message):
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.from_arrays(P, R, **({"gamma": 0.9} | options))


def test_rounding_errors_below_0_are_0_in_every_form():
    P = np.array([[[0.25, 0.75], [1 + 1e-17, -1e-17]], [[1, 0], [-1e-12, 1 + 1e-12]]])
    exact = content_hash(fsdash.from_arrays(P.round(9), np.eye(2), gamma=0.9))
    s, a = np.divmod(np.arange(4), 2)
    pairs = {"s_indices": s, "a_indices": a}
    for given, R, options in (
        (P, np.eye(2), {}),
        ([P[:, 0], P[:, 1]], np.eye(2), {}),
        (P.reshape(4, 2), np.eye(2).ravel(), pairs),
    ):
        model = fsdash.from_arrays(given, R, gamma=0.9, **options)
        assert content_hash(model) == exact
    chain = fsdash.from_markov_chain(P[:, 1], [[0], [0]], np.zeros((2, 2, 1)), gamma=0.9)
    assert (rows.to_rows(chain).probability_N > 0).all()
    functions = fsdash.from_functions(
        {"s": [0, 1]},
        [0, 1],
        lambda s, a: dict(enumerate(P[s.s, a])),
        lambda s, a: float(s.s == a),
        slow=[],
        gamma=0.9,
    )
    assert np.allclose(functions.true.probability_N.min(), 0.25)


def test_nested_lists_are_read_like_the_array():
    rng = np.random.default_rng(1)
    for P, R in (
        (rng.dirichlet(np.ones(3), size=(3, 3)), rng.normal(size=(3, 3, 3))),  # S = A
        (rng.dirichlet(np.ones(3), size=(3, 2)), rng.normal(size=(3, 2))),
    ):
        wanted = content_hash(fsdash.from_arrays(P, R, gamma=0.9))
        assert content_hash(fsdash.from_arrays(P.tolist(), R.tolist(), gamma=0.9)) == wanted


def test_rewards_of_transitions_may_have_their_axes_in_either_order():
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(3), size=(3, 2)), rng.normal(size=(3, 2, 3))
    values = [
        fsdash.from_arrays(p, r, gamma=0.9).reward_XYA
        for p in (P, P.transpose(1, 0, 2), [P[:, 0], P[:, 1]])
        for r in (R, R.transpose(1, 0, 2))
    ]
    assert np.allclose(values, np.einsum("sat,sat->sa", P, R), atol=1e-14)


def test_all_faults_of_arrays_come_at_once():
    P, R = np.ones((30, 2, 30)), np.full((30, 2), np.nan)
    with pytest.raises(fsdash.models.DataFaults) as raised:
        fsdash.from_arrays(P, R, gamma=0.9)
    assert len(raised.value.frame) == 120


def test_the_initial_distribution_of_arrays():
    model = fsdash.from_arrays(EYE, [[0], [0]], gamma=0.9, initial=[0.25, 0.75])
    assert model.initial_XY.tolist() == [[0.25, 0.75]]
    assert fsdash.from_arrays(EYE, [[0], [0]], gamma=0.9, initial={1: 1.0}).initial_XY[0, 1] == 1


def test_a_reward_per_state_and_names_of_actions():
    model = fsdash.from_arrays(EYE, [3, 4], gamma=0.5, actions=["wait"])
    assert fsdash.Policy(model, fsdash.optimum(model))(0) == "wait"
    assert np.allclose(fsdash.optimum(model).U_XY, [[6, 8]], atol=1e-6)
    with pytest.raises(fsdash.InputError, match="two actions are called"):
        fsdash.from_arrays(np.eye(2)[:, None].repeat(2, 1), [1, 2], gamma=0.5, actions=["a", "a"])


def test_something_else_than_a_discrete_dp():
    with pytest.raises(fsdash.InputError, match="is not a DiscreteDP"):
        fsdash.from_quantecon(object())


# ---------------------------------------------------------------------------------------- functions


def functions(**changes):
    options = {
        "states": {"x": [0, 1]},
        "actions": ["stay", "go"],
        "transition": lambda s, a: s.x if a == "stay" else 1 - s.x,
        "reward": lambda s, a: s.x,
        "slow": [],
        "gamma": 0.5,
    } | changes
    first = [options.pop(name) for name in ("states", "actions", "transition", "reward")]
    return fsdash.from_functions(*first, **options)


@pytest.mark.parametrize(
    "transition",
    [
        lambda s, a: s.x if a == "stay" else 1 - s.x,
        lambda s, a: {"x": s.x if a == "stay" else 1 - s.x},
        lambda s, a: {(s.x if a == "stay" else 1 - s.x): 1.0},
        lambda s, a: [(s.x if a == "stay" else 1 - s.x, 0.5)] * 2,
        lambda s, a: (s.x,) if a == "stay" else (1 - s.x,),
        lambda s, a: zip([s.x if a == "stay" else 1 - s.x], [1.0], strict=True),
        lambda s, a: np.array([s.x if a == "stay" else 1 - s.x]),
    ],
    ids=["value", "state", "mapping", "pairs", "tuple", "iterator", "array"],
)
def test_every_form_of_an_answer(transition):
    assert np.allclose(fsdash.optimum(functions(transition=transition)).U_XY, [[1, 2]], atol=1e-6)


def test_rewards_of_next_states_terminal_states_and_costs():
    """A step to x = 1 costs 3 and ends there."""
    model = functions(
        reward=lambda s, a, new: 3 * new.x, terminal=lambda s: s.x == 1, sense="min", initial=0
    )
    best = fsdash.optimum(model)
    assert fsdash.Policy(model, best)(0) == "stay" and np.allclose(best.U_XY, 0)
    assert model.n_pairs == 3 and model.initial_XY.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"transition": lambda s, a: s.x + 5}, "x = 5 is not a value"),
        ({"transition": lambda s, a: {s.x: 0.5}}, "sums to 0.5 over State"),
        ({"transition": lambda s, a: {s.x: -1, 1 - s.x: 2}}, "-1 is not a probability"),
        ({"transition": lambda s, a: None}, "x = None is not a value"),
        ({"reward": lambda s, a: np.nan}, "nan is not a reward"),
        ({"feasible": lambda s, a: s.x == 0}, r"State\(x=1\): has no feasible action"),
        ({"states": {"x": []}}, "at least one value"),
        ({"states": {"x": range(10_000), "y": range(10_000)}}, "give arrays"),
        ({"states": {"x": range(2_000_000)}, "actions": range(10)}, "give arrays"),
        ({"gamma": 2}, "0 ≤ γ < 1"),
    ],
)
def test_functions_that_cannot_be_used(changes, message):
    with pytest.raises(fsdash.InputError, match=message):
        functions(**changes)


def test_an_error_in_a_function_is_not_hidden():
    def transition(s, a):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        functions(transition=transition)


# -------------------------------------------------------------------------- chains and environments


@pytest.mark.parametrize(
    ("P_XX", "fast_next", "reward", "options", "message"),
    [
        ([[0.5, 0.6], [0, 1]], [[0]], 0, {}, r"P_XX\[0\]: sums to 1.1"),
        ([[1, 0]], [[0]], 0, {}, "square matrix"),
        ([[-1, 2], [0, 1]], [[0]], 0, {}, "negative"),
        (np.eye(2), [[1]], 0, {}, "indices from 0 to 0"),
        (np.eye(2), [[0.0]], 0, {}, "give indices"),
        (np.eye(2), [0], 0, {}, r"\(X, Y, A\) or \(Y, A\)"),
        (np.eye(2), [[0]], [1, 2, 3], {}, "broadcast"),
        (np.eye(2), [[0]], 0, {"slow_values": [1, 2, 3]}, "3 rows and 1 columns for 2 states"),
        (np.eye(2), [[0]], 0, {"gamma": 1}, "0 ≤ γ < 1"),
        (np.eye(2), [[-1]], 0, {}, "no feasible action"),
    ],
)
def test_chains_that_cannot_be_used(P_XX, fast_next, reward, options, message):
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.from_markov_chain(P_XX, fast_next, reward, **({"gamma": 0.9} | options))


def test_the_values_of_a_chain_are_words_numbers_or_a_frame():
    model = fsdash.from_markov_chain(
        sparse.eye_array(2),
        [[0, 1], [0, 1]],
        [[1, 0]],
        gamma=0.9,
        slow_values=pd.DataFrame({"rate": [0.1, 0.2], "mood": ["good", "bad"]}),
        fast_values=["down", "up"],
        actions=["sell", "buy"],
        sense="min",
    )
    assert model.slow.names == ("rate", "mood") and model.sense == "min"
    policy = fsdash.Policy(model, fsdash.optimum(model))
    assert policy({"rate": 0.1, "mood": "good", "fast": "down"}) == "buy"


def test_rows_of_a_chain_are_shared_by_all_actions():
    X, Y, A = 4, 50, 30
    P_XX = np.full((X, X), 1 / X)
    fast_next = np.random.default_rng(0).integers(Y, size=(X, Y, A))
    model = fsdash.from_markov_chain(P_XX, fast_next, np.zeros((X, Y, A)), gamma=0.9)
    assert model.true.entries <= X * Y + X * X


class Broken:
    unwrapped = property(lambda self: self)
    P = property(lambda self: {0: {0: [(1.0, 7, 0.0, False)]}})


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (object(), {}, "has no transition table P"),
        (Broken(), {}, "next states must be whole numbers from 0 to 0"),
        (Walk(), {"gamma": 1.5}, "0 ≤ γ < 1"),
        (Walk(), {"decode": lambda s: 0}, "the same values"),
        (Walk(), {"decode": lambda s: (s,) * (1 + s % 2)}, "different lengths"),
        (Walk(), {"slow": "wind"}, "'wind' is not a state variable"),
        (Walk(), {"actions": ["left"]}, "1 names for 2 actions"),
    ],
)
def test_environments_that_cannot_be_used(env, options, message):
    with pytest.raises(fsdash.InputError, match=message):
        fsdash.from_gymnasium(env, **({"gamma": 0.9} | options))


def test_decoded_states_may_be_mappings():
    model = fsdash.from_gymnasium(
        Walk(), gamma=0.9, decode=lambda s: {"side": "ab"[s // 6], "cell": s % 6}, slow="side"
    )
    assert model.slow.coordinates["side"].words == {0: "a", 1: "b"}


def test_notes_of_a_suggested_split_are_in_the_name():
    P = np.zeros((4, 2, 4))  # state 2·x + y: x flips with probability 0.1, y becomes the action
    for s, a in np.ndindex(4, 2):
        P[s, a, [2 * (s // 2) + a, 2 * (1 - s // 2) + a]] = 0.9, 0.1
    states = pd.DataFrame({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1]})
    model = fsdash.from_arrays(P, np.eye(4)[:, :2], gamma=0.9, states=states, name="farm")
    assert model.name == "farm (slow: x, suggested)" and model.slow.names == ("x",)


def clean_csr(seed, X=3, Y=4, A=3, n=4):
    """Arrays (P, R, s_indices, a_indices) in order, and a frame of states, slow before fast."""
    rng = np.random.default_rng(seed)
    cell_P = np.flatnonzero(rng.random((X * Y, A)) < 0.8)
    cell_P = np.union1d(cell_P, np.arange(X * Y) * A)  # every state has action 0
    columns = [np.sort(rng.choice(X * Y, n, replace=False)) for _ in cell_P]
    p = rng.dirichlet(np.ones(n), len(cell_P))
    start_P = np.arange(len(cell_P) + 1) * n
    P = sparse.csr_array((p.ravel(), np.concatenate(columns), start_P), shape=(len(cell_P), X * Y))
    states = pd.DataFrame({"x": np.repeat(np.arange(X), Y), "y": np.tile(np.arange(Y), X)})
    return (P, rng.normal(size=len(cell_P)), cell_P // A, cell_P % A), states


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("sense", ["max", "min"])
def test_clean_csr_arrays_give_the_model_of_any_other_order(index, sense):
    for seed in range(5):
        (P, R, s, a), states = clean_csr(seed)
        P.indices, P.indptr = P.indices.astype(index), P.indptr.astype(index)
        order = np.random.default_rng(seed).permutation(len(R))
        options = dict(gamma=0.9, states=states, slow="x", sense=sense)
        quick = fsdash.from_arrays(P, R, s_indices=s, a_indices=a, **options)
        general = fsdash.from_arrays(
            P[order], R[order], s_indices=s[order], a_indices=a[order], **options
        )
        assert content_hash(quick) == content_hash(general)
        assert quick.true.target_N.dtype == np.uint32
        assert not np.shares_memory(quick.true.probability_N, P.data)


def test_clean_csr_arrays_are_recognised_by_their_content(monkeypatch):
    monkeypatch.setattr(arrays, "read_law", None)  # the general way
    (P, R, s, a), states = clean_csr(0)
    assert fsdash.from_arrays(P, R, gamma=0.9, s_indices=s, a_indices=a).n_fast == P.shape[1]
    fsdash.from_arrays(P, R, gamma=0.9, states=states, slow="x", s_indices=s, a_indices=a)


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda P: P.data.__setitem__(3, np.nan), "is not a probability"),
        (lambda P: P.data.__setitem__(3, -0.5), "is not a probability"),
        (lambda P: P.data.__setitem__(3, 0.9), "sums to"),
    ],
)
def test_csr_arrays_with_errors_are_reported(spoil, message):
    (P, R, s, a), states = clean_csr(1)
    spoil(P)
    with pytest.raises(fsdash.models.DataFaults, match=message):
        fsdash.from_arrays(P, R, gamma=0.9, states=states, slow="x", s_indices=s, a_indices=a)


def test_shared_rows_of_csr_arrays_are_stored_once():
    (P, R, s, a), _ = clean_csr(2)
    P = sparse.csr_array(P[np.zeros(len(R), int)])
    model = fsdash.from_arrays(P, R, gamma=0.9, s_indices=s, a_indices=a)
    assert model.true.n_rows == 2


def test_one_slow_state_is_exogenous_without_a_look_at_the_probabilities(monkeypatch):
    monkeypatch.setattr(rows, "slow_law_gap", None)
    (P, R, s, a), _ = clean_csr(3)
    model = fsdash.from_arrays(P, R, gamma=0.9, s_indices=s, a_indices=a)
    assert model.true.exogenous_slow and fsdash.optimum(model).within_tolerance
