"""The numba executor: the functions of `kernels.reference`, compiled, in files of the same names.

Only here, for speed: `jit` (how a kernel is compiled), `intrinsics` (vector instructions), `radix_select` (the smallest
of many numbers in linear time), `word_products` (scores of codebook words).
"""

from __future__ import annotations

from lsprune.kernels.cpu.bottom import choose_bottom
from lsprune.kernels.cpu.choose import choose_nodes, choose_steps, choose_with_replacement
from lsprune.kernels.cpu.dot_products import dot_dense, dot_sparse, unit_values
from lsprune.kernels.cpu.edge_hashes import hash_ends, reverse_balance
from lsprune.kernels.cpu.grouping import group, without_loops
from lsprune.kernels.cpu.isolated_nodes import mark_ends, mark_neighbours, mark_owners
from lsprune.kernels.cpu.listed_words import MAX_LISTS, list_searcher, nearest_others
from lsprune.kernels.cpu.logarithms import log2_fixed
from lsprune.kernels.cpu.masking import compress, count_rows, scatter_taken
from lsprune.kernels.cpu.md5 import md5_keys
from lsprune.kernels.cpu.nearest_words import SEARCH_ROWS, leaders, searcher
from lsprune.kernels.cpu.neighbour_rows import add_to_keys, sum_rows
from lsprune.kernels.cpu.neighbour_sets import count_common, count_equal, min_rows
from lsprune.kernels.cpu.projections import project, project_quanta, project_sparse
from lsprune.kernels.cpu.quantisation import quanta, raw_top, sparse_sums, unit_spread, unit_sums
from lsprune.kernels.cpu.reachability import count_bits, spread_bits
from lsprune.kernels.cpu.signatures import signature
from lsprune.kernels.cpu.spanning_trees import count_spanning_trees, two_core
from lsprune.kernels.cpu.text_numbers import hash_texts, number_texts
from lsprune.kernels.cpu.xxhash64 import xxhash64_stripes

__all__ = [
    "MAX_LISTS", "SEARCH_ROWS", "add_to_keys", "choose_bottom", "choose_nodes", "choose_steps",
    "choose_with_replacement", "compress", "count_bits", "count_common", "count_equal", "count_rows",
    "count_spanning_trees", "dot_dense", "dot_sparse", "group", "hash_ends", "hash_texts", "leaders", "list_searcher",
    "log2_fixed", "mark_ends", "mark_neighbours", "mark_owners", "md5_keys", "min_rows", "nearest_others",
    "number_texts", "project", "project_quanta", "project_sparse", "quanta", "raw_top", "reverse_balance",
    "scatter_taken", "searcher", "signature", "sparse_sums", "spread_bits", "sum_rows", "two_core", "unit_spread",
    "unit_sums", "unit_values", "without_loops", "xxhash64_stripes",
]  # fmt: skip
