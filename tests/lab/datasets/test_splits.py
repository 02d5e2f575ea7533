"""Random splits: the same on every machine, of the nodes that may be used only, another for every seed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.lab.datasets.hetero_small import hetero_small  # noqa: E402
from lsprune.lab.datasets.splits import (  # noqa: E402
    labelled_kind,
    split_known_labels,
    split_nodes,
    split_positions,
)


def test_random_splits_are_these_on_every_machine():
    train, val, test = split_positions(10, (6, 2), 0)
    assert [part.tolist() for part in (train, val, test)] == [[1, 2, 3, 4, 7, 8], [0, 6], [5, 9]]
    assert [part.tolist() for part in split_positions(10, (6, 2), 7)] == [[0, 1, 2, 6, 7, 8], [4, 5], [3, 9]]


@pytest.mark.parametrize("shares", [(60, 20), (40, 20), (0, 50)])
def test_every_node_is_in_one_part(shares):
    nodes = np.array([5, 3, 11, 8, 20, 1, 0, 9, 7, 30])
    parts = split_nodes(nodes, 3, *shares)
    assert [len(part) for part in parts] == [shares[0] // 10, shares[1] // 10, 10 - sum(shares) // 10]
    assert sorted(np.concatenate(parts)) == sorted(nodes)


def test_only_known_labels_are_split_and_every_seed_has_another_split():
    graph = hetero_small(100).train
    assert labelled_kind(graph) == "paper"
    seen = set()
    for seed in range(4):
        nodes = split_known_labels(graph, seed)["paper"]
        masks = torch.stack([nodes.train_mask, nodes.val_mask, nodes.test_mask])
        assert masks.sum(1).tolist() == [20, 10, 20]
        assert masks.sum(0).equal(nodes.known_mask.long())  # known nodes once, others never
        seen.add(tuple(nodes.train_mask.tolist()))
    assert len(seen) == 4
    again = split_known_labels(split_known_labels(graph, 3), 0)["paper"]  # whatever split it had before
    assert again.train_mask.equal(split_known_labels(graph, 0)["paper"].train_mask)


def test_the_graph_itself_is_not_changed():
    graph = hetero_small(100).train
    before = graph["paper"].train_mask.clone()
    assert not split_known_labels(graph, 5)["paper"].train_mask.equal(before)
    assert graph["paper"].train_mask.equal(before)
