"""A Dask cluster of real processes on this computer, for tests that kill its parts."""

import os
import socket
import subprocess
import sys


class Cluster:
    """A scheduler and workers with one thread each. Use it as a context manager."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.scheduler, self.workers = None, []

    @property
    def address(self):
        return f"tcp://127.0.0.1:{self.port}"

    def __enter__(self):
        self.start_scheduler()
        return self

    def __exit__(self, *_):
        for process in [*self.workers, self.scheduler]:
            end(process)

    def start_scheduler(self):
        options = f"--host 127.0.0.1 --port {self.port} --no-dashboard --no-show".split()
        self.scheduler = start("distributed.cli.dask_scheduler", *options)

    def start_worker(self):
        options = ["--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        self.workers.append(start("distributed.cli.dask_worker", self.address, *options))
        return self.workers[-1]


def start(module, *options):
    """A module as a process of its own."""
    command = [sys.executable, "-m", module, *options]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
    )


def end(process):
    """Kill a process, if it is still running, and wait for it."""
    process.kill()
    process.wait()
