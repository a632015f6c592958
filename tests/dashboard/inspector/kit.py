"""What the heat maps of the inspector should hold."""

import numpy as np
from streamlit.testing.v1 import AppTest

from fsdash.choice.solved import solved_domain
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec
from tests.dashboard.kit import figures

PAGE = "7_Policy_inspector.py"


def records(spec: RunSpec, replication: int = 0) -> list:
    found = []
    execute(spec, replication, found.append)
    return found


def heat(test: AppTest, key: str) -> np.ndarray:
    """The numbers of a figure's first heat map."""
    return np.asarray(figures(test)[key]["data"][0]["z"], float).ravel()


def orders(spec: RunSpec, policy_PXY: np.ndarray, phase: int = 0) -> np.ndarray:
    """What the heat map of orders should hold: demand up, stock across."""
    model = solved_domain(spec.build_domain()).model
    return model.actions.values[policy_PXY[phase], 0].ravel()
