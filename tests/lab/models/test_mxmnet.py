"""MXMNet: what changes its result (angles, near atoms) and what does not (rotation, order of atoms)."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import as_double, make, molecule  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

from lsprune.lab.models.mxmnet import sum_by_index  # noqa: E402


def test_rotation_shift_and_order_of_atoms_make_no_difference():
    model, data = make("qm9-mxmnet").eval(), molecule(1)
    rotation, _ = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)))
    moved = data.clone()
    order = torch.randperm(8, generator=torch.Generator().manual_seed(1))
    moved.pos, moved.z = (data.pos @ rotation + 3.0)[order], data.z[order]
    moved.edge_index = torch.argsort(order)[data.edge_index].flip(1)
    torch.testing.assert_close(model(moved), model(data), rtol=1e-3, atol=1e-4)


def chain(bend: float) -> Data:
    """Return three atoms with two bonds of 1.4 Å at this angle."""
    angle = torch.tensor(bend)
    pos = 1.4 * torch.stack(
        [torch.tensor([1.0, 0, 0]), torch.zeros(3), torch.stack([angle.cos(), angle.sin(), 0 * angle])]
    )
    bonds = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return as_double(Data(z=torch.tensor([6, 6, 8]), pos=pos, edge_index=bonds))


def test_the_angle_between_bonds_matters():
    model = make("qm9-mxmnet").eval().double()
    model.cutoff = 0.1  # of the near pairs only: none is left, so no distance changes
    assert not torch.allclose(model(chain(1.9)), model(chain(2.4)), rtol=1e-6)
    torch.testing.assert_close(model(chain(1.9)), model(chain(-1.9)))


def test_angles_are_measured_at_the_shared_atom():
    model, seen = make("qm9-mxmnet").double(), []
    model.basis_angle.register_forward_pre_hook(lambda _, args: seen.append(args[2]))
    model(chain(1.9))
    assert [angles.tolist() for angles in seen] == [pytest.approx([1.9, 1.9], abs=1e-6)] * 2


def test_atoms_without_bonds_matter_up_to_the_cutoff():
    model, values = make("qm9-mxmnet").eval().double(), []
    for distance in (2.0, 3.0, 5.1, 9.0):
        pos = torch.tensor([[0.0, 0, 0], [distance, 0, 0]])
        data = Data(z=torch.tensor([6, 8]), pos=pos, edge_index=torch.empty(2, 0, dtype=torch.long))
        values.append(float(model(as_double(data)).detach()))
    assert abs(values[0] - values[1]) > 1e-6 and abs(values[1] - values[2]) > 1e-6
    assert values[2] == pytest.approx(values[3], abs=1e-9)


def test_gradients_are_finite_if_atoms_have_the_same_position():
    model, data = make("qm9-mxmnet"), molecule(1)
    data.pos = torch.zeros_like(data.pos)
    model(data).sum().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


def test_sums_by_index_leave_missing_indices_zero():
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert sum_by_index(values, torch.tensor([2, 0, 2]), 4).tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]]
