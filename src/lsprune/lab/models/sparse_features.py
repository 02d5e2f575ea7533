"""Node features that are mostly zero, for training on a CPU: a product with weights reads the other entries only.

Bags of words have a thousand columns and a dozen words a node. A dense product of such features with the weights of the
first layer takes most of an epoch on a CPU. Models need not know: `F.dropout` and `F.linear` take these features as
they take dense ones, with results of the same distribution (zeros stay zeros when entries are dropped).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._pytree import tree_map_only

MAX_DENSITY = 0.15  # share of entries that are not zero up to which the sparse product is faster
MIN_COLUMNS = 256


class SparseFeatures(Tensor):
    """A matrix of features `[N, D]` that stores only entries other than zero.

    It is the argument of `F.dropout` and of `F.linear`. Every other operation gets the dense matrix.
    """

    by_row: tuple[Tensor, Tensor]  # starts and columns of the entries, by row
    by_column: tuple[Tensor, Tensor, Tensor]  # starts, rows and places in `entries` of the entries, by column
    entries: Tensor

    @staticmethod
    def of(x: Tensor) -> SparseFeatures:
        """Return the sparse form of dense features on a CPU."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch calls this layout beta, once
            rows = x.to_sparse_csr()
        starts, columns = rows.crow_indices(), rows.col_indices()
        row_of = torch.repeat_interleave(torch.arange(x.shape[0]), starts.diff())
        order = torch.argsort(columns, stable=True)
        column_starts = F.pad(torch.bincount(columns, minlength=x.shape[1]).cumsum(0), (1, 0))
        return _features(x.shape, (starts, columns), (column_starts, row_of[order], order), rows.values())

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        x = args[0] if args else None
        if isinstance(x, SparseFeatures) and function is F.dropout:
            return x._dropped(*args[1:], **kwargs)
        if isinstance(x, SparseFeatures) and function is F.linear:
            return _linear(x, *args[1:], **kwargs)
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch declares no class method
        cls, operation: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        args, kwargs = tree_map_only(SparseFeatures, SparseFeatures.to_dense, (args, dict(kwargs or {})))
        return operation(*args, **kwargs)

    def to_dense(self, *_: Any, **__: Any) -> Tensor:
        """Return the dense matrix."""
        return _matrix(*self.by_row, self.entries, self.shape).to_dense()

    def _dropped(self, p: float = 0.5, training: bool = True, inplace: bool = False) -> SparseFeatures:
        values = F.dropout(self.entries, p, training, inplace)
        return _features(self.shape, self.by_row, self.by_column, values)


def sparse_if_faster(x: Tensor) -> Tensor:
    """Return features in sparse form where that makes training on a CPU faster; else the features themselves."""
    wide = not x.is_cuda and x.dim() == 2 and x.is_floating_point() and x.shape[1] >= MIN_COLUMNS
    if not wide or int(torch.count_nonzero(x)) > MAX_DENSITY * x.numel():
        return x
    return SparseFeatures.of(x)


def _features(shape: Any, rows: Any, columns: Any, values: Tensor) -> SparseFeatures:
    features: Any = Tensor._make_wrapper_subclass(SparseFeatures, shape, dtype=values.dtype, device=values.device)
    features.by_row, features.by_column, features.entries = rows, columns, values
    made: SparseFeatures = features
    return made


def _matrix(starts: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return compressed rows; they come from torch itself, so nothing need be checked."""
    return torch.sparse_csr_tensor(starts, columns, values, tuple(shape), check_invariants=False)


def _linear(x: SparseFeatures, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    product: Tensor = _Product.apply(weight, x)  # type: ignore[no-untyped-call]
    return product if bias is None else product + bias


class _Product(torch.autograd.Function):
    """Features times transposed weights `[out, D]`; features get no gradient."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: SparseFeatures) -> Tensor:
        ctx.x = x
        return _matrix(*x.by_row, x.entries, x.shape) @ weight.t()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        starts, rows, order = ctx.x.by_column
        transposed = _matrix(starts, rows, ctx.x.entries[order], ctx.x.shape[::-1])
        return (transposed @ gradient).t(), None
