"""A real GPU gives the bits of the CPU: its Triton kernels, for graphs of many sizes, and every golden digest.

Compiling a variant of a kernel takes seconds, so there are few pruners here and several graphs for each; the same on
CPU tensors, with many more pruners, is `tests/device`.
"""

from __future__ import annotations

import numpy as np
import pytest
from gpu_device import DEVICE

# isort: split
from device_helpers import HOST, any_graph, device_run, numpy_of, result_of, upload
from golden_graphs import graph_named
from golden_masks import CONFIGURATIONS, digest_of, known, promised

from lsprune import LSP, Graph, LocalRandom, Random
from lsprune.baselines import Cosine, DSpar, Jaccard, LowDegree, TopWeight
from lsprune.hashing import Bins, Both, Codebook, Projection, Signs, Threshold
from lsprune.hashing.word_lists import MAX_FLAT_WORDS

PRUNERS = [
    LSP(k=8),
    LSP(k=20, attributes=("neighbour",), side="out"),
    LSP(keep=0.3, self_loops="edge"),
    LSP(k=3, select="bottom", hash=Bins()),
    LSP(k=5, hash=Projection(l=0.5, sparsity=3), attributes=("owner", "edge", "neighbour")),
    LSP(keep=0.5, hash=Signs(bits=3), self_loops="drop"),
    LSP(k=9, hash=Threshold()),
    LSP(k=3, hash="identity", weights="degree"),
    LSP(k=4, hash="signs", weights="similarity", attributes=("neighbour",)),
    LSP(keep=0.4, hash="identity", weights="jaccard"),
    LSP(k=2, symmetric="union"),
    LSP(keep=0.6, hash="identity", symmetric="intersection", pooled=True),
    LSP(k=4, hash=Codebook(words=20)),
    LSP(keep=0.3, hash="structure", weights="degree"),
    LSP(k=3, hash=Both(edge=Codebook(words=5), node=Signs(bits=4))),
    LSP.auto(keep=0.25),
    LocalRandom(k=3),
    Random(keep=0.3),
    DSpar(k=3, symmetric="union"),
    LowDegree(k=3),
    TopWeight(keep=0.4, column=0),
    Jaccard(k=3),
    Jaccard(keep=0.4, exact=True, side="out"),
    Cosine(k=3),
]
GRAPHS = 10  # for each pruner
HUB = 1024 * 64 + 777  # more edges than one block of a kernel reads


def power_law(edges: int = 200_000, nodes: int = 20_000) -> Graph:
    """A graph with few nodes of very many edges, one of them above HUB as a target and one as a source."""
    rng = np.random.default_rng(0)
    share = (np.arange(nodes) + 10.0) ** -0.8
    ends = rng.choice(nodes, (2, edges), p=share / share.sum())
    ends[1, :HUB], ends[0, -HUB:] = 3, 5
    x = rng.standard_normal((nodes, 24)).astype(np.float32)
    return Graph.from_edges(ends[:, rng.permutation(edges)], num_nodes=nodes, x=x)


@pytest.fixture(scope="module")
def large() -> Graph:
    return power_law()


def golden() -> list[str]:
    """Configurations that a GPU can compute."""
    gpu = [name for name in promised() if CONFIGURATIONS[name][0]().needs.gpu]
    return [name for name in gpu if CONFIGURATIONS[name][1] != "sparse words"]


@pytest.mark.parametrize("fit", [False, True], ids=["as it is", "fitted before"])
@pytest.mark.parametrize("pruner", PRUNERS, ids=repr)
def test_random_graphs(pruner, fit):
    masks = 0
    for seed in range(GRAPHS):
        graph = any_graph(np.random.default_rng(seed), edges=(1, 5, 300, 1500, 6000))
        if graph.bipartite and pruner.symmetric:
            continue
        host = result_of(pruner, graph, HOST, fit=fit)
        assert result_of(pruner, upload(graph, DEVICE), device_run(DEVICE), fit=fit) == host
        masks += not isinstance(host, str)
    assert masks


@pytest.mark.parametrize("name", golden())
def test_golden_digests(name):
    make, graph = CONFIGURATIONS[name]
    mask = make().mask_graph(upload(graph_named(graph), DEVICE), device_run(DEVICE)).mask
    assert digest_of(numpy_of(mask)) == known()[name]


@pytest.mark.parametrize(
    "pruner",
    [
        LSP(k=8),
        LSP(k=8, side="out", self_loops="edge"),
        LSP(keep=0.2, hash="signs"),
        LSP(k=3, select="bottom"),
        LSP(k=4, hash="identity", weights="degree"),
        LSP(k=2, hash="identity", symmetric="union"),
        Random(keep=0.2),
        LowDegree(k=40),
    ],
    ids=repr,
)
def test_hubs(pruner, large):
    degrees = [np.bincount(end).max() for end in large.ends()]
    assert min(degrees) > 1024 * 64
    host = pruner.mask_graph(large, HOST)
    there = pruner.mask_graph(upload(large, DEVICE), device_run(DEVICE))
    np.testing.assert_array_equal(numpy_of(there.mask), host.mask)
    assert (there.isolated, there.kept) == (host.isolated, int(host.mask.sum()))


@pytest.mark.parametrize("exact", [False, True], ids=["by lists", "exact"])
def test_many_words(exact):
    rng = np.random.default_rng(0)
    attr = rng.standard_normal((60_000, 24)).astype(np.float32)
    graph = Graph.from_edges(rng.integers(0, 3000, (2, 60_000)), num_nodes=3000, edge_attr=attr)
    pruner = LSP(k=5, hash=Codebook(words=MAX_FLAT_WORDS + 1, iterations=1, exact=exact))
    there, run = upload(graph, DEVICE), device_run(DEVICE)
    fitted = pruner.fit_graph(graph, HOST)
    assert pruner.fit_graph(there, run) == fitted
    np.testing.assert_array_equal(numpy_of(fitted.mask_graph(there, run).mask), fitted.mask_graph(graph, HOST).mask)


def test_what_fit_chooses(large):
    pruner = LSP.auto(k=3)
    fitted = pruner.fit_graph(large, HOST)
    assert pruner.fit_graph(upload(large, DEVICE), device_run(DEVICE)) == fitted
