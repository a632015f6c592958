"""Fill the Run lab's form from runs: a plan to customize, or a run to base a sweep on."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from fsdash.dashboard.curves.state import sweep_size
from fsdash.dashboard.run_lab import text
from fsdash.dashboard.run_lab.state import CUSTOM
from fsdash.dashboard.run_lab.sweep import DEFAULT_FIXED_T, SWEEP, suggested_values, sweepable
from fsdash.dashboard.run_lab.url import SAVED_GAMMA, lab_url
from fsdash.dashboard.service import Service
from fsdash.domains import is_saved_name
from fsdash.errors import InputError
from fsdash.runs.errors import StoreError
from fsdash.runs.spec import RunSpec


def customize(specs: Sequence[RunSpec]) -> None:
    """Fill the custom form with a plan, and with the first run's budget where they differ."""
    T_values = sorted({spec.T for spec in specs if spec.T is not None})
    _put_values(specs)
    for name, value in {
        "preset": CUSTOM,
        "domain": specs[0].domain,
        "algorithms": list(dict.fromkeys(spec.algorithm for spec in specs)),
        "T": ", ".join(map(str, T_values)),
    }.items():
        lab_url().put(name, value)


def sweep_from(spec: RunSpec) -> None:
    """Fill the form of a sweep with a run: it varies T, or else the first parameter."""
    _put_values([spec])
    vary = next(iter(sweepable([spec.domain], spec.algorithm)))
    now = {"T": spec.T, **dict(spec.parameters)}
    for name, value in {
        "preset": SWEEP,
        "domains": [spec.domain],
        "algorithm": spec.algorithm,
        "vary": vary,
        "values": suggested_values([spec.domain], spec.algorithm, vary, now),
        "fixed_T": str(spec.T or DEFAULT_FIXED_T),
    }.items():
        lab_url().put(name, value)


def _put_values(specs: Sequence[RunSpec]) -> None:
    """The budget, the replications and all parameters of runs on one domain."""
    first = specs[0]
    unit, size = first.budget
    if unit == "evaluations":
        unit, size = "sweeps", round(size / sweep_size(first.build_domain()), 3)
    values = {
        "from": None,
        "base": None,
        "unit": unit,
        "budget": float(size),
        "replications": max(spec.replications for spec in specs),
        "seed": first.seed,
    }
    if is_saved_name(first.domain):
        values[SAVED_GAMMA] = dict(first.domain_parameters)["gamma"]
    else:
        values |= {f"{first.domain}.{name}": value for name, value in first.domain_parameters}
    for spec in reversed(specs):
        values |= {f"{spec.algorithm}.{name}": value for name, value in spec.parameters}
    for name, value in values.items():
        lab_url().put(name, value)


def use_base(service: Service, base: str) -> None:
    """Fill the form with a sweep based on the run that the URL names."""
    id, _, place = base.partition(".")
    lab_url().put("base", None)
    try:
        runs = service.store.experiment(id).runs
        sweep_from(runs[int(place or 0)].spec)
    except (InputError, StoreError, IndexError):
        st.warning(text.BASE_NOT_FOUND)
