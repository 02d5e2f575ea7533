"""Adapters for PyTorch and PyTorch Geometric objects; imported only once such an object shows up.

- `tensors`: bare `torch.Tensor` edges and `torch.sparse` matrices (PyTorch alone is enough);
- `edge_index`: PyG's `EdgeIndex`, a tensor that remembers its order and symmetry;
- `stores`: what belongs to the edges of one PyG store, told by name;
- `data`: `Data`, `HeteroData`, and a `Batch` of either;
- `joined`: several graphs in one store and the slices that divide it, for `Batch` and datasets;
- `lists`, `datasets`: a list or tuple of them, and `InMemoryDataset`.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from lsprune.adapters.base import Adapter
from lsprune.adapters.pyg.tensors import SparseAdapter, TensorAdapter


def find(data: Any) -> Adapter | None:
    """The adapter for `data` if it is an object of PyTorch or PyTorch Geometric, else None."""
    # A PyG object exists only where PyG is already imported: never import it just to look.
    if "torch_geometric" in sys.modules and (found := _find_pyg(data)) is not None:
        return found
    if not isinstance(data, torch.Tensor):
        return None
    return TensorAdapter() if data.layout == torch.strided else SparseAdapter()


def _find_pyg(data: Any) -> Adapter | None:
    from torch_geometric import EdgeIndex
    from torch_geometric.data import InMemoryDataset

    from lsprune.adapters.pyg.data import find_one
    from lsprune.adapters.pyg.datasets import DatasetAdapter
    from lsprune.adapters.pyg.edge_index import EdgeIndexAdapter
    from lsprune.adapters.pyg.lists import ListAdapter

    if isinstance(data, EdgeIndex):
        return EdgeIndexAdapter()
    if isinstance(data, InMemoryDataset):
        return DatasetAdapter()
    if isinstance(data, (list, tuple)) and data and find_one(data[0]) is not None:
        return ListAdapter()
    return find_one(data)
