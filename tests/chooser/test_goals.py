"""One of keep, shares and goal says what to try."""

from __future__ import annotations

import pytest

from lsprune import OptionError
from lsprune.chooser.goals import SHARES, Goal, parse_goal


@pytest.mark.parametrize(
    ("given", "goal"),
    [
        ((0.1, None, None), Goal((0.1,), False)),
        ((None, (0.5, 0.1, 0.5), None), Goal((0.1, 0.5), True)),
        ((None, (0.5, 0.1), "lossless"), Goal((0.1, 0.5), True)),
        ((None, None, "lossless"), Goal(SHARES, True)),
        ((None, None, "2x faster"), Goal((0.5,), False)),
        ((None, None, "2.5 x faster"), Goal((0.4,), False)),
    ],
)
def test_goals(given, goal):
    assert parse_goal(*given) == goal


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((None, None, None), "exactly one"),
        ((0.1, (0.1,), None), "exactly one"),
        ((0.1, None, "lossless"), "exactly one"),
        ((None, (0.1,), "2x faster"), "exactly one"),
        ((0.0, None, None), "keep must be in"),
        ((True, None, None), "keep must be in"),
        ((None, (), None), "shares must be at least one"),
        ((None, "0.1", None), "shares must be numbers"),
        ((None, (2,), None), "shares must be in"),
        ((None, None, "fast"), "goal must be"),
        ((None, None, 2), "goal must be"),
        ((None, None, "0.5x faster"), "at least 1x faster"),
    ],
)
def test_what_is_no_goal_is_refused(given, words):
    with pytest.raises(OptionError, match=words):
        parse_goal(*given)
