"""RunSpec: completeness, JSON, Python and command line, and messages for unusable input."""

import dataclasses
import json
import shlex

import numpy as np
import pytest

from fsdash.algorithms.registry import ALGORITHMS
from fsdash.cli.main import parser
from fsdash.cli.runs import read_specs
from fsdash.errors import InputError
from fsdash.runs.spec import RunSpec, share_spent

NAMES = (
    "vi",
    "fsvi",
    "rolling",
    "fsavi",
    "mpi",
    "e-vi",
    "e-fsvi",
    "e-rolling",
    "e-thaw",
    "e-qi",
    "slow-agnostic",
    "lin-fvi",
    "lin-fsfvi",
    "lin-rolling",
    "lin-fqi",
    "deep-fvi",
    "deep-fsfvi",
    "deep-rolling",
    "deep-fqi",
)


def spec(**changes) -> RunSpec:
    return RunSpec(**{"domain": "inventory", "algorithm": "e-vi", "iterations": 3, **changes})


def test_the_algorithms_have_the_agreed_names():
    assert tuple(ALGORITHMS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_survives_json(name):
    T = 6 if ALGORITHMS[name].freezes else None
    one = spec(algorithm=name, T=T, domain_parameters={"K": 100}, seed=7)
    two = RunSpec.from_json(one.to_json())
    assert two == one
    assert two.hash == one.hash
    assert hash(two) == hash(one)
    written = json.loads(one.to_json())["parameters"]
    assert written == dict(one.parameters)


def test_missing_parameters_are_filled_in():
    given = spec(parameters={"M": 50, "ties": "random"}, domain_parameters={"gamma": 0.995})
    assert given == spec()
    assert given.hash == spec().hash
    assert dict(given.parameters)["snapshots_per_sweep"] == 3
    assert dict(given.domain_parameters)["y_max"] == 50


def test_changed_lists_the_parameters_that_differ_from_defaults():
    assert spec().changed() == {}
    changed = spec(parameters={"M": "20"}, domain_parameters={"K": 100.0}).changed()
    assert changed == {"M": 20, "K": 100.0}


VARIANTS = [
    {},
    {"algorithm": "vi"},
    {"algorithm": "mpi", "parameters": {"m": 5, "enough": 0.1 + 0.2}, "seed": 3},
    {"algorithm": "fsavi", "T": 3, "parameters": {"features": "polynomial", "degree": 2}},
    {"algorithm": "fsvi", "T": 3, "parameters": {"terminal": "last"}},
    {"algorithm": "lin-fsfvi", "T": 3, "parameters": {"lower_policy": "frozen"}},
    {"algorithm": "e-fsvi", "T": 6, "domain_parameters": {"K": 90.5, "y_max": 20}},
    {"algorithm": "lin-fvi", "parameters": {"N": 17, "ties": "random"}, "replications": 2},
    {"algorithm": "deep-fsfvi", "T": 2, "parameters": {"warm_start": True, "batch_size": 3}},
    {"parameters": {"initial_value": -1.5e-7, "common_random_numbers": "yes"}},
    {"iterations": None, "seconds": 1 / 3},
    {"iterations": None, "evaluations": 10**15},
    {"domain": "gridworld", "algorithm": "e-qi", "parameters": {"count_actions": True}},
]


@pytest.mark.parametrize("change", VARIANTS)
def test_the_python_expression_creates_the_same_specification(change):
    code = spec(**change).to_python()
    assert "\n" not in code
    assert eval(code, {"RunSpec": RunSpec}) == spec(**change)


@pytest.mark.parametrize("change", VARIANTS)
def test_the_command_line_creates_the_same_specification(change):
    assert read_command(spec(**change).to_command()) == [spec(**change)]


def test_one_command_can_list_several_values_of_T():
    command = spec(algorithm="e-fsvi", T=6).to_command(T_values=(2, 12))
    assert read_command(command) == [spec(algorithm="e-fsvi", T=T) for T in (2, 12)]


def read_command(command: str) -> list[RunSpec]:
    arguments = parser().parse_args(shlex.split(command)[1:])
    return read_specs(arguments)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"replications": 4},
        {"iterations": 4},
        {"iterations": None, "seconds": 3.0},
        {"algorithm": "e-qi"},
        {"parameters": {"M": 49}},
        {"domain_parameters": {"K": 121}},
    ],
)
def test_every_change_of_the_run_changes_the_hash(change):
    assert spec(**change).hash != spec().hash


def test_the_hash_is_the_same_in_every_process_and_release():
    # Stored runs are found by their hash; a change here would lose them.
    text = RunSpec("inventory", "vi", iterations=3).to_json()
    assert text.startswith('{"algorithm":"vi","domain":"inventory","domain_parameters":{"K":120.0')
    assert RunSpec("inventory", "vi", iterations=3).hash == "742701d87ba332c1"


def test_both_zeros_give_the_same_hash():
    one, other = (spec(parameters={"initial_value": zero}) for zero in (0.0, -0.0))
    assert one == other
    assert one.hash == other.hash


