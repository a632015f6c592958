"""The results of a reproduction in a folder.

NAME.csv               the rows of each experiment, tidy
NAME-work.csv          the work of each method to 75%, 90% and 95% of the optimum
FIGURE.html|png|svg    the figures
claims.csv, claims.md  each claim with its rule, what was measured, and the verdict
findings.csv           the measured values as numbers, one part of a claim a line
about.json             when, with what, and the hash of every specification
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from fsdash.figures.learning import learning_figure
from fsdash.reproduce import theory
from fsdash.reproduce.claims import numerical_claims
from fsdash.reproduce.experiments import EXACT, Experiment, FigureSpec
from fsdash.reproduce.judging import Curves, Verdict, claims_table, findings_table, judge
from fsdash.reproduce.pictures import Renderer, titled
from fsdash.runs.columns import NAMES
from fsdash.runs.local import Ending
from fsdash.runs.summary import work_to_reach
from fsdash.version import __version__

QUICK = "Quick run: fewer replications and a quarter of the budget. Not meant to judge by."
PACKAGES = ("numpy", "numba", "pandas", "scikit-learn")
KEPT = [*NAMES, "variant"]

Results = Mapping[str, tuple[Experiment, pd.DataFrame]]
"""By domain: the plan and its rows."""


def verdicts(results: Results, with_theory: bool) -> list[Verdict]:
    """All claims that can be judged on these results."""
    found = judge(theory.claims(), {}) if with_theory else []
    if not results:
        return found
    evidence = {
        domain: Curves.of(frame, plan.sweep, plan.budget)
        for domain, (plan, frame) in results.items()
    }
    return found + judge([c for c in numerical_claims() if c.needs], evidence)


def write_report(
    folder: Path, results: Results, with_theory: bool, endings: Sequence[Ending], quick: bool
) -> tuple[list[Verdict], str]:
    """Write everything; the verdicts, and a line about figures that could not be drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    judged = verdicts(results, with_theory)
    write_data(folder, results, with_theory, judged, endings)
    (folder / "claims.md").write_text(claims_text(judged, quick), "utf-8")
    with Renderer() as renderer:
        for name, title, figure in _figures(results, with_theory):
            marked = f"{title} (quick run)" if quick and not _is_theory(name) else title
            renderer.save(titled(figure, marked), folder, name)
    return judged, renderer.missing


def write_data(
    folder: Path,
    results: Results,
    with_theory: bool,
    judged: Sequence[Verdict],
    endings: Sequence[Ending],
) -> None:
    """The tables, without the figures: also what is kept with the project."""
    for domain, (plan, frame) in results.items():
        frame[KEPT].to_csv(folder / f"{domain}.csv", index=False)
        _work(plan, frame).to_csv(folder / f"{domain}-work.csv", index=False, float_format="%.4g")
    if with_theory:
        for name, table in theory.tables().items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    claims_table(judged).to_csv(folder / "claims.csv", index=False)
    findings_table(judged).to_csv(folder / "findings.csv", index=False, float_format="%.4g")
    path = folder / "about.json"
    about = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for domain, (plan, _) in results.items():
        # An experiment that was only read, not carried out, keeps what is said of it.
        if mine := [e for e in endings if e.spec.domain == domain]:
            about[domain] = _about(plan, mine)
    path.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def _work(plan: Experiment, frame: pd.DataFrame) -> pd.DataFrame:
    sampled = frame[~frame["algorithm"].isin(EXACT)]
    return work_to_reach(sampled, x="sweeps", sweep=plan.sweep, stationary=True)


def _is_theory(name: str) -> bool:
    return name in (*theory.PANELS, "regret-cost")


def _figures(results: Results, with_theory: bool) -> list[tuple[str, str, go.Figure]]:
    drawn = []
    if with_theory:
        drawn += [(name, title, figure) for name, (title, figure) in theory.figures().items()]
    for plan, frame in results.values():
        drawn += [(view.name, view.title, figure_of(plan, view, frame)) for view in plan.views]
    return drawn


def figure_of(
    plan: Experiment, view: FigureSpec, frame: pd.DataFrame, dark: bool = False
) -> go.Figure:
    """One of the experiment's figures."""
    sweep = plan.exact_sweep if view.exact else plan.sweep
    rows = frame[frame["algorithm"].isin(view.algorithms)]
    if view.last is not None:
        rows = rows[rows["evaluations"] <= view.last * sweep]
    return learning_figure(
        rows,
        sweep=sweep,
        sweep_of="VI" if view.exact else plan.sweep_of,
        stationary=view.stationary,
        dark=dark,
    )


def claims_text(judged: Sequence[Verdict], quick: bool) -> str:
    """The claims as a Markdown document."""
    lines = ["# The paper's claims, and what came out", ""]
    if quick:
        lines += [f"**{QUICK}**", ""]
    counts = pd.Series([v.verdict for v in judged]).value_counts()
    lines += [", ".join(f"{n} {name}" for name, n in counts.items()) + ".", ""]
    lines += ["| claim | verdict | measured: mean [95% interval] |", "|---|---|---|"]
    for v in judged:
        measured = "<br>".join(_cell(f.text) for f in v.findings)
        lines.append(f"| {_cell(v.claim.claim)} | **{v.verdict}** | {measured} |")
    lines += ["", "## The rules", ""]
    lines += ["Written in code before the runs; where a reading was added later, it is said.", ""]
    for v in judged:
        c = v.claim
        lines.append(f"- **{c.name}** ({c.where}). {c.rule} {c.remark}".strip())
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _about(plan: Experiment, endings: Sequence[Ending]) -> dict:
    """When and with what an experiment was made, and how each of its runs ended."""
    ended: dict[str, set[str]] = {}
    for ending in endings:
        ended.setdefault(ending.spec.hash, set()).add(ending.outcome.status)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "quick": plan.quick,
        "fsdash": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "algorithm_seconds": round(sum(e.outcome.algorithm_seconds for e in endings), 1),
        "evaluation_seconds": round(sum(e.outcome.evaluation_seconds for e in endings), 1),
        "runs": [
            {
                "hash": run.spec.hash,
                "run": ", ".join(filter(None, (run.spec.label, run.variant))),
                "budget": "{1:,} {0}".format(*run.spec.budget),
                "replications": run.spec.replications,
                "seed": run.spec.seed,
                "ended": sorted(ended.get(run.spec.hash, ())),
            }
            for run in plan.runs
        ],
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except ModuleNotFoundError:
        return ""
