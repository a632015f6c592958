"""Server, scheduler and PostgreSQL here, and workers on two computers with their own addresses."""

import pytest

from fsdash.cli.main import main
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.experiments import Store
from tests.databases import postgres_or_skip
from tests.runs.work import ENDLESS, assert_same_rows, base, frozen, over, until
from tools.dask_cluster import Cluster, end
from tools.network import Computers, problem

pytest.importorskip("distributed", reason="`make test-services` installs it")
pytestmark = [pytest.mark.processes, pytest.mark.services]


@pytest.fixture(scope="module")
def network():
    if reason := problem():
        pytest.skip(reason)
    with Computers(2) as computers:
        yield computers


@pytest.fixture(scope="module")
def cluster(network):
    with Cluster(network.host) as cluster:
        for n in range(2):
            cluster.start_worker(network.address(n), network.on(n))
        yield cluster


def test_a_server_computes_on_two_other_computers(network, cluster, monkeypatch):
    monkeypatch.setenv("FSDASH_DASK", cluster.address)
    specs = base(iterations=300, replications=2), frozen(iterations=100)
    with (
        postgres_or_skip(network.host) as postgres,
        Manager(Store(postgres.new_database("network"))) as manager,
    ):
        until(lambda: manager._executor.capacity() == 2, "two computers")
        experiment = over(manager.store, manager.submit("me", "far away", specs))
        for run, spec in zip(experiment.runs, specs, strict=True):
            assert run.status == "finished", run.reason
            assert_same_rows(manager.store.rows([run.id]), spec)
        id = manager.submit("me", "endless", [base(ENDLESS)])
        until(lambda: manager.store.experiment(id).runs[0].rows > 5)
        manager.cancel(id)
        assert over(manager.store, id).status == "cancelled"


def test_a_command_computes_there_too_when_one_computer_is_left(cluster, capsys):
    end(cluster.workers[0])
    line = "run inventory --algorithm e-vi --iterations 5 --replications 2 --format csv --cluster"
    assert main([*line.split(), cluster.address]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * 16
