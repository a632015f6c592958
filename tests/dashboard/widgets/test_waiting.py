"""A computation that visitors share and can stop: real threads, no page."""

import threading
from concurrent.futures import wait

import pytest

from fsdash.dashboard.widgets.waiting import MOST_ENDED, Stopped, WorkList

DEADLINE = 60


class Steps:
    """A computation that makes a step whenever the test lets it, and counts how often it began."""

    def __init__(self):
        self.began, self.step, self.waits = 0, threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, progress):
        self.began += 1
        for share in (0.0, 0.5, 1.0):
            progress(share)
            self.waits.release()
            assert self.step.acquire(timeout=DEADLINE)
        return "done"

    def advance(self):
        """Let it make one step, and wait until it has reported the next."""
        self.step.release()
        assert self.waits.acquire(timeout=DEADLINE)

    def finish(self):
        """Let it make all steps that are left."""
        self.step.release(3)


def ended(work):
    assert wait([work.future], timeout=DEADLINE).done
    return work.future


def test_two_visitors_share_one_computation_and_see_its_progress():
    works, compute = WorkList(), Steps()
    work = works.join("key", compute, "a")
    assert works.join("key", compute, "b") is work
    assert compute.waits.acquire(timeout=DEADLINE) and work.share == 0.0
    compute.advance()
    assert work.share == 0.5
    compute.finish()
    assert ended(work).result() == "done" and work.share == 1.0
    assert works.join("key", compute, "c") is work and compute.began == 1


def test_it_ends_at_its_next_step_when_the_last_visitor_leaves():
    works, compute = WorkList(), Steps()
    work = works.join("key", compute, "a")
    works.join("key", compute, "b")
    assert compute.waits.acquire(timeout=DEADLINE)
    works.leave(work, "a")
    compute.advance()
    assert not work.future.done()
    works.leave(work, "b")
    compute.finish()
    with pytest.raises(Stopped):
        ended(work).result()
    again = works.join("key", compute, "a")
    assert again is not work
    compute.finish()
    assert ended(again).result() == "done"


def test_it_ends_if_nobody_looks_at_it_any_more(monkeypatch):
    """As when the visitor has closed the tab."""
    works, compute = WorkList(), Steps()
    work = works.join("key", compute, "a")
    assert compute.waits.acquire(timeout=DEADLINE)
    compute.advance()
    monkeypatch.setattr("fsdash.dashboard.widgets.waiting.ABANDONED_AFTER", 0.0)
    compute.finish()
    with pytest.raises(Stopped):
        ended(work).result()


def test_an_error_reaches_the_page_and_the_next_visitor_begins_again():
    def fail(progress):
        raise ValueError("too large")

    works = WorkList()
    work = works.join("key", fail, "a")
    with pytest.raises(ValueError, match="too large"):
        ended(work).result()
    assert works.join("key", lambda progress: 7, "a").future.result(DEADLINE) == 7


def test_a_bounded_number_of_ended_computations_is_kept():
    works = WorkList()
    kept = [works.join(n, lambda progress, n=n: n, "a") for n in range(MOST_ENDED)]
    for work in kept:
        ended(work)
    ended(works.join("one", lambda progress: 0, "a"))
    ended(works.join("two", lambda progress: 0, "a"))
    assert works.join(1, lambda progress: 1, "a") is kept[1]
    assert works.join(0, lambda progress: 0, "a") is not kept[0]
