"""The Bessel bases: functions of scipy, the basis of PyG, a smooth cutoff."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.lab.models.bessel import (  # noqa: E402
    MIN_DISTANCE,
    RadialBasis,
    SphericalBasis,
    bessel_roots,
    envelope,
    spherical_bessel,
)


def test_bessel_functions_are_scipys():
    from scipy.special import spherical_jn

    roots = bessel_roots(7, 6)
    assert roots.shape == (7, 6) and (abs(spherical_jn(list(range(7)), roots.T)) < 1e-9).all()
    assert (roots[1:] > roots[:-1]).all() and abs(roots[1, 0] - 4.493409) < 1e-6
    x = torch.from_numpy(roots)[None] * torch.tensor([0.1, 0.3, 0.9], dtype=torch.float64)[:, None, None]
    expected = torch.stack([torch.from_numpy(spherical_jn(order, x[:, order].numpy())) for order in range(7)], dim=1)
    torch.testing.assert_close(spherical_bessel(x), expected, rtol=0, atol=1e-9)


def test_spherical_basis_is_that_of_pyg():
    from torch_geometric.nn.models.dimenet import SphericalBasisLayer

    distance, edge, angles = torch.tensor([1.0, 1.5, 2.4]), torch.tensor([0, 1, 2, 2]), torch.tensor([0.1, 1, 2, 3])
    ours = SphericalBasis(4, 3, 5.0)(distance, edge, angles)
    theirs = SphericalBasisLayer(4, 3, 5.0)(distance, angles, edge)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_envelope_reaches_zero_smoothly():
    x = torch.tensor([0.999, 1.0, 1.5], dtype=torch.float64, requires_grad=True)
    value = envelope(x)
    slope = torch.autograd.grad(value.sum(), x)[0]
    assert value.abs().max() < 1e-6 and slope.abs().max() < 1e-3


def test_radial_basis_is_damped_sines_and_constant_below_the_minimum_distance():
    basis = RadialBasis(4, 5.0)
    distance = torch.tensor([0.9, 3.0, 5.0, 7.0])
    order = torch.arange(1, 5)
    expected = envelope(distance / 5)[:, None] * torch.sin(order * torch.pi * distance[:, None] / 5)
    torch.testing.assert_close(basis(distance), expected)
    assert basis(distance)[2:].abs().max() < 1e-5
    torch.testing.assert_close(basis(torch.zeros(1)), basis(torch.tensor([MIN_DISTANCE])))
