"""A figure of the paper's experiments, drawn from the archived results."""

import plotly.graph_objects as go
import streamlit as st

from fsdash.reproduce import archive
from fsdash.reproduce.experiments import experiment
from fsdash.reproduce.report import figure_of
from fsdash.reproduce.settings import Setting


def paper_figure(domain: str, name: str, setting: Setting | None = None) -> go.Figure:
    """The figure `name` of the paper's experiment on a domain; visitors share it."""
    return _paper_figure(str(archive.FOLDER), domain, name, setting or Setting())


# One object for all visitors, which nobody changes: a copy would be checked by Plotly every time.
@st.cache_resource(max_entries=40, show_spinner="Drawing…")
def _paper_figure(folder: str, domain: str, name: str, setting: Setting) -> go.Figure:
    plan = experiment(domain)
    [spec] = [spec for spec in plan.figures if spec.name == name]
    return figure_of(plan, spec, archive.archived_rows(domain), setting)
