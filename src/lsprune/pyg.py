"""Pruning as a PyTorch Geometric transform: for `Compose`, a dataset's `transform=` or `pre_transform=`, a loader."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from lsprune.api import check_rescale, prune
from lsprune.errors import LinkSplitWarning, MissingDependency, warn
from lsprune.pruners.relations import check_plan, pruners_of

try:
    from torch.utils.data import get_worker_info
    from torch_geometric.data.datapipes import functional_transform
    from torch_geometric.transforms import BaseTransform, Compose, RandomLinkSplit

    from lsprune.adapters.pyg.link_labels import SPLIT_FIRST, link_names
    from lsprune.adapters.pyg.link_split import check_link_split
except ImportError as error:
    raise MissingDependency("lsprune.pyg needs PyTorch Geometric: pip install 'lsprune[gnn]'") from error

__all__ = ["Prune", "check_link_split"]


@functional_transform("prune")  # of a data pipe: pipe.prune(LSP(keep=0.5))
@dataclass(frozen=True, repr=False)
class Prune(BaseTransform):  # type: ignore[misc]  # PyG has no types where it is not installed
    """Prune any object that `lsprune.prune` accepts; the input is not changed.

    In a `Compose`, it stands after `RandomLinkSplit`, and warns if it stands before: of each split, the edges that
    messages pass along are pruned, and the links to be predicted stay as they are.

    Args:
        pruner: a pruner; for `HeteroData` also a mapping from relation to pruner, or a `SharedBudget`.
        e_id: put the positions of the kept edges on the result as `e_id`.
        rescale: weight the kept edges so that sums over neighbours keep their size: True or "unbiased", see `prune`.
        reverse: for `HeteroData`, the reverse of a relation where it is not named `rev_` + its name.
        threads: default LSPRUNE_THREADS, else all cores; 1 in the worker of a loader, as in torch itself.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from lsprune import LSP
    >>> ring = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1, 2, 3, 0, 1], [1, 2, 3, 0, 2, 3]]))
    >>> Prune(LSP(k=1))(ring)
    Data(x=[4, 4], edge_index=[2, 4])
    """

    pruner: Any
    _: KW_ONLY
    e_id: bool = False
    rescale: bool | Literal["unbiased"] = False
    reverse: Any = None
    threads: int | None = None

    def __post_init__(self) -> None:
        check_plan(self.pruner)
        check_rescale(self.rescale, pruners_of(self.pruner))

    def forward(self, data: Any) -> Any:
        if not any(link_names(store) for store in getattr(data, "stores", ())):
            _warn_if_links_are_split_later()
        threads = 1 if self.threads is None and get_worker_info() is not None else self.threads
        return prune(data, self.pruner, e_id=self.e_id, rescale=self.rescale, reverse=self.reverse, threads=threads)

    def __repr__(self) -> str:
        options = {"e_id": self.e_id, "rescale": self.rescale, "reverse": self.reverse, "threads": self.threads}
        changed = "".join(f", {name}={value!r}" for name, value in options.items() if value not in (False, None))
        pruner = dict(self.pruner) if isinstance(self.pruner, Mapping) else self.pruner
        return f"{type(self).__name__}({pruner!r}{changed})"


def _warn_if_links_are_split_later() -> None:
    """Warn if this is called from a `Compose` with a `RandomLinkSplit` after the transform that runs now.

    A transform does not know what it is part of, so the stack of calls must say it.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code is Compose.forward.__code__:
            running = frame.f_locals.get("transform")  # a name of PyG's own: without it there is no warning
            transforms = list(getattr(frame.f_locals.get("self"), "transforms", ()))
            places = [place for place, transform in enumerate(transforms) if transform is running]
            if places and _splits_links(transforms[places[0] + 1 :]):
                warn(f"Prune stands before RandomLinkSplit: {SPLIT_FIRST}", LinkSplitWarning)
                return
        frame = frame.f_back


def _splits_links(transforms: list[Any]) -> bool:
    """Return whether one of the transforms, or of those within a `Compose`, splits links."""
    return any(
        isinstance(transform, RandomLinkSplit)
        or (isinstance(transform, Compose) and _splits_links(transform.transforms))
        for transform in transforms
    )
