"""Keep the first k edges of each owner in the caller's order: plain truncation."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners import LocalPruner
from lsprune.pruners.contract import SAME_EDGES
from lsprune.selection.choose import KeySource


@dataclass(frozen=True, kw_only=True, repr=False)
class First(LocalPruner):
    """Every owner keeps its first k edges in the caller's order; no other baseline depends on that order.

    >>> First(k=3)
    First(k=3)
    """

    name: ClassVar[str] = "first"
    about: ClassVar[str] = "the first k edges per owner in the caller's order"
    unbiased_problem: ClassVar[str] = SAME_EDGES

    @property
    def needs(self) -> Needs:
        """Say that keys depend on the position of an edge among all edges."""
        return Needs(owner_id=True, position=True, gpu=True)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return the slot as key: the slots of an owner are in the caller's order."""
        if runtime.device is not None:
            return KeySource.of_edges(import_module("lsprune.device.edge_keys").slot_keys(owned))

        def keys_of_owners(lo: int, hi: int) -> Array:
            return np.arange(owned.indptr[lo], owned.indptr[hi], dtype=np.int64)

        return KeySource.of_edges(keys_of_owners)
