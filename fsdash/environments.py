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
from fsdash.core.simulate import Path
from fsdash.core.step import next_states, terminal_states
from fsdash.domains import Domain, make
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
    domain : Domain, optional
        The domain that built the model, whose own drawing is used.
    render_mode : {"rgb_array", "ansi"}, optional
        What `render` returns: a picture of the path so far, as the policy inspector draws it, or a
        line of text.
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

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        model: FastSlowMDP,
        *,
        domain: Domain | None = None,
        render_mode: str | None = None,
        infeasible: str = "nearest",
    ) -> None:
        for name, value, known in (
            ("render_mode", render_mode, (None, *self.metadata["render_modes"])),
            ("infeasible", infeasible, INFEASIBLE),
        ):
            if value not in known:
                raise InputError(f"{name} = {value!r}: choose from {', '.join(map(str, known))}")
        self.model, self.domain = model, domain
        self.render_mode, self.infeasible = render_mode, infeasible
        self.observation_space = spaces.MultiDiscrete([model.n_slow, model.n_fast])
        self.action_space = spaces.Discrete(model.n_actions)
        self._terminal_XY = terminal_states(model)
        self._start_S = np.cumsum(model.initial_XY.ravel())
        self._period = 0
        # All states and periods of the episode if a picture is asked for, otherwise the last ones.
        self._states: list[tuple[int, int]] = []
        self._played: list[tuple[int, float]] = []

    @property
    def state(self) -> tuple[int, int]:
        """The indices (x, y) of the present state."""
        return self._states[-1]

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
        self._period, self._states, self._played = 0, [(x, y)], []
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play one period."""
        if not self._states:
            raise InputError("step: no episode has started; call reset first")
        (x, y), a = self.state, self._feasible(action)
        reward = float(self.model.reward_XYA[x, y, a])
        x, y = next_states(self.model, x, y, a).draw(self.np_random)
        if self.render_mode != "rgb_array":
            self._states, self._played = [], []
        self._period += 1
        self._states.append((x, y))
        self._played.append((a, reward))
        terminated = bool(self._terminal_XY[x, y])
        return self._observation(), reward, terminated, False, self._info() | {"action": a}

    def render(self) -> Any:
        """Return the picture or the text that `render_mode` asks for."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'render needs a mode; make the environment with render_mode="ansi"'
            )
            return None
        if not self._states:
            raise InputError("render: no episode has started; call reset first")
        return self._text() if self.render_mode == "ansi" else self._picture()

    def _feasible(self, action: Any) -> int:
        """The action, or the nearest feasible one."""
        if not self.action_space.contains(action):
            raise InputError(
                f"action = {action!r}: give an index from 0 to {self.model.n_actions - 1}"
            )
        x, y = self.state
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
        x, y = self.state
        named = [
            (name, axis.words(name).get(value, value))
            for axis, i in ((self.model.slow, x), (self.model.fast, y))
            for name, value in zip(axis.names, axis.values[i].tolist(), strict=True)
        ]
        mask = self.model.feasible_XYA[x, y].astype(np.int8)
        return {"action_mask": mask, "state": dict(named)}

    def _text(self) -> str:
        x, y = self.state
        parts = [
            f"t = {self._period}",
            f"{_name(self.model.slow, x)}, {_name(self.model.fast, y)}",
        ]
        if self._played:
            a, reward = self._played[-1]
            parts.append(f"last period: {_name(self.model.actions, a)}, reward {reward:g}")
        return " · ".join(parts)

    def _picture(self) -> np.ndarray:
        from fsdash.figures.domains import figure_function
        from fsdash.figures.raster import rasterise

        draw = figure_function(self.domain, "path_so_far")
        return rasterise(draw(self.domain, self.model, self._path()))

    def _path(self) -> Path:
        """The path so far: the states up to the present one, and the actions before it."""
        x_N, y_N = np.array(self._states).T
        action_N, reward_N = np.array(self._played).reshape(-1, 2).T
        return Path(
            x_N,
            y_N,
            action_N.astype(np.int64),
            reward_N,
            phase_N=np.zeros(len(x_N), np.int64),
            gamma=self.model.gamma,
            period=1,
        )


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
    made = make(domain, preset, **parameters)
    return FastSlowEnv(made.build(), domain=made, render_mode=render_mode, infeasible=infeasible)


def _name(axis: Axis, i: int) -> str:
    return axis.labels[i] if axis.labels else axis.label(i)


for _id, _domain in IDS.items():
    gymnasium.register(
        id=f"fsdash/{_id}-v0",
        entry_point="fsdash.environments:make_environment",
        max_episode_steps=LONGEST_EPISODE,
        kwargs={"domain": _domain},
    )
