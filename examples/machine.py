"""An example of a domain outside the package: a machine that wears in a slowly changing climate.

    FSDASH_DOMAINS=machine:Machine PYTHONPATH=examples fsdash run machine --algorithm e-vi,e-fsvi

Slow state   c, the harshness of the season, 0..4
Fast state   w, the wear of the machine, 0..9
Action       run on, service it (wear −3), replace it (wear 0)
Noise        the season becomes milder, stays, becomes harsher
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fsdash.core.model import Axis, FastSlowMDP
from fsdash.domains.base import Domain, discount, parameter


@dataclass(frozen=True)
class Machine(Domain):
    title: ClassVar[str] = "A machine that wears in a slowly changing climate"
    presets: ClassVar[dict[str, dict]] = {"default": {}, "fragile": {"wear_max": 4}}

    wear_max: int = parameter(
        9, label="Largest wear", help="Wear at which the machine produces nothing.", low=1
    )
    harshest: int = parameter(
        4,
        label="Harshest season",
        help="Harshness of the harshest season; 0 is the mildest.",
        low=0,
    )
    change: float = parameter(
        0.05,
        label="Season changes",
        help="Probability that the season becomes harsher in a period; it becomes milder with the "
        "same probability.",
        low=0,
        high=0.5,
    )
    service_cost: float = parameter(4.0, help="Cost of a service, which removes 3 units of wear.")
    replace_cost: float = parameter(9.0, help="Cost of replacing the machine by a new one.")
    gamma: float = discount(0.99)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_size()

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return self.harshest + 1, self.wear_max + 1, 3, 3

    def build(self) -> FastSlowMDP:
        harshness_X = np.arange(self.harshest + 1)
        wear_Y = np.arange(self.wear_max + 1)
        after_YA = np.stack([wear_Y, np.maximum(wear_Y - 3, 0), np.zeros_like(wear_Y)], axis=1)
        steps_W = np.array([-1, 0, 1])
        next_slow = np.clip(harshness_X[:, None] + steps_W, 0, self.harshest)
        # A harsh season wears faster: one more unit of wear from the middle of the scale on.
        wear_X = 1 + (harshness_X > self.harshest / 2)
        next_fast = np.minimum(after_YA + wear_X[:, None, None], self.wear_max)
        output_Y = 10 * (1 - wear_Y / self.wear_max)
        cost_A = np.array([0, self.service_cost, self.replace_cost])
        reward_XYA = np.broadcast_to(output_Y[:, None] - cost_A, self.shape[:3])
        return FastSlowMDP(
            reward_XYA=reward_XYA,
            noise_W=[self.change, 1 - 2 * self.change, self.change],
            next_slow=next_slow[:, None, None, :],
            next_fast=next_fast[..., None],
            gamma=self.gamma,
            slow=Axis(("harshness",), harshness_X),
            fast=Axis(("wear",), wear_Y),
            actions=Axis(("action",), np.arange(3)),
            name=self.name,
        )
