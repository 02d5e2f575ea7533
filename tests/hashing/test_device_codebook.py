"""Codebooks on a device: the sample, the words and the masks of the host, by lists too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from device_helpers import HOST, both, device_run, numpy_of, result_of, torch, upload, views

from graphs import random_graph
from lsprune import LSP, Graph
from lsprune.hashing import Both, Codebook, codebook, device_codebook, device_rows, word_lists
from lsprune.hashing.word_search import ByContent, WordSearch
from lsprune.kernels.gpu import nearest_words

PARTS = [("owner", "edge", "neighbour"), ("edge",), ("neighbour",), ("owner", "neighbour")]


def kinds(dim: int = 6, edges: int = 4000) -> Graph:
    """Nodes and edges around a few centres, so that words are learned."""
    rng = np.random.default_rng(dim)
    x, attr = (rng.standard_normal((20, dim))[rng.integers(0, 20, n)] for n in (400, edges))
    noisy = [(values + 0.1 * rng.standard_normal(values.shape)).astype(np.float32) for values in (x, attr)]
    return Graph.from_edges(rng.integers(0, 400, (2, edges)), num_nodes=400, x=noisy[0], edge_attr=noisy[1])


@pytest.mark.parametrize("attributes", PARTS, ids="-".join)
@pytest.mark.parametrize("dim", [1, 6, 100])
def test_words_and_masks_are_those_of_the_host(dim, attributes):
    graph = kinds(dim, 4000 if dim < 100 else 900)
    for words in (None, 12):
        host, device = both(LSP(k=3, hash=Codebook(words=words), attributes=attributes), graph, fit=True)
        assert device == host and not isinstance(host, str)


@pytest.mark.parametrize(
    "options",
    [
        {"keep": 0.3},
        {"k": 4, "select": "bottom"},
        {"k": 2, "symmetric": "union"},
        {"keep": 0.5, "symmetric": "intersection", "side": "out"},
        {"k": 20, "weights": "degree"},
        {"keep": 0.2, "weights": "similarity", "attributes": ("neighbour",)},
        {"k": 3, "self_loops": "edge", "weights": "jaccard"},
    ],
    ids=repr,
)
@pytest.mark.parametrize("family", [Codebook(words=9), Both(node=Codebook(words=5))], ids=repr)
def test_every_budget_and_weight(family, options):
    if family.missing_parts(options.get("attributes", ("edge", "neighbour"))):
        pytest.skip("Both needs edge attributes")
    host, device = both(LSP(hash=family, **options), kinds(5, 1500))
    assert device == host and not isinstance(host, str)


def test_several_graphs_and_categories():
    one = kinds(4, 700)
    coloured = Graph.from_edges(one.ends(), num_nodes=400, x=np.arange(400) % 7, edge_attr=np.arange(700) % 5)
    for graph in (Graph.concat([one, one]), Graph.concat([coloured, coloured])):
        for attributes in (("neighbour",), ("edge", "neighbour")):
            host, device = both(LSP(keep=0.4, hash="codebook", attributes=attributes), graph, fit=True)
            assert device == host and not isinstance(host, str)


def test_a_small_sample_has_the_smallest_hashes_whatever_the_blocks(monkeypatch):
    here, there = views(LSP(k=1, attributes=("edge", "neighbour")), kinds(3, 3000))
    for most in (50, 1 << 20):
        monkeypatch.setattr(codebook, "MAX_SAMPLED_ROWS", most)
        rows, total = codebook._distinct_rows(here)
        for size in (1 << 30, 1 << 14):
            monkeypatch.setattr(device_rows, "BLOCK_BYTES", size)
            found, count = codebook._distinct_rows(there)
            assert found.dtype == np.int16 and count == total == there.owned.neighbour.shape[0]
            np.testing.assert_array_equal(found, rows)


def test_hashes_of_rows_are_in_the_order_of_the_host():
    rows = np.random.default_rng(0).integers(-127, 128, (500, 7)).astype(np.int8)
    expected = codebook.row_hashes(rows.astype(np.int16), 3)
    found = numpy_of(device_codebook.row_hashes(torch.from_numpy(rows), 3))
    np.testing.assert_array_equal(found.view(np.uint64) ^ np.uint64(1 << 63), expected)


def test_many_words_are_searched_in_lists(monkeypatch):
    monkeypatch.setattr(word_lists, "MAX_FLAT_WORDS", 100)
    monkeypatch.setattr(WordSearch.__init__, "__defaults__", (False, 100))
    device_codebook._searcher.cache_clear()
    used = []
    make = device_codebook.listed_words.searcher
    monkeypatch.setattr(device_codebook.listed_words, "searcher", lambda *args: used.append(1) or make(*args))
    rng = np.random.default_rng(0)
    attr = rng.standard_normal((3000, 5)).astype(np.float32)
    graph = Graph.from_edges(rng.integers(0, 100, (2, 3000)), num_nodes=100, edge_attr=attr)
    for exact in (False, True):
        fitted = LSP(k=3, hash=Codebook(words=400, exact=exact)).fit_graph(graph, HOST)
        there = upload(graph, "cpu")
        assert LSP(k=3, hash=Codebook(words=400, exact=exact)).fit_graph(there, device_run()) == fitted
        for _ in range(2):
            assert result_of(fitted, there, device_run()) == result_of(fitted, graph, HOST)
        assert len(used) == 1  # kept for the second graph, and not needed by an exact search
    device_codebook._searcher.cache_clear()


def test_a_searcher_is_kept_for_words_of_the_same_content():
    words = np.random.default_rng(0).integers(-9, 9, (30, 4)).astype(np.int16)
    first = device_codebook._searcher(ByContent(words), False, torch.device("cpu"))
    assert device_codebook._searcher(ByContent(words.copy()), False, torch.device("cpu")) is first


def test_errors_are_those_of_the_host():
    graph, empty = kinds(3, 60), random_graph(0, nodes=5, edges=0, dim=3)
    host, device = both(LSP(k=1, hash=Codebook(words=99)), replace(graph, x_source=None, x_target=None), fit=True)
    assert device == host and host.startswith("GraphError: words must be at most")
    wordless = LSP(k=1, hash="codebook", attributes=("owner", "neighbour"))
    assert result_of(wordless, upload(empty, "cpu"), device_run(), fit=True) == result_of(
        wordless, empty, HOST, fit=True
    )
    fitted = wordless.fit_graph(empty, HOST)
    assert fitted.learned.shape == (0, 6)
    host, device = both(fitted, random_graph(0, nodes=5, edges=40, dim=3))
    assert device == host and host.startswith("GraphError: the codebook has no words")


@pytest.mark.parametrize("attributes", PARTS, ids="-".join)
def test_what_is_not_finite_is_named_by_its_row(attributes):
    graph = kinds(3, 900)
    fitted = LSP(k=2, hash=Codebook(words=8), attributes=attributes).fit_graph(graph, HOST)
    edge_attr, x = graph.edge_attr.copy(), graph.x.copy()
    if "edge" in attributes:
        edge_attr[[700, 30], 1] = np.nan
    else:
        x[[17, 300, 5], 0] = np.inf
    host, device = both(fitted, replace(graph, edge_attr=edge_attr, x_source=x, x_target=x))
    assert device == host and "must be finite in float32" in host


def test_every_row_must_be_finite_where_nobody_has_a_choice():
    graph = kinds(3, 30)
    fitted = LSP(k=40, hash=Codebook(words=8)).fit_graph(graph, HOST)
    unused = next(node for node in range(400) if node not in np.stack(graph.ends()))
    x = graph.x.copy()
    x[unused] = np.nan
    host, device = both(fitted, replace(graph, x_source=x, x_target=x))
    assert device == host == f"RowError: x must be finite in float32, got nan in row {unused}"


def test_rows_that_no_edge_needs_may_be_anything():
    graph = Graph.from_edges(np.array([[0, 1, 2, 3], [1, 1, 1, 3]]), x=np.eye(5, dtype=np.float32))  # 3: a self-loop
    fitted = LSP(k=1, hash=Codebook(words=2), attributes=("owner", "neighbour")).fit_graph(graph, HOST)
    x = graph.x.copy()
    x[3:] = np.nan
    host, device = both(fitted, replace(graph, x_source=x, x_target=x))
    assert device == host and not isinstance(host, str)


def test_words_are_trained_where_the_nearest_are_found(monkeypatch):
    here, there = views(LSP(k=1, attributes=("edge",)), kinds(3, 300))
    assert codebook.training_runtime(here) is here.runtime
    assert codebook.training_runtime(there).executor == "cpu" and codebook.training_runtime(there).device is None
    monkeypatch.setattr(nearest_words, "DEVICE", "cpu")  # as if it were a GPU
    assert codebook.training_runtime(there).executor == "gpu"
    pruner, graph = LSP(k=2, hash=Codebook(words=20)), kinds(5, 2000)
    assert pruner.fit_graph(upload(graph, "cpu"), device_run()) == pruner.fit_graph(graph, HOST)
