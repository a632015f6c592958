"""Every builder gives the model that QuantEcon solves, to 1e-6."""

import gymnasium
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quantecon.markov import DiscreteDP
from scipy import sparse

import fsdash
from fsdash.models import content_hash
from tests.models import random_model, random_rows, seeds
from tests.own_models import Walk, random_arrays, values_by_state

SPLITS = ("season", "level", ["season", "level"], [])


def difference(model, arrays):
    """The largest difference of optimal values between a model and QuantEcon."""
    U_S = values_by_state(model, fsdash.optimum(model).U_XY, arrays.states)
    return np.abs(U_S - arrays.optimal_values()).max()


@given(seeds, st.sampled_from(SPLITS), st.booleans())
def test_a_table_of_transitions(seed, slow, product):
    arrays = random_arrays(seed, product=product)
    model = fsdash.from_transitions(arrays.table(), slow=slow, gamma=arrays.gamma)
    assert model.n_real == len(arrays.states)
    assert model.n_pairs == np.count_nonzero(arrays.feasible)
    assert difference(model, arrays) <= 1e-6


def forms(arrays):
    """The arguments of `from_arrays` for each form of the same arrays."""
    P, R, feasible = arrays.P, arrays.R, arrays.feasible
    s, a = np.nonzero(feasible)
    shuffled = np.random.default_rng(0).permutation(len(s))
    R_SAS = np.broadcast_to(R[:, :, None], P.shape)
    lists = [sparse.csr_matrix(P[:, i]) for i in range(P.shape[1])]
    pairs = {"s_indices": s, "a_indices": a}
    mixed = {"s_indices": s[shuffled], "a_indices": a[shuffled]}
    return {
        "(S, A, S)": (P, R, {}),
        "(A, S, S)": (P.transpose(1, 0, 2), R, {}),
        "list of sparse matrices": (lists, R, {}),
        "list of dense matrices": ([P[:, i] for i in range(P.shape[1])], R, {}),
        "(SA, S) dense": (P[s, a], R[s, a], pairs),
        "(SA, S) sparse, any order": (
            sparse.coo_array(P[s, a][shuffled]),
            R[s, a][shuffled],
            mixed,
        ),
        "feasible instead of -inf": (P, np.where(feasible, R, 99), {"feasible": feasible}),
        "R (S, A, S)": (P, np.where(feasible[..., None], R_SAS, -np.inf), {}),
        "R (A, S, S)": (P.transpose(1, 0, 2), R_SAS.transpose(1, 0, 2), {}),
        "costs": (P, -R, {"sense": "min"}),
    }


@pytest.mark.parametrize("form", list(forms(random_arrays(0))))
@pytest.mark.parametrize("slow", ["season", []])
def test_arrays_in_every_form(form, slow):
    arrays = random_arrays(5, product=False)
    P, R, options = forms(arrays)[form]
    model = fsdash.from_arrays(P, R, gamma=arrays.gamma, states=arrays.states, slow=slow, **options)
    assert difference(model, arrays) <= 1e-6


def test_all_forms_of_arrays_are_the_same_model():
    arrays = random_arrays(5)
    hashes = set()
    for form, (P, R, options) in forms(arrays).items():
        if form not in ("costs", "R (S, A, S)", "R (A, S, S)"):  # these round, or have a sense
            model = fsdash.from_arrays(
                P, R, gamma=0.9, states=arrays.states, slow="season", **options
            )
            hashes.add(content_hash(model))
    assert len(hashes) == 1


@pytest.mark.parametrize("as_pairs", [False, True])
def test_quantecon_models_in_both_forms(as_pairs):
    arrays = random_arrays(11)
    ddp = arrays.quantecon()
    if as_pairs:
        ddp = ddp.to_sa_pair_form()
    model = fsdash.from_quantecon(ddp, states=arrays.states, slow="season")
    assert model.gamma == arrays.gamma
    assert difference(model, arrays) <= 1e-6


@given(seeds, st.booleans())
def test_a_model_goes_to_quantecon_and_back(seed, padded):
    model = random_rows(seed, padded=padded)
    ddp = fsdash.models.to_quantecon(model)
    v = ddp.solve(method="policy_iteration").v
    assert np.abs(v - fsdash.optimum(model).U_XY[model.real_XY]).max() <= 1e-6
    again = fsdash.from_quantecon(ddp)
    assert np.abs(v - fsdash.optimum(again).U_XY[0]).max() <= 1e-6


def test_index_tables_go_to_quantecon():
    model = random_model(3)
    v = fsdash.models.to_quantecon(model).solve(method="policy_iteration").v
    assert np.abs(v - fsdash.optimum(model).U_XY.ravel()).max() <= 1e-6


