"""Loops on several threads: the same numbers as on one, and one thread inside runs."""

import multiprocessing
import threading
from itertools import islice

import numba
import numpy as np
import pytest

from fsdash.algorithms import fsvi, mpi
from fsdash.core import greedy, threads
from fsdash.core.operators import bellman, expect, policy_sweeps
from fsdash.core.threads import one_thread, split, thread_count
from fsdash.runs.engine import execute
from fsdash.runs.spec import RunSpec
from fsdash.runs.workers.executor import WorkerExecutor
from tests.models import random_rows

LARGE = 10**12


@pytest.fixture
def three_threads(monkeypatch):
    """Three threads for loops of any size."""
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    monkeypatch.setattr(threads, "MIN_WORK", 0)


def test_blocks_cover_every_entry_once_and_run_in_other_threads(three_threads):
    count_N, names = np.zeros(1000, int), set()

    def block(start, stop):
        count_N[start:stop] += 1
        names.add(threading.current_thread().name)
        return start

    starts = split(block, 1000, LARGE)
    assert (count_N == 1).all() and starts == sorted(starts) and len(starts) == 12
    assert threading.current_thread().name not in names
    for size in (0, 1, 2):
        assert sum(split(lambda start, stop: stop - start, size, LARGE)) == size


def test_an_error_in_a_block_reaches_the_caller(three_threads):
    def block(start, stop):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        split(block, 10, LARGE)


def results(model, large):
    """What the operators and algorithms compute, as arrays."""
    U_XY = np.random.default_rng(0).normal(size=model.real_XY.shape)
    HU_XY, greedy_XY = bellman(model, model.true, U_XY)
    yield from (HU_XY, greedy_XY, expect(model, model.true, U_XY))
    sweeps = policy_sweeps(model, greedy_XY, HU_XY, m=30, goal=1e-2)
    yield from (HU_XY, sweeps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy, "LARGE", 1 if large else LARGE)
        for algorithm in (mpi(model), fsvi(model, T=3)):
            for snapshot in islice(algorithm, 8):
                yield from (snapshot.values_XY, snapshot.policy_PXY, snapshot.error)


@pytest.mark.parametrize("large", [False, True], ids=["any model", "own rows"])
@pytest.mark.parametrize("padded", [False, True], ids=["product", "padded"])
def test_results_are_the_same_bit_for_bit(three_threads, padded, large):
    model = random_rows(3, sizes=(4, 30, 5), padded=padded)
    several = list(results(model, large))
    with one_thread():
        alone = list(results(model, large))
    assert len(several) == len(alone)
    for a, b in zip(several, alone, strict=True):
        assert np.array_equal(a, b)


def test_small_loops_stay_in_the_calling_thread(monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    assert thread_count(threads.MIN_WORK - 1) == 1
    assert thread_count(threads.MIN_WORK) == 3


def test_one_thread_holds_for_the_calling_thread_and_ends(three_threads):
    with one_thread():
        with one_thread():
            assert thread_count(LARGE) == 1
        assert thread_count(LARGE) == 1
        found = []
        other = threading.Thread(target=lambda: found.append(thread_count(LARGE)))
        other.start()
        other.join()
        assert found == [3]
    assert thread_count(LARGE) == 3


def test_a_run_has_one_thread(three_threads):
    found = []
    execute(
        RunSpec("inventory", "vi", iterations=1), 0, lambda _: found.append(thread_count(LARGE))
    )
    assert found == [1, 1] and thread_count(LARGE) == 3


@pytest.mark.processes
def test_worker_processes_have_one_thread():
    with WorkerExecutor(1, spare=0) as workers:
        assert workers.submit(thread_count, LARGE).result() == 1


def _in_a_child(answers):
    answers.put(split(lambda start, stop: stop - start, 24, LARGE))


@pytest.mark.processes
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_starts_its_own_threads(three_threads):
    split(lambda start, stop: None, 24, LARGE)  # this process has its threads
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_a_child, args=(answers,))
    child.start()
    assert sum(answers.get(timeout=60)) == 24
    child.join()
