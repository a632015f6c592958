"""Gymnasium environments: the checker, the law, seeds, infeasible actions and ends."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from fsdash.core.evaluation import policy_values
from fsdash.core.model import Axis, FastSlowMDP
from fsdash.core.rows import Rows
from fsdash.domains import DOMAINS, make
from fsdash.environments import IDS, FastSlowEnv, make_environment
from fsdash.errors import InputError
from fsdash.models import content_hash
from tests.models import in_rows, random_rows
from tests.saved_models import shop_model

SMALL = {"gridworld": {"size": 6}, "pricing": {"n_reference": 21}, "inventory": {}}
PRESETS = [
    (name, preset)
    for name, domain in DOMAINS.items()
    if name in SMALL
    for preset in domain.presets
    if preset != "large"
]


def check(env):
    """Gymnasium's checker without a warning, except that a model has no id to make it again."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*alternative render modes.*")
        check_env(env)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_every_small_preset_passes_the_checker(name, preset):
    [label] = [label for label, domain in IDS.items() if domain == name]
    env = gymnasium.make(f"fsdash/{label}-v0", preset=preset, **SMALL[name])
    check(env.unwrapped)
    assert content_hash(env.unwrapped.model) == content_hash(
        make(name, preset, **SMALL[name]).build()
    )


@pytest.mark.parametrize("padded", [False, True])
def test_a_model_in_rows_with_infeasible_actions_passes_the_checker(padded):
    check(FastSlowEnv(random_rows(3, (2, 4, 3), padded=padded), render_mode="ansi"))


@pytest.mark.parametrize("form", ["tables", "rows", "infeasible"])
def test_the_return_of_a_random_policy_is_its_exact_value(form):
    """The mean over episodes is within four standard errors of the policy's mean value."""
    if form == "infeasible":
        model = random_rows(5, (3, 4, 3), gamma=0.8, padded=True)
    else:
        model = make("inventory", y_max=8, order_max=8, order_step=2, d_max=3, gamma=0.8).build()
        model = in_rows(model) if form == "rows" else model
    rng = np.random.default_rng(0)
    score_XYA = np.where(model.feasible_XYA, rng.random(model.reward_XYA.shape), -1)
    policy_XY = model.mirror(score_XYA.argmax(axis=2))
    env, returns, periods = FastSlowEnv(model, infeasible="error"), [], 60
    for episode in range(400):
        observation, _ = env.reset(seed=0 if episode == 0 else None)
        rewards = []
        for _ in range(periods):
            observation, reward, terminated, truncated, info = env.step(
                policy_XY[tuple(observation)]
            )
            rewards.append(reward)
            assert info["action_mask"].any() and not (terminated or truncated)
        returns.append(np.dot(rewards, model.gamma ** np.arange(periods)))
    expected = model.mean(policy_values(model, policy_XY).U_XY)
    rest = model.gamma**periods / (1 - model.gamma) * model.largest_reward
    error = 4 * np.std(returns) / np.sqrt(len(returns)) + rest
    assert abs(np.mean(returns) - expected) < error


def played(env, seed, actions):
    observations = [env.reset(seed=seed)[0]]
    for action in actions:
        observations.append(env.step(action)[0])
    return np.array(observations)


def test_a_seed_fixes_an_episode():
    actions = np.random.default_rng(1).integers(0, 11, 50)
    env = make_environment("inventory")
    first = played(env, 7, actions)
    assert np.array_equal(played(env, 7, actions), first)
    assert np.array_equal(played(make_environment("inventory"), 7, actions), first)
    assert not np.array_equal(played(env, 8, actions), first)
    assert env.reset(seed=7)[1].keys() == {"action_mask", "state"}


def test_initial_states_have_the_initial_distribution():
    initial_XY = np.array([[0.0, 0.5], [0.25, 0.25]])
    model = FastSlowMDP(
        reward_XYA=np.ones((2, 2, 1)),
        noise_W=[1.0],
        next_slow=np.zeros((1, 1, 1, 1), int),
        next_fast=np.zeros((1, 1, 1, 1), int),
        gamma=0.9,
        initial_XY=initial_XY,
    )
    env = FastSlowEnv(model)
    env.reset(seed=0)
    states = np.array([env.reset()[0] for _ in range(2000)])
    share_XY = np.zeros((2, 2))
    np.add.at(share_XY, tuple(states.T), 1 / 2000)
    assert share_XY[0, 0] == 0
    assert np.abs(share_XY - initial_XY).max() < 4 * np.sqrt(0.25 / 2000)


