"""What is inspected now: the policies, the figure with its selected values, and the state.

Pure, no Streamlit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from fsdash.dashboard.inspector.state import Origin, PolicyHistory
from fsdash.figures.policies import InspectedPolicy, PolicyFigure, Versus


@dataclass(frozen=True, eq=False)
class ComparedPolicy:
    """The second policy B, for the same model as A, with its values in the URL.

    `phase` fixes its phase; otherwise it is in the phase that it has at the same time as A.
    """

    title: str
    inspected: InspectedPolicy
    url_values: dict[str, object]
    origin: Origin
    phase: int | None = None


@dataclass(frozen=True)
class ShownState:
    """The state whose details are shown, and why it was chosen."""

    x: int
    y: int
    heading: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """Policy A at a step of its history, maybe a policy B, and a figure of one or both.

    `estimate_XY` are the algorithm's own values. `together` is whether one figure shows all that
    is compared; otherwise the figure is drawn for A and for B.
    """

    history: PolicyHistory
    step: int
    inspected: InspectedPolicy
    estimate_XY: np.ndarray
    compared: ComparedPolicy | None
    versus: Versus | None
    policy_figure: PolicyFigure
    together: bool
    selected: dict
    figure: go.Figure

    @property
    def phase(self) -> int:
        """The selected phase of A."""
        return int(self.selected.get("phase", 0))

    @property
    def judge(self) -> str:
        """Whose values decide which action is better."""
        return self.selected.get("judge", "optimal")

    @property
    def policies(self) -> dict[str, tuple[InspectedPolicy, int]]:
        """The policies and their phases by name: A and B, or just one."""
        if self.versus is None:
            return {"policy": (self.inspected, self.phase)}
        p, q = self.versus.phases(self.phase)
        return {"A": (self.versus.first, p), "B": (self.versus.second, q)}

    @property
    def most_phases(self) -> tuple[str, tuple[str, ...]]:
        """The policy with the most phases: its name, and theirs."""
        phases = {who: policy.phases for who, (policy, _) in self.policies.items()}
        return max(phases.items(), key=lambda item: len(item[1]))
