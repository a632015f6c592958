"""The command line as a user calls it: output and formats."""

import csv
import io
import itertools
import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from fsdash.algorithms.optimum import optimum
from fsdash.algorithms.registry import ALGORITHMS
from fsdash.choice.frontier import COLUMNS
from fsdash.choice.plan import COLUMNS as PLAN_COLUMNS
from fsdash.choice.plan import plan
from fsdash.domains import make
from fsdash.models.policy import load_policy
from fsdash.theory import (
    PRESETS,
    advise,
    fsvi_bound,
    repaired_bound,
    reward_error,
    rolling_bound,
    vi_bound,
)
from fsdash.version import __version__

BOUNDS_FIELDS = [
    "T",
    "k",
    "freeze_error",
    "end_of_horizon_error",
    "reward_error",
    "reward_term",
    "transition_term",
    "iteration_term",
    "fsvi_bound",
    "vi_bound",
    "rolling_bound",
    "trivial_bound",
    "fsvi_cost",
    "vi_cost",
    "rolling_cost",
    "bound",
]
SOLVE_FIELDS = [
    "domain",
    "method",
    "T",
    "iterations",
    "backups",
    "seconds",
    "mean_value",
    "optimal_mean_value",
    "max_regret",
    "mean_regret",
]
COMMANDS = [
    *("domains", "algorithms", "solve", "bounds", "advise", "constants", "frontier", "plan"),
    *("run", "reproduce"),
]
THREE_REGIMES = PRESETS["three-regimes"].constants


def test_bounds_prints_the_documented_fields_with_the_library_s_numbers(as_json):
    records = as_json("bounds -T 2,16 -k 1:3")
    assert [(r["T"], r["k"]) for r in records] == [(T, k) for T in (2, 16) for k in (1, 2, 3)]
    for record in records:
        assert list(record) == BOUNDS_FIELDS
        T, k = record["T"], record["k"]
        regret, error = fsvi_bound(THREE_REGIMES, T, k=k), reward_error(THREE_REGIMES, T)
        assert record["fsvi_bound"] == regret.total
        assert record["reward_error"] == error.total
        assert record["freeze_error"] + record["end_of_horizon_error"] == error.total
        assert record["vi_bound"] == vi_bound(THREE_REGIMES, k)
        assert record["trivial_bound"] == pytest.approx(100)
        assert record["vi_cost"] == k * 100**4 * 50
        assert record["fsvi_cost"] == pytest.approx(
            100 * 100**2 * 50 * T + 100**4 * T + k * 100**4 * 50
        )


def test_bounds_accepts_every_constant(as_json):
    [record] = as_json(
        "bounds --gamma 0.8 --alpha 0.1 --d-y 2 --l-r 3 --l-f 0.5 --l-u 4 --r-max 5 "
        "--n-slow 6 --n-fast 7 --n-actions 8 -T 2 -k 3"
    )
    # T = 2: no freeze error; γ·L_U·(α·d_Y + γ·d_Y·(α + 2)).
    assert record["freeze_error"] == 0
    assert record["end_of_horizon_error"] == pytest.approx(0.8 * 4 * (0.2 + 0.8 * 2 * 2.1))
    assert record["vi_bound"] == pytest.approx(2 * 5 * 0.8**4 / 0.2**2)
    assert record["vi_cost"] == 3 * 42**2 * 8


def test_bounds_with_a_preset_and_automatic_l_u(as_json):
    [record] = as_json("bounds --preset reward-error-small --l-u auto -T 30")
    from dataclasses import replace

    base = PRESETS["reward-error-small"].constants
    constants = replace(base, l_u=0.5 / (1 - 0.953 * 0.99))
    assert record["reward_error"] == pytest.approx(reward_error(constants, 30).total)


def test_overflow_is_infinity_in_every_format(fsdash):
    line = "bounds --l-f 50 --gamma 0.999 -T 1000"
    code, out, _ = fsdash(f"{line} --format json")
    assert code == 0 and "1e999" in out and "Infinity" not in out
    assert json.loads(out)[0]["fsvi_bound"] == math.inf
    assert "inf" in fsdash(line)[1] and "inf" in fsdash(f"{line} --format csv")[1]
    assert "nan" not in fsdash(line)[1].lower()


