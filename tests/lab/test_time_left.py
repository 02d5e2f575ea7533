"""The time left in words: from what was measured, and nothing before."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lsprune.lab import time_left as module
from lsprune.lab.time_left import Pace, TimeLeftColumn, time_left


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds left"), (9.9, "a few seconds left"), (10, "about 10 seconds left"),
        (54, "about 50 seconds left"), (55, "about 1 minute left"), (100, "about 2 minutes left"),
        (89 * 60, "about 89 minutes left"), (90 * 60, "about 2 hours left"), (35 * 3600, "about 35 hours left"),
        (48 * 3600, "about 2 days left"), (None, ""),
    ],
)  # fmt: skip
def test_words(seconds: float | None, words: str) -> None:
    assert time_left(seconds) == words
    assert time_left(seconds, limit=1e9) == words


def test_a_budget_that_ends_first_is_what_is_said() -> None:
    assert time_left(3600, limit=120) == "stops in about 2 minutes"
    assert time_left(None, limit=120) == ""


def test_the_pace_is_that_of_the_steps_that_took_time() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert pace.left(0, 10) is None
    assert pace.left(3, 10) is None  # read from a file
    now[0] = 2.0
    assert pace.left(4, 10) == pytest.approx(12)
    now[0] = 6.0
    assert pace.left(5, 10) == pytest.approx(15)
    assert pace.left(9, 10) == pytest.approx(3)
    assert pace.left(10, 10) == 0


def test_a_bar_says_what_rich_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.time, "monotonic", lambda: 0.0)
    column, limited = TimeLeftColumn(), TimeLeftColumn(budget=60)
    for remaining, finished, words, with_budget in (
        (None, False, "", ""), (30, False, "about 30 seconds left", "about 30 seconds left"),
        (240, False, "about 4 minutes left", "stops in about 1 minute"), (0, True, "", ""),
    ):  # fmt: skip
        task = SimpleNamespace(time_remaining=remaining, finished=finished)
        assert (str(column.render(task)), str(limited.render(task))) == (words, with_budget)
