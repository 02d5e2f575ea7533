"""`prune`, `mask` and `explain`: from any kind of graph to masks and back."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, GraphError, LocalRandom, OptionError, SharedBudget, prune
from lsprune.api import explain, mask
from lsprune.errors import IsolatedWarning
from lsprune.kernels import runtime


def test_prune_keeps_the_masked_edges_and_gives_the_mask_on_request():
    graph = random_graph(0, edge_dim=2)
    small, kept = prune(graph, LSP(k=2), return_mask=True)
    source, target = graph.ends()
    np.testing.assert_array_equal(np.stack(small.ends()), np.stack([source[kept], target[kept]]))
    np.testing.assert_array_equal(small.edge_attr, graph.edge_attr[kept])
    np.testing.assert_array_equal(kept, LSP(k=2).mask(graph))
    assert prune(graph, LSP(k=2)).num_edges == kept.sum()


def test_executors_can_be_named():
    graph = random_graph(0)
    reference = prune(graph, LSP(k=2), executor="reference", return_mask=True)[1]
    np.testing.assert_array_equal(reference, prune(graph, LSP(k=2), executor="cpu", return_mask=True)[1])
    with pytest.raises(OptionError, match="executor must be one of"):
        prune(graph, LSP(k=2), executor="gpu9")


def test_unknown_objects_are_named():
    with pytest.raises(GraphError, match="str"):
        prune("a graph", LSP(k=1))
    for wrong in (LSP, "lsp", None):
        with pytest.raises(OptionError, match=r"pruner must be a pruner such as LSP\(keep=0.5\), got "):
            prune(random_graph(0), wrong)


def test_the_thread_count_holds_for_the_whole_call(monkeypatch):
    from lsprune.kernels import threads

    seen = []
    run = threads.run
    monkeypatch.setattr(threads, "run", lambda jobs, count: (seen.append(count), run(jobs, count)))
    edges = np.random.default_rng(0).integers(0, 1000, (2, 300_000))
    prune(edges, LocalRandom(k=2), threads=3)
    assert set(seen) == {3}


def test_isolated_nodes_are_counted_in_a_warning():
    with pytest.warns(IsolatedWarning, match=r"left 3 nodes without any edge.*Guarded\(pruner=\.\.\., min_keep=1\)"):
        prune(np.array([[0, 1, 2, 3], [4, 4, 4, 4]]), LocalRandom(k=1))


def test_weights_and_positions_of_the_kept_edges_come_with_them_on_request():
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    graph = random_graph(3, nodes=10, edges=80)
    source, target = graph.ends()
    data = pyg.Data(x=torch.from_numpy(graph.x), edge_index=torch.from_numpy(np.stack([source, target])))
    small, kept = prune(data, LocalRandom(k=3, self_loops="edge"), rescale=True, e_id=True, return_mask=True)
    np.testing.assert_array_equal(small.e_id.numpy(), np.flatnonzero(kept))
    sums = np.bincount(target[kept], weights=small.edge_weight.numpy(), minlength=10)
    np.testing.assert_allclose(sums, np.bincount(target, minlength=10), rtol=1e-6)
    with pytest.raises(OptionError, match="e_id.*a Graph"):
        prune(graph, LocalRandom(k=3), e_id=True)


def test_unbiased_weights_are_those_of_the_pruner():
    values = np.random.default_rng(0).random((40, 40))
    matrix = pytest.importorskip("scipy.sparse").coo_array(np.where(values < 0.3, values, 0))
    pruner = LSP(k=3, hash="identity", weights="degree", select="bottom")
    small, kept = prune(matrix, pruner, rescale="unbiased", return_mask=True)
    graph = Graph.from_edges(np.stack([matrix.row, matrix.col]), num_nodes=40)
    factors = pruner.unbiased_factors(graph, kept, runtime(1))
    np.testing.assert_allclose(small.data, (matrix.data * factors)[kept])
    assert factors.max() > 2


@pytest.mark.parametrize("rescale", ["biased", 1, None])
def test_rescale_must_be_known(rescale):
    with pytest.raises(OptionError, match="rescale must be one of False, True, 'unbiased'"):
        prune(random_graph(0), LocalRandom(k=3), rescale=rescale)


def test_unbiased_weights_are_refused_before_anything_is_pruned():
    with pytest.raises(OptionError, match=r'rescale="unbiased" is not possible with LSP\(k=2\): .*convex hull'):
        prune(random_graph(0, dim=0), LSP(k=2), rescale="unbiased")  # it lacks the attributes too


def test_mask_and_explain_are_those_of_the_pruner():
    graph = random_graph(0)
    np.testing.assert_array_equal(mask(graph, LSP(k=2), threads=2), LSP(k=2).mask(graph))
    assert explain(graph, LSP(k=2), 3) == LSP(k=2).explain(graph, 3)
    with pytest.raises(OptionError, match="pruner must be a pruner"):
        explain(graph, SharedBudget(pruner=LSP(keep=0.5)), 3)
