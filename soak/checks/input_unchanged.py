"""The input is never changed, `keep` is met to the edge, and a mask means what it says."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from lsprune import LSP, Graph, LocalRandom, Random, prune
from lsprune.errors import LspruneError
from lsprune.files import read_edges, write_edges
from lsprune.outofcore import prune_stream
from soak.cases import random_graph, random_pruner
from soak.check import Check, expect
from soak.checks.same_files import FORMATS, graph_for, streams, write_graph
from soak.varied_cases import case_on, varied_pruner


def _bytes(graph: Graph) -> list[bytes]:
    """Return the arrays of a graph as bytes."""
    arrays = (*graph.ends(), graph.x, graph.edge_attr)
    return [b"" if array is None else np.ascontiguousarray(array).tobytes() for array in arrays]


def input_unchanged(number: int, folder: Path) -> int:
    """Prune a graph and compare all its arrays with copies made before."""
    rng = np.random.default_rng([1, number])
    graph = random_graph(rng)
    pruner = random_pruner(rng, graph)
    before = _bytes(graph)
    with suppress(LspruneError):  # such as bins of a length that does not suit the attributes
        pruner.mask(graph)
    expect(_bytes(graph) == before, f"{pruner} changed the graph")
    return len(before)


def _objects(rng: np.random.Generator, graph: Graph) -> dict[str, Any]:
    """Return the edges as every kind of object that can be made here."""
    source, target = graph.ends()
    objects: dict[str, Any] = {"array": np.stack([source, target])}
    weights = rng.random(source.size)
    try:
        import networkx
        import pandas
        import scipy.sparse
        import torch
        from torch_geometric.data import Data
    except ModuleNotFoundError:
        return objects
    ends = torch.from_numpy(objects["array"].copy())
    objects["data"] = Data(edge_index=ends, edge_weight=torch.from_numpy(weights), num_nodes=graph.num_nodes)
    objects["table"] = pandas.DataFrame({"source": source, "target": target, "w": weights}, index=weights)
    shape = (graph.num_nodes, graph.num_nodes)
    objects["scipy"] = scipy.sparse.coo_array((weights, (source, target)), shape=shape).tocsr()
    network = networkx.MultiDiGraph()
    network.add_nodes_from(range(graph.num_nodes))
    network.add_weighted_edges_from(zip(source.tolist(), target.tolist(), weights.tolist(), strict=True))
    objects["networkx"] = network
    return objects


def _content(data: Any) -> bytes:
    """Return everything that an object holds, as bytes."""
    if hasattr(data, "adj"):  # NetworkX keeps views of itself, which are no content
        data = (list(data.nodes(data=True)), list(data.edges(data=True)), data.graph)
    return pickle.dumps(data.to_dict() if hasattr(data, "edge_index") else data)


def objects_unchanged(number: int, folder: Path) -> int:
    """Prune every kind of object and compare its content with what it was before."""
    rng = np.random.default_rng([3, number])
    objects = _objects(rng, random_graph(rng))
    budget: dict[str, Any] = {"k": int(rng.integers(0, 5))} if rng.random() < 0.5 else {"keep": 0.4}
    pruner = [LSP(hash="identity", **budget), LocalRandom(**budget), Random(keep=0.5)][number % 3]
    for name, data in objects.items():
        before = _content(data)
        prune(data, pruner)
        expect(_content(data) == before, f"{pruner} changed the {name}")
    return len(objects)


def files_unchanged(number: int, folder: Path) -> int:
    """Prune a file streamed and in memory; compare the bytes and times of its folder, which gets no other file."""
    rng = np.random.default_rng([4, number])
    suffix = FORMATS[number % len(FORMATS)]
    graph = graph_for(rng, suffix)
    pruner = case_on(graph, lambda: varied_pruner(rng, graph), accepts=lambda pruner: streams(pruner, graph)).pruner
    inputs, outputs = folder / "in", folder / "out"
    inputs.mkdir()
    outputs.mkdir()
    path = inputs / f"edges{suffix}"
    options = write_graph(path, graph)
    before = _files(inputs)
    prune_stream(path, outputs / f"streamed{suffix}", pruner, memory="6GB", threads=1, **options)
    expect(_files(inputs) == before, f"{suffix} streamed: {pruner} changed the folder of the input")
    if suffix == ".npy":  # only read as a stream
        return len(before)
    edges = read_edges(path, **options)
    write_edges(outputs / f"pruned{suffix}", edges, pruner.mask(edges.graph, threads=1))
    expect(_files(inputs) == before, f"{suffix} in memory: {pruner} changed the folder of the input")
    return 2 * len(before)


def _files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the content and the time of change of each file in a folder."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def exact_keep(number: int, folder: Path) -> int:
    """Compare the number of edges kept with floor(keep * E + 0.5), and the masks of two shares."""
    rng = np.random.default_rng([2, number])
    graph = random_graph(rng)
    source, target = graph.ends()
    edges = int((source != target).sum())
    small, large = sorted(round(float(share), 3) for share in rng.uniform(0.001, 1.0, 2))
    seed = int(rng.integers(2**31))
    hash = "projection" if graph.x is not None else "identity"
    masks = [LSP(keep=share, hash=hash, seed=seed, self_loops="drop").mask(graph) for share in (small, large)]
    for share, mask in zip((small, large), masks, strict=True):
        asked = int(np.floor(share * edges + 0.5))
        expect(int(mask.sum()) == asked, f"keep={share} of {edges} edges kept {int(mask.sum())}, not {asked}")
    expect(not (masks[0] & ~masks[1]).any(), f"keep={small} keeps an edge that keep={large} removes")
    return 3


CHECKS = (
    Check(
        name="input-unchanged", promise="Input unchanged", about="random pruner and graph, all arrays compared",
        run_case=input_unchanged, share=0.5, quick_cases=60,
    ),
    Check(
        name="objects-unchanged", promise="Input unchanged", about="objects of five libraries, all content compared",
        run_case=objects_unchanged, share=0.5, quick_cases=30,
    ),
    Check(
        name="files-unchanged", promise="Input unchanged",
        about="files of five formats, streamed and in memory: bytes and times of their folder compared",
        run_case=files_unchanged, share=0.5, quick_cases=10,
    ),
    Check(
        name="exact-keep", promise="Exact keep",
        about="two shares: their edges are counted, and the larger mask contains the smaller one",
        run_case=exact_keep, share=0.5, quick_cases=60,
    ),
)  # fmt: skip
