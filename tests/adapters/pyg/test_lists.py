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


UNLIKE = [  # what makes the graphs of a list unlike, and the error
    (lambda graphs: graphs.append("graph"), "graph 3: all entries of a list must be PyG Data, got str"),
    (
        lambda graphs: delattr(graphs[1], "x"),
        "graph 1: x must be on all graphs of a list or on none, got none here",
    ),
    (
        lambda graphs: setattr(graphs[1], "x", torch.ones(2, 3)),
        "graph 1: x must be as wide as that of graph 0",
    ),
    (lambda graphs: graphs.append(hetero()), "graph 3: its relations must be those of graph 0"),
]


@pytest.mark.parametrize(("change", "message"), UNLIKE)
def test_list_of_unlike_graphs_is_refused(change, message):
    graphs = several()
    change(graphs)
    with pytest.raises(GraphError, match=message):
        find(graphs).graphs(graphs)


# On a GPU ------------------------------------------------------------------------------------------------------------


def test_a_list_is_read_on_its_device_as_on_the_host(cpu_is_gpu):
    given = several()
    assert find(given).device(given) == torch.device("cpu")
    there, here = find(given).device_graphs(given)[None], graph_of(given)
    for name in ("source", "target", "x_source", "edge_attr", "target_ptr"):
        assert np.array_equal(getattr(there, name).numpy(), getattr(here, name)), name


def test_graphs_on_several_devices_are_pruned_on_the_host(cpu_is_gpu, monkeypatch):
    given = several()
    given[1].x = given[1].x.numpy()  # not on the device of the others
    expected = prune(several(), LocalRandom(k=1), executor="cpu")
    with pytest.warns(HostWarning, match="x must be on the device of the edges"):
        pruned = prune(given, LocalRandom(k=1))
    given[1].x, pruned[1].x = expected[1].x, expected[1].x
    assert all(same(one, other) for one, other in zip(pruned, expected, strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *UNLIKE,
        (lambda graphs: graphs[0].edge_index.fill_(3), r"source ids must be in \[0, 3\), got 3 at edge 0"),
        (lambda graphs: setattr(graphs[2], "x", torch.ones(3, 2)), r"target ids must be|source ids must be"),
        (lambda graphs: setattr(graphs[2], "edge_attr", torch.ones(3)), "edge_attr must have 4 rows"),
    ],
)
def test_lists_on_a_device_are_refused_with_the_words_of_the_host(change, message, cpu_is_gpu):
    graphs = several()
    change(graphs)
    errors = []
    for read in (find(graphs).graphs, find(graphs).device_graphs):
        with pytest.raises(GraphError, match=message) as error:
            read(graphs)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
