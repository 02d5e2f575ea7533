"""What a check is: a promise, and a function that tries one generated case of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RunCase = Callable[[int, Path], int]


class Broken(AssertionError):
    """A promise was broken; the message says how."""


class CannotRun(Exception):
    """A check cannot run here; the message says what is missing."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check of one promise.

    Args:
        name: what the check is called in commands and in `results/soak.json`.
        promise: the name of the promise in `docs/promises.md` that it holds.
        about: what one case does, in a few words.
        run_case: try the case of this number in an empty folder; return how many comparisons were made, raise
            `Broken` if the promise is broken. Any other error counts as a failure, too, except `CannotRun`.
        share: time that the check gets, relative to the other checks.
        quick_cases: how many cases the ordinary tests try; 0 if each takes long and other tests try the same.
    """

    name: str
    promise: str
    about: str
    run_case: RunCase
    share: float = 1.0
    quick_cases: int = 3


def expect(condition: bool, message: str) -> None:
    """Raise `Broken` with the message unless the condition holds. Unlike `assert`, this also works under `-O`."""
    if not condition:
        raise Broken(message)
