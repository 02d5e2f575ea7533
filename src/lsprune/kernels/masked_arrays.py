"""Arrays and CSR rows after a mask over the edges, in parallel where that is faster."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import threads as pool
from lsprune.kernels.executors import SPAN_EDGES, runtime
from lsprune.kernels.plain_arrays import plain

_COMPILED = tuple(np.dtype(kind) for kind in (np.int32, np.int64, np.float32, np.float64))  # in native byte order


def compress(mask: Array, array: Array, *, threads: int | None = None) -> Array:
    """Return array[..., mask], in parallel if it is large: `[E]` or, for edge_index, `[2, E]`.

    >>> compress(np.array([True, False, True]), np.array([[5, 6, 7], [1, 2, 3]])).tolist()
    [[5, 7], [1, 3]]
    """
    if mask.shape[0] < SPAN_EDGES or array.ndim > 2 or array.dtype not in _COMPILED:
        return np.compress(mask, array, axis=-1)
    count = pool.count(threads)
    out = np.empty((*array.shape[:-1], int(np.count_nonzero(mask))), array.dtype)
    rows, out_rows = ((array,), (out,)) if array.ndim == 1 else (tuple(array), tuple(out))
    runtime(count).module.compress(plain(mask), tuple(plain(row) for row in rows), out_rows, count)
    return out


def compress_csr(indptr: Array, mask: Array) -> Array:
    """Return the row offsets of a CSR graph after `mask`, in the dtype of `indptr`.

    >>> compress_csr(np.array([0, 2, 3]), np.array([True, False, True])).tolist()
    [0, 1, 2]
    """
    rows = indptr.shape[0] - 1
    kept = np.zeros(rows + 1, np.int64)
    run, offsets, flags = runtime(), plain(indptr.astype(np.int64, copy=False)), plain(mask).view(np.uint8)
    run.spread(rows, lambda lo, hi: run.module.count_rows(offsets, flags, lo, hi, kept))
    return np.cumsum(kept).astype(indptr.dtype, copy=False)
