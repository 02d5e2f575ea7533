"""The same mask from every kind of object: arrays, compressed rows, scipy, NetworkX, igraph, torch and PyG."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lsprune import Graph, mask
from lsprune.errors import LspruneError
from soak.cases import random_graph, random_pruner
from soak.check import CannotRun, Check, expect
from soak.varied_cases import Case, case_on, compressed, reordered


class Kind(NamedTuple):
    """An object, the order in which it lists the edges, and what `mask` is told beside it."""

    name: str
    data: Any
    order: np.ndarray
    told: dict[str, Any] = {}


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise CannotRun(f"{name} is not installed") from None


def _plain(graph: Graph) -> Iterator[Kind]:
    """Yield what carries no attributes of edges: those of nodes are told."""
    scipy, torch, pyg = _library("scipy.sparse"), _library("torch"), _library("torch_geometric")
    source, target = graph.ends()
    every = np.arange(graph.num_edges)
    told = {} if graph.x is None else {"features": graph.x}
    sized: dict[str, Any] = {"shape": (graph.num_nodes,) * 2}
    if graph.x is not None or (graph.num_edges and max(source.max(), target.max()) + 1 == graph.num_nodes):
        yield Kind("array", np.stack([source, target]), every, told)
        yield Kind("tensor", torch.from_numpy(np.stack([source, target])), every, told)
    matrix = scipy.coo_array((every + 1, (source, target)), **sized)
    yield Kind("scipy coo", matrix, every, told)
    for name, row, other in (("csr", source, target), ("csc", target, source)):
        order = np.argsort(row, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=graph.num_nodes))])
        matrix = getattr(scipy, f"{name}_array")((order + 1, other[order], indptr), **sized)
        yield Kind(f"scipy {name}", matrix, order, told)
    ends = torch.from_numpy(np.stack([source, target]))
    yield Kind("EdgeIndex", pyg.EdgeIndex(ends, sparse_size=sized["shape"]), every, told)
    order = np.lexsort((target, source))  # torch orders the entries of a row
    if np.unique(np.stack([source, target]), axis=1).shape[1] == graph.num_edges:
        entries = torch.sparse_coo_tensor(ends, torch.from_numpy(every + 1.0), sized["shape"]).coalesce()
        yield Kind("sparse tensor", entries.to_sparse_csr(), order, told)
        data = pyg.data.Data(adj_t=entries.t().coalesce().to_sparse_csr(), num_nodes=graph.num_nodes)
        if graph.x is not None:
            data.x = torch.from_numpy(graph.x)
        yield Kind("adj_t", data, np.lexsort((source, target)))


def _with_attributes(graph: Graph) -> Iterator[Kind]:
    """Yield what carries attributes of nodes and edges."""
    networkx, igraph, torch, pyg = (_library(name) for name in ("networkx", "igraph", "torch", "torch_geometric.data"))
    source, target = graph.ends()
    every = np.arange(graph.num_edges)
    arrays = {"x": graph.x, "edge_attr": graph.edge_attr}
    tensors = {name: torch.from_numpy(rows) for name, rows in arrays.items() if rows is not None}
    data = pyg.Data(edge_index=torch.from_numpy(np.stack([source, target])), num_nodes=graph.num_nodes, **tensors)
    yield Kind("Data", data, every)
    yield Kind("Batch", pyg.Batch.from_data_list([data]), every)
    network = networkx.MultiDiGraph()
    rows, attr = (None if values is None else values.tolist() for values in (graph.x, graph.edge_attr))
    network.add_nodes_from((node, {} if rows is None else {"x": rows[node]}) for node in range(graph.num_nodes))
    for edge, ends in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        network.add_edge(*ends, number=edge, **({} if attr is None else {"edge_attr": attr[edge]}))
    order = np.array([number for *_, number in network.edges(data="number")], np.int64)
    carried = graph.num_edges > 0 or graph.edge_attr is None  # edges that are not there have no attributes
    if carried:
        yield Kind("NetworkX", network, order)
    other = igraph.Graph(n=graph.num_nodes, edges=np.stack([source, target]).T.tolist(), directed=True)
    if rows is not None:
        other.vs["x"] = rows
    if attr is not None:
        other.es["edge_attr"] = attr
    if carried:
        yield Kind("igraph", other, every)
    for side in ("source", "target"):
        yield Kind(f"CSR of {side}s", *compressed(graph, side))


def objects(number: int, folder: Path) -> int:
    """Compare every kind of object with the reference on the graph, its edges in the order of the object."""
    rng = np.random.default_rng([26, number])
    graph = random_graph(rng)
    plain = Graph.from_edges(graph.ends(), num_nodes=graph.num_nodes, x=graph.x)
    compared = 0
    for given, kinds in ((plain, _plain), (graph, _with_attributes)):
        case = case_on(given, lambda given=given: random_pruner(rng, given))  # type: ignore[misc]
        for kind in kinds(given):
            _compare(case, kind)
            compared += 1
    return compared


def _compare(case: Case, kind: Kind) -> None:
    in_order = reordered(case.graph, kind.order)
    same = np.array_equal(kind.order, np.arange(kind.order.size))
    expected = case.mask if same else case.pruner.mask(in_order, executor="reference")
    try:
        found = np.asarray(mask(kind.data, case.pruner, threads=1, **kind.told))
    except LspruneError as error:
        error.add_note(kind.name)
        raise
    wrong = int((found != expected).sum()) if found.shape == expected.shape else -1
    expect(wrong == 0, f"{kind.name}: {wrong} of {expected.size} edges differ for {case.pruner!r} on {case.graph!r}")


CHECKS = (
    Check(
        name="objects", promise="Same bits",
        about="array, CSR by source and target, scipy COO, CSR and CSC, tensor, sparse tensor, EdgeIndex, Data, adj_t, "
        "Batch, NetworkX, igraph",
        run_case=objects, share=2.0, quick_cases=6,
    ),
)  # fmt: skip
