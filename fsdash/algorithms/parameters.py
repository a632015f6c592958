"""The parameters of the algorithms in the registry."""

from __future__ import annotations

from fsdash.algorithms.architecture import FEATURES
from fsdash.algorithms.fsfvi import EXTRACT, LOWER_POLICY
from fsdash.algorithms.terminal import TERMINALS
from fsdash.fields import Field
from fsdash.sampling import TIES as TIE_RULES
from fsdash.sampling.options import MAX_SAMPLES

MAX_SNAPSHOTS = 100
MAX_STATES = 100_000_000


def samples(default: int, label: str, help: str) -> Field:
    return Field(default, help, 1, MAX_SAMPLES, label=label)


M = samples(50, "Samples M", "Samples of the next state for each state and action.")
M_L = samples(
    1,
    "Lower-level samples M_l",
    "Samples of the next state in the lower level; 1 is exact if y has no noise while x is frozen.",
)
M_U = samples(
    50, "Upper-level samples M_u", "Sampled paths of T periods for each state and action."
)
PER_SWEEP = Field(
    3,
    "How many policies are recorded in each sweep.",
    1,
    MAX_SNAPSHOTS,
    label="Snapshots per sweep",
)
COMMON = Field(
    False,
    "Use the same random numbers for all actions of a state.",
    label="Common random numbers",
)
CENTRE = Field(
    False,
    "Centre values within each slow state before they are sampled. This removes noise and changes "
    "no greedy action in expectation; the slow state must be exogenous.",
    label="Centre by slow state",
)
TIES = Field(
    "random",
    "Which of several equally good actions is taken: the first, or one at random.",
    choices=TIE_RULES,
    label="Ties",
)
TERMINAL = Field(
    "zero",
    "Value at the end of a block in the lower level: zero, as in the paper; last, the values of a "
    "first backward induction; or reward, the best reward of the state for ever. The last two add "
    "an evaluation of the lower policy.",
    choices=TERMINALS,
    label="Terminal value",
)
COUNT_ACTIONS = Field(
    False,
    "Count the maximum over next actions as |A| evaluations instead of one.",
    label="Count each action",
)
N = Field(
    None,
    "States sampled in each iteration; one tenth of all states by default.",
    1,
    MAX_STATES,
    kind="int",
    optional=True,
    label="Sampled states N",
)
DEEP = {
    "learning_rate": Field(0.01, "Step size of Adam.", 1e-9, 1e3, label="Learning rate"),
    "epochs": Field(20, "Passes through the sampled states in one fit.", 1, 1e6, label="Epochs"),
    "batch_size": Field(
        None,
        "States in one step of Adam; 1/25 of the sampled states by default.",
        1,
        MAX_STATES,
        kind="int",
        optional=True,
        label="Batch size",
    ),
    "warm_start": Field(
        False, "Start from the weights of the previous iteration.", label="Warm start"
    ),
    "scale_targets": Field(True, "Standardise the targets before each fit.", label="Scale targets"),
    "scale_features": Field(
        False, "Standardise the features before each fit.", label="Scale features"
    ),
}
THAW = {
    "M": samples(10, "Samples M", "Samples for each state and action in one correction."),
    "draws": samples(
        200, "First draws", "Draws of x' from each slow state for the first estimate of its kernel."
    ),
}
EXTRACTION = Field(
    "fresh",
    "How the upper policy is computed: fresh, from new paths for each recorded policy; kept, from "
    "one stored set of paths; or exact, from the exact expectation.",
    choices=EXTRACT,
    label="Policy extraction",
)
LOWER = Field(
    "full",
    "Next states from which the lower policy is computed: full, in which the slow state moves, as "
    "in the paper; or frozen, in which it stays where it is.",
    choices=LOWER_POLICY,
    label="Lower policy",
)
ARCHITECTURE = {
    "features": Field(
        "aggregation",
        "Features of the linear architecture: aggregation, indicators of cells of neighbouring "
        "states; or polynomial, products of powers of the coordinates.",
        choices=FEATURES,
        label="Features",
    ),
    "slow_cells": Field(
        4,
        "For aggregation: cells for each coordinate of the slow state.",
        1,
        MAX_STATES,
        label="Slow cells",
    ),
    "fast_cells": Field(
        10,
        "For aggregation: cells for each coordinate of the fast state.",
        1,
        MAX_STATES,
        label="Fast cells",
    ),
    "degree": Field(
        1,
        "For polynomials: largest power of each coordinate. κ exceeds 1 from degree 2 on, and "
        "FSAVI needs κγ < 1.",
        0,
        20,
        label="Degree",
    ),
}
MPI = {
    "m": Field(
        400,
        "Largest number of evaluation sweeps between two improvements.",
        0,
        1e6,
        label="Evaluation sweeps m",
    ),
    "enough": Field(
        0.1,
        "Stop the evaluation sweeps when the policy's residual is this share of the greedy "
        "residual.",
        0,
        1,
        label="Residual share",
    ),
}
