"""The registry: what it declares fits the generators, and outside algorithms can be added."""

import inspect
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from fsdash.algorithms import vi
from fsdash.algorithms.registry import ALGORITHMS, get_algorithm, register
from fsdash.errors import InputError
from fsdash.fields import Field
from fsdash.regression import Linear
from fsdash.sampling import Sampling
from tests.models import random_model


@pytest.fixture
def registry(monkeypatch):
    """The registry, restored after the test."""
    known = dict(ALGORITHMS)
    yield ALGORITHMS
    ALGORITHMS.clear()
    ALGORITHMS.update(known)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_declared_parameters_are_arguments_with_the_same_default(name):
    entry = ALGORITHMS[name]
    arguments = inspect.signature(entry.generator).parameters
    options = vars(arguments["sampling"].default) if "sampling" in arguments else {}
    for key, parameter in entry.parameters.items():
        default = options[key] if key in options else arguments[key].default
        assert default == parameter.default
    assert not entry.initial or arguments[entry.initial].default is None
    assert ("rng" in arguments) == entry.sampled
    assert ("T" in arguments) == entry.freezes


@pytest.mark.parametrize("name", [name for name, entry in ALGORITHMS.items() if entry.sampled])
def test_an_option_that_an_algorithm_does_not_use_is_refused(name):
    entry, model = ALGORITHMS[name], random_model(1, shape=("X..W", "XYA."))
    arguments = {"T": 2} if entry.freezes else {}
    arguments |= {"regress": Linear()} if entry.regression else {}
    other = {"M": 2, "M_l": 2, "M_u": 2, "ties": "first", "common_random_numbers": True}
    other |= {"centre": True, "snapshots_per_sweep": 1, "N": 2}
    for option, value in other.items():
        run = entry.generator(
            model, np.random.default_rng(0), sampling=Sampling(**{option: value}), **arguments
        )
        if option in entry.parameters:
            next(run)
        else:
            with pytest.raises(InputError, match=f"does not use {option}; leave it out"):
                next(run)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_parameter_has_a_label_and_help(name):
    for parameter in ALGORITHMS[name].all_parameters.values():
        assert parameter.label and parameter.help.endswith(".")
        assert parameter.kind in ("int", "float", "bool", "choice")
        assert parameter.low <= parameter.high


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
def test_snapshots_have_the_declared_policy_kinds(name):
    entry = ALGORITHMS[name]
    defaults = {key: parameter.default for key, parameter in entry.all_parameters.items()}
    model = random_model(1, shape=("X..W", "XYA."))  # suits every algorithm
    run = entry.start(model, np.random.default_rng(2), 3, defaults)
    assert {s.policy_kind for s in islice(run, 8)} == set(entry.policy_kinds)


def doubled(model, rng, scale, U0_XY=None):
    """A toy algorithm: VI from scaled initial values."""
    yield from vi(model, U0_XY=scale * U0_XY)


def test_an_outside_algorithm_is_started_with_its_parameters(registry):
    scale = Field(2.0, "Factor of the initial values.", 0, 10)
    entry = register("toy", doubled, parameters={"scale": scale}, initial="U0_XY")
    assert get_algorithm("toy") is entry and list(registry)[-1] == "toy"
    assert (entry.title, entry.family, entry.policy_kinds) == ("TOY", "TOY", ("stationary",))
    run = entry.start(
        random_model(3), np.random.default_rng(0), None, {"scale": 2.0, "initial_value": 5.0}
    )
    assert (next(run).values_XY == 10).all()


def test_an_algorithm_without_initial_values_has_no_such_parameter(registry):
    entry = register("toy", lambda model, rng: vi(model))
    assert entry.all_parameters == {}
    assert next(entry.start(random_model(3), np.random.default_rng(0), None, {})).iteration == 0


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("vi", {}, "'vi' exists already"),
        ("My Toy", {}, "lower-case"),
        ("", {}, "lower-case"),
        ("toy", {"policy_kinds": ("odd",)}, "'odd' is not one of"),
    ],
)
def test_a_bad_registration_is_refused(registry, name, options, words):
    with pytest.raises(InputError, match=words):
        register(name, doubled, **options)


def test_an_algorithm_is_replaced_only_on_request(registry):
    assert register("vi", doubled, replace=True).generator is doubled


def test_an_unknown_algorithm_lists_the_known_ones():
    with pytest.raises(InputError, match="choose from vi, fsvi, rolling, fsavi"):
        get_algorithm("no-such")


def run_python(code, path, modules):
    environment = {**os.environ, "FSDASH_ALGORITHMS": modules}
    environment["PYTHONPATH"] = os.pathsep.join([str(path), *sys.path])
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.processes
def test_modules_of_the_environment_variable_register_their_algorithms(tmp_path):
    (tmp_path / "toys.py").write_text(
        "from fsdash.algorithms import vi\n"
        "from fsdash.algorithms.registry import register\n"
        "register('toy', lambda model, rng: vi(model))\n"
    )
    show = "; from fsdash.algorithms.registry import ALGORITHMS; print(ALGORITHMS['toy'].title)"
    # Whether fsdash or the user's module is imported first makes no difference.
    for first in ("fsdash", "toys"):
        done = run_python(f"import {first}{show}", tmp_path, "toys")
        assert done.stdout == "TOY\n", done.stderr
    done = run_python("import fsdash.algorithms.registry", tmp_path, "no_such_module")
    assert "FSDASH_ALGORITHMS: no_such_module was not loaded" in done.stderr


def test_the_example_of_the_guide_registers_its_algorithm(registry):
    guide = Path(__file__).parents[2] / "docs" / "guide" / "own-algorithm.md"
    code = guide.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(code, {})
    entry = get_algorithm("optimistic-vi")
    run = entry.start(random_model(4), np.random.default_rng(0), None, {"bonus": 100.0})
    assert (next(run).values_XY >= 0).all() and entry.policy_kinds == ("stationary",)


def test_all_sampled_methods_break_ties_by_the_same_rule():
    """Otherwise a comparison in the Run lab is also one of tie rules."""
    rules = {
        method.all_parameters["ties"].default for method in ALGORITHMS.values() if method.sampled
    }
    assert rules == {"random"}
