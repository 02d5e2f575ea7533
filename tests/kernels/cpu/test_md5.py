"""MD5 of packed bits against hashlib, and whole masks against the plain definition."""

from __future__ import annotations

import dataclasses
import hashlib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphs import random_graph
from lsprune import LSP, Graph, GraphError
from lsprune.attributes import describe
from lsprune.hashing import PaperThreshold, paper
from lsprune.kernels import reference
from lsprune.kernels.cpu import md5
from lsprune.numeric.random_numbers import ENTRY, draw
from lsprune.pruners import PaperLSP
from naive import algorithm_1, md5_key

M = 2**31 - 1


def words_of(messages: list[bytes]) -> np.ndarray:
    """Messages of one length as a table of one row: [1, words, 16], a message in each lane."""
    table = np.zeros((1, -(-len(messages[0]) // 4), 16), np.uint32)
    for lane, message in enumerate(messages):
        table[0, :, lane] = np.frombuffer(message.ljust(4 * table.shape[1], b"\0"), "<u4")
    return table


def keys_of(messages: list[bytes], cut: int, m: int) -> list[int]:
    """The keys of messages whose words before `cut` are one part and the others two that share every word."""
    table = words_of(messages)
    size, total = len(messages[0]), table.shape[1]
    cut = min(cut, total)
    odd = np.uint32(0x55555555)
    tables = (table[:, :cut].copy(), table[:, cut:] & odd, table[:, cut:] & ~odd)
    keys = np.empty((2, len(messages)), np.int64)
    md5.md5_keys(tables, np.zeros((3, 2), np.int64), np.array([0, cut, cut]), size, m, keys)
    assert (keys[0] == keys[1]).all()
    return keys[0].tolist()


def boundaries(test):
    """Lengths at which the padding changes its form, each with all and with no words in the first part."""
    for size in (0, 1, 55, 56, 63, 64, 65, 119, 120, 128):
        for cut in (0, 16, 100):
            test = example(size=size, cut=cut, count=16, m=M, seed=size)(test)
    return test


@boundaries
@given(
    size=st.integers(0, 300), cut=st.integers(0, 80), count=st.integers(1, 16), seed=st.integers(0, 2**32),
    m=st.sampled_from([1, 2, 97, M, 2**32, 2**32 + 1, 2**48, 2**61 - 1, 2**63 - 1]) | st.integers(1, 2**63 - 1),
)  # fmt: skip
@settings(max_examples=40, deadline=None, derandomize=True)
def test_keys_are_those_of_hashlib(size, cut, count, seed, m):
    rng = np.random.default_rng(seed)
    messages = [rng.bytes(size) for _ in range(count)]
    expected = [int.from_bytes(hashlib.md5(message).digest(), "big") % m for message in messages]
    assert keys_of(messages, cut, m) == expected


def test_every_edge_has_the_state_of_its_own_owner():
    rng = np.random.default_rng(0)
    tables = tuple(rng.integers(0, 2**32, (4, words, 16), np.uint32) for words in (33, 20, 5))
    rows = np.array([[0, 0, 1, 1, 0, 3, 3], [0, 1, 2, 3, 0, 1, 2], [3, 3, 0, 0, 1, 1, 2]])
    results = []
    for kernel in (md5.md5_keys, reference.md5_keys):
        results.append(np.empty((7, 16), np.int64))
        kernel(tables, rows, np.array([0, 33, 52]), 4 * 57, M, results[-1])
    np.testing.assert_array_equal(*results)
    assert np.unique(results[0]).size == 7 * 16


@pytest.mark.parametrize("sparsity", [None, 1, 45])
@pytest.mark.parametrize("given", ["vectors", "edges too", "categories", "neighbours alone", "two kinds of nodes"])
def test_masks_are_those_of_the_definition(given, sparsity):
    graph = random_graph(1, nodes=12, edges=150, dim=37, edge_dim=21 if given != "vectors" else 0)
    if given == "categories":
        kinds = np.arange(graph.num_edges, dtype=np.int64) % 5
        graph = Graph.from_edges(graph.ends(), num_nodes=12, x=graph.x, edge_attr=kinds)
    if given == "two kinds of nodes":
        attributes = (np.random.default_rng(0).standard_normal((12, dim)) for dim in (600, 5))  # a block of the owner's
        graph = Graph.from_edges(graph.ends(), num_nodes=(12, 12), x=tuple(attributes))
    parts = ("neighbour",) if given == "neighbours alone" else ("owner", "edge", "neighbour")
    for k, m, values in ((3, M, "raw"), (18, 2**62 + 1, "unit")):
        hash = PaperThreshold(digest="md5", sparsity=sparsity, m=m)
        pruner = PaperLSP(k=k, hash=hash, attributes=parts, values=values, side="out")
        np.testing.assert_array_equal(pruner.mask(graph, threads=2), pruner.mask(graph, executor="reference"))


@pytest.mark.parametrize("edge_dim", [0, 21])
@pytest.mark.parametrize("sparsity", [None, 40])
def test_bits_of_several_words_stand_in_their_order(sparsity, edge_dim):
    def key(vector, step, exponent, where, seed):
        order = sorted(range(len(where)), key=lambda i: int(draw(seed, ENTRY, step, *where[i])))
        used = sorted(order[:sparsity])
        return md5_key([vector[i] for i in used], step, exponent, [where[i] for i in used], seed)

    graph = random_graph(3, nodes=6, edges=30, dim=37, edge_dim=edge_dim)
    pruner = dataclasses.replace(LSP.paper("t", k=2, seed=4), hash=PaperThreshold(digest="md5", sparsity=sparsity))
    np.testing.assert_array_equal(pruner.mask(graph), algorithm_1(graph, 2, key, seed=4))


@pytest.mark.parametrize("edge_dim", [0, 3])
def test_nodes_packed_for_each_block_give_the_same_mask(edge_dim, monkeypatch):
    graph = random_graph(2, nodes=40, edges=600, dim=45, edge_dim=edge_dim)
    pruner = LSP.paper("t", k=4)
    ahead = pruner.mask(graph)
    monkeypatch.setattr(paper, "MAX_TABLE_BYTES", 0)
    monkeypatch.setattr(paper, "BLOCK_ROWS", 7)
    np.testing.assert_array_equal(pruner.mask(graph), ahead)


@pytest.mark.parametrize("ahead", [True, False])
def test_a_category_is_the_vector_it_stands_for(ahead, monkeypatch):
    monkeypatch.setattr(paper, "MAX_TABLE_BYTES", 1 << 20 if ahead else 0)
    ends, kinds = random_graph(5, nodes=20, edges=200).ends(), (np.arange(20) % 7, np.arange(200) % 5)
    graph = Graph.from_edges(ends, num_nodes=20, x=kinds[0], edge_attr=kinds[1])
    parts = describe(graph, "out", ("owner", "edge"), seed=0)
    x, attr = (part.rows.take(kind) for part, kind in zip(parts.values(), kinds, strict=True))
    vectors = Graph.from_edges(ends, num_nodes=20, x=x, edge_attr=attr)
    np.testing.assert_array_equal(LSP.paper("t", k=3).mask(graph), LSP.paper("t", k=3).mask(vectors))


def test_extreme_values_are_above_or_below_every_threshold():
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 0.0, 1.0], (30, 20)).astype(np.float32)  # in fixed point half of what 16 bits hold
    graph = Graph.from_edges(rng.integers(0, 30, (2, 400)), num_nodes=30, x=x)
    pruner = PaperLSP(k=3, hash=PaperThreshold(digest="md5", sparsity=4), values="raw")
    far = dataclasses.replace(pruner, hash=PaperThreshold(digest="md5", sparsity=4, mean=100.0))
    assert (pruner.mask(graph) != far.mask(graph)).any()
    below = dataclasses.replace(far, hash=PaperThreshold(digest="md5", sparsity=4, mean=10000.0))
    np.testing.assert_array_equal(far.mask(graph), below.mask(graph))  # all bits are 0 in both


def test_rows_that_are_not_finite_are_named():
    x = np.ones((5, 3), np.float32)
    fitted = LSP.paper("t", k=1).fit(Graph.from_edges(np.array([[0, 0, 0], [1, 2, 3]]), num_nodes=5, x=x))
    x = x.copy()
    x[3, 1] = np.inf
    with pytest.raises(GraphError, match="x must be finite in float32, got inf in row 3"):
        fitted.mask(Graph.from_edges(np.array([[0, 0, 0], [1, 2, 3]]), num_nodes=5, x=x))
