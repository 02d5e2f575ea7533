"""What a measure is given: one graph or several, of any kind that the adapters know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lsprune import adapters
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph
from lsprune.pruners import Pruner


def one_graph(data: Any) -> Graph:
    """The graph in `data`; those of a list or tuple as one, with the offsets of their nodes.

    >>> one_graph([np.array([[0, 1], [1, 0]]), Graph.from_edges(np.array([[0], [2]]))])
    Graph(nodes=5, edges=3, graphs=2)
    """
    if isinstance(data, (list, tuple)) and data:
        return join([one_graph(item) for item in data])
    graphs = adapters.find(data).graphs(data)
    if set(graphs) != {None}:
        raise OptionError("a measure must be given one relation at a time; take it out of the HeteroData first")
    return graphs[None]


def check_pruner(pruner: Any) -> None:
    """Raise unless this is a pruner, its options given."""
    if not isinstance(pruner, Pruner):
        raise OptionError(f"pruner must be a pruner such as LSP(keep=0.5), got {pruner!r}")


def join(graphs: Sequence[Graph]) -> Graph:
    """One graph that holds all of these, in order: what a pruner sees of a list of PyG `Data`."""
    for name in ("bipartite", "undirected"):
        if len({getattr(graph, name) for graph in graphs}) > 1:
            raise GraphError(f"the graphs of a list must be all {name} or none of them")
    source, x_source, source_ptr = _side(graphs, "source")
    target, x_target, target_ptr = _side(graphs, "target")
    two, sizes = graphs[0].bipartite, (int(source_ptr[-1]), int(target_ptr[-1]))
    return Graph.from_edges(
        (source, target),
        num_nodes=sizes if two else sizes[1],
        x=(x_source, x_target) if two else x_target,
        edge_attr=_stacked([graph.edge_attr for graph in graphs], "edge_attr"),
        ptr=(source_ptr, target_ptr) if two else target_ptr,
        undirected=graphs[0].undirected,
    )


def _side(graphs: Sequence[Graph], name: str) -> tuple[Array, Any, Array]:
    """(ids of this end `[E]`, attributes, node offsets `[G + 1]`); a graph that is several brings its own offsets."""
    sizes = [getattr(graph, f"num_{name}s") for graph in graphs]
    shift = np.cumsum([0, *sizes])
    ends = [graph.ends()[0 if name == "source" else 1] for graph in graphs]
    ids = np.concatenate(ends) + np.repeat(shift[:-1], [end.size for end in ends])
    own = [getattr(graph, f"{name}_ptr") for graph in graphs]
    parts = [shift[i + 1 : i + 2] if ptr is None else ptr[1:] + shift[i] for i, ptr in enumerate(own)]
    x = _stacked([getattr(graph, f"x_{name}") for graph in graphs], "x")
    return ids, x, np.concatenate([[0], *parts])


def _stacked(values: Sequence[Any], name: str) -> Any:
    present = [value for value in values if value is not None]
    if not present:
        return None
    shapes = {value.shape[1:] for value in present}
    if len(present) < len(values) or len(shapes) > 1:
        raise GraphError(f"{name} must be on all graphs of a list, in the same shape, or on none of them")
    if any(hasattr(value, "tocsr") for value in present):
        from scipy.sparse import vstack

        return vstack(present, format="csr")
    return np.concatenate(present)