def test_csv_output_can_be_read_back(fsdash):
    _, out, _ = fsdash("bounds -T 1:5 -k 1,10 --format csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 10 and list(rows[0]) == BOUNDS_FIELDS
    assert float(rows[-1]["fsvi_bound"]) == fsvi_bound(THREE_REGIMES, 5, k=10).total


def test_advise_finds_the_three_regimes(as_json):
    for sweeps, algorithm, T in ((4, "FSVI", 16), (20, "FSVI", 9), (60, "VI", 1)):
        advice = as_json(f"advise -T 2,4,9,16,25 --sweeps {sweeps}")
        assert advice["budget"] == sweeps * 5e9
        assert list(advice["choice"]) == ["algorithm", "T", "k", "regret", "cost"]
        assert (advice["choice"]["algorithm"], advice["choice"]["T"]) == (algorithm, T)
        assert advice["choice"] == advice["candidates"][0]
        assert all(c["cost"] <= advice["budget"] for c in advice["candidates"])
        assert advice["choice"]["regret"] == min(c["regret"] for c in advice["candidates"])
    regimes = advice["regimes"]
    assert list(regimes[0]) == ["from", "to", "algorithm", "T"]
    assert [r["T"] for r in regimes[-3:]] == [16, 9, 1]
    assert [r["to"] / 5e9 for r in regimes[-3:]] == pytest.approx([5.27, 53, math.inf])
    assert all(a["to"] == b["from"] for a, b in itertools.pairwise(regimes))


def test_advise_in_operations_and_in_sentences(fsdash, as_json):
    by_sweeps, by_budget = as_json("advise --sweeps 4"), as_json("advise --budget 2e10")
    assert by_sweeps == by_budget
    _, out, _ = fsdash("advise -T 2,4,9,16,25 --sweeps 4")
    assert "FSVI with T = 16, k = 3" in out and "is informative" in out
    _, out, _ = fsdash("advise --sweeps 1")
    assert "is vacuous" in out


def test_both_bounds_can_be_computed(as_json):
    [stated] = as_json("bounds -T 9 -k 3")
    [repaired] = as_json("bounds -T 9 -k 3 --bound repaired")
    [given] = as_json("bounds -T 9 -k 3 --bound repaired --l-frozen 1.2")
    assert (stated["bound"], repaired["bound"]) == ("stated", "repaired")
    assert stated["fsvi_bound"] == fsvi_bound(THREE_REGIMES, 9, k=3).total
    assert repaired["fsvi_bound"] == repaired_bound(THREE_REGIMES, 9, k=3).total
    assert given["fsvi_bound"] == repaired_bound(THREE_REGIMES, 9, k=3, l_frozen=1.2).total
    [one] = as_json("bounds -T 9 -k 3 --bound repaired --n-slow 1")
    assert one["fsvi_bound"] == given["fsvi_bound"]  # L_f = 1.2


def test_the_bound_of_rolling_freeze_has_a_horizon_of_T_periods(as_json):
    options = "--l-frozen 1.3 --eta 0.1 --d-y-frozen 2"
    first, second = as_json(f"bounds -T 4,9 -k 1 {options}")
    own = replace(THREE_REGIMES, l_frozen=1.3, eta=0.1, d_y_frozen=2)
    assert first["rolling_bound"] == rolling_bound(own, 4).total
    assert second["rolling_bound"] == rolling_bound(own, 9).total
    assert second["rolling_cost"] / first["rolling_cost"] == 9 / 4
    [repaired] = as_json(f"bounds -T 9 -k 1 --bound repaired {options}")
    assert repaired["fsvi_bound"] == repaired_bound(own, 9, k=1).total


def test_advise_minimises_the_bound_that_is_asked_for(fsdash, as_json):
    sizes = PRESETS["three-regimes"].sizes
    line = "advise -T 2,4,9,16,25 --sweeps 4 --bound repaired"
    expected = advise(
        THREE_REGIMES, sizes, budget=4 * sizes.sweep, T=(2, 4, 9, 16, 25), bound=repaired_bound
    )
    found = as_json(line)
    assert found["bound"] == "repaired" and found["choice"]["regret"] == expected.choice.regret
    assert "Bound: repaired, with L̃ = 1.56205." in fsdash(line)[1]
    assert "Bound: as stated in the arXiv text" in fsdash("advise --sweeps 4")[1]
    assert as_json("advise --sweeps 4")["bound"] == "stated"
    _, out, _ = fsdash(f"{line} --format csv")
    assert {row["bound"] for row in csv.DictReader(io.StringIO(out))} == {"repaired"}


def test_constants_are_measured(as_json):
    record = as_json("constants inventory")
    assert list(record) == [
        "alpha",
        "d_y",
        "l_r",
        "l_f",
        "l_u",
        "r_max",
        "reward_shift",
        "l_frozen",
        "eta",
        "d_y_frozen",
        "coupling",
        "l_r_lower",
        "l_f_lower",
        "l_u_lower",
        "l_frozen_lower",
        "eta_lower",
    ]
    assert (record["alpha"], record["d_y"], record["coupling"]) == (0.02, 50, "noise")
    assert (record["eta"], record["d_y_frozen"]) == (math.sqrt(2), 50)
    assert record["l_f_lower"] == record["l_f"]
    smaller = as_json("constants inventory --set y_max=20 --set order_max=20")
    assert smaller["d_y"] == 20


def test_constants_within_a_time_limit_and_for_another_coupling(fsdash, as_json):
    exact = as_json("constants inventory")
    cut = as_json("constants inventory --seconds 0")
    assert cut["l_f_lower"] < exact["l_f"] < cut["l_f"]
    _, out, _ = fsdash("constants inventory --seconds 0")
    assert f"l_f           {cut['l_f_lower']:.6g} to {cut['l_f']:.6g}\n" in out
    small = "constants inventory --set y_max=9 --set order_max=9"
    _, out, _ = fsdash(f"{small} --coupling wasserstein")
    assert "coupling      wasserstein" in out and " to " not in out
    assert "infeasible" not in out


def test_constants_say_when_the_bounds_do_not_apply(fsdash, monkeypatch):
    from fsdash.domains.inventory import Inventory

    build = Inventory.build

    def without_one_action(domain):
        model = build(domain)
        feasible_XYA = np.ones(model.reward_XYA.shape, bool)
        feasible_XYA[0, 0, 1] = False
        return replace(model, feasible_XYA=feasible_XYA)

    monkeypatch.setattr(Inventory, "build", without_one_action)
    _, out, _ = fsdash("constants inventory --seconds 0")
    assert "Some actions are infeasible" in out


@pytest.mark.parametrize("method", ["vi", "fsvi", "mpi"])
def test_solve_agrees_with_the_library(as_json, method):
    record = as_json(f"solve inventory --method {method} --set gamma=0.9")
    assert list(record) == SOLVE_FIELDS
    assert (record["domain"], record["method"]) == ("inventory", method)
    assert record["T"] == (6 if method == "fsvi" else 1)
    assert record["seconds"] > 0 and record["backups"] > 0
    model = make("inventory", gamma=0.9).build()
    best = model.mean(optimum(model).U_XY)
    assert record["optimal_mean_value"] == pytest.approx(best)
    assert record["mean_value"] == pytest.approx(best - record["mean_regret"], abs=1e-5)
    assert 0 <= record["mean_regret"] <= record["max_regret"]
    if method != "fsvi":
        assert record["max_regret"] <= 2 * 0.9 / 0.1 * 1e-3


def test_solve_stops_at_the_given_iterations_or_tolerance(as_json):
    by_count = as_json("solve inventory --method fsvi -T 3 --iterations 7")
    assert (by_count["T"], by_count["iterations"]) == (3, 7)
    assert by_count["backups"] == 2 * 561 * 11 + 7 * 561 * (11 + 2)
    loose = as_json("solve inventory --method vi --tolerance 100")
    tight = as_json("solve inventory --method vi --tolerance 1")
    assert loose["iterations"] < tight["iterations"]


def test_a_tolerance_below_rounding_errors_ends_with_a_message(fsdash):
    code, out, err = fsdash("solve inventory --method mpi --tolerance 1e-300 --format json")
    assert code == 0 and "rounding in double precision allows" in err and err.count("\n") == 1
    assert json.loads(out)["max_regret"] <= 1e-5


def test_domains_lists_every_preset(as_json, fsdash):
    records = as_json("domains")
    defaults = {r["domain"]: r for r in records if r["preset"] == "default"}
    assert {n: r["n_states"] for n, r in defaults.items()} == {
        "inventory": 561,
        "gridworld": 4356,
        "pricing": 15150,
    }
    assert "y_max=50" in defaults["inventory"]["parameters"]
    assert "wide-demand" in fsdash("domains")[1]


def test_algorithms_lists_every_registered_algorithm(as_json):
    records = {r["algorithm"]: r for r in as_json("algorithms")}
    assert list(records) == list(ALGORITHMS)
    assert records["e-fsvi"]["freezes"] == "yes" and records["e-vi"]["freezes"] == "no"
    assert "M=50" in records["e-vi"]["parameters"]


def test_frontier_prints_the_columns_of_the_library(as_json, fsdash):
    rows = as_json("frontier inventory -T 3,6 --methods fsvi,rolling --set y_max=20")
    assert list(rows[0]) == list(COLUMNS)
    assert {(row["method"], row["T"]) for row in rows} == {
        (method, T) for method in ("fsvi", "rolling") for T in (3, 6)
    }
    assert all(row["certificate"] >= row["max_regret"] for row in rows)
    code, out, err = fsdash("frontier inventory -T 3 --methods rolling --format csv")
    assert (code, err) == (0, "") and out.splitlines()[0] == ",".join(COLUMNS)


def test_plan_prints_each_improvement_and_what_was_reached(as_json, fsdash, tmp_path):
    model = make("inventory").build()
    expected = plan(model, sweeps=60, gap=0.01)
    path = tmp_path / "policy.csv"
    code, out, err = fsdash(f"plan inventory --sweeps 60 --gap 1% --policy {path}")
    lines = out.splitlines()
    assert code == 0 and "561 states" in err and len(load_policy(path)) == 561
    assert lines[0].split() == ["seconds", "sweeps", "method", "value", "bound", "gap"]
    assert len(lines) == 1 + len(expected.log) + 2 and lines[-1].startswith("Solved in")
    document = as_json("plan inventory --sweeps 60 --gap 0.01")
    assert document["gap"] == expected.gap and document["method"] == expected.method
    assert [row["bound"] for row in document["log"]][1:] == expected.log["bound"].tolist()[1:]
    code, out, _ = fsdash("plan inventory --sweeps 3 --format csv")
    assert code == 0 and out.splitlines()[0] == ",".join(PLAN_COLUMNS)
    sampled = as_json("plan inventory --sweeps 0.5 --sampled --seed 3")
    assert sampled["method"] == "e-thaw" and sampled["gap"] is None
    assert sampled["evaluations"] <= 0.5 * 50 * model.n_pairs


@pytest.mark.processes
def test_an_interrupted_plan_saves_its_best_policy(tmp_path):
    path = tmp_path / "policy.csv"
    command = [sys.executable, "-m", "fsdash", "plan", "pricing", "--policy", str(path)]
    process = subprocess.Popen(
        [*command, "--seconds", "600", "--gap", "1e-300"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = [process.stdout.readline() for _ in range(6)]  # until there is something to save
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "15,150 states" in err and err.endswith("interrupted\n") and "gap of" in out
    assert lines[0].split()[0] == "seconds" and load_policy(path).variables[-1]


def test_a_model_that_freezing_does_not_suit_gets_a_line_on_stderr(fsdash):
    code, out, err = fsdash("frontier inventory -T 2 --set d_max=5 --set d_min=5")
    assert code == 0 and out and err.count("\n") == 1
    assert "one slow state, so nothing is frozen" in err


def test_run_shows_kappa_of_fsavi_in_every_format(fsdash):
    line = "run inventory --algorithm fsavi,vi -T 3 --iterations 1 --with fast_cells=5"
    note = "FSAVI, T=3: aggregation, 20 features for 561 states, κ = 1, κγ = 0.995"
    code, out, _ = fsdash(line)
    assert code == 0 and out.rstrip().endswith(f"\n\n{note}")
    code, out, _ = fsdash(f"{line} --format json")
    assert json.loads(out)["notes"] == {"FSAVI, T=3": note.partition(": ")[2]}
    code, out, err = fsdash(f"{line} --format csv")
    assert note in err and "κ" not in out
    code, out, _ = fsdash("run inventory --algorithm vi --iterations 1 --format json")
    assert set(json.loads(out)) == {"specs", "rows"}


def test_run_counts_fsavi_and_terminal_values(as_json):
    """561 states, 11 actions; T = 3; no noise while x is frozen, three outcomes otherwise."""

    def evaluations(settings):
        line = f"run inventory -T 3 --iterations 1 {settings}"
        rows = as_json(line)["rows"]
        return [row["evaluations"] for row in rows if row["policy_kind"] != "rolling"]

    sweep, policy = 561 * 11, 2 * 561
    upper = 3 * (sweep + policy)
    lower = [sweep, 2 * sweep]
    assert evaluations("--algorithm fsvi") == [*lower, 2 * sweep, 2 * sweep + upper]
    assert evaluations("--algorithm fsvi --with terminal=last") == [
        3 * sweep,
        4 * sweep,
        4 * sweep + policy,
        4 * sweep + policy + upper,
    ]
    # 4 · 10 anchors in the upper level.
    assert evaluations("--algorithm fsavi") == [
        *lower,
        2 * sweep,
        2 * sweep + 3 * (40 * 11 + policy),
    ]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(fsdash, command):
    code, out, _ = fsdash(f"{command} --help")
    assert code == 0 and "usage: fsdash" in out
    if command:
        assert "--format" in out


@pytest.mark.processes
def test_the_module_runs_as_a_program():
    """`python -m fsdash`: version, exit codes, a terminal without Greek, a pipe closed early."""
    call = [sys.executable, "-m", "fsdash"]
    version = subprocess.run([*call, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == f"fsdash {__version__}"
    bad = subprocess.run([*call, "solve", "nowhere"], capture_output=True, text=True)
    assert bad.returncode == 2 and bad.stderr.count("\n") == 1
    plain = subprocess.run(
        [*call, "advise", "--sweeps", "4"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert plain.returncode == 0 and "r_max/(1 ? ?) = 100" in plain.stdout and not plain.stderr
    piped = subprocess.run(
        f"{sys.executable} -m fsdash bounds -T 1:5000 -k 1:5 | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert piped.stdout.split()[:2] == ["T", "k"] and piped.stderr == ""
