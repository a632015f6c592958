"""The results of a reproduction, written into a folder.

NAME.csv               the tidy rows of each experiment
NAME-work.csv          the work of each method to reach 75%, 90% and 95% of the optimum
FIGURE.html|png|svg    the figures
claims.csv, claims.md  each claim with its rule, the measured values and the verdict
findings.csv           the measured values as numbers, one row per part of a claim
sensitivity.csv        the verdict on each claim for every count, tie rule and share of the budget
seeds.csv              the verdict on each claim for five seeds (archive only)
seed-rows.csv.gz       the tidy rows of these seeds but the first (archive only)
constants.csv          the verdicts on the inventory for other costs (archive only)
samples.csv            Base E-VI with more samples and with common random numbers
budgets.csv            methods beyond the paper at fixed budgets
certificates.csv       the certified and the true regret of FSVI
about.json             date, versions, and the hash of every specification
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from fsdash.domains import make
from fsdash.figures.budgets import budgets_figure
from fsdash.figures.learning import learning_figure
from fsdash.figures.samples import samples_figure
from fsdash.reproduce import theory_figures
from fsdash.reproduce.budgets import evidence as budget_evidence
from fsdash.reproduce.claims import numerical_claims, theory_claims
from fsdash.reproduce.curves import ExperimentCurves
from fsdash.reproduce.experiments import EXACT, FigureSpec, PaperExperiment
from fsdash.reproduce.figure_files import Renderer, titled
from fsdash.reproduce.judging import Verdict, claims_table, findings_table, judge
from fsdash.reproduce.robustness import ROW_COLUMNS, seeds_table
from fsdash.reproduce.samples import samples_table
from fsdash.reproduce.settings import Setting, all_settings, rows_for
from fsdash.runs.columns import NAMES
from fsdash.runs.measures import LOWEST, REGRET, RELATIVE, lowest_return
from fsdash.runs.runner import Ending
from fsdash.runs.summary import work_to_reach
from fsdash.version import __version__

QUICK = "Quick run: fewer replications and a quarter of the budget. Too short for verdicts."
SAMPLES = "Base E-VI with more samples and with common random numbers"
PACKAGES = ("numpy", "numba", "pandas", "scikit-learn")
RULES_ORIGIN = (
    "Most rules were written in code before the first full run; the text of a rule says where it "
    "was changed after results were known. The correction for the number of tests was added "
    "later. A verdict that such a change decided is followed by the one by the first rule."
)
COLUMNS = [*(name for name in NAMES if name not in (REGRET, RELATIVE)), "variant", "ties"]
"""The columns of NAME.csv. Regret is left out: the optima are positive, so the share says it."""

Results = Mapping[str, tuple[PaperExperiment, pd.DataFrame]]
"""The experiment and its rows, by domain."""
Budgets = tuple[pd.DataFrame, pd.DataFrame]
"""The shares of methods at fixed budgets, and certificates."""


def verdicts(
    results: Results,
    with_theory: bool,
    setting: Setting | None = None,
    budgets: Budgets | None = None,
) -> list[Verdict]:
    """The verdicts on all claims that these results can decide, read as the setting says."""
    setting = setting or Setting()
    found = judge(theory_claims(), {}) if with_theory else []
    evidence = {
        domain: ExperimentCurves.of(plan, frame, setting)
        for domain, (plan, frame) in results.items()
    }
    if budgets is not None:
        evidence |= budget_evidence(*budgets)
    return found + judge([c for c in numerical_claims() if c.needs], evidence, setting.share)


def sensitivity(results: Results) -> pd.DataFrame:
    """The verdict on each numerical claim in every setting, one row each."""
    columns = ["name", *(field.name for field in fields(Setting)), "verdict"]
    return pd.DataFrame(
        [
            (v.claim.name, *astuple(setting), v.verdict)
            for setting in all_settings()
            for v in verdicts(results, False, setting)
        ],
        columns=columns,
    )


def write_report(
    folder: Path,
    results: Results,
    with_theory: bool,
    endings: Sequence[Ending],
    quick: bool,
    setting: Setting,
    budgets: Budgets | None = None,
) -> tuple[list[Verdict], str]:
    """Write everything; return the verdicts and a line about figures that could not be drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    judged = verdicts(results, with_theory, setting, budgets)
    write_data(folder, results, with_theory, judged, endings)
    if budgets is not None:
        write_budgets(folder, budgets)
    (folder / "claims.md").write_text(claims_text(judged, quick), "utf-8")
    with Renderer() as renderer:
        for name, title, figure in _figures(results, with_theory, setting, budgets):
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
        frame[COLUMNS].to_csv(folder / f"{domain}.csv", index=False, float_format="%.10g")
        work_table(plan, frame).to_csv(
            folder / f"{domain}-work.csv", index=False, float_format="%.4g"
        )
    if with_theory:
        for name, table in theory_figures.tables().items():
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    if results:
        sensitivity(results).to_csv(folder / "sensitivity.csv", index=False)
        samples_table(results).to_csv(folder / "samples.csv", index=False, float_format="%.4g")
    claims_table(judged).to_csv(folder / "claims.csv", index=False)
    findings_table(judged).to_csv(folder / "findings.csv", index=False, float_format="%.4g")
    path = folder / "about.json"
    about = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for domain, (plan, _) in results.items():
        # An experiment that was read from the archive keeps its old entry.
        if own := [e for e in endings if e.spec.domain == domain]:
            about[domain] = _about(plan, own)
    path.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def write_seeds(folder: Path, results: Results, seed_rows: pd.DataFrame) -> None:
    """Write the rows of other seeds, and the verdicts for every seed."""
    path = folder / "seed-rows.csv.gz"
    gzip = {"method": "gzip", "mtime": 0}
    seed_rows[ROW_COLUMNS].to_csv(path, index=False, float_format="%.10g", compression=gzip)
    first = {domain: rows_for(frame, Setting()) for domain, (_, frame) in results.items()}
    seeds_table(first, seed_rows).to_csv(folder / "seeds.csv", index=False)


