"""Statistics of runs: learning curves with intervals, starting and final values, work to a level.

    curves    which rows make one curve, and its mean along the work axis with 95% intervals
    compare   runs at equal work: values after a common budget, differences of two runs
    table     both as tables: the mean curves; starting value, work to reach a level, final value

A *series* is one curve of a chart: one method, and one kind of policy where a method has several.
While a frozen-state method solves its lower level there are up to three policies: the cyclic one
belongs to the method's own series, `policy` = "own". The stationary one that is greedy for J_t and
the rolling one have series of their own, which are left out unless `lower_policies` names them.
"""

from fsdash.runs.summary.compare import (
    Difference,
    RunCurves,
    Sample,
    common_budget,
    difference,
    run_curves,
)
from fsdash.runs.summary.curves import (
    FEW,
    OWN,
    ROLLING,
    SERIES,
    STATIONARY,
    TWO_GROUPS,
    X_AXES,
    Y_AXES,
    MeanCurve,
    Series,
    caution,
    check_axes,
    interval,
    intervals,
    mean_curves,
    read_at,
    replications,
    t_quantile,
    whole_sweeps,
)
from fsdash.runs.summary.table import (
    LEVELS,
    first_crossing,
    last_tenth,
    lasting_crossing,
    summarise,
    work_to_reach,
)

__all__ = [
    "FEW",
    "LEVELS",
    "OWN",
    "ROLLING",
    "SERIES",
    "STATIONARY",
    "TWO_GROUPS",
    "X_AXES",
    "Y_AXES",
    "Difference",
    "MeanCurve",
    "RunCurves",
    "Sample",
    "Series",
    "caution",
    "check_axes",
    "common_budget",
    "difference",
    "first_crossing",
    "interval",
    "intervals",
    "last_tenth",
    "lasting_crossing",
    "mean_curves",
    "read_at",
    "replications",
    "run_curves",
    "summarise",
    "t_quantile",
    "whole_sweeps",
    "work_to_reach",
]
