"""The arrays a graph is built from: checked, with a clear error for what does not fit, and copied only if need be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lsprune.checks import Array, as_array, check_numbers, check_sparse, count_of, shown, to_csr
from lsprune.errors import GraphError

MAX_IDS_PER_EDGE = 64
NEAR = MAX_IDS_PER_EDGE << 20  # no id below this one is ever far


def edge_ends(edge_index: Any) -> tuple[Array, Array]:
    """Return sources and targets, `[E]` integers each, of an array `[2, E]` or a pair of arrays."""
    if isinstance(edge_index, Sequence) and len(edge_index) == 2:
        source, target = (integers(side, "edge_index") for side in edge_index)
    else:
        both = integers(edge_index, "edge_index", ndim=2)
        if both.shape[0] != 2:
            raise GraphError(f"edge_index must have shape [2, E], got {list(both.shape)}")
        source, target = both[0], both[1]
    if source.shape != target.shape:
        raise GraphError(f"edge_index must have as many sources as targets, got {source.size} and {target.size}")
    return source, target


def integers(values: Any, name: str, ndim: int = 1) -> Array:
    """Return int32 or int64 values as they are, other integers as int64; raise GraphError for anything else."""
    array = as_array(values, name)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # np.array([]) and np.empty((2, 0)) are floats only for lack of a value
    if array.dtype.kind not in "iu":
        raise GraphError(f"{name} must be integers, got {array.dtype}")
    if array.ndim != ndim:
        raise GraphError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, got shape {list(array.shape)}")
    return array if array.dtype in (np.int32, np.int64) else array.astype(np.int64)


def check_ids(ids: Array, count: int, name: str) -> None:
    """Raise GraphError unless all ids are in [0, count)."""
    # Seen as unsigned, a negative id is a huge one: one pass finds both faults.
    if ids.size and int(ids.view(f"u{ids.itemsize}").max()) >= count:
        wrong = int(np.flatnonzero((ids < 0) | (ids >= count))[0])
        raise GraphError(f"{name} ids must be in [0, {count}), got {int(ids[wrong])} at edge {wrong}")


def end_pair(value: Any, bipartite: bool, name: str) -> tuple[Any, Any]:
    """Return what belongs to the sources and to the targets: twice the same object unless bipartite."""
    if not bipartite:
        return value, value
    if value is None:
        return None, None
    if not isinstance(value, tuple) or len(value) != 2:
        raise GraphError(f"{name} of a bipartite graph must be a pair (sources, targets), got {type(value).__name__}")
    return value


def stated_sizes(num_nodes: Any) -> tuple[Any, Any]:
    """Return the stated numbers of sources and targets as Python ints; None for what is not stated."""
    if num_nodes is None:
        return None, None
    if not isinstance(num_nodes, tuple):
        return (count_of(num_nodes, "num_nodes"),) * 2
    if len(num_nodes) != 2:
        raise GraphError(f"num_nodes must be one number or a pair (sources, targets), got {shown(num_nodes)}")
    first, second = (None if size is None else count_of(size, "num_nodes") for size in num_nodes)
    return first, second


def node_count(stated: int | None, x: Any, ids: list[Array]) -> int:
    """Return the number of nodes: as stated, else the rows of `x`, else the largest id + 1."""
    if stated is not None:
        return stated
    if x is not None:
        return int(x.shape[0])
    highest = max((int(side.max()) for side in ids if side.size), default=-1)
    return inferred_count(highest, max((side.size for side in ids), default=0))


def is_far(highest: int, edges: int) -> bool:
    """Return whether an id is too large to be one of the nodes 0..N-1 of a graph with so many edges.

    Arrays as long as the highest id are made from it. Account numbers and damaged digits would need terabytes.
    """
    return highest >= max(MAX_IDS_PER_EDGE * edges, NEAR)


def inferred_count(highest: int, edges: int) -> int:
    """Return the number of nodes of a graph of which nothing but the highest id says it; raise GraphError if far."""
    if is_far(highest, edges):
        raise GraphError(
            f"id {highest} is far beyond the {edges} edges; number the nodes 0..N-1, as np.unique(ids, "
            "return_inverse=True) does, or give num_nodes if it is meant"
        )
    return highest + 1


def attribute_pair(x_source: Any, x_target: Any) -> tuple[Any, Any]:
    """Return the attributes of sources and targets as arrays; one object stays one object."""
    source = attribute_array(x_source, "x")
    return source, source if x_target is x_source else attribute_array(x_target, "x")


def attribute_array(values: Any, name: str) -> Any:
    """Return attributes as a numpy array of numbers; scipy.sparse stays sparse, its arrays checked."""
    if values is None:
        return None
    if hasattr(values, "tocsr"):
        # The other formats hold Python objects: only their CSR form can be checked.
        (check_sparse if values.format in ("csr", "csc", "coo", "bsr") else to_csr)(values, name)
    else:
        values = as_array(values, name)
    check_numbers(values.dtype, name)
    if values.ndim == 0:
        raise GraphError(f"{name} must have one row for each {ITEM[name]}, got a single value")
    return values


def check_rows(values: Any, count: int, name: str) -> Any:
    """Return `values`; raise GraphError unless they have `count` rows or are None."""
    if values is not None and values.shape[0] != count:
        raise GraphError(f"{name} must have {count} rows, one for each {ITEM[name]}, got {list(values.shape)}")
    return values


ITEM = {"x": "node", "edge_attr": "edge", "edge_weight": "edge"}


def weight_array(values: Any, count: int) -> Any:
    """Return one number for each edge, `[E]`; a single column is one number too."""
    if values is None:
        return None
    rows = as_array(values, "edge_weight")
    check_numbers(rows.dtype, "edge_weight")
    if rows.ndim == 0 or rows.size != count or rows.shape[0] != count:
        raise GraphError(f"edge_weight must have {count} values, one for each edge, got {list(rows.shape)}")
    return rows.reshape(count)


def offset_array(values: Any, count: int) -> Array | None:
    """Return the node offsets of several graphs as int64; raise GraphError unless they rise from 0 to `count`."""
    if values is None:
        return None
    ptr = integers(values, "ptr").astype(np.int64)
    if ptr.size < 1 or ptr[0] != 0 or ptr[-1] != count or np.any(ptr[1:] < ptr[:-1]):
        raise GraphError(f"ptr must rise from 0 to the number of nodes ({count}), got {brief(ptr)}")
    return ptr


def label_array(values: Any, counts: list[int], bipartite: bool, name: str) -> Any:
    """Return labels or a mask of the nodes as an array; raise GraphError unless there is a row for each node."""
    if values is None:
        return None
    rows = as_array(values, name)
    if bipartite or rows.ndim == 0 or rows.shape[0] != counts[0]:
        kinds = "one kind of nodes" if bipartite else f"{counts[0]} rows, one for each node"
        raise GraphError(f"{name} must be of {kinds}, got {list(rows.shape)}")
    return rows


def mask_fault(mask: Array, name: str, count: int) -> str:
    """Return what is wrong with a mask of the nodes and what to do; "" if it holds one truth value for each node.

    Whole numbers are fine if all are 0 or 1.
    """
    whole, there = mask.dtype.kind in "iu", mask.shape == (count,)
    if there and (mask.dtype.kind == "b" or (whole and not bool(((mask != 0) & (mask != 1)).any()))):
        return ""
    advice = ""
    if mask.ndim == 2 and mask.shape[0] == count:
        advice = f"; of several splits, choose one: {name}[:, 0] (--split 0)"
    elif there and mask.dtype.kind == "f":
        advice = f"; make it one of truth values: {name}.bool(), of numpy {name}.astype(bool)"
    elif whole and mask.ndim == 1:
        advice = f"; these look like indices: mask = zeros({count}, dtype=bool); mask[{name}] = True"
    return (
        f"{name} must hold one truth value for each of the {count} nodes, got {mask.dtype} {list(mask.shape)}{advice}"
    )


def column_array(values: Any, name: str, count: int, item: str) -> Array:
    """Return one number or date for each edge or node, `[count]`; raise GraphError for anything else."""
    column = as_array(values, f"column {name!r}")
    if column.dtype.kind not in "fiubM":
        raise GraphError(f"column {name!r} must be numbers or dates, got {column.dtype}")
    if column.ndim == 0 or column.size != count or column.shape[0] != count:
        raise GraphError(f"column {name!r} must have {count} values, one for each {item}, got {list(column.shape)}")
    return column.reshape(count)


def edge_column_arrays(columns: Mapping[str, Any] | None, count: int) -> dict[str, Array] | None:
    """Return the columns of the edges, each checked by `column_array`."""
    if columns is None:
        return None
    return {name: column_array(values, name, count, "edge") for name, values in columns.items()}


def node_column_arrays(columns: Mapping[str, Any] | None, counts: list[int], bipartite: bool) -> dict[str, Any] | None:
    """Return the columns of the nodes as pairs (sources, targets), each checked by `column_array`."""
    if columns is None:
        return None
    found = {}
    for name, values in columns.items():
        ends = end_pair(values, bipartite, f"column {name!r}")
        found[name] = tuple(
            None if end is None else column_array(end, name, count, "node")
            for end, count in zip(ends, counts, strict=True)
        )
    return found


def brief(array: Array) -> str:
    """Return an array as text, its middle left out if it is long."""
    return np.array2string(array, threshold=6, edgeitems=2, separator=", ")
