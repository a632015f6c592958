"""Kept experiments as files, and files as experiments. Pure, no Streamlit."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pandas as pd

from fsdash.dashboard.curves.state import labels
from fsdash.errors import InputError
from fsdash.runs.records import Experiment
from fsdash.runs.store.experiments import Store

MAX_MEGABYTES = 20
MAX_EXPERIMENTS = 50


def rows_frame(store: Store, experiments: Sequence[Experiment]) -> pd.DataFrame:
    """The rows of all runs, with the experiment they belong to and the name of their curve."""
    runs = [run for experiment in experiments for run in experiment.runs]
    names = {experiment.id: experiment.name for experiment in experiments}
    named, whose = labels(runs), {run.id: run.experiment for run in runs}
    frame = store.rows([run.id for run in runs])
    frame.insert(0, "experiment", frame["run"].map(whose))
    frame.insert(1, "name", frame["experiment"].map(names))
    frame.insert(3, "method", frame["run"].map(named))
    return frame


def as_csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def as_parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def specs_json(experiments: Sequence[Experiment]) -> bytes:
    """The specifications alone: what is needed to run everything again."""
    data = [
        {"experiment": e.id, "name": e.name, "specs": [run.spec_data for run in e.runs]}
        for e in experiments
    ]
    return json.dumps(data, indent=1).encode()


def full_json(store: Store, experiments: Sequence[Experiment]) -> bytes:
    """Everything, policies too: what `read_export` reads. One experiment, or a list of them."""
    data = [store.export(experiment.id) for experiment in experiments]
    return json.dumps(data[0] if len(data) == 1 else data).encode()


def read_export(content: bytes) -> list[object]:
    """The experiments in a file that was exported before."""
    if len(content) > MAX_MEGABYTES * 10**6:
        raise InputError(f"file: has more than {MAX_MEGABYTES} MB; import it from Python instead")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"file: is not JSON ({error}); choose one from “Everything, JSON”"
        ) from None
    found = data if isinstance(data, list) else [data]
    if not 1 <= len(found) <= MAX_EXPERIMENTS:
        raise InputError(f"file: has {len(found)} experiments; use 1 to {MAX_EXPERIMENTS}")
    return found
