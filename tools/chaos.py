"""Kill everything at random while visitors run experiments, then check that nothing was lost.

    python -m tools.chaos --minutes 10 --postgres --dask      # `make chaos`
    python -m tools.chaos --minutes 1                         # SQLite and local workers

A server (a process of its own) computes the experiments of ten visitors with two workers. Every few
seconds one of these happens: SIGKILL of the server, which is started again; SIGKILL or SIGSTOP of a
worker; with `--postgres` SIGKILL of all processes of the database, which is started again; with
`--dask` the same for the scheduler. Server, database, scheduler and workers of a cluster are also
stopped for some seconds and continue. After every second event nothing else happens until the work
goes on, and that time is reported:

- *worker*, *stopped worker*: from the signal until another worker has begun the replication that
  the struck one was computing. A worker without a replication counts as *idle worker*.
- everything else: from the return of what was killed or stopped until a new row is recorded.

At the end the killing stops, all experiments have to finish, and every recorded row is compared
with an undisturbed run. After every event the rows of each replication are counted: there must not
be fewer than before. The memory and the open files of every server process are compared with those
when it had recorded its first rows; with `--keep-server` the server is neither killed nor stopped,
so that this is one process all the time. When the last server has been killed, its workers have to
end. Exits with 1 if a row is lost or different, if a run is stuck or work does not go on, if memory
or files grow, or if a process is left behind.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from sqlalchemy import func, select

from fsdash.errors import InputError
from fsdash.runs.errors import StoreError
from fsdash.runs.records import ACTIVE
from fsdash.runs.retry import patiently
from fsdash.runs.server.manager import Manager
from fsdash.runs.store.experiments import Store
from fsdash.runs.store.schema import replications
from fsdash.runs.store.schema import rows as row_table
from fsdash.runs.workers.executor import SPARE
from tests.runs.work import assert_same_rows, base, frozen
from tools.dask_cluster import Cluster, end
from tools.postgres import Postgres

VISITORS = 10
UNFINISHED = 12
"""Experiments that the visitors keep in the queue."""
WORKERS = 2
"""Replications that run at a time. A cluster has one worker more, as the local workers do."""
LONGEST_STOP = 5.0
"""Seconds for which something is stopped or away."""
RECOVERY_SECONDS = 90
"""The work has to go on within this time after an event."""
CALM_SECONDS = 300
"""Within this time everything has to finish after the last kill."""
MAX_MORE_FILES, MAX_MORE_MEMORY = 20, 100
"""Open files and megabytes of a server process beyond those at its start: connections that a pool
keeps, and what caches may hold."""
SPECS = (
    base(iterations=150, replications=2),
    frozen(iterations=60),
    base(iterations=1500),
    frozen(iterations=20, replications=3, T=6),
)


def serve(url: str) -> None:
    """The server: visitors submit experiments as long as the file `stop` does not exist.

    Then they continue what was given up because it was killed too often without a new row.
    """
    rng = random.Random(os.getpid())
    with started(url) as manager:
        store = manager.store
        while True:
            time.sleep(0.5)
            try:
                active = {e.id for s in ACTIVE for e in store.experiments(status=s)}
                if Path(os.environ["CHAOS_STOP"]).exists():
                    for experiment in store.experiments(status="interrupted", limit=1000):
                        manager.resume(experiment.id)
                elif len(active) < UNFINISHED:
                    visitor = f"visitor {rng.randrange(VISITORS)}"
                    manager.submit(visitor, "chaos", [rng.choice(SPECS)])
            except StoreError:
                continue


def started(url: str) -> Manager:
    """The manager, as soon as the database and the scheduler answer."""
    while True:
        try:
            return Manager(Store(url), workers=WORKERS)
        except (StoreError, InputError):
            time.sleep(0.5)


@dataclass(frozen=True)
class Usage:
    """Memory in megabytes and open files of the server, and the most of one worker."""

    megabytes: float
    files: int
    workers: int
    worker_megabytes: float
    worker_files: int

    def __str__(self) -> str:
        return (
            f"server {self.megabytes:.0f} MB, {self.files} open files; {self.workers} workers of "
            f"at most {self.worker_megabytes:.0f} MB, {self.worker_files} open files"
        )


class Chaos:
    """The server and its surroundings, and what can happen to them."""

    def __init__(self, url: str, folder: Path, postgres: Postgres | None, cluster: Cluster | None):
        self.url, self.folder, self.postgres, self.cluster = url, folder, postgres, cluster
        self.stop = folder / "stop"
        self.kills: Counter[str] = Counter()
        self.stops: Counter[str] = Counter()
        self.recoveries: dict[str, list[float]] = {}
        self.ended_by_itself = self.not_recovered = 0
        self.first_usage: Usage | None = None
        """By server process: when it had recorded its first rows."""
        self.environment = os.environ | {"CHAOS_STOP": str(self.stop)}
        if cluster is not None:
            self.environment["FSDASH_DASK"] = cluster.address
        self.start_server()

    def start_server(self) -> None:
        command = [sys.executable, "-m", "tools.chaos", "--serve", self.url]
        with (self.folder / "server.log").open("ab") as log:
            self.server = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)

    def end_of_log(self) -> str:
        return (self.folder / "server.log").read_text()[-3000:]

    def workers(self) -> list[psutil.Process]:
        if self.cluster is not None:
            return [psutil.Process(w.pid) for w in self.cluster.workers if w.poll() is None]
        try:
            children = psutil.Process(self.server.pid).children()
            return [c for c in children if "fsdash.runs.workers.program" in c.cmdline()]
        except psutil.NoSuchProcess:  # one ended meanwhile
            return []

    def strike(
        self, rng: random.Random, store: Store, keep_server: bool
    ) -> tuple[str, float, Callable[[], bool]]:
        """Let something happen; return what, when its clock began, and whether work goes on."""
        events = {"worker": 5, "stopped worker": 2}
        if not keep_server:
            events |= {"server": 2, "stopped server": 1}
        if self.postgres is not None:
            events |= {"database": 1, "stopped database": 1}
        if self.cluster is not None:
            events |= {"scheduler": 1, "stopped scheduler": 1}
        event = rng.choices(list(events), list(events.values()))[0]
        away = rng.uniform(0, LONGEST_STOP)
        if event.endswith("worker"):
            return self._strike_worker(rng, store, event, away)
        if event == "server":
            end(self.server)
            self.start_server()
        elif event == "stopped server":
            stop_for(away, psutil.Process(self.server.pid))
        elif event == "database":
            self.postgres.kill()
            time.sleep(away)
            self.postgres.start()
        elif event == "stopped database":
            stop_for(away, *self.postgres.processes())
        elif event == "scheduler":
            end(self.cluster.scheduler)
            time.sleep(away)
            self.cluster.start_scheduler()
        elif event == "stopped scheduler":
            stop_for(away, psutil.Process(self.cluster.scheduler.pid))
        self._count(event)
        return event, time.monotonic(), new_rows(store)

    def _strike_worker(
        self, rng: random.Random, store: Store, event: str, away: float
    ) -> tuple[str, float, Callable[[], bool]]:
        busy = [(w, r) for w in self.workers() if (r := replication_of(store, w.pid))]
        worker, computed = rng.choice(busy or [(w, None) for w in self.workers()] or [(None, None)])
        struck = time.monotonic()
        if worker is None:  # they are all being started
            return "no worker", struck, lambda: True
        with suppress(psutil.NoSuchProcess):
            if event == "worker":
                worker.kill()
            elif self.cluster is None:
                worker.suspend()
            else:
                stop_for(away, worker)
        self._count(event)
        if event == "stopped worker" and self.cluster is not None:  # it continues by itself
            return event, time.monotonic(), new_rows(store)
        if computed is None or has_finished(store, *computed, worker.pid):
            return f"idle {event}", struck, new_rows(store)
        return event, struck, lambda: runs_elsewhere(store, *computed, worker.pid)

    def _count(self, event: str) -> None:
        (self.stops if event.startswith("stopped") else self.kills)[event] += 1

    def usage(self) -> Usage | None:
        """Memory and open files now; None if a process has just ended."""
        with suppress(psutil.NoSuchProcess):
            workers = self.workers()
            server = psutil.Process(self.server.pid)
            return Usage(
                server.memory_info().rss / 2**20,
                server.num_fds(),
                len(workers),
                max([p.memory_info().rss / 2**20 for p in workers], default=0.0),
                max([p.num_fds() for p in workers], default=0),
            )
        return None

    def growth(self) -> str:
        """How much more the server uses than the first one did after its first rows, if too much.

        A server that was started again is compared with the first one: both run the same program.
        """
        now = self.usage()
        if now is None:
            return ""
        first = self.first_usage = self.first_usage or now
        files, megabytes = now.files - first.files, now.megabytes - first.megabytes
        if files <= MAX_MORE_FILES and megabytes <= MAX_MORE_MEMORY:
            return ""
        return f"the server grew by {files} open files and {megabytes:.0f} MB"

    def left_behind(self) -> list[int]:
        """Kill the server; the workers that do not end with it."""
        workers = self.workers() if self.cluster is None else []
        end(self.server)
        return [process.pid for process in psutil.wait_procs(workers, timeout=10)[1]]

    def replace_dead_workers(self) -> None:
        """Start the workers of a cluster again, as its supervisor would.

        Workers of Dask also end by themselves when their scheduler has gone.
        """
        if self.cluster is None:
            return
        self.cluster.workers = [w for w in self.cluster.workers if w.poll() is None]
        while len(self.cluster.workers) < WORKERS + SPARE:
            self.cluster.start_worker()


def stop_for(seconds: float, *processes: psutil.Process) -> None:
    """Stop processes by SIGSTOP for a while."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    time.sleep(seconds)
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.resume()


