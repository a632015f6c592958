"""The dashboard's figures for your own results, as Plotly figures.

>>> import fsdash
>>> model = fsdash.make("inventory").build()
>>> figure = fsdash.plot.frontier(fsdash.frontier(model, [2, 6]))

In a notebook a figure shows itself; elsewhere use `figure.show()` or `figure.write_html(path)`.
Plotly is needed (`pip install "fsdash[dashboard]"`), but not before a figure is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fsdash.domains import Domain
from fsdash.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from fsdash.choice.frontier import Frontier
    from fsdash.core.model import FastSlowMDP


def learning_curves(frame: pd.DataFrame, x: str = "evaluations", **options: Any) -> go.Figure:
    """Learning curves: the quality of the policies against the work, as in the Run lab.

    Parameters
    ----------
    frame : pd.DataFrame
        The rows of `run_all`.
    x : {"evaluations", "sweeps", "seconds"}
        The unit of work. For "sweeps" also give `sweep`, the evaluations of one sweep.
    **options
        Of `fsdash.figures.learning.learning_figure`: `y`, the column to draw; `log_x`; `runs`, to
        add the replications as faint lines; `lower_policies`; `optimum`.

    Returns
    -------
    go.Figure
        The mean of each method in its 95% band.

    Examples
    --------
    >>> import fsdash
    >>> spec = fsdash.RunSpec("inventory", "e-fsvi", T=3, replications=2, iterations=1)
    >>> frame, endings = fsdash.run_all([spec])
    >>> figure = fsdash.plot.learning_curves(frame, runs=True)
    >>> figure.layout.xaxis.title.text
    'value-function evaluations'
    """
    from fsdash.figures.learning import learning_figure

    return learning_figure(frame, x, **options)


def frontier(
    measured: Frontier,
    T: Sequence[int] | None = None,
    *,
    budget: float = 0.0,
    measure: str = "mean_regret",
    certificates: bool = True,
) -> go.Figure:
    """Regret against work for every method and T, with the Pareto front, as on Choose T.

    Parameters
    ----------
    measured : Frontier
        The result of `fsdash.frontier`.
    T : sequence of int, optional
        The curves of FSVI; those of all measured T by default.
    budget : float
        Work in sweeps of Base VI, drawn as a line with its best point; none by default.
    measure : {"mean_regret", "max_regret"}
        The regret to draw.
    certificates : bool
        Whether to add the band from the front up to its certificate.

    Returns
    -------
    go.Figure
        The frontier, with the best method for each budget below it.

    Examples
    --------
    >>> import fsdash
    >>> measured = fsdash.frontier(fsdash.make("inventory").build(), [2, 6])
    >>> figure = fsdash.plot.frontier(measured, budget=8)
    >>> [trace.name for trace in figure.data if (trace.name or "").startswith("T")]
    ['T = 2', 'T = 6']
    """
    from fsdash.figures.frontier import frontier_figure

    if T is None:
        points = measured.points
        T = sorted(points.loc[points["method"] == "fsvi", "T"].unique().tolist())
    return frontier_figure(measured, T, budget, measure, certificates=certificates)


def policy(
    model: FastSlowMDP | Domain, policy: Any, *, figure: str | None = None, **selectors: Any
) -> go.Figure:
    """A policy as a figure of the Policy inspector.

    Parameters
    ----------
    model : FastSlowMDP or Domain
        The model of the policy. A domain has figures of its own, such as order-up-to levels.
    policy : np.ndarray, Snapshot or Optimum
        Action indices, shape (X, Y) or (P, X, Y), or a result that has them as `policy_PXY`.
    figure : str, optional
        The name of the figure; the first one by default. An unknown name raises an error that lists
        the names for this model.
    **selectors
        What the figure shows, such as `phase=1`, by the names of its selectors.

    Returns
    -------
    go.Figure
        The figure.

    Examples
    --------
    >>> import fsdash
    >>> domain = fsdash.make("inventory")
    >>> last = fsdash.run_until(fsdash.fsvi(domain.build(), T=3), tolerance=1e-3)
    >>> orders = fsdash.plot.policy(domain, last, phase=1)
    >>> map_of_actions = fsdash.plot.policy(domain.build(), last)
    """
    from fsdash.figures.policies import InspectedPolicy, policy_figures

    domain = model if isinstance(model, Domain) else None
    built = model.build() if isinstance(model, Domain) else model
    actions = getattr(policy, "policy_PXY", policy)
    figures = {f.name: f for f in policy_figures(InspectedPolicy(built, actions, domain))}
    name = next(iter(figures)) if figure is None else figure
    if name not in figures:
        raise InputError(f"figure = {figure!r}: choose from {', '.join(figures)}")
    return figures[name].figure(**selectors)
