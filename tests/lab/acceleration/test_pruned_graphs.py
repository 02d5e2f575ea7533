"""Pruned graphs keep the share they are asked for, and leave the whole graph as it is."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.acceleration.pruned_graphs import PrunedGraphs, open_dataset  # noqa: E402


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05])
def test_a_single_graph_keeps_the_share_to_the_edge(share):
    graphs = PrunedGraphs(open_dataset("computers", None, "tiny"))
    pruned, seconds = graphs.prune("lsp-projection", share)
    assert pruned.train.num_edges == round(share * graphs.whole[0].num_edges)
    assert graphs.share_of(pruned) == pytest.approx(share)
    assert seconds > 0 and pruned.test is pruned.train
    assert graphs.unpruned().train.num_edges == graphs.dataset.train.num_edges


def test_a_set_keeps_the_share_in_every_split():
    graphs = PrunedGraphs(open_dataset("synthetic", None, "tiny"))
    pruned, _ = graphs.prune("lsp-projection", 0.5)
    for whole, part in zip(graphs.whole, (pruned.train, pruned.val, pruned.test), strict=True):
        assert part.num_edges / whole.num_edges == pytest.approx(0.5, abs=0.02)  # exact to one edge a graph


def test_each_share_is_pruned_once():
    graphs = PrunedGraphs(open_dataset("large", None, "tiny"))
    assert graphs.prune("random", 0.5) is graphs.prune("random", 0.5)
    with pytest.raises(OptionError, match="method must prune"):
        graphs.prune("unpruned", 0.5)
