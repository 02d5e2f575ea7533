"""PNA on neighbour slots: the result of PyG's layer, bond types, degrees."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import for_model, make, molecule  # noqa: E402
from torch_geometric.nn import PNAConv  # noqa: E402

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.models.pna import AGGREGATORS, SCALERS, NeighbourSlots, SlotPNAConv  # noqa: E402


def test_pna_needs_degrees():
    with pytest.raises(OptionError, match="degrees must be"):
        build("zinc-pna", in_dim=1, out_dim=1)
    for bad in (torch.zeros(3), torch.ones(2, 2), torch.tensor([-1, 2]), torch.empty(0)):
        with pytest.raises(OptionError, match="degrees must be"):
            build("zinc-pna", in_dim=1, out_dim=1, degrees=bad)


def test_pna_of_graphs_without_edges_is_finite():
    model = build("zinc-pna", in_dim=1, out_dim=1, degrees=torch.tensor([5]))
    assert torch.isfinite(model(for_model("zinc-pna", molecule(1)))).all()


def test_pna_reads_bonds():
    model, data = make("zinc-pna").eval(), for_model("zinc-pna", molecule(1))
    other = data.clone()
    other.edge_attr = (data.edge_attr.view(-1, 1) + 1) % 4
    assert not torch.allclose(model(data), model(other), rtol=1e-4)


def test_pna_results_and_gradients_are_those_of_pyg():
    draw = torch.Generator().manual_seed(3)
    ends = torch.stack([torch.randint(30, (70,), generator=draw), torch.randint(25, (70,), generator=draw)])
    kind = torch.randint(4, (70,), generator=draw)  # five nodes have no edge, several an edge twice
    options = {"aggregators": AGGREGATORS, "scalers": SCALERS, "deg": torch.tensor([1, 4, 9, 3]), "towers": 3}
    theirs = PNAConv(12, 12, edge_dim=5, **options).double()
    ours = SlotPNAConv(12, 12, edge_dim=5, **options).double()
    ours.load_state_dict(theirs.state_dict())
    x, kinds = (torch.randn(n, d, generator=draw).double().requires_grad_() for n, d in ((30, 12), (4, 5)))
    most = int(torch.bincount(ends[1]).max())
    expected = theirs(x, ends, kinds[kind])
    weights = torch.randn(expected.shape, generator=draw).double()
    gradients = torch.autograd.grad((expected * weights).sum(), [x, kinds, *theirs.parameters()])
    for width in (most, most + 2):
        out = ours(x, NeighbourSlots.of(ends, kind, 4, 30, width, torch.float64), kinds)
        torch.testing.assert_close(out, expected)
        torch.testing.assert_close(
            torch.autograd.grad((out * weights).sum(), [x, kinds, *ours.parameters()]), gradients
        )


def test_slots_hold_the_neighbours_in_order_and_leave_out_those_beyond_the_width():
    ends, kind = torch.tensor([[1, 2, 0, 2], [0, 0, 2, 0]]), torch.tensor([3, 1, 0, 2])
    slots = NeighbourSlots.of(ends, kind, 4, 3, 2, torch.float32)
    assert slots.filled[:, :, 0].tolist() == [[True, True], [False, False], [True, False]]
    assert slots.source[0].tolist() == [1, 2]
    assert slots.source[2, 0] == 0
    assert slots.edge_type.argmax(2)[0].tolist() == [3, 1]
    assert slots.edge_type.sum(2).tolist() == [[1, 1], [0, 0], [1, 0]]
    assert slots.degree[:, 0].tolist() == [2, 0, 1]


def test_pna_refuses_unknown_bond_types():
    model, data = make("zinc-pna"), for_model("zinc-pna", molecule(1))
    data.edge_attr = torch.full_like(data.edge_attr, 4)
    with pytest.raises(OptionError, match=r"edge_attr must be bond types in \[0, 4\), got 4"):
        model(data)
