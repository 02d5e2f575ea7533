"""How long work will still take, in words, from the part of it that was measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich.progress import ProgressColumn
from rich.text import Text

MIN_SECONDS = 0.02  # a step that takes less was read from a file, or says nothing about the others


def time_left(seconds: float | None, limit: float | None = None) -> str:
    """Return the time left in words; nothing where nothing was measured.

    Args:
        limit: seconds after which no further work is begun, if there is a budget.

    >>> time_left(247), time_left(247, limit=70), time_left(None)
    ('about 4 minutes left', 'stops in about 1 minute', '')
    """
    if limit is not None and seconds is not None and limit < seconds:
        return f"stops in {_words(limit)}"
    return "" if seconds is None else f"{_words(seconds)} left"


def _words(seconds: float) -> str:
    if seconds < 10:
        return "a few seconds"
    if seconds < 55:
        return f"about {10 * round(seconds / 10)} seconds"
    for unit, length, most in (("minute", 60, 90), ("hour", 3600, 36)):
        count = max(1, round(seconds / length))
        if count < most:
            return f"about {count} {unit}{'s' if count > 1 else ''}"
    return f"about {round(seconds / 86400)} days"


class Pace:
    """Estimates the time left from steps that are alike; steps that took no time do not count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._last, self._done = clock, clock(), 0
        self._steps, self._seconds = 0, 0.0

    def left(self, done: int, total: int) -> float | None:
        """Return the seconds that `total - done` steps will take; None if no step was measured yet.

        Call it before the first step, and after each.
        """
        now = self._clock()
        if done > self._done and now - self._last >= MIN_SECONDS:
            self._steps += done - self._done
            self._seconds += now - self._last
        self._last, self._done = now, done
        return None if self._steps == 0 else self._seconds / self._steps * (total - done)


class TimeLeftColumn(ProgressColumn):
    """The time left of a task of a progress bar, as rich measures it.

    Args:
        budget: seconds from now on after which no further work is begun.
    """

    max_refresh = 0.5

    def __init__(self, budget: float | None = None) -> None:
        super().__init__()
        self._end = None if budget is None else time.monotonic() + budget

    def render(self, task: Any) -> Text:
        """Return the words."""
        limit = None if self._end is None else max(self._end - time.monotonic(), 0.0)
        return Text("" if task.finished else time_left(task.time_remaining, limit))