def test_a_specification_is_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec().seed = 3


@pytest.mark.parametrize(
    ("unit", "size", "row", "share"),
    [
        ("evaluations", 400, {"evaluations": 100}, 0.25),
        ("evaluations", 400, {"evaluations": 400}, 1.0),
        ("evaluations", 400, {"evaluations": 0}, 0.0),
        ("iterations", 8, {"phase": "upper", "iteration": 3}, 0.375),
        ("iterations", 8, {"phase": "base", "iteration": 8}, 1.0),
        ("iterations", 8, {"phase": "lower", "iteration": 5}, 0.0),
        ("seconds", 2.0, {"phase": "lower", "seconds": 1.5}, 0.75),
        ("seconds", 2.0, {"phase": "base", "seconds": 2.5}, 1.0),  # the last policy came late
    ],
)
def test_the_share_of_a_budget_that_is_spent(unit, size, row, share):
    other = {"phase": "base", "iteration": 7, "evaluations": 7, "seconds": 7.0}
    assert share_spent(unit, size, other | row) == share


def test_an_exact_algorithm_has_one_replication():
    assert spec(algorithm="vi", replications=5).replications == 1


def test_replications_draw_from_children_of_the_seed():
    children = np.random.SeedSequence(5).spawn(3)
    drawn = [spec(seed=5, replications=3).generator(i).random() for i in range(3)]
    assert drawn == [np.random.default_rng(child).random() for child in children]
    # A replication's numbers do not depend on how many others there are.
    assert spec(seed=5, replications=9).generator(2).random() == drawn[2]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"domain": "chess"}, "domain"),
        ({"algorithm": "e-xx"}, "algorithm"),
        ({"algorithm": "e-fsvi"}, "T"),
        ({"algorithm": "e-fsvi", "T": 0}, "T = 0"),
        ({"algorithm": "e-fsvi", "T": 2.5}, "T = 2.5"),
        ({"algorithm": "e-fsvi", "T": 10**9}, "T = "),
        ({"algorithm": "e-fsvi", "T": True}, "T = True"),
        ({"T": 6}, "T = 6"),
        ({"domain_parameters": {"colour": 1}}, "'colour'"),
        ({"domain_parameters": {"gamma": 1}}, "gamma"),
        ({"domain_parameters": 7}, "domain_parameters"),
        ({"parameters": {"M_u": 5}}, "'M_u'"),
        ({"parameters": {"M": 0}}, "M = 0"),
        ({"parameters": {"M": 10**400}}, "M = 1000"),
        ({"domain_parameters": {"K": 10**400}}, "K = 1000"),
        ({"algorithm": "lin-fvi", "parameters": {"N": 562}}, "N = 562"),
        ({"parameters": {"M": "many"}}, "M = many"),
        ({"parameters": {"M": float("nan")}}, "M = nan"),
        ({"parameters": {"ties": "last"}}, "ties"),
        ({"parameters": {"common_random_numbers": "perhaps"}}, "common_random_numbers"),
        ({"parameters": {"initial_value": float("inf")}}, "initial_value"),
        ({"parameters": {"snapshots_per_sweep": 0}}, "snapshots_per_sweep"),
        ({"parameters": {3: 4}}, "parameters"),
        ({"replications": 0}, "replications"),
        ({"replications": "five"}, "replications"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**80}, "seed"),
        ({"iterations": None}, "budget"),
        ({"evaluations": 100}, "budget"),
        ({"iterations": 0}, "iterations"),
        ({"iterations": 1.5}, "iterations"),
        ({"iterations": None, "evaluations": 0}, "evaluations"),
        ({"iterations": None, "seconds": 0}, "seconds"),
        ({"iterations": None, "seconds": float("nan")}, "seconds"),
    ],
)
def test_an_unusable_field_is_named_in_the_error(change, field):
    with pytest.raises(InputError, match=field):
        spec(**change)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "JSON"),
        ("[1, 2]", "specification"),
        ("3", "specification"),
        ('{"domain": "inventory"}', "algorithm"),
        ('{"algorithm": "e-vi", "domain": 5}', "domain"),
        ('{"algorithm": "e-vi", "domain": "inventory", "iterations": 3, "speed": 9}', "speed"),
        ("[" * 100_000, "JSON"),
        ("[]", "specification"),
        ('[["domain", "inventory"], ["algorithm", "vi"], ["iterations", 2]]', "specification"),
        (f'{{"algorithm": "vi", "domain": "inventory", "seconds": {10**400}}}', "seconds"),
        (None, "JSON"),
    ],
)
def test_text_that_is_not_a_specification_is_refused(text, word):
    with pytest.raises(InputError, match=word):
        RunSpec.from_json(text)


def test_the_repr_is_the_python_expression_and_notebooks_show_a_table():
    one = spec(parameters={"M": 20})
    assert repr(one) == one.to_python()
    html = one._repr_html_()
    assert html.startswith("<table>")
    assert "M=20" in html


def test_everything_after_the_algorithm_is_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        RunSpec("inventory", "e-fsvi", 6, iterations=3)
