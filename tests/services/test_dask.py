"""A server on a Dask cluster whose scheduler and workers are killed and come back."""

import io
import os
import signal
import threading
import time
from unittest.mock import Mock

import pandas as pd
import pytest

import fsdash
from fsdash.cli.main import main
from fsdash.errors import InputError
from fsdash.reproduce import experiments
from fsdash.reproduce.figure_files import Renderer
from fsdash.runs.server.manager import Manager
from fsdash.runs.spec import RunSpec
from fsdash.runs.store.experiments import Store
from fsdash.runs.workers.cluster import NO_WORKERS, SCHEDULER_GONE, DaskWorkers
from tests.runs.work import ENDLESS, assert_same_rows, base, frozen, over, until
from tests.saved_models import shop_model
from tools.dask_cluster import Cluster, end

Client = pytest.importorskip("distributed", reason="`make test-services` installs it").Client
pytestmark = [pytest.mark.processes, pytest.mark.services]


@pytest.fixture
def cluster():
    with Cluster() as cluster:
        cluster.start_worker()
        yield cluster


@pytest.fixture
def manager(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("FSDASH_DASK", cluster.address)
    with Manager(Store(tmp_path / "runs.db")) as manager:
        until(lambda: manager._executor.capacity(), "a worker")
        yield manager


def rows(manager, id):
    return manager.store.experiment(id).runs[0].rows


def test_a_cluster_computes_the_same_rows(manager):
    specs = base(replications=2), frozen()
    experiment = over(manager.store, manager.submit("me", "both", specs))
    for run, spec in zip(experiment.runs, specs, strict=True):
        assert run.status == "finished"
        assert_same_rows(manager.store.rows([run.id]), spec)


def test_workers_of_a_cluster_find_a_saved_model_in_the_database(manager):
    saved = manager.store.models.add("me", "shop", shop_model(0.91))
    specs = [
        RunSpec(saved.domain, "fsvi", T=3, iterations=3),
        RunSpec(saved.domain, "e-vi", domain_parameters={"gamma": 0.5}, iterations=2),
    ]
    experiment = over(manager.store, manager.submit("me", "own model", specs))
    for run in experiment.runs:
        assert run.status == "finished", run.reason
        assert_same_rows(manager.store.rows([run.id]), run.spec)


def test_long_replications_on_a_cluster_make_room_for_another_visitor(manager):
    spec = base(iterations=1500)
    long = manager.submit("first", "holds the only worker", [spec, spec])
    until(lambda: rows(manager, long) > 10)
    manager._jobs[0].began -= 60  # its turn is over
    short = manager.submit("second", "short", [base()])
    assert over(manager.store, short).status == "finished"
    assert manager.store.experiment(long).active
    for run in over(manager.store, long).runs:
        assert_same_rows(manager.store.rows([run.id]), spec)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_work_continues_when_the_scheduler_returns(manager, cluster, signal_number):
    """Whether it was killed, or stopped as by `systemctl restart`."""
    spec = base(iterations=600)
    id = manager.submit("me", "struck", [spec])
    until(lambda: rows(manager, id) > 5)
    cluster.scheduler.send_signal(signal_number)
    cluster.scheduler.wait()
    until(lambda: manager.problem == SCHEDULER_GONE)
    until(lambda: manager.store.experiment(id).status == "queued", "an honest status")
    waiting = manager.submit("me", "waiting", [base()])
    cancelled = manager.submit("me", "cancelled", [base()])
    manager.cancel(cancelled)
    assert over(manager.store, cancelled).status == "cancelled"
    for worker in cluster.workers:
        end(worker)
    cluster.start_scheduler()
    cluster.start_worker()
    returned = time.monotonic()
    until(lambda: manager.store.experiment(id).status == "running", "the next attempt")
    assert time.monotonic() - returned < 30
    assert over(manager.store, waiting).status == "finished"
    [run] = over(manager.store, id).runs
    assert run.status == "finished" and manager.problem == ""
    assert_same_rows(manager.store.rows([run.id]), spec)


def test_a_stopped_worker_is_replaced_until_it_continues(manager, cluster, monkeypatch):
    """Dask itself would wait for it for minutes."""
    monkeypatch.setattr("fsdash.runs.workers.cluster.SILENT_SECONDS", 2.0)
    spec = base(iterations=1500)
    cluster.start_worker()
    until(lambda: manager._executor.capacity() == 2, "another worker")
    id = manager.submit("me", "struck", [spec])
    until(lambda: rows(manager, id) > 5)
    pid = manager.store.experiment(id).runs[0].replications[0].pid
    os.kill(pid, signal.SIGSTOP)
    until(lambda: manager._executor.capacity() == 1, "a silent worker")
    [run] = over(manager.store, id).runs
    assert run.status == "finished" and run.replications[0].pid != pid
    assert_same_rows(manager.store.rows([run.id]), spec)
    os.kill(pid, signal.SIGCONT)
    until(lambda: manager._executor.capacity() == 2, "the return of the worker")


def test_a_request_to_stop_takes_effect_without_workers(manager, cluster):
    id = manager.submit("me", "endless", [base(ENDLESS)])
    until(lambda: rows(manager, id) > 5)
    end(cluster.workers[0])
    manager.cancel(id)
    asked = time.monotonic()
    assert over(manager.store, id).status == "cancelled"
    assert time.monotonic() - asked < 10  # less than a second if the machine is not overloaded
    until(lambda: manager.problem == NO_WORKERS)
    waiting = manager.submit("me", "waiting", [base()])
    cluster.start_worker()
    assert over(manager.store, waiting).status == "finished"


def test_the_command_line_computes_on_the_cluster(cluster, tmp_path, capsys):
    """One worker is killed on the way; the rows are those of this process."""
    line = (
        "run inventory --algorithm e-vi,e-fsvi -T 3 --iterations 30 --replications 3 --format csv"
    )
    assert main(line.split()) == 0
    here = without_time(capsys.readouterr().out)
    cluster.start_worker()
    killer = threading.Thread(target=kill_first_worker, args=(cluster,))
    killer.start()
    assert main([*line.split(), "--cluster", cluster.address]) == 0
    killer.join()
    assert without_time(capsys.readouterr().out) == here


def kill_first_worker(cluster):
    """Kill a worker as soon as the cluster has work."""
    with Client(cluster.address, set_as_default=False) as client:
        until(lambda: any(client.processing().values()))
    end(cluster.workers[0])


def without_time(csv):
    frame = pd.read_csv(io.StringIO(csv)).drop(columns="seconds")
    order = ["algorithm", "replication", "step"]
    return frame.sort_values(order, ignore_index=True).to_csv(index=False)


def test_the_command_line_sends_a_model_of_ones_own_to_the_cluster(cluster, tmp_path, capsys):
    """From a file, and from the user's own database; the workers have neither."""
    model = shop_model(0.93)
    fsdash.save(model, tmp_path / "shop.npz")
    saved = Store(tmp_path / "own" / "runs.db").models.add("me", "shop", shop_model(0.94))
    options = "--algorithm fsvi -T 3 --iterations 3 --format csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSDASH_DATA", str(tmp_path / "own"))
        for domain in (str(tmp_path / "shop.npz"), saved.domain):
            line = ["run", domain, *options.split()]
            assert main(line) == 0
            here = without_time(capsys.readouterr().out)
            assert main([*line, "--cluster", cluster.address]) == 0
            assert without_time(capsys.readouterr().out) == here


