"""Experiments as files, and files as experiments. Pure, without Streamlit."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pandas as pd

from fsdash.dashboard.run_lab.text import EXPORT_EVERYTHING
from fsdash.errors import InputError
from fsdash.formatting import frame_csv
from fsdash.runs.records import Experiment, run_labels
from fsdash.runs.store.experiments import Store

MAX_MEGABYTES = 20
MAX_EXPERIMENTS = 50


def rows_frame(store: Store, experiments: Sequence[Experiment]) -> pd.DataFrame:
    """The rows of all runs, with their experiment and the label of their curve."""
    runs = [run for experiment in experiments for run in experiment.runs]
    names = {experiment.id: experiment.name for experiment in experiments}
    labels, experiment_of = run_labels(runs), {run.id: run.experiment for run in runs}
    frame = store.rows([run.id for run in runs])
    frame.insert(0, "experiment", frame["run"].map(experiment_of))
    frame.insert(1, "name", frame["experiment"].map(names))
    frame.insert(3, "method", frame["run"].map(labels))
    return frame


def as_csv(frame: pd.DataFrame) -> bytes:
    """CSV in which no name of an experiment is a formula."""
    return frame_csv(frame).encode()


def as_parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def specs_json(experiments: Sequence[Experiment]) -> bytes:
    """The specifications alone, which suffice to run everything again."""
    data = [
        {"experiment": e.id, "name": e.name, "specs": [run.spec_data for run in e.runs]}
        for e in experiments
    ]
    return json.dumps(data, indent=1).encode()


def full_json(store: Store, experiments: Sequence[Experiment]) -> bytes:
    """Everything including policies, as `read_export` reads it: one experiment or a list."""
    data = [store.export(experiment.id) for experiment in experiments]
    return json.dumps(data[0] if len(data) == 1 else data).encode()


def existing_copy(store: Store, data: object) -> Experiment | None:
    """The stored experiment that an exported one is a copy of; None if there is none.

    A copy started at the same moment, has the same specifications, and has no fewer rows.
    """
    if not isinstance(data, dict) or not isinstance(data.get("created"), float | int):
        return None  # `Store.import_` says what is wrong with it
    try:
        specs = [run["spec"] for run in data["runs"]]
        rows = sum(len(r["rows"]["step"]) for run in data["runs"] for r in run["replications"])
    except (KeyError, TypeError):
        return None
    for experiment in store.experiments(created=data["created"]):
        same = [run.spec_data for run in experiment.runs] == specs
        if same and sum(run.rows for run in experiment.runs) >= rows:
            return experiment
    return None


def read_export(content: bytes) -> list[object]:
    """The experiments in a file that `full_json` wrote."""
    if len(content) > MAX_MEGABYTES * 10**6:
        raise InputError(f"file: is larger than {MAX_MEGABYTES} MB; import it from Python")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"file: is not JSON ({error}); choose one exported as “{EXPORT_EVERYTHING}”"
        ) from None
    found = data if isinstance(data, list) else [data]
    if not 1 <= len(found) <= MAX_EXPERIMENTS:
        raise InputError(f"file: contains {len(found)} experiments; use 1 to {MAX_EXPERIMENTS}")
    return found
