"""What becomes of self-loops: edges like any other ("edge"), kept and not counted ("free"), or removed ("drop")."""

from __future__ import annotations

from typing import Literal

SelfLoops = Literal["free", "edge", "drop"]
SELF_LOOPS = ("free", "edge", "drop")


def loops_count(self_loops: str, *, bipartite: bool) -> bool:
    """Say whether self-loops take part in the selection and count in degrees and budgets, like any other edge.

    Between two kinds of nodes, an edge with equal ids is no self-loop.
    """
    return self_loops == "edge" or bipartite


def uncounted_loops_stay(self_loops: str) -> bool:
    """Say whether self-loops that take no part in the selection are kept."""
    return self_loops == "free"
