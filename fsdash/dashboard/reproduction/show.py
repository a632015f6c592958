"""What the Reproduction page draws: a part of the paper with its figures, and claims as cards."""

import json

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fsdash.dashboard.reproduction import state as reproduction
from fsdash.dashboard.reproduction.state import MARKS, PARTS, THEORY
from fsdash.dashboard.shell import ROOT, is_dark
from fsdash.dashboard.widgets.chart import chart
from fsdash.dashboard.widgets.export import export
from fsdash.dashboard.widgets.url_state import BIND
from fsdash.errors import InputError
from fsdash.reproduce import archive as kept
from fsdash.reproduce import theory
from fsdash.reproduce.archive import about, kept_rows, kept_work
from fsdash.reproduce.experiments import experiment
from fsdash.reproduce.report import figure_of

LAB = "pages/4_Run_lab.py"


@st.cache_data(max_entries=2, show_spinner=False)
def _theory(dark: bool) -> dict[str, tuple[str, go.Figure]]:
    return theory.figures(dark)


@st.cache_data(max_entries=40, show_spinner="Drawing …")
def _numerical(folder: str, domain: str, name: str, dark: bool) -> go.Figure:
    plan = experiment(domain)
    [view] = [view for view in plan.views if view.name == name]
    return figure_of(plan, view, kept_rows(domain), dark)


def figure_and_rows(part: str, name: str, dark: bool) -> tuple[go.Figure, pd.DataFrame]:
    """A figure by its name, with the table it is drawn from."""
    if part == THEORY:
        return _theory(dark)[name][1], theory.tables()[reproduction.theory_table(name)]
    return _numerical(str(kept.FOLDER), part, name, dark), kept_rows(part)


def draw_part(part: str, claims: pd.DataFrame, findings: pd.DataFrame) -> None:
    """A part of the paper: one of its figures, how it was made, and the claims about it."""
    st.subheader(PARTS[part], anchor=False, divider="gray")
    known = reproduction.labels(part)
    label = st.pills(
        "Figure",
        list(known),
        default=next(iter(known)),
        required=True,
        key=f"figure-{part}",
        bind=BIND,
        label_visibility="collapsed",
        wrap=True,
    )
    name = known[label]
    left, right = st.columns([6, 5], gap="large")
    with left:
        figure, rows = figure_and_rows(part, name, is_dark())
        chart(figure, name, alt_text=f"{PARTS[part]}: {label}.", height=440)
        draw_origin(part)
        export(name, figure, rows, reproduction.snippet(part, name))
        if part != THEORY:
            draw_work(part)
    with right:
        draw_claims(claims, findings)


def draw_origin(part: str) -> None:
    """When and with what it was computed, and a way to do it again."""
    if part == THEORY:
        st.caption("Computed from the formulas as the page opens; nothing in it is random.")
        return
    st.caption(reproduction.made_told(about()[part]))
    if (ROOT / LAB).exists():
        st.page_link(
            LAB,
            label="Run this again in the lab",
            icon=":material/experiment:",
            query_params={"preset": f"paper-{part}"},
        )


def draw_work(domain: str) -> None:
    """The work of each method to three shares of the optimum."""
    with st.expander("Work to 75%, 90% and 95% of the optimum", key=f"work-{domain}"):
        frame = kept_work(domain)
        number = st.column_config.NumberColumn
        shown = {"method": "method"} | {f"work_{level}": f"{level}%" for level in (75, 90, 95)}
        st.dataframe(
            frame[[*shown, "final"]],
            hide_index=True,
            height="content",
            column_config={
                **{
                    name: number(title, format="%.3g")
                    for name, title in shown.items()
                    if name != "method"
                },
                "final": number("at the end", format="percent"),
            },
        )
        st.caption("In sweeps; empty where no replication gets there.")


def draw_claims(claims: pd.DataFrame, findings: pd.DataFrame) -> None:
    """Each claim as a line that unfolds to its evidence."""
    if claims.empty:
        st.caption("No claim with the chosen verdicts.")
    for claim in claims.to_dict("records"):
        where = f"{PARTS[claim['part']]}. " if claim["beyond"] else ""
        mark = MARKS[claim["verdict"]].text(claim["beyond"])
        with st.expander(f"{mark} · {where}{claim['claim']}", key=f"claim-{claim['name']}"):
            st.markdown(f"**Judged by:** {claim['rule']}")
            st.markdown("**Measured**, mean and 95% interval:")
            st.markdown(reproduction.measured(findings, claim["name"]))
            if claim["remark"]:
                st.markdown(claim["remark"])
            many = claim["replications"]
            told = f"{many} replications" if many > 1 else "nothing random in it"
            st.caption(f"{claim['where'][0].upper()}{claim['where'][1:]}; {told}.")


def draw_downloads(claims: pd.DataFrame, findings: pd.DataFrame) -> None:
    """All tables behind the page."""
    st.subheader("All of it as files", anchor=False)
    files = {
        "Claims, CSV": ("claims.csv", lambda: claims.to_csv(index=False)),
        "Measured values, CSV": ("findings.csv", lambda: findings.to_csv(index=False)),
    }
    domains = kept.kept_domains()
    for domain in domains:
        name = f"{PARTS[domain]}, CSV"
        files[name] = (f"{domain}.csv", lambda d=domain: kept_rows(d).to_csv(index=False))
    if domains:
        files["How it was made, JSON"] = ("about.json", lambda: json.dumps(about(), indent=1))
    with st.container(horizontal=True, key="files"):
        for label, (file, make) in files.items():
            st.download_button(label, make, file, key=f"file-{file}", on_click="ignore")
    st.caption(
        "`fsdash reproduce` writes the same tables and every figure as HTML, PNG and SVG into a "
        "folder."
    )


def draw_guarded(part: str, claims: pd.DataFrame, findings: pd.DataFrame) -> None:
    try:
        draw_part(part, claims, findings)
    except (InputError, OSError, KeyError) as problem:
        st.error(f"The kept results of {PARTS[part].lower()} cannot be read: {problem}")
