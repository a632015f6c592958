"""Parameters that several algorithms of the registry share."""

from __future__ import annotations

from fsdash.algorithms.entry import Parameter
from fsdash.algorithms.terminal import TERMINALS
from fsdash.sampling import TIES
from fsdash.sampling.checks import MAX_SAMPLES

MAX_SNAPSHOTS = 100
MAX_STATES = 100_000_000


def samples(default: int, label: str, help: str) -> Parameter:
    return Parameter(default, help, 1, MAX_SAMPLES, label=label, unit="samples")


def ties(default: str) -> Parameter:
    help = "Which of several equally good actions is taken: the first, or one at random."
    return Parameter(default, help, choices=TIES, label="Ties")


M = samples(50, "Samples M", "Samples of the next state for each state and action.")
M_L = samples(
    1,
    "Lower-level samples M_l",
    "Samples of the next state in the lower level; 1 is exact if y has no noise while x is frozen.",
)
M_U = samples(
    50, "Upper-level samples M_u", "Sampled paths of T periods for each state and action."
)
PER_SWEEP = Parameter(
    3,
    "How many policies are recorded in each sweep.",
    1,
    MAX_SNAPSHOTS,
    label="Snapshots per sweep",
)
COMMON = Parameter(
    False,
    "Use the same random numbers for all actions of a state.",
    label="Common random numbers",
)
TERMINAL = Parameter(
    "zero",
    "Value at the end of a block in the lower level: zero, as in the paper; last, the values of a "
    "first backward induction; or reward, the best reward of the state for ever. The last two add "
    "an evaluation of the lower policy.",
    choices=TERMINALS,
    label="Terminal value",
    legacy="zero",
)
COUNT_ACTIONS = Parameter(
    False,
    "Count the maximum over next actions as |A| evaluations instead of one.",
    label="Count each action",
)
N = Parameter(
    None,
    "States sampled in each iteration; one tenth of all states by default.",
    1,
    MAX_STATES,
    kind="int",
    optional=True,
    label="Sampled states N",
    unit="states",
)
DEEP = {
    "learning_rate": Parameter(0.01, "Step size of Adam.", 1e-9, 1e3, label="Learning rate"),
    "epochs": Parameter(
        20, "Passes through the sampled states in one fit.", 1, 1e6, label="Epochs", unit="epochs"
    ),
    "batch_size": Parameter(
        None,
        "States in one step of Adam; 1/25 of the sampled states by default.",
        1,
        MAX_STATES,
        kind="int",
        optional=True,
        label="Batch size",
        unit="states",
    ),
    "warm_start": Parameter(
        False, "Start from the weights of the previous iteration.", label="Warm start"
    ),
    "scale_targets": Parameter(
        True, "Standardise the targets before each fit.", label="Scale targets"
    ),
    "scale_features": Parameter(
        False, "Standardise the features before each fit.", label="Scale features"
    ),
}
