"""Near atoms, pairs of bonds and angles, compared with plain loops."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import molecule  # noqa: E402
from torch_geometric.data import Batch  # noqa: E402

from lsprune.lab.models.molecular_geometry import angle, edges_into, expand_ranges, near_pairs, one_hop, two_hop  # noqa: E402


def test_near_pairs_are_those_of_a_plain_loop():
    data = Batch.from_data_list([molecule(1), molecule(2, nodes=5), molecule(3, nodes=1, chords=0)])
    found = {tuple(pair) for pair in near_pairs(data.pos, data.batch, 2.0).T.tolist()}
    nodes = range(data.num_nodes)
    near = (data.pos[:, None] - data.pos[None]).norm(dim=-1) <= 2.0
    expected = {(s, t) for s in nodes for t in nodes if s != t and data.batch[s] == data.batch[t] and near[s, t]}
    assert found == expected and 0 < len(found) < 8 * 7 + 5 * 4


def test_meeting_bonds_are_those_of_a_plain_loop():
    edges = molecule(1).edge_index[:, 1:]  # one bond has one direction only
    ends = edges.T.tolist()
    far = {(e, f) for e, (j, i) in enumerate(ends) for f, (k, to) in enumerate(ends) if to == j and k != i}
    near = {(e, f) for e, (j, i) in enumerate(ends) for f, (k, to) in enumerate(ends) if to == i and k != j}
    for found, expected in ((two_hop(edges, 8), far), (one_hop(edges, 8), near)):
        pairs = list(zip(*(part.tolist() for part in found), strict=True))
        assert set(pairs) == expected and len(pairs) == len(expected) > 0


def test_angle():
    first = torch.tensor([[1.0, 0, 0], [1.0, 0, 0], [1.0, 0, 0]])
    second = torch.tensor([[2.0, 0, 0], [0, 3.0, 0], [-1.0, 0, 0]])
    torch.testing.assert_close(angle(first, second), torch.tensor([0.0, torch.pi / 2, torch.pi]))


def test_ranges_of_any_length_are_expanded_in_order():
    starts, counts = torch.tensor([7, 2, 5]), torch.tensor([2, 0, 3])
    number, member = expand_ranges(starts, counts)
    assert number.tolist() == [0, 0, 2, 2, 2] and member.tolist() == [7, 8, 5, 6, 7]


def test_edges_into_a_node_are_found_for_nodes_in_any_order_and_without_edges():
    edges = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
    number, edge = edges_into(torch.tensor([3, 0, 2, 0]), edges, 4)
    assert list(zip(number.tolist(), edge.tolist(), strict=True)) == [(1, 1), (1, 2), (2, 0), (3, 1), (3, 2)]
