"""Gymnasium environments: the three domains by id, and any `FastSlowMDP` (`FastSlowEnv`).

    observation   MultiDiscrete (|X|, |Y|): the indices x and y, so `policy_XY[tuple(observation)]`
                  is the action of a policy of this library
    action        Discrete |A|: the index of the action
    reward        r(x, y, a) of the model: the expectation over the period's noise, not a sample. A
                  model of costs (`sense="min"`) has negative rewards.
    terminated    the next state is absorbing with reward 0 under every feasible action
    truncated     never; `gymnasium.make` limits the length of an episode
    info          `action_mask`: 1 for each feasible action, for `action_space.sample`; `state`: the
                  values of the variables by name, words where they have some; after a step
                  `action`, the action that was played

The model's discount factor is not applied to rewards; it is `model.gamma`.

Since version 1.0 Gymnasium does not look for environments in installed packages. They are
registered when this module is imported, and `import fsdash` does that if Gymnasium is loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fsdash.core.axis import Axis
from fsdash.core.model import FastSlowMDP
from fsdash.core.operators import check_state
from fsdash.core.step import next_states, terminal_states
from fsdash.domains import make
from fsdash.errors import InputError, require

require("gymnasium", extra="gymnasium")

import gymnasium  # noqa: E402
from gymnasium import spaces  # noqa: E402

IDS = {"Inventory": "inventory", "Gridworld": "gridworld", "Pricing": "pricing"}
"""Names in ids such as fsdash/Inventory-v0, and the domains they stand for."""
LONGEST_EPISODE = 1000
"""Periods after which an environment made by its id is truncated."""
INFEASIBLE = ("nearest", "error")


class FastSlowEnv(gymnasium.Env):
    """A model as a Gymnasium environment.

    Parameters
    ----------
    model : FastSlowMDP
        The model.
    render_mode : {"ansi"}, optional
        What `render` returns: the state and the last period as a line of text.
    infeasible : {"nearest", "error"}
        What an infeasible action does: the nearest feasible one is played instead (the distance is
        that of the actions' coordinates, and `info["action"]` says which), or an error is raised.

    Examples
    --------
    >>> import fsdash
    >>> from fsdash.environments import FastSlowEnv
    >>> model = fsdash.make("inventory").build()
    >>> policy_XY = fsdash.optimum(model).policy_PXY[0]
    >>> env = FastSlowEnv(model, render_mode="ansi")
    >>> observation, info = env.reset(seed=1, options={"state": (5, 0)})
    >>> observation, reward, *_ = env.step(policy_XY[tuple(observation)])
    >>> print(env.render())
    t = 1 · demand=5, stock=35 · last period: order=35, reward -190
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        model: FastSlowMDP,
        *,
        render_mode: str | None = None,
        infeasible: str = "nearest",
    ) -> None:
        for name, value, known in (
            ("render_mode", render_mode, (None, *self.metadata["render_modes"])),
            ("infeasible", infeasible, INFEASIBLE),
        ):
            if value not in known:
                raise InputError(f"{name} = {value!r}: choose from {', '.join(map(str, known))}")
        self.model, self.render_mode, self.infeasible = model, render_mode, infeasible
        self.observation_space = spaces.MultiDiscrete([model.n_slow, model.n_fast])
        self.action_space = spaces.Discrete(model.n_actions)
        self._terminal_XY = terminal_states(model)
        self._start_S = np.cumsum(model.initial_XY.ravel())
        self.state: tuple[int, int] | None = None
        """The indices (x, y) of the present state; None before the first episode."""
        self._period = 0
        self._played: tuple[int, float] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode in a state drawn from the model's initial distribution.

        `options={"state": (x, y)}` starts in a given state.
        """
        super().reset(seed=seed)
        unknown = set(options or {}) - {"state"}
        if unknown:
            raise InputError(f"options: {', '.join(sorted(unknown))} is not known; give state")
        if options and "state" in options:
            x, y = check_state(self.model, *options["state"])
            if not self.model.real_XY[x, y]:
                raise InputError(f"state = ({x}, {y}) is padding; choose one with real_XY")
        else:
            drawn = np.searchsorted(self._start_S, self.np_random.random(), side="right")
            last = np.flatnonzero(self.model.initial_XY)[-1]
            x, y = divmod(int(min(drawn, last)), self.model.n_fast)
        self._period, self.state, self._played = 0, (x, y), None
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play one period."""
        x, y = self._present("step")
        a = self._feasible(action)
        reward = float(self.model.reward_XYA[x, y, a])
        self.state = next_states(self.model, x, y, a).draw(self.np_random)
        self._period += 1
        self._played = a, reward
        terminated = bool(self._terminal_XY[self.state])
        return self._observation(), reward, terminated, False, self._info() | {"action": a}

    def render(self) -> Any:
        """Return the present state and the last period as a line of text."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'render needs a mode; make the environment with render_mode="ansi"'
            )
            return None
        x, y = self._present("render")
        parts = [
            f"t = {self._period}",
            f"{_name(self.model.slow, x)}, {_name(self.model.fast, y)}",
        ]
        if self._played is not None:
            a, reward = self._played
            parts.append(f"last period: {_name(self.model.actions, a)}, reward {reward:g}")
        return " · ".join(parts)

    def _present(self, asked_by: str = "state") -> tuple[int, int]:
        if self.state is None:
            raise InputError(f"{asked_by}: no episode has started; call reset first")
        return self.state

    def _feasible(self, action: Any) -> int:
        """The action, or the nearest feasible one."""
        if not self.action_space.contains(action):
            raise InputError(
                f"action = {action!r}: give an index from 0 to {self.model.n_actions - 1}"
            )
        x, y = self._present()
        feasible_A = self.model.feasible_XYA[x, y]
        if feasible_A[action]:
            return int(action)
        if self.infeasible == "error":
            raise InputError(
                f"action = {action} is infeasible in (x, y) = ({x}, {y}); choose one with "
                'info["action_mask"]'
            )
        values = self.model.actions.values
        distance_A = np.linalg.norm(values - values[action], axis=1)
        return int(np.where(feasible_A, distance_A, np.inf).argmin())

    def _observation(self) -> np.ndarray:
        return np.array(self.state, dtype=np.int64)

    def _info(self) -> dict[str, Any]:
        x, y = self._present()
        named = [
            (name, axis.words(name).get(value, value))
            for axis, i in ((self.model.slow, x), (self.model.fast, y))
            for name, value in zip(axis.names, axis.values[i].tolist(), strict=True)
        ]
        mask = self.model.feasible_XYA[x, y].astype(np.int8)
        return {"action_mask": mask, "state": dict(named)}


def make_environment(
    domain: str,
    preset: str = "default",
    *,
    render_mode: str | None = None,
    infeasible: str = "nearest",
    **parameters: Any,
) -> FastSlowEnv:
    """Return the environment of a domain, as `gymnasium.make` does for the registered ids.

    Parameters
    ----------
    domain : str
        Name of the domain, such as "inventory".
    preset : str
        Name of one of its presets.
    render_mode, infeasible : str, optional
        See `FastSlowEnv`.
    **parameters
        Parameters that differ from the preset.

    Examples
    --------
    >>> import gymnasium
    >>> import fsdash.environments
    >>> env = gymnasium.make("fsdash/Inventory-v0", y_max=20, order_max=20)
    >>> env.observation_space
    MultiDiscrete([11 21])
    """
    model = make(domain, preset, **parameters).build()
    return FastSlowEnv(model, render_mode=render_mode, infeasible=infeasible)


def _name(axis: Axis, i: int) -> str:
    return axis.labels[i] if axis.labels else axis.label(i)


for _id, _domain in IDS.items():
    gymnasium.register(
        id=f"fsdash/{_id}-v0",
        entry_point="fsdash.environments:make_environment",
        max_episode_steps=LONGEST_EPISODE,
        kwargs={"domain": _domain},
    )