def test_a_scheduler_that_is_away_for_long_costs_no_files_or_threads(cluster, monkeypatch):
    workers, attempts = DaskWorkers(cluster.address), []
    monkeypatch.setattr("fsdash.runs.workers.cluster.CONNECT_TIMEOUT", 0.2)
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(f"fsdash.runs.retry.{name}", 0.01)
    connect = workers._connect

    def counted_connect():
        attempts.append((threading.active_count(), len(os.listdir("/proc/self/fd"))))
        return connect()

    monkeypatch.setattr(workers, "_connect", counted_connect)
    end(cluster.scheduler)
    until(lambda: len(attempts) > 8, "attempts to connect")
    for counts in zip(*attempts, strict=True):  # of threads, and of open files
        assert max(counts[3:]) <= max(counts[:3])
    assert workers.problem == SCHEDULER_GONE
    cluster.start_scheduler()
    cluster.start_worker()
    monkeypatch.setattr("fsdash.runs.workers.cluster.CONNECT_TIMEOUT", 10.0)
    until(lambda: workers.capacity() == 1, "the new scheduler's worker")
    assert workers.submit(os.path.join, "a", "b").result(60) == "a/b"
    workers.shutdown()
    assert not [t for t in threading.enumerate() if t.name.startswith("dask")]


def test_an_unexpected_error_does_not_end_the_watch_over_the_cluster(cluster, monkeypatch):
    workers = DaskWorkers(cluster.address)
    with monkeypatch.context() as patch:
        patch.setattr(workers, "_find_silent", Mock(side_effect=KeyError("last_seen")))
        until(lambda: "cannot be checked (KeyError" in workers.problem)
        assert workers.capacity() == 0
    until(lambda: workers.capacity() == 1 and not workers.problem)
    workers.shutdown()


def test_a_reproduction_on_the_cluster_has_the_same_rows(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(Renderer, "__enter__", lambda self: self)  # no browser for the figures
    for name, small in (
        ("QUICK_SHARE", 0.02),
        ("QUICK_REPLICATIONS", 1),
        ("AGNOSTIC_SWEEPS", 2),
        ("EXACT_ITERATIONS", 2),
    ):
        monkeypatch.setattr(experiments, name, small)
    line = ["reproduce", "inventory", "--quick", "--out"]
    assert main([*line, str(tmp_path / "here")]) == 0
    assert main([*line, str(tmp_path / "there"), "--cluster", cluster.address]) == 0
    here, there = (
        pd.read_csv(tmp_path / place / "inventory.csv").drop(columns="seconds")
        for place in ("here", "there")
    )
    order = ["variant", "ties", "algorithm", "T", "replication", "step"]
    pd.testing.assert_frame_equal(
        there.sort_values(order, ignore_index=True), here.sort_values(order, ignore_index=True)
    )
    assert len(here) > 100 and (tmp_path / "there" / "claims.csv").exists()


def test_an_address_without_a_scheduler_is_reported(monkeypatch):
    monkeypatch.setattr("fsdash.runs.workers.cluster.CONNECT_TIMEOUT", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        DaskWorkers("tcp://127.0.0.1:9")