def corridor():
    """Fast states 0, 1, 2 in a row; 2 is the end. In state 0 the action "jump" is infeasible."""
    pair_N, target_N = [0, 1, 3, 4, 5, 6], [1, 0, 2, 0, 2, 2]
    rows = Rows.from_entries((1, 3, 3), pair_N, target_N, np.ones(6))
    reward_XYA = np.array([[[-1, -2, -9], [-1, -2, -3], [0, -9, -9]]], float)
    actions = Axis(("speed",), [1, -1, 3], labels=("walk", "back", "jump"))
    return FastSlowMDP(
        reward_XYA=reward_XYA,
        rows=rows,
        gamma=0.9,
        fast=Axis(("place",), [0, 10, 20]),
        actions=actions,
        initial_XY=[[1, 0, 0]],
    )


def test_an_episode_ends_in_an_absorbing_state_that_pays_nothing():
    env = FastSlowEnv(corridor(), render_mode="ansi")
    observation, info = env.reset()
    assert observation.tolist() == [0, 0] and info["state"] == {"slow": 0, "place": 0}
    assert info["action_mask"].tolist() == [1, 1, 0]
    assert env.render() == "t = 0 · slow=0, place=0"
    observation, reward, terminated, truncated, info = env.step(0)
    assert (observation.tolist(), reward, terminated, truncated) == ([0, 1], -1, False, False)
    assert env.render() == "t = 1 · slow=0, place=10 · last period: walk, reward -1"
    observation, reward, terminated, _, info = env.step(2)
    assert (observation.tolist(), reward, terminated, info["action"]) == ([0, 2], -3, True, 2)
    assert info["action_mask"].tolist() == [1, 0, 0]
    assert env.step(0)[1:3] == (0, True)


def test_an_infeasible_action_is_replaced_by_the_nearest_one_or_refused():
    env = FastSlowEnv(corridor())
    env.reset()
    observation, reward, *_, info = env.step(2)  # jump is nearer to walk than to back
    assert (observation.tolist(), reward, info["action"]) == ([0, 1], -1, 0)
    strict = FastSlowEnv(corridor(), infeasible="error")
    strict.reset()
    with pytest.raises(InputError, match=r"action = 2 is infeasible in \(x, y\) = \(0, 0\)"):
        strict.step(2)


def test_states_are_named_as_in_the_table():
    env = FastSlowEnv(shop_model(), render_mode="ansi")
    _, info = env.reset(options={"state": (0, 2)})
    assert info["state"] == {"season": "busy", "stock": 2}
    env.step(1)
    assert "season=" in env.render() and "action=" not in env.render()
    assert env.reset(options={"state": (1, 2)})[1]["state"]["season"] == "calm"
    assert env.render() == "t = 0 · season=calm, stock=2"


def test_wrong_arguments():
    model = random_rows(1, (2, 3, 2), padded=True)
    env = FastSlowEnv(model)
    for wrong, message in (
        (lambda: FastSlowEnv(model, render_mode="human"), "choose from None, ansi"),
        (lambda: FastSlowEnv(model, infeasible="ignore"), "nearest, error"),
        (lambda: env.step(0), "call reset first"),
        (lambda: env.reset(options={"start": (0, 0)}), "start is not known"),
        (lambda: env.reset(options={"state": (9, 0)}), "x = 9"),
        (lambda: env.reset(options={"state": (1, 2)}), "padding"),
        (lambda: make_environment("inventory", K=-1), "K = -1"),
    ):
        with pytest.raises(InputError, match=message):
            wrong()
    env.reset()
    with pytest.raises(InputError, match="give an index from 0 to 1"):
        env.step(2)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_an_episode_made_by_id_is_truncated_by_the_time_limit():
    env = gymnasium.make("fsdash/Inventory-v0", max_episode_steps=3)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]
    assert gymnasium.spec("fsdash/Pricing-v0").max_episode_steps == 1000


@pytest.mark.processes
@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium, fsdash; gymnasium.make('fsdash/Inventory-v0')",
        "import fsdash.environments, gymnasium; gymnasium.make('fsdash/Gridworld-v0')",
        "import gymnasium; gymnasium.make('fsdash.environments:fsdash/Pricing-v0')",
    ],
)
def test_the_ids_are_known_in_a_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
