"""Edges sorted both ways, and GATConv without the fused kernel."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.nn import GATConv  # noqa: E402

from lsprune.lab.models.attention import FusedGATConv, SortedEdges, can_fuse  # noqa: E402

NODES = 14


def some_edges() -> torch.Tensor:
    """Return edges, some twice, and self-loops; the last node has none."""
    draw = torch.Generator().manual_seed(2)
    edges = torch.randint(NODES - 1, (2, 50), generator=draw)
    return torch.cat([edges, edges[:, :3], torch.arange(NODES - 1).repeat(2, 1)], dim=1)


@pytest.mark.parametrize("padding", [0, 4])
def test_edges_are_sorted_by_both_ends_without_those_of_padding_nodes(padding):
    edges, node_mask = some_edges(), torch.arange(NODES) < NODES - padding
    result = SortedEdges.of(edges, NODES, node_mask)
    pairs = [[pair for pair in edges.T.tolist() if node_mask[pair[end]]] for end in (0, 1)]
    for starts, others, own, kept in (
        (result.out_starts, result.targets, 0, pairs[0]), (result.in_starts, result.sources, 1, pairs[1]),
    ):  # fmt: skip
        assert int(starts[-1]) == len(kept)
        for node in range(NODES):
            neighbours = others[starts[node] : starts[node + 1]].tolist()
            assert neighbours == [pair[1 - own] for pair in kept if pair[own] == node]


def test_without_sorted_edges_the_result_is_that_of_pyg():
    torch.manual_seed(0)
    ours, x = FusedGATConv(5, 4, heads=2), torch.randn(NODES, 5)
    theirs = GATConv(5, 4, heads=2)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(x, some_edges()), theirs(x, some_edges()))


def test_the_fused_kernel_needs_a_gpu():
    assert not can_fuse(torch.zeros(1))
