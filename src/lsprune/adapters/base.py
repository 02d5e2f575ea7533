"""What an adapter is: a way from one kind of graph object to `Graph`, and from a mask back to the same kind."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lsprune.graph import Array, Graph

Key = Hashable  # None, or a relation such as ("user", "likes", "item")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What is to be kept of one relation: aligned with the edges of the `Graph` the adapter read."""

    mask: Array  # [E] bool
    weight: Array | None = None  # [E] float32 factors for edge weights (`rescale=True`), or None
    e_id: bool = False  # put the caller's edge ids on the result


class Adapter(Protocol):
    """Reads one kind of object and rebuilds it from masks; holds no state."""

    def graphs(self, data: Any) -> Mapping[Key, Graph]:
        """The graph in `data` under the key None, or one graph for each relation. Views where possible."""

    def rebuild(self, data: Any, kept: Mapping[Key, Kept]) -> Any:
        """A new object of the same kind with the kept edges; relations without an entry stay whole."""

    def masks(self, data: Any, masks: Mapping[Key, Array]) -> Any:
        """The masks as a user of this kind expects them: an array, a list (one per graph) or a dict (per relation)."""
