"""A PyG dataset of graphs that are stored one after the other, made from arrays without a loop over graphs."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch_geometric.data import Data, InMemoryDataset

from lsprune.graph import Array


class CollatedDataset(InMemoryDataset):  # type: ignore[misc]  # PyG has no types
    """Graphs in the form of PyG's `collate`: `slices[key]` `[G + 1]` says where each graph's rows of `key` begin."""

    def __init__(self, data: Data, slices: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self._data, self.slices = data, slices

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, tuple[Array, Array]]) -> CollatedDataset:
        """Return a dataset of (values of all graphs, `[G + 1]` starts) for each attribute."""
        data = Data(**{key: torch.from_numpy(values) for key, (values, _) in arrays.items()})
        return cls(data, {key: torch.from_numpy(starts) for key, (_, starts) in arrays.items()})
