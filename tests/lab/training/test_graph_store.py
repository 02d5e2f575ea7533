"""Batches gathered from a store are those that PyG's Batch makes of the same graphs."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data  # noqa: E402

from lsprune import LSP, LocalRandom, prune  # noqa: E402
from lsprune.lab.datasets.collated import CollatedDataset  # noqa: E402
from lsprune.lab.training.graph_store import GraphStore, batches  # noqa: E402


def random_graphs(count: int = 9) -> list[Data]:
    """Return graphs of 1 to 6 nodes with up to 19 edges, some with none, with self-loops and duplicates."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 7, count)
    sizes[2] = 1
    return [
        Data(
            x=torch.from_numpy(rng.standard_normal((size, 3))).float(),
            edge_index=torch.from_numpy(rng.integers(0, size, (2, edges))),
            edge_attr=torch.from_numpy(rng.standard_normal((edges, 2))).float(),
            y=torch.tensor([float(size)]),
        )
        for size, edges in zip(sizes.tolist(), rng.integers(0, 20, count).tolist(), strict=True)
    ]


def assert_same(ours: Data, theirs: Data) -> None:
    for key in ("x", "edge_index", "edge_attr", "y", "batch", "ptr"):
        assert torch.equal(ours[key], theirs[key]), key
    assert ours.num_graphs == theirs.num_graphs
    assert ours.num_nodes == theirs.num_nodes


@pytest.mark.parametrize("ids", [[0], [8, 2, 5], [2, 2], list(range(9))])
def test_a_batch_is_what_pyg_makes(ids):
    graphs = random_graphs()
    assert_same(GraphStore.of(graphs).batch(torch.tensor(ids)), Batch.from_data_list([graphs[i] for i in ids]))


def test_a_dataset_and_a_part_of_it_are_stored_like_their_lists():
    graphs = random_graphs()
    stored, slices = CollatedDataset.collate(graphs)
    dataset = CollatedDataset(stored, slices)
    every = torch.arange(9)
    assert_same(GraphStore.of(dataset).batch(every), Batch.from_data_list(graphs))
    part = dataset[torch.tensor([7, 1, 4])]
    assert len(GraphStore.of(part)) == 3
    assert_same(GraphStore.of(part).batch(torch.arange(3)), Batch.from_data_list([graphs[i] for i in (7, 1, 4)]))


@pytest.mark.parametrize("pruner", [LocalRandom(k=2), LSP(k=1, seed=5)])
def test_pruning_a_store_is_pruning_its_graphs(pruner):
    graphs = random_graphs()
    store, fitted = GraphStore.of(graphs), pruner.fit(graphs)
    kept = store.keep_edges(fitted.mask(store.to_graph()))
    assert_same(kept.batch(torch.arange(9)), Batch.from_data_list(prune(graphs, fitted)))
    assert kept.num_edges == sum(data.num_edges for data in prune(graphs, fitted)) < store.num_edges


def test_self_loops_can_be_left_out():
    graphs = random_graphs()
    without = GraphStore.of(graphs).without_self_loops()
    ends = without.batch(torch.arange(9)).edge_index
    assert ends.shape[1] == sum(int((data.edge_index[0] != data.edge_index[1]).sum()) for data in graphs)
    assert bool((ends[0] != ends[1]).all())


def test_attributes_that_a_model_does_not_read_are_left_out():
    store = GraphStore.of(random_graphs()).with_attributes(["edge_attr"])
    batch = store.batch(torch.tensor([3, 2]))
    assert "x" not in batch
    assert batch.num_nodes == random_graphs()[3].num_nodes + random_graphs()[2].num_nodes
    assert torch.equal(batch.edge_attr, torch.cat([random_graphs()[3].edge_attr, random_graphs()[2].edge_attr]))


def test_batches_go_through_all_graphs_in_order():
    store = GraphStore.of(random_graphs())
    order = torch.tensor([5, 4, 3, 2, 1, 0, 6, 7, 8])
    result = list(batches(store, 4, order))
    assert [batch.num_graphs for batch in result] == [4, 4, 1]
    assert torch.equal(torch.cat([batch.y for batch in result]), store.values["y"][order])
    assert torch.equal(torch.cat([batch.y for batch in batches(store, 4)]), store.values["y"])


@pytest.mark.parametrize("together", [1, 2, 64])
def test_batches_do_not_depend_on_how_many_are_gathered_together(together, monkeypatch):
    monkeypatch.setattr("lsprune.lab.training.graph_store._BATCHES_PER_GATHER", together)
    graphs, order = random_graphs(), torch.tensor([5, 4, 3, 2, 1, 0, 6, 7, 8])
    result = list(batches(GraphStore.of(graphs), 2, order))
    for batch, ids in zip(result, torch.split(order, 2), strict=True):
        assert_same(batch, Batch.from_data_list([graphs[i] for i in ids]))
