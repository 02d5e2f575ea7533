"""Files of edges and nodes, for memory and for streaming alike; see `files.edge_list` and `files.batches`."""

from __future__ import annotations

from lsprune.files.edge_list import (
    SUFFIXES,
    FileGraph,
    NumNodes,
    check_output,
    read_edges,
    refuse_arrays,
    refuse_columns,
    suffix_of,
    write_edges,
)

__all__ = [
    "SUFFIXES",
    "FileGraph",
    "NumNodes",
    "check_output",
    "read_edges",
    "refuse_arrays",
    "refuse_columns",
    "suffix_of",
    "write_edges",
]
