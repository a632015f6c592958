"""A file in the place of a domain, on the command line."""

import json

import numpy as np
import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.cli.main import main
from fsdash.models.examples import EXAMPLES
from fsdash.models.files import load, save
from fsdash.models.policy import load_policy
from fsdash.runs.store.experiments import Store
from tests.saved_models import shop_frame, shop_model


@pytest.fixture
def fsdash(capsys):
    """Run a command; returns its exit code, output and error output."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def table(tmp_path):
    """A file with the shop's transitions."""
    path = tmp_path / "shop.csv"
    shop_frame().to_csv(path, index=False)
    return path


def solved(fsdash, *arguments: object) -> dict:
    code, out, err = fsdash("solve", *arguments, "--format", "json")
    assert code == 0, err
    return json.loads(out)


# ------------------------------------------------------------------------------------------- solve


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_file_becomes_a_policy_file(fsdash, tmp_path, example):
    path, options = tmp_path / "policy.csv", example.options
    sense = ["--sense", options["sense"]] if "sense" in options else []
    record = solved(
        fsdash,
        *(example.path, "--slow", options["slow"], "--gamma", options["gamma"]),
        *(*sense, "--policy", path),
    )
    model = load(example.path, **options)
    best = model.mean(optimum(model).U_XY)
    if model.sense == "min":
        assert record["optimal_mean_cost"] == pytest.approx(-best, rel=1e-4)
    else:
        assert record["optimal_mean_value"] == pytest.approx(best, rel=1e-4)
    assert record["max_regret"] <= 1e-2
    policy = load_policy(path)
    assert len(policy) == model.n_real
    assert policy.variables == (*model.slow.names, *model.fast.names)


def test_the_slow_variables_are_suggested_and_reported(fsdash, table):
    code, _, err = fsdash("solve", table, "--gamma", 0.9)
    assert code == 0
    assert "slow: season; fast: stock (suggested" in err
    code, _, err = fsdash("solve", table, "--gamma", 0.9, "--slow", "stock")
    assert "suggested" not in err


def test_a_frozen_policy_file_has_its_phases(fsdash, table, tmp_path):
    path = tmp_path / "policy.csv"
    solved(fsdash, table, "--gamma", 0.9, "--method", "fsvi", "-T", 3, "--policy", path)
    assert load_policy(path).period == 3


def test_columns_can_be_named(fsdash, tmp_path):
    names = {"action": "choice", "p": "share", "reward": "gain"}
    frame = shop_frame().rename(
        columns=names | {"next_season": "to_season", "next_stock": "to_stock"}
    )
    path = tmp_path / "odd.csv"
    frame.to_csv(path, index=False)
    options = ("--action", "choice", "--probability", "share", "--reward", "gain")
    record = solved(fsdash, path, "--gamma", 0.9, *options, "--next-prefix", "to_")
    assert record["mean_value"] == pytest.approx(solved_value(shop_model()), rel=1e-4)


def test_columns_of_next_values_can_be_named_one_by_one(fsdash, tmp_path):
    frame = shop_frame().rename(columns={"next_season": "später", "next_stock": "stock then"})
    path = tmp_path / "odd.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    columns = "season=später, stock=stock then"
    record = solved(fsdash, path, "--gamma", 0.9, "--next-prefix", columns)
    assert record["mean_value"] == pytest.approx(solved_value(shop_model()), rel=1e-4)


def test_several_terminal_states_and_none(fsdash, tmp_path):
    frame = shop_frame().assign(done=lambda f: f["next_stock"] == 0)
    path = tmp_path / "episodes.csv"
    frame.to_csv(path, index=False)
    ends = ("--terminal", "season=calm,stock=0", "--terminal", "season=busy,stock=0")
    records = [
        solved(fsdash, path, "--gamma", 0.9, *options)["mean_value"]
        for options in ((), ("--terminal", "done"), ends, ("--terminal", ""))
    ]
    assert records[0] == records[1] == records[2] < records[3]
    assert records[3] == pytest.approx(solved_value(shop_model()), rel=1e-4)


