"""Adapters for lsprune's own `Graph` and for a bare numpy edge array `[2, E]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lsprune.adapters.base import Kept, Key
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph
from lsprune.kernels import compress, compress_csr


@dataclass(frozen=True)
class NativeGraph:
    """Reads and rebuilds a `Graph`: COO stays COO, CSR stays CSR, attributes in step; it has no place for `e_id`."""

    def graphs(self, data: Graph) -> Mapping[Key, Graph]:
        """The graph itself."""
        return {None: data}

    def rebuild(self, data: Graph, kept: Mapping[Key, Kept]) -> Graph:
        """A `Graph` with the kept edges in their order; nodes, `x` and `ptr` are the same objects as before."""
        if None not in kept:
            return data
        _refuse_weight(kept[None], "a Graph")
        refuse_e_id(kept[None], "a Graph")
        mask = kept[None].mask
        return replace(
            data,
            source=None if data.source is None else compress(mask, data.source),
            target=None if data.target is None else compress(mask, data.target),
            indptr=None if data.indptr is None else compress_csr(data.indptr, mask),
            edge_attr=_rows(data.edge_attr, mask),
        )

    def masks(self, data: Graph, masks: Mapping[Key, Array]) -> Array:
        """The mask `[E]`."""
        return masks[None]


@dataclass(frozen=True)
class EdgeArray:
    """Reads and rebuilds a bare edge array `[2, E]`; the number of nodes is the largest id + 1."""

    def graphs(self, data: Array) -> Mapping[Key, Graph]:
        """A graph whose ends are views of the two rows."""
        return {None: Graph.from_edges(data)}

    def rebuild(self, data: Array, kept: Mapping[Key, Kept]) -> Array:
        """A new array `[2, kept]` of the same dtype."""
        if None not in kept:
            return data
        _refuse_weight(kept[None], "an edge array")
        refuse_e_id(kept[None], "an edge array")
        return compress(kept[None].mask, data)

    def masks(self, data: Array, masks: Mapping[Key, Array]) -> Array:
        """The mask `[E]`."""
        return masks[None]


def refuse_e_id(kept: Kept, kind: str) -> None:
    """Raise where edge ids were asked for and the object has no place for them."""
    if kept.e_id:
        raise OptionError(f"e_id cannot be stored in {kind}; use return_mask=True and np.flatnonzero(mask)")


def _refuse_weight(kept: Kept, kind: str) -> None:
    if kept.weight is not None:
        raise OptionError(
            f"rescale=True needs a place for edge weights, and {kind} has none; "
            "use a scipy.sparse matrix, a NetworkX graph or a PyG object"
        )


def _rows(values: Any, mask: Array) -> Any:
    if values is None:
        return None
    if hasattr(values, "tocsr"):  # scipy.sparse: only CSR takes a row mask, the format stays the caller's
        return values.tocsr()[mask].asformat(values.format)
    return values[mask]
