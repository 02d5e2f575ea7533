"""`TemporalData`: a stream of events, each an edge from `src` to `dst` at time `t` with a message `msg`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import TemporalData

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.stores import keep_entry
from lsprune.adapters.pyg.tensors import DeviceMask, features, kept_weights, mask_of, on_gpu, scale, view
from lsprune.errors import GraphError
from lsprune.graph import Graph

TIME = "t"  # where PyG has the time of an event; it is found as "time" too


class TemporalDataAdapter(Adapter):
    """Reads `TemporalData` with `msg` as edge attributes, and rebuilds it with all that belongs to the kept events.

    Sources and targets have ids of one kind, as in PyG. An entry belongs to the events if it is as long as they are,
    which is also PyG's rule: it has no entries of nodes.
    """

    name: ClassVar[str] = "temporal-data"
    about: ClassVar[str] = "a PyG TemporalData"
    guesses_nodes: ClassVar[bool] = True

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, TemporalData)

    def graphs(self, data: TemporalData) -> Mapping[Key, Graph]:
        """Return the events as edges, in their order."""
        store = data._store
        for name in ("src", "dst"):
            if not isinstance(store.get(name), Tensor):
                raise GraphError(f"pruning needs src and dst of a TemporalData, got only {sorted(_entries(data))}")
        graph = Graph.from_edges((view(store["src"]), view(store["dst"])), edge_attr=features(store.get("msg")))
        entries = _entries(data)
        there = {name: TIME if name == "time" and name not in entries else name for name in self.columns}
        columns = {name: _plain(entries[key]) for name, key in there.items() if key in entries}
        return {None: graph.with_columns(columns, {}, tuple(entries))}

    def device(self, data: TemporalData) -> Any:
        return on_gpu(data._store.get("src"))

    def rebuild(self, data: TemporalData, kept: Mapping[Key, Kept]) -> TemporalData:
        """Return the events that are kept."""
        out = copy.copy(data)
        if None not in kept:
            return out
        part, mask, events, place = kept[None], mask_of(kept[None]), int(data.src.shape[0]), data.src.device
        for name, value in _entries(data).items():
            if _length(value) == events:
                out[name] = keep_entry(name, value, mask)
        if part.weight is not None:
            factors = torch.as_tensor(kept_weights(part, mask)).to(place)
            out["edge_weight"] = scale(out["edge_weight"], factors) if "edge_weight" in _entries(out) else factors
        if part.e_id:
            positions = mask.positions if isinstance(mask, DeviceMask) else torch.from_numpy(np.flatnonzero(mask))
            out["e_id"] = positions.to(place)
        return out


def _entries(data: TemporalData) -> dict[str, Any]:
    """Return what the object holds, without entries that are None."""
    return {name: value for name, value in data._store.items() if value is not None}


def _plain(values: Any) -> Any:
    return view(values) if isinstance(values, Tensor) else values


def _length(value: Any) -> int | None:
    if isinstance(value, (Tensor, np.ndarray)):
        return int(value.shape[0]) if value.ndim else None
    return len(value) if type(value) in (list, tuple) else None
