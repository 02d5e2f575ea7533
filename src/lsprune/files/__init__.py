"""Files of edges and nodes: one reader and writer, for memory and for streaming alike; see `files.edge_list`."""

from __future__ import annotations

from lsprune.files.edge_files import Batch, EdgeFiles, Kept, Shard
from lsprune.files.edge_list import check_output, open_edges, read_edges, write_edges
from lsprune.files.edge_options import EdgeKeywords, EdgeOptions, NumNodes, refuse_columns
from lsprune.files.file_graph import FileGraph
from lsprune.files.seals import VerifiedInput, check_inputs, seal
from lsprune.files.suffixes import SUFFIXES, suffix_of

__all__ = [
    "SUFFIXES",
    "Batch",
    "EdgeFiles",
    "EdgeKeywords",
    "EdgeOptions",
    "FileGraph",
    "Kept",
    "NumNodes",
    "Shard",
    "VerifiedInput",
    "check_inputs",
    "check_output",
    "open_edges",
    "read_edges",
    "refuse_columns",
    "seal",
    "suffix_of",
    "write_edges",
]