def test_matrices_are_a_model_file(fsdash, tmp_path):
    P = np.array([[[0.9, 0.1], [0, 1]], [[1.0, 0], [1, 0]]])  # (A, S, S) = (2, 2, 2)
    np.savez(tmp_path / "m.npz", P=P, R=np.array([[1.0, 2], [0, 3]]), gamma=0.5)
    assert solved(fsdash, tmp_path / "m.npz", "--policy", tmp_path / "p.csv")["max_regret"] < 1e-2
    assert len(load_policy(tmp_path / "p.csv")) == 2


def solved_value(model) -> float:
    return model.mean(optimum(model).U_XY)


def test_a_whole_model_keeps_its_own_gamma_unless_another_is_given(fsdash, tmp_path):
    path = tmp_path / "shop.npz"
    save(shop_model(), path)
    own, other = solved(fsdash, path), solved(fsdash, path, "--gamma", 0.5)
    assert own["mean_value"] == pytest.approx(solved_value(shop_model()), rel=1e-4)
    assert other["mean_value"] == pytest.approx(solved_value(shop_model(0.5)), rel=1e-4)


def test_gamma_also_changes_a_domain(fsdash):
    assert solved(fsdash, "inventory", "--gamma", 0.9) | {"seconds": 0} == solved(
        fsdash, "inventory", "--set", "gamma=0.9"
    ) | {"seconds": 0}


def test_gamma_may_be_a_yearly_rate_and_a_period(fsdash, table):
    gamma = 1.08 ** (-1 / 52)
    assert solved(fsdash, table, "--gamma", "8%/week") | {"seconds": 0} == solved(
        fsdash, table, "--gamma", repr(gamma)
    ) | {"seconds": 0}
    for text in ("8%/fortnight", "0%/week", "x/week", "high"):
        with pytest.raises(SystemExit):
            fsdash("solve", table, "--gamma", text)


def test_rounded_probabilities_and_ends(fsdash, tmp_path):
    frame = shop_frame()
    frame["p"] = frame["p"].replace({0.1: 0.0999})
    frame = frame[(frame["stock"] > 0) | (frame["season"] == "calm")]
    path = tmp_path / "rounded.csv"
    frame.to_csv(path, index=False)
    code, _, err = fsdash("solve", path, "--gamma", 0.9)
    assert code == 2
    assert "inspect-model" in err
    solved(fsdash, path, "--gamma", 0.9, "--normalize", "--terminal", "missing")


# ---------------------------------------------------------------------------------- other commands


def test_a_file_can_be_run_and_a_saved_model_by_its_name(fsdash, table, tmp_path, monkeypatch):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path))
    arguments = ("--algorithm", "fsvi,vi", "-T", 3, "--iterations", 4, "--format", "json")
    code, out, err = fsdash("run", table, "--gamma", 0.86, *arguments)
    assert code == 0, err
    content = json.loads(out)
    name = content["specs"][0]["domain"]
    assert name.startswith("model-")
    store = Store()
    assert store.models.add("me", "shop", load(table, gamma=0.86)).domain == name
    code, out, err = fsdash("domains", "--format", "json")
    assert [(r["domain"], r["preset"]) for r in json.loads(out)][-1] == (name, "shop")
    code, again, err = fsdash("run", name, *arguments)
    assert code == 0, err
    values = [row["mean_return"] for row in json.loads(again)["rows"]]
    assert values == [row["mean_return"] for row in content["rows"]]


