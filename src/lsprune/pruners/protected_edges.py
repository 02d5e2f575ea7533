"""Edges that must stay, by their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.checks import as_array
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array


@dataclass(frozen=True, repr=False)
class ProtectedEdges:
    """Numbers of edges, as bytes so that pruners can be compared."""

    data: bytes  # ascending int64
    edges: int | None  # how many the graph has, if that is known

    @classmethod
    def of(cls, edges: Any) -> ProtectedEdges:
        """Read a boolean array over all edges, or the numbers of some."""
        try:
            array = as_array(edges, "protected")
        except GraphError as error:  # a masked array, or lists of unequal length
            raise OptionError(str(error)) from None
        if array.dtype == bool and array.ndim == 1:
            return cls(np.flatnonzero(array).astype("<i8").tobytes(), array.size)
        if array.ndim == 1 and (array.dtype.kind in "iu" or not array.size):
            numbers = np.unique(array.astype("<i8"))
            if not numbers.size or numbers[0] >= 0:
                return cls(numbers.tobytes(), None)
        raise OptionError(
            "protected must be a boolean array over the edges, or the numbers (>= 0) of some, "
            f"got {type(edges).__name__} of {array.dtype} {list(array.shape)}"
        )

    @property
    def numbers(self) -> Array:
        return np.frombuffer(self.data, "<i8").astype(np.int64)

    def mask(self, edges: int) -> Array:
        """Return a boolean array that marks them in a graph of this many edges."""
        numbers, marked = self.numbers, np.zeros(edges, bool)
        if self.edges not in (None, edges) or (numbers.size and numbers[-1] >= edges):
            got = f"one of {self.edges}" if self.edges is not None else f"number {numbers[-1]}"
            raise GraphError(
                f"protected must be a boolean array of the {edges} edges, or numbers below that, got {got}"
            )
        marked[numbers] = True
        return marked

    def __repr__(self) -> str:
        return f"<{self.numbers.size} edges>"