def write_budgets(folder: Path, budgets: Budgets) -> None:
    """Write the shares at budgets, and the certificates."""
    for name, frame in zip(("budgets", "certificates"), budgets, strict=True):
        frame.to_csv(folder / f"{name}.csv", index=False)


def work_table(
    plan: PaperExperiment, frame: pd.DataFrame, setting: Setting | None = None
) -> pd.DataFrame:
    """The work of each of the paper's methods to reach 75%, 90% and 95% of the optimum."""
    rows = rows_for(frame, setting or Setting())
    rows = rows[~rows["algorithm"].isin(EXACT) & (rows["variant"] == "")]
    most = rows["algorithm"].map(lambda name: plan.length(name, "")) * plan.sweep
    within = rows[rows["evaluations"] <= most]
    return work_to_reach(within, x="sweeps", sweep=plan.sweep, lower_policies=("stationary",))


def _is_theory(name: str) -> bool:
    return name in (*theory_figures.PANELS, "regret-cost")


def _figures(
    results: Results, with_theory: bool, setting: Setting, budgets: Budgets | None
) -> list[tuple[str, str, go.Figure]]:
    figures = []
    if with_theory:
        figures += [
            (name, title, figure) for name, (title, figure) in theory_figures.figures().items()
        ]
    for plan, frame in results.values():
        figures += [
            (spec.name, spec.title, figure_of(plan, spec, frame, setting=setting))
            for spec in plan.figures
        ]
    if len(samples := samples_table(results)):
        figures.append(("samples", SAMPLES, samples_figure(samples)))
    if budgets is not None:
        figures += [
            (f"{domain}-budgets", f"{make(domain).title}: methods at budgets", budgets_figure(rows))
            for domain, rows in budgets[0].groupby("domain", sort=False)
        ]
    return figures


def figure_of(
    plan: PaperExperiment,
    spec: FigureSpec,
    frame: pd.DataFrame,
    setting: Setting | None = None,
) -> go.Figure:
    """Draw one figure of the experiment, with the work of the setting."""
    setting = setting or Setting()
    sweep = plan.exact_sweep if spec.exact else plan.sweep
    rows = rows_for(frame, setting)
    rows = rows[rows["algorithm"].isin(spec.algorithms) & rows["variant"].isin(spec.variants)]
    rows = rows.assign(**{LOWEST: lowest_return(make(plan.domain))})
    if spec.last is not None:
        rows = rows[rows["evaluations"] <= spec.last * (setting.share or 1.0) * sweep]
    return learning_figure(
        rows,
        sweep=sweep,
        sweep_of="VI" if spec.exact else "Base E-VI",
        lower_policies=("stationary",) if spec.stationary else (),
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
        lines.append(f"| {_cell(v.claim.claim)} | {verdict_text(v)} | {measured} |")
    lines += ["", "## The rules", ""]
    lines += [RULES_ORIGIN, ""]
    for v in judged:
        c = v.claim
        quotation = f"> {c.quotation} " if c.quotation else ""
        changed = c.first_rule.changed if c.first_rule else ""
        text = " ".join(filter(None, (c.rule, c.remark, changed)))
        lines += [f"**{c.name}** ({c.where}).", "", *filter(None, [quotation]), "", text, ""]
    return "\n".join(lines) + "\n"


def verdict_text(v: Verdict) -> str:
    """The verdict in Markdown with its number of parts, and the first one if it was another."""
    first = f"; by the first rule: {v.first_verdict}" if v.first_verdict != v.verdict else ""
    if not v.first_verdict:
        first = "; no rule before the results"
    return f"**{v.verdict}** ({v.clear_parts} of {v.parts} parts{first})"


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
