"""Dot products of quantised attribute rows with the weights of the hash functions."""

from __future__ import annotations

from lsprune.graph import Array
from lsprune.kernels.reference.quantisation import bad_row, dense_rows, quanta_of, rows_of


def project(x: Array, unit: bool, exponent: int, centre: Array, weights: Array, out: Array) -> int:
    """Set out[row, z] to <integers of the row, weights[z]>. Return the first row that is not finite, or -1."""
    if (bad := bad_row(x)) < 0:
        for i, row in enumerate(rows_of(x)):
            q = quanta_of(row, unit, exponent, centre.tolist())
            for z, weight in enumerate(weights.tolist()):
                out[i, z] = sum(a * b for a, b in zip(q, weight, strict=True))
    return bad


def project_quanta(q: Array, weights: Array, out: Array) -> None:
    """Set out[row, z] to <q[row], weights[z]>, for rows that are integers already."""
    out[:, : weights.shape[0]] = [[sum(a * b for a, b in zip(row, weight, strict=True)) for weight in weights.tolist()]
                                  for row in q.tolist()]  # fmt: skip


def project_sparse(
    indptr: Array, indices: Array, x: Array, unit: bool, exponent: int, centre: Array, weights: Array, out: Array
) -> int:
    """Do what `project` does, for CSR rows."""
    return project(dense_rows(indptr, indices, x, centre.shape[0]), unit, exponent, centre, weights, out)
