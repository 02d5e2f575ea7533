"""Pruners and graphs for tests of unbiased factors, on CPU tensors or a real device: the host must agree."""

from __future__ import annotations

import numpy as np
from device_helpers import HOST, any_graph, device_run, no_numpy_reads, numpy_of, torch

from lsprune import LSP, Graph, LocalRandom, Random
from lsprune.baselines import DSpar
from lsprune.device.graph import upload
from lsprune.errors import LspruneError

WEIGHTED = {"hash": "identity", "select": "bottom"}
PRUNERS = [
    *(LSP(k=3, **WEIGHTED, weights=weights) for weights in (None, "degree", "jaccard", "edge", "degree*jaccard")),
    LSP(keep=0.8, **WEIGHTED, weights="degree", side="out", self_loops="edge"),
    LSP(k=2, hash="identity", self_loops="drop"), LocalRandom(k=3), LocalRandom(k=0), LocalRandom(keep=0.7, side="out"),
    Random(keep=0.5), DSpar(keep=0.5), DSpar(keep=0.5, pooled=True, self_loops="edge"),
]  # fmt: skip


def factors_of(pruner, graph, run) -> list | str:
    try:
        with no_numpy_reads():
            mask = pruner.mask_graph(graph, run).mask
            found = pruner.unbiased_factors(graph, mask, run)
    except LspruneError as error:
        return str(error).split(", and ")[0]
    assert found.dtype == (torch.float32 if run.device else np.float32)
    return numpy_of(found).tolist()


def simple(graph: Graph) -> Graph:
    """The graph without parallel edges, and with an edge attribute that can be a weight."""
    source, target = graph.ends()
    _, first = np.unique(source * 1000 + target, return_index=True)
    weight = np.random.default_rng(0).uniform(0.1, 9, (first.size, 1)).astype(np.float32)
    nodes = (graph.num_sources, graph.num_targets) if graph.bipartite else graph.num_nodes
    ptr = {} if graph.bipartite else {"ptr": graph.target_ptr}
    return Graph.from_edges((source[first], target[first]), num_nodes=nodes, edge_attr=weight, **ptr)


def agree(pruner, device) -> list:
    """The factors of many graphs, or the errors, which host and device have in common."""
    results = []
    for seed in range(25):
        graph = any_graph(np.random.default_rng(seed))
        graph = graph if seed % 5 == 0 else simple(graph)
        results.append(factors_of(pruner, graph, HOST))
        assert factors_of(pruner, upload(graph, device), device_run(device)) == results[-1]
    return results
