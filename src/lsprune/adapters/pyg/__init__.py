"""Adapters for PyTorch and PyTorch Geometric objects; imported only for such an object.

- `tensors`: bare `torch.Tensor` edges and `torch.sparse` matrices (PyTorch alone is enough);
- `edge_index`: PyG's `EdgeIndex`, a tensor with a sort order and symmetry;
- `stores`: which entries of one PyG store belong to its edges;
- `link_labels`, `link_split`: links to be predicted, which never decide a mask, and a check of a split of links;
- `data`: `Data`, `HeteroData`, and a `Batch` of either;
- `temporal_data`: `TemporalData`, a stream of events;
- `batched_store`: several graphs in one store and the slices that divide it, for `Batch` and datasets;
- `lists`, `datasets`: a list or tuple of them, and `InMemoryDataset`;
- `listed_stores`, `stored_arrays`: the graphs of these on a device, and of a dataset, without a loop over them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from lsprune.adapters.base import Adapter
from lsprune.adapters.pyg.tensors import SparseTensorAdapter, TensorAdapter


def find(data: Any) -> Adapter | None:
    """Return the adapter for `data` if it is an object of PyTorch or PyTorch Geometric, else None."""
    return next((kind() for kind in kinds() if kind.accepts(data)), None)


def kinds() -> Iterator[type[Adapter]]:
    """Iterate over the adapters of this package, in the order in which they are asked."""
    if "torch_geometric" in sys.modules:  # a PyG object exists only where PyG is imported: never import it to look
        from lsprune.adapters.pyg.data import DataAdapter, HeteroDataAdapter
        from lsprune.adapters.pyg.datasets import DatasetAdapter
        from lsprune.adapters.pyg.edge_index import EdgeIndexAdapter
        from lsprune.adapters.pyg.lists import ListAdapter
        from lsprune.adapters.pyg.temporal_data import TemporalDataAdapter

        yield from (
            EdgeIndexAdapter, DatasetAdapter, ListAdapter, HeteroDataAdapter, DataAdapter, TemporalDataAdapter,
        )  # fmt: skip
    yield from (TensorAdapter, SparseTensorAdapter)
