"""Several runs at once: the same rows on any number of workers, and Ctrl-C loses none."""

import errno
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psutil
import pytest

from fsdash.cli.main import main
from fsdash.runs import runner
from fsdash.runs.columns import DTYPES, NAMES
from fsdash.runs.errors import WorkerDied
from fsdash.runs.frames import runs_frame, save
from fsdash.runs.runner import run_all
from fsdash.runs.spec import RunSpec, share_spent
from fsdash.runs.workers.executor import MAX_RETRIES, Workers, no_row
from tests.runs.work import until

SMALL = {"y_max": 10, "d_max": 3, "order_max": 10}
SETS = [text for name, value in SMALL.items() for text in ("--set", f"{name}={value}")]


KIOSK = """
from fsdash.domains import Inventory

class Kiosk(Inventory):
    title = "Kiosk"
"""
COUNTING = """
from dataclasses import replace
from pathlib import Path
from numpy import int64
from fsdash import vi
from fsdash.algorithms.registry import register

def counting(model, U0_XY=None):
    for snapshot in vi(model, U0_XY=U0_XY):
        yield replace(snapshot, evaluations=int64(snapshot.evaluations))

register("counting", counting, title="Counting", description="VI.", sampled=False, initial="U0_XY")
"""
SCRIPT = """
from fsdash import RunSpec, run_all

specs = [RunSpec("kiosk", name, iterations=2) for name in ("vi", "counting")]
frame, endings = run_all(specs, workers=2)
print([ending.outcome.status for ending in endings])
"""


def specs() -> list[RunSpec]:
    def make(name: str, T: int | None) -> RunSpec:
        return RunSpec(
            "inventory", name, T=T, domain_parameters=SMALL, replications=3, iterations=4
        )

    return [make("e-vi", None), make("e-fsvi", 3), make("e-fsvi", 2), make("mpi", None)]


@pytest.mark.processes
def test_rows_do_not_depend_on_the_number_of_workers():
    seen = []
    alone, endings = run_all(
        specs(), progress=lambda spec, i, row: seen.append((spec.hash, i, row))
    )
    shared, others = run_all(specs(), 3)
    timeless = [column for column in NAMES if column != "seconds"]
    pd.testing.assert_frame_equal(alone[timeless], shared[timeless])
    states = [(e.spec, e.replication, e.outcome.status) for e in endings]
    assert states == [(e.spec, e.replication, e.outcome.status) for e in others]
    assert len(states) == 3 * 3 + 1
    assert len(seen) == len(alone) + len(states)


def test_a_frame_is_tidy_and_sorted():
    frame, _ = run_all(specs())
    assert tuple(frame.columns) == ("run", "method", *NAMES)
    assert list(frame.algorithm.unique()) == ["mpi", "e-vi", "e-fsvi"]
    assert frame["T"].isna().sum() == (frame.algorithm != "e-fsvi").sum()
    spec_of = {spec.hash: spec for spec in specs()}
    shuffled = frame.sample(frac=1, random_state=0).to_dict("records")
    rows = [(spec_of[row["run"]], row) for row in shuffled]
    pd.testing.assert_frame_equal(runs_frame(specs(), rows), frame)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_files_contain_the_frame(tmp_path, suffix):
    frame, _ = run_all(specs()[:2])
    save(tmp_path / f"rows{suffix}", frame, specs()[:2])
    if suffix == ".csv":
        back = pd.read_csv(tmp_path / "rows.csv")
    elif suffix == ".parquet":
        back = pd.read_parquet(tmp_path / "rows.parquet")
        assert [RunSpec.from_dict(spec) for spec in back.attrs["specs"]] == specs()[:2]
    else:
        whole = json.loads((tmp_path / "rows.json").read_text())
        assert [RunSpec.from_dict(spec) for spec in whole["specs"]] == specs()[:2]
        back = pd.DataFrame(whole["rows"])
    pd.testing.assert_frame_equal(back.astype(DTYPES), frame)


def test_a_file_stays_as_it_was_if_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    out = tmp_path / "rows.csv"
    out.write_text("of an earlier run")

    def disk_full(frame, path, **_):
        Path(path).write_text("half a row")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", disk_full)
    with pytest.raises(OSError, match="No space left"):
        save(out, pd.DataFrame(), [])
    assert out.read_text() == "of an earlier run" and list(tmp_path.iterdir()) == [out]


