"""What the caller of `choose` wants: a share, one of several shares, or a goal in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsprune.checks import is_number, shown
from lsprune.errors import OptionError

SHARES = (0.05, 0.1, 0.25, 0.5)
_FASTER = re.compile(r"(\d+(?:\.\d+)?) ?x faster")


@dataclass(frozen=True)
class Goal:
    """The shares to try, from small to large, and whether the smallest lossless one is wanted."""

    shares: tuple[float, ...]
    lossless: bool


def parse_goal(keep: float | None, shares: Sequence[float] | None, goal: str | None) -> Goal:
    """Return the goal; raise OptionError unless exactly one of keep, shares and goal is given.

    >>> parse_goal(None, None, "4x faster")
    Goal(shares=(0.25,), lossless=False)
    """
    if goal is not None and goal != "lossless" and not (isinstance(goal, str) and _FASTER.fullmatch(goal)):
        raise OptionError(f'goal must be "lossless" or, for example, "2x faster", got {shown(goal)}')
    if sum(option is not None for option in (keep, shares, goal)) != 1 and not (shares and goal == "lossless"):
        raise OptionError("exactly one of keep, shares and goal must be given")
    if keep is not None:
        return Goal((_share("keep", keep),), lossless=False)
    if goal not in (None, "lossless"):
        return Goal((_less_time(str(goal)),), lossless=False)
    wanted = SHARES if shares is None else shares
    if isinstance(wanted, (str, bytes)) or not hasattr(wanted, "__iter__"):
        raise OptionError(f"shares must be numbers in (0, 1], got {shown(shares)}")
    parsed = tuple(sorted({_share("shares", share) for share in wanted}))
    if not parsed:
        raise OptionError("shares must be at least one number in (0, 1], got none")
    return Goal(parsed, lossless=True)


def _less_time(goal: str) -> float:
    """Return the share of edges at which what is computed for each edge takes that much less time."""
    match = _FASTER.fullmatch(goal)
    assert match is not None
    factor = float(match[1])
    if factor < 1:
        raise OptionError(f"goal must be at least 1x faster, got {shown(goal)}")
    return 1 / factor


def _share(name: str, value: float) -> float:
    if not is_number(value) or not 0 < value <= 1:
        raise OptionError(f"{name} must be in (0, 1], got {shown(value)}")
    return float(value)
