"""`InMemoryDataset`: read like the list of its graphs, subsets included, and rebuilt as a dataset."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import no_numpy_reads
from device_objects import graphs, identical, masks_of
from pyg_helpers import (
    HETERO_MASK,
    LIKES,
    MASK,
    SEVERAL_MASK,
    SEVERAL_PARTS,
    Stored,
    data,
    graph_of,
    hetero,
    rebuild,
    same,
    several,
    stored,
    undirected,
)

# isort: split
import torch
from torch_geometric.data import Data

from lsprune import LSP, LocalRandom, Timed, prune
from lsprune.adapters.pyg import find
from lsprune.baselines import TopWeight
from lsprune.errors import GraphError


def test_dataset_reads_as_its_list():
    given = stored()
    graph, listed = graph_of(given), graph_of(several())
    for name in ("source", "target", "x_source", "edge_attr", "target_ptr"):
        assert np.array_equal(getattr(graph, name), getattr(listed, name)), name
    assert np.shares_memory(graph.x, given._data.x.numpy())
    assert given._data_list is None


def test_dataset_is_rebuilt():
    given = stored()
    given.get(0)
    cache = list(given._data_list)
    out = rebuild(given, SEVERAL_MASK, weight=np.arange(7, dtype=np.float32), e_id=True)
    want = rebuild(several(), SEVERAL_MASK, weight=np.arange(7, dtype=np.float32), e_id=True)
    assert type(out) is Stored
    assert same([out[i] for i in range(3)], want)
    assert same(list(given._data_list), cache)
    assert same([given[i] for i in range(3)], several())
    assert same(find(given).masks(given, {None: SEVERAL_MASK}), SEVERAL_PARTS)


def test_dataset_can_be_rebuilt_again():
    once = rebuild(stored(), SEVERAL_MASK, e_id=True)
    twice = rebuild(once, np.array([True, False, False, True]))
    assert [one.e_id.tolist() for one in twice] == [[1], [], [2]]


@pytest.mark.parametrize("index", [[2, 0], [1], [2, 0, 2], [], slice(1, None)])
def test_dataset_subset(index):
    picked = list(range(3))[index] if isinstance(index, slice) else index
    given = stored()[index]
    graphs = [several()[i] for i in picked]
    parts = [SEVERAL_PARTS[i] for i in picked]
    mask = np.concatenate([np.array([], dtype=bool), *parts])
    graph = graph_of(given)
    assert (graph.num_edges, graph.num_graphs) == (len(mask), len(picked))
    if graphs:
        assert np.array_equal(graph.ends(), graph_of(graphs).ends())
        assert np.array_equal(graph.x, graph_of(graphs).x)
    factors = np.arange(len(mask), dtype=np.float32)
    out = rebuild(given, mask, e_id=True, weight=factors)
    want = rebuild(graphs, mask, e_id=True, weight=factors) if graphs else []
    assert same(list(out), want)
    assert same(find(given).masks(given, {None: mask}), parts)


def test_dataset_subset_with_one_graph_twice():
    given = stored()[[2, 2]]
    out = rebuild(given, np.array([True, True, False, False, False, False, True, True]))
    assert [one.edge_attr.tolist() for one in out] == [[20, 21], [22, 23]]


@pytest.mark.parametrize("keys", [("edge_index", "num_nodes"), ("edge_index", "time"), ("edge_index",)])
def test_dataset_without_attributes(keys):
    graphs = [Data(**{key: one.num_nodes if key == "num_nodes" else one[key] for key in keys}) for one in several()]
    given = stored(graphs)
    nodes = [3, 2, 4] if "num_nodes" in keys else [3, 0, 4]
    assert np.diff(graph_of(given).target_ptr).tolist() == nodes
    out = rebuild(given, np.zeros(7, bool))
    assert [one.num_nodes for one in out] == nodes
    assert "num_nodes" not in given._data or "num_nodes" in keys


def test_dataset_that_lost_its_single_numbers_of_nodes():
    graphs = several()
    for one in graphs:
        one.num_nodes = one.x.shape[0]
    given = stored(graphs)
    del given._data._store.__dict__["_num_nodes"]  # what is left is the sum
    assert graph_of(given).target_ptr.tolist() == [0, 3, 5, 9]


def test_dataset_ids_past_their_own_graph_are_refused():
    graphs = several()
    graphs[0].edge_index[0, 0] = 3  # a node of the next graph, once they are joined
    with pytest.raises(GraphError, match=r"^graph 0: edge_index ids must be in \[0, 3\)"):
        graph_of(stored(graphs))


@pytest.mark.parametrize("keep_slices", [True, False])
def test_dataset_of_one_graph(keep_slices):
    given = stored([data()])
    if keep_slices:
        given.slices = {
            "x": torch.tensor([0, 5]),
            "edge_index": torch.tensor([0, 5]),
            "edge_attr": torch.tensor([0, 5]),
        }
    out = rebuild(given)
    assert len(out) == 1
    assert same(out[0], rebuild(data()))
    assert same(find(given).masks(given, {None: MASK}), [MASK])


def test_dataset_of_hetero():
    given = stored([hetero(), hetero()])
    mask = np.concatenate([HETERO_MASK, ~HETERO_MASK])
    assert graph_of(given, LIKES).source_ptr.tolist() == [0, 3, 6]
    out = rebuild(given, mask, key=LIKES)
    assert same(list(out), rebuild([hetero(), hetero()], mask, key=LIKES))
    assert same([given[0], given[1]], [hetero(), hetero()])


def test_dataset_of_edge_index_stays_one():
    graphs = [Data(edge_index=undirected(), x=torch.ones(5, 1)) for _ in range(2)]
    given = stored(graphs)
    mask = np.array([True, True, False, False, True, True] + [True, False, True, True, True, True])
    out = rebuild(given, mask)
    assert given._data_list is None
    assert [one.edge_index.validate().is_undirected for one in out] == [True, False]
    assert [one.edge_index.sort_order for one in out] == ["row", "row"]


# On a GPU ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extras", [{}, {"e_id": True, "rescale": True}], ids=["plain", "with extras"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: stored(graphs()),
        lambda: stored(graphs())[[2, 0]],
        lambda: stored(graphs())[[1, 1]],
        lambda: stored([Data(edge_index=one.edge_index) for one in graphs()]),
        lambda: stored([Data(edge_index=undirected(), x=torch.ones(5, 1)) for _ in range(2)]),
        lambda: stored([hetero(), hetero()]),
        lambda: stored(graphs()[:1]),
    ],
    ids=["whole", "selected", "selected twice", "bare", "edge indices", "hetero", "one graph"],
)
def test_datasets_on_a_gpu_become_those_of_the_host(make, extras, cpu_is_gpu):
    for pruner in (LSP(k=2, hash="identity"), LocalRandom(keep=0.3)):
        expected, masks = prune(make(), pruner, return_mask=True, executor="cpu", **extras)
        given = make()
        with no_numpy_reads():  # HostWarning would be an error
            found, returned = prune(given, pruner, return_mask=True, **extras)
        assert type(found) is Stored and identical(list(expected), list(found))
        assert identical(list(make()), list(given))
        for mask, tensor in zip(masks_of(masks), masks_of(returned), strict=True):
            assert isinstance(tensor, torch.Tensor)
            np.testing.assert_array_equal(tensor.numpy(), mask)


def test_nothing_selected_is_nothing_kept(cpu_is_gpu):
    pruned, masks = prune(stored()[[]], LocalRandom(k=1), return_mask=True)
    assert len(pruned) == 0 and masks == []


@pytest.mark.parametrize("selected", [None, [2, 0]])
def test_columns_by_name_are_those_of_the_list(selected):
    rng = np.random.default_rng(0)
    listed = [
        Data(
            x=torch.ones(9, 1),
            edge_index=torch.from_numpy(rng.integers(0, 9, (2, 30 + i))),
            amount=torch.from_numpy(rng.permutation(30 + i) + 2**60),
        )
        for i in range(3)
    ]
    given = Stored(listed)
    pruner = Timed(pruner=TopWeight(k=1, column="amount"), time="amount", until=2**60 + 20)
    part, chosen = (given, listed) if selected is None else (given[selected], [listed[i] for i in selected])
    out = prune(part, pruner)
    for one, want in zip(out, prune(chosen, pruner), strict=True):
        assert torch.equal(one.edge_index, want.edge_index) and torch.equal(one.amount, want.amount)
        assert one.amount.max() <= 2**60 + 20 < max(graph.amount.max() for graph in listed)
