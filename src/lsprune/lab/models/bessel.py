"""The radial and spherical Bessel bases of DimeNet, which MXMNet also uses to encode distances and angles."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import spherical_jn
from torch import Tensor, nn

MIN_DISTANCE = 0.5  # Å: shorter than any bond; keeps 1/x finite if two atoms have the same position


def envelope(x: Tensor, power: int = 6) -> Tensor:
    """Return 1/x damped so that it and its first two derivatives reach 0 at x = 1; 0 beyond."""
    a, b, c = -(power + 1) * (power + 2) / 2, power * (power + 2), -power * (power + 1) / 2
    return torch.where(x < 1, 1 / x + x ** (power - 1) * (a + b * x + c * x * x), 0.0)


class RadialBasis(nn.Module):
    """Encodes distances `[E]` as `[E, count]`: envelope(d/cutoff) sin(nπ d/cutoff), with learned frequencies."""

    def __init__(self, count: int, cutoff: float) -> None:
        super().__init__()
        self.cutoff = cutoff
        self.frequency = nn.Parameter(math.pi * torch.arange(1, count + 1, dtype=torch.float32))

    def forward(self, distance: Tensor) -> Tensor:
        x = distance.clamp(min=MIN_DISTANCE)[:, None] / self.cutoff
        return envelope(x) * torch.sin(self.frequency * x)


class SphericalBasis(nn.Module):
    """Encodes an edge's distance and its angle to another edge as `[T, orders * count]`: j_l(z_ln d/cutoff) Y_l0."""

    roots: Tensor
    scale: Tensor

    def __init__(self, orders: int, count: int, cutoff: float) -> None:
        super().__init__()
        self.cutoff = cutoff
        roots = bessel_roots(orders, count)
        at_root = spherical_jn(np.arange(1, orders + 1)[:, None], roots)
        self.register_buffer("roots", torch.from_numpy(roots), persistent=False)
        self.register_buffer("scale", torch.from_numpy(math.sqrt(2) / np.abs(at_root)), persistent=False)

    def forward(self, distance: Tensor, edge: Tensor, angles: Tensor) -> Tensor:
        """Return the encoding of distances `[E]` and angles `[T]`; `edge` `[T]` is the edge of each angle."""
        x = distance.clamp(min=MIN_DISTANCE)[:, None, None].double() / self.cutoff
        radial = envelope(x) * self.scale.double() * spherical_bessel(self.roots.double() * x)  # [E, orders, count]
        angular = spherical_harmonics(torch.cos(angles), self.roots.shape[0])  # [T, orders]
        return (radial.to(distance.dtype).index_select(0, edge) * angular[:, :, None]).flatten(1)


def spherical_bessel(x: Tensor) -> Tensor:
    """Return j_l(x[:, l]) for x `[E, orders, count]`: row l has order l.

    The upward recurrence amplifies rounding errors for x < l: in double at MIN_DISTANCE and order 6 to 1e-11.
    """
    before, now = torch.sin(x) / x, torch.sin(x) / (x * x) - torch.cos(x) / x
    rows = [before[:, 0]]
    for order in range(1, x.shape[1]):
        rows.append(now[:, order])
        before, now = now, (2 * order + 1) / x * now - before
    return torch.stack(rows, dim=1)


def spherical_harmonics(cosines: Tensor, orders: int) -> Tensor:
    """Return Y_l0 at cosines `[T]` as `[T, orders]`: normalised Legendre polynomials."""
    x = cosines
    rows = [torch.ones_like(x), x]
    for order in range(1, orders - 1):
        rows.append(((2 * order + 1) * x * rows[-1] - order * rows[-2]) / (order + 1))
    factor = torch.arange(orders, device=x.device, dtype=x.dtype).mul(2).add(1).div(4 * math.pi).sqrt()
    return torch.stack(rows[:orders], dim=1) * factor


def bessel_roots(orders: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the first `count` positive roots of j_0 .. j_(orders-1), one row per order.

    Between two neighbouring roots of j_(l-1) lies one root of j_l, so each row brackets the next, which is one shorter.
    """
    row = np.arange(1, count + orders) * np.pi  # roots of j_0 = sin(x)/x
    rows = [row[:count]]
    for order in range(1, orders):
        bessel = partial(spherical_jn, order)
        row = np.array([brentq(bessel, low, high) for low, high in zip(row, row[1:], strict=False)])
        rows.append(row[:count])
    return np.stack(rows)
