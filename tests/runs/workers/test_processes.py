"""Other processes: whether they run, since when, and with how much memory."""

import os
import subprocess
import sys

import psutil
import pytest

from fsdash.runs.workers.processes import is_running, memory_megabytes, start_time
from tests.runs.work import until


@pytest.fixture
def child():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def test_this_process_runs_and_has_a_fixed_start_time():
    started = start_time(os.getpid())
    assert started == pytest.approx(start_time(os.getpid()), abs=0.01)
    assert is_running(os.getpid(), started)


def test_a_process_with_another_start_time_is_another_process(child):
    assert is_running(child.pid)
    assert is_running(child.pid, start_time(child.pid))
    assert not is_running(child.pid, start_time(child.pid) - 60)


def test_a_killed_process_does_not_run_even_before_it_is_waited_for(child):
    child.kill()
    until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE, "a zombie")
    assert not is_running(child.pid)
    child.wait()
    assert not is_running(child.pid)
    assert start_time(child.pid) is None
    assert memory_megabytes(child.pid) == 0


def test_the_start_time_does_not_depend_on_the_clock(monkeypatch, child):
    before = start_time(child.pid)
    boot_time = psutil.boot_time()
    create_time = psutil.Process(child.pid).create_time()
    monkeypatch.setattr(psutil, "boot_time", lambda: boot_time + 3600)
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: create_time + 3600)
    assert start_time(child.pid) == pytest.approx(before, abs=0.01)


def test_the_memory_of_a_process_in_megabytes(child):
    def touched():
        return memory_megabytes(child.pid) > 1

    until(touched, "memory of the child")
    assert memory_megabytes(os.getpid()) == pytest.approx(
        psutil.Process().memory_info().rss / 2**20, rel=0.5
    )
