"""Node features that are given beside an object which has no place for them: a matrix, an edge list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key, libraries
from lsprune.checks import as_array, check_numbers, check_sparse, shown
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


class GivenFeatures(Adapter):
    """Read an object with another adapter, and add node features; the result of pruning is without them.

    Args:
        features: `[N, d]` or `[N]`: numpy, scipy.sparse, torch, or a table of numbers; a pair (sources, targets) if
            these are different nodes.
    """

    name: ClassVar[str] = "given-features"
    about: ClassVar[str] = "an object with features beside it"

    def __init__(self, inner: Adapter, features: Any) -> None:
        self.inner, self.features = inner, features

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return False  # it is made, not found

    def graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return the graph with the features as its `x`."""
        return {None: self._with_features(self.inner.graphs(data), host_rows)}

    def pruned_apart(self, data: Any) -> bool:
        return self.inner.pruned_apart(data)

    def device(self, data: Any) -> Any:
        return self.inner.device(data)

    def device_graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return the graph with the features on its device."""
        place = self.inner.device(data)
        tensors = import_module("lsprune.adapters.pyg.tensors")
        return {None: self._with_features(self.inner.device_graphs(data), lambda x: tensors.rows_on(x, place))}

    def rebuild(self, data: Any, kept: Mapping[Key, Kept]) -> Any:
        return self.inner.rebuild(data, kept)

    def masks(self, data: Any, masks: Mapping[Key, Array]) -> Any:
        return self.inner.masks(data, masks)

    def _with_features(self, graphs: Mapping[Key, Graph], rows_of: Any) -> Graph:
        if set(graphs) != {None}:
            raise GraphError("features must not be given for several relations; set x of each node type")
        graph = graphs[None]
        if graph.x_source is not None or graph.x_target is not None:
            raise GraphError("features must not be given for an object that has node features (x) of its own")
        pair = isinstance(self.features, (tuple, list)) and graph.bipartite
        if graph.bipartite and (not pair or len(self.features) != 2):
            raise GraphError(
                f"features must be a pair (sources, targets) for a graph with {graph.num_sources} sources and "
                f"{graph.num_targets} targets, got {type(self.features).__name__}"
            )
        source, target = map(rows_of, self.features) if pair else (rows_of(self.features),) * 2
        counts = graph.num_sources, graph.num_targets
        if self.inner.guesses_nodes and not graph.bipartite and target.shape[0] > counts[0]:
            counts = (int(target.shape[0]),) * 2  # nodes at the end without an edge
        for rows, count in ((source, counts[0]), (target, counts[1])):
            if rows.shape[0] != count:
                raise GraphError(f"features must have {count} rows, one for each node, got {list(rows.shape)}")
        return replace(graph, num_sources=counts[0], num_targets=counts[1], x_source=source, x_target=target)


def host_rows(features: Any) -> Any:
    """Return features in host memory as numpy or scipy.sparse; raise GraphError for anything but numbers."""
    if hasattr(features, "tocsr"):
        check_sparse(features, "features")
        return features
    if "torch" in libraries(features):
        return import_module("lsprune.adapters.pyg.tensors").features(features)
    if hasattr(features, "to_numpy"):  # pandas, Polars
        features = features.to_numpy()
    elif hasattr(features, "column_names"):  # PyArrow, without pandas
        features = np.column_stack([column.to_numpy() for column in features.columns])
    rows = as_array(features, "features")
    check_numbers(rows.dtype, "features")
    if rows.ndim == 0:
        raise GraphError(f"features must have one row for each node, got {shown(features)}")
    return rows