def test_the_command_writes_rows_and_prints_a_summary(tmp_path, capsys):
    out = tmp_path / "rows.csv"
    code = main(
        [
            "run",
            "inventory",
            *SETS,
            "--algorithm",
            "e-vi,e-fsvi",
            "-T",
            "2,3",
            "--replications",
            "2",
            "--iterations",
            "3",
            "--with",
            "M=5",
            "--out",
            str(out),
        ]
    )
    shown = capsys.readouterr()
    assert code == 0
    assert "E-FSVI, T=3" in shown.out
    rows = pd.read_csv(out)
    assert tuple(rows.columns) == ("run", "method", *NAMES)
    assert sorted(rows["T"].dropna().unique()) == [2, 3]
    assert rows.evaluations[rows.algorithm == "e-vi"].max() == 3 * 44 * 3 * 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--algorithm", "e-xx"], "algorithm 'e-xx'"),
        (["--algorithm", "e-vi", "--with", "M=0"], "M = 0"),
        (["--algorithm", "e-vi", "--with", "M_u=3"], "'M_u'"),
        (["--algorithm", "e-vi,e-qi", "--with", "M_u=3"], "M_u"),
        (["--algorithm", "e-vi", "--with", "M"], "NAME=VALUE"),
        (["--algorithm", "e-vi", "--iterations", "0"], "iterations = 0"),
        (["--algorithm", "e-vi", "--evaluations", "-5"], "evaluations = -5"),
        (["--algorithm", "e-vi", "--evaluations", "nan"], "evaluations = nan"),
        (["--algorithm", "e-vi", "--replications", "0"], "replications = 0"),
        (["--algorithm", "e-vi", "--seed", "-1"], "seed = -1"),
        (["--algorithm", "e-vi", "--workers", "0"], "workers = 0"),
        (["--algorithm", "e-vi", "--out", "rows.xls"], "rows.xls"),
        (["--algorithm", "e-vi", "--out", "no/such/rows.csv"], "does not exist"),
        (["--algorithm", "e-vi", "--out", "/proc/rows.csv"], "cannot be written"),
        (["--algorithm", "e-vi,lin-fvi", "--with", "N=45"], "N = 45"),
        (["--algorithm", "e-fsvi", "-T", "1:1000"], "narrow -T"),
        (["--algorithm", "e-fsvi", "-T", "0"], "T = 0"),
        (["--algorithm", "e-fsvi", "--evaluations", "1"], "use a larger one"),
    ],
)
def test_unusable_input_is_reported_in_one_line(arguments, words, capsys):
    assert main(["run", "inventory", *SETS, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert words in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.processes
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_returns_the_rows_so_far(tmp_path, workers):
    """On a terminal: wait for the bar to show progress, press Ctrl-C, find the rows."""
    out = tmp_path / "rows.csv"
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "fsdash",
        "run",
        "inventory",
        "--algorithm",
        "e-vi",
        "--iterations",
        "1000000",
        "--replications",
        "2",
        "--workers",
        workers,
        "--out",
        str(out),
    ]
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        # A shell that runs the tests in the background makes them, and their children, ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    wait_for(ours, "%")
    process.send_signal(signal.SIGINT) if workers == "1" else os.killpg(process.pid, signal.SIGINT)
    wait_for(ours, "rows in")
    assert process.wait(timeout=60) == 130
    assert len(pd.read_csv(out)) >= 1
    os.close(ours)


@pytest.mark.processes
@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_command_that_started_them(tmp_path, signal_number):
    command = "run inventory --algorithm e-vi --iterations 1000000 --replications 2 --workers 2"
    process = subprocess.Popen(
        [sys.executable, "-m", "fsdash", *command.split(), "--out", str(tmp_path / "rows.csv")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    parent = psutil.Process(process.pid)
    busy = lambda: [c for c in parent.children() if c.cpu_times().user > 1]  # noqa: E731
    workers = until(lambda: len(busy()) == 2 and busy(), "two workers that compute")
    process.send_signal(signal_number)
    process.wait()
    until(lambda: not any(worker.is_running() for worker in workers), "the end of the workers")


class DyingWorkers(Workers):
    """Computes in this process; each task loses its worker a few times, after its first row."""

    def __init__(self, deaths: int) -> None:
        super().__init__(workers=2)
        self.deaths = deaths
        self.tries: dict[tuple, int] = {}

    def submit(self, fn, /, *args, on_row=no_row):
        future = Future()
        rows, outcome = fn(*args)
        on_row(rows[0])
        key = args[1:]
        self.tries[key] = self.tries.get(key, 0) + 1
        if self.tries[key] <= self.deaths:
            future.set_exception(WorkerDied("its worker was killed"))
        else:
            future.set_result((rows[1:], outcome))
        return future


def run_on(workers, monkeypatch):
    monkeypatch.setattr(runner, "WorkerExecutor", lambda *_arguments, **_options: workers)
    return run_all(specs(), workers=2)


def test_a_replication_whose_worker_died_is_computed_again(monkeypatch):
    alone, _ = run_all(specs())
    struck, endings = run_on(DyingWorkers(MAX_RETRIES), monkeypatch)
    timeless = [column for column in NAMES if column != "seconds"]
    pd.testing.assert_frame_equal(alone[timeless], struck[timeless])
    assert {ending.outcome.status for ending in endings} == {"finished"}


def test_a_replication_is_given_up_after_too_many_dead_workers(monkeypatch):
    workers = DyingWorkers(MAX_RETRIES + 1)
    _, endings = run_on(workers, monkeypatch)
    assert {ending.outcome.reason for ending in endings} == {"its worker was killed"}
    assert {ending.outcome.status for ending in endings} == {"failed"}
    assert set(workers.tries.values()) == {MAX_RETRIES + 1}


@pytest.mark.processes
def test_a_killed_worker_is_replaced_and_its_replication_computed_again():
    run = replace(specs()[0], iterations=200, replications=2)
    killed = []

    def kill_first_worker(spec, replication, row):
        if not killed:
            killed.extend(psutil.Process().children())
            killed[0].kill()

    alone, _ = run_all([run])
    struck, endings = run_all([run], 2, progress=kill_first_worker)
    assert killed and {ending.outcome.status for ending in endings} == {"finished"}
    timeless = [column for column in NAMES if column != "seconds"]
    pd.testing.assert_frame_equal(alone[timeless], struck[timeless])


@pytest.mark.processes
def test_workers_import_a_users_modules_from_where_this_process_finds_them(tmp_path, monkeypatch):
    (tmp_path / "kiosk.py").write_text(KIOSK)
    (tmp_path / "counting.py").write_text(COUNTING)
    monkeypatch.setenv("FSDASH_ALGORITHMS", "counting")
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.setenv("FSDASH_DOMAINS", "kiosk:Kiosk")
    shown = subprocess.check_output([sys.executable, str(tmp_path / "script.py")], text=True)
    assert shown.strip() == "['finished', 'finished']"


def test_a_run_that_records_nothing_is_named(capsys):
    both = ["--algorithm", "e-fsvi,vi", "-T", "3", "--evaluations", "400", "--replications", "1"]
    assert main(["run", "inventory", *SETS, *both]) == 0
    shown = capsys.readouterr()
    assert "E-FSVI, T=3, replication 0: finished, the budget" not in shown.err
    few = [*both[:-3], "5", *both[-2:]]
    assert main(["run", "inventory", *SETS, *few]) == 0
    assert "E-FSVI, T=3, replication 0: finished, the budget" in capsys.readouterr().err


def test_the_progress_bar_never_moves_back():
    run = specs()[1]
    shares = []

    def note(spec, replication, row):
        shares.append(row and share_spent(*spec.budget, row))

    run_all([run], progress=note)
    first = [share for share in shares[: shares.index(None)]]
    assert first == sorted(first) and first[-1] == 1.0


def wait_for(terminal: int, text: str) -> None:
    deadline, seen = time.monotonic() + 120, ""
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"{text!r} never came; the terminal shows {seen!r}"
        try:
            seen += os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the program has ended
            raise AssertionError(f"{text!r} never came; the terminal shows {seen!r}") from None
