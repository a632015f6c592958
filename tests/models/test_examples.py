"""The three example tables: written by their scripts, and solved from file to policy file."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fsdash
from fsdash.models.examples import EXAMPLES, FOLDER

SCRIPTS = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_script_writes_the_file_that_ships(example):
    spec = importlib.util.spec_from_file_location(example.name, SCRIPTS / f"{example.name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert example.path == script.TARGET
    text = script.table().to_csv(index=False, lineterminator="\n")
    assert example.path.read_text(encoding="utf-8") == text
    assert len(text) < 300_000


def test_every_table_of_the_folder_is_an_example():
    assert {path.stem for path in FOLDER.glob("*.csv")} == {example.name for example in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_from_the_file_to_a_policy_file(example, tmp_path):
    frame = pd.read_csv(example.path)
    faults = fsdash.models.check_transitions(
        frame, **fsdash.models.guess_columns(frame) | example.options
    )
    assert set(faults["severity"]) == {"note"}
    model = fsdash.load(example.path, **example.options)
    suggested = fsdash.models.suggest_slow(model).set_index("variable")["suggestion"]
    assert suggested[suggested == "slow"].index.tolist() == [example.options["slow"]]
    best = fsdash.optimum(model)
    v = fsdash.models.to_quantecon(model).solve(method="policy_iteration").v
    assert np.abs(v - best.U_XY[model.real_XY]).max() <= 1e-6
    fsdash.Policy(model, best).save(tmp_path / "policy.csv")
    policy = fsdash.load_policy(tmp_path / "policy.csv")
    state = frame.iloc[0][list(policy.variables)].to_dict()
    assert policy(state) in fsdash.Policy(model, best).actions


def test_what_the_solutions_say():
    """A broken machine is replaced; an empty shelf in busy times is filled."""
    by_name = {example.name: example for example in EXAMPLES}
    solved = {}
    for name, example in by_name.items():
        model = fsdash.load(example.path, **example.options)
        solved[name] = fsdash.Policy(model, fsdash.optimum(model))
    assert solved["maintenance"](("salty", 9)) == "replace"
    assert solved["maintenance"](("mild", 0)) == "run"
    assert solved["company_inventory"](("busy", 0)) == "order 8"
    assert solved["company_inventory"](("calm", 12)) == "wait"
    assert solved["savings"]((1.0, 0)) == 0
