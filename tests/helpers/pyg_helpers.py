"""What the tests of the PyTorch and PyG adapters share; whoever imports it is skipped where PyTorch or PyG is missing.

Import it before PyTorch and PyG: it silences what they warn of at their first use.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyG's import warns of its own accord (torch.jit)
    pytest.importorskip("torch_geometric")
    from torch_geometric import EdgeIndex
    from torch_geometric.data import Data, HeteroData, InMemoryDataset

    # torch warns once, at the first sparse CSR tensor of a process
    torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1), (1, 1))
    torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (1, 1))

from lsprune.adapters.base import Kept  # noqa: E402
from lsprune.adapters.pyg import find  # noqa: E402

# The graph of most tests has as many nodes as edges, so that nothing can be told from a length.
SOURCE, TARGET = [0, 1, 2, 2, 4], [1, 2, 0, 4, 2]
MASK = np.array([True, False, True, True, False])
KEPT = [0, 2, 3]
LIKES = ("user", "likes", "item")
KNOWS = ("user", "knows", "user")
LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc")


def edges() -> torch.Tensor:
    return torch.tensor([SOURCE, TARGET])


def data(**more) -> Data:
    return Data(x=torch.arange(10.0).view(5, 2), edge_index=edges(), edge_attr=torch.arange(5) * 10, **more)


def several() -> list[Data]:
    """Three graphs: one without edges, and a local id that another graph also has."""
    shapes = [([[0, 1, 2], [1, 2, 0]], 3), ([[], []], 2), ([[3, 0, 0, 1], [0, 1, 2, 3]], 4)]
    return [
        Data(
            x=torch.arange(2.0 * n).view(n, 2) + 100 * i,
            edge_index=torch.tensor(ends, dtype=torch.int64),
            edge_attr=torch.arange(len(ends[0])) + 10 * i,
            y=torch.tensor([i]),
            time=torch.arange(n),
        )
        for i, (ends, n) in enumerate(shapes)
    ]


SEVERAL_MASK = np.array([False, True, True, True, False, True, False])
SEVERAL_PARTS = [np.array([False, True, True]), np.array([], dtype=bool), np.array([True, False, True, False])]


def hetero() -> HeteroData:
    one = HeteroData()
    one["user"].x = torch.arange(6.0).view(3, 2)
    one["item"].x = torch.arange(8.0).view(2, 4)
    one[LIKES].edge_index = torch.tensor([[0, 1, 2, 2], [1, 0, 0, 1]])
    one[LIKES].edge_attr = torch.tensor([1.0, 2.0, 3.0, 4.0])
    one[LIKES].time = torch.tensor([5, 6, 7, 8])
    one[KNOWS].edge_index = torch.tensor([[0, 1], [1, 2]])
    return one


HETERO_MASK = np.array([True, False, False, True])


def undirected() -> EdgeIndex:
    return EdgeIndex([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]], sparse_size=(5, 5), sort_order="row", is_undirected=True)


def matrix(layout: str, rows: list[int], columns: list[int], size: tuple[int, int], values=None) -> torch.Tensor:
    values = torch.arange(1.0, len(rows) + 1) if values is None else values
    coo = torch.sparse_coo_tensor(torch.tensor([rows, columns]), values, size, check_invariants=True).coalesce()
    return coo.to_sparse(layout=getattr(torch, layout))


class Stored(InMemoryDataset):
    def __init__(self, graphs):
        super().__init__()
        self._data, self.slices = self.collate(graphs)


def stored(graphs=None) -> Stored:
    return Stored(several() if graphs is None else graphs)


def rebuild(given, mask=MASK, weight=None, e_id=False, key=None):
    return find(given).rebuild(given, {key: Kept(mask=mask, weight=weight, e_id=e_id)})


def graph_of(given, key=None):
    return find(given).graphs(given)[key]


def same(a, b) -> bool:
    """Equal objects, compared value by value; floats, shapes, types and keys too."""
    if isinstance(a, torch.Tensor):
        a, b = (t.to_dense() if t.layout != torch.strided else t for t in (a, b))
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and bool(torch.equal(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (Data, HeteroData)):
        return type(a) is type(b) and same(a.to_dict(), b.to_dict())
    return type(a) is type(b) and bool(np.all(a == b))
