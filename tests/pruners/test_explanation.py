from __future__ import annotations

import re

import numpy as np
import pytest

from graphs import ALL_PRUNERS, name_of, random_graph
from lsprune import LSP, Degree, First, Graph, GraphError, Guarded, Jaccard, NoEdges, OptionError, Random
from lsprune.baselines import TopWeight

LOCAL = [p for p in ALL_PRUNERS if not isinstance(p, (Random, NoEdges))]


@pytest.mark.parametrize("pruner", LOCAL, ids=name_of)
def test_reasons_agree_with_the_mask(pruner):
    graph = random_graph(4, nodes=10, edges=90, edge_dim=2)
    mask = pruner.mask(graph)
    source, target = graph.ends()
    owner = target if pruner.side == "in" else source
    for node in range(10):
        explanation = pruner.explain(graph, node)
        assert sorted(reason.edge for reason in explanation.edges) == np.flatnonzero(owner == node).tolist()
        assert all(reason.kept == mask[reason.edge] for reason in explanation.edges)
        steps = [reason.step for reason in explanation.edges if reason.step]
        assert len(set(steps)) == len(steps)


def test_the_words_say_who_won():
    graph = random_graph(4, nodes=10, edges=90)
    text = str(LSP(k=2).explain(graph, 3))
    assert "quota 2" in text
    assert "taken at step 1: the first of" in text
    assert "beaten at every step, most narrowly at step" in text
    assert "the node keeps no edge" in str(LSP(k=0).explain(graph, 3))
    assert "its reverse was taken by the neighbour" in "".join(
        str(LSP(k=1, symmetric="union").explain(graph, node)) for node in range(10)
    )
    assert "self-loop, kept and not counted" in str(First(k=1).explain(np.array([[2, 0], [2, 2]]), 2))


@pytest.mark.parametrize("weights", ["degree", "jaccard", "similarity", "neighbour:0", "edge:0"])
def test_what_weights_added_is_what_parts_the_keys_from_plain_ones(weights):
    plain, attr = random_graph(4, nodes=10, edges=90), np.linspace(1, 9, 90, dtype=np.float32)[:, None]
    x = np.abs(plain.x_source) + np.float32(0.1)
    graph = Graph.from_edges(np.stack(plain.ends()), num_nodes=10, x=x, edge_attr=attr)
    said = {}
    for which in (weights, None):
        found = LSP(k=1, select="bottom", attributes=("neighbour",), weights=which).explain(graph, 3).edges
        words = [reason.why for reason in found if reason.neighbour != 3]  # self-loops have no key
        said[which] = [re.search(r"key (-?\d+)(?: \(weights ([+-]\d+)\))?", why).groups() for why in words]
    assert len(said[None]) > 3 and all(added is None for _, added in said[None])
    assert [int(key) - int(added) for key, added in said[weights]] == [int(key) for key, _ in said[None]]
    assert len({added for _, added in said[weights]}) > 1


def test_a_product_of_weights_is_shown_by_factor():
    graph = random_graph(4, nodes=10, edges=90)
    product = Jaccard(power=0.5) * Degree(power=2)
    degree = np.bincount(graph.ends()[0][graph.ends()[0] != graph.ends()[1]], minlength=10)
    single = TopWeight(k=2, weights=Jaccard(power=0.5)).explain(graph, 3).edges
    for reason, alone in zip(TopWeight(k=2, weights=product).explain(graph, 3).edges, single, strict=True):
        if reason.neighbour == 3:
            continue  # self-loops have no key
        added, jaccard, low = re.search(
            r"weights ([+-]\d+): jaccard ([0-9.e-]+) \* degree ([0-9.e-]+)\)", reason.why
        ).groups()
        assert float(low) == pytest.approx(degree[reason.neighbour] ** -2.0, rel=0.01)
        assert -int(added) / 2**32 == pytest.approx(np.log2(float(jaccard) * float(low)), abs=0.05)
        only = int(re.search(r"weights ([+-]\d+)\)", alone.why)[1])
        assert float(jaccard) == pytest.approx(2 ** (-only / 2**32), rel=0.01)


@pytest.mark.parametrize("pruner", [Random(keep=0.4), NoEdges()], ids=name_of)
def test_global_pruners_say_that_nobody_chose(pruner):
    graph = random_graph(4, nodes=10, edges=90)
    explanation = pruner.explain(graph, 3)
    assert [reason.kept for reason in explanation.edges] == pruner.mask(graph)[graph.ends()[1] == 3].tolist()
    assert "decided over the whole graph" in str(explanation)
    with pytest.raises(GraphError, match=r"node must be in \[0, 10\), got -1"):
        pruner.explain(graph, -1)


def test_unknown_nodes_are_named():
    with pytest.raises(GraphError, match=r"node must be in \[0, 12\), got 12"):
        LSP(k=1).explain(random_graph(0), 12)


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("kind", ["one", "bipartite", "csr"])
@pytest.mark.parametrize(
    "make",
    [
        lambda side: LSP(k=1, side=side, hash="identity"),
        lambda side: LSP(k=1, side=side, hash="identity", self_loops="edge"),
        lambda side: Random(k=1, side=side),
        lambda side: Guarded(pruner=LSP(k=1, side=side, hash="identity"), min_keep=1),
    ],
)
def test_the_text_shows_edges_in_their_own_direction(side, kind, make):
    graph = random_graph(4, nodes=10, edges=90)
    source, target = graph.ends()
    if kind == "bipartite":
        graph = Graph.from_edges((source, target), num_nodes=(10, 10))
    if kind == "csr":
        order = np.argsort(source, kind="stable")
        source, target = source[order], target[order]
        graph = Graph.from_csr(np.searchsorted(source, np.arange(11)), target, rows="source")
    text = str(make(side).explain(graph, 3))
    shown = re.findall(r"^  (?:kept   |removed) edge (\d+) \((\d+) -> (\d+)\): ", text, re.MULTILINE)
    assert (
        sorted(int(edge) for edge, _, _ in shown) == np.flatnonzero((target if side == "in" else source) == 3).tolist()
    )
    assert all((source[int(edge)], target[int(edge)]) == (int(s), int(t)) for edge, s, t in shown)


@pytest.mark.parametrize("node", ["3", 2.0, True, None, [3], float("nan")], ids=repr)
def test_a_node_is_a_number(node):
    with pytest.raises(OptionError, match="node must be the number of a node"):
        Random(keep=0.5).explain(random_graph(0), node)
    assert Random(keep=0.5).explain(random_graph(0), np.int64(3)).node == 3


@pytest.mark.parametrize(("select", "shown"), [("functions", True), ("bottom", False)])
def test_steps_after_256_are_explained_by_the_function_that_they_go_by(select, shown):
    rng = np.random.default_rng(0)
    ends = np.stack([np.arange(1, 401), np.zeros(400, int)])
    graph = Graph.from_edges(ends, x=rng.standard_normal((401, 3)))
    told = str(LSP(k=300, select=select).explain(graph, 0))
    assert ("steps after 256 go by function 257" in told) == shown
    assert sum(reason.kept for reason in LSP(k=300, select=select).explain(graph, 0).edges) == 300
