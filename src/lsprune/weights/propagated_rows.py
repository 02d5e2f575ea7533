"""Means of wide sparse attributes over neighbours, as an operator: P^h x is never stored.

The means of sparse rows are nearly dense: thousands of columns for every node. Their product with a few columns of
weights needs only x and P: P^h (x W).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lsprune.graph import Array

NORM_SAMPLES = 64  # random vectors from which the length of the rows is estimated


@dataclass(frozen=True, eq=False)
class PropagatedRows:
    """The rows of P^hops x of some nodes, times a factor; it has the products of a matrix with a few columns.

    Args:
        x: [nodes, columns] CSR. means: P, [nodes, nodes] CSR. back: the transpose of P.
        nodes: which rows, each once.
    """

    x: Any
    means: Any
    back: Any
    hops: int
    nodes: Array
    factor: float = 1.0

    @classmethod
    def of(cls, x: Any, means: Any, hops: int, nodes: Array, seed: int) -> PropagatedRows:
        """Return the rows scaled to a mean square length of 1, as estimated from random vectors."""
        rows = cls(x, means, means.T.tocsr(), hops, nodes)
        signs = np.random.default_rng(seed & (1 << 64) - 1).integers(0, 2, (x.shape[1], NORM_SAMPLES)) * 2 - 1
        square = float(np.square(rows @ signs.astype(np.float32), dtype=np.float64).mean(1).mean()) if nodes.size else 0
        return replace(rows, factor=1 / max(math.sqrt(square), 1e-6))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.nodes.shape[0], self.x.shape[1]

    def __getitem__(self, some: Array) -> PropagatedRows:
        """Return some of the rows, by place or by a mask."""
        return replace(self, nodes=self.nodes[some])

    def __matmul__(self, weights: Array) -> Array:
        outputs = self.x @ weights
        for _ in range(self.hops):
            outputs = self.means @ outputs
        return np.asarray(outputs[self.nodes] * np.float32(self.factor))

    @property
    def T(self) -> Transposed:  # noqa: N802  # as of every matrix
        """The transpose, for products."""
        return Transposed(self)


@dataclass(frozen=True, eq=False)
class Transposed:
    """The transpose of `PropagatedRows`."""

    rows: PropagatedRows

    def __matmul__(self, values: Array) -> Array:
        rows = self.rows
        spread = np.zeros((rows.x.shape[0], values.shape[1]), np.float32)
        spread[rows.nodes] = values * np.float32(rows.factor)
        for _ in range(rows.hops):
            spread = rows.back @ spread
        return np.asarray(rows.x.T @ spread)
