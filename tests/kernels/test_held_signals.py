"""Signals that arrive while a kernel is compiled come after it."""

from __future__ import annotations

import signal
import threading

import pytest

from lsprune.kernels.held_signals import held_signals


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_comes_after_the_block_also_of_nested_ones():
    before, reached = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), held_signals():
        with held_signals():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            reached.append("inner")
        reached.append("outer")
    assert reached == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("ctrl_c")
def test_an_error_in_the_block_gives_way_to_ctrl_c_and_handlers_are_restored():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), held_signals():
        signal.raise_signal(signal.SIGINT)
        raise ValueError
    with pytest.raises(ValueError), held_signals():
        raise ValueError
    assert signal.getsignal(signal.SIGINT) is before


def test_handlers_that_are_not_python_are_left_alone(monkeypatch):
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with held_signals():
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_change_no_handler():
    seen = []

    def work():
        with held_signals():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
