"""`InMemoryDataset`: its graphs are read as one graph with node offsets, without a loop where it stores arrays."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from torch import Tensor
from torch_geometric.data import HeteroData, InMemoryDataset
from torch_geometric.data.separate import separate

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.data import DataAdapter, HeteroDataAdapter
from lsprune.adapters.pyg.lists import ListAdapter, split
from lsprune.adapters.pyg.stored_arrays import StoredArrays, StoredTensors
from lsprune.errors import NoGpuPath
from lsprune.graph import Array, Graph


class DatasetAdapter(Adapter):
    """Reads an `InMemoryDataset`, or the part of it that an index selects, and rebuilds a dataset.

    The stored graphs are pruned, before the dataset's `transform`. Neither the files nor the given object change.
    Graphs outside of the selection stay whole, and are not selected in the rebuilt dataset either.
    """

    name: ClassVar[str] = "dataset"
    about: ClassVar[str] = "a PyG InMemoryDataset"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, InMemoryDataset)

    def graphs(self, data: InMemoryDataset) -> Mapping[Key, Graph]:
        if StoredArrays.fits(data) and not self.columns:
            return {None: StoredArrays.of(data).graph()}
        graphs = _listed(data)
        return (
            ListAdapter().configured(columns=self.columns).graphs(graphs)
            if graphs
            else {None: Graph.from_edges(np.empty((2, 0)), ptr=[0])}
        )

    def device(self, data: InMemoryDataset) -> Any:
        stored = data._data
        if stored is None:
            return None
        return (HeteroDataAdapter() if isinstance(stored, HeteroData) else DataAdapter()).device(stored)

    def device_graphs(self, data: InMemoryDataset) -> Mapping[Key, Graph]:
        if StoredArrays.fits(data):
            return {None: StoredTensors.of(data).graph()}
        if not (graphs := _listed(data)):
            raise NoGpuPath("a dataset without graphs has no GPU path")
        return ListAdapter().device_graphs(graphs)

    def rebuild(self, data: InMemoryDataset, kept: Mapping[Key, Kept]) -> InMemoryDataset:
        out = copy.copy(data)
        out._data_list = None
        if not kept:
            return out
        if StoredArrays.fits(data):
            kind = StoredTensors if isinstance(kept[None].mask, Tensor) else StoredArrays
            out._data, out.slices = kind.of(data).keep(kept[None], self.columns)
        elif graphs := _listed(data):
            out._data, out.slices = data.collate(ListAdapter().configured(columns=self.columns).rebuild(graphs, kept))
            out._indices = None
        return out

    def masks(self, data: InMemoryDataset, masks: Mapping[Key, Array]) -> list[Any]:
        if StoredArrays.fits(data):
            return split(masks[None], StoredArrays.of(data).edge_counts())
        return ListAdapter().masks(_listed(data), masks)


def _listed(dataset: InMemoryDataset) -> list[Any]:
    """Return the stored graphs one by one; `dataset.get` would fill the cache of the caller's object."""
    if dataset.len() == 1:
        return [copy.copy(dataset._data) for _ in dataset.indices()]
    stored = dataset._data
    return [separate(type(stored), stored, i, dataset.slices, decrement=False) for i in dataset.indices()]
