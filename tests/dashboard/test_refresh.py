"""How often the pages of one server refresh."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsdash.dashboard import refresh
from fsdash.dashboard.refresh import (
    FASTEST_REFRESH,
    INACTIVE_AFTER,
    LATE,
    LONGEST_PAUSE,
    REFRESH_SHARE,
    RefreshRate,
)
from tests.runs.work import until


def test_a_refresh_waits_for_the_one_before_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(refresh, "TURN_TIMEOUT", 0.01)
    rate = RefreshRate()
    with rate.refresh("one"):
        began = time.monotonic()
        with rate.refresh("two"):
            waited = time.monotonic() - began
    assert waited >= 0.01


def test_refreshes_take_turns(monkeypatch):
    monkeypatch.setattr(refresh, "TURN_TIMEOUT", 60)
    rate, inside = RefreshRate(), []

    def refresh_page(viewer: int) -> None:
        with rate.refresh(viewer):
            inside.append(viewer)
            assert len(inside) == 1
            inside.remove(viewer)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(refresh_page, range(200)))


def test_who_has_seen_no_numbers_yet_comes_first(monkeypatch):
    monkeypatch.setattr(refresh, "TURN_TIMEOUT", 60)
    rate, order = RefreshRate(), []

    def refresh_page(viewer: str, first: bool) -> None:
        with rate.refresh(viewer, first):
            order.append(viewer)

    def waiting(n: int) -> bool:
        return sum(map(len, rate._waiting)) == n

    with ThreadPoolExecutor(3) as threads, rate.refresh("running"):
        for n, (viewer, first) in enumerate((("a", False), ("b", False), ("new", True)), start=1):
            threads.submit(refresh_page, viewer, first)
            until(lambda n=n: waiting(n))
    assert order == ["new", "a", "b"]


def test_a_refresh_waits_while_many_threads_compete_but_not_for_ever(monkeypatch):
    """A clock on which a short sleep ends late the first times."""
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds + (2 * LATE if len(slept) <= late_sleeps[0] else 0)

    monkeypatch.setattr(refresh.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(refresh.time, "sleep", sleep)
    late_sleeps = [0]
    refresh.let_widgets_go_first(LONGEST_PAUSE)
    assert len(slept) == 1
    late_sleeps[0] = 4
    refresh.let_widgets_go_first(LONGEST_PAUSE)
    assert len(slept) == 5
    late_sleeps[0], now[0] = 10**6, 0.0
    refresh.let_widgets_go_first(LONGEST_PAUSE)
    assert LONGEST_PAUSE <= now[0] < LONGEST_PAUSE + 1


def test_a_refresh_that_fails_gives_its_turn_back():
    rate = RefreshRate()
    with pytest.raises(KeyError), rate.refresh("one"):
        raise KeyError
    with rate.refresh("two"):
        assert rate.interval() == FASTEST_REFRESH


def test_all_refreshes_together_take_a_fixed_share_of_one_core(monkeypatch):
    clock = iter([0.0, 0.006] * 80)
    monkeypatch.setattr(refresh.time, "thread_time", lambda: next(clock))
    now = [100.0]
    monkeypatch.setattr(refresh.time, "monotonic", lambda: now[0])
    rate, interval = RefreshRate(), {}
    for viewer in range(80):
        with rate.refresh(viewer):
            pass
        interval[viewer + 1] = rate.interval()
    assert interval[1] == FASTEST_REFRESH
    assert interval[80] == pytest.approx(80 * 0.006 / REFRESH_SHARE)
    now[0] += INACTIVE_AFTER
    assert rate.interval() == FASTEST_REFRESH
