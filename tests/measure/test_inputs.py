from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, OptionError, Random
from lsprune.kernels import runtime
from lsprune.measure import consistency, stability
from lsprune.measure.inputs import one_graph


def test_a_graph_is_itself():
    graph = random_graph(0)
    assert one_graph(graph) is graph


def test_lists_in_lists_are_joined_too():
    graphs = [random_graph(seed, nodes=4 + seed, edges=6) for seed in range(3)]
    assert one_graph([graphs[:2], graphs[2]]).source_ptr.tolist() == [0, 4, 9, 15]


def test_each_graph_meets_its_own_budget():
    graphs = [random_graph(seed, edges=40 + 20 * seed) for seed in range(3)]
    pruner = LSP(keep=0.3)
    whole = one_graph(graphs)
    fitted = pruner.fit(whole)
    apart = np.concatenate([fitted.mask_graph(graph, runtime()).mask for graph in graphs])
    assert pruner.mask_graph(whole, runtime()).mask.tolist() == apart.tolist()


def test_networks_stay_undirected():
    both = one_graph([nx.path_graph(3), nx.path_graph(2)])
    assert both.undirected and both.num_nodes == 5


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
    with pytest.raises(OptionError, match="data must hold one relation, got several"):
        consistency(hetero, LSP(k=1))
