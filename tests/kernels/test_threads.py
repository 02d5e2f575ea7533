from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from lsprune import OptionError
from lsprune.kernels import threads


@pytest.mark.parametrize("value", ["²", "٣", "1e3", "-1", "0", "000", "2.0", "+2", "0x2", "1_0", "9" * 5000, "2 2"])
def test_numbers_of_threads_that_are_none_are_refused(monkeypatch, value):
    monkeypatch.setenv("LSPRUNE_THREADS", value)
    with pytest.raises(OptionError, match="LSPRUNE_THREADS must be a whole number >= 1, got"):
        threads.count()


@pytest.mark.parametrize(("value", "count"), [(" 2", 2), ("02", 2), ("2\n", 2), ("99999999", threads.MAX_THREADS)])
def test_numbers_of_threads_may_have_space_around_them(monkeypatch, value, count):
    monkeypatch.setenv("LSPRUNE_THREADS", value)
    assert threads.count() == count


def test_no_number_of_threads_is_all_cores(monkeypatch):
    monkeypatch.delenv("LSPRUNE_THREADS", raising=False)
    cores = threads.count()
    for nothing in ("", "  "):
        monkeypatch.setenv("LSPRUNE_THREADS", nothing)
        assert threads.count() == cores


def test_threads_come_from_the_argument_then_the_environment(monkeypatch):
    monkeypatch.setenv("LSPRUNE_THREADS", "3")
    assert threads.count() == 3
    assert threads.count(2) == 2
    monkeypatch.setenv("LSPRUNE_THREADS", "many")
    with pytest.raises(OptionError, match="LSPRUNE_THREADS must be a whole number >= 1, got 'many'"):
        threads.count()
    for wrong in (0, -1, 1.5, True, "2", b"2", float("nan"), [], object()):
        with pytest.raises(OptionError, match="threads must be a whole number >= 1, got"):
            threads.count(wrong)
    assert threads.count(np.int64(2)) == 2
    assert threads.count(2**70) == threads.MAX_THREADS


def test_an_error_in_a_thread_reaches_the_caller():
    def fail():
        raise ValueError("from a thread")

    with pytest.raises(ValueError, match="from a thread"):
        threads.run([lambda: None, fail, lambda: None], 3)


def test_ctrl_c_waits_for_the_jobs_in_progress(monkeypatch):
    joined, both, go = [], threading.Barrier(2), threading.Event()

    class Interrupted(threading.Thread):
        def join(self, timeout=None):
            joined.append(self)
            if len(joined) < 3:  # two Ctrl-C while the caller waits
                go.set()
                raise KeyboardInterrupt
            super().join(timeout)

    def job():
        both.wait()
        if isinstance(threading.current_thread(), Interrupted):
            go.wait()

    monkeypatch.setattr(threading, "Thread", Interrupted)
    alive = threading.Thread.is_alive
    monkeypatch.setattr(Interrupted, "is_alive", lambda helper: len(joined) < 3 or alive(helper))
    with pytest.raises(KeyboardInterrupt):
        threads.run([job, job], 2)
    assert len(joined) == 3 and not joined[-1].is_alive()


def test_spans_cover_everything_once():
    assert threads.spans(10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert threads.spans(0, 4) == []


def test_a_limit_holds_within_its_block():
    with threads.using(3):
        assert threads.count() == 3
        assert threads.count(2) == 2
    assert threads.count(1) == 1


def test_blas_uses_so_many_threads_within_the_block_and_as_many_as_before_after_it():
    def used() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    np.ones((2, 2)) @ np.ones((2, 2))  # NumPy's BLAS is loaded
    before = used()
    with threads.blas(1):
        assert used() == [1] * len(before) != []
    assert used() == before
