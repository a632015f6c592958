"""A Dask cluster of real processes on this computer, for tests that kill its parts."""

import os
import socket
import subprocess
import sys


class Cluster:
    """A scheduler and workers with one thread each. Use it as a context manager."""

    def __init__(self, host="127.0.0.1"):
        self.host = host
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.scheduler, self.workers = None, []

    @property
    def address(self):
        return f"tcp://{self.host}:{self.port}"

    def __enter__(self):
        self.start_scheduler()
        return self

    def __exit__(self, *_):
        for process in [*self.workers, self.scheduler]:
            end(process)

    def start_scheduler(self):
        options = f"--host {self.host} --port {self.port} --no-dashboard --no-show".split()
        self.scheduler = start("distributed.cli.dask_scheduler", *options)

    def start_worker(self, host="127.0.0.1", on=()):
        """Start a worker; `on` is the beginning of a command that runs on another computer."""
        options = ["--host", host, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        options += ["--preload", "fsdash.runs.server.worker"]  # so the first task begins at once
        worker = start("distributed.cli.dask_worker", self.address, *options, on=on)
        self.workers.append(worker)
        return worker


def start(module, *options, on=()):
    """A module as a process of its own."""
    command = [*on, sys.executable, "-m", module, *options]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
    )


def end(process):
    """Kill a process, if it is still running, and wait for it."""
    process.kill()
    process.wait()
