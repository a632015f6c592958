"""The results of a reproduction, written into a folder.

NAME.csv               the tidy rows of each experiment
NAME-work.csv          the work of each method to reach 75%, 90% and 95% of the optimum
FIGURE.html|png|svg    the figures
claims.csv, claims.md  each claim with its rule, the measured values and the verdict
findings.csv           the measured values as numbers, one row per part of a claim
about.json             date, versions, and the hash of every specification
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

from fsdash.domains import make
from fsdash.figures.learning import learning_figure
from fsdash.reproduce import theory_figures
from fsdash.reproduce.claims import numerical_claims, theory_claims
from fsdash.reproduce.experiments import EXACT, FigureSpec, PaperExperiment
from fsdash.reproduce.figure_files import Renderer, titled
from fsdash.reproduce.judging import ExperimentCurves, Verdict, claims_table, findings_table, judge
from fsdash.runs.columns import NAMES
from fsdash.runs.local import Ending
from fsdash.runs.measures import LOWEST, lowest_return
from fsdash.runs.summary import work_to_reach
from fsdash.version import __version__

QUICK = "Quick run: fewer replications and a quarter of the budget. Too short for verdicts."
PACKAGES = ("numpy", "numba", "pandas", "scikit-learn")
COLUMNS = [*NAMES, "variant"]

Results = Mapping[str, tuple[PaperExperiment, pd.DataFrame]]
"""The experiment and its rows, by domain."""


def verdicts(results: Results, with_theory: bool) -> list[Verdict]:
    """The verdicts on all claims that these results can decide."""
    found = judge(theory_claims(), {}) if with_theory else []
    if not results:
        return found
    evidence = {
        domain: ExperimentCurves.of(frame, plan.sweep, plan.budget)
        for domain, (plan, frame) in results.items()
    }
    return found + judge([c for c in numerical_claims() if c.needs], evidence)


def write_report(
    folder: Path, results: Results, with_theory: bool, endings: Sequence[Ending], quick: bool
) -> tuple[list[Verdict], str]:
    """Write everything; return the verdicts and a line about figures that could not be drawn."""
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
    """Write the tables without the figures. The archive consists of these."""
    for domain, (plan, frame) in results.items():
        frame[COLUMNS].to_csv(folder / f"{domain}.csv", index=False)
        _work(plan, frame).to_csv(folder / f"{domain}-work.csv", index=False, float_format="%.4g")
    if with_theory:
        for name, table in theory_figures.tables().items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    claims_table(judged).to_csv(folder / "claims.csv", index=False)
    findings_table(judged).to_csv(folder / "findings.csv", index=False, float_format="%.4g")
    path = folder / "about.json"
    about = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for domain, (plan, _) in results.items():
        # An experiment that was read from the archive keeps its old entry.
        if own := [e for e in endings if e.spec.domain == domain]:
            about[domain] = _about(plan, own)
    path.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def _work(plan: PaperExperiment, frame: pd.DataFrame) -> pd.DataFrame:
    sampled = frame[~frame["algorithm"].isin(EXACT)]
    return work_to_reach(sampled, x="sweeps", sweep=plan.sweep, stationary=True)


def _is_theory(name: str) -> bool:
    return name in (*theory_figures.PANELS, "regret-cost")


def _figures(results: Results, with_theory: bool) -> list[tuple[str, str, go.Figure]]:
    figures = []
    if with_theory:
        figures += [
            (name, title, figure) for name, (title, figure) in theory_figures.figures().items()
        ]
    for plan, frame in results.values():
        figures += [(spec.name, spec.title, figure_of(plan, spec, frame)) for spec in plan.figures]
    return figures


def figure_of(
    plan: PaperExperiment, spec: FigureSpec, frame: pd.DataFrame, dark: bool = False
) -> go.Figure:
    """Draw one figure of the experiment."""
    sweep = plan.exact_sweep if spec.exact else plan.sweep
    rows = frame[frame["algorithm"].isin(spec.algorithms)]
    rows = rows.assign(**{LOWEST: lowest_return(make(plan.domain))})
    if spec.last is not None:
        rows = rows[rows["evaluations"] <= spec.last * sweep]
    return learning_figure(
        rows,
        sweep=sweep,
        sweep_of="VI" if spec.exact else plan.sweep_of,
        stationary=spec.stationary,
        dark=dark,
    )


def claims_text(judged: Sequence[Verdict], quick: bool) -> str:
    """The claims as a Markdown document."""
    lines = ["# The paper's claims and their verdicts", ""]
    if quick:
        lines += [f"**{QUICK}**", ""]
    counts = pd.Series([v.verdict for v in judged]).value_counts()
    lines += [", ".join(f"{n} {name}" for name, n in counts.items()) + ".", ""]
    lines += ["| claim | verdict | measured: mean [95% interval] |", "|---|---|---|"]
    for v in judged:
        measured = "<br>".join(_cell(f.text) for f in v.findings)
        lines.append(f"| {_cell(v.claim.claim)} | **{v.verdict}** | {measured} |")
    lines += ["", "## The rules", ""]
    lines += [
        "The rules were written in code before the runs. Remarks say where one was extended later.",
        "",
    ]
    for v in judged:
        c = v.claim
        lines.append(f"- **{c.name}** ({c.where}). {c.rule} {c.remark}".strip())
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _about(plan: PaperExperiment, endings: Sequence[Ending]) -> dict:
    """When and with which versions an experiment was run, and how each of its runs ended."""
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