@given(seeds, st.sampled_from(["mapping", "pairs"]))
def test_functions(seed, form):
    arrays = random_arrays(seed)
    states = list(arrays.states.itertuples(index=False, name=None))
    number = {state: i for i, state in enumerate(states)}

    def transition(state, action):
        p_S = arrays.P[number[state], action]
        outcomes = [(states[n], p_S[n]) for n in np.flatnonzero(p_S)]
        return dict(outcomes) if form == "mapping" else outcomes

    model = fsdash.from_functions(
        arrays.states,
        range(arrays.R.shape[1]),
        transition,
        lambda state, action: arrays.R[number[state], action],
        slow="season",
        gamma=arrays.gamma,
        feasible=lambda state, action: arrays.feasible[number[state], action],
    )
    assert difference(model, arrays) <= 1e-6


@pytest.mark.slow
@given(seeds, st.booleans())
def test_a_markov_chain_with_a_deterministic_fast_state(seed, same_for_all_x):
    rng = np.random.default_rng(seed)
    X, Y, A = 3, 5, 4
    P_XX = rng.dirichlet(np.full(X, 0.4), size=X)
    fast_next = rng.integers(-1, Y, size=(Y, A) if same_for_all_x else (X, Y, A))
    fast_next[..., 0] = np.abs(fast_next[..., 0])
    reward = rng.normal(size=(X, Y, A))
    model = fsdash.from_markov_chain(P_XX, fast_next, reward, gamma=0.9)
    assert model.true.exogenous_slow and model.true.noise_free_fast
    next_XYA = np.broadcast_to(fast_next, (X, Y, A))
    P = np.zeros((X, Y, A, X, Y))
    for x, y, a in np.argwhere(next_XYA >= 0):
        P[x, y, a, :, next_XYA[x, y, a]] = P_XX[x]
    R = np.where(next_XYA >= 0, reward, -np.inf).reshape(X * Y, A)
    v = DiscreteDP(R, P.reshape(X * Y, A, X * Y), 0.9).solve(method="policy_iteration").v
    assert np.abs(v - fsdash.optimum(model).U_XY.ravel()).max() <= 1e-6


@pytest.mark.parametrize("slow", ["goal", "cell", ["goal", "cell"], [], None])
def test_a_gymnasium_table_ends_where_it_is_done(slow):
    env = Walk()
    S = len(env.P)
    P, R = np.zeros((S + 1, 2, S + 1)), np.zeros((S + 1, 2))
    P[S, :, S] = 1
    for s, a in np.ndindex(S, 2):
        for p, n, r, done in env.P[s][a]:
            P[s, a, S if done else n] += p
            R[s, a] += p * r
    v = DiscreteDP(R, P, 0.95).solve(method="policy_iteration").v
    model = fsdash.from_gymnasium(env, gamma=0.95, slow=slow)
    names = [env.decode(s) for s in range(S)]
    states = pd.DataFrame(names, columns=["goal", "cell"]).astype(float).assign(done="no")
    U_XY = fsdash.optimum(model).U_XY
    assert np.abs(values_by_state(model, U_XY, states) - v[:S]).max() <= 1e-6
    assert abs(model.mean(U_XY) - env.initial_state_distrib @ v[:S]) <= 1e-6
    if slow is None:
        assert model.slow.names == ("goal",) and "suggested" in model.name


def test_every_slow_state_of_an_environment_can_end_while_it_is_frozen():
    model = fsdash.from_gymnasium(Walk(), gamma=0.95, slow="goal")
    assert model.n_slow == 2 and model.n_fast == 7 and model.real_XY.all()
    done = model.fast.values[:, 1] == 1
    assert done.sum() == 1
    frozen = model.frozen
    for x, cell in ((0, 1), (1, 4)):  # next to the goal, walking towards it
        y = int(((model.fast.values[:, 0] == cell) & ~done).argmax())
        row = frozen.row_XYA[x, y, x]
        assert x * model.n_fast + done.argmax() in frozen.targets(row)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"), [("Taxi-v4", (20, 26, 6)), ("FrozenLake8x8-v1", (1, 65, 4))]
)
def test_the_tables_of_gymnasium_itself(name, sizes):
    model = fsdash.from_gymnasium(gymnasium.make(name), gamma=0.95)
    assert model.reward_XYA.shape == sizes
    v = fsdash.models.to_quantecon(model).solve(method="policy_iteration").v
    assert np.abs(v - fsdash.optimum(model).U_XY[model.real_XY]).max() <= 1e-6
