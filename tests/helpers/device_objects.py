"""One object of each kind that is pruned on a GPU without leaving it; whoever imports this needs PyTorch and PyG."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pyg_helpers import KNOWS, LIKES, torch

# isort: split
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data, HeteroData

from lsprune import LSP, LocalRandom
from lsprune.hashing import Codebook

NODES, EDGES = 50, 600
LIKED_BY = ("item", "rev_likes", "user")


def _numbers() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def one(nodes: int = NODES, edges: int = EDGES, **changes: Any) -> Data:
    """A graph with attributes, labels and edge weights."""
    rng = _numbers()
    given = Data(
        edge_index=torch.randint(0, nodes, (2, edges), generator=rng), x=torch.randn(nodes, 7, generator=rng),
        edge_attr=torch.randn(edges, 3, generator=rng), edge_weight=torch.rand(edges, generator=rng) + 1,
        y=torch.arange(nodes),
    )  # fmt: skip
    for name, value in changes.items():
        given[name] = value
    return given


def hetero() -> HeteroData:
    """Two kinds of nodes, a relation, its reverse in another order, and a relation of users."""
    rng, given = _numbers(), HeteroData()
    given["user"].x, given["item"].x = torch.randn(30, 4, generator=rng), torch.randn(20, 5, generator=rng)
    likes = torch.stack([torch.randint(0, size, (300,), generator=rng) for size in (30, 20)])
    given[LIKES].edge_index, given[LIKES].time = likes, torch.arange(300)
    given[LIKED_BY].edge_index = likes.flip(0)[:, torch.randperm(300, generator=rng)]
    given[KNOWS].edge_index = torch.randint(0, 30, (2, 200), generator=rng)
    return given


def graphs() -> list[Data]:
    """Three graphs, the last without edges; the second has a node at its end that has none."""
    last = one(30, 300)
    last.edge_index = last.edge_index.clamp(max=28)
    return [one(20, 100), last, one(5, 0)]


def ends() -> torch.Tensor:
    return one().edge_index


def by_target() -> torch.Tensor:
    return ends()[:, torch.argsort(ends()[1], stable=True)].contiguous()


def both_ways() -> torch.Tensor:
    return torch.unique(torch.cat([ends(), ends().flip(0)], 1), dim=1).contiguous()


def matrix(layout: str) -> torch.Tensor:
    coo = torch.sparse_coo_tensor(ends(), torch.rand(EDGES, generator=_numbers()), (NODES, NODES)).coalesce()
    return coo if layout == "coo" else coo.to_sparse_csr() if layout == "csr" else coo.to_sparse_csc()


def square(edges: torch.Tensor, **known: Any) -> EdgeIndex:
    return EdgeIndex(edges, sparse_size=(NODES, NODES), **known)


OBJECTS: dict[str, Callable[[], Any]] = {
    "data": one,
    "data with bfloat16": lambda: one(x=torch.randn(NODES, 6, generator=_numbers()).bfloat16()),
    "data with a category": lambda: one(x=torch.arange(NODES) % 4),
    "data with adj_t": lambda: Data(adj_t=matrix("csr"), x=one().x),
    "data with an edge index": lambda: Data(edge_index=square(by_target(), sort_order="col"), x=one().x),
    "data with lists": lambda: one(edge_names=[f"edge {i}" for i in range(EDGES)], num_sampled_edges=[400, 200]),
    "batch": lambda: Batch.from_data_list([one(20, 100), one(30, 300), one(5, 0)], follow_batch=["edge_attr"]),
    "list": lambda: graphs(),
    "tuple of bare graphs": lambda: tuple(Data(edge_index=graph.edge_index, y=graph.y[:1]) for graph in graphs()),
    "list of bare graphs with numbers of nodes": lambda: [
        Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes + 1) for graph in graphs()
    ],
    "list of unlike graphs": lambda: [one(20, 100), one(30, 300, edge_names=list(range(300))), one(5, 0)],
    "list with adj_t": lambda: [Data(adj_t=matrix(layout), x=one().x) for layout in ("csr", "csr", "coo")],
    "list of edge indices": lambda: [Data(edge_index=square(ends), x=one().x) for ends in (by_target(), both_ways())],
    "list of batches": lambda: [Batch.from_data_list(graphs()), Batch.from_data_list(graphs()[:1])],
    "list of hetero": lambda: [hetero(), hetero()],
    "hetero": hetero,
    "batch of hetero": lambda: Batch.from_data_list([hetero(), hetero()]),
    "tensor": ends,
    "tensor of int32": lambda: ends().int(),
    "edge index": lambda: square(ends()),
    "edge index sorted by target": lambda: square(by_target(), sort_order="col"),
    "undirected edge index": lambda: square(both_ways(), sort_order="row", is_undirected=True),
    **{f"sparse {layout}": partial(matrix, layout) for layout in ("coo", "csr", "csc")},
}


def pruners_of(name: str) -> list[Any]:
    """Some pruners that suit an object; those without attributes are hashed by their ids."""
    bare = isinstance(OBJECTS[name](), torch.Tensor) or "bare" in name
    several = "hetero" in name
    return [
        LSP(k=3, hash="identity" if bare else "projection"),
        LSP(keep=0.4, side="out", hash="identity" if bare else "signs"),
        LocalRandom(keep=0.3),
        LSP(k=1) if several else LSP(k=2, symmetric="union", hash="identity", weights="degree"),
        LSP(k=2, hash="structure" if bare else Codebook(words=3)),
        *([] if bare or several else [LSP.auto(keep=0.3)]),
    ]


def identical(one: Any, other: Any) -> bool:
    """Whether two objects hold the same, wherever their tensors are; what PyG knows of an `EdgeIndex` too."""
    if isinstance(one, EdgeIndex):
        facts = [(e.sort_order, e.is_undirected, e.sparse_size()) for e in (one, other)]
        return facts[0] == facts[1] and identical(one.as_tensor(), other.as_tensor())
    if isinstance(one, torch.Tensor):
        if one.layout != torch.strided:
            return one.layout == other.layout and identical(one.to_dense(), other.to_dense())
        return one.dtype == other.dtype and torch.equal(one.cpu(), other.cpu())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, Batch) and not (
        identical(one._slice_dict, other._slice_dict) and identical(one.to_data_list(), other.to_data_list())
    ):
        return False
    if isinstance(one, (Data, HeteroData)):
        return type(one) is type(other) and identical(one.to_dict(), other.to_dict())
    return bool(np.all(one == other))


def masks_of(returned: Any) -> list[Any]:
    """The masks that `prune` returned: of one graph, of each relation, or of each graph of a list."""
    if isinstance(returned, list):
        return [mask for part in returned for mask in masks_of(part)]
    return list(returned.values()) if isinstance(returned, dict) else [returned]


def moved(given: Any, device: Any) -> Any:
    """The object with its tensors on a device."""
    return type(given)(item.to(device) for item in given) if isinstance(given, (list, tuple)) else given.to(device)
