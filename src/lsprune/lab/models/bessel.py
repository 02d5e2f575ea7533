"""Distances and angles as smooth columns: the radial and spherical Bessel bases of DimeNet, which MXMNet takes over."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import spherical_jn
from torch import Tensor, nn

SHORTEST = 0.5  # Å: shorter than any bond; keeps 1/x finite where two atoms were given the same place


def envelope(x: Tensor, power: int = 6) -> Tensor:
    """1/x made to reach 0 at x = 1 with two smooth derivatives, and 0 beyond."""
    a, b, c = -(power + 1) * (power + 2) / 2, power * (power + 2), -power * (power + 1) / 2
    return torch.where(x < 1, 1 / x + x ** (power - 1) * (a + b * x + c * x * x), 0.0)


class Radial(nn.Module):
    """`[E, count]` of distances `[E]`: sin(nπ d/cutoff) under the envelope, with learnt frequencies."""

    def __init__(self, count: int, cutoff: float) -> None:
        super().__init__()
        self.cutoff = cutoff
        self.frequency = nn.Parameter(math.pi * torch.arange(1, count + 1, dtype=torch.float32))

    def forward(self, distance: Tensor) -> Tensor:
        x = distance.clamp(min=SHORTEST)[:, None] / self.cutoff
        return envelope(x) * torch.sin(self.frequency * x)


class Spherical(nn.Module):
    """`[T, orders * count]` of an edge's distance and the angle at which another meets it: j_l(z_ln d/cutoff) Y_l0."""

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
        """Args: `distance` `[E]` of all edges; `edge` `[T]` which of them each angle `[T]` goes with."""
        x = distance.clamp(min=SHORTEST)[:, None, None].double() / self.cutoff
        radial = envelope(x) * self.scale.double() * spherical_bessel(self.roots.double() * x)  # [E, orders, count]
        around = legendre(torch.cos(angles), self.roots.shape[0])  # [T, orders]
        return (radial.to(distance.dtype).index_select(0, edge) * around[:, :, None]).flatten(1)


def spherical_bessel(x: Tensor) -> Tensor:
    """j_l(x[:, l]) for x `[E, orders, count]`, of order l in row l.

    By the upward recurrence, which for x < l multiplies rounding errors: in double, at SHORTEST and order 6, to 1e-11.
    """
    before, now = torch.sin(x) / x, torch.sin(x) / (x * x) - torch.cos(x) / x
    rows = [before[:, 0]]
    for order in range(1, x.shape[1]):
        rows.append(now[:, order])
        before, now = now, (2 * order + 1) / x * now - before
    return torch.stack(rows, dim=1)


def legendre(x: Tensor, orders: int) -> Tensor:
    """The spherical harmonics Y_l0 at cosines `[T]`, `[T, orders]`: Legendre polynomials with their factor."""
    rows = [torch.ones_like(x), x]
    for order in range(1, orders - 1):
        rows.append(((2 * order + 1) * x * rows[-1] - order * rows[-2]) / (order + 1))
    factor = torch.arange(orders, device=x.device, dtype=x.dtype).mul(2).add(1).div(4 * math.pi).sqrt()
    return torch.stack(rows[:orders], dim=1) * factor


def bessel_roots(orders: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The first `count` positive roots of j_0 .. j_(orders-1), a row each.

    The roots of j_l lie one between each two of j_(l-1), so one row brackets the next, which is one shorter.
    """
    row = np.arange(1, count + orders) * np.pi  # those of j_0 = sin(x)/x
    rows = [row[:count]]
    for order in range(1, orders):
        bessel = partial(spherical_jn, order)
        row = np.array([brentq(bessel, low, high) for low, high in zip(row, row[1:], strict=False)])
        rows.append(row[:count])
    return np.stack(rows)
