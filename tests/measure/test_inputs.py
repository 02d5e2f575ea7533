from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from graphs import random_graph
from lsprune import LSP, Graph, GraphError, OptionError, Random
from lsprune.kernels import runtime
from lsprune.measure import consistency, stability
from lsprune.measure.inputs import one_graph


def test_a_graph_is_itself():
    graph = random_graph(0)
    assert one_graph(graph) is graph


def test_several_become_one_with_offsets_and_attributes_in_step():
    first, second = random_graph(0, nodes=5, edges=8, edge_dim=2), random_graph(1, nodes=7, edges=6, edge_dim=2)
    both = one_graph([first, second])
    assert (both.num_nodes, both.num_edges, both.num_graphs) == (12, 14, 2)
    assert both.source_ptr.tolist() == both.target_ptr.tolist() == [0, 5, 12]
    ends = np.concatenate([np.stack(first.ends()), np.stack(second.ends()) + 5], axis=1)
    assert np.stack(both.ends()).tolist() == ends.tolist()
    assert both.x.tolist() == [*first.x.tolist(), *second.x.tolist()] and both.x_source is both.x_target
    assert both.edge_attr.tolist() == [*first.edge_attr.tolist(), *second.edge_attr.tolist()]
    assert one_graph([both, [first]]).source_ptr.tolist() == [0, 5, 12, 17]


def test_each_graph_meets_its_own_budget():
    graphs = [random_graph(seed, edges=40 + 20 * seed) for seed in range(3)]
    pruner = LSP(keep=0.3)
    whole = one_graph(graphs)
    fitted = pruner.fit(whole)
    apart = np.concatenate([fitted.mask_graph(graph, runtime()).mask for graph in graphs])
    assert pruner.mask_graph(whole, runtime()).mask.tolist() == apart.tolist()


def test_relations_are_joined_on_both_sides():
    x = np.arange(2.0)[:, None], np.arange(3.0)[:, None]
    one = Graph.from_edges(np.array([[0, 1], [2, 0]]), num_nodes=(2, 3), x=x)
    both = one_graph([one, one])
    assert [end.tolist() for end in both.ends()] == [[0, 1, 2, 3], [2, 0, 5, 3]]
    assert (both.num_sources, both.num_targets, both.bipartite) == (4, 6, True)
    assert both.source_ptr.tolist() == [0, 2, 4] and both.target_ptr.tolist() == [0, 3, 6]
    assert both.x_source.tolist() == [[0], [1], [0], [1]] and both.x_target.shape == (6, 1)


def test_sparse_attributes_stay_sparse():
    graphs = [Graph.from_edges(np.array([[0], [1]]), x=kind(np.eye(2))) for kind in (scipy.sparse.coo_array, np.array)]
    assert one_graph(graphs).x.toarray().tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]


def test_networks_stay_undirected():
    both = one_graph([nx.path_graph(3), nx.path_graph(2)])
    assert both.undirected and both.num_nodes == 5


def test_what_does_not_go_together_is_named():
    plain, relation = random_graph(0), Graph.from_edges(np.array([[0], [0]]), num_nodes=(1, 1))
    with pytest.raises(GraphError, match="all bipartite or none of them"):
        one_graph([plain, relation])
    with pytest.raises(GraphError, match="all undirected or none of them"):
        one_graph([nx.path_graph(3), np.array([[0], [1]])])
    for other in (random_graph(0, dim=3), random_graph(0, dim=0)):
        with pytest.raises(GraphError, match="x must be on all graphs of a list, in the same shape, or on none"):
            one_graph([plain, other])
    with pytest.raises(GraphError, match="edge_attr must be on all graphs of a list"):
        one_graph([plain, random_graph(0, edge_dim=1)])


def test_pyg_objects_are_measured_as_their_list():
    helpers = pytest.importorskip("pyg_helpers")
    from torch_geometric.data import Batch

    torch, graphs = helpers.torch, [random_graph(seed, nodes=20, edges=120) for seed in range(2)]
    data = [
        helpers.Data(x=torch.from_numpy(graph.x), edge_index=torch.from_numpy(np.stack(graph.ends())))
        for graph in graphs
    ]
    for pruner in (LSP(keep=0.3), Random(keep=0.4)):
        found = consistency(graphs, pruner)
        assert consistency(data, pruner) == consistency(Batch.from_data_list(data), pruner) == found
        assert consistency(data[0], pruner) == consistency(graphs[0], pruner)
        assert stability(data, pruner) == stability(graphs, pruner)
    hetero = helpers.HeteroData()
    hetero["a", "to", "b"].edge_index = helpers.edges()
    hetero["a"].num_nodes = hetero["b"].num_nodes = 5
    with pytest.raises(OptionError, match="one relation at a time"):
        consistency(hetero, LSP(k=1))
