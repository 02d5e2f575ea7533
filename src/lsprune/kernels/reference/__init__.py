"""The definition: what every executor must compute, bit for bit, in plain Python.

Start with `choose` (selection) and `ties` (the tie rule); `quantisation` says how attributes become integers. Nothing
here is fast. `kernels.cpu` has the same functions in files of the same names, and every one is tested against these.
"""

from __future__ import annotations

from lsprune.kernels.reference.bottom import choose_bottom
from lsprune.kernels.reference.choose import choose_nodes, choose_steps, choose_with_replacement
from lsprune.kernels.reference.dot_products import dot_dense, dot_sparse, unit_values
from lsprune.kernels.reference.edge_hashes import hash_ends, reverse_balance
from lsprune.kernels.reference.grouping import group, without_loops
from lsprune.kernels.reference.isolated_nodes import mark_ends, mark_neighbours, mark_owners
from lsprune.kernels.reference.listed_words import MAX_LISTS, list_searcher, nearest_others
from lsprune.kernels.reference.logarithms import log2_fixed
from lsprune.kernels.reference.masking import compress, count_rows, scatter_taken
from lsprune.kernels.reference.md5 import md5_keys
from lsprune.kernels.reference.nearest_words import SEARCH_ROWS, leaders, searcher
from lsprune.kernels.reference.neighbour_rows import add_to_keys, sum_rows
from lsprune.kernels.reference.neighbour_sets import count_common, count_equal, min_rows
from lsprune.kernels.reference.projections import project, project_quanta, project_sparse
from lsprune.kernels.reference.quantisation import quanta, raw_top, sparse_sums, unit_spread, unit_sums
from lsprune.kernels.reference.reachability import count_bits, spread_bits
from lsprune.kernels.reference.signatures import signature
from lsprune.kernels.reference.spanning_trees import count_spanning_trees, two_core
from lsprune.kernels.reference.splitmix import mix
from lsprune.kernels.reference.text_numbers import hash_texts, number_texts
from lsprune.kernels.reference.ties import tie_order
from lsprune.kernels.reference.xxhash64 import xxhash64_stripes

__all__ = [
    "MAX_LISTS", "SEARCH_ROWS", "add_to_keys", "choose_bottom", "choose_nodes", "choose_steps",
    "choose_with_replacement", "compress", "count_bits", "count_common", "count_equal", "count_rows",
    "count_spanning_trees", "dot_dense", "dot_sparse", "group", "hash_ends", "hash_texts", "leaders", "list_searcher",
    "log2_fixed", "mark_ends", "mark_neighbours", "mark_owners", "md5_keys", "min_rows", "mix", "nearest_others",
    "number_texts", "project", "project_quanta", "project_sparse", "quanta", "raw_top", "reverse_balance",
    "scatter_taken", "searcher", "signature", "sparse_sums", "spread_bits", "sum_rows", "tie_order", "two_core",
    "unit_spread", "unit_sums", "unit_values", "without_loops", "xxhash64_stripes",
]  # fmt: skip