def test_the_table_of_a_run_on_a_model_of_costs_shows_costs(fsdash):
    options = ("--slow", "climate", "--gamma", 0.95, "--sense", "min", "--format")
    code, solution, err = fsdash("solve", EXAMPLES[2].path, *options, "json")
    assert code == 0, err
    runs = ("--algorithm", "mpi", "--iterations", 20)
    code, out, err = fsdash("run", EXAMPLES[2].path, *options, "table", *runs)
    assert code == 0, err
    [cost] = [line.split()[1] for line in out.splitlines() if line.startswith("mean_cost")]
    assert float(cost) == pytest.approx(json.loads(solution)["mean_cost"], rel=1e-4)
    assert "mean_return" not in out


def test_inspect_model_reports_columns_variables_and_sizes(fsdash, table):
    code, out, err = fsdash("inspect-model", table)
    assert code == 0, err
    clean = "Data errors and warnings\nnone"
    for part in ("40 rows", "season → next_season", clean, "slow", "n_pairs", "per 1,000 sweeps"):
        assert part in out
    code, out, _ = fsdash("inspect-model", table, "--format", "json")
    report = json.loads(out)
    assert {v["variable"]: v["suggestion"] for v in report["variables"]} == {
        "season": "slow",
        "stock": "fast",
    }
    assert report["sizes"]["n_pairs"] == 20
    assert "constants" not in report  # they need γ
    code, out, _ = fsdash("inspect-model", table, "--gamma", 0.9, "--format", "json")
    assert json.loads(out)["constants"]["d_y"] == 3


def test_inspect_model_takes_gamma_from_the_file(fsdash, tmp_path):
    path = tmp_path / "shop.json"
    table = {"gamma": 0.9, "transitions": shop_frame().to_dict("records")}
    path.write_text(json.dumps(table), encoding="utf-8")
    code, out, err = fsdash("inspect-model", path, "--format", "json")
    assert code == 0, err
    assert json.loads(out)["constants"]["d_y"] == 3


def test_inspect_model_lists_every_error_with_its_row(fsdash, tmp_path):
    frame = shop_frame().astype(object)
    frame.loc[2, "p"], frame.loc[4, "reward"] = "x", None
    frame.loc[6, "next_stock"] = 99
    path = tmp_path / "broken.csv"
    frame.to_csv(path, index=False)
    code, out, err = fsdash("inspect-model", path)
    assert code == 2
    assert "correct the file" in err
    assert err.count("\n") == 1
    for problem in ("'x' is not a number", "empty cell", "never occurs as a state"):
        assert problem in out
    assert "--terminal missing" in out


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("solve", "TABLE"), "gamma"),
        (("solve", "WHOLE", "--sense", "min"), "'sense': is not an option of a complete model"),
        (("solve", "TABLE", "--gamma", "1"), "use 0 ≤ γ < 1"),
        (("solve", "TABLE", "--gamma", ".9", "--slow", "colour"), "colour"),
        (("solve", "TABLE", "--gamma", ".9", "--policy", "policy.txt"), "ends in .csv"),
        (("solve", "TABLE", "--gamma", ".9", "--policy", "no/such/p.csv"), "there is no folder"),
        (("solve", "TABLE", "--gamma", ".9", "--preset", "large"), "has no preset"),
        (("solve", "nowhere.csv", "--gamma", ".9"), "there is no such file"),
        (("solve", "inventory", "--slow", "demand"), "--slow belongs to a model in a file"),
        (("solve", "inventory", "--normalize"), "--normalize belongs to a model in a file"),
        (("solve", "model-0123456789abcdef"), "is not saved here"),
        (("inspect-model", "shop.xlsx"), "its ending is not one of"),
    ],
)
def test_bad_input_is_reported_in_one_line(
    fsdash, table, tmp_path, monkeypatch, arguments, problem
):
    monkeypatch.setenv("FSDASH_DATA", str(tmp_path / "none"))
    save(shop_model(), tmp_path / "whole.npz")
    files = {"TABLE": str(table), "WHOLE": str(tmp_path / "whole.npz")}
    line = [files.get(argument, argument) for argument in arguments]
    code, out, err = fsdash(*line)
    assert code == 2
    assert problem in err
    assert err.strip().count("\n") == 0
    assert out == ""