def replication_of(store: Store, pid: int) -> tuple[int, int] | None:
    """Run and number of the replication that a process computes."""
    p = replications.c
    query = select(p.run, p.replication).where(p.pid == pid, p.status == "running")
    with suppress(StoreError), store.database.reading() as connection:
        row = connection.execute(query).first()
        return None if row is None else (row.run, row.replication)
    return None


def runs_elsewhere(store: Store, run: int, replication: int, pid: int) -> bool:
    """Whether a worker other than this one has begun a replication, or it has ended."""
    found = worker_and_status(store, run, replication)
    if found is None or found[1] == "queued":
        return False
    return found[0] != pid or found[1] != "running"


def has_finished(store: Store, run: int, replication: int, pid: int) -> bool:
    """Whether this worker has finished a replication."""
    return worker_and_status(store, run, replication) == (pid, "finished")


def worker_and_status(store: Store, run: int, replication: int) -> tuple[int, str] | None:
    """The process that computes a replication or was the last to do so; None without a store."""
    p = replications.c
    query = select(p.pid, p.status).where(p.run == run, p.replication == replication)
    with suppress(StoreError), store.database.reading() as connection:
        pid, status = connection.execute(query).one()
        return pid, status
    return None


def new_rows(store: Store) -> Callable[[], bool]:
    """Whether rows were recorded since now."""
    before: list[int] = []

    def goes_on() -> bool:
        with suppress(StoreError):
            before.append(store.size().rows)
        return bool(before) and before[-1] > before[0]

    return goes_on


