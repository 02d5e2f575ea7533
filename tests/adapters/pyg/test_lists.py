"""A list or tuple of PyG graphs: read as one graph, rebuilt one by one."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_helpers import (
    HETERO_MASK,
    LIKES,
    SEVERAL_MASK,
    SEVERAL_PARTS,
    graph_of,
    hetero,
    matrix,
    rebuild,
    same,
    several,
)

# isort: split
import torch
from torch_geometric.data import Batch, Data

from lsprune import LocalRandom, prune
from lsprune.adapters.pyg import find
from lsprune.errors import GraphError, HostWarning


def test_list_reads_as_its_batch():
    graph, batch = graph_of(several()), graph_of(Batch.from_data_list(several()))
    for name in ("source", "target", "x_source", "edge_attr", "target_ptr"):
        assert np.array_equal(getattr(graph, name), getattr(batch, name)), name
    assert graph.x_source is graph.x_target


@pytest.mark.parametrize("kind", [list, tuple])
def test_list_is_rebuilt(kind):
    given = kind(several())
    out = rebuild(given, SEVERAL_MASK, weight=np.arange(7, dtype=np.float32), e_id=True)
    assert type(out) is kind
    assert [one.edge_attr.tolist() for one in out] == [[1, 2], [], [20, 22]]
    assert [one.e_id.tolist() for one in out] == [[1, 2], [], [0, 2]]
    assert [one.edge_weight.tolist() for one in out] == [[1, 2], [], [3, 5]]
    assert same(given, kind(several()))
    masks = find(given).masks(given, {None: SEVERAL_MASK})
    assert type(masks) is list
    assert same(masks, SEVERAL_PARTS)


def test_list_of_hetero():
    given = [hetero(), hetero()]
    graph = graph_of(given, LIKES)
    assert (graph.source_ptr.tolist(), graph.target_ptr.tolist()) == ([0, 3, 6], [0, 2, 4])
    assert graph.source.tolist() == [0, 1, 2, 2, 3, 4, 5, 5]
    mask = np.concatenate([HETERO_MASK, ~HETERO_MASK])
    out = rebuild(given, mask, key=LIKES)
    assert same(out, [rebuild(hetero(), part, key=LIKES) for part in (HETERO_MASK, ~HETERO_MASK)])
    assert same(find(given).masks(given, {LIKES: mask}), [{LIKES: HETERO_MASK}, {LIKES: ~HETERO_MASK}])


def test_list_of_batches_has_the_offsets_of_all_graphs():
    given = [Batch.from_data_list(several()), Batch.from_data_list(several()[:1])]
    assert graph_of(given).target_ptr.tolist() == [0, 3, 5, 9, 12]


def test_list_with_sparse_attributes():
    given = [
        Data(x=matrix("sparse_csr", [0, 1], [i, 0], (2, 3)), edge_index=torch.tensor([[0], [1]])) for i in range(2)
    ]
    assert graph_of(given).x.toarray().tolist() == [[1, 0, 0], [2, 0, 0], [0, 1, 0], [2, 0, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda graphs: graphs.append("graph"), "number 3 is str"),
        (lambda graphs: delattr(graphs[1], "x"), "x must be on all graphs of a list or on none, number 1 has none"),
        (lambda graphs: setattr(graphs[1], "x", torch.ones(2, 3)), "same width"),
        (lambda graphs: graphs.append(hetero()), "same relations"),
    ],
)
def test_list_of_unlike_graphs_is_refused(change, message):
    graphs = several()
    change(graphs)
    with pytest.raises(GraphError, match=message):
        find(graphs).graphs(graphs)


def test_a_list_on_a_gpu_is_pruned_on_the_host_and_a_warning_says_so(cpu_is_gpu):
    expected = prune(several(), LocalRandom(k=1), executor="cpu")
    with pytest.warns(HostWarning, match="a list of PyG Data or HeteroData has no GPU path"):
        pruned = prune(several(), LocalRandom(k=1))
    assert all(same(one, other) for one, other in zip(pruned, expected, strict=True))
