"""Sorted edges in one pass: the mask of memory, and no more state than the edges of one owner."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import LSP, First, Graph, LocalRandom
from lsprune.baselines import Cosine, LowDegree
from lsprune.files import open_edges
from lsprune.kernels import Runtime
from lsprune.outofcore import one_pass
from lsprune.outofcore.one_pass import NotSorted, OnePass, fitted_to_nodes, nodes_only, suits
from lsprune.outofcore.partial_selection import node_keys

FEW = settings(max_examples=12, deadline=None, derandomize=True)


def sorted_graph(seed: int, edges: int = 200) -> Graph:
    rng = np.random.default_rng(seed)
    ends = np.stack([rng.integers(0, 30, edges), np.sort((30 * rng.random(edges) ** 4).astype(np.int64))])
    return Graph.from_edges(ends, num_nodes=30, x=rng.uniform(0.1, 2, (30, 4)).astype(np.float32))


@pytest.mark.parametrize(
    "pruner",
    [LSP(k=3), LSP(k=3, select="bottom"), LSP(k=20), LSP(k=3, hash="identity"), LSP(k=3, weights="neighbour:0")],
    ids=repr,
)
@given(seed=st.integers(0, 999), rows=st.integers(1, 64), cuts=st.lists(st.integers(0, 200), max_size=6))
@FEW
def test_any_windows_in_order_and_again_give_the_mask_of_memory(tmp_path_factory, pruner, seed, rows, cuts):
    graph, run = sorted_graph(seed), Runtime()
    path = tmp_path_factory.mktemp("o") / "e.npy"
    np.save(path, np.stack(graph.ends()))
    edges = open_edges(path, num_nodes=30)
    once = OnePass(edges, *fitted_to_nodes(pruner, nodes_only(pruner, (30, 30), (graph.x, graph.x)), run), rows, run)
    borders = sorted({0, 200, *cuts})
    for _ in range(2):
        parts = [once.kept(lo, hi) for lo, hi in zip(borders, borders[1:], strict=False)]
        np.testing.assert_array_equal(np.concatenate(parts), pruner.mask(graph))
    assert once.counted().edges == 200
    assert once.isolated == pruner.mask_graph(graph, run).isolated


def test_the_open_owner_holds_no_more_than_k_rows(tmp_path, monkeypatch):
    path = tmp_path / "e.npy"
    np.save(path, np.stack([np.arange(5000) % 77, np.zeros(5000, np.int64)]))
    held = []
    split = one_pass.Selector.split

    def watched(self, rows, **options):
        held.append(len(rows))
        return split(self, rows, **options)

    monkeypatch.setattr(one_pass.Selector, "split", watched)
    once = OnePass(open_edges(path), LocalRandom(k=4), None, 50, Runtime())
    mask = once.kept(0, 5000)
    assert max(held) <= 50 + 4 + 50 * (1 / 77 + 1)  # a batch, what is held, and free self-loops of node 0
    assert mask[np.arange(5000) % 77 != 0].sum() == 4


def test_owners_that_go_back_are_noticed(tmp_path):
    path = tmp_path / "e.npy"
    np.save(path, np.array([[1, 2, 3], [0, 5, 4]]))
    once = OnePass(open_edges(path), LocalRandom(k=1), None, 2, Runtime())
    with pytest.raises(NotSorted):
        once.kept(0, 3)


@pytest.mark.parametrize(
    ("pruner", "answer"),
    [
        (LSP(k=2), True),
        (LocalRandom(k=1), True),
        (LSP(keep=0.5), False),
        (LSP(k=65), False),
        (LSP(k=2, symmetric="union"), False),
        (LSP(k=2, weights="degree"), False),
        (LSP(k=2, weights="similarity"), False),
        (LSP(k=2, weights="neighbour:0"), True),
        (LSP(k=2, hash="auto"), False),
        (LSP(k=2, hash="codebook"), True),
        (First(k=2), True),
        (Cosine(k=2), True),
        (LSP(k=2, hash="structure"), False),
        (LowDegree(k=2), False),
    ],
    ids=str,
)
def test_which_pruners_can_go_through_once(tmp_path, pruner, answer):
    np.save(tmp_path / "e.npy", np.zeros((2, 3), np.int64))
    assert suits(pruner, open_edges(tmp_path / "e.npy")) == answer


def test_keys_that_need_more_than_the_nodes_are_not_for_one_pass():
    graph = sorted_graph(0)
    for pruner in (LSP(k=2, hash="signs", attributes=("owner", "neighbour")), Cosine(k=2)):
        assert fitted_to_nodes(pruner, nodes_only(pruner, (30, 30), (graph.x, graph.x)), Runtime()) is None
    assert fitted_to_nodes(LSP(k=2), nodes_only(LSP(k=2), (30, 30), (None, None)), Runtime()) is None


def test_keys_of_nodes_are_those_of_the_whole_graph():
    graph, run = sorted_graph(0), Runtime()
    ids = np.array([3, 29, 3, 0])
    for pruner in (LSP(k=40), LSP(k=3, hash="identity"), LSP(k=40, select="bottom")):
        ready, keys = fitted_to_nodes(pruner, nodes_only(pruner, (30, 30), (graph.x, graph.x)), run)
        assert ready == pruner.fit(graph) or pruner.is_fitted
        count = 1 if pruner.select == "bottom" else pruner.k
        x = graph.x if pruner.family.needs_attributes else None
        expected = node_keys(pruner.fit(graph), np.arange(30), x, 0, count, count, run)
        np.testing.assert_array_equal(keys(ids), expected[ids])
    assert fitted_to_nodes(LocalRandom(k=2), nodes_only(LocalRandom(k=2), (30, 30), (None, None)), run)[1] is None
    none = fitted_to_nodes(LSP(k=0), nodes_only(LSP(k=0), (30, 30), (graph.x, graph.x)), run)[1]
    assert none(ids).shape == (4, 0)