def wait_until_finished(store: Store, chaos: Chaos) -> list[str]:
    """The experiments that are still active when the time is up."""
    deadline = time.monotonic() + CALM_SECONDS
    while time.monotonic() < deadline:
        chaos.replace_dead_workers()
        try:
            unfinished = (*ACTIVE, "interrupted")
            active = [e.id for s in unfinished for e in store.experiments(status=s, limit=1000)]
        except StoreError:
            active = ["the store cannot be used"]
        if not active:
            return []
        time.sleep(1)
    return active


def verify(store: Store) -> tuple[Counter[str], int, list[str]]:
    """Statuses of all replications, the number of rows, and what is wrong."""
    statuses, rows, problems = Counter(), 0, []
    for experiment in store.experiments(limit=100_000):
        [run] = experiment.runs
        statuses.update(r.status for r in run.replications)
        rows += run.rows
        if run.status == "finished":
            try:
                assert_same_rows(store.rows([run.id]), run.spec)
            except AssertionError as error:
                problems.append(f"{experiment.id}: {str(error).splitlines()[0]}")
        else:
            problems.append(f"{experiment.id}: {run.status}, {run.reason}")
    return statuses, rows, problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between two events")
    parser.add_argument("--keep-server", action="store_true", help="do not kill the server")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--serve", metavar="URL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends what was started here, too
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(Postgres()) if arguments.postgres else None
        cluster = stack.enter_context(Cluster()) if arguments.dask else None
        url = postgres.new_database("chaos") if postgres else f"sqlite:///{folder}/runs.db"
        chaos = Chaos(url, folder, postgres, cluster)
        stack.callback(lambda: end(chaos.server))
        sys.exit(run(chaos, arguments))


