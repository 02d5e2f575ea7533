"""Choose a pruner and a share for a graph: candidates, a cheap probe that judges them, and the choice."""

from __future__ import annotations

from lsprune.chooser.choice import Choice, Tried
from lsprune.chooser.choosing import choose

__all__ = ["Choice", "Tried", "choose"]