def run(chaos: Chaos, arguments: argparse.Namespace) -> int:
    rng, store = random.Random(arguments.seed), Store(chaos.url)
    chaos.replace_dead_workers()
    wait_for(new_rows(store), chaos)
    print("start:", chaos.usage(), flush=True)
    deadline, before, lost = time.monotonic() + 60 * arguments.minutes, {}, 0
    growths = {chaos.growth()}
    while time.monotonic() < deadline:
        time.sleep(rng.expovariate(1 / arguments.pause))
        event, began, goes_on = chaos.strike(rng, store, arguments.keep_server)
        chaos.replace_dead_workers()
        if rng.random() < 0.5:
            if wait_for(goes_on, chaos):
                chaos.recoveries.setdefault(event, []).append(time.monotonic() - began)
                growths.add(chaos.growth())
            else:
                print(f"no work within {RECOVERY_SECONDS} s after {event}", flush=True)
                chaos.not_recovered += 1
        if chaos.server.poll() is not None:
            print("the server ended by itself:", chaos.end_of_log())
            chaos.start_server()
            chaos.ended_by_itself += 1
        with suppress(StoreError):
            stored = stored_rows(store)
            lost += sum(max(0, count - stored.get(key, 0)) for key, count in before.items())
            before = stored
    given_up = len(patiently(lambda _: store.experiments(status="interrupted", limit=1000)))
    chaos.stop.touch()
    began = time.monotonic()
    stuck = wait_until_finished(store, chaos)
    calm = time.monotonic() - began
    print("end:  ", chaos.usage())
    growths.add(chaos.growth())
    left = chaos.left_behind()
    statuses, rows, problems = verify(store)
    print(f"SIGKILL: {chaos.kills.total()}, of which {dict(chaos.kills)}")
    print(f"SIGSTOP: {chaos.stops.total()}, of which {dict(chaos.stops)}")
    print(f"rows: {rows:,}; lost: {lost:,}; replications: {dict(statuses)}")
    print(f"stuck: {len(stuck)}; not equal to an undisturbed run or not finished: {len(problems)}")
    print(f"experiments that were given up and continued by a visitor: {given_up}")
    print(f"the server ended by itself: {chaos.ended_by_itself} times")
    print(f"times without work for {RECOVERY_SECONDS} s: {chaos.not_recovered}")
    print(f"workers left behind by the last server: {len(left)}")
    print(f"finished {calm:.0f} s after the last event")
    for event, seconds in sorted(chaos.recoveries.items()):
        print(
            f"work went on after {event}: {median(seconds):.1f} s in the median, "
            f"{max(seconds):.1f} s at most, of {len(seconds)}"
        )
    grown = sorted(filter(None, growths))
    for problem in [*stuck, *problems, *grown]:
        print(problem)
    failed = bool(
        stuck or problems or lost or grown or left or chaos.ended_by_itself or chaos.not_recovered
    )
    if failed:
        print(chaos.end_of_log())
    return int(failed)


def stored_rows(store: Store) -> dict[tuple[int, int], int]:
    """By run and replication: the number of recorded rows."""
    r = row_table.c
    query = select(r.run, r.replication, func.count()).group_by(r.run, r.replication)
    with store.database.reading() as connection:
        return {(run, i): count for run, i, count in connection.execute(query)}


def wait_for(goes_on: Callable[[], bool], chaos: Chaos) -> bool:
    """Wait until the work goes on, at most `RECOVERY_SECONDS`; whether it does."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    while not goes_on():
        if time.monotonic() > deadline:
            return False
        chaos.replace_dead_workers()
        time.sleep(0.05)
    return True


if __name__ == "__main__":
    main()
